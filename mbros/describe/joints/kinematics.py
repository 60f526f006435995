"""The mathematics of one joint, asked of the engine: a model of that joint alone, its frame F at the world's origin.

There is no second source of these equations: each is in mbros_core/joints, in the file of the kind's name. All vectors are
[angular; linear], in the axes of the user's frame F and about Mo.
"""
from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import mbros_core
import numpy as np
from mbros_core.engine._small import conjugated
from mbros_core.errors import NonFiniteError
from mbros_core.spec import ModelSpec

from mbros.describe.joints.kinds import UserKind, engine_kind, row_of
from mbros.spatial.placement import align_z

if TYPE_CHECKING:
    from mbros_core.engine._engine import State
    from mbros_core.typing import Array, ArrayLike


_POSE = np.concatenate([np.eye(3).ravel(), np.zeros(3)])


def kinematics(kind: str, parameters: Iterable[float] = (), axis: Iterable[float] | None = None) -> "Kinematics":
    """The mathematics of a joint of that kind; parameters as in its registry row; axis: unit vector in F, or None for Fz."""
    return _kinematics(kind if isinstance(kind, UserKind) else engine_kind(kind), tuple(float(x) for x in parameters),
                     None if axis is None else tuple(float(x) for x in axis))


@lru_cache(maxsize=4096)
def _kinematics(kind: str, parameters: tuple[float, ...], axis: tuple[float, ...] | None) -> Kinematics:
    return Kinematics(kind, parameters, axis)


class Kinematics:
    """X_FM(q), H_FM(q), Hdot_FM v, N(q), N+(q) of one joint. q (nq,), v (nv,): its own coordinates."""

    def __init__(self, kind: str, parameters: tuple[float, ...], axis: tuple[float, ...] | None) -> None:
        self.row, self.parameters = row_of(kind), parameters
        self.law = getattr(kind, "law", None)              # of a user's joint
        self.nq, self.nv = self.row.nq, self.row.nv
        self.model = mbros_core.Model(_alone(kind, parameters))
        self.local = threading.local()
        if axis is None:
            self.A = None
        else:
            self.A = align_z(np.array(axis))

    def at(self, q: ArrayLike, v: ArrayLike | None = None) -> State:
        """The joint's own State at (q, v); one per thread."""
        state = self._at(q)
        state.v[:] = 0.0 if v is None else v
        return state

    def _at(self, q: ArrayLike) -> State:
        """The same, at whatever velocities."""
        try:
            state: State = self.local.state
        except AttributeError:
            state = self.local.state = self.model.default_state()
        state.q[:] = q
        return state

    @cached_property
    def neutral(self) -> np.ndarray:
        return np.array(self.row.neutral, float)

    def around_neutral(self) -> Iterator[Array]:
        """The neutral position and a few others near it, in no particular direction, as far as a user's law is defined there."""
        yield self.neutral
        for reach in (0.3, 0.03):
            for k in range(3):
                try:
                    q = self.model.integrate(self.neutral, reach * np.cos(1.0 + np.arange(self.nv) + 2.0 * k))
                    self.pose(q)
                except NonFiniteError:
                    continue
                yield q

    def pose(self, q: ArrayLike) -> tuple[Array, Array]:
        """(R_FM, p_FoMo_F) at q; quaternions of any length but zero."""
        x = self.model._frame_pose(self._at(q), 1)
        return (x[:9].reshape(3, 3), x[9:]) if self.A is None else conjugated(self.A, x)

    def subspace(self, q: ArrayLike) -> np.ndarray:
        """H_FM (6, nv): V_FM = H v."""
        return self._turned(self.model._frame_jacobian(self.at(q), 1))

    def bias(self, q: ArrayLike, v: ArrayLike) -> np.ndarray:
        """Hdot_FM v (6,): what A_FM is when vdot = 0."""
        return self._turned(self.model._frame_acceleration(self.at(q, v), 1, np.zeros(self.nv)))

    def qdot_matrix(self, q: ArrayLike) -> np.ndarray:
        """N (nq, nv): qdot = N v."""
        state = self.at(q)
        return np.array([self.model.velocity_to_qdot(state, e) for e in np.eye(self.nv)]).reshape(self.nv, self.nq).T

    def velocity_matrix(self, q: ArrayLike) -> np.ndarray:
        """N+ (nv, nq): v = N+ qdot, the left inverse of N, also where a quaternion is not of unit length."""
        state = self.at(q)
        return np.array([self.model.qdot_to_velocity(state, e) for e in np.eye(self.nq)]).reshape(self.nq, self.nv).T

    def friction(self, v: ArrayLike, friction: ArrayLike) -> np.ndarray:
        """Coulomb friction (nv,) at the velocity v, for the coefficients `friction` (nv,)."""
        state = self.at(self.neutral, v)
        state.friction[:] = friction
        return self.model.passive_torques(state)

    def _turned(self, x: Array) -> Array:
        return x if self.A is None else np.concatenate([self.A @ x[:3], self.A @ x[3:]])


def _alone(kind: str, parameters: Sequence[float]) -> ModelSpec:
    """World, and one body on one joint of that kind; both frames at their body's origin. It has no mass: only kinematics."""
    row = row_of(kind)
    nq, nv = row.nq, row.nv
    given = np.zeros((2, 4))
    given[1, :len(parameters)] = parameters
    infinite = np.full(max(nq, nv), np.inf)
    return ModelSpec(
        name="joint", gravity=np.zeros(3), body_names=["F", "M"], joint_names=["world", "joint"], joint_kind=["weld", engine_kind(kind)],
        parent=np.array([-1, 0], np.int32), X_PF=np.array([_POSE, _POSE]), joint_parameters=given,
        leader=np.array([-1, -1], np.int32), ratio=np.ones(2), offset=np.zeros(2), inertia=np.zeros((2, 10)),
        q_default=np.array(row.neutral, float), q_lower=-infinite[:nq], q_upper=infinite[:nq],
        velocity_limit=infinite[:nv], effort_limit=infinite[:nv], damping=np.zeros(nv), friction=np.zeros(nv),
        rotor_inertia=np.zeros(nv), stop_stiffness=np.zeros(nv), stop_damping=np.zeros(nv), frame_names=["F", "M"],
        frame_body=np.array([0, 1], np.int32), X_BF=np.array([_POSE, _POSE]),
        user_joints={1: kind.law} if isinstance(kind, UserKind) else {})
