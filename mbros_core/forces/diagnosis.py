"""Why a result is not finite: the force elements that are the cause, in words.

A bushing measures its rotation by roll, pitch and yaw, which are singular where the pitch is +-90 degrees: the kernel then
gives NaN, and the exceptions made here say which element, how far, and what to do. Force elements written by users report
the exception that their own code raised.
"""
from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from mbros_core.engine.user_code import raised

if TYPE_CHECKING:
    from mbros_core.engine._engine import Dynamics, Model, State
    from mbros_core.typing import Array

BUSHINGS = ("bushing", "bushing_energy_consistent")
LEAST_COS_PITCH = 0.008          # GIMBAL_PER_MILLE of bushing.pxd, which is Drake's tolerance: 0.4584 degrees from lock


# what a law written by a user gives, in order
GIVEN = ("torque[0]", "torque[1]", "torque[2]", "force[0]", "force[1]", "force[2]", "energy", "conservative power",
         "non-conservative power")


def cos_pitch(model: Dynamics, state: State, k: int) -> tuple[float, float]:
    """(sine, cosine >= 0) of the pitch of C in A for bushing k."""
    model._force_element_or_nan(state, k)                       # brings the state's poses up to date
    X_WB = state.field("X_WB")
    R_A, R_C = (X_WB[body, :9].reshape(3, 3) @ np.asarray(model.spec.force_X[k, side, :9]).reshape(3, 3)
                for side, body in enumerate(model.spec.force_body[k]))
    R = R_A.T @ R_C
    return float(-R[2, 0]), float(math.hypot(R[0, 0], R[1, 0]))


def describe(model: Model, k: int) -> str:
    """Element k and its frames, as messages name them."""
    name = model.spec.force_names[k]
    parts = getattr(model, "force_elements", ())
    if k < len(parts) and getattr(parts[k], "frame_a", None) is not None:
        return f"force element {name!r} between frame A {parts[k].frame_a.name!r} and frame C {parts[k].frame_c.name!r}"
    return f"force element {name!r}"


def lock_sentence(model: Dynamics, state: State, k: int) -> str:
    """What gimbal lock of bushing k means and how to get rid of it."""
    sine, cosine = cos_pitch(model, state, k)
    pitch = math.degrees(math.atan2(sine, cosine))
    limit = math.degrees(math.asin(LEAST_COS_PITCH))
    return (f"{describe(model, k)} is at gimbal lock: the pitch of C in A is {pitch:.4f} degrees, |cos(pitch)| = {cosine:.3g}, and "
            f"below {LEAST_COS_PITCH:g} (within {limit:.4f} degrees of +-90 degrees) roll and yaw rates have no meaning. Turn both "
            "frames so that the large rotation is about their x or z axes, raise torque_stiffness[1] so that the pitch stays "
            "small, or take law='quaternion', which has no lock")


def locked(model: Dynamics, state: State) -> list[int]:
    """Indices of the bushings that are at gimbal lock in this state."""
    return [k for k, kind in enumerate(model.spec.force_kind)
            if kind in BUSHINGS and cos_pitch(model, state, k)[1] < LEAST_COS_PITCH]


def user_not_finite(model: Dynamics, state: State) -> str | None:
    """The first force element written by a user whose law gives a number that is not finite in this state."""
    for k, plugin in getattr(model.spec, "user_forces", {}).items():
        _, _, wrench, numbers = model._force_element_or_nan(state, k)
        bad = [f"{name} {x:g}" for name, x in zip(GIVEN, (*wrench, *numbers[3:])) if not math.isfinite(x)]
        if bad:
            law = type(getattr(plugin, "law", plugin)).__name__
            return f"{describe(model, k)}: its law {law} gives {', '.join(bad)} although q and v are finite"
    return None


def cause(model: Dynamics, q: Array, v: Array) -> tuple[str, list[int]] | None:
    """(sentence, indices of locked bushings) when force elements explain a result that is not finite at (q, v), else None."""
    if not len(model.spec.force_kind):
        return None
    failed = raised(model)
    if failed is not None:
        return failed[0], []
    if not (np.isfinite(q).all() and np.isfinite(v).all()):
        return None
    state = model.default_state()
    state.q[:], state.v[:] = q, v
    found = locked(model, state)
    if found:
        return lock_sentence(model, state, found[0]), found
    sentence = user_not_finite(model, state)
    return (sentence, []) if sentence else None


def fault_cause(model: Dynamics, state: State, dt: float) -> str:
    """A sentence for a simulation fault after the good `state`: the force element behind it, or nothing.

    The step may have met the lock on its way, so the configurations half a step and a step ahead are looked at too.
    """
    q, v = np.array(state.q), np.array(state.v)
    for ahead in (0.0, 0.5, 1.0):
        try:
            found = cause(model, model.integrate(q, ahead * dt * v), v)
        except ValueError:
            return ""
        if found is not None:
            return "Cause: " + found[0]
    return ""
