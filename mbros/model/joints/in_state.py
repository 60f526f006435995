"""What a state says about a joint of its model, and how to change it there. Setters return the joint."""
from __future__ import annotations

import sys
from functools import cached_property
from operator import le

import numpy as np

from mbros.arguments import choice, vector
from mbros.spatial.given import pose_of
from mbros.errors import JointKindError, MbrosError
from mbros.describe.joints import limits
from mbros.describe.joints.kinds import UserKind, six_from_pair, unit_parts

LARGEST = sys.float_info.max


class InState:
    """Needs of its class: model, name, kind, nq, nv, mimic, q_slice, v_slice, mobility, neutral."""

    # ------------------------------------------------------------------------------------------------- setting states

    def set_position(self, state, q):
        """Set the positions (nq,) in the state. Beyond a limit: done, with a PositionLimitWarning. Returns the joint."""
        self.check_state(state)
        if type(q) is float and self._range is not None and self._range[0] <= q <= self._range[1]:
            state.q[self.q_start] = q           # the same as below, for one coordinate
            return self
        q = self._put(state, q)
        if self._reach is not None:
            x = q.tolist()
            if not (all(map(le, self._reach[0], x)) and all(map(le, x, self._reach[1]))):
                limits.warn_beyond(limits.beyond(self, q))
        return self

    def _put(self, state, q) -> np.ndarray:
        """Positions (nq,), checked and of unit length, into the state."""
        state.q[self.q_slice] = q = self._unit(self._own(q, self.nq, "position"))
        return q

    @cached_property
    def _reach(self):
        """mbros.describe.joints.limits.reach as lists, None where there are no limits."""
        low, high = limits.reach(self)
        return (low.tolist(), high.tolist()) if np.isfinite(low).any() or np.isfinite(high).any() else None

    @cached_property
    def _range(self):
        """The finite numbers within the reach of a joint with one coordinate of its own; None for others."""
        if self.nq != 1 or self.follows or self._has_law:
            return None
        (low,), (high,) = limits.reach(self)
        return max(float(low), -LARGEST), min(float(high), LARGEST)

    @cached_property
    def _has_law(self) -> bool:
        return isinstance(self.row.kind, UserKind)

    def _unit(self, q) -> np.ndarray:
        """q (nq,) with its quaternion or (cos, sin) at unit length, to the bit where it was; the engine does it."""
        parts = unit_parts(self.row.kind)
        if not self._has_law and all(abs(float(q[part] @ q[part]) - 1.0) < 1e-15 for part in parts):
            return q                            # the engine would leave it
        try:
            return np.array(self.mobility.at(self.neutral).set_q(q).q)
        except ValueError:
            parts = ", ".join(f"q[{part.start}:{part.stop}] = {q[part].tolist()}" for part in unit_parts(self.row.kind))
            raise MbrosError(f"joint {self.name!r} ({self.kind}): position: {parts or q.tolist()} cannot be brought to unit length; "
                             f"the neutral position is {self.neutral.tolist()}") from None

    def set_velocity(self, state, v):
        """Set the velocities (nv,) in the state. Returns the joint."""
        self.check_state(state)
        state.v[self.v_slice] = self._own(v, self.nv, "velocity")
        return self

    def set_transform(self, state, X_FM):
        """The positions whose X_FM is nearest to this pose, a (4, 4) matrix or anything with .R and .p. Returns the joint."""
        from mbros.describe.joints.matching import best_match      # start-up time: who does not use it does not pay

        self.check_state(state)
        X = pose_of(f"joint {self.name!r}", X_FM)
        return self.set_position(state, best_match(self.mobility, X.R, X.p))

    def set_zero(self, state, velocity=True):
        """This joint to its neutral position and, unless velocity=False, to rest. Returns the joint."""
        choice(self._called, "velocity", velocity, (True, False))
        self.check_state(state)
        self._put(state, self.neutral)
        return self.set_velocity(state, np.zeros(self.nv)) if velocity else self

    def position1(self, state) -> float:
        """The position of a joint with one."""
        self._one(self.nq, "position")
        return float(self.position(state)[0])

    def velocity1(self, state) -> float:
        """The velocity of a joint with one."""
        self._one(self.nv, "velocity")
        return float(self.velocity(state)[0])

    def _one(self, n, what):
        if n != 1:
            raise JointKindError(f"joint {self.name!r} ({self.kind}) has {n} {what} coordinates; {what}(state) gives all of them")

    def lock(self, state):
        """At rest at once, and held there until unlocked; its reaction is inverse_dynamics' tau. Returns the joint.

        A velocity written later is made zero by the next step.
        """
        self._lock(state)[:] = 1.0
        state.v[self.v_slice] = 0.0
        return self

    def unlock(self, state):
        """Free to move again. Returns the joint."""
        self._lock(state)[:] = 0.0
        return self

    def is_locked(self, state) -> bool:
        self.check_state(state)
        return bool(self.nv) and bool(state.field("lock")[self.v_slice].all())

    def _lock(self, state):
        self.check_state(state)
        self._refuse_follower("lock")
        return state.field("lock")[self.v_slice]

    # -------------------------------------------------------------------------------------------------------- forces

    def damping(self, state) -> np.ndarray:
        """Viscous damping (nv,) of its coordinates in this state, N m s/rad or N s/m. A follower shares its leader's coordinate, and
        there is one number for both: the leader's own damping and ratio^2 times that of every follower."""
        self.check_state(state)
        return state.damping[self.v_slice].copy()

    def set_damping(self, state, damping):
        """Set the viscous damping (nv,), not negative; a leader's is that of its followers too. Floating joints also take
        (angular, translational). Returns the joint."""
        self.check_state(state)
        damping = six_from_pair(self.kind, damping)
        state.damping[self.v_slice] = self._own(damping, self.nv, "damping", positive=True)
        return self

    def friction(self, state) -> np.ndarray:
        """Coulomb friction (nv,) of its coordinates in this state, N m or N; a leader's holds its followers' too, as damping does."""
        self.check_state(state)
        return state.friction[self.v_slice].copy()

    def set_friction(self, state, friction):
        """Set the Coulomb friction (nv,), not negative. Returns the joint."""
        self.check_state(state)
        state.friction[self.v_slice] = self._own(friction, self.nv, "friction", positive=True)
        return self

    def add_damping(self, state, forces):
        """Adds -damping v to this joint's part of `forces` (nv of the model,), in place. Returns them."""
        part = self._part(forces)
        part += -self.damping(state) * self.velocity(state)
        return forces

    def add_force(self, state, dof, value, forces):
        """Adds `value` (N m or N) on degree of freedom `dof` to `forces` (nv of the model,), in place. Returns them."""
        self.check_state(state)
        part = self._part(forces)
        k = self._index(dof, self.nv, "velocity")
        part[k] += float(self._own(value, 1, "force")[0])
        return forces

    def _part(self, forces):
        self._refuse_follower("forces")
        if not isinstance(forces, np.ndarray) or forces.dtype != np.float64 or forces.shape != (self.model.nv,):
            raise MbrosError(f"joint {self.name!r}: forces: expected a float64 array of {self.model.nv} numbers to add to, got "
                             f"{getattr(forces, 'dtype', type(forces).__name__)} {getattr(forces, 'shape', '')}")
        return forces[self.v_slice]

    def _refuse_follower(self, what):
        if self.follows:
            raise MbrosError(f"joint {self.name!r} follows {self.mimic[0]!r}: set the {what} of {self.mimic[0]!r}")

    def _own(self, value, n, what, positive=False) -> np.ndarray:
        self._refuse_follower(what)
        return self._own_numbers(value, n, what, 0.0 if positive else None)

    def _own_numbers(self, value, n, what, least=None) -> np.ndarray:
        """`value` as (n,) finite numbers of this joint."""
        return vector(self._called, what, value, n, least)
