"""Message packages that PyPI does not have: generated once, from their definition, with ROS's own generators.

`ensure("tf2_msgs")` imports the package where it exists (any sourced ROS 2) and otherwise generates it with the
rosidl generators that come with rclpy's wheels and the C++ compiler, in a few seconds, once per environment.
`python -m mbros.ros.interfaces` does the same from a terminal or a Makefile.
"""
from __future__ import annotations

import hashlib
import importlib
import os
import pathlib
import platform
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable
from types import ModuleType

__all__ = ["InterfaceError", "ensure", "location"]

# The definition is the interface: whoever generates from these lines gets the type (and the type hash) of ROS 2.
DEFINITIONS = {
    "tf2_msgs": {"msg/TFMessage.msg": "geometry_msgs/TransformStamped[] transforms\n"},
}


class InterfaceError(RuntimeError):
    """A message package is neither installed nor could it be generated; the text says what to do."""


def ensure(package: str = "tf2_msgs", log: Callable[[str], None] | None = None) -> ModuleType:
    """Import `package`, generating it first where it does not exist. Says so through `log` before it takes time.

    Safe to call from several processes at once: each generates aside and the first to finish is kept.
    """
    found = _import(package)
    if found is None:
        target = location(package)
        if target is None:
            raise InterfaceError(
                f"no message package '{package}' here, and nowhere to write it; with ROS sourced install "
                f"'ros-$ROS_DISTRO-{package.replace('_', '-')}', otherwise make the cache folder writable")
        if not (target / package).is_dir():
            if log is not None:
                log(f"generating the message package '{package}' into {target} (once, a few seconds)")
            _generate(package, target)
        found = _import(package, target)
    if found is None:
        raise InterfaceError(f"'{package}' was generated into {target} and still cannot be imported; "
                             f"delete {target / package} and start again")
    return found


def location(package: str) -> pathlib.Path | None:
    """The folder a generated `package` goes to: this virtual environment's site-packages, or else a cache folder."""
    site = pathlib.Path(sysconfig.get_path("platlib"))
    if sys.prefix != sys.base_prefix and os.access(site, os.W_OK):
        return site
    base = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
    folder = base / "mbros" / "interfaces" / _key()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return folder


def _key() -> str:
    """One cache folder per Python, machine and installed generator: what is compiled fits nothing else."""
    parts = [platform.python_implementation(), sysconfig.get_config_var("SOABI"), platform.machine(), sys.prefix]
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
        importlib.import_module(package + ".msg")
        return module
    except ModuleNotFoundError as e:
        if e.name is not None and e.name.split(".")[0] == package:
            return None
        raise


def _generate(package: str, target: pathlib.Path) -> None:
    """Generate and compile beside the target in another process, try it there, then rename into place."""
    with tempfile.TemporaryDirectory(prefix=f".{package}-", dir=target) as scratch:
        env = dict(os.environ)
        env["AMENT_PREFIX_PATH"] = os.pathsep.join(filter(None, [sys.prefix, env.get("AMENT_PREFIX_PATH")]))
        command = [sys.executable, "-m", "mbros.ros.interfaces.generate", package, scratch, str(target)]
        env["PYTHONPATH"] = os.pathsep.join(filter(None, [_root(), env.get("PYTHONPATH")]))
        done = subprocess.run(command, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)
        if done.returncode != 0:
            raise InterfaceError(
                f"the message package '{package}' could not be generated:\n{_tail(done.stderr or done.stdout)}\n"
                f"needed: a C and a C++ compiler, Python's headers (python3-dev), NumPy, catkin-pkg and ROS 2 from "
                f"wheels (pip install \"mbros[ros]\"); with ROS sourced install its own {package} instead")
        try:
            os.rename(os.path.join(scratch, package), target / package)
        except OSError:
            if not (target / package).is_dir():      # another process was faster: its result is as good
                raise


def _root() -> str:
    return str(pathlib.Path(__file__).resolve().parents[3])


def _tail(text: str, lines: int = 15) -> str:
    kept = [line for line in text.strip().splitlines() if "duplicate entry point" not in line]
    return "\n".join(kept[-lines:])
