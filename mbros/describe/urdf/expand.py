"""xacro files, through the `xacro` package from PyPI or ROS, and only when a path ends in `.xacro`.

Expanding a xacro file evaluates Python expressions from it and can read other files: load only those you trust.
"""
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mbros_core.numbers import short

from mbros.errors import MbrosError, MissingPackageError, Problem, UrdfError

if TYPE_CHECKING:
    from os import PathLike


def expand(path: str | PathLike[str], arguments: Mapping[str, object] | None = None) -> str:
    """The URDF text of the xacro file at `path`; `arguments` are its xacro:arg values by name."""
    try:
        import xacro
    except ImportError as error:
        raise MissingPackageError(f"{path}: xacro files need the package 'xacro', which cannot be imported ({error}). "
                                  "Install it: pip install 'mbros[xacro]', or expand the file first: "
                                  "xacro robot.urdf.xacro > robot.urdf.") from error
    if not isinstance(arguments, (dict, type(None))):
        raise MbrosError(f"xacro_args: expected a dict of names and values, got {short(arguments)}")
    mappings = {str(name): _text(value) for name, value in (arguments or {}).items()}
    try:
        return xacro.process_file(str(path), mappings=mappings).toxml()
    except (Exception, SystemExit) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise UrdfError(Problem("xacro", f"it cannot be expanded: {reason}",
                                "Run `xacro` on the file to see its own messages.", str(path),
                                getattr(error, "lineno", None))) from error


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
