"""R^n, with bounds per component: translations, bounded rotations, and the anchor (R^0)."""
from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from mbros_core.support.numbers import floats, short

from mbros.arguments import count, entries, finite
from mbros.errors import MbrosError
from mbros.spaces.base import Space, family

if TYPE_CHECKING:
    from mbros_core.typing import Array, ArrayLike, BoolArray


class Rn(Space):
    """R^n. lower, upper: a number or (n,), +-inf where there is no bound. angles: which components are in rad (sampling only).
    neutral: what is called the configuration of no motion; zeros, but for users' joints. names: who the components are, for messages.

    integrate: q + v; "parent" saturates at the bounds there are, and J of a saturated component is zero.
    """

    def __init__(self, n: int, lower: ArrayLike = -np.inf, upper: ArrayLike = np.inf, *, increments: str = "local",
                 angles: ArrayLike = False, neutral: ArrayLike = 0.0, names: Iterable[str] = ()) -> None:
        self.nq = self.nv = count("R^n", "n", n)
        self.increments, self.name = family(increments), f"R^{n}"
        self.lower, self.upper = self._bound("lower", lower), self._bound("upper", upper)
        self._origin = finite(self.name, "neutral", self._bound("neutral", neutral))
        self.names = self._named(names)
        self.angles = self._flags(angles)
        for k in np.flatnonzero(self.lower > self.upper):
            raise MbrosError(f"{self.name}: bounds of component {k}: lower {self.lower[k]} is above upper {self.upper[k]}")

    def _bound(self, what: str, value: Any) -> Array:
        bound = floats(value)
        if bound is None or bound.shape not in ((), (1,), (self.nq,)):
            raise MbrosError(f"{self.name}: {what}: expected a number or {self.nq} of them, got {short(value)}")
        bound = np.array(np.broadcast_to(bound, (self.nq,)))
        for k in np.flatnonzero(np.isnan(bound)):
            raise MbrosError(f"{self.name}: {what}[{k}] is nan; expected a number, or infinity for no bound")
        return bound

    def _named(self, names: Any) -> tuple[str, ...]:
        found = entries(names)
        if found is None or isinstance(names, str) or len(found) not in (0, self.nq) or not all(isinstance(name, str) for name in found):
            raise MbrosError(f"{self.name}: names: expected a list of {self.nq} names, or none, got {short(names)}")
        return tuple(found)

    def _flags(self, angles: Any) -> BoolArray:
        found = entries(angles)
        flags = [angles] * self.nq if found is None else found
        if len(flags) != self.nq or not all(isinstance(flag, (bool, np.bool_)) for flag in flags):
            raise MbrosError(f"{self.name}: angles: expected True or False, or {self.nq} of them, got {short(angles)}")
        return np.array(flags, bool)

    def _neutral(self) -> Array:
        return self._origin.copy()

    def _integrate(self, q: Array, v: Array) -> Array:
        out = q + v
        return np.clip(out, self.lower, self.upper) if self.increments == "parent" else out

    def _difference(self, q0: Array, q1: Array) -> Array:
        return q1 - q0

    def _interpolate(self, q0: Array, q1: Array, u: Array) -> Array:
        return q0 + u * (q1 - q0)

    def _sample(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
        if self.increments == "parent":
            for k in np.flatnonzero(~(np.isfinite(self.lower) & np.isfinite(self.upper))):
                who = repr(self.names[k]) if self.names else f"component {k}"
                raise MbrosError(f"{self._called()}: {who} has the bounds [{self.lower[k]}, {self.upper[k]}] and cannot be "
                                 "sampled uniformly: give it finite bounds, or use increments='local'")
        return rng.uniform(*self.reach, shape + (self.nq,))

    @property
    def reach(self) -> tuple[Array, Array]:
        """(lower, upper) of a sample: the bounds, or half a turn, or 1 m."""
        reach = np.where(self.angles, np.pi, 1.0)
        lower = np.where(np.isfinite(self.lower), self.lower, -reach)
        upper = np.where(np.isfinite(self.upper), self.upper, reach)
        return np.minimum(lower, upper), np.maximum(lower, upper)

    def _d_integrate(self, q: Array, v: Array) -> tuple[Array, Array]:
        J = np.empty(q.shape + (self.nv,))
        J[...] = np.eye(self.nv)
        if self.increments == "parent":
            J *= ((q + v >= self.lower) & (q + v <= self.upper))[..., None]
        return J, J.copy()

    def _d_difference(self, q0: Array, q1: Array) -> tuple[Array, Array]:
        J = np.empty(q0.shape + (self.nv,))
        J[...] = np.eye(self.nv)
        return -J, J

    def _key(self) -> tuple[Any, ...]:
        return (type(self), self.increments, self.nq, tuple(self.lower), tuple(self.upper))


Space._euclidean = Rn
