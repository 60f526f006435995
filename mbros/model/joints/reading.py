"""What a state says about a joint of its model: where it is, how fast, and what its friction does.

6-vectors are [angular; linear], about Mo, measured in F, in F axes. q, v, vdot: the joint's own (nq,), (nv,), or the model's. A
follower takes the model's where the sizes are the same: its own rates are its leader's times the ratio.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from mbros_core import State
from mbros_core.engine._small import is_finite

from mbros.arguments import check_state, counted, finite, reals
from mbros.describe.joints.kinds import unit_parts
from mbros.errors import MbrosError, NonFiniteError
from mbros.model.cached import cached_property
from mbros.model.joints.facts import Facts
from mbros.names import with_article
from mbros.spatial.vectors import Pose, SpatialAcceleration, SpatialForce, SpatialVelocity, in_axes_of

if TYPE_CHECKING:
    from mbros_core.typing import Array, ArrayLike


class Reading(Facts):
    """Needs of its class: model, name, kind, nq, nv, mimic, follows, q_slice, v_slice, parent_frame, child_frame, _kinematics."""

    if TYPE_CHECKING:               # of InState
        def friction(self, state: State) -> np.ndarray: ...

    # ---------------------------------------------------------------------------------------------- its part of a state

    def _check_state(self, state: object) -> None:
        """StateError (a TypeError) unless it is a State of this joint's model; BusyError while a real-time loop has it."""
        if type(state) is not State or state.model is not self.model or state.is_held:
            check_state(f"joint {self.name!r}", self.model, state)

    def position(self, state: State) -> np.ndarray:
        """Positions (nq,), rad or m; a follower's are computed from its leader's."""
        self._check_state(state)
        q = state.q[self.q_slice].copy()
        return self.mimic[1] * q + self.mimic[2] if self.mimic is not None else q

    def velocity(self, state: State) -> np.ndarray:
        """Velocities (nv,), rad/s or m/s."""
        self._check_state(state)
        return self._of_leader(state.v[self.v_slice].copy())

    def _of_leader(self, rates: Array) -> Array:
        return self.mimic[1] * rates if self.mimic is not None else rates

    @cached_property
    def _called(self) -> str:
        return f"joint {self.name!r} ({self.kind})"

    def _own_or_models(self, given: ArrayLike, what: str, n: int, n_model: int) -> tuple[Array, bool]:
        """(numbers, whether they are the model's) of a vector of the joint (n,) or of the whole model (n_model,); all finite."""
        expected = f"{counted(n)} of the joint or {n_model} of the model"
        array = np.atleast_1d(reals(self._called, what, given, expected))
        if array.shape not in ((n,), (n_model,)):
            raise MbrosError(f"{self._called}: {what}: expected {expected}, got shape {array.shape}")
        return finite(self._called, what, array), array.shape == (n_model,) and (self.follows or n != n_model)

    def _rates(self, given: ArrayLike, what: str) -> np.ndarray:
        """(nv,) of this joint, from its own numbers or from a vector of the whole model."""
        array, of_model = self._own_or_models(given, what, self.nv, self.model.nv)
        return self._of_leader(array[self.v_slice]) if of_model else array

    def _velocity(self, state: State, v: ArrayLike | None) -> Array:
        """The v given, or the state's, every number finite."""
        if v is not None:
            return self._rates(v, "v")
        return finite(self._called, "v", self.velocity(state))

    def _position(self, state: State) -> Array:
        """The state's q, every number finite and no quaternion zero."""
        q = self.position(state)
        if not is_finite(q):
            finite(self._called, "q", q)
        for part in self._unit_parts:
            if np.abs(q[part]).max() < 1e-150:
                raise NonFiniteError(f"{self._called}: q[{part.start}:{part.stop}] is {q[part].tolist()}, which has no direction, so "
                                     "it is no rotation; joint.set_zero(state) fixes it")
        return q

    @cached_property
    def _unit_parts(self) -> tuple[slice, ...]:
        return unit_parts(self._exact_kind)

    @cached_property
    def _frame_names(self) -> tuple[str, str]:
        """Those of M and F."""
        return self.child_frame.name, self.parent_frame.name

    def _vector(self, cls: type[Any], values: Array) -> Any:
        return cls(values, *self._frame_names)

    # ------------------------------------------------------------------------------------------------------- kinematics

    def transform(self, state: State) -> Pose:
        """X_FM: pose of the child's frame M in the parent's frame F."""
        return Pose._made(*self._kinematics.pose(self._position(state)), *self._frame_names)

    def spatial_velocity(self, state: State, v: ArrayLike | None = None) -> SpatialVelocity:
        """V_FM = H v, for the state's v or the one given."""
        H = self._kinematics.subspace(self._position(state))
        return self._vector(SpatialVelocity, H @ self._velocity(state, v))

    def spatial_acceleration(self, state: State, vdot: ArrayLike) -> SpatialAcceleration:
        """A_FM = H vdot + Hdot v: the time derivative in F of V_FM."""
        q, v = self._position(state), self._velocity(state, None)
        A = self._kinematics.subspace(q) @ self._rates(vdot, "vdot") + self._kinematics.bias(q, v)
        return self._vector(SpatialAcceleration, A)

    def friction_torque(self, state: State, v: ArrayLike | None = None) -> np.ndarray:
        """Coulomb friction (nv,) on the joint in this state, N m or N: against v, zero unless the joint has friction."""
        return self._kinematics.friction(self._velocity(state, v), self.friction(state))

    def project_force(self, state: State, wrench: Any) -> np.ndarray:
        """tau (nv,) = H^T F: the generalized force of a wrench [torque; force] on M about Mo, in F axes."""
        self._check_state(state)
        F = self._wrench(wrench) if isinstance(wrench, SpatialForce | SpatialVelocity) else wrench
        F = reals(self._called, "wrench", F, "6 numbers [torque; force]")
        if F.shape != (6,):
            raise MbrosError(f"{self._called}: wrench: expected 6 numbers [torque; force], got shape {F.shape}")
        finite(self._called, "wrench", F)
        return self._kinematics.subspace(self._position(state)).T @ F

    def _wrench(self, given: object) -> np.ndarray:
        """The numbers of a SpatialForce about Mo, in F axes; of another point or in other axes it is refused."""
        F, M = self.parent_frame.name, self.child_frame.name
        if not isinstance(given, SpatialForce):
            raise MbrosError(f"{self._called}: wrench: expected a SpatialForce or 6 numbers, got {with_article(type(given).__name__)}")
        values = in_axes_of(f"{self._called}: wrench", given, F)
        at_M = given.frame in ("", M) or given.frame == self.child.name and not self._row.X_BM.p.any()
        if not at_M:
            raise MbrosError(f"{self._called}: wrench: it is about the origin of {given.frame!r}, expected that of {M!r}; its method "
                             f"moved_to(state, {M!r}) gives it there")
        return values
