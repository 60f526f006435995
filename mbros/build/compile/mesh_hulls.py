"""Convex hulls of mesh files, kept by content in the folder of caches: a robot of fine meshes is loaded again without a look at them.

What is kept is (vertices, faces) under a digest of the file's bytes, its scale and HULLS, with a digest of its own (mbros.build.sealed),
and is checked again as a closed surface. Where there is no folder that is this user's alone, nothing is kept.
"""
from __future__ import annotations

import hashlib
import io
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from mbros_core import geometry as engine

from mbros.build.own_folder import cache_folder, make_folder, sweep, why_shared, working_folder
from mbros.build.sealed import content, seal
from mbros.describe.meshes import mesh_file, triangles
from mbros.describe.shapes import hull_points
from mbros.errors import MbrosError

HULLS = 1                   # another number where the hull of the same file is another
FEW = 500                   # vertices of a file: their hull is found as soon as it is read
MOST_BYTES = 256 << 20      # of all that is kept: the oldest goes
MAKING = ".making-"


def mesh_hull(label: str, geometry: Any, file: str | None, package_dirs: Any) -> engine.Shape:
    """The convex hull of a `mesh` geometry, whose file is found beside `file` and in package_dirs. label: what messages call it."""
    kind, data = mesh_file(geometry.filename, file, package_dirs)
    scale = np.array(geometry.scale, float)
    name = hashlib.sha256(repr((HULLS, kind, scale.tolist(), len(data))).encode() + data).hexdigest() + ".hull"
    folder = _folder()
    found = None if folder is None else _kept(folder / name)
    if found is not None:
        return found
    points = np.vstack([part.vertices for part in triangles(geometry.filename, kind, data, "collision")])
    made = engine.convex(hull_points(label, points * scale))
    if folder is not None and len(points) > FEW:
        with suppress(OSError):                     # a full disk, a folder that is read only: it is found again next time
            _keep(folder, name, made)
    return made


def _folder() -> Path | None:
    """Where hulls are kept; None where another user could put something there, or it cannot be made."""
    with suppress(OSError, MbrosError, ValueError, RuntimeError):
        folder = (cache_folder() / "mbros" / "hulls").resolve()
        make_folder(folder)
        return None if why_shared(folder) else folder
    return None


def _kept(path: Path) -> engine.Shape | None:
    """The hull that is kept there, if it is whole."""
    data, why_not = content(path)
    if why_not != "":
        return None
    with suppress(OSError):
        os.utime(path)                              # the oldest is what was not wanted for longest
    with suppress(MbrosError, ValueError, OSError, EOFError):
        file = io.BytesIO(data)
        vertices, starts, corners = (np.load(file, allow_pickle=False) for _ in range(3))
        return engine.Shape("convex", (), vertices, (starts, corners))
    return None


def _keep(folder: Path, name: str, hull: engine.Shape) -> None:
    sweep(MAKING, folder)
    with working_folder(MAKING, folder) as work:
        with open(work / name, "wb") as file:
            for array in (hull.points, *(hull.faces or ())):
                np.save(file, np.asarray(array), allow_pickle=False)
        seal(work / name, folder / name)
    _forget(folder)


def _forget(folder: Path) -> None:
    """No more than MOST_BYTES."""
    found = sorted(((about.st_mtime, about.st_size, path) for path in folder.glob("*.hull") for about in [path.lstat()]), reverse=True)
    total = 0
    for _, size, path in found:
        total += size
        if total > MOST_BYTES:
            path.unlink(missing_ok=True)
