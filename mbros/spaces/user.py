"""The spaces of joints that users write (mbros_core/user.hpp): the joint's own `space`, R^n, or what its functions do."""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

import mbros_core
from mbros.errors import MbrosError
from mbros.spaces.base import Space
from mbros.spaces.rn import Rn
from mbros_core.joints.registry import user_row
from mbros_core.spec import ModelSpec

if TYPE_CHECKING:
    from mbros_core.joints.registry import JointKind
    from mbros_core.typing import Array, ArrayLike


def user_space(joint: Any, increments: str, lower: ArrayLike, upper: ArrayLike) -> Space:
    """`joint`: the object with the capsule. Where its velocities are the rates of its positions, R^n."""
    own = getattr(joint, "space", None)
    if isinstance(own, Space) and own.increments == increments:
        return own
    row = user_row(joint)
    if row.velocities_are_rates:
        return Rn(row.nq, lower, upper, increments=increments, angles=[unit == "rad" for unit in row.position_units],
                  neutral=row.neutral)
    if increments == "parent":
        raise MbrosError(f"hpp-model knows nothing of the joint {row.doc!r}: give the object that has its capsule an attribute "
                         "`space`, a mbros.spaces.Space with increments='parent'")
    return UserSpace(joint, row)


class UserSpace(Space):
    """What the functions of a user's joint do, one row at a time."""

    def __init__(self, joint: Any, row: Any) -> None:
        self.joint, self.row, self.nq, self.nv = joint, row, row.nq, row.nv
        self.increments, self.name = "local", row.doc
        self.engine = mbros_core.Model(_alone(joint, row))

    def _neutral(self) -> Array:
        return np.array(self.row.neutral, float)

    def _integrate(self, q: Array, v: Array) -> Array:
        return _row_by_row(self.engine.integrate, self.nq, q, v)

    def _difference(self, q0: Array, q1: Array) -> Array:
        return _row_by_row(self.engine.difference, self.nv, q0, q1)

    def _normalize(self, q: Array) -> Array:
        return _row_by_row(self.engine.normalize, self.nq, q)

    def _missing(self, *_: object) -> NoReturn:
        raise MbrosError(f"{self.name}: a user's joint with functions of its own has neither derivatives nor a distribution: give the "
                         "object that has its capsule an attribute `space`, a mbros.spaces.Space")

    _d_integrate = _d_difference = _sample = _missing

    def _key(self) -> tuple[Any, ...]:
        return (type(self), self.increments, id(self.joint))


def _row_by_row(function: Callable[..., Array], n: int, *arrays: Array) -> Array:
    rows = zip(*(a.reshape(-1, a.shape[-1]) for a in arrays))
    out = [function(*(np.ascontiguousarray(x) for x in row)) for row in rows]
    return np.array(out).reshape(arrays[0].shape[:-1] + (n,))


def _alone(joint: Any, row: JointKind) -> ModelSpec:
    """A model of that joint alone, carrying 1 kg."""
    pose = np.concatenate([np.eye(3).ravel(), np.zeros(3)])
    nothing, free = np.zeros(row.nv), np.full(row.nv, np.inf)
    return ModelSpec(
        name=row.doc, gravity=np.zeros(3), body_names=["world", "body"], joint_names=["world", row.doc], joint_kind=["weld", "user"],
        parent=np.array([-1, 0], np.int32), X_PF=np.array([pose, pose]), joint_parameters=np.zeros((2, 4)),
        leader=np.array([-1, -1], np.int32), ratio=np.ones(2), offset=np.zeros(2),
        inertia=np.array([np.zeros(10), [1, 0, 0, 0, 1, 1, 1, 0, 0, 0]], float), q_default=np.array(row.neutral, float),
        q_lower=np.full(row.nq, -np.inf), q_upper=np.full(row.nq, np.inf), velocity_limit=free, effort_limit=free, damping=nothing,
        friction=nothing, rotor_inertia=nothing, stop_stiffness=nothing, stop_damping=nothing, user_joints={1: joint})
