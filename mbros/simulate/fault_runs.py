"""Runs of a fault script: first without a fault, then with each of them, from the same start with the same random numbers.

So up to the step in which its fault begins a run is the one without a fault, to the bit, and what comes after is of the fault.
"""
from __future__ import annotations

import os
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from mbros_core.available import SMALL, amount, memory_available
from mbros_core.numbers import short

from mbros.describe.devices.bench import Bench
from mbros.errors import FaultError, MbrosError, ModelError, NoMemoryError, Problem, unknown
from mbros.names import one_document
from mbros.simulate.bench import layout
from mbros.simulate.simulator import Simulator, whole_steps

if TYPE_CHECKING:
    from mbros import Model
    from mbros.describe.devices.fault import Fault
    from mbros.describe.devices.script import Script
    from mbros_core.typing import Array

WORDS = ("position", "velocity", "effort")


class Controller(Protocol):
    """What a run asks for commands. One serves one run."""

    def update(self, time: float, sim: Simulator) -> None:
        """Gives commands for what the signals say at this time."""

    def close(self) -> None:
        """The run is over."""


class NoController:
    """What was commanded before the run stays in force."""

    def update(self, time: float, sim: Simulator) -> None:
        """Nothing."""

    def close(self) -> None:
        """Nothing."""


def of_controller(when: str, call: Callable[..., Any], *arguments: Any) -> Any:
    """What the user's code returns; what goes wrong in it is said as its own."""
    try:
        return call(*arguments)
    except Exception as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        raise MbrosError(f"controller {when}: {type(error).__name__}: {error} ({frame.filename}:{frame.lineno})") from error


class CalledController:
    """A function, or an object, of (time, signals) that returns {"position": {joint: value}, ...} or None. A class is made anew for each
    run, from the model."""

    def __init__(self, made: Any, model: Model) -> None:
        self.law = of_controller("when it is made", made, model) if isinstance(made, type) else made

    def update(self, time: float, sim: Simulator) -> None:
        given = of_controller(f"at {time:g} s", self.law, time, sim.signals)
        if given is None:
            return
        if not isinstance(given, dict) or not set(given) <= set(WORDS):
            raise MbrosError(f"controller at {time:g} s: expected {{'position': {{joint: value}}, ...}} or None, got {short(given)}")
        sim.command(**given)

    def close(self) -> None:
        """Nothing."""


@dataclass
class Limit:
    """A bound on a signal in every step. may_be_missing: of a command that need not be given."""

    signal: str
    least: float
    most: float
    may_be_missing: bool = False


@dataclass
class Trace:
    """What happened. times (n,): the ends of the steps; states (n, joints, 3): position, velocity, effort; active (n,), and one more where
    the next step blew up; commands (m, k): in force after each update of the controller, at updates (m,)."""

    fault: Fault | None
    times: Array = field(default_factory=lambda: np.empty(0))
    states: Array = field(default_factory=lambda: np.empty(0))
    bounded: Array = field(default_factory=lambda: np.empty(0))
    updates: Array = field(default_factory=lambda: np.empty(0))
    commands: Array = field(default_factory=lambda: np.empty(0))
    active: Array = field(default_factory=lambda: np.empty(0))
    signals: tuple[str, ...] = ()
    joints: tuple[str, ...] = ()
    blown: str = ""


def bench_of_script(script: Script, model: Model) -> Bench:
    """A file beside the script, or a bench by name."""
    from mbros.build.benches import bench_of      # start-up time: who does not use it does not pay

    if script.bench is None:
        return Bench()
    near = script.near(script.bench)
    is_file = os.path.exists(near) or script.bench.endswith((".yaml", ".yml"))
    found = bench_of("fault script", near if is_file else script.bench, None, model)
    assert found is not None
    return found


class FaultTrial:
    """A script on its robot: what is checked before anything runs, and the runs."""

    @one_document
    def __init__(self, script: Script, model: Model, make: Callable[[Model], Controller]) -> None:
        self.script, self.model, self.make = script, model, make
        steps = whole_steps("fault script", script.duration, script.dt)
        self.every = self._steps_of_controller()
        bench = bench_of_script(script, model)
        self.bench = bench
        self.rows = layout(model, bench, script.dt).rows
        self.joints = [row.joint for row in self.rows if row.name == f"{row.joint}.position" and row.joint]
        self.commanded = [row.name for row in self.rows if ".command." in row.name]
        problems: list[Problem] = []
        self.faults = self._faults(problems)
        self.limits = self._limits(problems)
        self._check_command(problems)
        if problems:
            raise ModelError(problems)
        size = float(steps) * (100 + 200 * (len(self.joints) + len(self.limits)))
        if size > SMALL and size > memory_available():
            raise NoMemoryError(f"fault script: a run of {steps} steps takes {amount(size)} of memory, and "
                                f"{amount(memory_available())} are free. Give a shorter duration, or a longer dt")

    def _steps_of_controller(self) -> int:
        """From one of its turns to the next."""
        rate, dt = self.script.rate, self.script.dt
        every = max(1, whole_steps("fault script, rate", 1.0 / rate, dt))
        if self.script.controller is not None and abs(1.0 / (rate * dt) - every) > 1e-3 * every:
            raise MbrosError(f"fault script: controller: rate is {rate:g} Hz, one turn in {1.0 / (rate * dt):.4g} steps of {dt:g} s; give "
                             f"a rate of whole steps, as {1.0 / ((every + 1) * dt):.6g} or {1.0 / (every * dt):.6g}, or another dt")
        return every

    def _faults(self, problems: list[Problem]) -> list[Fault]:
        """The fault of every case, tried on the robot."""
        found: list[Fault] = []
        for case in self.script.cases:
            names = [""] if case.each is None else [name for name in self.joints if fnmatchcase(name, case.each)]
            if not names:
                problems.append(Problem(f"case {case.words.get('name', case.words.get('kind', ''))!r}", str(unknown(
                    "joint", case.each, f"model {self.model.name!r}", self.joints).args[0]), "Give each a joint, or a pattern of joints.",
                    case.source.file, case.source.line))
            for name in names:
                try:
                    fault = case.fault(name)
                    layout(self.model, self._with(fault), self.script.dt)
                    found.append(fault)
                except ModelError as error:
                    problems += [Problem(p.element, p.reason, p.remedy, case.source.file, case.source.line) for p in error.problems]
        seen: dict[str, int] = {}
        for fault in found:
            seen[fault.name] = seen.get(fault.name, 0) + 1
            if seen[fault.name] == 2:
                problems.append(Problem(fault._label, "two cases have this name", "Give every case a name of its own: name: ...",
                                        fault.source.file, fault.source.line))
            if fault.by_hand:
                problems.append(Problem(fault._label, "nothing starts it", "Give it at: ..., or when: ...", fault.source.file,
                                        fault.source.line))
        return found

    def _with(self, fault: Fault | None) -> Bench:
        bench = Bench(self.bench.seed)
        bench.actuators, bench.sensors, bench.channels = self.bench.actuators, self.bench.sensors, self.bench.channels
        bench.faults = list(self.bench.faults)
        if fault is not None:
            bench.add(fault)
        return bench

    def _limits(self, problems: list[Problem]) -> list[Limit]:
        found: list[Limit] = []
        names = {row.name: row.size for row in self.rows}
        for what, pattern, least, most, source in self.script.limits:
            known = list(names) if what == "signal" else self.joints
            here = [name for name in known if name == pattern or fnmatchcase(name, pattern)]
            if not here:
                problems.append(Problem(f"limits, {what}", str(unknown("signal" if what == "signal" else "joint", pattern,
                                        f"model {self.model.name!r}", known).args[0]), "Give a name, or a pattern of names.",
                                        source.file, source.line))
            for name in here:
                own = (-np.inf, np.inf) if least is not None else self._own(name, what)
                limit = Limit(name if what == "signal" else f"{name}.{what}", own[0] if least is None else least,
                              own[1] if most is None else most)
                found += [limit, *(self._asked(name, limit) if what == "effort" and min(-limit.least, limit.most) < np.inf else ())]
        return [limit for limit in found if limit.least > -np.inf or limit.most < np.inf]

    def _asked(self, joint: str, limit: Limit) -> list[Limit]:
        """The same of the effort that is asked for: a drive keeps the one that acts within its limits, whatever happens."""
        saturated = [Limit(row.name, 0.0, 0.0) for row in self.rows if row.joint == joint and row.name.endswith(".saturated")]
        return [Limit(name, limit.least, limit.most, may_be_missing=True) for name in self.commanded
                if name == f"{joint}.command.effort"] + saturated

    def _own(self, joint: str, what: str) -> tuple[float, float]:
        """What the joint itself has as its limits."""
        limits = self.model.joint(joint).limits
        bound = np.asarray(getattr(limits, what), float).ravel()
        return (float(bound[0]), float(bound[-1])) if bound.size > 1 else (-abs(float(bound[0])), abs(float(bound[0])))

    def _check_command(self, problems: list[Problem]) -> None:
        for word, values in self.script.command.items():
            for joint in values:
                if f"{joint}.command.{word}" not in self.commanded:
                    with_one = sorted({name.partition(".command.")[0] for name in self.commanded})
                    problems.append(Problem("command", str(unknown("joint", joint, "this bench with an actuator", with_one).args[0]),
                                            "Give it an actuator in the bench.", self.script.file, 1))

    # ---------------------------------------------------------------------------------------------------- runs

    def run(self, fault: Fault | None) -> Trace:
        """The whole duration, or until the simulation blows up."""
        sim = Simulator(self.model, self.script.dt, bench=self._with(fault))
        sim.command(**self.script.command)
        controller = self.make(self.model)
        try:
            return self._stepped(sim, controller, fault)
        finally:
            controller.close()

    def _stepped(self, sim: Simulator, controller: Controller, fault: Fault | None) -> Trace:
        script = self.script
        steps = whole_steps("fault script", script.duration, script.dt)
        truth = [[sim.signals[f"{joint}.{word}"] for word in WORDS] for joint in self.joints]
        bounded = [sim.signals[limit.signal] for limit in self.limits]
        given = [sim.signals[name] for name in self.commanded]
        acts = None if fault is None else sim.faults[fault.name]
        run = Trace(fault)
        times, states, seen, updates, commands, active = [], [], [], [], [], []
        for k in range(steps):
            if k % self.every == 0:
                controller.update(sim.time, sim)
                updates.append(sim.time)
                commands.append([signal.sent for signal in given])
            try:
                sim.step()
            except FaultError as error:
                run.blown = str(error)
                active.append(acts is not None and acts.active)
                break
            times.append(sim.time)
            states.append([[signal.value for signal in row] for row in truth])
            seen.append([[np.min(signal.value), np.max(signal.value)] for signal in bounded])
            active.append(acts is not None and acts.active)
        run.times, run.updates = np.array(times), np.array(updates)
        run.states = np.array(states).reshape(len(times), len(self.joints), 3)
        run.bounded = np.array(seen).reshape(len(times), len(bounded), 2)
        run.commands = np.array(commands).reshape(len(updates), len(given))
        run.active = np.array(active, bool)
        if acts is not None:
            run.signals, run.joints = acts.signals, acts.joints
        return run
