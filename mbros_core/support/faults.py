"""Why a step could not be taken: what is known of it, and no guesses."""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbros_core.engine.checks import LARGEST
from mbros_core.errors import MbrosError, inputs_of, owner, zero_rotation
from mbros_core.forces.diagnosis import fault_cause
from mbros_core.joints.registry import row_of

if TYPE_CHECKING:
    from mbros_core.engine._engine import Dynamics, State
    from mbros_core.typing import Array

LEAST_INERTIA = 1e-16       # kg m^2 or kg: below it is what rounding leaves of a zero, and nothing that was ever meant


def step_fault(model: Dynamics, state: State, dt: float, effort: Array, index: int, raised: str = "") -> str:
    """A Plant's fault in sentences. state: the last good one; effort (nv,) and index: of the step and the coordinate that failed.
    raised: what a user's Python code raised meanwhile; nothing else is then looked for."""
    names, t = model.velocity_names, state.time
    wrong = "" if raised else given_wrong(model, state, effort)
    if wrong:
        return f"the step after t = {t:.6g} s could not be taken: {wrong}. Nothing moves until a reset"
    joint, under = (f"joint {names[index]!r}", f"{effort[index]:g}") if 0 <= index < len(names) else ("the robot", "0")
    cause = f"Cause: {raised}" if raised else known_cause(model, state, dt, effort, index)
    return (f"the state of {joint} would not have stayed finite (or within {LARGEST:g}) in the step after t = {t:.6g} s, under an "
            f"effort of {under}; the last good state is held until a reset. {cause}")


def known_cause(model: Dynamics, state: State, dt: float, effort: Array, index: int = -1) -> str:
    """What is certain about a step from `state` under `effort` (nv,) that failed; index: the coordinate, -1 for any. Works on a copy."""
    state, effort = state.copy(), np.asarray(effort)
    return given_wrong(model, state, effort) or fault_cause(model, state, dt) or _acceleration(model, state, dt, effort, index)


def given_wrong(model: Dynamics, state: State, effort: Array) -> str:
    """A number that a step cannot begin with, or "". No step leaves one in a state: it was written there."""
    for name, array in {**inputs_of(state), "effort": effort}.items():
        bad = np.argwhere(~np.isfinite(array) | (np.abs(array) >= LARGEST if name in ("q", "v") else False))
        if len(bad):
            at = tuple(int(k) for k in bad[0])
            need = f"a finite number below {LARGEST:g}" if name in ("q", "v") else "a finite number"
            return f"{name}[{', '.join(map(str, at))}]{owner(model, name, array, at[0])} is {array[at]:g}; expected {need}"
    return zero_rotation(model, {"q": state.q})


def _acceleration(model: Dynamics, state: State, dt: float, effort: Array, index: int) -> str:
    """Where the accelerations at the beginning of the step lead: to a body without inertia, an effort, the step's length."""
    if not model.nv:
        return "It has no coordinate that could move"
    forced, free = (_accelerations(model, state, tau) for tau in (effort, np.zeros(model.nv)))
    light = _without_inertia(model, state)
    if light:
        return f"Nothing resists {light!r}: what it carries has no mass or moment of inertia there, and it has no rotor inertia"
    if free is None:
        return "Without any effort its acceleration is not finite either, although every number of the state and the parameters is"
    k = index if 0 <= index < model.nv else int(np.abs(state.v + dt * (free if forced is None else forced)).argmax())
    name = model.velocity_names[k]
    there = f"At its beginning the acceleration of {name!r} is"
    if forced is None or abs(state.v[k] + dt * forced[k]) >= LARGEST > abs(state.v[k] + dt * free[k]):
        most = int(np.abs(effort).argmax())
        under = "beyond all numbers" if forced is None else f"{forced[k]:.4g}"
        return (f"{there} {under} under the efforts given, of which {effort[most]:g} on {model.velocity_names[most]!r} is the largest, and "
                f"{free[k]:.4g} without: that effort is far too large for what it moves")
    far = int(np.abs(state.q).argmax())
    if abs(state.q[far]) + dt * np.abs(state.v).max() >= LARGEST:
        return f"{model.position_names[far]!r} is at {state.q[far]:.6g}, and the step would take it beyond {LARGEST:g}: it ran away"
    without = "" if np.array_equal(free, forced) else f", {free[k]:.4g} without any effort"
    return (f"{there} {forced[k]:.4g}{without}, and its velocity {state.v[k]:.4g}: they do not stay so for a step of {dt:g} s. "
            "Try a shorter one")


def _accelerations(model: Dynamics, state: State, effort: Array) -> Array | None:
    """vdot (nv,), or None where it is not finite."""
    try:
        return model.forward_dynamics(state, effort)
    except MbrosError:
        return None


def _without_inertia(model: Dynamics, state: State) -> str:
    """The outermost coordinate whose 1 / (S . U + D0) of the last forward dynamics is that of no inertia at all, or "": what is nearer to
    the world inherits its NaN. Models that share coordinates have no such numbers."""
    D_inverse, column, iv, found = state.field("D_inverse"), 0, 0, ""
    for i in range(0 if max(model.spec.leader) >= 0 else len(model.spec.leader)):
        nv = row_of(model.spec, i).nv
        for k in range(nv):
            if state.field("lock")[iv] == 0.0 and not 0.0 < D_inverse[column + k] < 1.0 / LEAST_INERTIA:
                found = model.velocity_names[iv + k]
        column, iv = column + nv, iv + nv
    return found
