"""Lockstep: a simulator and its controllers, each asked in its turn and none too early or too late (docs/lockstep.md)."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from mbros_core.support.given import number, reals
from mbros_core.support.numbers import short

from mbros.errors import MbrosError, WrongTypeError, unknown
from mbros.model.shown import Shown
from mbros.names import plural
from mbros.simulate.simulator import check_progress, whole_steps

if TYPE_CHECKING:
    from mbros import Simulator
    from mbros.bench.signals import Signals
    from mbros_core.engine._engine import State
    from mbros_core.typing import Array, Progress

    Commands = Mapping[str, Any] | Array | None
    Controller = Callable[[State], Commands] | Callable[[Signals], Commands]

WORDS = ("position", "velocity", "effort")
MOST = 1 << 31           # steps of a ratio: its products stay far below 2^63


def due(step: int, n: int, m: int) -> bool:
    """Whether who is asked in n of m steps is asked in this one: in step 0, and then as evenly as whole steps allow."""
    return step * n % m < n


@dataclass(frozen=True)
class Turn:
    """A controller that is asked in n of m steps."""

    controller: Any
    n: int
    m: int

    @property
    def name(self) -> str:
        return str(getattr(self.controller, "__qualname__", type(self.controller).__name__))

    def of(self, seen: Any) -> Callable[[float, State], Any]:
        """The controller as a law of (time, state), which sees what it is to see."""
        return lambda time, state: self.controller(seen)


def turn_of(controller: object, ratio: object) -> Turn:
    """The turn of a controller; errors name it and what was given."""
    if not callable(controller):
        raise WrongTypeError(f"Lockstep: controller: expected a function of the state or of the signals, got {short(controller)}")
    turn = Turn(controller, 1, 1)
    if not isinstance(ratio, tuple) or len(ratio) != 2 or not all(type(x) is int for x in ratio):
        raise WrongTypeError(f"Lockstep: controller {turn.name}: expected (n, m), two whole numbers: asked in n of m steps, got "
                             f"{short(ratio)}")
    n, m = ratio
    if not 1 <= n <= m <= MOST:
        raise MbrosError(f"Lockstep: controller {turn.name}: asked in {n} of {m} steps; expected 1 <= n <= m <= {MOST}: at most once a "
                         "step; for more give the simulator a shorter dt")
    return Turn(controller, n, m)


class Lockstep(Shown):
    """Steps a simulator together with its controllers: mbros.Lockstep(sim, {controller: (n, m)}).

    A controller is a function that is called in n of m steps, before the step: in step 0, and from there as evenly as whole steps allow;
    (1, 3) is every third step, (333, 1000) at 1000 Hz is 333 Hz. It is given `sim.signals`, or, where the simulator has no bench, the
    state, and returns what it commands from this step on: {joint: effort} or efforts (nv,), N m or N; with a bench {"position": {joint:
    value}, "velocity": ..., "effort": ...}, as of sim.command. None, a joint that is not named and NaN leave what is in force.

    All who are due see the same state, and are asked in the order given; what they command acts in the step that follows, and where two
    name the same joint the later one does. Nothing here looks at a clock: two runs give the same bits. Steps are those of the simulator
    since its last reset, so that what goes on from a save goes on in turn.
    """

    def __init__(self, simulator: Simulator, controllers: Mapping[Controller, tuple[int, int]]) -> None:
        if not isinstance(controllers, Mapping):
            raise WrongTypeError(f"Lockstep: controllers: expected {{controller: (n, m)}}, got {short(controllers)}")
        self.simulator = simulator
        self._turns = [turn_of(controller, ratio) for controller, ratio in controllers.items()]
        self._by_signals = simulator._bench is not None     # also where a fault or source brings one later
        self._efforts = np.zeros(simulator.model.nv)
        self._expected = -1

    def __repr__(self) -> str:
        of = "".join(f", {turn.name} in {turn.n} of {turn.m}" for turn in self._turns)
        return f"<Lockstep of {self.simulator.model.name!r}: {plural(self.steps, 'step')}{of}>"

    @property
    def steps(self) -> int:
        """Steps of the simulator since its last reset: the number of the step that comes next."""
        return int(self.simulator.state.field("clock")[1])

    def step(self) -> None:
        """Ask those whose turn it is, then take a step under what is commanded."""
        sim, k = self.simulator, self.steps
        if k != self._expected:                             # the first one, or after a reset or restore
            self._efforts[:] = sim.plant.effort
        seen: Any = sim.signals if self._by_signals else sim.state
        answers = [(turn, sim.plant.under(turn.of(seen))) for turn in self._turns if due(k, turn.n, turn.m)]
        for turn, answer in answers:
            if answer is not None:
                (self._command if self._by_signals else self._take)(turn, answer)
        sim.step(None if self._by_signals else self._efforts)
        self._expected = k + 1

    def _take(self, turn: Turn, answer: Any) -> None:
        """Efforts, by joint or for all coordinates."""
        model = self.simulator.model
        if not isinstance(answer, Mapping):
            efforts = reals(f"controller {turn.name}", "efforts", answer)
            if efforts.shape != (model.nv,):
                raise MbrosError(f"Lockstep: controller {turn.name} returned an array of shape {efforts.shape}; expected ({model.nv},), "
                                 "{joint: effort} or None")
            self._efforts = np.where(np.isnan(efforts), self._efforts, efforts)
            return
        for name, effort in answer.items():
            own = model.joint(name).v_slice
            if not np.isnan(reals(f"controller {turn.name}", name, effort)).any():
                self._efforts[own] = model.effort_vector({name: effort})[own]

    def _command(self, turn: Turn, answer: Any) -> None:
        """Commands of a bench's actuators."""
        if not isinstance(answer, Mapping):
            raise WrongTypeError(f"Lockstep: controller {turn.name} returned {short(answer)}; expected {{\"position\": {{joint: value}}}}, "
                                 "and velocity and effort alike, or None")
        for word in answer:
            if word not in WORDS:
                raise unknown("word", word, f"what controller {turn.name} returned", WORDS)
        self.simulator.command(**answer)

    def run(self, duration: float, progress: Progress | None = None) -> None:
        """So many seconds, to the nearest step. progress: a function of the time, s, called after every 100 steps."""
        steps = whole_steps("Lockstep.run", number("Lockstep.run", "duration", duration, 0.0), self.simulator.dt)
        check_progress("Lockstep.run", progress)
        for k in range(steps):
            self.step()
            if progress is not None and k % 100 == 99:
                progress(self.simulator.time)
