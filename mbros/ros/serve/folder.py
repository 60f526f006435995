"""The one folder that services write to and read from: what comes by the network reaches no other file of the user."""
from __future__ import annotations

import os
from pathlib import Path

from mbros_core.support.files import read_regular

from mbros.names import printable

from mbros.ros.errors import RequestError

LONGEST = 200       # bytes of a name in a folder: file systems have room for 255, and what is written is called longer for a moment


def folder_of(values: dict[str, object]) -> Path:
    """The folder that the parameter `folder` names. RequestError where it is of a user that there is none of, or who has no home."""
    given = str(values["folder"])
    home = os.environ.get("ROS_HOME") or "~/.ros"
    named = Path(given or Path(home) / "mbros")
    try:
        return named.expanduser().absolute()
    except RuntimeError:
        raise RequestError(f"there is no home folder for {shown(str(named))}; give another one with the parameter `folder`") from None


def file_in(folder: Path, name: str, suffix: str) -> Path:
    """The file of that name in the folder, which is there or not; RequestError for one that lies elsewhere or is of another kind."""
    _check_name(name)
    try:
        path = (folder / name).resolve()
        inside = folder.resolve() in path.parents
        kind = "a folder" if path.is_dir() else "no regular file" if path.exists() and not path.is_file() else ""
    except (OSError, RuntimeError) as e:            # a folder that may not be looked into, a loop of symbolic links
        why = getattr(e, "strerror", None) or "links lead in a circle"
        raise RequestError(f"file {shown(name)} cannot be looked for: {why}") from e
    if not inside or kind == "a folder":
        raise RequestError(f"file {shown(name)}: expected the name of a file in {folder}, such as run1{suffix}; the parameter `folder` "
                           "says which folder that is")
    if kind:
        raise RequestError(f"file {shown(name)} is {kind}; expected the name of one, or of one that is to be")
    if path.suffix != suffix:
        raise RequestError(f"file {shown(name)}: expected a name that ends with {suffix}")
    return path


def _check_name(name: str) -> None:
    """RequestError for names that terminals, shells and file systems have trouble with."""
    parts = name.split("/")
    hidden = any(part.startswith(("-", ".")) and part not in (".", "..") for part in parts)
    if not name or not name.isprintable() or hidden:
        raise RequestError(f"file {shown(name)}: expected the name of a file of printable characters, in which nothing begins with - or .")
    if len(name) > 4 * LONGEST or any(len(part.encode(errors="replace")) > LONGEST for part in parts):
        raise RequestError(f"file {shown(name)}: expected a name of at most {LONGEST} bytes")


def shown(name: str) -> str:
    return f"'{printable(name, 100)}'"


def read_file(path: Path, most: int) -> bytes:
    """The bytes of a regular file, at most so many; RequestError where it cannot be read. Nothing here waits for anybody."""
    try:
        return read_regular(path, most)
    except (OSError, ValueError) as e:
        raise RequestError(f"{path} cannot be read: {getattr(e, 'strerror', None) or e}") from e


def made(folder: Path) -> Path:
    """The folder, made where it is missing."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as e:
        raise RequestError(f"the folder {folder} cannot be made: {e.strerror or e}; give another one with the parameter `folder`") from e
    return folder
