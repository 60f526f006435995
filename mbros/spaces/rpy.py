"""Charts of SO(3) and SE(3) by roll, pitch, yaw: R = Rz(yaw) Ry(pitch) Rx(roll), velocities w in the fixed frame.

    qdot = N(q) w,  N = [c2/c1  s2/c1  0;  -s2  c2  0;  c2 t1  s2 t1  1],  N+ = [c1 c2  -s2  0;  c1 s2  c2  0;  -s1  0  1]

with 1 the pitch and 2 the yaw; singular at a pitch of +-90 degrees. As the engine has it (groups/rpy.pxd), an increment is
q (+) v = q + N(q) v: exact both ways, a step in the chart and not the group's exponential.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mbros.spaces.base import Space
from mbros.spaces.products import Product
from mbros.spaces.rigid import local_only
from mbros.spaces.rn import Rn
from mbros.spatial import lie

if TYPE_CHECKING:
    from mbros_core.typing import Array, ArrayLike


def rates_matrix(q: Array) -> Array:
    """N(q) (..., 3, 3): rates of roll, pitch, yaw = N w, w in the fixed frame."""
    s1, c1, s2, c2 = np.sin(q[..., 1]), np.cos(q[..., 1]), np.sin(q[..., 2]), np.cos(q[..., 2])
    o, i = np.zeros_like(s1), np.ones_like(s1)
    return _matrix(q, [c2 / c1, s2 / c1, o, -s2, c2, o, c2 * s1 / c1, s2 * s1 / c1, i])


def velocity_matrix(q: Array) -> Array:
    """N+(q) = N(q)^-1 (..., 3, 3)."""
    s1, c1, s2, c2 = np.sin(q[..., 1]), np.cos(q[..., 1]), np.sin(q[..., 2]), np.cos(q[..., 2])
    o, i = np.zeros_like(s1), np.ones_like(s1)
    return _matrix(q, [c1 * c2, -s2, o, c1 * s2, c2, o, -s1, o, i])


def rates_gradient(q: Array, w: Array) -> Array:
    """d(N(q) w)/dq (..., 3, 3)."""
    s1, c1, s2, c2 = np.sin(q[..., 1]), np.cos(q[..., 1]), np.sin(q[..., 2]), np.cos(q[..., 2])
    k, dk = c2 * w[..., 0] + s2 * w[..., 1], c2 * w[..., 1] - s2 * w[..., 0]     # dk = dk/dyaw
    o = np.zeros_like(k)
    return _matrix(q, [o, k * s1 / c1**2, dk / c1, o, o, -k, o, k / c1**2, dk * s1 / c1])


def velocity_gradient(q: Array, x: Array) -> Array:
    """d(N+(q) x)/dq (..., 3, 3)."""
    s1, c1, s2, c2 = np.sin(q[..., 1]), np.cos(q[..., 1]), np.sin(q[..., 2]), np.cos(q[..., 2])
    a, b = x[..., 0], x[..., 1]
    o = np.zeros_like(a)
    return _matrix(q, [o, -s1 * c2 * a, -c1 * s2 * a - c2 * b, o, -s1 * s2 * a, c1 * c2 * a - s2 * b, o, -c1 * a, o])


def quaternion_from_rpy(q: Array) -> Array:
    """The unit quaternion w x y z (..., 4) of roll, pitch, yaw (..., 3), rad."""
    (sr, sp, sy), (cr, cp, cy) = (np.moveaxis(f(0.5 * q), -1, 0) for f in (np.sin, np.cos))
    return np.stack([cr * cp * cy + sr * sp * sy, sr * cp * cy - cr * sp * sy,
                     cr * sp * cy + sr * cp * sy, cr * cp * sy - sr * sp * cy], -1)


def rpy_from_quaternion(quat: Array) -> Array:
    """Roll and yaw in (-pi, pi], pitch in [-pi/2, pi/2] (..., 3), rad; at a pitch of +-90 degrees roll and yaw are not unique."""
    w, x, y, z = np.moveaxis(quat, -1, 0)
    # half the sum and half the difference of yaw and roll keep their precision as the pitch nears +-90 degrees
    half_sum, half_difference = np.arctan2(x + z, w - y), np.arctan2(z - x, w + y)
    turn = 2.0 * np.arctan2(np.hypot(w - y, x + z), np.hypot(w + y, z - x))
    rpy = np.stack([half_sum - half_difference, 0.5 * np.pi - turn, half_sum + half_difference], -1)
    rpy[..., 0::2] -= 2.0 * np.pi * np.ceil(rpy[..., 0::2] / (2.0 * np.pi) - 0.5)
    return rpy


def _matrix(q: Array, entries: Sequence[Array]) -> Array:
    return np.stack(entries, -1).reshape(q.shape[:-1] + (3, 3))


class SO3RollPitchYaw(Space):
    """SO(3) by q = (roll, pitch, yaw), v = w in the fixed frame F (rad). Bounds are those of the angles, for sampling.

    sample: uniform rotations where there are no bounds (the sine of the pitch is uniform).
    """

    nq, nv, name = 3, 3, "SO(3) as rpy"

    def __init__(self, increments: str = "local", *, lower: ArrayLike = -np.inf, upper: ArrayLike = np.inf) -> None:
        self.increments = local_only("roll-pitch-yaw", "SO3('parent')", increments)
        self._angles = Rn(3, lower, upper, angles=True)

    def _neutral(self) -> Array:
        return np.zeros(3)

    def _integrate(self, q: Array, v: Array) -> Array:
        return q + lie.apply(rates_matrix(q), v)

    def _difference(self, q0: Array, q1: Array) -> Array:
        return lie.apply(velocity_matrix(q0), q1 - q0)

    def _sample(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
        q = self._angles._sample(rng, shape)
        low, high = np.sin(np.clip([self._angles.lower[1], self._angles.upper[1]], -np.pi / 2, np.pi / 2))
        q[..., 1] = np.arcsin(rng.uniform(low, high, shape))
        return q

    def _d_integrate(self, q: Array, v: Array) -> tuple[Array, Array]:
        N = rates_matrix(q)
        back = velocity_matrix(q + lie.apply(N, v))
        return back @ (np.eye(3) + rates_gradient(q, v)) @ N, back @ N

    def _d_difference(self, q0: Array, q1: Array) -> tuple[Array, Array]:
        back = velocity_matrix(q0)
        return (velocity_gradient(q0, q1 - q0) - back) @ rates_matrix(q0), back @ rates_matrix(q1)

    def _key(self) -> tuple[Any, ...]:
        return (type(self), self.increments, self._angles._key())


class SE3RollPitchYaw(Product):
    """SE(3) by q = (roll, pitch, yaw, x, y, z), v = [w; v], both in the fixed frame. Bounds are for sampling."""

    def __init__(self, increments: str = "local", *, lower: ArrayLike = -np.inf, upper: ArrayLike = np.inf) -> None:
        local_only("roll-pitch-yaw", "Rn(3, increments='parent') * SO3('parent')", increments)
        both = Rn(6, lower, upper)                  # which checks them
        lower, upper = both.lower, both.upper
        super().__init__(SO3RollPitchYaw(lower=lower[:3], upper=upper[:3]), Rn(3, lower[3:], upper[3:]))
        self.name = "SE(3) as rpy"
