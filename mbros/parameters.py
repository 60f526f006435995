"""Every tunable number of a state by name: gravity, damping.<joint>, friction.<joint>, rotor_inertia.<joint>,
stop_stiffness.<joint>, stop_damping.<joint>, mass.<body>.

Setting one changes the state at once, all of it or nothing. mass.<body> is for compiled bodies (bodies welded together are one,
named after the one that its joint carries); the first moment and the inertia change in proportion.
"""
from __future__ import annotations

import numpy as np

from mbros.errors import MbrosError
from mbros.names import unknown

OF_JOINTS = ("damping", "friction", "rotor_inertia", "stop_stiffness", "stop_damping")


def names(model) -> tuple[str, ...]:
    """In the order of the model."""
    joints = [joint for joint in model.joints if joint.nv and not joint.follows]
    masses = [f"mass.{name}" for name, row in zip(model.spec.body_names, model.spec.inertia) if row[0] > 0.0]
    return ("gravity", *(f"{what}.{joint.name}" for what in OF_JOINTS for joint in joints), *masses)


def of_joint(joint) -> tuple[str, ...]:
    """Those of one joint."""
    return tuple(f"{what}.{joint.name}" for what in OF_JOINTS) if joint.nv and not joint.follows else ()


def get(model, state, name):
    """The value: a number, or (n,)."""
    view = _view(model, state, name)
    return float(view[0]) if len(view) == 1 else view.copy()


def put(model, state, name, value) -> None:
    """Sets it: finite numbers, zero or more except for gravity."""
    view = _view(model, state, name)
    given = np.atleast_1d(np.asarray(value, float))
    if given.shape != view.shape:
        raise MbrosError(f"parameter {name!r} of model {model.name!r}: expected {len(view)} number{'s' * (len(view) > 1)}, got "
                         f"{value!r}")
    low = -np.inf if name == "gravity" else 0.0
    bad = np.flatnonzero(~np.isfinite(given) | (given < low))
    if bad.size:
        k = int(bad[0])
        where = f", coordinate {k}," if len(view) > 1 else ""
        need = "a finite number" if name == "gravity" else "a finite number, zero or more"
        raise MbrosError(f"parameter {name!r} of model {model.name!r}{where} is {given[k]:g}; expected {need}")
    if name.startswith("mass."):
        row = state.field("inertia")[_body(model, name)]
        if row[0] > 0.0:
            row *= given[0] / row[0]
        else:
            row[:] = np.asarray(model.spec.inertia[_body(model, name)]) * (given[0] / model.spec.inertia[_body(model, name)][0])
    else:
        view[:] = given


def _view(model, state, name):
    if getattr(state, "model", None) is not model:
        raise MbrosError(f"model {model.name!r}: expected a state of this model, got {state!r:.60}")
    if name not in names(model):
        raise unknown("parameter", name, f"model {model.name!r}", names(model))
    if name == "gravity":
        return state.gravity
    what, _, of = name.partition(".")
    if what == "mass":
        return state.field("inertia")[_body(model, name)][:1]
    return state.field(what)[model.joint(of).v_slice]


def _body(model, name) -> int:
    return model.spec.body_names.index(name.partition(".")[2])
