"""`package://` and relative file names: where they may lead, and nowhere else. Nothing is opened here.

A package is looked for in `package_dirs`, ROS_PACKAGE_PATH, the share folders of AMENT_PREFIX_PATH, the folders above the
model file, and (for package://example-robot-data) the PyPI package example-robot-data. The file must lie inside the
package after `..` and symbolic links are followed, and be a regular file.
"""
from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn
from urllib.parse import unquote

from mbros.describe.urdf.numbers import shorten
from mbros.errors import MbrosError
from mbros.names import sentences

if TYPE_CHECKING:
    from os import PathLike

_PACKAGE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*\Z", re.ASCII)


def resolve(uri: str, model_file: str | PathLike[str] | None = None, package_dirs: Iterable[str | PathLike[str]] = ()) -> Path:
    """The file that `uri` names. Raises MbrosError with reason and remedy.

    Accepted: `package://name/path`, `file:///path` and plain paths, the last two inside the model file's folder or
    `package_dirs` only. Never a network address.
    """
    if "\x00" in unquote(uri) or "\\" in unquote(uri):
        _refuse(uri, "it has a NUL or a backslash", "Use / between folders.")
    scheme, colon, rest = uri.partition("://")
    if scheme == "file":
        rest = unquote(rest)
    if not colon:
        return _inside(uri, Path(uri), _folders(model_file, package_dirs))
    if scheme == "package":
        name, _, path = rest.partition("/")
        if not _PACKAGE.match(name):
            _refuse(uri, f"{shorten(name)} is not a package name", "Write package://<name>/<path inside the package>.")
        roots = package_roots(name, model_file, package_dirs)
        if not roots:
            _refuse(uri, f"no package {name!r} was found",
                    "Give its folder as package_dirs=[...], or set ROS_PACKAGE_PATH or AMENT_PREFIX_PATH.")
        return _inside(uri, Path(path), roots)
    if scheme == "file":
        return _inside(uri, Path(rest), _folders(model_file, package_dirs))
    _refuse(uri, f"{shorten(scheme)}:// is not supported", "Use package:// or a path beside the model file.")


def package_roots(name: str, model_file: str | PathLike[str] | None = None, package_dirs: Iterable[str | PathLike[str]] = ()) -> list[Path]:
    """Existing folders of package `name`, in the order they are searched."""
    candidates = []
    for folder in [*map(Path, package_dirs), *_listed("ROS_PACKAGE_PATH")]:
        candidates += [folder] if folder.name == name else [folder / name]
    candidates += [folder / "share" / name for folder in _listed("AMENT_PREFIX_PATH")]
    if model_file is not None:
        candidates += [folder for folder in Path(model_file).absolute().parents if folder.name == name]
    if name == "example-robot-data":
        candidates += example_robot_data()
    return [folder for folder in candidates if os.path.isdir(folder)]         # Path's own raises for names that are too long


def example_robot_data() -> list[Path]:
    """Folders of the example-robot-data package (with robots/ inside), as PyPI and ROS install it."""
    import sys

    folders = [Path(entry) / "cmeel.prefix" / "share" / "example-robot-data" for entry in sys.path if entry]
    folders += [prefix / "share" / "example-robot-data" for prefix in [*_listed("AMENT_PREFIX_PATH"), Path(sys.prefix)]]
    return [folder for folder in folders if (folder / "robots").is_dir()]


def listed_shares() -> list[Path]:
    """The share folders of AMENT_PREFIX_PATH, where packages stand beside each other."""
    return [folder / "share" for folder in _listed("AMENT_PREFIX_PATH")]


def _listed(variable: str) -> list[Path]:
    return [Path(entry) for entry in os.environ.get(variable, "").split(os.pathsep) if entry]


def _folders(model_file: str | PathLike[str] | None, package_dirs: Iterable[str | PathLike[str]]) -> list[Path]:
    return ([Path(model_file).absolute().parent] if model_file is not None else []) + [Path(d) for d in package_dirs]


def beside(name: str, file: str | PathLike[str], package_dirs: Iterable[str | PathLike[str]] = ()) -> str:
    """The path of what a file of data (a scene, a script) names, from its folder on. MbrosError where that leads, after .. and links, out
    of the folder and of package_dirs: the file may be somebody else's."""
    path = os.path.join(os.path.dirname(file), name)
    try:
        full = Path(os.path.realpath(path))
        roots = [os.path.realpath(folder) for folder in _folders(file, package_dirs)]
    except ValueError as e:
        raise MbrosError(f"{shorten(name)} is no path: {e}") from None
    if not any(full.is_relative_to(root) for root in roots):
        raise MbrosError(f"{shorten(name)} leads out of the folder of {os.fspath(file)}, which may be somebody else's file. Put it beside "
                         "that file or into a package (package://...), or name its folder yourself: package_dirs=[...] in Python")
    return path


def _inside(uri: str, path: Path, roots: Sequence[Path]) -> Path:
    outside = False
    for root in roots:
        root = root.resolve()
        try:
            full = (root / path).resolve()
            if not full.is_relative_to(root):
                outside = True
            elif full.is_file():
                return full
        except (OSError, RuntimeError, ValueError):         # a name that is too long, a loop of symbolic links, halves of surrogates
            continue
    if outside:
        _refuse(uri, "it leads outside its package", "Keep meshes inside the package of the robot.")
    _refuse(uri, "there is no such file", "Looked in " + (", ".join(str(r) for r in roots[:4]) or "no folder") + ".")


def _refuse(uri: str, reason: str, remedy: str) -> NoReturn:
    raise MbrosError(sentences(f"{shorten(uri, 200)}: {reason}", remedy))
