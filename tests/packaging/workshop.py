"""What the packaging tests share: the repository, a clean copy of it, and commands run in a clean environment."""
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# Modules in setup.py's table, and those of them that are for tests and benchmarks of the tree.
SETUP_PY = (ROOT / "setup.py").read_text(encoding="utf-8")
MODULES = re.findall(r'^    \("([\w.]+)"', SETUP_PY, re.MULTILINE)
IN_PLACE_ONLY = re.findall(r'"([\w.]+)"', re.search(r"^IN_PLACE_ONLY = \{(.*)\}", SETUP_PY, re.MULTILINE)[1])
# What a quick build makes with MBROS_ONLY: enough to simulate, to run in real time and to know the node, in three folders.
QUICK = "double,small,callbacks,loop,jitter,dataplane,ending"

# What ROS looks for under an install prefix, whoever installed it.
ROS_FILES = ["share/ament_index/resource_index/packages/mbros", "share/mbros/package.xml", "lib/mbros/sim_node",
             *(f"share/mbros/{path.relative_to(ROOT)}" for path in sorted((ROOT / "launch").rglob("*"))
               if path.is_file() and "__pycache__" not in path.parts)]

# What an environment hands down to its children and another environment must not see.
INHERITED = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "LD_LIBRARY_PATH", "AMENT_PREFIX_PATH", "_ROS_WHEELS_BOOTSTRAP_COMPLETE",
             "MBROS_ONLY", "MBROS_CPUS", "MBROS_DEBUG", "MBROS_SANITIZE", "MBROS_VENV", "MAKEFLAGS", "MAKELEVEL", "MFLAGS")


def environment(**changes):
    """This process's environment without what belongs to its own venv, with `changes` (None takes a variable out). pip compiles no package
    to bytecode in it: what is imported is, and most never is. What was compiled elsewhere is not taken."""
    env = {**{name: value for name, value in os.environ.items() if name not in INHERITED}, "PIP_COMPILE": "0", "MBROS_BUILD_CACHE": "0"}
    for name, value in changes.items():
        env.pop(name, None)
        if value is not None:
            env[name] = str(value)
    return env


def run(*command, cwd=ROOT, timeout=600, **env):
    """Run to the end; the result has .returncode, .stdout and .stderr as text."""
    return subprocess.run([str(word) for word in command], cwd=cwd, env=environment(**env), stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=timeout)


def must(*command, **options):
    """Run and return what was printed; show everything when it fails."""
    done = run(*command, **options)
    assert done.returncode == 0, f"{' '.join(map(str, command))}\nexit code {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def new_environment(folder):
    """Prefix of a venv with nothing but pip, which is copied from this environment: ensurepip would take five seconds to install it."""
    must(sys.executable, "-m", "venv", "--without-pip", folder)
    pip = Path(importlib.util.find_spec("pip").origin).parent
    (site,) = folder.glob("lib/python*/site-packages")
    for part in (pip, *pip.parent.glob("pip-*.dist-info")):
        shutil.copytree(part, site / part.name)
    return folder


def hurried(folder):
    """Variables with which compilers optimise nothing, whatever setup.py asks of them: a third of the time."""
    compiler = Path(folder) / "hurried_compiler"
    compiler.write_text(f'#!/bin/sh\nexec {os.environ.get("CXX", "c++")} "$@" -O0 -g0\n', encoding="utf-8")
    compiler.chmod(0o755)
    return {"CC": compiler, "CXX": compiler}


def copy_built(target, *modules):
    """Into a build folder: these modules and their translations, as `make build` left them. What is older than its sources is made anew."""
    for name in modules:
        (place,) = (row.replace(".", "/") for row in MODULES if row.rpartition("._")[2] == name)
        tag = sys.implementation.cache_tag
        for path in (*ROOT.glob(f"build/lib.*{tag}/{place}.*.so"), *ROOT.glob(f"build/temp.*{tag}/{place}.cpp")):
            copy = Path(target) / path.relative_to(ROOT / "build")
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, copy)


def copy_tree(target):
    """The files of the repository as a fresh clone would have them (tracked, or new and not ignored)."""
    listed = must("git", "ls-files", "--cached", "--others", "--exclude-standard", "-z").split("\0")
    for name in filter(None, listed):
        source, copy = ROOT / name, Path(target) / name
        if source.is_file():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, copy)
    return Path(target)


def setup_py(*words, cwd=ROOT, prelude="", **env):
    """Execute setup.py with these arguments; `prelude` is Python that runs first in the same process."""
    code = (f"import runpy, sys; {prelude}\n"
            f"sys.argv = ['setup.py', *{list(words)!r}]; runpy.run_path('setup.py', run_name='__main__')")
    return run(sys.executable, "-c", code, cwd=cwd, **env)
