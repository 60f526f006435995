"""What a fault script found out, in words and numbers: the same script gives the same report, to the letter."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import numpy as np
from mbros_core.injected.registry import ROWS

from mbros.names import printable

if TYPE_CHECKING:
    from mbros.simulate.fault_runs import Limit, Trace, FaultTrial

KEPT, BROKEN, SILENT, BLOWN = "kept", "broken", "never began", "blew up"


@dataclass
class Broken:
    """A limit that was not kept: how far its signal went (None: it had no number), and when it did so first."""

    signal: str
    value: float | None
    bound: float | None
    time: float

    def __str__(self) -> str:
        if self.value is None:
            return f"{self.signal} had no value at {self.time:.4g} s, so nothing says that it kept its bound"
        return f"{self.signal} reached {self.value:.4g}, bound {self.bound:.4g}, at {self.time:.4g} s first"


@dataclass
class Result:
    """One case. Times are s; None: never. reacted: after the beginning, when a command differed from that of the run without the fault;
    settled: after the end, from when on the robot was where it was without the fault; peaks: {word: largest |command| before, after}."""

    name: str
    kind: str = ""
    target: str = ""
    joints: tuple[str, ...] = ()
    signals: tuple[str, ...] = ()
    began: float | None = None
    ended: float | None = None
    reacted: float | None = None
    settled: float | None = None
    deviation: float = 0.0
    peaks: dict[str, tuple[float, float]] = field(default_factory=dict)
    broken: list[Broken] = field(default_factory=list)
    blown: str = ""

    @property
    def verdict(self) -> str:
        if self.blown:
            return BLOWN
        return BROKEN if self.broken else SILENT if self.kind and self.began is None else KEPT

    @property
    def good(self) -> bool:
        return self.verdict == KEPT

    def as_dict(self) -> dict[str, Any]:
        return {**{name: getattr(self, name) for name in ("name", "kind", "target", "joints", "signals", "began", "ended", "reacted",
                                                          "settled", "deviation", "peaks", "blown", "verdict")},
                "broken": [vars(each) for each in self.broken]}


@dataclass
class Report:
    """baseline: the run without a fault."""

    robot: str
    duration: float
    baseline: Result
    results: list[Result]

    @property
    def good(self) -> bool:
        return self.baseline.good and all(result.good for result in self.results)

    def coverage(self) -> tuple[list[str], list[str], dict[tuple[str, str], str]]:
        """(joints and sensors, kinds, {(one, kind): verdict}), the worst verdict where several cases were of both."""
        kinds = [row.name for row in ROWS if any(result.kind == row.name for result in self.results)]
        worst = [KEPT, SILENT, BROKEN, BLOWN]
        found: dict[tuple[str, str], str] = {}
        for result in self.results:
            for thing in seen_by(result):
                before = found.get((thing, result.kind), KEPT)
                found[thing, result.kind] = max(before, result.verdict, key=worst.index)
        return list(dict.fromkeys(thing for thing, _ in found)), kinds, found

    def as_dict(self) -> dict[str, Any]:
        things, kinds, found = self.coverage()
        return {"robot": self.robot, "duration": self.duration, "baseline": self.baseline.as_dict(),
                "cases": [result.as_dict() for result in self.results],
                "coverage": {thing: {kind: found[thing, kind] for kind in kinds if (thing, kind) in found} for thing in things}}

    def junit(self) -> str:
        """As JUnit XML; times are simulated, so that two reports of the same are the same."""
        cases = [self.baseline, *self.results]
        suite = ElementTree.Element("testsuite", name=f"faults of {self.robot}", tests=str(len(cases)), errors=str(
            sum(result.verdict in (BLOWN, SILENT) for result in cases)), failures=str(sum(result.verdict == BROKEN for result in cases)),
            skipped="0", time=f"{self.duration * len(cases):.6f}")
        for result in cases:
            case = ElementTree.SubElement(suite, "testcase", classname=f"{self.robot}.{result.kind or 'baseline'}", name=result.name,
                                          time=f"{self.duration:.6f}")
            if result.verdict == BROKEN:
                ElementTree.SubElement(case, "failure", message=str(result.broken[0])).text = "\n".join(map(str, result.broken))
            elif not result.good:
                ElementTree.SubElement(case, "error",
                                       message=printable(result.blown) or "the fault never began: its condition never held, or its time "
                                       "is after the end")
            ElementTree.SubElement(case, "system-out").text = sentence(result)
        ElementTree.indent(suite)
        return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def seen_by(result: Result) -> tuple[str, ...]:
    """The joints of a case, and devices that are of no joint."""
    devices = dict.fromkeys(signal.rpartition(".")[0] for signal in result.signals if not any(signal.startswith(f"{joint}.") for joint in
                                                                                            result.joints))
    return (*result.joints, *(device for device in devices if not result.joints)) or (result.target,)


def sentence(result: Result) -> str:
    """A case in words."""
    if result.began is None:
        return "it never began" if result.kind else "the run without a fault"
    parts = [f"began at {result.began:.6g} s", "acts to the end" if result.ended is None else f"ended at {result.ended:.6g} s",
             "no command changed" if result.reacted is None else f"commands changed {result.reacted:.6g} s later",
             *(f"largest {word} command {a:.6g} before, {b:.6g} after" for word, (a, b) in result.peaks.items()),
             f"deviation {result.deviation:.6g}",
             "not settled" if result.settled is None else f"settled {result.settled:.6g} s after its end"]
    return "; ".join(parts)


def judge(trial: FaultTrial, progress: Any = None) -> Report:
    """Runs everything. progress(done, all), if given, is called after each run."""
    count = len(trial.faults) + 1
    base = trial.run(None)
    out = Report(trial.model.name, trial.script.duration, judged(trial, base, base, "no fault"), [])
    for k, fault in enumerate(trial.faults):
        if progress is not None:
            progress(k + 1, count)
        run = trial.run(fault)
        result = judged(trial, run, base, fault.name)
        result.kind, result.target = fault.row.name, fault.target
        out.results.append(result)
    return out


def judged(trial: FaultTrial, run: Trace, base: Trace, name: str) -> Result:
    result = Result(name, joints=run.joints, signals=run.signals, blown=run.blown)
    first = int(np.argmax(run.active)) if run.active.any() else len(run.times) if run.fault is not None else 0
    result.broken = [broken for k, limit in enumerate(trial.limits)
                     if (broken := beyond(limit, run.times, run.bounded[:, k], first)) is not None]     # before it is the baseline's
    if trial.script.controller is not None and len(run.times) and np.isnan(run.commands).all():
        result.broken.append(Broken("what the controller commands", None, None, float(run.times[-1])))
    if run.active.any():
        _after(trial, run, base, result)
    return result


def beyond(limit: Limit, times: Any, values: Any, first: int = 0) -> Broken | None:
    """The limit from step `first` on. values (n, 2): smallest and largest number of the signal after each step; NaN, before a first number
    came, keeps every bound, and breaks it where none comes at all or one is lost again."""
    missing = np.isnan(values).any(1)
    begun = np.logical_or.accumulate(~missing)
    lost = missing & (begun if begun.any() else True) & (not limit.may_be_missing)
    times, values, lost = times[first:], values[first:], lost[first:]
    low, high = np.where(np.isnan(values[:, 0]), np.inf, values[:, 0]), np.where(np.isnan(values[:, 1]), -np.inf, values[:, 1])
    out = (low < limit.least) | (high > limit.most)
    if not out.any():
        return Broken(limit.signal, None, limit.most, float(times[np.argmax(lost)])) if lost.any() else None
    when = float(times[np.argmax(out)])
    if (high - limit.most).max(initial=-np.inf) >= (limit.least - low).max(initial=-np.inf):
        return Broken(limit.signal, float(high.max()), limit.most, when)
    return Broken(limit.signal, float(low.min()), limit.least, when)


def _after(trial: FaultTrial, run: Trace, base: Trace, result: Result) -> None:
    """What came after the beginning."""
    dt, settled = trial.script.dt, trial.script.settled
    n = min(len(run.times), len(base.times))
    first, last = int(np.argmax(run.active)), int(len(run.active) - 1 - np.argmax(run.active[::-1]))
    result.began = first * dt
    result.ended = None if last == len(run.active) - 1 else (last + 1) * dt
    m = min(len(run.updates), len(base.updates))
    other = ~((run.commands[:m] == base.commands[:m]) | (np.isnan(run.commands[:m]) & np.isnan(base.commands[:m]))).all(1)
    if other.any():
        result.reacted = float(run.updates[np.argmax(other)]) - result.began
    before = run.updates <= result.began + 0.5 * dt
    for word in ("position", "velocity", "effort"):
        columns = [k for k, name in enumerate(trial.commanded) if name.endswith(f".command.{word}")]
        x = np.abs(run.commands[:, columns])
        if np.isfinite(x).any():
            peaks = [float(np.max(part[np.isfinite(part)], initial=0.0)) for part in (x[before], x[~before])]
            result.peaks[word] = peaks[0], peaks[1]
    apart = np.abs(run.states[:n, :, :2] - base.states[:n, :, :2])
    result.deviation = float(apart[first:, :, 0].max(initial=0.0))
    far = np.flatnonzero((apart > (settled["position"], settled["velocity"])).any(axis=(1, 2)))
    end = first if result.ended is None else last
    if n and not (far.size and far[-1] == n - 1):
        result.settled = max(0.0, (int(far[-1]) - end if far.size else 0) * dt)
