"""Message packages that PyPI does not have: generated once, from their definition, with ROS's own generators.

tf2_msgs and simulation_interfaces are ROS's own; mbros_msgs, beside this file, is ours: where colcon builds mbros, it is there (colcon.py).
A processor takes some 3, 13 and 22 s for them (tf2_msgs, mbros_msgs, simulation_interfaces): a node waits for the first, for the second
unless MBROS_GENERATE=0 says that nobody will call its services, and uses the third where it is.

`ensure("tf2_msgs")` imports the package where it exists (any sourced ROS 2) and otherwise generates it with the rosidl generators that
come with rclpy's wheels and the C++ compiler, once per environment, or takes what was made in another one of the same wheels and tools
(mbros.build.kept; not with MBROS_BUILD_CACHE=0). `python -m mbros.ros.interfaces` does the same from a terminal.
"""
from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import importlib
import io
import os
import pathlib
import platform
import shlex
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
import zipfile
from collections.abc import Callable
from types import ModuleType

from mbros_core.support.processes import python

from mbros.build.kept import put, take, toolchain
from mbros.build.own_folder import cache_folder, make_folder, sweep, why_shared, working_folder

from .definitions import DEFINITIONS, prefixes, stamp, why_not

__all__ = ["DEFINITIONS", "InterfaceError", "ensure", "find", "location", "prepare"]

MOST_BYTES = 64 << 20       # of the packages that are kept


class InterfaceError(RuntimeError):
    """A message package is neither installed nor could it be generated; the text says what to do."""


def ensure(package: str = "tf2_msgs", log: Callable[[str], None] | None = None, check: Callable[[], None] = lambda: None) -> ModuleType:
    """Import `package`, generating it first where it does not exist. Says so through `log` before it takes time, and meanwhile
    calls `check` ten times a second, which may raise: then nothing is left behind.

    Safe to call from several processes at once: each generates aside and the first to finish is kept.
    """
    target = location(package)
    if target is not None:
        _forget_old(package, target / package)
    found = _import(package)
    if found is None:
        if target is None:
            raise InterfaceError(
                f"no message package '{package}' here, and nowhere to write it; with ROS sourced {_from_ros(package)}, "
                "otherwise make the cache folder (XDG_CACHE_HOME or ~/.cache) writable for you and for nobody else")
        if not (target / package).is_dir():
            if lacking := why_not():
                raise InterfaceError(f"the message package '{package}' is not here and cannot be generated: {lacking}; or, with ROS "
                                     f"sourced, {_from_ros(package)}")
            if log is not None:
                log(f"generating the message package '{package}' into {target} (once, {_takes(package)})")
            try:
                _generate(package, target, check)
            except (OSError, subprocess.TimeoutExpired) as e:
                raise InterfaceError(f"the message package '{package}' could not be generated into {target}: {e}") from e
        found = _import(package, target)
    if found is None:
        assert target is not None           # or it was refused above
        raise InterfaceError(f"'{package}' was generated into {target} and still cannot be imported; "
                             f"delete {target / package} and start again")
    return found


def find(package: str) -> ModuleType | None:
    """Import `package` where it is installed or has been generated before; None where it is not. Nothing is generated."""
    return _import(package)


def _takes(package: str) -> str:
    types = len(DEFINITIONS.get(package, ()))
    return "a few seconds" if types < 5 else "half a minute" if types < 20 else "a minute"


def prepare(log: Callable[[str], None] | None = None, check: Callable[[], None] = lambda: None) -> None:
    """What the node needs, tf2_msgs, and mbros_msgs where it can be had and is wanted: without it services and a topic are missing, and
    the node says so."""
    ensure("tf2_msgs", log, check)
    if os.environ.get("MBROS_GENERATE") != "0" and find("mbros_msgs") is None and not tried("mbros_msgs"):
        try:
            ensure("mbros_msgs", log, check)
        except InterfaceError as e:
            if log is not None:
                log(str(e))
            note("mbros_msgs", str(e))


def _notes(package: str) -> pathlib.Path | None:
    """Where a failure is kept, beside where the package would be."""
    folder = location(package)
    return None if folder is None else folder / f".{package}.failed"


def _circumstances(package: str) -> str:
    """What a failure depends on: it is tried again when any of this is another."""
    return "\n".join([stamp(package), _key(), why_not(), *map(str, prefixes())])


def tried(package: str) -> bool:
    """It could not be generated here before, and nothing has changed since: a start of the node does not wait for that again."""
    path = _notes(package)
    try:
        return path is not None and path.read_text(encoding="utf-8").startswith(_circumstances(package))
    except OSError:
        return False


def note(package: str, why: str) -> None:
    path = _notes(package)
    if path is not None:
        with contextlib.suppress(OSError):
            path.write_text(f"{_circumstances(package)}\n\n{why}\n", encoding="utf-8")


def _forget_old(package: str, folder: pathlib.Path) -> None:
    """Delete a package that was generated from another definition; one that ROS brought is left alone."""
    init = folder / "__init__.py"
    text = init.read_text(encoding="utf-8") if init.is_file() else ""
    if "generated by mbros" in text and stamp(package) not in text:
        shutil.rmtree(folder, ignore_errors=True)


def location(package: str) -> pathlib.Path | None:
    """The folder a generated `package` goes to: this virtual environment's site-packages, or else a cache folder."""
    site = pathlib.Path(sysconfig.get_path("platlib"))
    if sys.prefix != sys.base_prefix and os.access(site, os.W_OK):
        return site
    try:
        folder = (cache_folder() / "mbros" / "interfaces" / _key()).resolve()
        make_folder(folder)
        return None if why_shared(folder, adding=True) else folder      # what lies there is imported
    except OSError:
        return None


def _key() -> str:
    """One cache folder per Python, machine and installed generator: what is compiled fits nothing else."""
    generator = importlib.util.find_spec("rosidl_generator_c")
    parts = [platform.python_implementation(), sysconfig.get_config_var("SOABI"), platform.machine(), sys.prefix,
             None if generator is None else generator.origin]
    try:
        from importlib.metadata import version
        parts.append(version("rosidl_generator_c"))
    except Exception:
        parts.append("sourced")
    return hashlib.sha256("\n".join(map(str, parts)).encode()).hexdigest()[:16]


def _import(package: str, folder: pathlib.Path | None = None) -> ModuleType | None:
    """Import `package` (from `folder` if given, or from a cache filled earlier); None where there is none."""
    if folder is None:
        cached = location(package)
        folder = cached if cached is not None and (cached / package).is_dir() else None
    if folder is not None and str(folder) not in sys.path:
        sys.path.append(str(folder))      # after everything else: a real package always wins
    importlib.invalidate_caches()
    try:
        module = importlib.import_module(package)
        for part in {name.partition("/")[0] for name in DEFINITIONS.get(package, ("msg/",))}:
            importlib.import_module(f"{package}.{part}")
        return module
    except ModuleNotFoundError as e:
        if e.name is not None and e.name.split(".")[0] == package:
            return None
        raise


def _generate(package: str, target: pathlib.Path, check: Callable[[], None] = lambda: None) -> None:
    """Generate and compile beside the target in another process, try it there, then rename into place."""
    sweep(f".{package}-", target)
    with working_folder(f".{package}-", target) as folder:
        scratch, name = str(folder), _kept_as(package, target)
        kept = take("messages", name) if name else None
        if kept is not None:
            _unpack(kept, folder)
            _rename(folder / package, target / package)
            return
        env = dict(os.environ)
        env["AMENT_PREFIX_PATH"] = os.pathsep.join(map(str, prefixes()))
        code, said = _run(python("mbros.ros.interfaces.generate", package, scratch, str(target)), env, check)
        if code != 0:
            raise InterfaceError(
                f"the message package '{package}' could not be generated:\n{_tail(said)}\n"
                f"`python -m mbros.ros.interfaces` tries again; with ROS sourced {_from_ros(package)} instead")
        if name:
            put("messages", name, _packed(folder / package), MOST_BYTES)
        _rename(folder / package, target / package)


def _rename(made: pathlib.Path, target: pathlib.Path) -> None:
    try:
        os.rename(made, target)
    except OSError:
        if not target.is_dir():                     # another process was faster: its result is as good
            raise


def _kept_as(package: str, target: pathlib.Path) -> str:
    """The name under which a package is kept that another environment could use; "" where it could not: what it is linked to lies at the
    same place below the prefix only where ROS is of wheels."""
    prefix = pathlib.Path(sys.prefix)
    if os.environ.get("MBROS_BUILD_CACHE") == "0" or prefixes() != [prefix] or not target.is_relative_to(prefix):
        return ""
    from importlib.metadata import distributions

    here = pathlib.Path(__file__).parent
    wheels = sorted(f"{of.name} {of.version}" for of in distributions() if (of.name or "").startswith(("ros", "numpy", "empy")))
    tools = toolchain(shlex.split(os.environ.get(name) or default) for name, default in (("CC", "cc"), ("CXX", "c++")))
    how = [(here / name).read_text(encoding="utf-8") for name in ("generate.py", "definitions.py")]
    about = [stamp(package), str(target.relative_to(prefix)), wheels, tools, how]
    return f"{package}-{hashlib.sha256(repr(about).encode()).hexdigest()}.zip"


def _packed(folder: pathlib.Path) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path.parent.name != "__pycache__":
                archive.write(path, path.relative_to(folder.parent))
    return file.getvalue()


def _unpack(data: bytes, folder: pathlib.Path) -> None:
    """Into a folder that is this process's alone; nobody else can write to what is made, whatever the umask is."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        archive.extractall(folder)
    for path in folder.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)


def _run(command: list[str], env: dict[str, str], check: Callable[[], None], timeout: float = 1200.0) -> tuple[int, str]:
    """Exit code and words of a command; it and the compilers that it starts are killed where `check` raises."""
    end = time.monotonic() + timeout
    with subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          start_new_session=True) as process:
        try:
            while True:
                check()
                try:
                    out, errors = process.communicate(timeout=0.1)
                    return process.returncode, errors or out
                except subprocess.TimeoutExpired:
                    if time.monotonic() > end:
                        raise
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise


def _from_ros(package: str) -> str:
    """How those get it who have sourced a ROS 2."""
    if package == "mbros_msgs":
        return "build it with colcon (docs/ros.md, Services)"
    return f"install 'ros-$ROS_DISTRO-{package.replace('_', '-')}'"


def _tail(text: str, lines: int = 15) -> str:
    kept = [line for line in text.strip().splitlines() if "duplicate entry point" not in line]
    return "\n".join(kept[-lines:])
