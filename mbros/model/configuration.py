"""What a model says of configurations: the manifold's operations, by the engine and for batches by its space (mbros.spaces), and other
libraries' coordinates."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mbros_core
import numpy as np
from mbros_core import Model as _Engine

from mbros.arguments import vector
from mbros.errors import MbrosError
from mbros.model.cached import cached_property

if TYPE_CHECKING:
    from mbros import Model
    from mbros.conventions.convention import Convention
    from mbros.spaces.base import Space
    from mbros_core.engine._engine import State
    from mbros_core.typing import Array, ArrayLike, BoolArray, Rng


def space_of(model: Model, increments: str = "local") -> Space:
    """The model's space; mbros.Model keeps its own."""
    keep = getattr(model, "space", None)
    if keep is not None:
        return keep(increments)
    from mbros.spaces.models import model_space      # start-up time: who does not use it does not pay

    return model_space(model, increments)


def neutral(model: Model) -> np.ndarray:
    """Every joint at its kind's neutral configuration; a user's joint at that of its law."""
    return np.concatenate([np.zeros(0)] + [joint.defaults.neutral for joint in model.joints if joint.nv and not joint.follows])


def random(model: Model, rng: Rng, size: int | None = None) -> np.ndarray:
    """Uniform within the limits, (nq,) or (size, nq); see Model.random_configuration."""
    return space_of(model).sample(rng, size)


class Configurations(mbros_core.Model):
    """The part of a Model that is about configurations."""

    def neutral_configuration(self: Any) -> np.ndarray:
        """Zeros and unit quaternions."""
        return neutral(self)

    def random_configuration(self: Any, rng: Rng | None = None, size: int | None = None) -> np.ndarray:
        """Uniform within the limits; without limits: angles in (-pi, pi), lengths in (-1, 1) m, uniform rotations.

        size: how many, for (size, nq) instead of (nq,).
        """
        spaces: dict[str, Space] = self._spaces
        return (spaces["local"] if "local" in spaces else self.space()).sample(rng, size)

    def space(self: Any, increments: str = "local") -> Space:
        """The configuration space as an object (mbros.spaces): "local" increments, the engine's, or "hpp" ("parent")."""
        from mbros.spaces.models import family_of, model_space      # start-up time: who does not use it does not pay

        family = family_of(increments)
        spaces: dict[str, Space] = self._spaces
        if family not in spaces:
            spaces[family] = model_space(self, family)
        return spaces[family]

    @cached_property
    def _spaces(self) -> dict[str, Space]:
        return {}

    # All of these also take batches: q (..., nq), v (..., nv).

    def integrate(self, q: ArrayLike, v: ArrayLike, out: Array | None = None) -> np.ndarray:
        """q (+) v: the configuration reached from q (nq,) in unit time with the constant velocity v (nv,)."""
        if getattr(q, "ndim", 0) == 1 == getattr(v, "ndim", 0):
            return _Engine.integrate(self, q, v, out)
        from mbros.spaces.batches import together      # start-up time: who does not use it does not pay

        q, v = together(f"model {self.name!r}", q=(q, self.nq), v=(v, self.nv))
        if q.ndim == 1:
            return _Engine.integrate(self, q, v, out)
        return into(out, self.space().integrate(q, v))

    def difference(self, q0: ArrayLike, q1: ArrayLike, out: Array | None = None) -> np.ndarray:
        """The shortest v (nv,) with integrate(q0, v) = q1: from the first to the second, as in Pinocchio."""
        if getattr(q0, "ndim", 0) == 1 == getattr(q1, "ndim", 0):
            return _Engine.difference(self, q0, q1, out)
        from mbros.spaces.batches import together      # start-up time: who does not use it does not pay

        q0, q1 = together(f"model {self.name!r}", q0=(q0, self.nq), q1=(q1, self.nq))
        if q0.ndim == 1:
            return _Engine.difference(self, q0, q1, out)
        return into(out, self.space().difference(q0, q1))

    def normalize(self, q: ArrayLike, out: Array | None = None) -> np.ndarray:
        """The nearest valid configuration: unit quaternions and (cos, sin) pairs."""
        if getattr(q, "ndim", 0) == 1:
            return _Engine.normalize(self, q, out)
        from mbros.spaces.batches import together      # start-up time: who does not use it does not pay

        q, = together(f"model {self.name!r}", q=(q, self.nq))
        if q.ndim == 1:
            return _Engine.normalize(self, q, out)
        return into(out, self.space().normalize(q))

    def interpolate(self, q0: ArrayLike, q1: ArrayLike, u: ArrayLike) -> np.ndarray:
        """The configuration a fraction u (a number, or one per row) of the way from q0 to q1 on the shortest path."""
        if type(u) is float and -1e150 < u < 1e150 and getattr(q0, "ndim", 0) == 1 == getattr(q1, "ndim", 0):
            return _Engine.integrate(self, q0, u * _Engine.difference(self, q0, q1))
        return self.space().interpolate(q0, q1, u)

    def distance(self, q0: ArrayLike, q1: ArrayLike) -> float | Array:
        """Norm of difference(q0, q1); a number per row of a batch."""
        found: float | None = self._distance(q0, q1)
        return self.space().distance(q0, q1) if found is None else found

    def is_same_configuration(self, q0: ArrayLike, q1: ArrayLike, tol: float = 1e-12) -> bool | BoolArray:
        """Whether every coordinate of difference(q0, q1) is within tol; an answer per row of a batch."""
        found: bool | None = self._is_same(q0, q1, tol)
        return self.space().is_same(q0, q1, tol) if found is None else found

    def to_convention(self: Any, state: State, convention: str) -> tuple[Array, Array]:
        """(q, v) of the state as another library has them: see mbros.conventions.convention."""
        self._check_state(state)
        theirs = self._conventions.get(convention) if type(convention) is str else None
        return (theirs or self._convention(convention)).to(self, state.q, state.v)

    def from_convention(self: Any, convention: str, q: ArrayLike, v: ArrayLike) -> mbros_core.State:
        """A State from another library's q and v; quaternions are brought to unit length."""
        theirs = (self._conventions.get(convention) if type(convention) is str else None) or self._convention(convention)
        found = theirs._planned_back(self, q, v)
        if found is None:
            who = f"model {self.name!r}: from_convention makes one State (convention({convention!r}).back takes batches)"
            found = theirs.back(self, vector(who, "q", q, theirs.nq(self)), vector(who, "v", v, self.nv))
        state: mbros_core.State = self.default_state()
        return state.set(*found)

    def _convention(self, name: str) -> Convention:
        from mbros.conventions.convention import Convention      # start-up time: who does not use it does not pay

        found = Convention(name)
        return self._conventions.setdefault(found.name, found)

    @cached_property
    def _conventions(self) -> dict[str, Convention]:
        return {}


def into(out: Array | None, result: Array) -> np.ndarray:
    if out is None:
        return result
    if not isinstance(out, np.ndarray) or out.dtype != np.float64 or out.shape != result.shape or not out.flags.writeable:
        raise MbrosError(f"out: expected an array of shape {result.shape}, float64 and writable, got "
                         f"{getattr(out, 'dtype', type(out).__name__)} {getattr(out, 'shape', '')}")
    out[...] = result
    return out
