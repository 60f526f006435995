"""How to change a joint in a state of its model: position, velocity, locks, damping and friction. Setters return the joint."""
from __future__ import annotations

import sys
from operator import le
from typing import TYPE_CHECKING, Any

import numpy as np

from mbros.arguments import choice, is_whole, vector
from mbros.describe.joints import limits
from mbros.describe.joints.kinds import UserKind, six_from_pair, unit_parts
from mbros.describe.joints.names import no_coordinate
from mbros.errors import MbrosError
from mbros.model.cached import cached_property
from mbros.model.joints.facts import Facts
from mbros.spatial.given import pose_of

if TYPE_CHECKING:
    from mbros.names import PoseLike
    from mbros_core.engine._engine import State
    from mbros_core.typing import Array, ArrayLike
    from typing_extensions import Self

LARGEST = sys.float_info.max


class InState(Facts):
    """Needs of its class: model, name, kind, nq, nv, mimic, q_slice, v_slice, defaults, _kinematics."""

    if TYPE_CHECKING:               # of Reading
        def _check_state(self, state: object) -> None: ...
        def velocity(self, state: State) -> np.ndarray: ...
        def release(self, state: State) -> Self: ...

    # ------------------------------------------------------------------------------------------------- setting states

    def set_position(self, state: State, q: ArrayLike) -> Self:
        """Set the positions (nq,) in the state. Beyond a limit: done, with a PositionLimitWarning. Returns the joint."""
        self._check_state(state)
        if type(q) is float and self._range is not None and self._range[0] <= q <= self._range[1]:
            state.q[self._q_start] = q           # the same as below, for one coordinate
            state._a_prev[self._v_start] = 0.0
            return self
        q = self._put(state, q)
        if self._reach is not None:
            x = q.tolist()
            if not (all(map(le, self._reach[0], x)) and all(map(le, x, self._reach[1]))):
                limits.warn_beyond(limits.beyond(self, q))
        return self

    def _put(self, state: State, q: ArrayLike) -> np.ndarray:
        """Positions (nq,), checked and of unit length, into the state."""
        state.q[self.q_slice] = q = self._unit(self._own(q, self.nq, "position"))
        state._a_prev[self.v_slice] = 0.0
        return q

    @cached_property
    def _reach(self) -> tuple[list[float], list[float]] | None:
        """mbros.describe.joints.limits.reach as lists, None where there are no limits."""
        low, high = limits.reach(self)
        return (low.tolist(), high.tolist()) if np.isfinite(low).any() or np.isfinite(high).any() else None

    @cached_property
    def _range(self) -> tuple[float, float] | None:
        """The finite numbers within the reach of a joint with one coordinate of its own; None for others."""
        if self.nq != 1 or self.follows or self._has_law:
            return None
        (low,), (high,) = limits.reach(self)
        return max(float(low), -LARGEST), min(float(high), LARGEST)

    @cached_property
    def _has_law(self) -> bool:
        return isinstance(self._exact_kind, UserKind)

    def _unit(self, q: Array) -> np.ndarray:
        """q (nq,) with its quaternion or (cos, sin) at unit length, to the bit where it was; the engine does it."""
        parts = unit_parts(self._exact_kind)
        if not self._has_law and all(abs(float(q[part] @ q[part]) - 1.0) < 1e-15 for part in parts):
            return q                            # the engine would leave it
        try:
            return np.array(self._kinematics.at(self.defaults.neutral).set_q(q).q)
        except ValueError:
            runs = ", ".join(f"q[{part.start}:{part.stop}] = {q[part].tolist()}" for part in unit_parts(self._exact_kind))
            raise MbrosError(f"joint {self.name!r} ({self.kind}): position: {runs or q.tolist()} cannot be brought to unit length; "
                             f"the neutral position is {self.defaults.neutral.tolist()}") from None

    def set_velocity(self, state: State, v: ArrayLike) -> Self:
        """Set the velocities (nv,) in the state. Returns the joint."""
        self._check_state(state)
        state.v[self.v_slice] = self._own(v, self.nv, "velocity")
        state._a_prev[self.v_slice] = 0.0
        return self

    if TYPE_CHECKING:           # planar and floating joints take their own words, too: xy, theta; p, rpy, quat_wxyz
        def set_pose(self, state: State, X_FM: PoseLike | None = None, **words: Any) -> Self: ...
    else:
        def set_pose(self, state: State, X_FM: PoseLike) -> Self:
            """The positions whose X_FM is nearest to this pose, a (4, 4) matrix or anything with .R and .p. Returns the joint."""
            from mbros.describe.joints.matching import best_match      # start-up time: who does not use it does not pay

            self._check_state(state)
            X = pose_of(f"joint {self.name!r}", X_FM)
            return self.set_position(state, best_match(self._kinematics, X.R, X.p))

    def set_zero(self, state: State, velocity: bool = True) -> Self:
        """This joint to its neutral position and, unless velocity=False, to rest. Returns the joint."""
        choice(self._called, "velocity", velocity, (True, False))
        self._check_state(state)
        self._put(state, self.defaults.neutral)
        return self.set_velocity(state, np.zeros(self.nv)) if velocity else self

    def lock(self, state: State) -> Self:
        """At rest at once, and held there until released. Returns the joint.

        What stops it is an impulse between its two bodies, which moves the rest of the robot: mobilizer.impulse(state). What holding it
        takes is mobilizer.effort(state). A velocity written later is no motion, and is made zero by the next step.
        """
        self._lock(state)[:] = 1.0
        self.model._come_to_rest(state)
        return self

    def unlock(self, state: State) -> Self:
        """release() is its name now."""
        return self.release(state)

    def is_locked(self, state: State) -> bool:
        self._check_state(state)
        return bool(self.nv) and bool((state.field("lock")[self.v_slice] == 1.0).all())

    def _lock(self, state: State) -> Array:
        self._check_state(state)
        self._refuse_follower("lock")
        return state.field("lock")[self.v_slice]

    # -------------------------------------------------------------------------------------------------------- forces

    def damping(self, state: State) -> np.ndarray:
        """Viscous damping (nv,) of its coordinates in this state, N m s/rad or N s/m. A follower shares its leader's coordinate, and
        there is one number for both: the leader's own damping and ratio^2 times that of every follower."""
        self._check_state(state)
        return state.damping[self.v_slice].copy()

    def set_damping(self, state: State, damping: ArrayLike) -> Self:
        """Set the viscous damping (nv,), not negative; a leader's is that of its followers too. Floating joints also take
        (angular, translational). Returns the joint."""
        self._check_state(state)
        damping = six_from_pair(self.kind, damping)
        state.damping[self.v_slice] = self._own(damping, self.nv, "damping", positive=True)
        return self

    def friction(self, state: State) -> np.ndarray:
        """Coulomb friction (nv,) of its coordinates in this state, N m or N; a leader's holds its followers' too, as damping does."""
        self._check_state(state)
        return state.friction[self.v_slice].copy()

    def set_friction(self, state: State, friction: ArrayLike) -> Self:
        """Set the Coulomb friction (nv,), not negative. Returns the joint."""
        self._check_state(state)
        state.friction[self.v_slice] = self._own(friction, self.nv, "friction", positive=True)
        return self

    def add_damping(self, state: State, forces: Array) -> Array:
        """Adds -damping v to this joint's part of `forces` (nv of the model,), in place. Returns them."""
        part = self._part(forces)
        part += -self.damping(state) * self.velocity(state)
        return forces

    def add_force(self, state: State, dof: int, value: float, forces: Array) -> Array:
        """Adds `value` (N m or N) on degree of freedom `dof` to `forces` (nv of the model,), in place. Returns them."""
        self._check_state(state)
        part = self._part(forces)
        if not (is_whole(dof) and 0 <= dof < self.nv):
            raise no_coordinate(f"{self._called}: velocity", dof, self.nv)
        part[int(dof)] += float(self._own(value, 1, "force")[0])
        return forces

    def _part(self, forces: Array) -> Array:
        self._refuse_follower("forces")
        if not isinstance(forces, np.ndarray) or forces.dtype != np.float64 or forces.shape != (self.model.nv,):
            raise MbrosError(f"joint {self.name!r}: forces: expected a float64 array of {self.model.nv} numbers to add to, got "
                             f"{getattr(forces, 'dtype', type(forces).__name__)} {getattr(forces, 'shape', '')}")
        if not forces.flags.writeable:
            raise MbrosError(f"joint {self.name!r}: forces: expected a writable float64 array to add to, got a read-only one")
        return forces[self.v_slice]

    def _refuse_follower(self, what: str) -> None:
        if self.follows and self.mimic is not None:
            raise MbrosError(f"joint {self.name!r} follows {self.mimic[0]!r}: set the {what} of {self.mimic[0]!r}")

    def _own(self, value: Any, n: int, what: str, positive: bool = False) -> np.ndarray:
        self._refuse_follower(what)
        return self._own_numbers(value, n, what, 0.0 if positive else None)

    def _own_numbers(self, value: Any, n: int, what: str, least: float | None = None) -> np.ndarray:
        """`value` as (n,) finite numbers of this joint."""
        return vector(self._called, what, value, n, least)
