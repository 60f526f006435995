"""Mass and inertia of solids and of thin shells, from their geometry: mass_and_inertia(geometry, density).

Meshes are sums over tetrahedra from a point to every triangle. "exact" counts what is turned inside out as negative, which is right for
closed surfaces; "legacy" takes all volumes as positive, which MuJoCo does by default; "shell" gives the surface a thickness that is
nothing.
"""
from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from mbros.errors import MbrosError
from mbros.spatial import inertia as of

if TYPE_CHECKING:
    from mbros.describe.robot import Geometry

    Solid = tuple[float, np.ndarray, np.ndarray]            # mass, centre of mass, inertia about it, in the axes of the geometry

SMALLEST = 1e-15            # m^3 or m^2: what has less has no mass
THIN = 1e-6                 # m, over which the shell of an ellipsoid is the difference of two


def mass_and_inertia(geometry: Geometry, density: float) -> Solid:
    """Of a box, sphere, ellipsoid, cylinder, capsule, cone or convex hull of this density, kg/m^3. MbrosError for others. A hull that
    stands for a solid (`of`) has the solid's."""
    kind = getattr(geometry, "of", "") or geometry.kind
    if kind == "convex":
        vertices, faces = hull(geometry.vertices)           # type: ignore[attr-defined]
        return mesh(vertices, faces, density)
    if kind not in VOLUMES:
        raise MbrosError(f"a {kind} has no volume; expected one of {', '.join((*VOLUMES, 'convex'))}")
    mass = density * VOLUMES[kind](geometry)
    return mass, np.array([0.0, 0.0, -0.25 * geometry.length if kind == "cone" else 0.0]), SOLIDS[kind](mass, geometry)


def _cone(m: float, g: Geometry) -> np.ndarray:
    """Its tip is at +z, its middle at the origin; about its centre of mass, a quarter of its length below that."""
    across = m * (0.15 * g.radius**2 + 3.0 / 80.0 * g.length**2)
    return np.diag([across, across, 0.3 * m * g.radius**2])


VOLUMES: dict[str, Any] = {
    "box": lambda g: float(np.prod(g.size)), "sphere": lambda g: 4.0 / 3.0 * np.pi * g.radius**3,
    "ellipsoid": lambda g: 4.0 / 3.0 * np.pi * float(np.prod(g.size)), "cone": lambda g: np.pi * g.radius**2 * g.length / 3.0,
    "cylinder": lambda g: np.pi * g.radius**2 * g.length, "capsule": lambda g: np.pi * g.radius**2 * (g.length + 4.0 / 3.0 * g.radius)}
SOLIDS: dict[str, Any] = {
    "box": lambda m, g: of.solid_box(m, g.size), "sphere": lambda m, g: of.solid_sphere(m, g.radius),
    "ellipsoid": lambda m, g: of.solid_ellipsoid(m, g.size), "cone": _cone,
    "cylinder": lambda m, g: of.solid_cylinder(m, g.radius, g.length), "capsule": lambda m, g: of.solid_capsule(m, g.radius, g.length)}


def shell_mass_and_inertia(geometry: Geometry, density: float) -> Solid:
    """The same of a surface, kg/m^2."""
    kind, r, h = geometry.kind, geometry.radius, geometry.length
    if kind == "sphere":
        mass = density * 4.0 * np.pi * r**2
        return mass, np.zeros(3), of.hollow_sphere(mass, r)
    if kind == "box":
        x, y, z = geometry.size
        parts = [(density * a * b, np.eye(3)[k] * side * half, _plate(density * a * b, k, a, b))
                 for k, (a, b, half) in enumerate(((y, z, x / 2), (z, x, y / 2), (x, y, z / 2))) for side in (-1.0, 1.0)]
        return of.compose(parts)
    if kind not in ("cylinder", "capsule"):
        raise MbrosError(f"a {kind} has no shell; expected one of {', '.join(VOLUMES)}")
    wall = density * 2.0 * np.pi * r * h
    tube = np.diag([wall * (6.0 * r * r + h * h) / 12.0] * 2 + [wall * r * r])
    if kind == "cylinder":
        lid = density * np.pi * r * r
        ends = [(lid, np.array([0.0, 0.0, s * h / 2]), np.diag([lid * r * r / 4] * 2 + [lid * r * r / 2])) for s in (-1.0, 1.0)]
    else:
        half = density * 2.0 * np.pi * r * r               # half a sphere: its centre of mass is r / 2 from the middle
        bowl = np.diag([half * r * r * 5.0 / 12.0] * 2 + [half * r * r * 2.0 / 3.0])
        ends = [(half, np.array([0.0, 0.0, s * (h + r) / 2]), bowl) for s in (-1.0, 1.0)]
    return of.compose([(wall, np.zeros(3), tube), *ends])


def _plate(mass: float, normal: int, a: float, b: float) -> np.ndarray:
    """A thin plate with edges a along the next axis and b along the one after."""
    moments = np.zeros(3)
    moments[normal] = mass * (a * a + b * b) / 12.0
    moments[(normal + 1) % 3], moments[(normal + 2) % 3] = mass * b * b / 12.0, mass * a * a / 12.0
    return np.diag(moments)


def ellipsoid(radii: Iterable[float], density: float, shell: bool = False) -> Solid:
    """Half axes (3,); of a shell, the area by Thomsen's formula and the inertia as the difference of two ellipsoids."""
    a = np.asarray(list(radii), float)
    if not shell:
        mass = density * 4.0 / 3.0 * np.pi * float(np.prod(a))
        return mass, np.zeros(3), of.solid_ellipsoid(mass, a)
    p = 1.6075
    mass = density * 4.0 * np.pi * float((((a * np.roll(a, -1)) ** p).sum() / 3.0) ** (1.0 / p))
    inner, outer = (4.0 / 3.0 * np.pi * float(np.prod(x)) for x in (a, a + THIN))
    per_volume = mass / (outer - inner)
    I = of.solid_ellipsoid(outer * per_volume, a + THIN) - of.solid_ellipsoid(inner * per_volume, a)
    return mass, np.zeros(3), I


def mesh(vertices: np.ndarray, faces: np.ndarray, density: float, mode: str = "exact") -> Solid:
    """Triangles (m, 3) of vertices (n, 3). mode: "exact", "legacy" or "shell" (density per area). MbrosError where there is no volume."""
    corners = vertices[faces]
    normals = 0.5 * np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    areas, middles = np.linalg.norm(normals, axis=1), corners.mean(axis=1)
    if not areas.sum() > SMALLEST:
        raise MbrosError("its surface is too small to have a mass. Give the body an <inertial>, or the mesh other units")
    centre = areas @ middles / areas.sum()
    weights = _weights(areas, normals, middles - centre, mode)
    if not weights.sum() > SMALLEST:
        raise MbrosError(f"its volume is {weights.sum():.3g} m^3: its triangles point inwards, or it is flat. Turn them, or take it as a "
                         "shell")
    com = weights @ (0.75 * middles + 0.25 * centre) / weights.sum()
    about = corners - com
    weights = _weights(areas, normals, about.mean(axis=1), mode)
    sums = about.sum(axis=1)
    P = np.einsum("n,nki,nkj->ij", weights, about, about) + np.einsum("n,ni,nj->ij", weights, sums, sums)
    P *= density / (12.0 if mode == "shell" else 20.0)
    return density * float(weights.sum()), com, np.trace(P) * np.eye(3) - P


def _weights(areas: np.ndarray, normals: np.ndarray, middles: np.ndarray, mode: str) -> np.ndarray:
    """Of every triangle its area, or the volume of the tetrahedron from the origin to it."""
    if mode == "shell":
        return areas
    volumes = np.einsum("ni,ni->n", middles, normals) / 3.0
    return np.abs(volumes) if mode == "legacy" else volumes


def hull(points: Any) -> tuple[np.ndarray, np.ndarray]:
    """Vertices and triangles of the convex hull of points (n, 3), turned outwards."""
    from mbros_core import geometry as engine

    shape = engine.convex(np.asarray(points, float))
    assert shape.points is not None and shape.faces is not None         # a hull has both
    starts, corners = (np.asarray(array) for array in shape.faces)
    vertices = np.asarray(shape.points)
    faces = np.array([(corners[a], corners[k], corners[k + 1]) for a, b in zip(starts[:-1], starts[1:]) for k in range(a + 1, b - 1)])
    edges = vertices[faces[:, 1]] - vertices[faces[:, 0]], vertices[faces[:, 2]] - vertices[faces[:, 0]]
    inwards = np.einsum("ni,ni->n", np.cross(*edges), vertices[faces[:, 0]] - vertices.mean(axis=0)) < 0.0
    faces[inwards] = faces[inwards][:, ::-1]
    return vertices, faces


def ellipsoid_points(radii: Iterable[float], times: int = 2) -> np.ndarray:
    """Points of an ellipsoid: an icosahedron whose triangles were split `times` times; 2: 162 points."""
    g = (1.0 + 5.0**0.5) / 2.0
    points = [np.array(p) for p in [(s, t * g, 0.0) for s in (-1, 1) for t in (-1, 1)] + [(0.0, s, t * g) for s in (-1, 1) for t in (-1, 1)]
              + [(t * g, 0.0, s) for s in (-1, 1) for t in (-1, 1)]]
    vertices = np.array(points) / np.linalg.norm(points[0])
    for _ in range(times):
        vertices, faces = hull(vertices)
        middles = np.concatenate([vertices[faces[:, i]] + vertices[faces[:, (i + 1) % 3]] for i in range(3)])
        middles /= np.linalg.norm(middles, axis=1)[:, None]
        vertices = np.unique(np.round(np.concatenate([vertices, middles]), 12), axis=0)
        vertices /= np.linalg.norm(vertices, axis=1)[:, None]
    return vertices * np.asarray(list(radii), float)
