"""The Makefile and its scripts: the list of chores, and one clear sentence for each thing a machine may lack."""
import itertools
import os
import re
import shutil
import sys

import pytest
from workshop import ROOT, must, run

SCRIPTS = ROOT / "scripts"


def stand_in(folder, name, body):
    path = folder / name
    path.write_text(f"#!/bin/bash\n{body}\n")
    path.chmod(0o755)
    return path


def test_make_alone_lists_the_chores():
    listed = must("make")
    for chore in ("demo", "test", "check", "packages", "bench", "lint", "sanitize", "fuzz", "soak", "build", "wheel", "wheels", "clean"):
        assert f"\nmake {chore} " in "\n" + listed
    assert "make demo ROBOT=panda" in listed


def test_this_machine_is_good_enough():
    assert must(SCRIPTS / "check_machine", PYTHON=sys.executable) == ""


@pytest.mark.parametrize("body, sentence", [
    ("[[ $2 == *print* ]] && echo 3.9 && exit 0; exit 1", "is Python 3.9; mbros needs 3.10 or newer. Name another: make PYTHON="),
    ("[[ $2 == *ensurepip* ]] && exit 1; echo 3.11", "Python 3.11 has no venv module. On Debian or Ubuntu: sudo apt install python3-venv"),
    ("[[ $2 == *sysconfig* ]] && echo /nowhere || echo 3.11", "the headers of Python 3.11 are missing (/nowhere/Python.h)."),
])
def test_a_python_that_will_not_do(tmp_path, body, sentence):
    done = run(SCRIPTS / "check_machine", PYTHON=stand_in(tmp_path, "python", body))
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr.startswith("mbros: ") and sentence in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize("variables, sentence", [
    ({"PYTHON": "python-that-is-not-there"}, "no 'python-that-is-not-there' here. Install Python 3.10 or newer"),
    ({"PYTHON": sys.executable, "CXX": "c++-that-is-not-there"}, "no C++ compiler 'c++-that-is-not-there' here"),
])
def test_a_missing_tool(variables, sentence):
    done = run(SCRIPTS / "check_machine", **variables)
    assert done.returncode == 1 and sentence in done.stderr and "sudo apt install" in done.stderr


def test_nothing_of_another_environment_reaches_a_recipe(tmp_path):
    """A shell in which another venv with ROS wheels is active: its library path would be loaded by every Python here."""
    seen = tmp_path / "seen"
    python = stand_in(tmp_path, "python", f"env > {seen}; exit 1")
    alien = {"_ROS_WHEELS_BOOTSTRAP_COMPLETE": "1", "LD_LIBRARY_PATH": "/alien", "PYTHONPATH": "/alien", "VIRTUAL_ENV": "/alien",
             "AMENT_PREFIX_PATH": "/alien", "ROS_DISTRO": None, "PYTHONDONTWRITEBYTECODE": "1"}
    run("make", "build", f"PYTHON={python}", f"MBROS_VENV={tmp_path}/venv", **alien)
    assert "PATH=" in seen.read_text() and "/alien" not in seen.read_text()
    assert "_ROS_WHEELS_BOOTSTRAP_COMPLETE" not in seen.read_text() and "PYTHONDONTWRITEBYTECODE" not in seen.read_text()
    run("make", "build", f"PYTHON={python}", f"MBROS_VENV={tmp_path}/venv", **{**alien, "ROS_DISTRO": "kilted"})
    assert "LD_LIBRARY_PATH=/alien" in seen.read_text(), "a sourced ROS 2 must reach the recipes"


def test_a_step_shows_its_output_only_when_it_fails(tmp_path):
    log = tmp_path / "log" / "x.txt"
    good = run(SCRIPTS / "step", log, "Doing well", "echo", "words of the command")
    assert good.returncode == 0 and good.stdout.startswith("  Doing well ") and "words" not in good.stdout
    bad = run(SCRIPTS / "step", log, "Doing badly", "bash", "-c", "echo words of the command; exit 7")
    assert bad.returncode == 7
    assert "words of the command" in bad.stdout and f"Doing badly failed (exit code 7). All of its output: {log}" in bad.stdout


def install_ros(tmp_path, body, **env):
    (tmp_path / "log").mkdir()
    python = stand_in(tmp_path, "python", f"[[ $2 == *version_info* ]] && echo 3.15 && exit 0\n{body}")
    done = run(SCRIPTS / "install_ros", tmp_path, tmp_path / "log", python, **env)
    note = tmp_path / "no-ros"
    return done, note.read_text() if note.exists() else None


def test_no_wheels_for_this_python_is_said_and_is_no_failure(tmp_path):
    done, note = install_ros(tmp_path, "echo 'ERROR: No matching distribution found for ros-rclpy==9.1.2'; exit 1", ROS_DISTRO=None)
    assert done.returncode == 0
    assert note.startswith("No ROS 2 here: PyPI has no ROS 2 wheels for Python 3.15") and note in done.stdout


def test_trial_Y9_where_no_python_has_wheels_none_is_recommended(tmp_path):
    stand_in(tmp_path, "uname", "echo aarch64")
    done, note = install_ros(tmp_path, "echo 'ERROR: No matching distribution found for ros-rclpy==9.1.2'; exit 1", ROS_DISTRO=None,
                             PATH=f"{tmp_path}:{os.environ['PATH']}")
    assert done.returncode == 0
    assert note.startswith("No ROS 2 here: PyPI has no ROS 2 wheels for this machine (aarch64), whatever the Python;")
    assert "another Python" not in note


def test_a_step_shows_progress_as_it_comes(tmp_path):
    words = "echo words; echo 'mbros: one of two' >&2; echo 'mbros: two'"
    done = run(SCRIPTS / "step", tmp_path / "x.txt", "Doing much", "bash", "-c", words)
    first, *progress, last = done.stdout.splitlines()
    assert done.returncode == 0 and first.startswith("  Doing much ") and progress == ["    one of two", "    two"]
    assert last.startswith("  Doing much ") and last.endswith(" s")
    assert (tmp_path / "x.txt").read_text() == "words\nmbros: one of two\nmbros: two\n"


def test_any_other_failure_of_the_ros_wheels_is_a_failure(tmp_path):
    done, note = install_ros(tmp_path, "echo 'ERROR: connection refused'; exit 1", ROS_DISTRO=None)
    assert done.returncode == 1 and note is None
    assert "connection refused" in done.stdout


def test_a_sourced_ros_is_used_and_nothing_of_ros_is_installed(tmp_path):
    done, note = install_ros(tmp_path, f'echo "$@" >> {tmp_path}/asked', ROS_DISTRO="kilted")
    assert done.returncode == 0 and note is None
    assert "ROS 2 kilted: the one that is sourced" in done.stdout
    assert (tmp_path / "asked").read_text().split("\n")[:2] == ["-m pip install PyYAML", "-c import rclpy"]


def test_a_sourced_ros_of_another_python_is_said(tmp_path):
    done, note = install_ros(tmp_path, "[[ $2 == *rclpy* ]] && exit 1; exit 0", ROS_DISTRO="jazzy")
    assert done.returncode == 0
    assert note.startswith("No ROS 2 here: ROS 2 jazzy is sourced, but Python 3.15 cannot import its rclpy")


def test_ci_runs_the_tests():
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    chores = [line for line in script.splitlines() if "make " in line and "#" not in line]
    assert chores == [f"make {chore} </dev/null" for chore in ("test", "check", "packages", "sanitize QUICK=1", "fuzz SECONDS=6")]
    assert "set -euo pipefail" in script
    assert shutil.which("bash") and must("bash", "-n", ROOT / ".ci" / "run") == ""


def test_every_test_is_run_by_one_chore_of_ci_and_by_no_other():
    """By their marks. The marked ones may be asked for by themselves as well: pytest tests/types."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    chores = dict(re.findall(r"^(\w+): MARKS := (.*)$", makefile, re.MULTILINE))
    assert set(chores) == {"test", "check", "packages"} and "-m '$(MARKS)' \\\n" in makefile
    for tree, packages in itertools.product((False, True), repeat=2):
        assert [eval(marks, {"tree": tree, "packages": packages}) for marks in chores.values()].count(True) == 1
    looked = {chore: makefile.partition(f"\n{chore}: PLACES := ")[2].partition("\n")[0].split() for chore in chores}
    (tree,) = re.findall(r"^TREE = (\(.*?\))", (ROOT / "tests" / "conftest.py").read_text(encoding="utf-8"), re.MULTILINE)
    assert looked == {"check": [f"tests/{folder}" for folder in eval(tree)], "packages": ["tests/packaging"],
                      "test": [f"--ignore=tests/{folder}" for folder in eval(tree)]}
    marked = {str(path.relative_to(ROOT).parent) for path in (ROOT / "tests").rglob("test_*.py")
              if re.search(r"pytest\.mark\.(tree|packages)\b", path.read_text(encoding="utf-8"))}
    assert marked == {"tests/packaging"}


def test_wheels_for_a_python_that_is_not_here(tmp_path):
    """Nothing is built, and what there is instead is said."""
    done = run(SCRIPTS / "wheels", sys.executable, tmp_path, "3.1")
    here = ".".join(map(str, sys.version_info[:2]))
    assert done.returncode == 1 and list(tmp_path.iterdir()) == []
    assert "there is no Python 3.1 with its headers here, only" in done.stderr and f" {here}" in done.stderr
