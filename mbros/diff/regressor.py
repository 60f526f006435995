"""The joint-torque regressor: inverse dynamics as a matrix over inertial parameters, friction and rotor inertias.

    Y = mbros.diff.regressor(model, q, v, vdot)             # (nv, p), or (n, nv, p) of n rows
    tau = Y @ mbros.diff.regressor_parameters(model)        # inverse dynamics, less force elements, stops and wrenches

Columns: ten for each compiled body but the world, (m, m c, Ixx Iyy Izz Ixy Ixz Iyz) about its origin in its axes, those of the link, then
damping, Coulomb friction and rotor inertia, nv each. `regressor_names(model)` has their names: "m.link7", "mcx.link7", "Ixy.link7",
"damping.joint2", "friction.joint2", "rotor_inertia.joint2", with [k] behind joints of several velocities. Friction is the engine's,
v / sqrt(v^2 + v_s^2) with v_s = 1 mrad/s or 1 mm/s. Gravity is that of the state given, by default the model's.

Cost: one sweep over the tree and 60 multiplications for each body and each joint that carries it.
"""
from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np
from mbros_core import Regressor
from mbros_core.support.available import Room
from mbros_core.support.given import room

from mbros.arguments import check_model, check_state, finite, reals
from mbros.errors import MbrosError, NonFiniteError
from mbros.spatial import body_numbers

if TYPE_CHECKING:
    from mbros import Model
    from mbros_core.engine._engine import State
    from mbros_core.typing import Array, ArrayLike

OF_A_BODY = ("m", "mcx", "mcy", "mcz", "Ixx", "Iyy", "Izz", "Ixy", "Ixz", "Iyz")
OF_A_JOINT = ("damping", "friction", "rotor_inertia")


def regressor(model: Model, q: ArrayLike, v: ArrayLike, vdot: ArrayLike, *, state: State | None = None, out: Array | None = None) -> Array:
    """Y with tau = Y pi: (nv, p) for q (nq,), v and vdot (nv,); (n, nv, p) for rows of them. SI units.

    state: whose gravity acts; by default the model's. out: a C-contiguous float64 array of the result's shape, written over and returned.
    MbrosError for sizes that do not fit, NonFiniteError where a number is not finite; `out` may be written to then.
    """
    check_model("regressor", model)
    if out is None:
        found: Array | None = _engine(model).point(q, v, vdot, state)       # one point, and nothing wrong
        if found is not None:
            return found
    who = f"regressor of model {model.name!r}"
    points, single = _points(who, model, q=(q, model.nq), v=(v, model.nv), vdot=(vdot, model.nv))
    engine = _engine(model)
    if state is not None:
        check_state(who, model, state)
    engine.state.field("gravity")[:] = model.spec.gravity if state is None else state.field("gravity")
    n = len(points[0])
    shape = (n, model.nv, engine.columns)
    if out is None:
        with Room(who, *shape):
            out = np.empty(shape[1:] if single else shape)
    else:
        out = room(who, "out", out, shape[1:] if single else shape)
    at, speed, rate = points
    bad = engine.compute(at, speed, rate, out[None] if single else out)
    if bad >= 0:
        raise NonFiniteError(f"{who}: {'' if single else f'point {bad} of {n}: '}a number of it is not finite: q, v or vdot is too large")
    return out


def regressor_parameters(model: Model, state: State | None = None) -> Array:
    """pi (p,): what the columns of `regressor` are multiplied with, of a state, by default the model's own."""
    check_model("regressor_parameters", model)
    state = model.default_state() if state is None else state
    check_state(f"regressor_parameters of model {model.name!r}", model, state)
    rows = [body_numbers.own(row[None], X_CB) for row, X_CB in zip(state.field("inertia")[1:], frames(model)[1:])]
    return np.concatenate([np.zeros(0), *(row[0] for row in rows), *(state.field(name) for name in OF_A_JOINT)])


def regressor_names(model: Model) -> tuple[str, ...]:
    """The names of the columns of `regressor`."""
    check_model("regressor_names", model)
    bodies = [f"{number}.{body}" for body in model.spec.body_names[1:] for number in OF_A_BODY]
    return tuple(bodies) + tuple(f"{kind}.{name}" for kind in OF_A_JOINT for name in coordinate_names(model))


def _engine(model: Model) -> Regressor:
    """This thread's."""
    local = model.__dict__.get("_regressors")
    if local is None:
        local = model.__dict__.setdefault("_regressors", threading.local())
    if not hasattr(local, "engine"):
        local.engine = Regressor(model, frames(model))
    engine: Regressor = local.engine
    return engine


def frames(model: Model) -> Array:
    """X_CB (nb, 12) of compiled bodies: the frame of each in the engine's own."""
    world = np.concatenate([np.eye(3).ravel(), np.zeros(3)])
    return np.array([world, *(body_numbers.place(model, name) for name in model.spec.body_names[1:])])


def coordinate_names(model: Model) -> list[str]:
    """Of each velocity, the name of its joint, with [k] where that has several."""
    names = [""] * model.nv
    for joint in model.joints:
        if joint.nv and not joint.follows:
            for k in range(joint.nv):
                names[joint.v_slice.start + k] = joint.name if joint.nv == 1 else f"{joint.name}[{k}]"
    return names


def _points(who: str, model: Model, **given: Any) -> tuple[list[Array], bool]:
    """C-contiguous (n, size) float64 arrays of as many rows each, and whether all were single ones."""
    rows, single = [], True
    for name, (x, size) in given.items():
        values = finite(who, name, reals(who, name, x, f"({size},), or (n, {size})"))
        if values.ndim not in (1, 2) or values.shape[-1] != size:
            raise MbrosError(f"{who}: {name}: expected {size} numbers, or (n, {size}) of them, got shape {values.shape}")
        single = single and values.ndim == 1
        rows.append(np.atleast_2d(values))
    n = max(len(x) for x in rows)
    for name, x in zip(given, rows):
        if len(x) not in (1, n):
            raise MbrosError(f"{who}: {name}: expected {n} rows, as many as the others, or one for all, got {len(x)}")
    return [np.ascontiguousarray(np.broadcast_to(x, (n, x.shape[1]))) for x in rows], single
