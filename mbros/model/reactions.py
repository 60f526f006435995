"""What joints and constraints carry, about any point and in any axes: of the step that led to a state (mbros_core/engine/reactions.pxi)."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mbros.errors import MbrosError, StateError
from mbros.spatial.vectors import SpatialForce

if TYPE_CHECKING:
    from mbros import Body, Frame, Model
    from mbros.names import FrameLike
    from mbros_core.engine._engine import State
    from mbros_core.typing import Array


class Carried(NamedTuple):
    """What the step that led to a state was, where it took its forces: of every compiled body the wrench of its joint about its origin,
    its pose, velocity and acceleration (less gravity); of every coordinate its effort. World axes."""

    F: Array
    effort: Array
    X_WB: Array
    V_WB: Array
    A_WB: Array


def carried(who: str, model: Model, state: State) -> Carried:
    """Of the step that led to the state."""
    found = model._reactions(state)
    if found is None:
        raise StateError(f"{who}: no step of a simulation led to this state (or it was changed since), so nothing is known of what it "
                         "carries; simulate a step (a force follows from the motion, not from where the robot is)")
    return Carried(*found)


def about(model: Model, F: Array, point: Array, X_WB: Array, child: Body | Frame, frame: FrameLike | None) -> SpatialForce:
    """F about a point in world axes, as one about the origin of `child`, or about a frame's in its own axes."""
    name = child.name if frame is None else model.frames[model._frame_index(frame)].name
    R, p = pose_then(model, X_WB, child._frame_index if frame is None else model._frame_index(frame))
    torque, force = F[:3] - np.cross(p - point, F[3:]), F[3:]
    if frame is None:
        return SpatialForce(np.concatenate([torque, force]), name, "world")
    return SpatialForce(np.concatenate([R.T @ torque, R.T @ force]), name, name)


def pose_then(model: Model, X_WB: Array, frame: int) -> tuple[Array, Array]:
    """(R_WF, p_WF) of a row of the frame table, where the step took its forces."""
    X = X_WB[model.spec.frame_body[frame]]
    X_BF = np.asarray(model.spec.X_BF[frame])
    return X[:9].reshape(3, 3) @ X_BF[:9].reshape(3, 3), X[9:] + X[:9].reshape(3, 3) @ X_BF[9:]


def within(joint: Any, state: State, step: Carried, frame: FrameLike | None) -> SpatialForce:
    """What a weld exerts on its child: its joint has no row in the engine, since both bodies are one there. Newton and Euler for the bodies
    beyond it, about the origin of the compiled body."""
    model, one = joint.model, joint._row.compiled_index
    beyond, moving = beyond_weld(joint)
    F = np.zeros(6)
    for k in moving:
        F += moved(step.F[k], step.X_WB[k, 9:], step.X_WB[one, 9:])
    _refuse_unknown(joint, state, beyond)
    whole = float(model.spec.inertia[one, 0])
    scale = float(state.field("inertia")[one, 0]) / whole if whole > 0.0 else 1.0
    for body in model.bodies:
        if body.name in beyond:
            F += scale * rate_of_momentum(body, step, one, *pose_then(model, step.X_WB, body._frame_index))
    for c in model.contacts(state):
        sign = (c.body_b in beyond) - (c.body_a in beyond)
        F -= sign * moved(np.concatenate([c.torque, c.force]), c.point, step.X_WB[one, 9:])
    for constraint in model.constraints:
        if constraint.frame_b is not None:
            sign = (constraint.frame_b.body_name in beyond) - (constraint.frame_a.body_name in beyond)
            _, p = pose_then(model, step.X_WB, constraint.frame_b.index)
            F -= sign * moved(constraint.reaction(state).values, p, step.X_WB[one, 9:])
    return about(model, F, step.X_WB[one, 9:], step.X_WB, joint.child, frame)


def beyond_weld(joint: Any) -> tuple[set[str], list[int]]:
    """Names of the bodies that are one with the child of a weld and beyond it, and the compiled bodies whose joints stand on them."""
    one, joints = joint._row.compiled_index, joint.model.joints
    beyond, last = {joint.child.name}, -1
    while len(beyond) > last:
        last = len(beyond)
        beyond |= {x.child.name for x in joints if x._row.compiled_index == one and x.parent.name in beyond}
    return beyond, [x._row.compiled_index for x in joints if x._row.compiled_index != one and x.parent.name in beyond]


def moved(F: Array, point: Array, to: Array) -> Array:
    """The same wrench about another point."""
    return np.concatenate([F[:3] + np.cross(point - to, F[3:]), F[3:]])


def rate_of_momentum(body: Body, step: Carried, one: int, R: Array, p: Array) -> Array:
    """Of a body on a compiled one, less its weight: torque and force about that one's origin."""
    (alpha, a), w = step.A_WB[one].reshape(2, 3), step.V_WB[one, :3]
    r = p + R @ body.com - step.X_WB[one, 9:]
    I = R @ body.inertia @ R.T
    force = body.mass * (a + np.cross(alpha, r) + np.cross(w, np.cross(w, r)))
    return np.concatenate([I @ alpha + np.cross(w, I @ w) + np.cross(r, force), force])


def _refuse_unknown(joint: Any, state: State, beyond: set[str]) -> None:
    """What acts on the body that two welded ones are, and does not say on which of them."""
    model = joint.model
    for element in model.force_elements:
        for frame in (getattr(element, "frame_a", None), getattr(element, "frame_c", None)):
            if frame is not None and frame.body_name in beyond:
                raise MbrosError(f"{joint._label} ({joint.kind}): force element {element.name!r} acts beyond it, and what it did in the "
                                 "step is not kept; expected none there, or a joint that moves")
    if state.external_force[joint._row.compiled_index].any():
        raise MbrosError(f"{joint._label} ({joint.kind}): an external wrench acts on {model.spec.body_names[joint._row.compiled_index]!r}, "
                         "of which the welded bodies are one; expected none, or a joint that moves")
