"""mbros_msgs beside mbros, where colcon builds this folder: `python colcon.py PREFIX BUILD_FOLDER`, which setup.py calls.

colcon looks for no packages below one that it has found, so it does not see the one in this folder. Where a ROS is sourced that can build
packages of messages (ament_cmake, rosidl_default_generators), it is built and installed as colcon would have done it, for C++ and Python;
elsewhere, or where that fails, Python's part is generated as the node would do it at its start. Nothing of mbros is imported here.
"""
from __future__ import annotations

import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import types
from importlib import import_module

HERE = pathlib.Path(__file__).resolve().parent
PACKAGE = "mbros_msgs"
BUILDERS = ("ament_cmake", "rosidl_default_generators")
INDEX = "share/ament_index/resource_index"


def build(prefix: pathlib.Path, folder: pathlib.Path) -> str:
    """Install the package under `prefix`; returns what was done, or why nothing was."""
    definitions = import_module("mbros_interfaces.definitions")
    homes = definitions.prefixes()
    able = shutil.which("cmake") and all(any((home / "share" / name).is_dir() for home in homes) for name in BUILDERS)
    key = folder / "built"
    now = hashlib.sha256("\n".join([definitions.stamp(PACKAGE), *map(str, (*homes, prefix, able, sys.executable))]).encode()).hexdigest()
    if key.is_file() and key.read_text() == now and (prefix / "share" / PACKAGE).is_dir():
        return f"{PACKAGE} is built"
    folder.mkdir(parents=True, exist_ok=True)
    said = by_cmake(prefix, folder, homes) if able else ""
    if not able or said:
        if lacking := definitions.why_not():
            why = "ROS 2 is not sourced" if len(homes) < 2 else lacking
            return f"{said}{PACKAGE} is not built: {why}; without it the node has no ~/contacts and misses some services"
        by_hand(prefix, folder, homes)
    key.write_text(now)
    return f"{said}{PACKAGE} is built{', for Python' if said or not able else ''}"


def by_cmake(prefix: pathlib.Path, folder: pathlib.Path, homes: list[pathlib.Path]) -> str:
    """As colcon builds a package of ament_cmake; returns why it could not. (ROS from wheels has files of CMake that name folders of another
    machine.)"""
    env = {**os.environ, "AMENT_PREFIX_PATH": os.pathsep.join(map(str, homes)),
           "CMAKE_PREFIX_PATH": os.pathsep.join(filter(None, [os.environ.get("CMAKE_PREFIX_PATH"), *map(str, homes)]))}
    for command in (["cmake", "-S", HERE / PACKAGE, "-B", folder, f"-DCMAKE_INSTALL_PREFIX={prefix}", "-DBUILD_TESTING=OFF",
                     f"-DPython3_EXECUTABLE={sys.executable}"],
                    ["cmake", "--build", folder, "--parallel", str(len(os.sched_getaffinity(0)))], ["cmake", "--install", folder]):
        done = subprocess.run(list(map(str, command)), env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            said = done.stdout[max(0, done.stdout.find("Error")):].strip()
            return f"{' '.join(map(str, command[:2]))} failed for {PACKAGE}: {said[:1500]}\nmbros: "
    return ""


def by_hand(prefix: pathlib.Path, folder: pathlib.Path, homes: list[pathlib.Path]) -> None:
    """Python's part, its definitions, and what ament looks for."""
    generate, names = import_module("mbros_interfaces.generate"), import_module("mbros_interfaces.definitions").DEFINITIONS[PACKAGE]
    os.environ["AMENT_PREFIX_PATH"] = os.pathsep.join(map(str, homes))
    scratch, site = folder / "scratch", prefix / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir()
    made = generate.make(PACKAGE, scratch, site)
    shutil.rmtree(site / PACKAGE, ignore_errors=True)
    site.mkdir(parents=True, exist_ok=True)
    shutil.move(made, site / PACKAGE)
    share = prefix / "share" / PACKAGE
    for name in names:
        (share / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(HERE / PACKAGE / name, share / name)
    shutil.copy(HERE / PACKAGE / "package.xml", share)
    for kind, text in (("packages", ""), ("rosidl_interfaces", "\n".join(sorted(names)) + "\n")):
        (prefix / INDEX / kind).mkdir(parents=True, exist_ok=True)
        (prefix / INDEX / kind / PACKAGE).write_text(text)
    shutil.rmtree(scratch, ignore_errors=True)


def main(argv: list[str]) -> int:
    package = types.ModuleType("mbros_interfaces")
    package.__path__ = [str(HERE)]
    sys.modules[package.__name__] = package             # its modules, without mbros, which cannot be imported yet
    sys.path[:] = [folder for folder in sys.path if pathlib.Path(folder).resolve() != HERE]
    print("mbros:", build(pathlib.Path(argv[0]).resolve(), pathlib.Path(argv[1]).resolve()), file=sys.stderr, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
