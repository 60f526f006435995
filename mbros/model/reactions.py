"""What joints and constraints carry, about any point and in any axes: of the step that led to a state (mbros_core/reactions.pxi)."""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbros.errors import StateError
from mbros.spatial.vectors import SpatialForce

if TYPE_CHECKING:
    from mbros import Body, Frame, Model
    from mbros.names import FrameLike
    from mbros_core._engine import State
    from mbros_core.typing import Array


def wrenches(who: str, model: Model, state: State) -> tuple[Array, Array, Array]:
    """(F (nb, 6), X_WB (nb, 12), effort (nv,)) of the step that led to the state."""
    found = model._reactions(state)
    if found is None:
        raise StateError(f"{who}: no step of a simulation led to this state (or it was changed since), so nothing is known of what it "
                         "carries; simulate a step (a force follows from the motion, not from where the robot is)")
    return found


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
