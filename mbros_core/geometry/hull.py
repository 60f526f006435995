"""The convex hull of points as a polyhedron with flat faces: Quickhull (quickhull.hpp), then coplanar triangles put together.

Points that lie within TOLERANCE of the hull, over its size, are no vertices of it.
"""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from mbros_core.errors import MbrosError

if TYPE_CHECKING:
    from mbros_core.typing import Array, ArrayLike, NDArray

TOLERANCE = 1e-10
MOST_COMPARISONS = 5_000_000_000            # of a point with a plane: ten seconds
MOST_TRIANGLES = 100_000        # of a hull, as many seconds: a mesh of a million triangles has a thousand or ten

Triangle = tuple[int, int, int]


def convex_hull(points: Array) -> tuple[Array, list[list[int]]] | None:
    """(vertices (n, 3), faces as vertex numbers counter-clockwise seen from outside); None for points that span no volume."""
    points = np.unique(points, axis=0)
    if len(points) < 4:
        return None
    size = float(np.ptp(points, axis=0).max())
    first = _tetrahedron(points, size)
    if first is None:
        return None
    from mbros_core.geometry._geometry import hull_triangles       # which imports this module

    found = hull_triangles(points, first, TOLERANCE * size, MOST_COMPARISONS)
    if found is None or len(found) > MOST_TRIANGLES:
        raise MbrosError(f"convex: the hull of its {len(points)} points is too much work: " + (
            f"it has {len(found)} triangles, more than the {MOST_TRIANGLES} allowed" if found is not None else
            f"more than {MOST_COMPARISONS} comparisons of a point with a plane") + ". Simplify the mesh, or take a box or a sphere")
    triangles = list(map(tuple, found.tolist()))
    faces = _merged(points, triangles, 2.0 * TOLERANCE * size)
    if not _closed(faces):                        # where a plane ends is a matter of rounding, if points lie about TOLERANCE off it
        faces = [list(t) for t in triangles]
    used = sorted({i for face in faces for i in face})
    number = {i: k for k, i in enumerate(used)}
    return points[used], [[number[i] for i in face] for face in faces]


def tables(vertices: Array, starts: NDArray[np.intc], corners: NDArray[np.intc]) -> tuple[list[NDArray[np.intc]], Array]:
    """What the engine reads: neighbours of vertices, faces around vertices, corners of faces, each as (starts, numbers) one after
    another, and the edges after those corners; and the faces' outward unit normals."""
    count = len(vertices)
    after = corners[_following(starts)]
    pairs = np.unique(np.concatenate([corners, after]).astype(np.int64) << 32 | np.concatenate([after, corners]))
    around = np.argsort(corners, kind="stable")
    faces = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    packed = [_starts(np.bincount(pairs >> 32, minlength=count)), pairs & 0xffffffff, _starts(np.bincount(corners, minlength=count)),
              faces[around], starts, corners, _edges(corners, after)]
    return [np.ascontiguousarray(array, dtype=np.intc) for array in packed], _normals(vertices, starts, corners)


def packed_faces(faces: list[list[int]]) -> tuple[NDArray[np.intc], NDArray[np.intc]]:
    """(starts, corners) of faces one after another."""
    return _starts([len(face) for face in faces]).astype(np.intc), np.array([i for face in faces for i in face], dtype=np.intc)


def checked_faces(vertices: Array, starts: ArrayLike, corners: ArrayLike) -> tuple[NDArray[np.intc], NDArray[np.intc]]:
    """Packed faces that somebody kept, as the engine reads them. MbrosError where they are no closed surface through all vertices."""
    s, c = np.asarray(starts), np.asarray(corners)
    if (s.dtype != np.intc or c.dtype != np.intc or s.ndim != 1 or c.ndim != 1 or len(s) < 5 or s[0] != 0 or s[-1] != len(c)
            or not (np.diff(s) > 2).all() or not np.array_equal(np.unique(c), np.arange(len(vertices)))):
        raise MbrosError("convex: its faces are not those of its vertices; leave them out")
    after = c[_following(s)].astype(np.int64)
    if not np.array_equal(np.sort(c.astype(np.int64) << 32 | after), np.unique(after << 32 | c)):
        raise MbrosError("convex: its faces are no closed surface; leave them out")
    return s, c


def _starts(counts: Any) -> NDArray[np.intp]:
    """Where rows of these lengths begin, one after another, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(counts, dtype=np.intp)])


def _following(starts: NDArray[np.intc]) -> NDArray[np.intp]:
    """Of each place in rows one after another the next one around its row."""
    after = np.arange(1, starts[-1] + 1)
    after[starts[1:] - 1] = starts[:-1]
    return after


def _edges(corners: NDArray[np.intc], after: NDArray[np.intc]) -> NDArray[np.intp]:
    """Of each corner of each face the number of the edge that follows it: one for both faces at an edge."""
    ends = np.sort(np.column_stack([corners, after]), axis=1).astype(np.int64)
    return np.unique(ends[:, 0] << 32 | ends[:, 1], return_inverse=True)[1]


def _normals(vertices: Array, starts: NDArray[np.intc], corners: NDArray[np.intc]) -> Array:
    """Newell's normals of polygons, unit."""
    count = np.diff(starts)
    a = vertices[corners] - np.repeat(vertices[corners[starts[:-1]]], count, axis=0)
    n = np.add.reduceat(np.cross(a, a[_following(starts)]), starts[:-1], axis=0)
    return np.ascontiguousarray(n / np.linalg.norm(n, axis=1)[:, None])


def _tetrahedron(points: Array, size: float) -> tuple[int, int, int, int] | None:
    """Four points far from each other, the fourth below the triangle of the others; None where all lie in a plane."""
    a = int(points[:, 0].argmin())
    b = int(np.linalg.norm(points - points[a], axis=1).argmax())
    along = (points[b] - points[a]) / np.linalg.norm(points[b] - points[a])
    across = np.cross(points - points[a], along)
    c = int(np.linalg.norm(across, axis=1).argmax())
    n = np.cross(points[b] - points[a], points[c] - points[a])
    if not np.linalg.norm(n) > 1e-9 * size * size:
        return None
    height = (points - points[a]) @ (n / np.linalg.norm(n))
    d = int(np.abs(height).argmax())
    if not abs(height[d]) > 1e-9 * size:
        return None
    return (a, b, c, d) if height[d] < 0.0 else (a, c, b, d)


def _dot(a: list[float], b: list[float]) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def _height(p: list[float], base: list[float], n: list[float]) -> float:
    """Of p over the plane through base."""
    return (p[0] - base[0]) * n[0] + (p[1] - base[1]) * n[1] + (p[2] - base[2]) * n[2]


def _merged(points: Array, triangles: list[Triangle], slack: float) -> list[list[int]]:
    """Faces of the triangles whose planes are one."""
    owner = {(t[k], t[(k + 1) % 3]): t for t in triangles for k in range(3)}
    group: dict[Triangle, int] = {}
    corners = points[np.array(triangles)]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    sizes = np.sum(normals * normals, axis=1)
    areas = dict(zip(triangles, normals.tolist()))
    where = points.tolist()
    loops: list[list[Triangle]] = []
    for k in np.argsort(-sizes, kind="stable").tolist():
        t = triangles[k]
        if t in group:
            continue
        number = len(loops)
        group[t] = number
        n = (normals[k] / math.sqrt(sizes[k])).tolist()
        flat = [t]
        for here in flat:
            for e in range(3):
                there = owner[here[(e + 1) % 3], here[e]]
                if there in group or not _dot(areas[there], n) >= 0.0:
                    continue
                if all(abs(_height(where[i], where[t[0]], n)) <= slack for i in there):
                    group[there] = number
                    flat.append(there)
        loops.append(flat)
    ends = [_rim(flat, owner, group) for flat in loops]
    faces_at: dict[int, int] = {}
    for loop in ends:
        for i in loop:
            faces_at[i] = faces_at.get(i, 0) + 1
    return [kept for kept in ([i for i in loop if faces_at[i] > 2] for loop in ends) if len(kept) > 2]


def _closed(faces: list[list[int]]) -> bool:
    """Whether each edge of a face is, the other way round, one of another."""
    edges = {(i, k) for face in faces for i, k in zip(face, face[1:] + face[:1])}
    return len(edges) == sum(map(len, faces)) and all((k, i) in edges for i, k in edges)


def _rim(flat: list[Triangle], owner: dict[tuple[int, int], Triangle], group: dict[Triangle, int]) -> list[int]:
    """The corners around some triangles of one group."""
    after = {t[k]: t[(k + 1) % 3] for t in flat for k in range(3) if group[owner[t[(k + 1) % 3], t[k]]] != group[t]}
    start = min(after)
    loop = [start]
    while after[loop[-1]] != start and len(loop) <= len(after):
        loop.append(after[loop[-1]])
    return loop
