"""The spaces of joints and of whole models, from the joint kinds' registry rows."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

import mbros_core
from mbros.errors import MbrosError
from mbros.names import hint
from mbros.spaces.products import Product
from mbros.spaces.rigid import SE3
from mbros.spaces.rn import Rn
from mbros.spaces.rpy import SE3RollPitchYaw, SO3RollPitchYaw
from mbros.spaces.so2 import SO2
from mbros.spaces.so3 import SO3
from mbros.spaces.user import user_space
from mbros_core.errors import zero_rotation
from mbros_core.joints.registry import row_of
from mbros_core.support.numbers import short

if TYPE_CHECKING:
    from mbros import Model
    from mbros.spaces.base import Space
    from mbros_core.joints.registry import JointKind
    from mbros_core.spec import ModelSpec
    from mbros_core.typing import Array, ArrayLike, BoolArray, Rng

_ENGINE = mbros_core.Model
_Generator = np.random.Generator
# Spaces of the registry's groups in the engine's family: (lower, upper) of the joint's q -> Space. R^n: see kind_space.
_LOCAL: dict[str, Callable[[Array, Array], Space]] = {
    "SO(2)": lambda low, high: SO2(),
    "SO(3)": lambda low, high: SO3(),
    "SE(3)": lambda low, high: SE3(lower=low[:3], upper=high[:3]),
    "SO(3) as rpy": lambda low, high: SO3RollPitchYaw(lower=low, upper=high),
    "SE(3) as rpy": lambda low, high: SE3RollPitchYaw(lower=low, upper=high),
}


def _parent_r3(low: Array, high: Array) -> Rn:
    return Rn(3, low, high, increments="parent")


# ... and hpp-model's, for q as `to_convention(state, "hpp")` gives it: free joints split into a translation and a rotation.
_PARENT: dict[str, Callable[[Array, Array], Space]] = {
    "SO(2)": lambda low, high: SO2("parent"),
    "SO(3)": lambda low, high: SO3("parent"),
    "SE(3)": lambda low, high: _parent_r3(low[:3], high[:3]) * SO3("parent"),
    "SO(3) as rpy": lambda low, high: SO3("parent"),
    "SE(3) as rpy": lambda low, high: _parent_r3(low[3:], high[3:]) * SO3("parent"),
}


def family_of(name: str) -> str:
    """ "local" or "parent" from the name of a family or of the library that has it."""
    families = {"local": "local", "mbros": "local", "pinocchio": "local", "parent": "parent", "hpp": "parent"}
    if not isinstance(name, str) or name not in families:
        raise MbrosError(f"no family of increments {short(name)}{hint(name, ('local', 'parent', 'hpp'))}")
    return families[name]


def row_space(row: JointKind, increments: str = "local", lower: ArrayLike | None = None, upper: ArrayLike | None = None) -> Space:
    """The space of a joint kind by its registry row, with bounds (nq,) of its positions."""
    low = np.full(row.nq, -np.inf) if lower is None else np.asarray(lower, float)
    high = np.full(row.nq, np.inf) if upper is None else np.asarray(upper, float)
    if row.velocities_are_rates or not row.nq:
        return Rn(row.nq, low, high, increments=increments, angles=[unit == "rad" for unit in row.position_units])
    table = _PARENT if increments == "parent" else _LOCAL
    return table[row.group](low, high)


def joint_space(joint: Any, increments: str = "local") -> Space:
    """The space of one joint of a model: of its coordinates, which for a follower are its leader's.

    "local": q and v as in the state. "parent" (or "hpp"): q and v as hpp-model has them (see `mbros.convention("hpp")`).
    """
    increments = family_of(increments)
    if not (hasattr(joint, "mimic") and hasattr(getattr(joint, "model", None), "spec")):
        raise MbrosError(f"joint_space: expected a joint of a built model, such as model.joint(name), got {short(joint)}")
    while joint.mimic is not None:
        joint = joint.model.joint(joint.mimic[0])
    if not joint.nv:
        return Rn(0, increments=increments)
    if increments == "parent" and joint.kind == "continuous":
        return SO2("parent")
    spec = joint.model.spec
    return body_space(spec, list(spec.joint_names).index(joint.name), increments, joint.limits.position.lower, joint.limits.position.upper)


def body_space(spec: ModelSpec, i: int, increments: str, lower: Array, upper: Array) -> Space:
    """The space of the joint that carries body i of a ModelSpec."""
    if spec.joint_kind[i] == "user":
        return user_space(spec.user_joints[i], increments, lower, upper)
    return row_space(row_of(spec, i), increments, lower, upper)


def model_space(model: Model, increments: str = "local") -> ModelSpace:
    """The space of a whole model: see ModelSpace. `model` may be the engine's (with "local")."""
    if not hasattr(model, "spec"):
        raise MbrosError(f"model_space: expected a built model, got {short(model)}")
    if family_of(increments) == "local":
        return EngineSpace(model)
    joints = [joint for joint in model.joints if joint.nv and joint.mimic is None]
    return ModelSpace(model, [part for joint in joints for part in _named(joint_space(joint, "parent"), joint.name)], "parent")


def _named(space: Space, name: str) -> Iterator[Space]:
    """The parts of a joint's space; those that are R^n are copies, with the joint's name in their messages."""
    parts = space.parts if isinstance(space, Product) else (space,)
    for part in parts:
        if isinstance(part, Rn):
            part = copy(part)
            suffixes = "xyz" if len(parts) > 1 else range(part.nq)      # beside a rotation: a translation
            part.names = (name,) if part.nq == 1 else tuple(f"{name}.{suffix}" for suffix in suffixes)
        yield part


def own_joints(spec: ModelSpec) -> Iterator[tuple[int, slice]]:
    """(index, slice in q) of every compiled joint with coordinates of its own."""
    at = 0
    for i, leader in enumerate(spec.leader):
        nq = row_of(spec, i).nq if leader < 0 else 0
        if nq:
            yield i, slice(at, at + nq)
        at += nq


class ModelSpace(Product):
    """The product of a model's joint spaces, in the order of its coordinates. Neighbouring R^n are kept as one part.

    With "parent" increments q and v are hpp-model's: what `model.to_convention(state, "hpp")` gives.
    """

    def __init__(self, model: Model, parts: Iterable[Space], increments: str) -> None:
        super().__init__(*_merged(parts), increments=increments)
        self.model = model

    def _called(self) -> str:
        return f"the {'configuration' if self.increments == 'local' else 'hpp'} space of model {self.model.name!r}"

    def _key(self) -> tuple[Any, ...]:
        return (type(self), self.increments, id(self.model))


class EngineSpace(ModelSpace):
    """... in the engine's own coordinates: single vectors go through its compiled functions, batches through NumPy."""

    def __init__(self, model: Model) -> None:
        spec = model.spec
        low, high = np.asarray(spec.q_lower, float), np.asarray(spec.q_upper, float)
        parts = [body_space(spec, i, "local", low[s], high[s]) for i, s in own_joints(spec)]
        super().__init__(model, parts, "local")

    # Single vectors of finite numbers, in one call of the engine; whatever else there is goes the way of all spaces, and so do refusals.

    def integrate(self, q: ArrayLike, v: ArrayLike) -> np.ndarray:
        if isinstance(q, np.ndarray) and isinstance(v, np.ndarray) and q.ndim == 1 == v.ndim:
            try:
                return _ENGINE.integrate(self.model, q, v)
            except MbrosError:
                pass                                        # which this says in its own words
        return super().integrate(q, v)

    def difference(self, q0: ArrayLike, q1: ArrayLike) -> np.ndarray:
        if isinstance(q0, np.ndarray) and isinstance(q1, np.ndarray) and q0.ndim == 1 == q1.ndim:
            try:
                return _ENGINE.difference(self.model, q0, q1)
            except MbrosError:
                pass
        return super().difference(q0, q1)

    def distance(self, q0: ArrayLike, q1: ArrayLike) -> float | Array:
        found: float | None = self.model._distance(q0, q1)
        return super().distance(q0, q1) if found is None else found

    def is_same(self, q0: ArrayLike, q1: ArrayLike, tol: float = 1e-12) -> bool | BoolArray:
        found: bool | None = self.model._is_same(q0, q1, tol)
        return super().is_same(q0, q1, tol) if found is None else found

    def d_integrate(self, q: ArrayLike, v: ArrayLike) -> tuple[Array, Array]:
        found: tuple[Array, Array] | None = self.model._d_integrate(q, v)
        return super().d_integrate(q, v) if found is None else found

    def d_difference(self, q0: ArrayLike, q1: ArrayLike) -> tuple[Array, Array]:
        found: tuple[Array, Array] | None = self.model._d_difference(q0, q1)
        return super().d_difference(q0, q1) if found is None else found

    def sample(self, rng: Rng | None = None, size: int | None = None) -> np.ndarray:
        if size is None and type(rng) is _Generator and self._box is not None:
            q: np.ndarray = self.model._sample(rng, *self._box)
            return q
        return super().sample(rng, size)

    @cached_property
    def _box(self) -> tuple[Array, Array] | None:
        """(low, span) of the uniform numbers of a sample, three for each quaternion; None: there is more to it."""
        low, span = [np.zeros(0)], [np.zeros(0)]
        for part in self.parts:
            if not isinstance(part, (Rn, SE3, SO3)):
                return None
            box = part if isinstance(part, Rn) else part._p if isinstance(part, SE3) else Rn(0)
            lower, upper = box.reach
            low += [lower, np.zeros(3 * (part is not box))]
            span += [upper - lower, np.ones(3 * (part is not box))]
        return np.concatenate(low), np.concatenate(span)

    def _integrate(self, q: Array, v: Array) -> Array:
        return _ENGINE.integrate(self.model, q, v) if q.ndim == 1 else super()._integrate(q, v)

    def _difference(self, q0: Array, q1: Array) -> Array:
        return _ENGINE.difference(self.model, q0, q1) if q0.ndim == 1 else super()._difference(q0, q1)

    def _interpolate(self, q0: Array, q1: Array, u: Array) -> Array:
        if q0.ndim == 1:
            return self._integrate(q0, u * self._difference(q0, q1))
        return super()._interpolate(q0, q1, u)

    def _normalize(self, q: Array) -> Array:
        return _ENGINE.normalize(self.model, q) if q.ndim == 1 else super()._normalize(q)

    def _cause(self, inputs: dict[str, np.ndarray]) -> str:
        return zero_rotation(self.model, inputs)

    def _component(self, what: str, k: int) -> str:
        names = self.model.position_names if what.startswith("q") else self.model.velocity_names
        return f" (joint {names[k]!r})"


def _merged(parts: Iterable[Space]) -> list[Space]:
    """The same spaces, neighbouring R^n joined."""
    out: list[Space] = []
    for part in parts:
        if part.nq == 0:
            continue
        last = out[-1] if out else None
        if isinstance(part, Rn) and isinstance(last, Rn):
            out.pop()
            part = Rn(last.nq + part.nq, np.concatenate([last.lower, part.lower]), np.concatenate([last.upper, part.upper]),
                      increments=part.increments, angles=np.concatenate([last.angles, part.angles]),
                      neutral=np.concatenate([last.neutral, part.neutral]),
                      names=last.names + part.names if last.names and part.names else ())
        out.append(part)
    return out
