"""The mobilizer interface of a model's joint: everything about M in F, from the joint's own q and v alone.

6-vectors are [angular; linear], about Mo, measured in F; in F axes unless expressed_in="M". q, v, vdot: the joint's own (nq,), (nv,),
or the model's. A follower takes the model's where the sizes are the same: its own rates are its leader's times the ratio.
"""
from __future__ import annotations

from functools import cached_property

import numpy as np
from mbros_core import State

from mbros.arguments import check_state, choice, counted, finite, reals, vector
from mbros.errors import MbrosError, NonFiniteError, QuaternionDriftWarning, warn
from mbros.diff import joints as gradients
from mbros.describe.joints.kinds import row_of, unit_parts
from mbros.describe.joints.kinematics import mobility
from mbros.spatial.vectors import Pose, SpatialAcceleration, SpatialForce, SpatialVelocity, in_axes_of

DRIFT = 1e-6        # of a quaternion's length from 1, beyond which it is worth a warning


class Mobilizer:
    """Needs of its class: model, name, kind, axis, parameters, nq, nv, mimic, q_slice, v_slice."""

    @property
    def mobility(self):
        """The joint's mathematics without a state: mbros.describe.joints.kinematics."""
        return mobility(self.row.kind, self.parameters, self.axis)

    # ---------------------------------------------------------------------------------------------- its part of a state

    def check_state(self, state):
        """StateError (a TypeError) unless it is a State of this joint's model; BusyError while a real-time loop has it."""
        if type(state) is not State or state.model is not self.model or state.is_held:
            check_state(f"joint {self.name!r}", self.model, state)

    def position(self, state) -> np.ndarray:
        """Positions (nq,), rad or m; a follower's are computed from its leader's."""
        self.check_state(state)
        q = state.q[self.q_slice].copy()
        return self.mimic[1] * q + self.mimic[2] if self.follows else q

    def velocity(self, state) -> np.ndarray:
        """Velocities (nv,), rad/s or m/s."""
        self.check_state(state)
        return self._of_leader(state.v[self.v_slice].copy())

    def _of_leader(self, rates):
        return self.mimic[1] * rates if self.follows else rates

    @cached_property
    def _called(self) -> str:
        return f"joint {self.name!r} ({self.kind})"

    def _own_or_models(self, given, what, n, n_model):
        """(numbers, whether they are the model's) of a vector of the joint (n,) or of the whole model (n_model,); all finite."""
        expected = f"{counted(n)} of the joint or {n_model} of the model"
        array = np.atleast_1d(reals(self._called, what, given, expected))
        if array.shape not in ((n,), (n_model,)):
            raise MbrosError(f"{self._called}: {what}: expected {expected}, got shape {array.shape}")
        return finite(self._called, what, array), array.shape == (n_model,) and (self.follows or n != n_model)

    def _rates(self, given, what) -> np.ndarray:
        """(nv,) of this joint, from its own numbers or from a vector of the whole model."""
        array, of_model = self._own_or_models(given, what, self.nv, self.model.nv)
        return self._of_leader(array[self.v_slice]) if of_model else array

    def _velocity(self, state, v):
        """The v given, or the state's, every number finite."""
        if v is not None:
            return self._rates(v, "v")
        return finite(self._called, "v", self.velocity(state))

    def _position(self, state):
        """The state's q, every number finite and no quaternion zero."""
        q = finite(self._called, "q", self.position(state))
        for part in unit_parts(self.row.kind):
            if np.abs(q[part]).max() < 1e-150:
                raise NonFiniteError(f"{self._called}: q[{part.start}:{part.stop}] is {q[part].tolist()}, which has no direction, so "
                                     "it is no rotation; joint.set_zero(state) mends it")
        return q

    def _vector(self, cls, values):
        frames = self.model.frames
        return cls(values, frames[self.frame_M].name, frames[self.frame_F].name)

    def _halves(self, R, x):
        return np.concatenate([R @ x[:3], R @ x[3:]])

    def _in_M(self, expressed_in) -> bool:
        return choice(self._called, "expressed_in", expressed_in, ("F", "M")) == "M"

    # ------------------------------------------------------------------------------------------------------- kinematics

    def transform(self, state) -> Pose:
        """X_FM: pose of the child's frame M in the parent's frame F."""
        R, p = self.mobility.pose(self._position(state))
        frames = self.model.frames
        return Pose(R, p, frames[self.frame_M].name, frames[self.frame_F].name)

    def spatial_velocity(self, state, v=None) -> SpatialVelocity:
        """V_FM = H v, for the state's v or the one given."""
        H = self.mobility.subspace(self._position(state))
        return self._vector(SpatialVelocity, H @ self._velocity(state, v))

    def spatial_acceleration(self, state, vdot) -> SpatialAcceleration:
        """A_FM = H vdot + Hdot v: the time derivative in F of V_FM."""
        q, v = self._position(state), self._velocity(state, None)
        A = self.mobility.subspace(q) @ self._rates(vdot, "vdot") + self.mobility.bias(q, v)
        return self._vector(SpatialAcceleration, A)

    def body_twist(self, state, v=None) -> SpatialVelocity:
        """V_FM in the axes of M: [w_FM_M; v_FM_M]. For floating joints this is v itself."""
        V = np.asarray(self.spatial_velocity(state, v))
        name = self.model.frames[self.frame_M].name
        return SpatialVelocity(self._halves(self.transform(state).R.T, V), name, name)

    def origin_acceleration(self, state, vdot, frame="M") -> np.ndarray:
        """(3,) second derivative in F of Mo's position, m/s^2, in the axes of "M" or "F". For floating joints in M:
        vdot_linear + w x v."""
        a = self.spatial_acceleration(state, vdot).linear
        return self.transform(state).R.T @ a if self._in_M(frame) else a

    # -------------------------------------------------------------------------------------------------- motion subspace

    def subspace(self, state, expressed_in="F") -> np.ndarray:
        """H (6, nv): V_FM = H v. In M axes it is the identity for floating joints."""
        H = self.mobility.subspace(self._position(state))
        return self._halves(self.transform(state).R.T, H) if self._in_M(expressed_in) else H

    def subspace_bias(self, state, v=None, expressed_in="F") -> np.ndarray:
        """Hdot v (6,): the derivative of the components of H in F (or M), times v. Zero in M axes for floating joints."""
        q, v = self._position(state), self._velocity(state, v)
        bias = self.mobility.bias(q, v)
        if not self._in_M(expressed_in):
            return bias
        V = self.mobility.subspace(q) @ v
        turning = np.concatenate([np.zeros(3), np.cross(V[:3], V[3:])])
        return self._halves(self.mobility.pose(q)[0].T, bias - turning)

    def subspace_gradient(self, state, expressed_in="F") -> np.ndarray:
        """dH/dq (6, nv, nq): exact, of a user's joint as mbros.diff.custom_joints says. So are the other gradients."""
        return gradients.subspace(self.mobility, self._position(state), self._in_M(expressed_in))

    def subspace_bias_gradient(self, state, v=None, expressed_in="F"):
        """(d/dq (6, nq), d/dv (6, nv)) of subspace_bias."""
        return gradients.bias(self.mobility, self._position(state), self._velocity(state, v), self._in_M(expressed_in))

    def project_force(self, state, wrench) -> np.ndarray:
        """tau (nv,) = H^T F: the generalized force of a wrench [torque; force] on M about Mo, in F axes."""
        self.check_state(state)
        F = self._wrench(wrench) if isinstance(wrench, SpatialForce | SpatialVelocity) else wrench
        F = reals(self._called, "wrench", F, "6 numbers [torque; force]")
        if F.shape != (6,):
            raise MbrosError(f"{self._called}: wrench: expected 6 numbers [torque; force], got shape {F.shape}")
        finite(self._called, "wrench", F)
        return self.mobility.subspace(self._position(state)).T @ F

    def _wrench(self, given) -> np.ndarray:
        """The numbers of a SpatialForce about Mo, in F axes; of another point or in other axes it is refused."""
        frames, M = self.model.frames, self.model.frames[self.frame_M].name
        if not isinstance(given, SpatialForce):
            raise MbrosError(f"{self._called}: wrench: expected a SpatialForce or 6 numbers, got a {type(given).__name__}")
        values = in_axes_of(f"{self._called}: wrench", given, frames[self.frame_F].name)
        at_M = given.frame in ("", M) or given.frame == self.child_body and not self.row.X_BM.p.any()
        if not at_M:
            raise MbrosError(f"{self._called}: wrench: it is about the origin of {given.frame!r}, expected that of {M!r}; its method "
                             f"moved_to(state, {M!r}) gives it there")
        return values

    # ---------------------------------------------------------------------------------------------------- qdot and v

    def qdot_from_velocity_matrix(self, state) -> np.ndarray:
        """N (nq, nv): qdot = N v. A quaternion of length s gives s times the unit one's rows."""
        return self.mobility.qdot_matrix(self._position_for_rates(state))

    def velocity_from_qdot_matrix(self, state, normalize="physical") -> np.ndarray:
        """N+ (nv, nq): v = N+ qdot.

        normalize: "physical" gives N+ N = 1 for quaternions of any length s. "seed" is QuaternionFloatingJoint's: s^2 times
        that in the quaternion's columns, so that N+ N = s^2.
        """
        as_seed, q = self._seed(normalize), self._position_for_rates(state)
        N = self.mobility.velocity_matrix(q)
        if as_seed:
            for part in unit_parts(self.row.kind):
                N[:, part] *= q[part] @ q[part]
        return N

    def qdot_from_velocity_gradient(self, state) -> np.ndarray:
        """dN/dq (nq, nv, nq)."""
        return gradients.qdot_matrix(self.mobility, self._position(state))

    def velocity_from_qdot_gradient(self, state, normalize="physical") -> np.ndarray:
        """dN+/dq (nv, nq, nq)."""
        as_seed, q = self._seed(normalize), self._position(state)
        D = gradients.velocity_matrix(self.mobility, q)
        if as_seed:
            N = self.mobility.velocity_matrix(q)
            for part in unit_parts(self.row.kind):
                D[:, part, :] *= q[part] @ q[part]
                D[:, part, part] += 2.0 * N[:, part, None] * q[None, None, part]
        return D

    def velocity_to_qdot(self, state, v=None) -> np.ndarray:
        """qdot = N v (nq,), for the state's v or the one given."""
        return self.qdot_from_velocity_matrix(state) @ self._velocity(state, v)

    def qdot_to_velocity(self, state, qdot, normalize="physical") -> np.ndarray:
        """v = N+ qdot (nv,)."""
        qdot = vector(self._called, "qdot", qdot, self.nq)
        return self.velocity_from_qdot_matrix(state, normalize) @ qdot

    def qdot(self, state) -> np.ndarray:
        """qdot = N v (nq,) in this state."""
        return self.velocity_to_qdot(state)

    def _seed(self, normalize) -> bool:
        return choice(self._called, "normalize", normalize, ("physical", "seed")) == "seed"

    def _position_for_rates(self, state):
        q = self._position(state)
        for part in unit_parts(self.row.kind):
            length = float(np.linalg.norm(q[part]))
            if not abs(length - 1.0) <= DRIFT:
                warn(f"joint {self.name!r}: q[{part.start}:{part.stop}] has length {length:.9g}, not 1; "
                     "state.set_q(model.normalize(state.q)) mends it", QuaternionDriftWarning)
        return q

    # --------------------------------------------------------------------------------------------------- passive forces

    def friction_torque(self, state, v=None) -> np.ndarray:
        """Coulomb friction (nv,) on the joint in this state, N m or N: against v, zero unless the joint has friction."""
        return self.mobility.friction(self._velocity(state, v), self.friction(state))

    @property
    def group(self) -> str:
        """The configuration space by name: "R^1", "SO(2)", "SO(3)", "SE(3)", ..."""
        return row_of(self.row.kind).group
