"""URDF (and, when asked by a file name, xacro) to `RobotDescription`.

    description = mbros.describe.urdf.parse(source)          # raises UrdfError: .problems, each with file, line, element, reason, remedy

`source` is a path or URDF text. Files are data: nothing in them is run (xacro excepted, see mbros.describe.urdf.expand), no mesh is
opened, nothing is fetched.
"""
from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard

from mbros_core.support.numbers import short

from mbros.arguments import LENIENCE, choice
from mbros.describe.check_robot import carried_twice, check_names, raise_errors
from mbros.describe.problems import problem
from mbros.describe.urdf.base import attach_base
from mbros.describe.urdf.numbers import parse_finite_float
from mbros.describe.urdf.reader import read
from mbros.describe.urdf.xml import read_file
from mbros.errors import MbrosError, ModelError, UrdfError
from mbros.names import one_document

if TYPE_CHECKING:
    from mbros.describe.robot import JointDescription, RobotDescription
    from os import PathLike

__all__ = ["parse", "is_text", "parse_finite_float"]


def is_text(source: object) -> TypeGuard[str]:
    """Whether `source` is the text of a robot rather than a path or a name."""
    return isinstance(source, str) and source.lstrip("\ufeff \t\r\n").startswith("<")


@one_document
def parse(source: str | PathLike[str], base: str | None = None, inertia: str = "check", xacro_args: Mapping[str, object] | None = None,
          limits: str = "check", package_dirs: Sequence[str | PathLike[str]] = ()) -> RobotDescription:
    """The checked description, its base attached.

    base: "fixed", "floating", "planar" or None (the robot's own, "fixed" for files). inertia: "check" refuses impossible
    inertias of moving parts, "as_given" reports them as warnings. limits: the same for limits that the specification asks for.
    xacro_args: values of xacro:arg by name, for .xacro paths. package_dirs: where packages are looked for
    first. Raises UrdfError with all problems found.
    """
    choice("load", "inertia", inertia, LENIENCE)
    choice("load", "limits", limits, LENIENCE)
    description = read_source(source, xacro_args, limits, package_dirs)
    description.package_dirs = tuple(package_dirs)
    try:
        _names_first(description)
        attach_base(description, base)
        raise_errors(description, inertia)
    except ModelError as error:
        error.notes = description.notes
        raise
    return description


def _names_first(description: RobotDescription) -> None:
    """Duplicate names and doubly carried links are reported as such, not as the broken tree that follows from them."""
    found = [p for p in check_names(description) if "reserved" not in p.reason]
    carried: dict[int, JointDescription] = {}
    for joint in description.joints:
        if joint.parent is joint.child:
            found.append(problem(joint, f"its parent and its child are the same link {joint.child.name!r}",
                                 "A joint connects two links."))
        first = carried.setdefault(id(joint.child), joint)
        if first is not joint:
            found.append(carried_twice(joint, first, "link"))
    if found:
        raise UrdfError(found)


def read_source(source: str | PathLike[str], xacro_args: Mapping[str, object] | None = None, limits: str = "check",
                package_dirs: Sequence[str | PathLike[str]] = ()) -> RobotDescription:
    """Reads links and joints from a path or a text."""
    if xacro_args and (is_text(source) or Path(source).suffix != ".xacro"):
        raise MbrosError(f"xacro_args: {short(xacro_args)} was given, and {'a text' if is_text(source) else source} is no .xacro file; "
                         "leave it out")
    if isinstance(source, str) and is_text(source):
        return read(source.encode("utf-8", "surrogatepass"), "<text>", False, limits=limits)
    path = Path(source)
    name = path.name.split(".")[0] or "robot"
    if path.suffix == ".xacro":
        from mbros.describe.urdf.expand import expand      # start-up time: who does not use it does not pay

        read_file(path)
        text, places = expand(path, xacro_args, package_dirs)
        return read(text.encode(), os.fspath(path), False, name, limits, places)
    return read(read_file(path), os.fspath(path), True, name, limits)
