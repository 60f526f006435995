"""Joints whose motion is given, and what any joint carries (docs/motion.md)."""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from mbros_core import State

from mbros.describe.joints.kinds import row_of
from mbros.errors import MbrosError
from mbros.spatial.vectors import SpatialForce

if TYPE_CHECKING:
    from mbros.model.joints.joint import Joint
    from mbros.model.reactions import Carried
    from mbros.names import FrameLike
    from mbros_core.typing import Array, ArrayLike

PRESCRIBED = 2.0            # of the state's field `lock`


def prescribe(joint: Joint, state: State, position: ArrayLike | None, velocity: ArrayLike | None, acceleration: ArrayLike | None) -> None:
    """See Joint.prescribe."""
    joint._check_state(state)
    refuse_welds(joint)
    v = state.v[joint.v_slice].copy() if velocity is None else joint._own(velocity, joint.nv, "velocity")
    a = np.zeros(joint.nv) if acceleration is None else joint._own(acceleration, joint.nv, "acceleration")
    twist = row_of(joint._exact_kind).group in ("SO(3)", "SE(3)")
    if not moves_by_polynomials(joint) and (a.any() or v.any() and not twist):
        raise MbrosError(f"{joint._called}: velocity {v.tolist()} and acceleration {a.tolist()}: the velocities of this kind are not "
                         "the rates of its positions, and do not say where they lead; give sim.prescribe a function of time")
    q = state.q[joint.q_slice].copy() if position is None else joint._put(state, position)
    moving = position is None and state.field("last_step")[0] > 0.0
    follow(joint, state, state.time, q, v, a)
    if moving:
        push_to(joint, state, v)
    state.v[joint.v_slice] = v


def push_to(joint: Joint, state: State, v: Array) -> None:
    """The velocity of a joint that is prescribed is v from now on; the rest of the robot gets the impulse of that."""
    change = np.zeros(joint.model.nv)
    change[joint.v_slice] = v - state.v[joint.v_slice]
    if change.any():
        joint.model._change_velocities(state, change)
    state.v[joint.v_slice] = v


def follow(joint: Joint, state: State, t0: float, q: Array, v: Array, a: Array, c3: ArrayLike = 0.0, c4: ArrayLike = 0.0) -> None:
    """Its law of motion in the state (mbros_core/integrators/prescribed.pxd); a_given only where it is made."""
    lock, motion = joint._lock(state), state.field("motion").reshape(-1, 5)[joint.v_slice]
    state.field("motion_q")[joint.q_slice] = q
    motion[:, 0], motion[:, 1], motion[:, 2], motion[:, 3], motion[:, 4] = t0, v, a, c3, c4
    if not (lock == PRESCRIBED).all():
        lock[:] = PRESCRIBED
        state._a_prev[joint.v_slice] = 0.0
    if t0 <= state.time:
        state.field("a_given")[joint.v_slice] = a


def reaction(joint: Joint, state: State, frame: FrameLike | None) -> SpatialForce:
    """See Joint.reaction."""
    if joint.nv and type(state) is State and state.model is joint.model:
        child, k = joint.child, -1 if frame is None else joint.model._frame_index(frame)
        F = joint.model._reaction(state, joint._row.compiled_index, child._frame_index, k)
        if F is not None:
            return SpatialForce(F, child.name) if frame is None else SpatialForce(F, *[joint.model.frames[k].name] * 2)
    from mbros.model.reactions import within      # start-up time: who does not use it does not pay

    return within(joint, state, carried(joint, state), frame)


def carried(joint: Joint, state: State) -> Carried:
    """What the joints carried in the step that led to this state."""
    from mbros.model.reactions import carried as in_step      # start-up time: who does not use it does not pay

    joint._check_state(state)
    return in_step(f"joint {joint.name!r}", joint.model, state)


def refuse_welds(joint: Joint) -> None:
    if joint.nv == 0:
        raise MbrosError(f"{joint._called}: it has no coordinates, and the two bodies are one; expected a joint that moves")


def moves_by_polynomials(joint: Joint) -> bool:
    """Whether constant accelerations are a motion of the joint: its velocities are the rates of its positions, or of an angle."""
    row = row_of(joint._exact_kind)
    return row.velocities_are_rates or row.group == "SO(2)"
