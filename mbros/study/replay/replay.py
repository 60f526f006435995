"""Runs a recording again: from its start, under its commands, step for step, and says whether the same comes out (docs/recording.md)."""
from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from mbros_core.support.numbers import short

from mbros.errors import MbrosError, SaveError
from mbros.bench.bench_sources import hardware_columns
from mbros.record.recorded import CHANGED, ReplayError, no_part
from mbros.study.replay.recording_file import RecordingFile
from mbros.simulate.saved import Saved, read
from mbros.simulate.simulator import Simulator
from mbros.record.tape import columns_of

if TYPE_CHECKING:
    from mbros import Bench, Model
    from mbros_core.typing import Array

RESET = 16              # flag of a row (mbros_core.realtime.RESET): the simulation was put there, no step led to it


@dataclass(frozen=True)
class Difference:
    """The first number that differs: after so many steps, of which signal, as recorded and as it came out now."""

    step: int
    signal: str
    recorded: float
    again: float

    def __str__(self) -> str:
        return f"step {self.step}: {self.numbers}"

    @property
    def numbers(self) -> str:
        """The signal, then and now."""
        return f"{self.signal} was {self.recorded!r} and is {self.again!r} now, {self.again - self.recorded:+.3g}"


@dataclass
class ReplayReport:
    """What came out. engine: which one made the recording and which one ran here, where those are two. steps: that were taken again;
    missing: that are not in the recording, in so many gaps; unverified: that were recorded after a gap, before the next state in the
    recording, from which the replay goes on."""

    path: str
    engine: str = ""
    steps: int = 0
    first_difference: Difference | None = None
    missing: int = 0
    gaps: int = 0
    unverified: int = 0

    @property
    def identical(self) -> bool:
        """Every step that was recorded came out the same to the bit, and none is missing."""
        return self.first_difference is None and not self.missing and self.steps > 0

    def __str__(self) -> str:
        if self.first_difference is not None and self.engine:
            return (f"{self.path}: {self.engine}: last digits may differ from step {self.first_difference.step} on; the first: "
                    f"{self.first_difference.numbers}")
        if self.first_difference is not None:
            return f"{self.path}: differs after {self.steps:,} steps: {self.first_difference}"
        if self.missing:
            after = f", and {self.unverified:,} from a gap to the next state could not be run again" if self.unverified else ""
            return (f"{self.path}: bit-identical, {self.steps:,} steps; {self.missing:,} were not recorded, in {self.gaps:,} "
                    f"gap{'s' * (self.gaps != 1)}{after}")
        return f"{self.path}: bit-identical, {self.steps:,} steps" if self.steps else f"{self.path}: no step is in it"


class Again:
    """A simulator that does once more what a recording says was done."""

    def __init__(self, file: RecordingFile, model: Model, bench: Any) -> None:
        head = file.start.header
        file.start.check_model(model)               # before anything is made of it
        if head["bench"] and bench is None:
            bench = file.bench(model)
        self.sim = Simulator(model, head["dt"], head["integrator"], bench=bench, **file.start.tolerances())
        self.plant = self.sim.plant
        file.start.check(model, self.sim.dt, self.sim.integrator)
        file.start.check_company(self.sim._bench_digest(), self.sim._bench, head["motions"])     # whose numbers are in the recording
        self._loop: Any = None
        self._pushes: Any = None
        self.begin(file.start)
        every = columns_of(model, self.plant, self.sim._bench)
        place = dict(zip(every.names, [*(("x", k) for k in every.in_snapshot), *(("bench", k) for k in every.in_bench)], strict=True))
        self._commanded: Any = None
        if head["bench"] and not file.about.get("simulator"):
            from mbros_core.plant._commanded import CommandedPlant      # recordings of a node only

            self.plant.devices._drive(True)
            self._commanded = CommandedPlant(self.plant)
        self.commands = model.nv if self._commanded is None else 4 * model.nv
        self.names = list(file.fields.values())[self.commands:]
        unknown = [name for name in self.names if name not in place]
        if unknown:
            raise ReplayError(f"{file.path}: signal {short(unknown[0])} is not one of this robot and bench")
        if len(file.fields) < self.commands:
            raise no_part(file.path, f"it names {len(file.fields)} signals, expected the {self.commands} numbers of a command first")
        self._in_x = [k for k, name in enumerate(self.names) if place[name][0] == "x"]
        self._in_bench = [k for k, name in enumerate(self.names) if place[name][0] == "bench"]
        self._at_x = [place[self.names[k]][1] for k in self._in_x]
        self._at_bench = [place[self.names[k]][1] for k in self._in_bench]
        self._hardware = [] if self._commanded is None or self.sim._bench is None else self.sim._bench.sources
        self._fed = [[self.names.index(name) for name, _, _ in hardware_columns(row)] for row in self._hardware]

    def seen(self) -> Array:
        """The signals now, in the order of the recording."""
        numbers = np.empty(len(self.names))
        numbers[self._in_x] = self.plant.observe()[self._at_x]
        if self._in_bench:
            numbers[self._in_bench] = self.plant.devices.block[self._at_bench]
        return numbers

    def feed(self, recorded: Array) -> None:
        """The samples of hardware that came before this row, as they came; of a node."""
        if not self._fed:
            return
        now = self.seen()
        for k, (samples, *sample) in enumerate(self._fed):
            more = float(recorded[samples]) - float(now[samples])
            if more > 1.0:
                raise ReplayError(f"{more:.0f} samples of hardware came between two steps, as they do in a pause, for joint "
                                  f"{self._hardware[k].joint!r}, and a recording holds the newest of them; record while it runs, "
                                  "or feed no more than one sample to a step")
            if more == 1.0:
                self.plant.devices._feed(k, *map(float, recorded[sample]))

    def begin(self, of: Saved) -> None:
        """At a save, what pushes the robot among it."""
        of.put_into(self.plant, self.sim.start)
        table = of.disturbances()
        if self._pushes is not None or table.any():
            self.pushes.put(table)
            self.pushes.post(table)         # over what was on its way when the save was put back

    def go_on_from(self, data: str) -> None:
        """A save that was put back meanwhile; SaveError where it is not of this simulation."""
        try:
            of = read(base64.b64decode(data))
        except binascii.Error as e:
            raise SaveError(f"the save in it is no base64: {e}") from e
        of.check(self.sim.model, self.sim.dt, self.sim.integrator)
        of.check_company(self.sim._bench_digest(), self.sim._bench, of.header["motions"])
        self.begin(of)

    def event(self, what: dict[str, Any]) -> None:
        """What somebody changed between two steps, as event_of() has it. MbrosError where that cannot be."""
        kind = what.get("kind")
        if kind == "change":
            self.change({name: what[name] for name in CHANGED if name in what})
        elif kind == "start":
            self.go_on_from(what["data"])
        elif kind == "parameters":
            self.loop.set_parameters(what["block"])
        elif kind == "reset":
            self.loop.reset(what["q"], what["v"])
        elif kind == "disturbances":
            self.pushes.post(what["table"])
        elif kind == "set_state":
            self.loop.set_state(what["q"], what["v"])
        elif kind == "state":
            self.go_on_from(what["data"])
        else:
            raise ReplayError(f"its kind is {short(kind)}, which this version of mbros does not know")

    def change(self, changed: dict[str, tuple[np.ndarray, Array]]) -> None:
        """Other numbers at some places; MbrosError, and none of them, where one is not there, or is none that a state can hold."""
        pushing = np.array(self.pushes.table) if "disturbances" in changed else np.empty((0, 0))
        there = {"state": self.plant.state._inputs, "devices": getattr(self.plant.devices, "block", np.empty(0)),
                 "disturbances": pushing.reshape(-1)}
        for name, (at, values) in changed.items():
            x = there[name]
            if at.size and at.max() >= x.size:
                raise MbrosError(f"{name} has {x.size} numbers here, and the one at {at.max()} is changed")
            if name != "devices" and not np.isfinite(values).all():
                raise MbrosError(f"{name} is given a number that is not finite")
        for name, (at, values) in changed.items():
            there[name][at] = values
        if "disturbances" in changed:
            self.pushes.put(pushing)

    @property
    def pushes(self) -> Any:
        """What disturbances act through."""
        if self._pushes is None:
            from mbros_core.plant._pushes import Pushes      # few recordings have some

            self._pushes = Pushes(self.plant)
        return self._pushes

    @property
    def loop(self) -> Any:
        """The loop that never runs: what it is asked for it does at once, as it did then."""
        if self._loop is None:
            from mbros_core.realtime import Loop      # recordings of a node only

            self._loop = Loop(self._commanded or self.plant, watchdog_timeout=None)
        return self._loop

    def step(self, tau: Array) -> None:
        (self._commanded or self.plant).step(tau)


def replay(path: str | PathLike[str], verify: bool = True, *, model: Model | None = None, bench: Bench | str | PathLike[str] | None = None,
           progress: Callable[[int], Any] | None = None) -> ReplayReport:
    """Run a recording again from its start under its commands, and compare every recorded signal to the bit.

    path: what Simulator.record() or the node wrote. model: by default the one that is attached. bench: needed where it had one.
    progress: a function of the steps taken again, called every 1000. `report.identical`, `report.steps`, `report.first_difference`.
    ReplayError where it cannot be run again, SaveError where the model or the bench is another one.
    """
    if verify is not True:
        raise MbrosError(f"replay: verify: expected True, got {short(verify)}; mbros.study.replay.compare compares with a real robot")
    file = RecordingFile(path)
    try:
        again = Again(file, file.model() if model is None else model, bench)
        return run_again(file, again, ReplayReport(str(path), file.start.another_engine(again.sim.model)), progress)
    finally:
        file.close()


def run_again(file: RecordingFile, again: Again, report: ReplayReport, progress: Callable[[int], Any] | None) -> ReplayReport:
    n = again.commands
    last: int | None = None if file.about.get("simulator") else int(file.start.header.get("loop", {}).get("step", 0))
    jumped = lost = False           # lost: steps are missing, and no state has come since
    for kind, what in file:
        if kind == "event":
            if what.get("kind") == "state":
                at = _step_of(file, what)
                if last is not None and at > last:
                    report.missing, report.gaps = report.missing + at - last, report.gaps + (not lost)
                last, lost = at, False
            elif lost and what.get("kind") != "start":
                continue                    # a change of what is not known
            lost = False
            _do_again(file, again, what)
            jumped = jumped or what.get("kind") in ("start", "reset") or ("state" in what and what.get("kind") == "change")
            continue
        step, flags, x = what
        taken = last is not None and not flags & RESET and not (report.steps == 0 and step == last and not jumped)
        if taken and last is not None and step != last + 1 and not jumped:
            report.missing, report.gaps = report.missing + max(step - last - 1, 1), report.gaps + (not lost)
            lost = True
        if lost:
            report.unverified, last = report.unverified + 1, step
            continue
        try:
            again.feed(x[n:])
            if taken:
                again.step(x[:n].copy())
        except MbrosError as e:
            raise ReplayError(f"{file.path}: after {report.steps:,} steps, what it says of step {step} cannot be done again: {e}") from e
        report.steps += taken
        now, recorded = again.seen(), x[n:]
        differ = np.flatnonzero(now.view(np.int64) != np.ascontiguousarray(recorded).view(np.int64))
        if differ.size:
            k = int(differ[0])
            report.first_difference = Difference(step, again.names[k], float(recorded[k]), float(now[k]))
            return report
        last, jumped = step, False
        if progress is not None and report.steps % 1000 == 0:
            progress(report.steps)
    return report


def _step_of(file: RecordingFile, what: dict[str, Any]) -> int:
    """After how many steps a state was."""
    step = what.get("step")
    if type(step) is not int or step < 0:
        raise no_part(file.path, f"a state is of step {short(step)}")
    return step


def _do_again(file: RecordingFile, again: Again, what: dict[str, Any]) -> None:
    try:
        again.event(what)
    except MbrosError as e:
        raise no_part(file.path, f"an event {short(what)} is not of this robot and bench: {e}") from e
