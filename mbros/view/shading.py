"""Which corners of triangles share a vertex: round surfaces look round, edges look sharp."""
from __future__ import annotations

import numpy as np

CREASE = np.cos(np.radians(35.0))       # triangles that meet at a sharper angle have an edge between them
MAX_PAIRS = 20_000_000                  # of corners at one point; a fan of more is left as flat triangles


def creased(vertices: np.ndarray, faces: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same triangles with vertices of their own on both sides of every edge, so that normals of vertices, which viewers make
    by averaging, do not run around corners. Triangles without an area are left out."""
    corners = vertices[faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    area = np.linalg.norm(normals, axis=1)
    alive = area > 1e-12 * max(float(area.max(initial=0.0)), 1e-30)
    corners, normals = corners[alive], normals[alive] / area[alive, None]
    points = corners.reshape(-1, 3)
    if not len(points):
        return np.zeros((0, 3)), np.zeros((0, 3), int)
    place = _places(points)
    label = _smooth_groups(place, np.repeat(normals, 3, axis=0))
    kept, index = np.unique(label, return_inverse=True)
    return points[kept], index.reshape(-1, 3)


def _places(points: np.ndarray) -> np.ndarray:
    """A number for each point, the same for points that coincide (to a millionth of the whole)."""
    low = points.min(axis=0)
    grid = np.round((points - low) / max(float(np.ptp(points, axis=0).max()) * 1e-6, 1e-30)).astype(np.int64)
    return np.unique(grid[:, 0] + grid[:, 1] * 2097169 + grid[:, 2] * 4398046511119, return_inverse=True)[1].ravel()


def _smooth_groups(place: np.ndarray, normals: np.ndarray) -> np.ndarray:
    """For each corner the first corner of its group: at the same point, and reached over angles below CREASE."""
    order = np.argsort(place, kind="stable")
    _, first, count = np.unique(place[order], return_index=True, return_counts=True)
    label = np.arange(len(place))
    if int((count.astype(np.int64) ** 2).sum()) > MAX_PAIRS:
        return label
    # all pairs (a, b) of corners at one point
    a = np.repeat(order, np.repeat(count, count))
    starts = np.repeat(np.repeat(first, count), np.repeat(count, count))
    within = np.arange(len(a)) - np.repeat(np.cumsum(np.repeat(count, count)) - np.repeat(count, count), np.repeat(count, count))
    b = order[starts + within]
    near = np.einsum("ij,ij->i", normals[a], normals[b]) > CREASE
    a, b = a[near], b[near]
    for _ in range(64):
        before = label.copy()
        np.minimum.at(label, a, before[b])
        if (label == before).all():
            break
    return label
