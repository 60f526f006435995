"""The one folder that services write to and read from: what comes by the network reaches no other file of the user."""
from __future__ import annotations

import os
from pathlib import Path

from .errors import RequestError


def folder_of(values: dict[str, object]) -> Path:
    """The folder that the parameter `folder` names."""
    given = str(values["folder"])
    home = os.environ.get("ROS_HOME") or "~/.ros"
    return Path(given or Path(home) / "mbros").expanduser().absolute()


def file_in(folder: Path, name: str, suffix: str) -> Path:
    """The file of that name in the folder; RequestError for one that lies elsewhere or is of another kind."""
    path = (folder / name).resolve()
    if not name or "\0" in name or folder.resolve() not in path.parents or path.is_dir():
        raise RequestError(f"file {name!r}: expected the name of a file in {folder}, such as run1{suffix}; the parameter `folder` says "
                           "which folder that is")
    if path.suffix != suffix:
        raise RequestError(f"file {name!r}: expected a name that ends with {suffix}")
    return path


def made(folder: Path) -> Path:
    """The folder, made where it is missing."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as e:
        raise RequestError(f"the folder {folder} cannot be made: {e.strerror or e}; give another one with the parameter `folder`") from e
    return folder
