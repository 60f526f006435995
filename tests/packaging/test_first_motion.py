"""What is compiled where (docs/decisions/043-what-is-built-where.md): for the demo, for this CPU, for wheels; and what was compiled
before."""
import importlib
import os
import re
import runpy
import shutil
import sys
from types import SimpleNamespace

import pytest
import setuptools
from workshop import MODULES, ROOT, copy_tree, must, run, setup_py

CPUS = {"AVX512": {"double_v4", "lanes8", "dual8"}, "AVX2": {"double_v3", "lanes4", "dual4"}, "": set()}
FALLBACK = {"double", "lanes2", "dual2"}
TINY = "def answer():\n    return 42\n"
OLD = ("import types; from importlib.machinery import ModuleSpec; c = types.ModuleType('Cython'); c.__spec__ = ModuleSpec('Cython', None); "
       "c.__version__ = '0.29.37'; sys.modules['Cython'] = c")


@pytest.fixture
def made(monkeypatch):
    """What setup.py defines, in a process that was told nothing."""
    for name in ("MBROS_ONLY", "MBROS_CPUS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(setuptools, "setup", lambda **words: None)
    return SimpleNamespace(**runpy.run_path("setup.py", run_name="__main__"))


def chosen(made, cpu):
    made.selected.__globals__["own_cpu"] = lambda: cpu
    return {row[0].rpartition("._")[2] for row in made.selected()}


@pytest.mark.parametrize("cpu", CPUS)
def test_a_build_has_the_engines_that_its_cpu_uses_and_the_one_that_runs_everywhere(made, cpu):
    names = chosen(made, cpu)
    assert {name for name in names if re.match("double|lanes|dual", name)} == CPUS[cpu] | FALLBACK
    assert {"traced", "geometry", "scene", "devices", "dataplane"} < names


def test_wheels_and_a_cpu_that_says_nothing_have_all(made, monkeypatch):
    every = {name.rpartition("._")[2] for name in MODULES}
    assert chosen(made, None) == every
    monkeypatch.setenv("MBROS_CPUS", "all")
    assert chosen(made, "AVX2") == every
    assert "MBROS_CPUS=all" in must("make", "-n", "wheel") and "MBROS_CPUS=all" in must("make", "-n", "-B", "packages")
    assert "\nexport MBROS_CPUS=all" in (ROOT / "scripts/wheels").read_text()


@pytest.mark.parametrize("cpu, double", [("AVX512", "double_v4"), ("AVX2", "double_v3"), ("", "double"), (None, "double")])
def test_the_demo_has_one_engine_and_what_the_node_is_made_of(made, monkeypatch, cpu, double):
    monkeypatch.setenv("MBROS_ONLY", "demo")
    assert chosen(made, cpu) == {double, "small", "loop", "pushes", "dataplane", "ending"}
    said = must("make", "-n", "demo", f"MBROS_VENV={ROOT}/no-such-venv")
    assert re.findall(r"env (MBROS_\w+=\w+) \S+ setup.py build_ext", said) == ["MBROS_ONLY=demo"]


def test_the_cpu_is_the_one_that_the_engine_chooses_by(made, monkeypatch):
    from mbros_core.support import cpu
    monkeypatch.setenv("MBROS_ENGINE", "baseline")              # of this process alone, not of what is built
    has = cpu.all_flags()
    assert made.own_cpu() == ("AVX512" if has >= cpu.AVX512 else "AVX2" if has >= cpu.AVX2 else "")


def test_other_cpus_than_this_and_all_are_refused():
    done = setup_py("--name", MBROS_CPUS="avx2")
    assert done.returncode == 1 and done.stderr.startswith("MBROS_CPUS is 'avx2'; expected this or all")


def test_trial_Y6_an_old_cython_is_told_by_name_and_version():
    done = setup_py("build_ext", prelude=OLD)
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr == (f"building mbros needs Cython 3.0 or newer, and {sys.executable} has 0.29.37: `pip install 'cython>=3.0'`\n")
    assert setup_py("--name", prelude=OLD).stdout == "mbros\n"


# ------------------------------------------------------------------------------------------------------ what was compiled before

def tree(folder, text=TINY):
    made = copy_tree(folder)
    (made / "mbros" / "ros" / "process" / "_ending.pyx").write_text(text)
    return made


def build(tree, cache, **env):
    """What was said; the module answers."""
    done = setup_py("build_ext", "--inplace", cwd=tree, MBROS_ONLY="ending", XDG_CACHE_HOME=cache,
                    **{"MBROS_BUILD_CACHE": None, "MBROS_JOBS": 1, **env})
    assert done.returncode == 0, done.stderr
    must(sys.executable, "-c", "import _ending; assert _ending.answer() in (42, 43)", cwd=tree / "mbros" / "ros" / "process")
    return [line for line in done.stderr.splitlines() if line.startswith("mbros: ")]


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """A folder of caches in which the tiny module is, and what was said as it was made."""
    folder = tmp_path_factory.mktemp("cache")
    return folder, build(tree(tmp_path_factory.mktemp("first")), folder)


TAKEN = "mbros: 1 modules were compiled before from the same sources, and are taken from "


@pytest.mark.packages
def test_each_module_is_told_with_how_many_are_left(cache):
    folder, said = cache
    assert said[0].startswith("mbros: compiling 1 modules, 1 at a time")
    assert re.fullmatch(r"mbros: mbros.ros.process._ending, \d+ s; none left", said[1])
    (kept,) = (folder / "mbros" / "modules").iterdir()
    assert re.fullmatch(r"mbros.ros.process._ending-[0-9a-f]{64}\.so", kept.name) and kept.stat().st_mode & 0o777 == 0o700


@pytest.mark.packages
def test_a_second_clone_compiles_nothing(cache, tmp_path):
    second = tree(tmp_path)
    assert build(second, cache[0]) == [f"{TAKEN}{cache[0]}/mbros/modules"]
    assert not [*second.glob("build/**/*.cpp"), *second.glob("build/**/*.o"), *second.glob("mbros/build/**/*.pyc")]
    assert build(second, cache[0]) == []                        # it is there


@pytest.mark.packages
@pytest.mark.parametrize("change", ["source", "header", "flags", "compiler", "refused", "damaged", "foreign"])
def test_what_is_not_the_same_is_compiled(cache, tmp_path, change):
    folder, env = tmp_path / "cache", {}
    shutil.copytree(cache[0], folder)
    other = tree(tmp_path / "tree", TINY.replace("42", "43") if change == "source" else TINY)
    (kept,) = (folder / "mbros" / "modules").iterdir()
    if change == "header":
        with open(other / "mbros" / "ros" / "process" / "ending.hpp", "a") as file:
            file.write("\n// changed\n")
    elif change == "flags":
        env["CXXFLAGS"] = env["CFLAGS"] = "-DANOTHER=1"
    elif change == "compiler":
        same = tmp_path / "g++"
        same.write_text('#!/bin/sh\nexec g++ "$@"\n')
        same.chmod(0o755)
        env["CXX"] = env["CC"] = same
    elif change == "refused":
        env["MBROS_BUILD_CACHE"] = 0
    elif change == "damaged":
        kept.write_bytes(kept.read_bytes()[:-200])
    elif change == "foreign":
        folder.chmod(0o777)                                     # who can write there could put another module in its place
    assert build(other, folder, **env)[0].startswith("mbros: compiling 1 modules")


def test_no_more_is_kept_than_there_is_room_for(tmp_path, monkeypatch):
    from mbros.build import kept
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for number in range(4):
        kept.put("things", f"thing{number}", bytes(1000), 2500)
        os.utime(tmp_path / "mbros" / "things" / f"thing{number}", (number, number))
        assert kept.take("things", "thing0") in (bytes(1000), None)             # used: the last to go
    assert kept.take("things", "thing0") and sorted(path.name for path in (tmp_path / "mbros" / "things").iterdir()) == ["thing0", "thing3"]


# --------------------------------------------------------------------------------------------------------------- a part of it all

@pytest.fixture(scope="module")
def part(tmp_path_factory):
    """A tree with the modules of `make demo`."""
    made = copy_tree(tmp_path_factory.mktemp("part"))
    from mbros_core.support import cpu
    double = cpu.load_double().__name__.rpartition("._")[2]
    for name in MODULES:
        if name.rpartition("._")[2] in {double, "small", "loop", "pushes", "dataplane", "ending"}:
            file = importlib.import_module(name).__file__
            shutil.copy(file, (made / name.replace(".", "/")).parent)
    return made


ALONE = "import sys; sys.meta_path = [finder for finder in sys.meta_path if 'editable' not in repr(finder)]\n"
REFUSED = """
import mbros, mbros_core
sim = mbros.Simulator(mbros.load("arm7")); sim.advance_to(0.01)
for use in (lambda: mbros.Simulator(mbros.load("quadruped", ground=0.0)), mbros_core.lanes, lambda: mbros_core.realtime.timer_jitter(0.01)):
    try:
        import mbros_core.realtime
        use()
    except mbros.NotBuiltError as error:
        print(error)
"""


def test_the_rest_says_what_to_run(part):
    said = must(sys.executable, "-c", ALONE + REFUSED, cwd=part).splitlines()
    names = [line.partition(" ")[0] for line in said]
    assert names == ["mbros_core.geometry._geometry", "mbros_core.engine._lanes2", "mbros_core.realtime._jitter"]
    for line in said:
        assert f"is not compiled yet: {part} has a part of mbros" in line
        assert line.endswith("Build the rest there: make build, or pip install -e .")


def test_doctor_tells_of_a_part_and_finds_no_fault_in_it(part):
    command = ALONE + "from mbros.cli import main; sys.exit(main(['doctor', '--quick']))"
    done = run(sys.executable, "-c", command, cwd=part)
    assert done.returncode in (0, 1) and "Traceback" not in done.stderr, done.stderr
    assert re.search(r"note +modules +5 of 14 are compiled, as after `make demo`; not .*callbacks.*geometry.*\n +-> .*make build",
                     done.stdout)
    assert not re.search("problem +(engine|lanes|dual)", done.stdout)


@pytest.mark.ros
@pytest.mark.slow
def test_the_demo_needs_no_more(part):
    pytest.importorskip("rclpy", reason="needs ROS 2: source it, or pip install 'mbros[ros]'")
    domain = str(1 + (int(os.environ.get("ROS_DOMAIN_ID", "0")) + 29) % 101)
    # The processes that it starts look into the working folder first, as it does.
    done = run(sys.executable, "-m", "mbros.cli", "demo", "arm7", "--duration", "3", cwd=part, PYTHONPATH=part, ROS_DOMAIN_ID=domain)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"(\d+) of \1 poses reached", done.stdout)
