"""Joints whose motion is given, and what any joint carries (docs/motion.md)."""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from mbros_core import State

from mbros.describe.joints.kinds import row_of
from mbros.errors import MbrosError
from mbros.model.joints.facts import Facts
from mbros.spatial.vectors import SpatialForce

if TYPE_CHECKING:
    from mbros.model.reactions import Carried
    from mbros import Body, Model
    from mbros.names import FrameLike
    from mbros_core.typing import Array, ArrayLike
    from typing_extensions import Self

PRESCRIBED = 2.0            # of the state's field `lock`


class Driven(Facts):
    """Needs of its class: model, name, kind, nq, nv, q_slice, v_slice, child, _row."""

    if TYPE_CHECKING:               # of Reading and InState
        model: Model

        @property
        def child(self) -> Body: ...
        def _check_state(self, state: object) -> None: ...
        def _put(self, state: State, q: ArrayLike) -> np.ndarray: ...
        def _own(self, value: ArrayLike, n: int, what: str, positive: bool = False) -> np.ndarray: ...
        def _lock(self, state: State) -> Array: ...

    def prescribe(self, state: State, position: ArrayLike | None = None, velocity: ArrayLike | None = None,
                  acceleration: ArrayLike | None = None) -> Self:
        """From now on it moves as given, whatever force that takes: from `position` (nq,) with `velocity` (nv,), by default those that it
        has, at constant `acceleration` (nv,), by default zero. mobilizer.effort(state) is what it takes. Returns the joint.

        Where a step led to the state and no position is given, another velocity than the joint has is given to it by an impulse, which
        moves the rest of the robot as that of a lock does; elsewhere the state is being set up, and others keep theirs.

        Simulator.prescribe takes motions that are functions of time. Joints whose velocities are not the rates of their positions take a
        constant velocity where that is a motion (ball, floating), and otherwise stand still.
        """
        self._check_state(state)
        self._refuse_welds()
        v = state.v[self.v_slice].copy() if velocity is None else self._own(velocity, self.nv, "velocity")
        a = np.zeros(self.nv) if acceleration is None else self._own(acceleration, self.nv, "acceleration")
        twist = row_of(self._exact_kind).group in ("SO(3)", "SE(3)")
        if not moves_by_polynomials(self) and (a.any() or v.any() and not twist):
            raise MbrosError(f"{self._called}: velocity {v.tolist()} and acceleration {a.tolist()}: the velocities of this kind are not "
                             "the rates of its positions, and do not say where they lead; give sim.prescribe a function of time")
        q = state.q[self.q_slice].copy() if position is None else self._put(state, position)
        moving = position is None and state.field("last_step")[0] > 0.0
        self._follow(state, state.time, q, v, a)
        if moving:
            self._push_to(state, v)
        state.v[self.v_slice] = v
        return self

    def _push_to(self, state: State, v: Array) -> None:
        """Its velocity, of a joint that is prescribed, is v from now on; the rest of the robot gets the impulse of that."""
        change = np.zeros(self.model.nv)
        change[self.v_slice] = v - state.v[self.v_slice]
        if change.any():
            self.model._change_velocities(state, change)
        state.v[self.v_slice] = v

    def _follow(self, state: State, t0: float, q: Array, v: Array, a: Array, c3: ArrayLike = 0.0, c4: ArrayLike = 0.0) -> None:
        """Its law of motion in the state (mbros_core/integrators/prescribed.pxd); a_given only where it is made."""
        lock, motion = self._lock(state), state.field("motion").reshape(-1, 5)[self.v_slice]
        state.field("motion_q")[self.q_slice] = q
        motion[:, 0], motion[:, 1], motion[:, 2], motion[:, 3], motion[:, 4] = t0, v, a, c3, c4
        if not (lock == PRESCRIBED).all():
            lock[:] = PRESCRIBED
            state._a_prev[self.v_slice] = 0.0
        if t0 <= state.time:
            state.field("a_given")[self.v_slice] = a

    def release(self, state: State) -> Self:
        """Dynamic from now on, with the velocity that it has: neither prescribed nor locked. Returns the joint."""
        self._lock(state)[:] = 0.0
        return self

    def _is_prescribed(self, state: State) -> bool:
        return bool(self.nv) and bool((state.field("lock")[self.v_slice] == PRESCRIBED).all())

    def reaction(self, state: State, frame: FrameLike | None = None) -> SpatialForce:
        """What the joint exerted on its child in the step that led to this state, all six components, what drives it included: about the
        child's origin in world axes, or about a frame's origin in that frame's axes; N m and N. Raises StateError where no step led here.

        It is the wrench of the step's own solution, where that takes its forces: in the middle of a midpoint step, at the start of
        semi_implicit_euler's, in the last stage of rk4.
        """
        if self.nv and type(state) is State and state.model is self.model:
            child, k = self.child, -1 if frame is None else self.model._frame_index(frame)
            F = self.model._reaction(state, self._row.compiled_index, child._frame_index, k)
            if F is not None:
                return SpatialForce(F, child.name) if frame is None else SpatialForce(F, *[self.model.frames[k].name] * 2)
        from mbros.model.reactions import within      # start-up time: who does not use it does not pay

        return within(self, state, self._carried(state), frame)

    def _carried(self, state: State) -> Carried:
        from mbros.model.reactions import carried      # start-up time: who does not use it does not pay

        self._check_state(state)
        return carried(f"joint {self.name!r}", self.model, state)

    def _refuse_welds(self) -> None:
        if self.nv == 0:
            raise MbrosError(f"{self._called}: it has no coordinates, and the two bodies are one; expected a joint that moves")


def moves_by_polynomials(joint: Driven) -> bool:
    """Whether constant accelerations are a motion of the joint: its velocities are the rates of its positions, or of an angle."""
    row = row_of(joint._exact_kind)
    return row.velocities_are_rates or row.group == "SO(2)"
