"""Convex hulls of mesh files, kept by content in the folder of caches: a robot of fine meshes is loaded again without a look at them.

What is kept (mbros.build.kept) is (vertices, faces) under a digest of the file's bytes, its scale and HULLS, and is checked again as a
closed surface.
"""
from __future__ import annotations

import hashlib
import io
from contextlib import suppress
from typing import Any

import numpy as np
from mbros_core import geometry as engine

from mbros.build.kept import put, take
from mbros.describe.meshes import mesh_file, triangles
from mbros.describe.shapes import hull_points
from mbros.errors import MbrosError

HULLS = 1                   # another number where the hull of the same file is another
FEW = 500                   # vertices of a file: their hull is found as soon as it is read
MOST_BYTES = 256 << 20      # of all that is kept: the oldest goes


def mesh_hull(label: str, geometry: Any, file: str | None, package_dirs: Any) -> engine.Shape:
    """The convex hull of a `mesh` geometry, whose file is found beside `file` and in package_dirs. label: what messages call it."""
    kind, data = mesh_file(geometry.filename, file, package_dirs)
    scale = np.array(geometry.scale, float)
    name = hashlib.sha256(repr((HULLS, kind, scale.tolist(), len(data))).encode() + data).hexdigest() + ".hull"
    found = _kept(name)
    if found is not None:
        return found
    points = np.vstack([part.vertices for part in triangles(geometry.filename, kind, data, "collision")])
    made = engine.convex(hull_points(label, points * scale))
    if len(points) > FEW:
        put("hulls", name, _bytes(made), MOST_BYTES)
    return made


def _kept(name: str) -> engine.Shape | None:
    """The hull that is kept under this name, if it is one."""
    data = take("hulls", name)
    if data is None:
        return None
    with suppress(MbrosError, ValueError, OSError, EOFError):
        file = io.BytesIO(data)
        vertices, starts, corners = (np.load(file, allow_pickle=False) for _ in range(3))
        return engine.Shape("convex", (), vertices, (starts, corners))
    return None


def _bytes(hull: engine.Shape) -> bytes:
    file = io.BytesIO()
    for array in (hull.points, *(hull.faces or ())):
        np.save(file, np.asarray(array), allow_pickle=False)
    return file.getvalue()
