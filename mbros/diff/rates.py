"""Time derivatives of the matrices that turn velocities into motion and momentum: of a frame's Jacobian and of the centroidal map.

    Jdot = mbros.diff.jacobian_rate(model, state, "hand")                   # (6, nv): A_WF = J vdot + Jdot v
    A, Adot = mbros.diff.centroidal_map(model, state)                       # (6, nv) each: h = A v, dh/dt = A vdot + Adot v

Both have equations of their own: exact, for every kind of joint and for followers, but not for joints that users write. The momentum's
derivatives by q and v are `derivatives(model, "centroidal_momentum", state)`.
"""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbros.arguments import check_model, check_owner, choice
from mbros.diff.duals import analytic
from mbros.describe.robot import WORLD

if TYPE_CHECKING:
    from mbros import Model
    from mbros.names import FrameLike
    from mbros_core.engine._engine import State
    from mbros_core.typing import Array, ArrayLike

ORDERS = ("angular_linear", "linear_angular")


def jacobian_rate(model: Model, state: State, frame: FrameLike, expressed_in: FrameLike = WORLD, rows: str = "angular_linear", *,
                  q: ArrayLike | None = None, v: ArrayLike | None = None) -> Array:
    """Jdot (6, nv), the time derivative of `model.jacobian(state, frame, expressed_in, rows=rows)` at the velocities of the state.

    Jdot v is the bias acceleration: in world axes `model.acceleration(state, frame, zeros)`. In the frame's own axes ("local") Jdot =
    R^T (Jdot_W - w x J_W), and that of each column's components there, as Pinocchio's LOCAL; "world" is its LOCAL_WORLD_ALIGNED. Units of
    J per second. q (nq,), v (nv,): set the state first, as state.set(q, v) does. Analytic (mbros_core/algorithms/jacobian_rate.pxd),
    O(depth). MbrosError for other axes, NonFiniteError where a number of it is not finite.
    """
    check_model("jacobian_rate", model)
    check_owner("jacobian_rate", model, state)
    if not (type(rows) is str and rows in ORDERS):
        choice(f"jacobian_rate of model {model.name!r}", "rows", rows, ORDERS)
    k = model._frame_table[0].get(frame) if type(frame) is str else None
    if k is None:
        k = model._frame_index(frame)
    local = expressed_in is not WORLD and model._in_own_axes(f"jacobian_rate of model {model.name!r}: expected expressed_in", state, k,
                                                             expressed_in)
    rate: Array = analytic(model, model._jacobian_rate(state, k, local, q=q, v=v))
    return rate if rows == ORDERS[0] else np.concatenate([rate[3:], rate[:3]])


def centroidal_map(model: Model, state: State, *, q: ArrayLike | None = None, v: ArrayLike | None = None) -> tuple[Array, Array]:
    """(A, Adot), (6, nv) each: h = A v is `model.centroidal_momentum`, and its rate dh/dt = A vdot + Adot v.

    Rows: angular about the centre of mass (kg m^2/s per unit of v), then linear, in world axes; Orin, Goswami and Lee (2013) call A
    the centroidal momentum matrix. dh/dt is the sum of all wrenches from outside, gravity included, about the centre of mass. Rotors are
    not in it, as they are not in `centroidal_momentum`. q (nq,), v (nv,): set the state first, as state.set(q, v) does. Analytic
    (mbros_core/algorithms/centroidal_map.pxd), O(nv). MbrosError for models without mass, NonFiniteError where a number of it
    is not finite.
    """
    check_model("centroidal_map", model)
    check_owner("centroidal_map", model, state)
    found = analytic(model, model._centroidal_map(state, q=q, v=v))
    return found[:6], found[6:]
