"""Names of files in a robot: `package://`, `$(find package)` of xacro, `file://` and relative paths. Where they may lead, and nowhere else.

A package is looked for in `package_dirs`, above the model file (its package.xml), in ROS_PACKAGE_PATH, in the share folders of
AMENT_PREFIX_PATH, in the folders above the model file and beside these, and (example-robot-data) among the PyPI packages. No ROS needs to
be sourced. The file must lie inside the package after `..` and symbolic links are followed, and be a regular file. Nothing but
package.xml is opened here.
"""
from __future__ import annotations

import os
import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn
from urllib.parse import unquote

from mbros_core.support.files import read_regular

from mbros.describe.urdf.numbers import shorten
from mbros.errors import MbrosError
from mbros.names import sentences

if TYPE_CHECKING:
    from os import PathLike

NAME_IT = "--package-dir, or package_dirs=[...] in Python"
_NAME = re.compile(r"<name>\s*([^<>]{1,300}?)\s*</name>")


def resolve(uri: str, model_file: str | PathLike[str] | None = None, package_dirs: Iterable[str | PathLike[str]] = ()) -> Path:
    """The file that `uri` names. Raises MbrosError with reason and remedy.

    Accepted: `package://name/path`, which Gazebo writes as `model://name/path`; plain paths and `file:///path`, from the model file's
    folder or one of `package_dirs` on, inside the package that holds this folder (without a package.xml above it: inside the folder);
    absolute ones also inside any package that package:// finds. Percent-encoding is read where nothing has the name as it is written.
    Never a network address.
    """
    if "\x00" in unquote(uri) or "\\" in unquote(uri):
        _refuse(uri, "it has a NUL or a backslash", "Use / between folders.")
    scheme, colon, rest = uri.partition("://")
    if not colon:
        scheme, rest = "", uri
    if scheme not in ("package", "model", "file") and colon:
        _refuse(uri, f"{shorten(scheme)}:// is not supported", "Use package:// or a path beside the model file.")
    dirs = tuple(package_dirs)
    places = []             # (folder, its package or itself, path)
    for path in dict.fromkeys((rest, unquote(rest))):
        if scheme in ("package", "model"):
            name, _, path = path.partition("/")
            places += [(root, root, path) for root in package_roots(name, model_file, dirs)]
        else:
            places += [(folder, package_of(folder) or folder, path) for folder in _folders(model_file, dirs)]
            places += [(root, root, path) for root in _packages_of(path, model_file, dirs)]
    if not places and scheme in ("package", "model"):
        name = rest.partition("/")[0]
        if not _is_name(name):
            _refuse(uri, f"{shorten(name)} is not a package name", f"Write {scheme}://<name>/<path inside the package>.")
        _refuse(uri, *no_package(name))
    return _inside(uri, places)


def no_package(name: str) -> tuple[str, str]:
    """What is wrong, and what to do, where package_roots() finds none."""
    return (f"no package {shorten(name)} was found",
            f"Name the folder that holds it: {NAME_IT}; or set ROS_PACKAGE_PATH or AMENT_PREFIX_PATH.")


def package_roots(name: str, model_file: str | PathLike[str] | None = None, package_dirs: Iterable[str | PathLike[str]] = ()) -> list[Path]:
    """Existing folders of package `name`, in the order they are searched."""
    if not _is_name(name):
        return []
    above = _above(model_file)
    candidates = [root for folder in package_dirs for root in _in(_absolute(folder), name)]
    candidates += [folder for folder in above if _declared(folder) == name]
    candidates += [root for folder in _listed("ROS_PACKAGE_PATH") for root in _in(folder, name)]
    candidates += [folder / "share" / name for folder in _listed("AMENT_PREFIX_PATH")]
    candidates += [folder for folder in above if folder.name == name]
    # of a workspace: sources stand beside each other, and so do packages that are installed apart
    candidates += [root for folder in above for root in (folder / name, folder / name / "share" / name) if _declared(root) == name]
    if name == "example-robot-data":
        candidates += example_robot_data()
    return [root for root in dict.fromkeys(candidates) if os.path.isdir(root)]      # Path's own raises for names that are too long


def package_of(folder: Path) -> Path | None:
    """The package that a folder lies in: the next one above it, or itself, with a package.xml."""
    return next((root for root in (folder, *folder.parents) if _declared(root) is not None), None)


def _in(folder: Path, name: str) -> list[Path]:
    """What is package `name` of a folder of packages: itself, a folder of that name, one that is installed there, or one whose package.xml
    says so."""
    found = [root for root in (folder, folder / name, folder / "share" / name)
             if _declared(root) == name or root.name == name and os.path.isdir(root)]
    if not found:
        files = (file for depth in ("*", "*/*") for file in sorted(folder.glob(depth + "/package.xml")))
        found = [file.parent for file in files if _declared(file.parent) == name]
    return sorted(found, key=lambda root: _declared(root) != name)


def _declared(folder: Path) -> str | None:
    """The name that a folder's package.xml gives; None where there is none."""
    file = os.path.join(folder, "package.xml")
    try:
        return _name_in(file, os.stat(file).st_mtime_ns)
    except (OSError, ValueError):           # a name that is too long, halves of surrogates
        return None


@lru_cache(maxsize=1000)
def _name_in(file: str, changed: int) -> str | None:
    found = _NAME.search(read_regular(file, 1 << 20).decode("utf-8", "replace"))
    return None if found is None else found[1]


def _packages_of(path: str, model_file: str | PathLike[str] | None, package_dirs: tuple[str | PathLike[str], ...]) -> list[Path]:
    """Of an absolute path, the package that it leads into, if package:// finds it: as xacro writes file://$(find package)/..."""
    if not os.path.isabs(path):
        return []
    root = package_of(Path(os.path.normpath(path)).parent)
    name = None if root is None else _declared(root)
    return [] if name is None else [each for each in package_roots(name, model_file, package_dirs) if each == root]


def _is_name(name: str) -> bool:
    return name not in ("", ".", "..") and name.isprintable() and not set("/\\") & set(name)


def _above(model_file: str | PathLike[str] | None) -> list[Path]:
    return [] if model_file is None else list(Path(model_file).absolute().parents)


def _absolute(folder: str | PathLike[str]) -> Path:
    return Path(os.path.abspath(folder))


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
    return [*_above(model_file)[:1], *map(_absolute, package_dirs)]


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
                         f"that file or into a package (package://...), or name its folder yourself: {NAME_IT}")
    return path


def _inside(uri: str, places: list[tuple[Path, Path, str]]) -> Path:
    outside = False
    for folder, root, path in places:
        try:
            root, full = root.resolve(), (folder / path).resolve()
            if not (full.is_relative_to(root) or _linked(full, root)):
                outside = True
            elif full.is_file():
                return full
        except (OSError, RuntimeError, ValueError):         # a name that is too long, a loop of symbolic links, halves of surrogates
            continue
    if outside:
        _refuse(uri, "it leads outside its package", "Keep meshes inside the package of the robot (the folder with its package.xml, or "
                "that of the file where there is none), or name the folder they are in: " + NAME_IT + ".")
    looked = dict.fromkeys(str(folder) for folder, _, _ in places)
    _refuse(uri, "there is no such file", "Looked in " + (", ".join(list(looked)[:4]) or "no folder") + ".")


def _linked(full: Path, root: Path) -> bool:
    """Whether a file is of the same package at another place: what is installed may be links to its sources (--symlink-install)."""
    source, name = package_of(full.parent), _declared(root)
    return source is not None and name is not None and _declared(source) == name


def _refuse(uri: str, reason: str, remedy: str) -> NoReturn:
    raise MbrosError(sentences(f"{shorten(uri, 200)}: {reason}", remedy))
