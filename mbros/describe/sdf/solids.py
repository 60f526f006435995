"""Mass and inertia of solids of one density, for <inertial auto="true">."""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbros.spatial import inertia as of

if TYPE_CHECKING:
    from mbros.describe.robot import Geometry


def mass_and_inertia(geometry: Geometry, density: float) -> tuple[float, np.ndarray, np.ndarray] | None:
    """(mass, kg; centre of mass (3,); inertia (3, 3) about it) of a solid of `density`, kg/m^3, in the axes of the geometry. None for a
    kind that has no volume of its own: a mesh, a half-space, a height field."""
    g, kind = geometry, getattr(geometry, "of", "") or geometry.kind
    if kind == "box":
        m = density * float(np.prod(g.size))
        return m, np.zeros(3), of.solid_box(m, g.size)
    if kind == "sphere":
        m = density * 4.0 / 3.0 * np.pi * g.radius**3
        return m, np.zeros(3), of.solid_sphere(m, g.radius)
    if kind == "ellipsoid":
        m = density * 4.0 / 3.0 * np.pi * float(np.prod(g.size))
        return m, np.zeros(3), of.solid_ellipsoid(m, g.size)
    if kind == "cylinder":
        m = density * np.pi * g.radius**2 * g.length
        return m, np.zeros(3), of.solid_cylinder(m, g.radius, g.length)
    if kind == "capsule":
        m = density * np.pi * g.radius**2 * (g.length + 4.0 / 3.0 * g.radius)
        return m, np.zeros(3), of.solid_capsule(m, g.radius, g.length)
    if kind == "cone":
        m = density * np.pi * g.radius**2 * g.length / 3.0
        across = m * (0.15 * g.radius**2 + 3.0 / 80.0 * g.length**2)
        return m, np.array([0.0, 0.0, -0.25 * g.length]), np.diag([across, across, 0.3 * m * g.radius**2])
    return None
