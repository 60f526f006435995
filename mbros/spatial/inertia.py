"""Mass, centre of mass and rotational inertia: primitives, parallel axes, composition, and what is physically possible.

Rotational inertias are symmetric (3, 3) matrices in kg m^2 about the centre of mass unless a name says otherwise.
"""
from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from mbros_core.typing import Array, ArrayLike

# A principal moment may exceed the sum of the other two by this fraction of itself: published tensors are printed with
# three digits or so, and flat plates and thin rods sit exactly on the edge.
TRIANGLE_TOLERANCE = 1e-3
# Moments below mass * (1 micrometre)^2 count as zero: no body of that mass is that small.
SMALLEST_RADIUS = 1e-6


def rotational_inertia(ixx: float, iyy: float, izz: float, ixy: float = 0.0, ixz: float = 0.0, iyz: float = 0.0) -> np.ndarray:
    """The symmetric matrix with these moments and products (the products' sign as in URDF: I_xy = -integral x y dm)."""
    return np.array([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]], dtype=float)


def solid_box(mass: float, size: Iterable[float]) -> np.ndarray:
    """Solid box with edges `size` = (x, y, z) in m."""
    x, y, z = (float(s) ** 2 for s in size)
    return np.diag([y + z, x + z, x + y]) * (mass / 12.0)


def solid_sphere(mass: float, radius: float) -> np.ndarray:
    return np.eye(3) * (0.4 * mass * radius**2)


def hollow_sphere(mass: float, radius: float) -> np.ndarray:
    return np.eye(3) * (2.0 / 3.0 * mass * radius**2)


def solid_ellipsoid(mass: float, semi_axes: Iterable[float]) -> np.ndarray:
    """Solid ellipsoid with half axes (a, b, c) in m."""
    a, b, c = (float(s) ** 2 for s in semi_axes)
    return np.diag([b + c, a + c, a + b]) * (mass / 5.0)


def solid_cylinder(mass: float, radius: float, length: float) -> np.ndarray:
    """Solid cylinder about the z axis."""
    across = mass * (3.0 * radius**2 + length**2) / 12.0
    return np.diag([across, across, 0.5 * mass * radius**2])


def solid_capsule(mass: float, radius: float, length: float) -> np.ndarray:
    """Cylinder of `length` along z with a half ball at each end (length counts the cylinder only)."""
    v_cylinder, v_ball = radius**2 * length, 4.0 / 3.0 * radius**3
    m_cylinder = mass * v_cylinder / (v_cylinder + v_ball)
    m_ball = mass - m_cylinder
    along = 0.5 * m_cylinder * radius**2 + 0.4 * m_ball * radius**2
    across = (m_cylinder * (3.0 * radius**2 + length**2) / 12.0
              + m_ball * (0.4 * radius**2 + 0.25 * length**2 + 0.375 * length * radius))
    return np.diag([across, across, along])


def thin_rod(mass: float, length: float) -> np.ndarray:
    """Rod along z without thickness: exactly on the edge of the triangle inequality."""
    return np.diag([1.0, 1.0, 0.0]) * (mass * length**2 / 12.0)


def parallel_axis(mass: float, offset: ArrayLike) -> np.ndarray:
    """What the inertia of `mass` gains about a point that is `offset` (m) away from its centre: m (d^2 1 - d d^T)."""
    d = np.asarray(offset, dtype=float)
    return mass * (np.dot(d, d) * np.eye(3) - np.outer(d, d))


def about_point(mass: float, com: ArrayLike, inertia: ArrayLike, point: ArrayLike = (0.0, 0.0, 0.0)) -> np.ndarray:
    """Inertia about `point` from the inertia about the centre of mass at `com`; all in the same axes."""
    return np.asarray(inertia, dtype=float) + parallel_axis(mass, np.subtract(com, point))


def rotate(inertia: ArrayLike, R: ArrayLike) -> np.ndarray:
    """The same tensor in other axes: R_AB I_B R_AB^T."""
    return R @ np.asarray(inertia, dtype=float) @ np.asarray(R).T


def compose(parts: Iterable[tuple[float, ArrayLike, ArrayLike]]) -> tuple[float, Array, Array]:
    """Mass, centre of mass and inertia about it of several bodies, given as (mass, com, inertia) in the same axes."""
    rows = [(float(m), np.asarray(c, dtype=float), np.asarray(i, dtype=float)) for m, c, i in parts]
    mass = sum(m for m, _, _ in rows)
    if mass == 0.0:
        return 0.0, np.zeros(3), sum((i for _, _, i in rows), np.zeros((3, 3)))
    com = sum((m * c for m, c, _ in rows), np.zeros(3)) / mass
    return mass, com, sum((about_point(m, c, i, com) for m, c, i in rows), np.zeros((3, 3)))


def describe(inertia: ArrayLike) -> str:
    """The tensor on one line, as it goes into messages."""
    return "[" + ", ".join("[" + ", ".join(f"{x:.6g}" for x in row) + "]" for row in np.asarray(inertia)) + "]"


def why_impossible(mass: float, com: ArrayLike, inertia: ArrayLike) -> str | None:
    """The rule of physics that these values break, with the values; None when a real body can have them.

    Rules, in order: finite numbers; mass >= 0; a massless body has no inertia; the tensor is symmetric; principal
    moments >= 0; the largest is at most the sum of the other two (triangle inequality), to TRIANGLE_TOLERANCE.
    """
    com, inertia = np.asarray(com, dtype=float), np.asarray(inertia, dtype=float)
    if not (np.isfinite(mass) and np.isfinite(com).all() and np.isfinite(inertia).all()):
        return f"mass {mass:g} kg, centre of mass {com.tolist()} and inertia {describe(inertia)} are not all finite"
    if mass < 0.0:
        return f"mass is {mass:g} kg; a mass cannot be negative"
    scale = float(np.abs(inertia).max())
    if scale == 0.0:
        return None
    if np.abs(inertia - inertia.T).max() > 1e-12 * scale:
        return f"inertia {describe(inertia)} kg m^2 is not symmetric"
    if mass == 0.0:
        return f"mass is 0 but inertia is {describe(inertia)} kg m^2; without mass there is no rotational inertia"
    low, middle, high = np.linalg.eigvalsh(inertia)
    floor = mass * SMALLEST_RADIUS**2
    start = (f"inertia about the centre of mass {describe(inertia)} kg m^2 has the principal moments "
             f"{low:.6g}, {middle:.6g}, {high:.6g}: ")
    if low < -(floor + 1e-9 * scale):
        return start + f"{low:.6g} is negative, which no distribution of mass has"
    if high - low - middle > floor + TRIANGLE_TOLERANCE * high:
        return start + (f"the largest exceeds the sum of the other two ({high:.6g} > {low:.6g} + {middle:.6g}), "
                        "which no distribution of mass has (triangle inequality)")
    return None
