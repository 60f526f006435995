"""Parameters of a model from a recording of the robot's motion: those with which the simulation goes where the robot went."""
from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from mbros_core.support.given import number

from mbros.arguments import check_model, entries
from mbros.errors import MbrosError
from mbros.model.parameters import KINDS
from mbros.study.replay.compare import STEP, trial
from mbros.study.identify.fitting import DELAY_LIMIT, Fit, Fitting
from mbros.study.identify.result import chosen_names
from mbros.study.identify.samples import of_mbros

if TYPE_CHECKING:
    from mbros import Model
    from mbros.describe.devices.bench import BenchLike

FITTED = tuple(kind.name for kind in KINDS if kind.of in ("joint", "body", "element", "model"))


def fit(path: str | PathLike[str], model: Model, parameters: str | Iterable[str], *, states: str | None = None, commands: str | None = None,
        window: float = 0.5, delay: float = 0.0, dt: float | None = None, bench: BenchLike = True) -> Fit:
    """Parameters with which a model moves as a robot did.

    path, states, commands: as of mbros.study.replay.compare.compare. parameters: names ("mass.link7"), kinds ("friction": of every joint),
    and "delay": by how much commands act later than their stamps say. window: parts of so many seconds, each with a start of its own.
    delay: where to begin, or what it is where it is not fitted, s. dt, bench: as of compare; through one the whole recording is
    one window, and derivatives are central differences of whole runs (mbros.study.identify.through_bench).
    Cost: about 15 us for each step, each 7 of directions (parameters and two for each joint) and each iteration; through a bench two steps
    for each parameter, and one for each number of the start.
    MbrosError where the recording says too little of a parameter, or the model has contact or constraints, through which none is fitted.
    """
    check_model("fit", model)
    who = f"fit of model {model.name!r}"
    words = [parameters] if isinstance(parameters, str) else entries(parameters)
    _refuse_devices(who, words or [], model, bench, dt)
    names = chosen_names(who, model, words or parameters, FITTED, ("delay",))
    if len(model.shapes) or len(model.constraints):
        raise MbrosError(f"{who}: it has collision shapes or constraints, and no parameters are fitted through contact and closed loops; "
                         "load it without: collisions=False")
    run = trial(who, path, model, states, commands, window, dt, bench)
    delay = number(who, "delay", delay, -DELAY_LIMIT, DELAY_LIMIT, "s")
    if run.through_bench:
        from mbros.study.identify.through_bench import BenchFitting      # few fits have one

        return BenchFitting(who, model, run, names, delay).run()
    if run.topic in ("/joint_states", "joint_states") and of_mbros(path):
        run.command_times = run.command_times - np.median(np.diff(run.times))          # efforts of the step that led to a state
    return Fitting(who, model, run, names, delay).run()


def _refuse_devices(who: str, words: list[Any], model: Model, bench: BenchLike, dt: float | None) -> None:
    """MbrosError for a number of a device, which is no parameter of the model."""
    from mbros.bench.devices import given_bench      # few fits have one

    dotted = [word for word in words if isinstance(word, str) and word.count(".") > 1]
    layout = given_bench(model, bench, STEP if dt is None else dt) if dotted else None
    for word in dotted:
        if layout is not None and word.rpartition(".")[0] in {part.name for part in layout.parts}:
            raise MbrosError(f"{who}: {word!r} is a number of the bench; expected parameters of the model, or delay. Set it in a bench "
                             "file of your own (--bench FILE), and compare the residuals of several")
