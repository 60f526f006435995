"""MJCF, the format of MuJoCo, to `RobotDescription` (docs/mjcf.md).

    description = mbros.describe.mjcf.parse(source)          # raises ModelError: .problems, each with file, line, element, reason, remedy

`source` is a path or MJCF text. Files are data: nothing in them is run, and nothing outside the model's folder is opened.
"""
from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mbros_core.support.numbers import short

from mbros.arguments import LENIENCE, choice
from mbros.describe.check_robot import raise_errors
from mbros.describe.mjcf.base import stand_as
from mbros.describe.mjcf.document import TEXT
from mbros.describe.mjcf.reader import read
from mbros.describe.urdf import is_text
from mbros.describe.urdf.xml import read_file
from mbros.errors import MbrosError, ModelError, UrdfError
from mbros.names import one_document

if TYPE_CHECKING:
    from mbros.describe.robot import RobotDescription
    from os import PathLike

__all__ = ["parse"]


@one_document
def parse(source: str | PathLike[str], base: str | None = None, inertia: str = "check", xacro_args: Mapping[str, object] | None = None,
          limits: str = "check", package_dirs: Sequence[str | PathLike[str]] = ()) -> RobotDescription:
    """The checked description.

    base: None, as the file has it, or "fixed", "floating", "planar", for the one body that stands on the world. inertia: "check" refuses
    impossible inertias of moving parts, "as_given" reports them as warnings. package_dirs: folders whose files may be included, too.
    Raises ModelError with all problems found.
    """
    choice("load", "inertia", inertia, LENIENCE)
    choice("load", "limits", limits, LENIENCE)
    if xacro_args:
        raise MbrosError(f"xacro_args: {short(xacro_args)} was given, and an MJCF file is no .xacro file; leave it out")
    if is_text(source):
        description = read(source.encode("utf-8", "surrogatepass"), TEXT, False, package_dirs=package_dirs)
    else:
        path = Path(source)
        try:
            data = read_file(path, "an MJCF file")
        except UrdfError as error:
            raise ModelError(error.problems) from None
        description = read(data, os.fspath(path), True, path.name.split(".")[0] or "model", package_dirs)
    description.package_dirs = tuple(package_dirs)
    try:
        stand_as(description, base)
        raise_errors(description, inertia)
    except ModelError as error:
        error.notes = description.notes
        raise
    return description
