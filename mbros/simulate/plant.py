"""The Plant of a model, and how many of its steps a time is."""
from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import mbros_core
from mbros_core import BY_ERROR, DEFAULT_INTEGRATOR, INTEGRATORS
from mbros_core.engine.checks import MOST_STEPS
from mbros_core.constraints.registry import MOST_ITERATIONS
from mbros_core.support.given import step_length
from mbros_core.support.numbers import short
from mbros_core.spec import joint_coordinates

from mbros.arguments import check_model, choice
from mbros.errors import MbrosError

if TYPE_CHECKING:
    from mbros import Model
    from mbros.names import FrameLike
    from mbros_core.engine._engine import State
    from mbros_core.typing import JointRow


def joint_rows(model: Model) -> list[JointRow]:
    """Where the joints of model.joint_state_names are in q and v, in that order, for a Plant."""
    rows = joint_coordinates(model.spec)
    return [rows[joint.compiled_index] for joint in model._compiled.joints if joint.nv == 1]


def make_plant(model: Model, state: State | None = None, dt: float = 1e-3, integrator: str = DEFAULT_INTEGRATOR,
               transform_pairs: Iterable[tuple[FrameLike, FrameLike]] = (),
               max_contact_iterations: int = MOST_ITERATIONS,
               tolerances: tuple[float | None, float | None] | None = None) -> mbros_core.Plant:
    """A Plant of a model: what Simulator steps in Python and mbros_core.realtime.Loop in its own thread.

    transform_pairs: (frame a, frame b), by name or object; snapshots then hold the pose of b in a.
    """
    check_model("simulation", model)
    who = f"simulation of model {model.name!r}"
    choice(who, "integrator", integrator, (*INTEGRATORS, BY_ERROR))
    dt = step_length(who, dt)
    if state is not None:
        model._check_state(state)
    pairs = [(model._frame_index(a), model._frame_index(b)) for a, b in transform_pairs]
    return mbros_core.Plant(model, state, dt, integrator, joint_rows(model), pairs, max_contact_iterations, tolerances)


def whole_steps(who: str, seconds: float, dt: float) -> int:
    """How many steps of dt come nearest to that many seconds."""
    steps = seconds / dt
    if not abs(steps) <= MOST_STEPS:
        raise MbrosError(f"{who}: {seconds:g} s is {steps:.4g} steps of {dt:g} s; expected 2^53 (9.007e15) or fewer, as many as can be "
                         "counted")
    return round(steps)


def check_progress(who: str, progress: object) -> None:
    if progress is not None and not callable(progress):
        raise MbrosError(f"{who}: progress: expected a function of the time, or None, got {short(progress)}")
