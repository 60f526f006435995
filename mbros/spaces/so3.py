"""SO(3): rotations as unit quaternions w x y z."""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbros.spaces.base import Space, family
from mbros.spaces.exponential import so3_exp, so3_log
from mbros.spaces.so2 import first_order_unit
from mbros.spatial import lie

if TYPE_CHECKING:
    from mbros_core.typing import Array


class SO3(Space):
    """SO(3), q = quaternion (w, x, y, z), v = rotation vector (rad): in the moving frame ("local"), or in the fixed ("parent").

    distance is the rotation angle, in [0, pi]; sample is Shoemake's.
    """

    nq, nv, name = 4, 3, "SO(3)"
    exp, log = staticmethod(so3_exp), staticmethod(so3_log)         # of rotation matrices: SO3.exp(w), SO3.log(R)

    def __init__(self, increments: str = "local") -> None:
        self.increments = family(increments)

    def _neutral(self) -> Array:
        return np.array([1.0, 0.0, 0.0, 0.0])

    def _integrate(self, q: Array, v: Array) -> Array:
        if self.increments == "parent":
            return first_order_unit(lie.product(lie.exp(v), q))
        return lie.unit(lie.product(q, lie.exp(v)))

    def _difference(self, q0: Array, q1: Array) -> Array:
        back = lie.conjugate(q0)
        return lie.log(lie.product(q1, back) if self.increments == "parent" else lie.product(back, q1))

    def _normalize(self, q: Array) -> Array:
        return lie.unit(q)

    def _sample(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
        return lie.shoemake(rng.random(shape + (3,)))

    def _d_integrate(self, q: Array, v: Array) -> tuple[Array, Array]:
        # seen from the fixed frame, v and its derivative are those of -v seen from the moving one
        s = -v if self.increments == "parent" else v
        return lie.matrix(lie.exp(-s)), lie.so3_right(s)

    def _d_difference(self, q0: Array, q1: Array) -> tuple[Array, Array]:
        d = self._difference(q0, q1)
        s = -d if self.increments == "parent" else d
        return -lie.so3_right_inverse(-s), lie.so3_right_inverse(s)
