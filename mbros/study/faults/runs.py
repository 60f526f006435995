"""Runs of a fault script: first without a fault, then each case, from the same start with the same random numbers.

So up to the step in which its first fault begins a run is the one without a fault, to the bit, and what comes after is of the faults.
"""
from __future__ import annotations

import hashlib
import os
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from mbros_core.support.available import SMALL, amount, memory_available
from mbros_core.support.numbers import short

from mbros.describe.devices.bench import Bench
from mbros.errors import FaultError, MbrosError, ModelError, NoMemoryError, Problem, unknown
from mbros.names import one_document
from mbros.bench.bench import layout
from mbros.bench.layout import HEAD
from mbros.bench.signal_log import SignalColumns
from mbros.simulate.simulator import Simulator, whole_steps

if TYPE_CHECKING:
    from mbros import Model
    from mbros.describe.devices.fault import Fault
    from mbros.describe.devices.requirement import Requirement
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


@dataclass(frozen=True)
class Limit:
    """A bound on a signal in every step. may_be_missing: of a command that need not be given. requirement: its name in reports, or ""."""

    signal: str
    least: float
    most: float
    may_be_missing: bool = False
    requirement: str = ""


@dataclass(frozen=True)
class TrialCase:
    """Faults that come together, and the requirements that it is judged by: places among those of the script."""

    name: str
    faults: tuple[Fault, ...]
    requirements: tuple[int, ...] = ()


@dataclass
class Trace:
    """What happened. times (n,): the ends of the steps; values (n, m): signals, columns {signal: (first, size)}; active (n, faults): which
    of the case's faults act, and one row more where the next step blew up; commands (u, k): in force after each update of the controller,
    at updates (u,). failed: what ended the run early, in words."""

    case: TrialCase | None
    joints_of_robot: list[str]
    columns: dict[str, tuple[int, int]] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)
    times: Array = field(default_factory=lambda: np.empty(0))
    values: Array = field(default_factory=lambda: np.empty((0, 0)))
    updates: Array = field(default_factory=lambda: np.empty(0))
    commands: Array = field(default_factory=lambda: np.empty((0, 0)))
    active: Array = field(default_factory=lambda: np.empty((0, 0), bool))
    signals: tuple[str, ...] = ()
    joints: tuple[str, ...] = ()
    failed: str = ""
    seed: int = 0

    def of(self, signal: str) -> Array:
        """(n, size)."""
        at, size = self.columns[signal]
        return self.values[:, at:at + size]

    @property
    def states(self) -> Array:
        """(n, joints, 3): true position, velocity and effort."""
        names = [f"{joint}.{word}" for joint in self.joints_of_robot for word in WORDS]
        return np.concatenate([self.values[:, :0], *(self.of(name) for name in names)], axis=1).reshape(
            len(self.times), len(self.joints_of_robot), 3)


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
        self.bench = bench_of_script(script, model)
        self.seed = self.bench.seed if script.seed is None else script.seed
        self.rows = layout(model, self.bench, script.dt).rows
        self.joints = [row.joint for row in self.rows if row.name == f"{row.joint}.position" and row.joint]
        self.commanded = [row.name for row in self.rows if ".command." in row.name]
        problems: list[Problem] = []
        self.limits = self._limits(problems)
        self.criteria = self._criteria(problems)
        self.cases = self._cases(problems)
        self._check_command(problems)
        if problems:
            raise ModelError(problems)
        self.watched = list(dict.fromkeys([*(f"{joint}.{word}" for joint in self.joints for word in WORDS),
                                           *(limit.signal for limit in self.limits),
                                           *(name for _, names in self.criteria for name in names)]))
        sizes = {row.name: row.size for row in self.rows}
        size = 24.0 * steps * (10 + sum(sizes[name] for name in self.watched))         # of two runs, and what is made of them
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

    def _cases(self, problems: list[Problem]) -> list[TrialCase]:
        """Every case, tried on the robot."""
        found: list[TrialCase] = []
        seen: dict[str, int] = {}
        named = {requirement.name for requirement, _ in self.criteria}
        for case in self.script.cases:
            def note(element: object, reason: str, remedy: str, source: Any = case.source) -> None:
                problems.append(Problem(element, reason, remedy, source.file, source.line))

            joints = [""] if case.each is None else [name for name in self.joints if fnmatchcase(name, case.each)]
            if not joints:
                note(case.label, str(unknown("joint", case.each, f"model {self.model.name!r}", self.joints).args[0]),
                     "Give each a joint, or a pattern of joints.")
            for name in case.requirements or ():
                if name not in named:
                    note(case.label, str(unknown("requirement", name, "this script", named).args[0]), "Give one of requirements.")
            for joint in joints:
                try:
                    name, faults = case.made(joint)
                    for fault in faults:
                        if fault.by_hand:
                            note(fault._label, "nothing starts it", "Give it at: ..., or when: ...")
                    layout(self.model, self._with(faults), self.script.dt)
                except ModelError as error:
                    for p in error.problems:
                        note(p.element, p.reason, p.remedy)
                    continue
                seen[name] = seen.get(name, 0) + 1
                if seen[name] == 2:
                    note(f"case {name!r}", "two cases have this name", "Give every case a name of its own: name: ...")
                found.append(TrialCase(name, tuple(faults), tuple(k for k, (one, _) in enumerate(self.criteria) if fnmatchcase(
                    name, one.cases) and (case.requirements is None or one.name in case.requirements))))
        judged = {k for case in found for k in case.requirements}
        for k, (one, _) in enumerate(self.criteria):
            if k not in judged and not problems:
                problems.append(Problem(f"requirement {one.name!r}", "no case is judged by it, so that nothing can break it",
                                        "Look at its cases, and at what the cases say of requirements.", one.source.file, one.source.line))
        return found

    def _criteria(self, problems: list[Problem]) -> list[tuple[Requirement, list[str]]]:
        """Every requirement, and the signals that it is of."""
        found = []
        for one in self.script.requirements:
            known = self.joints if one.of_joints else [row.name for row in self.rows]
            names = [one.pattern] if one.pattern in known else [name for name in known if fnmatchcase(name, one.pattern)]
            if not names:
                what = "joint" if one.of_joints else "signal"
                problems.append(Problem(f"requirement {one.name!r}", str(unknown(what, one.pattern, "this robot and bench", known).args[0]),
                                        "Give a name, or a pattern of names.", one.source.file, one.source.line))
            found.append((one, [f"{name}.position" for name in names] if one.of_joints else names))
        return found

    def _with(self, faults: Sequence[Fault], seed: int | None = None) -> Bench:
        bench = Bench(self.seed if seed is None else seed)
        for part in ("actuators", "sensors", "channels", "sources"):
            setattr(bench, part, getattr(self.bench, part))
        bench.faults = list(self.bench.faults)
        for fault in faults:
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
                              own[1] if most is None else most, requirement=self.script.limits_of)
                if limit.least > -np.inf or limit.most < np.inf:
                    found += [limit, *(self._asked(name, what, limit) if what != "signal" else ())]
        return list(dict.fromkeys(found))

    def _asked(self, joint: str, what: str, limit: Limit) -> list[Limit]:
        """The same of what is asked for: a drive keeps what acts within its limits, whatever is commanded."""
        asked = [replace(limit, signal=name, may_be_missing=True) for name in self.commanded if name == f"{joint}.command.{what}"]
        return asked + [Limit(row.name, 0.0, 0.0, requirement=limit.requirement) for row in self.rows
                        if what == "effort" and row.joint == joint and row.name.endswith(".saturated")]

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

    def run(self, case: TrialCase | None, repetition: int = 0) -> Trace:
        """The whole duration, or until the simulation blows up. Repetitions differ in the seed of all random numbers."""
        seed = seed_of(self.seed, repetition)
        sim = Simulator(self.model, self.script.dt, bench=self._with(() if case is None else case.faults, seed))
        sim.command(**self.script.command)
        controller = self.make(self.model)
        try:
            return self._stepped(sim, controller, Trace(case, self.joints, seed=seed))
        finally:
            controller.close()

    def _stepped(self, sim: Simulator, controller: Controller, run: Trace) -> Trace:
        steps = whole_steps("fault script", self.script.duration, self.script.dt)
        assert sim._bench is not None
        faults = () if run.case is None else run.case.faults
        columns = SignalColumns("fault script", sim._bench, self.watched) if self.watched else None
        activity = SignalColumns("fault script", sim._bench, [f"fault.{fault.name}.active" for fault in faults]) if faults else None
        given = np.array([HEAD + row.at for row in sim._bench.rows if row.name in self.commanded], np.intp)
        values = np.empty((steps, 0 if columns is None else columns.size))
        updates, commands = [], []
        active = np.zeros((steps + 1, len(faults)), bool)
        times = np.empty(steps)
        done = steps
        for k in range(steps):
            if k % self.every == 0:
                if not self._update(sim, controller, run):
                    active[k], done = active[k - 1], k
                    break
                updates.append(sim.time)
                commands.append(sim.plant.devices.block[given])
            try:
                sim.step()
            except FaultError as error:
                run.failed, done = str(error), k
                break
            finally:
                if activity is not None:
                    active[k] = activity.read(sim.plant) != 0.0
            times[k] = sim.time
            if columns is not None:
                values[k] = columns.read(sim.plant)
        run.times, run.values, run.updates = times[:done], values[:done], np.array(updates)
        run.active = active[:done + (1 if run.failed else 0)]
        run.commands = np.array(commands).reshape(len(updates), len(given))
        if columns is not None:
            run.columns, run.units = columns.columns, columns.units
        acting = [sim.faults[fault.name] for fault in faults]
        run.signals = tuple(dict.fromkeys(name for one in acting for name in one.signals))
        run.joints = tuple(dict.fromkeys(name for one in acting for name in one.joints))
        return run

    def _update(self, sim: Simulator, controller: Controller, run: Trace) -> bool:
        """The controller's turn. False: it failed under a fault, which is a finding; without one it is the script that is wrong."""
        try:
            controller.update(sim.time, sim)
        except MbrosError as error:
            if run.case is None or not any(sim.faults[fault.name].count for fault in run.case.faults):
                raise
            run.failed = str(error)
        return not run.failed


def seed_of(seed: int, repetition: int) -> int:
    """Of a repetition; the first has the script's own."""
    if not repetition:
        return seed
    return int.from_bytes(hashlib.sha256(f"{seed} {repetition}".encode()).digest()[:8], "little") >> 1
