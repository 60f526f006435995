"""Processes that mbros starts import nothing from the working folder, in which another user may have put files: /tmp is one."""
import os
import subprocess
import sys

import pytest

PATIENCE = 120
PLANTED = ("signal", "selectors", "pickle", "json", "numpy", "runpy", "importlib", "rosidl_generator_c", "mbros")

SWEEP = """
import mbros
def run(case):
    return {"x": 2.0 * case["a"]}
if __name__ == "__main__":
    print(*mbros.sweep({"a": [1.0, 2.0]}, run, workers=1 + 1)["x"])
"""
MODULE = """
import subprocess, sys
from mbros_core.support.processes import python
print(subprocess.run(python("sysconfig"), capture_output=True, text=True).stdout.startswith("Platform"))
"""
GENERATE = """
import pathlib, sys
import mbros.ros.interfaces as interfaces
try:
    interfaces._generate("tf2_msgs", pathlib.Path(sys.argv[1]))
except interfaces.InterfaceError as error:
    print(error)
"""
CHILD = """
from mbros.cli.demonstration.ros import Child
child = Child("list", "mbros.cli", "list")
child.process.wait(60)
print(child.process.poll(), child.words())
"""


@pytest.fixture
def among_strangers(tmp_path):
    """among_strangers(program, *arguments): what it prints, started in a folder full of modules that end the process."""
    folder = tmp_path / "planted"
    folder.mkdir()
    for name in PLANTED:
        (folder / f"{name}.py").write_text("import os\nos.write(1, b'foreign code is run')\nos._exit(66)\n")

    def start(program, *arguments):
        file = tmp_path / "program.py"
        file.write_text(program)
        path = os.pathsep.join(place for place in sys.path if place)
        done = subprocess.run([sys.executable, str(file), *arguments], cwd=folder, capture_output=True, text=True, timeout=PATIENCE,
                              env=os.environ | {"PYTHONPATH": path, "CC": "no-such-compiler", "CXX": "no-such-compiler"})
        assert "foreign" not in done.stdout + done.stderr, done.stdout + done.stderr
        return done.stdout

    return start


def test_a_module_is_started_without_it(among_strangers):
    assert among_strangers(MODULE) == "True\n"


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 always looks there for a moment")
def test_processes_of_a_sweep_start_without_it(among_strangers):
    assert among_strangers(SWEEP) == "2.0 4.0\n"


def test_the_demonstrations_processes_start_without_it(among_strangers):
    said = among_strangers(CHILD)
    assert said.startswith("0 ") and "or give a path" in said


@pytest.mark.ros
def test_messages_are_generated_without_it(among_strangers, tmp_path):
    pytest.importorskip("rosidl_generator_py", reason="needs the rosidl generators that rclpy's wheels bring")
    assert "no compiler 'no-such-compiler' found" in among_strangers(GENERATE, str(tmp_path))


def test_a_sweep_leaves_the_environment_as_it_is():
    from mbros.study.sweep.workers import SAFE, safe_path
    before = os.environ.get(SAFE)
    with safe_path():
        assert os.environ[SAFE]
    assert os.environ.get(SAFE) == before
