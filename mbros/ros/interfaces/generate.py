"""Generate one message package for rclpy without CMake: `python -m mbros.ros.interfaces.generate PACKAGE SCRATCH TARGET`.

ROS's own generators are called as Python functions (their command refuses to run from wheels: each wheel carries its
entry points twice). Everything generated goes into one library. rosidl looks for two implementations of the type support,
Fast DDS's and introspection, by library name, and finds them when they are loaded already: so the library has the first
name, an empty one that needs it has the second, and the extension module beside the Python files needs both.
"""
from __future__ import annotations

import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from functools import cache

from .definitions import DEFINITIONS, DEPENDENCIES, IMPLEMENTATIONS, PARTS, RUNTIME, prefixes, stamp


def generate(package: str, scratch: pathlib.Path) -> pathlib.Path:
    """Write definition files and what the generators make of them, a folder for each; returns the folder of those folders.

    Two generators give files of different contents the same name when there are services. Each definition is translated to IDL once, and
    parsed once for all five, which change nothing in what was parsed.
    """
    from rosidl_cli.command.translate.api import translate
    from rosidl_generator_c import cli
    from rosidl_generator_c.cli import GenerateC
    from rosidl_generator_py.cli import GeneratePython
    from rosidl_parser import parser
    from rosidl_typesupport_c.cli import GenerateCTypesupport
    from rosidl_typesupport_fastrtps_c.cli import GenerateFastRTPSCTypesupport
    from rosidl_typesupport_introspection_c.cli import GenerateIntrospectionCTypesupport

    if hasattr(cli, "build_type_description_tuples"):
        cli.build_type_description_tuples = described
    if not hasattr(parser.parse_idl_string, "cache_info"):
        parser.parse_idl_string = cache(parser.parse_idl_string)
    definitions, out, homes = scratch / "definitions", scratch / "generated", [str(prefix / "share") for prefix in prefixes()]
    for name, text in DEFINITIONS[package].items():
        (definitions / name).parent.mkdir(parents=True, exist_ok=True)
        (definitions / name).write_text(text)
    files = translate(package_name=package, interface_files=[f"{definitions}:{name}" for name in DEFINITIONS[package]],
                      include_paths=homes, output_format="idl", output_path=scratch / "idl" / package)
    generators = (GenerateC("c"), GeneratePython("py", typesupport_implementations=["rosidl_typesupport_c"]),
                  GenerateFastRTPSCTypesupport("fastrtps_c"), GenerateIntrospectionCTypesupport("introspection_c"),
                  GenerateCTypesupport("c", typesupport_implementations=list(IMPLEMENTATIONS)))
    for generator in generators:
        generator.generate(package, files, homes, out / type(generator).__name__ / package)
    return out


def described(interfaces: list[str], descriptions: list[object]) -> list[str]:
    """ "<interface>:<its description>" of each interface file, in the place of rosidl's own function, which takes a message and a service
    of one name for one another (rosidl_cli.command.helpers)."""
    def of(path: object) -> tuple[str, ...]:
        return pathlib.Path(str(path).rpartition(":")[2]).with_suffix("").parts[-2:]

    found = {of(path): path for path in descriptions}
    return [f"{path.rpartition(':')[2]}:{found[of(path)]}" for path in interfaces]


def units(out: pathlib.Path) -> list[pathlib.Path]:
    """What to compile: a file for each generator and language that includes all of its files, whose headers would take most of the time.
    Apart are the module's entry point and the descriptions of types, which have static names in common."""
    apart: list[pathlib.Path] = []
    together: dict[pathlib.Path, list[pathlib.Path]] = {}
    for source in sorted((*out.rglob("*.c"), *out.rglob("*.cpp"))):
        if ".ep." in source.name or source.name.endswith("__description.c"):
            apart.append(source)
        else:
            together.setdefault(out / f"{source.relative_to(out).parts[0]}{source.suffix}", []).append(source)
    for unit, parts in together.items():
        unit.write_text("".join(f'#include "{part.relative_to(out)}"\n' for part in parts))
    return [*together, *apart]


def compile_all(package: str, out: pathlib.Path, target: pathlib.Path) -> list[pathlib.Path]:
    """Compile what was generated; returns the two libraries and the extension module."""
    import numpy

    homes = prefixes()
    headers = [folder for prefix in homes if (folder := prefix / "include").is_dir()]
    include = [*sorted(out.iterdir()), sysconfig.get_path("include"), numpy.get_include(), *headers,
               *(p for folder in headers for p in sorted(folder.iterdir()) if p.is_dir())]
    flags = ["-O1", "-fPIC", *(f"-I{p}" for p in include)]
    tools = {".c": _tool("CC", "cc"), ".cpp": _tool("CXX", "c++")}
    objects = {source: str(source) + ".o" for source in units(out)}
    with ThreadPoolExecutor(jobs()) as pool:
        list(pool.map(lambda source: _run([*tools[source.suffix], *flags, "-c", str(source), "-o", objects[source]]), objects))
    entry = [objects.pop(source) for source in list(objects) if ".ep." in source.name]
    home, libs = target / package, [lib for prefix in homes for lib in (prefix / "lib", *sorted((prefix / "lib").glob("*-linux-gnu")))]
    own = pathlib.Path(sys.prefix)
    ros = ["$ORIGIN/" + os.path.relpath(lib, home) if home.is_relative_to(own) and lib.is_relative_to(own) else str(lib) for lib in libs]
    link = [*_tool("CXX", "c++"), "-shared", f"-L{out}", *(f"-L{lib}" for lib in libs), f"-Wl,-rpath,{':'.join(['$ORIGIN', *ros])}",
            *(f"-Wl,-rpath-link,{lib}" for lib in libs)]
    used = ["-Wl,--as-needed", *(f"-l{d}__{part}" for d in DEPENDENCIES for part in PARTS), *(f"-l{name}" for name in RUNTIME)]
    names = [f"{package}__{implementation}" for implementation in IMPLEMENTATIONS]
    files = [out / f"lib{name}.so" for name in names] + [out / f"{package}_s__rosidl_typesupport_c.so"]
    ours = ["-Wl,--no-as-needed", *(f"-l{name}" for name in names)]
    _run([*link, *objects.values(), *used, f"-Wl,-soname,{files[0].name}", "-o", str(files[0])])
    _run([*link, *ours[:2], f"-Wl,-soname,{files[1].name}", "-o", str(files[1])])
    _run([*link, *entry, *ours, *used, "-o", str(files[2])])
    return files


def assemble(package: str, out: pathlib.Path, libraries: list[pathlib.Path], scratch: pathlib.Path) -> pathlib.Path:
    """Put the Python files and the libraries together as an importable package under `scratch`."""
    home = scratch / package
    for name in ("msg", "srv", "action"):
        for source in sorted(out.glob(f"*/{package}/{name}/*.py")):
            (home / name).mkdir(parents=True, exist_ok=True)
            shutil.copy(source, home / name / source.name)
    (home / "__init__.py").write_text(f'"""{package}, for this environment: {stamp(package)}."""\n')
    for library in libraries:
        shutil.copy(library, home / library.name)
    return home


def jobs() -> int:
    """Compilers at a time, as in setup.py: MBROS_JOBS, else as many as this process has CPUs."""
    return int(os.environ.get("MBROS_JOBS") or (len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1))


def _tool(variable: str, default: str) -> list[str]:
    """The compiler named by the environment (it may carry flags) or the system's."""
    command = shlex.split(os.environ.get(variable) or default)
    if shutil.which(command[0]) is None:
        raise SystemExit(f"no compiler '{command[0]}' found; install one (Debian, Ubuntu: apt install g++) or set {variable}")
    return command


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{command[0]} failed on {command[-1]}:\n{done.stderr[-3000:]}")


def main(argv: list[str]) -> int:
    os.umask(os.umask(0o022) | 0o022)           # what is imported is for nobody else to write to
    make(argv[0], pathlib.Path(argv[1]), pathlib.Path(argv[2]))
    return 0


def make(package: str, scratch: pathlib.Path, target: pathlib.Path) -> pathlib.Path:
    """The package, tried, in a folder of its name under `scratch`, to be moved to `target`."""
    out = generate(package, scratch)
    home = assemble(package, out, compile_all(package, out, target), scratch)
    # a package that cannot be loaded must not be installed; at its final depth the rpath is right, here the path helps
    env = dict(os.environ)
    env["LD_LIBRARY_PATH"] = os.pathsep.join(filter(None, [*(str(prefix / "lib") for prefix in prefixes()), env.get("LD_LIBRARY_PATH")]))
    probe = ("import sys; sys.path[:] = [sys.argv[1], *filter(None, sys.path)]; from {0}.{1} import {2}; "
             "{2}.__class__.__import_type_support__()")
    kind = pathlib.PurePath(next(iter(DEFINITIONS[package])))
    subprocess.run([sys.executable, "-c", probe.format(package, kind.parent, kind.stem), str(home.parent)], env=env, check=True)
    return home


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
