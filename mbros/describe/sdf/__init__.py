"""SDF to `RobotDescription`: a robot of a file with one <model>, a scene of one with a <world> (docs/sdf.md).

    description = mbros.describe.sdf.parse(source)          # raises ModelError: .problems, each with file, line, element, reason, remedy

`source` is a path or SDF text. Files are data, as those of URDF are; what they include is looked for where files.py says, and nothing is
fetched.
"""
from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from mbros_core.support.numbers import short

from mbros.arguments import LENIENCE, choice
from mbros.describe.check_robot import raise_errors
from mbros.describe.robot import GRAVITY, RobotDescription
from mbros.describe.sdf.files import Library, parse_sdf, version_of
from mbros.describe.sdf.robots import fill, make_members, models_of
from mbros.describe.sdf.schema import note_unread
from mbros.describe.sdf.members import around, read_world
from mbros.describe.sdf.plugins import read_bench
from mbros.describe.sdf.worlds import add_grounds, read_gravity
from mbros.describe.urdf import is_text
from mbros.describe.urdf.context import Context
from mbros.describe.urdf.xml import read_file
from mbros.errors import MbrosError, ModelError
from mbros.names import one_document

if TYPE_CHECKING:
    from mbros.describe.urdf.xml import XmlElement
    from mbros_core.typing import ArrayLike
    from os import PathLike


@one_document
def parse(source: str | PathLike[str], base: str | None = None, inertia: str = "check",
          package_dirs: Sequence[str | PathLike[str]] = (), gravity: ArrayLike | None = None) -> RobotDescription:
    """The checked description, its bases attached; with `members` where the file has a <world>.

    base: of a robot: how links that no joint carries stand: "floating" (the default, and SDF's own), "fixed", "planar"; a world says it of
    each model (<static>). inertia: as of mbros.load. package_dirs: where models and packages are looked for first. gravity (3,): instead of
    the world's. Raises ModelError with all problems found.
    """
    choice("load", "inertia", inertia, LENIENCE)
    data, file = _data(source)
    root = parse_sdf(data, file)
    library = Library(Context(file), package_dirs)
    library.count(root)
    description = _read(library, root, base, gravity)
    try:
        raise_errors(description, inertia)
    except ModelError as error:
        error.notes = description.notes
        raise
    return description


def _data(source: str | PathLike[str]) -> tuple[bytes, str]:
    if is_text(source):
        return source.encode("utf-8", "surrogatepass"), "<text>"
    return read_file(Path(source), "an SDF file"), os.fspath(source)


def _read(library: Library, root: XmlElement, base: str | None, gravity: ArrayLike | None) -> RobotDescription:
    """The description, and every problem of it that is not of the tree."""
    context = library.context
    version = version_of(context, root)
    worlds, models = root.all("world"), root.all("model")
    description = RobotDescription("", file=context.file, package_dirs=library.package_dirs)
    if version is not None and len(worlds) + len(models) != 1:
        context.problem(root.line, "<sdf>", f"it has {len(worlds)} <world> and {len(models)} <model> elements", "It must have one of them; "
                        "several models stand in a <world>.")
    elif version is not None:
        if worlds and base is not None:
            raise MbrosError(f"load: base is {short(base)}, and {context.file} is a world, which says it of each model: <static>")
        scope = read_world(library, worlds[0], version) if worlds else around(library, models[0], version)
        description.gravity = read_gravity(context, worlds) if gravity is None else np.array(gravity, float)
        placed = models_of(context, scope, bool(worlds))
        description.name = (scope.name if worlds else next(iter(scope.entries), "")) or "model"
        parts = fill(library, description, placed, base)
        description.package_dirs = tuple(dict.fromkeys((*library.package_dirs, *library.folders)))
        add_grounds(library, description, parts)
        if worlds:
            make_members(description, placed)
            description.collisions = True
        read_bench(context, description, placed, parts)
        if not description.bodies and not context.found:
            context.problem(root.line, scope.label, "it has no link", "A robot has at least one <link>.")
    note_unread(root, context)
    description.notes = context.notes.problems(context.file)
    if context.problems:
        context.problems.sort(key=lambda problem: (str(problem.file) != context.file, problem.line or 0))
        error = ModelError(context.problems)
        error.notes = description.notes
        raise error
    return description


__all__ = ["GRAVITY", "parse"]
