"""The robot's description as others on the graph can use it: mesh files by names that they can resolve."""
from __future__ import annotations

import os
from os import PathLike
import re
from collections.abc import Iterable
from urllib.parse import quote
from xml.sax.saxutils import escape, unescape
from typing import TYPE_CHECKING

from mbros.describe.urdf.packages import listed_shares, resolve
from mbros.errors import MbrosError

if TYPE_CHECKING:
    from mbros import Model

# no tag holds a second "<": what one search looks at, no other does
_MESH = re.compile(r"<mesh\b(?:[^<>\"']|\"[^\"<]*\"|'[^'<]*')*")
_FILENAME = re.compile(r"(\sfilename\s*=\s*)(\"[^\"]*\"|'[^']*')")
_ENTITIES = {"&quot;": '"', "&apos;": "'"}


def published(text: str, model_file: str | PathLike[str] | None = None, package_dirs: Iterable[str | PathLike[str]] = ()) -> str:
    """The URDF text with package:// names of packages that ament does not know, and relative names, as file:// where such a file is
    found here. Names that lead nowhere stay as they are: the program that draws them reports it."""
    def renamed(found: re.Match[str]) -> str:
        return found[1] + _in_quotes(_name(_plain(found[2]), model_file, tuple(package_dirs)))

    return _MESH.sub(lambda tag: _FILENAME.sub(renamed, tag[0], count=1), text)


def fixed_frame(model: Model, prefix: str = "", odom: str = "odom") -> str:
    """The frame that does not move, for viewers: the root link of a robot on a fixed base, else the odometry frame."""
    world = model.description.world
    if world.source.line is not None:
        return prefix + world.name
    roots = [joint for joint in model.joints if joint.parent.name == world.name]
    return prefix + roots[0].child.name if roots and all(joint.nv == 0 for joint in roots) else odom


def _name(name: str, model_file: str | PathLike[str] | None, package_dirs: tuple[str | PathLike[str], ...]) -> str:
    scheme, colon, rest = name.partition("://")
    if colon and scheme != "package" or scheme == "package" and known_to_ament(rest.partition("/")[0]):
        return name
    try:
        return "file://" + quote(str(resolve(name, model_file, package_dirs)))
    except MbrosError:
        return name


def known_to_ament(package: str) -> bool:
    """Whether RViz finds the package by itself: it stands in the index of a prefix in AMENT_PREFIX_PATH."""
    return any(os.path.isfile(share / "ament_index" / "resource_index" / "packages" / package) for share in listed_shares())


def _plain(quoted: str) -> str:
    return unescape(quoted[1:-1], _ENTITIES)


def _in_quotes(name: str) -> str:
    return f'"{escape(name, {chr(34): "&quot;"})}"'
