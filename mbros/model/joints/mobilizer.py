"""The mobilizer interface of a model's joint, `joint.mobilizer`: H, N, what comes of them, and their exact derivatives.

6-vectors are [angular; linear], about Mo, measured in F; in F axes unless expressed_in="M". q, v, vdot: the joint's own (nq,), (nv,),
or the model's.
"""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbros.arguments import choice, vector
from mbros.describe.joints.kinds import unit_parts
from mbros.errors import QuaternionDriftWarning, StateError, warn
from mbros.model.cached import cached_property
from mbros.model.joints import hpp
from mbros.model.joints.driven import carried
from mbros.model.joints.reading import finite_position, finite_velocity
from mbros.spatial.vectors import SpatialVelocity

if TYPE_CHECKING:
    from mbros import Joint
    from mbros_core.engine._engine import State
    from mbros_core.typing import Array, ArrayLike

DRIFT = 1e-6        # of a quaternion's length from 1, beyond which it is worth a warning


class Mobilizer:
    """Made once for a joint of a model."""

    def __init__(self, joint: Joint) -> None:
        self._joint, self._called = joint, joint._called

    # ------------------------------------------------------------------------------------------------------- kinematics

    def body_twist(self, state: State, v: ArrayLike | None = None) -> SpatialVelocity:
        """V_FM in the axes of M: [w_FM_M; v_FM_M]. For floating joints this is v itself."""
        V = np.asarray(self._joint.spatial_velocity(state, v))
        name = self._joint.child_frame.name
        return SpatialVelocity(_halves(self._joint.transform(state).R.T, V), name, name)

    def origin_acceleration(self, state: State, vdot: ArrayLike, frame: str = "M") -> np.ndarray:
        """(3,) second derivative in F of Mo's position, m/s^2, in the axes of "M" or "F". For floating joints in M:
        vdot_linear + w x v."""
        a = self._joint.spatial_acceleration(state, vdot).linear
        return self._joint.transform(state).R.T @ a if self._in_M(frame) else a

    @cached_property
    def linear_velocity_bound(self) -> float:
        """The least number with |v_Mo| <= number * |v| for every configuration, v of this joint alone."""
        return hpp.velocity_bounds(self._joint._kinematics)[0]

    @cached_property
    def angular_velocity_bound(self) -> float:
        """The same for |w|."""
        return hpp.velocity_bounds(self._joint._kinematics)[1]

    def _in_M(self, expressed_in: str) -> bool:
        return choice(self._called, "expressed_in", expressed_in, ("F", "M")) == "M"

    # ------------------------------------------------------------------------------------------------------- what drives it

    def source(self, state: State) -> str:
        """Where its motion comes from: "dynamic", "prescribed" or "locked"."""
        self._joint._check_state(state)
        return "prescribed" if self._joint._is_prescribed(state) else "locked" if self._joint.is_locked(state) else "dynamic"

    def effort(self, state: State) -> np.ndarray:
        """What its coordinates (nv,) were driven with in the step that led to this state, N m or N: the effort applied, after its limit;
        where the joint is prescribed or locked, what that took. Raises StateError where no step led here."""
        return np.array(carried(self._joint, state).effort[self._joint.v_slice])

    def impulse(self, state: State) -> np.ndarray:
        """What its coordinates (nv,) took when a joint of the robot was locked last, N m s or N s: the impulse that brought this one to
        rest, or kept it there. Raises StateError where it is not locked."""
        if self.source(state) != "locked":
            raise StateError(f"{self._called}: impulse: it is not locked in this state, so nothing has stopped it; joint.lock(state) does")
        return np.array(state.field("a_given")[self._joint.v_slice])

    # -------------------------------------------------------------------------------------------------- motion subspace

    def subspace(self, state: State, expressed_in: str = "F") -> np.ndarray:
        """H (6, nv): V_FM = H v. In M axes it is the identity for floating joints."""
        H = self._joint._kinematics.subspace(finite_position(self._joint, state))
        return _halves(self._joint.transform(state).R.T, H) if self._in_M(expressed_in) else H

    def subspace_bias(self, state: State, v: ArrayLike | None = None, expressed_in: str = "F") -> np.ndarray:
        """Hdot v (6,): the derivative of the components of H in F (or M), times v. Zero in M axes for floating joints."""
        q, v = finite_position(self._joint, state), finite_velocity(self._joint, state, v)
        bias = self._joint._kinematics.bias(q, v)
        if not self._in_M(expressed_in):
            return bias
        V = self._joint._kinematics.subspace(q) @ v
        turning = np.concatenate([np.zeros(3), np.cross(V[:3], V[3:])])
        return _halves(self._joint._kinematics.pose(q)[0].T, bias - turning)

    def subspace_gradient(self, state: State, expressed_in: str = "F") -> np.ndarray:
        """dH/dq (6, nv, nq): exact, of a user's joint as mbros.diff.custom_joints says. So are the other gradients."""
        from mbros.diff import joints as gradients      # start-up time: who does not use it does not pay

        return gradients.subspace(self._joint._kinematics, finite_position(self._joint, state), self._in_M(expressed_in))

    def subspace_bias_gradient(self, state: State, v: ArrayLike | None = None, expressed_in: str = "F") -> tuple[Array, Array]:
        """(d/dq (6, nq), d/dv (6, nv)) of subspace_bias."""
        from mbros.diff import joints as gradients      # start-up time: who does not use it does not pay

        q, v = finite_position(self._joint, state), finite_velocity(self._joint, state, v)
        return gradients.bias(self._joint._kinematics, q, v, self._in_M(expressed_in))

    # ---------------------------------------------------------------------------------------------------- qdot and v

    def qdot_from_velocity_matrix(self, state: State) -> np.ndarray:
        """N (nq, nv): qdot = N v. A quaternion of length s gives s times the unit one's rows."""
        return self._joint._kinematics.qdot_matrix(self._position_for_rates(state))

    def velocity_from_qdot_matrix(self, state: State, normalize: str = "physical") -> np.ndarray:
        """N+ (nv, nq): v = N+ qdot.

        normalize: "physical" gives N+ N = 1 for quaternions of any length s. "drake" is that of Drake's QuaternionFloatingJoint: s^2 times
        that in the quaternion's columns, so that N+ N = s^2.
        """
        as_drake, q = self._drakes(normalize), self._position_for_rates(state)
        N = self._joint._kinematics.velocity_matrix(q)
        if as_drake:
            for part in unit_parts(self._joint._exact_kind):
                N[:, part] *= q[part] @ q[part]
        return N

    def qdot_from_velocity_gradient(self, state: State) -> np.ndarray:
        """dN/dq (nq, nv, nq)."""
        from mbros.diff import joints as gradients      # start-up time: who does not use it does not pay

        return gradients.qdot_matrix(self._joint._kinematics, finite_position(self._joint, state))

    def velocity_from_qdot_gradient(self, state: State, normalize: str = "physical") -> np.ndarray:
        """dN+/dq (nv, nq, nq)."""
        from mbros.diff import joints as gradients      # start-up time: who does not use it does not pay

        as_drake, q = self._drakes(normalize), finite_position(self._joint, state)
        D = gradients.velocity_matrix(self._joint._kinematics, q)
        if as_drake:
            N = self._joint._kinematics.velocity_matrix(q)
            for part in unit_parts(self._joint._exact_kind):
                D[:, part, :] *= q[part] @ q[part]
                D[:, part, part] += 2.0 * N[:, part, None] * q[None, None, part]
        return D

    def velocity_to_qdot(self, state: State, v: ArrayLike | None = None) -> np.ndarray:
        """qdot = N v (nq,), for the state's v or the one given."""
        return self.qdot_from_velocity_matrix(state) @ finite_velocity(self._joint, state, v)

    def qdot_to_velocity(self, state: State, qdot: ArrayLike, normalize: str = "physical") -> np.ndarray:
        """v = N+ qdot (nv,)."""
        qdot = vector(self._called, "qdot", qdot, self._joint.nq)
        return self.velocity_from_qdot_matrix(state, normalize) @ qdot

    def _drakes(self, normalize: str) -> bool:
        return choice(self._called, "normalize", normalize, ("physical", "drake")) == "drake"

    def _position_for_rates(self, state: State) -> Array:
        q = finite_position(self._joint, state)
        for part in unit_parts(self._joint._exact_kind):
            length = float(np.linalg.norm(q[part]))
            if not abs(length - 1.0) <= DRIFT:
                warn(f"{self._joint._label}: q[{part.start}:{part.stop}] has length {length:.9g}, not 1; "
                     "state.set_q(model.normalize(state.q)) fixes it", QuaternionDriftWarning)
        return q

    def __repr__(self) -> str:
        return f"<mobilizer of {self._called}>"


def _halves(R: Array, x: Array) -> Array:
    return np.concatenate([R @ x[:3], R @ x[3:]])
