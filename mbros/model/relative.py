"""Velocities and Jacobians as seen from frames that move, of points, and in the axes of any frame.

With P the point and A the frame from which it is seen, in world axes:

    w_AF = w_WF - w_WA,   v_AP = v_WF + w_WF x p_FP - v_WA - w_WA x p_AP                                                         (1)
"""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbros.arguments import vector
from mbros.errors import MbrosError
from mbros.names import hint
from mbros.spatial.vectors import SpatialVelocity

if TYPE_CHECKING:
    from mbros import Model
    from mbros.names import FrameLike
    from mbros_core.engine._engine import State
    from mbros_core.typing import Array, ArrayLike


def velocity(model: Model, state: State, frame: FrameLike, relative_to: FrameLike, expressed_in: FrameLike, q: ArrayLike | None,
             v: ArrayLike | None) -> SpatialVelocity:
    """Model.velocity, where it is not that of the world."""
    f, a, e = _rows("velocity", model, state, frame, relative_to, expressed_in)
    V_F = model._frame_velocity(state, f, q=q, v=v)
    V_A = model._frame_velocity(state, a)
    p_AF = model._frame_pose(state, f)[9:] - model._frame_pose(state, a)[9:]
    V = V_F - V_A
    V[3:] -= np.cross(V_A[:3], p_AF)
    R = model._frame_pose(state, e)[:9].reshape(3, 3)
    names = model._frame_table[1]
    return SpatialVelocity((V.reshape(2, 3) @ R).ravel(), names[f], names[e])


def jacobian(model: Model, state: State, frame: FrameLike, relative_to: FrameLike, expressed_in: FrameLike, point: ArrayLike | None,
             q: ArrayLike | None, v: ArrayLike | None) -> Array:
    """Model.jacobian, where it is not that of a frame's origin in the world."""
    f, a, e = _rows("jacobian", model, state, frame, relative_to, expressed_in)
    p_FP = np.zeros(3) if point is None else vector(f"model {model.name!r}: jacobian", "point", point, 3)
    J = model._frame_jacobian(state, f, q=q, v=v)
    J_A = model._frame_jacobian(state, a)
    X_F, X_A = model._frame_pose(state, f), model._frame_pose(state, a)
    arm = X_F[:9].reshape(3, 3) @ p_FP
    J[3:] += np.cross(J[:3], arm, axis=0) - J_A[3:] - np.cross(J_A[:3], X_F[9:] + arm - X_A[9:], axis=0)
    J[:3] -= J_A[:3]
    R = model._frame_pose(state, e)[:9].reshape(3, 3)
    return np.vstack([R.T @ J[:3], R.T @ J[3:]])


def _rows(who: str, model: Model, state: State, frame: FrameLike, relative_to: FrameLike, expressed_in: FrameLike) -> tuple[int, int, int]:
    """Rows of the frame table: of the frame, of that from which it is seen, and of that whose axes are meant."""
    f, a = model._row(state, frame), model._row(state, relative_to)
    if isinstance(expressed_in, str) and expressed_in not in model._frame_table[0]:
        if expressed_in != "local":
            raise MbrosError(f"{who}: expressed_in: expected 'world', 'local' or a frame of model {model.name!r}, got {expressed_in!r}"
                             f"{hint(expressed_in, ('local', *model.frames.names))}")
        return f, a, f
    return f, a, model._frame_index(expressed_in)
