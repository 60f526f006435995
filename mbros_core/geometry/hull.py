"""The convex hull of points as a polyhedron with flat faces: Quickhull (Barber, Dobkin and Huhdanpaa 1996), then coplanar triangles put
together.

Points that lie within TOLERANCE of the hull, over its size, are no vertices of it.
"""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from mbros_core.typing import Array, IntArray, NDArray

TOLERANCE = 1e-10

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
    triangles = _quickhull(points, first, TOLERANCE * size)
    faces = _merged(points, triangles, 2.0 * TOLERANCE * size)
    used = sorted({i for face in faces for i in face})
    number = {i: k for k, i in enumerate(used)}
    return points[used], [[number[i] for i in face] for face in faces]


def tables(vertices: Array, faces: list[list[int]]) -> tuple[list[NDArray[np.intc]], Array]:
    """What the engine reads: neighbours of vertices, faces around vertices, corners of faces, each as (starts, numbers) one after
    another; and
    the faces' outward unit normals."""
    neighbours: list[set[int]] = [set() for _ in vertices]
    around: list[list[int]] = [[] for _ in vertices]
    for f, face in enumerate(faces):
        for i, k in zip(face, face[1:] + face[:1]):
            neighbours[i].add(k)
            neighbours[k].add(i)
            around[i].append(f)
    rows = ([sorted(each) for each in neighbours], around, faces)
    packed = [array for row in rows for array in _packed(row)]
    return packed, np.array([_normal(vertices[face]) for face in faces])


def _packed(rows: list[list[int]]) -> tuple[NDArray[np.intc], NDArray[np.intc]]:
    starts = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    return starts.astype(np.intc), np.array([i for row in rows for i in row], dtype=np.intc)


def _normal(corners: Array) -> Array:
    """Newell's normal of a polygon, unit."""
    a = corners - corners[0]
    n = np.cross(a, np.roll(a, -1, axis=0)).sum(axis=0)
    return n / np.linalg.norm(n)


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


def _quickhull(points: Array, first: tuple[int, int, int, int], slack: float) -> list[Triangle]:
    """Triangles of the hull, counter-clockwise seen from outside."""
    a, b, c, d = first
    planes: dict[Triangle, tuple[Array, float]] = {}
    outside: dict[Triangle, IntArray] = {}
    owner: dict[tuple[int, int], Triangle] = {}         # of every directed edge

    def add(t: Triangle, candidates: IntArray) -> IntArray:
        """A new triangle takes the points that it sees; returns those it leaves."""
        n = np.cross(points[t[1]] - points[t[0]], points[t[2]] - points[t[0]])
        length = np.linalg.norm(n)
        n = n / length if length > 0.0 else n
        planes[t] = (n, float(n @ points[t[0]]))
        sees = points[candidates] @ n - planes[t][1] > slack
        outside[t] = candidates[sees]
        for k in range(3):
            owner[t[k], t[(k + 1) % 3]] = t
        return candidates[~sees]

    rest = np.setdiff1d(np.arange(len(points)), first)
    for t in ((a, b, c), (a, d, b), (b, d, c), (c, d, a)):
        rest = add(t, rest)
    waiting = list(planes)
    while waiting:
        t = waiting.pop()
        if t not in planes or not len(outside[t]):
            continue
        n, offset = planes[t]
        p = int(outside[t][(points[outside[t]] @ n).argmax()])
        seen, fresh = {t}, [t]
        beyond: list[tuple[int, int, Triangle]] = []     # edges between what p sees and what it does not, as far as is known
        while fresh:
            here = fresh.pop()
            for k in range(3):
                i, j = here[k], here[(k + 1) % 3]
                there = owner[j, i]
                if there in seen:
                    continue
                if planes[there][0] @ points[p] - planes[there][1] > slack:
                    seen.add(there)
                    fresh.append(there)
                else:
                    beyond.append((i, j, there))
        rim = [(i, j) for i, j, there in beyond if there not in seen]
        left = np.concatenate([outside[each] for each in seen])
        left = left[left != p]
        for each in seen:
            del planes[each], outside[each]
        for i, j in rim:
            left = add((i, j, p), left)
            waiting.append((i, j, p))
    return list(planes)


def _merged(points: Array, triangles: list[Triangle], slack: float) -> list[list[int]]:
    """Faces of the triangles whose planes are one."""
    owner = {(t[k], t[(k + 1) % 3]): t for t in triangles for k in range(3)}
    group: dict[Triangle, int] = {}
    areas = {t: np.cross(points[t[1]] - points[t[0]], points[t[2]] - points[t[0]]) for t in triangles}
    loops: list[list[Triangle]] = []
    for t in sorted(triangles, key=lambda each: -float(areas[each] @ areas[each])):
        if t in group:
            continue
        number = len(loops)
        group[t] = number
        n = areas[t] / np.linalg.norm(areas[t])
        flat = [t]
        for here in flat:
            for k in range(3):
                there = owner[here[(k + 1) % 3], here[k]]
                if there not in group and np.abs((points[list(there)] - points[t[0]]) @ n).max() <= slack and areas[there] @ n >= 0.0:
                    group[there] = number
                    flat.append(there)
        loops.append(flat)
    ends = [_rim(flat, owner, group) for flat in loops]
    faces_at: dict[int, int] = {}
    for loop in ends:
        for i in loop:
            faces_at[i] = faces_at.get(i, 0) + 1
    return [kept for kept in ([i for i in loop if faces_at[i] > 2] for loop in ends) if len(kept) > 2]


def _rim(flat: list[Triangle], owner: dict[tuple[int, int], Triangle], group: dict[Triangle, int]) -> list[int]:
    """The corners around some triangles of one group."""
    after = {t[k]: t[(k + 1) % 3] for t in flat for k in range(3) if group[owner[t[(k + 1) % 3], t[k]]] != group[t]}
    start = min(after)
    loop = [start]
    while after[loop[-1]] != start and len(loop) <= len(after):
        loop.append(after[loop[-1]])
    return loop
