"""SO(2): rotations about one axis as (cos, sin)."""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbros.spaces.base import Space, family
from mbros.spatial.lie import norm2, unit

if TYPE_CHECKING:
    from mbros_core.typing import Array


def turned(q: Array, v: Array) -> Array:
    """The pair q (..., 2) turned by v (..., 1) rad."""
    c, s, x, y = np.cos(v[..., 0]), np.sin(v[..., 0]), q[..., 0], q[..., 1]
    return np.stack([x * c - y * s, x * s + y * c], -1)


def angle_between(q0: Array, q1: Array) -> Array:
    """The angle (..., 1) in (-pi, pi] from the pair q0 to the pair q1."""
    x, y, c, s = q0[..., 0], q0[..., 1], q1[..., 0], q1[..., 1]
    return np.arctan2(x * s - y * c, x * c + y * s)[..., None]


def first_order_unit(x: Array) -> Array:
    """x (3 - |x|^2) / 2: hpp-model's correction of a norm that is nearly one."""
    return x * (0.5 * (3.0 - norm2(x)))[..., None]


class SO2(Space):
    """SO(2), q = (cos, sin), v an angle (rad). Increments commute, so the families differ in the norm's correction only."""

    nq, nv, name = 2, 1, "SO(2)"

    def __init__(self, increments: str = "local") -> None:
        self.increments = family(increments)

    def _neutral(self) -> Array:
        return np.array([1.0, 0.0])

    def _integrate(self, q: Array, v: Array) -> Array:
        return (unit if self.increments == "local" else first_order_unit)(turned(q, v))

    def _difference(self, q0: Array, q1: Array) -> Array:
        return angle_between(q0, q1)

    def _normalize(self, q: Array) -> Array:
        return unit(q)

    def _sample(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
        angle = rng.uniform(-np.pi, np.pi, shape)
        return np.stack([np.cos(angle), np.sin(angle)], -1)

    def _d_integrate(self, q: Array, v: Array) -> tuple[Array, Array]:
        J = np.ones(v.shape + (1,))
        return J, J.copy()

    def _d_difference(self, q0: Array, q1: Array) -> tuple[Array, Array]:
        J = np.ones(q0.shape[:-1] + (1, 1))
        return -J, J
