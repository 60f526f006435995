"""SE(2) and SE(3): poses in the plane and in space, with increments in the moving frame."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbros.errors import MbrosError
from mbros.spaces.base import Space, family
from mbros.spaces.exponential import se3_exp, se3_log
from mbros.spaces.rn import Rn
from mbros.spaces.so2 import angle_between, turned
from mbros.spatial import lie

if TYPE_CHECKING:
    from mbros_core.typing import Array, ArrayLike


def local_only(name: str, instead: str, increments: str) -> str:
    if family(increments) == "parent":
        raise MbrosError(f"hpp-model has no {name}: with increments='parent' take {instead}")
    return increments


class SE3(Space):
    """SE(3), q = [p; quaternion w x y z], v = [w; v] in the moving frame: q (+) v = X(q) Exp(v), screw motions.

    Pinocchio's JointModelFreeFlyer has the same with q = [p; x y z w] and v = [v; w]. lower, upper: bounds of p, for sampling.
    """

    nq, nv, name = 7, 6, "SE(3)"
    exp, log = staticmethod(se3_exp), staticmethod(se3_log)         # of poses: SE3.exp(xi), SE3.log(X)

    def __init__(self, increments: str = "local", *, lower: ArrayLike = -np.inf, upper: ArrayLike = np.inf) -> None:
        self.increments = local_only("SE(3)", "Rn(3, increments='parent') * SO3('parent')", increments)
        self._p = Rn(3, lower, upper)

    def _neutral(self) -> Array:
        return np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])

    def _integrate(self, q: Array, v: Array) -> Array:
        p, quat, w = q[..., :3], q[..., 3:], v[..., :3]
        return np.concatenate([p + lie.rotate(quat, lie.se3_translation(w, v[..., 3:])),
                               lie.unit(lie.product(quat, lie.exp(w)))], -1)

    def _difference(self, q0: Array, q1: Array) -> Array:
        w = lie.log(lie.product(lie.conjugate(q0[..., 3:]), q1[..., 3:]))
        u = lie.rotate(q0[..., 3:], q1[..., :3] - q0[..., :3], back=True)
        return np.concatenate([w, lie.se3_translation_inverse(w, u)], -1)

    def _normalize(self, q: Array) -> Array:
        return np.concatenate([q[..., :3], lie.unit(q[..., 3:])], -1)

    def _sample(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
        return np.concatenate([self._p._sample(rng, shape), lie.shoemake(rng.random(shape + (3,)))], -1)

    def _d_integrate(self, q: Array, v: Array) -> tuple[Array, Array]:
        return lie.adjoint_inverse(v), lie.se3_right(v)

    def _d_difference(self, q0: Array, q1: Array) -> tuple[Array, Array]:
        d = self._difference(q0, q1)
        return -lie.se3_right_inverse(-d), lie.se3_right_inverse(d)

    def _key(self) -> tuple[Any, ...]:
        return (type(self), self.increments, self._p._key())


class SE2(Space):
    """SE(2), q = (x, y, cos, sin), v = (vx, vy, w) in the moving frame: q (+) v = X(q) Exp(v), arcs of circles.

    As Pinocchio's and hpp-pinocchio's. The engine's planar joint has q = (x, y, theta) and v = qdot instead, which is Rn(3).
    """

    nq, nv, name = 4, 3, "SE(2)"
    _IN_SE3 = np.array([3, 4, 2])       # where (vx, vy, w) are in a twist [w; v]

    def __init__(self, increments: str = "local", *, lower: ArrayLike = -np.inf, upper: ArrayLike = np.inf) -> None:
        self.increments = local_only("SE(2)", "Rn(2, increments='parent') * SO2('parent')", increments)
        self._p = Rn(2, lower, upper)

    def _neutral(self) -> Array:
        return np.array([0.0, 0.0, 1.0, 0.0])

    def _twist(self, v: Array) -> Array:
        out = np.zeros(v.shape[:-1] + (6,))
        out[..., self._IN_SE3] = v
        return out

    def _integrate(self, q: Array, v: Array) -> Array:
        x = self._twist(v)
        u = lie.se3_translation(x[..., :3], x[..., 3:])[..., :2]
        R = _turning(q[..., 2:])
        return np.concatenate([q[..., :2] + lie.apply(R, u), lie.unit(turned(q[..., 2:], v[..., 2:]))], -1)

    def _difference(self, q0: Array, q1: Array) -> Array:
        angle = angle_between(q0[..., 2:], q1[..., 2:])
        u = lie.apply(np.swapaxes(_turning(q0[..., 2:]), -1, -2), q1[..., :2] - q0[..., :2])
        zero = np.zeros_like(angle)
        v = lie.se3_translation_inverse(np.concatenate([zero, zero, angle], -1), np.concatenate([u, zero], -1))
        return np.concatenate([v[..., :2], angle], -1)

    def _normalize(self, q: Array) -> Array:
        return np.concatenate([q[..., :2], lie.unit(q[..., 2:])], -1)

    def _sample(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
        angle = rng.uniform(-np.pi, np.pi, shape + (1,))
        return np.concatenate([self._p._sample(rng, shape), np.cos(angle), np.sin(angle)], -1)

    def _within(self, J: Array) -> Array:
        rows, columns = np.ix_(self._IN_SE3, self._IN_SE3)
        return J[..., rows, columns]

    def _d_integrate(self, q: Array, v: Array) -> tuple[Array, Array]:
        x = self._twist(v)
        return self._within(lie.adjoint_inverse(x)), self._within(lie.se3_right(x))

    def _d_difference(self, q0: Array, q1: Array) -> tuple[Array, Array]:
        d = self._twist(self._difference(q0, q1))
        return -self._within(lie.se3_right_inverse(-d)), self._within(lie.se3_right_inverse(d))

    def _key(self) -> tuple[Any, ...]:
        return (type(self), self.increments, self._p._key())


def _turning(pair: Array) -> Array:
    """The rotation matrix (..., 2, 2) of a (cos, sin) pair of any non-zero length."""
    c, s = np.moveaxis(pair / lie.length(pair)[..., None], -1, 0)
    return np.stack([c, -s, s, c], -1).reshape(pair.shape[:-1] + (2, 2))
