"""Which reader a robot's text or file is for: by its root element, which a table has; by its ending where there is no file to look at."""
from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mbros_core.support.files import open_regular
from mbros_core.support.numbers import short

from mbros.errors import MbrosError

if TYPE_CHECKING:
    from mbros.describe.robot import RobotDescription

LOOKED_AT = 65536           # bytes in which a root element must begin
_BEFORE = re.compile(rb"(?:\s|\xef\xbb\xbf|<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^\[>]*(?:\[.*?\]\s*)?>)*", re.DOTALL)
_ROOT = re.compile(rb"<([\w:.-]+)")
ROOTS = {"sdf": "sdf", "mujoco": "mjcf"}                # root element: kind; all others are for the URDF reader
ENDINGS = {".sdf": "sdf", ".world": "sdf", ".mjcf": "mjcf"}
DATA_ENDINGS = (".urdf", ".xml", *ENDINGS)           # of files that are read and not run
ALL_ENDINGS = (".xacro", *DATA_ENDINGS)


def kind_of(source: Any) -> str:
    """"urdf" or another word of ROOTS, of a text or a path."""
    from mbros.describe.urdf import is_text      # start-up time: who reads no robot does not pay

    if is_text(source):
        return ROOTS.get(_root(source[:LOOKED_AT].encode("utf-8", "replace")), "urdf")
    ending = os.path.splitext(os.fspath(source))[1].lower()
    if ending == ".xacro":
        return "urdf"
    try:
        with open_regular(source) as file:
            return ROOTS.get(_root(file.read(LOOKED_AT) or b""), "urdf")        # None: of a device that has nothing now
    except (OSError, ValueError):
        return ENDINGS.get(ending, "urdf")


def _root(data: bytes) -> str:
    """The tag of the root element of XML; "" where none is seen."""
    before = _BEFORE.match(data)
    found = _ROOT.match(data, before.end() if before else 0)
    return found[1].decode("ascii", "replace") if found else ""


def read(source: Any, base: str | None = None, inertia: str = "check", xacro_args: Mapping[str, object] | None = None,
         limits: str = "check", package_dirs: Any = (), gravity: Any = None) -> RobotDescription:
    """The checked description of a text or a file; arguments as of mbros.load. gravity: for what a file says against it."""
    return _READ[kind_of(source)](source, base, inertia, xacro_args, limits, package_dirs, gravity)


def _urdf(source: Any, base: str | None, inertia: str, xacro_args: Any, limits: str, package_dirs: Any, _: Any) -> RobotDescription:
    from mbros.describe.urdf import parse      # start-up time: who does not use it does not pay

    return parse(source, base, inertia, xacro_args, limits, package_dirs)


def _sdf(source: Any, base: str | None, inertia: str, xacro_args: Any, _: str, package_dirs: Any, gravity: Any) -> RobotDescription:
    from mbros.describe.sdf import parse      # start-up time: as above

    if xacro_args:
        raise MbrosError(f"xacro_args: {short(xacro_args)} was given, and this is SDF, not a .xacro file; leave it out")
    return parse(source, base, inertia, package_dirs, gravity)


def _mjcf(source: Any, base: str | None, inertia: str, xacro_args: Any, limits: str, package_dirs: Any, _: Any) -> RobotDescription:
    from mbros.describe.mjcf import parse      # start-up time: as above

    return parse(source, base, inertia, xacro_args, limits, package_dirs)


_READ = {"urdf": _urdf, "sdf": _sdf, "mjcf": _mjcf}
