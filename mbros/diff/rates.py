"""Time derivatives of the matrices that turn velocities into motion and momentum: of a frame's Jacobian and of the centroidal map.

    Jdot = mbros.diff.jacobian_rate(model, state, "hand")                   # (6, nv): A_WF = J vdot + Jdot v
    A, Adot = mbros.diff.centroidal_map(model, state)                       # (6, nv) each: h = A v, dh/dt = A vdot + Adot v

Jdot is the directional derivative along qdot = N(q) v by dual numbers (mbros_core/dual.hpp), Adot has equations of its own: exact, for
every kind of joint and for followers. The momentum's derivatives by q and v are `derivatives(model, "centroidal_momentum", state)`.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from mbros_core import NonFiniteError
from mbros_core.errors import explain_not_finite, inputs_of
from mbros_core.numbers import short

from mbros.arguments import check_model, check_state, choice
from mbros.diff.duals import Workspace, analytic, workspace
from mbros.errors import MbrosError

if TYPE_CHECKING:
    from mbros import Model
    from mbros.names import FrameLike
    from mbros_core._engine import State
    from mbros_core.typing import Array

ORDERS = ("angular_linear", "linear_angular")


def jacobian_rate(model: Model, state: State, frame: FrameLike, expressed_in: FrameLike = "world", rows: str = "angular_linear") -> Array:
    """Jdot (6, nv), the time derivative of `model.jacobian(state, frame, expressed_in, rows=rows)` at the velocities of the state.

    Jdot v is the bias acceleration: in world axes `model.acceleration(state, frame, zeros)`. In the frame's own axes ("local") Jdot =
    R^T (Jdot_W - w x J_W), and that of each column's components there, as Pinocchio's LOCAL; "world" is its LOCAL_WORLD_ALIGNED. Units of
    J per second. Cost: a dual sweep of one direction. MbrosError for other axes, NonFiniteError where a number of it is not finite.
    """
    who = "jacobian_rate"
    check_model(who, model)
    who = f"{who} of model {model.name!r}"
    check_state(who, model, state)
    choice(who, "rows", rows, ORDERS)
    k = model._frame_index(frame)
    local = not (isinstance(expressed_in, str) and expressed_in == "world")
    if local and not (isinstance(expressed_in, str) and expressed_in == "local") and model._frame_index(expressed_in) != k:
        raise MbrosError(f"{who}: expected expressed_in 'world', 'local' or the frame {model.frames[k].name!r} itself, got "
                         f"{short(expressed_in)}")
    work = workspace(model)
    work.write(state, np.zeros(0))
    J, rate = (x.reshape(6, model.nv) for x in _along_motion(model, work, state, "frame_jacobian", k))
    if local:
        R, w = model._frame_pose(state, k)[:9].reshape(3, 3), J[:3] @ state.v
        rate = np.concatenate([R.T @ (part_rate - np.cross(w, part.T).T)
                               for part, part_rate in ((J[:3], rate[:3]), (J[3:], rate[3:]))])
    return rate if rows == ORDERS[0] else np.concatenate([rate[3:], rate[:3]])


def centroidal_map(model: Model, state: State) -> tuple[Array, Array]:
    """(A, Adot), (6, nv) each: h = A v is `model.centroidal_momentum`, and its rate dh/dt = A vdot + Adot v.

    Rows: angular about the centre of mass (kg m^2/s per unit of v), then linear, in world axes; Orin, Goswami and Lee (2013) call A
    the centroidal momentum matrix. dh/dt is the sum of all wrenches from outside, gravity included, about the centre of mass. Rotors are
    not in it, as they are not in `centroidal_momentum`. Analytic (mbros_core/algorithms/centroidal_map.pxd),
    O(nv). MbrosError for models without mass, NonFiniteError where a number of it is not finite.
    """
    check_model("centroidal_map", model)
    check_state(f"centroidal_map of model {model.name!r}", model, state)
    found = analytic(model, model._centroidal_map(state))
    return found[:6], found[6:]


def _along_motion(model: Model, work: Workspace, state: State, what: str, index: int) -> tuple[Any, Any]:
    """Value, and derivative along qdot of the state's velocities, of what a workspace was written with."""
    direction = [(work.inputs["q"], model.velocity_to_qdot(state, state.v)[None])]
    try:
        value, slope = work.duals.sweep(what, direction, 1, index)
    except NonFiniteError:
        raise NonFiniteError(explain_not_finite(model, f"rate of {what}", inputs_of(state))) from None
    return value, slope[:, 0]
