"""What a fault script found out, in words and numbers: the same script gives the same report, to the letter."""
from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import numpy as np
from mbros_core.plant.faults.registry import ROWS

from mbros.names import printable
from mbros.study.faults.criteria import Finding, of_limit, of_requirement, span, worst
from mbros.study.faults.curves import FaultCurve, curves_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mbros.study.faults.runs import FaultTrial, Trace

KEPT, BROKEN, SILENT, BLOWN = "kept", "broken", "never began", "blew up"


@dataclass
class Result:
    """One case. Times are s; None: never. reacted: after the beginning, when a command differed from that of the run without the fault;
    settled: after the end, from when on the robot was where it was without the fault; peaks: {word: largest |command| before, after};
    kinds, targets: of its faults; repetition, seed: of its random numbers; findings: of every limit and requirement."""

    name: str
    kinds: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    joints: tuple[str, ...] = ()
    signals: tuple[str, ...] = ()
    began: float | None = None
    ended: float | None = None
    reacted: float | None = None
    settled: float | None = None
    deviation: float = 0.0
    peaks: dict[str, tuple[float, float]] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    blown: str = ""
    repetition: int = 0
    seed: int = 0
    curves: list[FaultCurve] = field(default_factory=list)

    @property
    def broken(self) -> list[Finding]:
        return [finding for finding in self.findings if not finding.kept]

    @property
    def verdict(self) -> str:
        if self.blown:
            return BLOWN
        return BROKEN if self.broken else SILENT if self.kinds and self.began is None else KEPT

    @property
    def good(self) -> bool:
        return self.verdict == KEPT

    def by_requirement(self) -> dict[str, Finding]:
        """{requirement: what comes nearest to breaking it}; limits without a name are "limits"."""
        found: dict[str, list[Finding]] = {}
        for finding in self.findings:
            found.setdefault(finding.requirement or "limits", []).append(finding)
        return {name: worst(of) for name, of in found.items()}

    def as_dict(self) -> dict[str, Any]:
        return {**{name: getattr(self, name) for name in ("name", "joints", "signals", "began", "ended", "reacted", "settled", "deviation",
                                                          "peaks", "blown", "verdict", "repetition", "seed")},
                "kind": " + ".join(self.kinds), "target": " + ".join(self.targets),
                "broken": [each.as_dict() for each in self.broken],
                "requirements": {name: finding.as_dict() for name, finding in self.by_requirement().items()}}

    def packed(self) -> dict[str, Any]:
        """All of it, as JSON has it."""
        return {**{each.name: getattr(self, each.name) for each in fields(self)}, "findings": [each.as_dict() for each in self.findings],
                "curves": [vars(each) for each in self.curves]}

    @classmethod
    def unpacked(cls, values: dict[str, Any]) -> Result:
        """What packed() has packed, through JSON."""
        words = {name: tuple(values[name]) for name in ("kinds", "targets", "joints", "signals")}
        return cls(**{**values, **words, "peaks": {word: tuple(pair) for word, pair in values["peaks"].items()},
                      "findings": [Finding(**each) for each in values["findings"]],
                      "curves": [FaultCurve(**each) for each in values["curves"]]})


@dataclass
class Report:
    """baselines: the runs without a fault, one for each repetition; requirements: names of those of the script, in its order."""

    robot: str
    duration: float
    baselines: list[Result]
    results: list[Result]
    requirements: list[str] = field(default_factory=list)

    @property
    def baseline(self) -> Result:
        return self.baselines[0]

    @property
    def all(self) -> list[Result]:
        return [*self.baselines, *self.results]

    @property
    def good(self) -> bool:
        return all(result.good for result in self.all)

    def label(self, result: Result) -> str:
        """A name of its own."""
        return result.name if len(self.baselines) == 1 else f"{result.name} [{result.repetition + 1}]"

    def of_requirements(self) -> dict[str, dict[str, Any]]:
        """{requirement: how many cases kept and broke it, and the name and finding of the one that comes nearest to breaking it}."""
        found: dict[str, list[tuple[str, Finding]]] = {name: [] for name in self.requirements}
        for result in self.all:
            for name, finding in result.by_requirement().items():
                found.setdefault(name, []).append((self.label(result), finding))
        out = {}
        for name, of in found.items():
            case, nearest = min(of, key=lambda each: (each[1].kept, each[1].share), default=("", None))
            out[name] = {"kept": sum(finding.kept for _, finding in of), "broken": sum(not finding.kept for _, finding in of),
                         "case": case, "nearest": None if nearest is None else nearest.as_dict()}
        return out

    def coverage(self) -> tuple[list[str], list[str], dict[tuple[str, str], str]]:
        """(joints and sensors, kinds, {(one, kind): verdict}), the worst verdict where several cases were of both."""
        kinds = [row.name for row in ROWS if any(row.name in result.kinds for result in self.results)]
        order = [KEPT, SILENT, BROKEN, BLOWN]
        found: dict[tuple[str, str], str] = {}
        for result in self.results:
            for thing in seen_by(result):
                for kind in result.kinds:
                    found[thing, kind] = max(found.get((thing, kind), KEPT), result.verdict, key=order.index)
        return list(dict.fromkeys(thing for thing, _ in found)), kinds, found

    def as_dict(self) -> dict[str, Any]:
        things, kinds, found = self.coverage()
        return {"robot": self.robot, "duration": self.duration, "baseline": self.baseline.as_dict(),
                "baselines": [result.as_dict() for result in self.baselines], "cases": [result.as_dict() for result in self.results],
                "requirements": self.of_requirements(),
                "coverage": {thing: {kind: found[thing, kind] for kind in kinds if (thing, kind) in found} for thing in things}}

    def junit(self) -> str:
        """As JUnit XML; times are simulated, so that two reports of the same are the same. Requirements are properties of a case."""
        cases = self.all
        suite = ElementTree.Element("testsuite", name=f"faults of {self.robot}", tests=str(len(cases)), errors=str(
            sum(result.verdict in (BLOWN, SILENT) for result in cases)), failures=str(sum(result.verdict == BROKEN for result in cases)),
            skipped="0", time=f"{self.duration * len(cases):.6f}")
        for result in cases:
            case = ElementTree.SubElement(suite, "testcase", classname=f"{self.robot}.{'+'.join(result.kinds) or 'baseline'}",
                                          name=self.label(result), time=f"{self.duration:.6f}")
            named = [name for name in result.by_requirement() if name != "limits"]
            if named:
                properties = ElementTree.SubElement(case, "properties")
                for name in named:
                    ElementTree.SubElement(properties, "property", name="requirement", value=name)
            if result.verdict == BROKEN:
                ElementTree.SubElement(case, "failure", message=str(result.broken[0])).text = "\n".join(map(str, result.broken))
            elif not result.good:
                ElementTree.SubElement(case, "error",
                                       message=printable(result.blown) or "the fault never began: its condition never held, or its time "
                                       "is after the end")
            ElementTree.SubElement(case, "system-out").text = "\n".join([sentence(result), *(
                f"{name}: {'kept' if each.kept else 'broken'}: {each.text}" for name, each in result.by_requirement().items())])
        ElementTree.indent(suite)
        return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def seen_by(result: Result) -> tuple[str, ...]:
    """The joints of a case, and devices that are of no joint."""
    devices = dict.fromkeys(signal.rpartition(".")[0] for signal in result.signals if not any(signal.startswith(f"{joint}.") for joint in
                                                                                            result.joints))
    return (*result.joints, *(device for device in devices if not result.joints)) or result.targets


def sentence(result: Result) -> str:
    """A case in words."""
    if result.began is None:
        return "it never began" if result.kinds else "the run without a fault"
    parts = [f"began at {result.began:.6g} s", "acts to the end" if result.ended is None else f"ended at {result.ended:.6g} s",
             "no command changed" if result.reacted is None else f"commands changed {result.reacted:.6g} s later",
             *(f"largest {word} command {a:.6g} before, {b:.6g} after" for word, (a, b) in result.peaks.items()),
             f"deviation {result.deviation:.6g}",
             "not settled" if result.settled is None else f"settled {result.settled:.6g} s after its end"]
    return "; ".join(parts)


def judged(trial: FaultTrial, run: Trace, base: Trace, name: str, repetition: int = 0) -> Result:
    """What became of a run. base: that of the same random numbers without a fault."""
    faults = () if run.case is None else run.case.faults
    result = Result(name, tuple(fault.row.name for fault in faults), tuple(fault.target for fault in faults), run.joints, run.signals,
                    blown=run.failed, repetition=repetition, seed=run.seed)
    result.findings = list(_findings(trial, run, base))
    if run.active.any():
        _after(trial, run, base, result)
    result.curves = curves_of(trial, run, base, result.findings)
    return result


def _findings(trial: FaultTrial, run: Trace, base: Trace) -> Iterator[Finding]:
    when = span(run, trial.script.dt)
    first = round(when[0] / trial.script.dt) if when is not None else len(run.times) if run.case is not None else 0
    for limit in trial.limits if run.columns else ():
        yield of_limit(limit, run, first)                                   # what was before it is the baseline's
    if trial.script.controller is not None and len(run.times) and np.isnan(run.commands).all():
        last = float(run.times[-1])
        yield Finding("", "command", "what the controller commands", "", False, None, None, None, last,
                      f"what the controller commands had no value at {last:.4g} s, so nothing says that it does anything")
    for k in run.case.requirements if run.case is not None and when is not None else ():
        yield of_requirement(*trial.criteria[k], run, base, trial.script.dt)


def _after(trial: FaultTrial, run: Trace, base: Trace, result: Result) -> None:
    """What came after the beginning."""
    dt, settled = trial.script.dt, trial.script.settled
    n = min(len(run.times), len(base.times))
    when = span(run, dt)
    assert when is not None
    first, last = round(when[0] / dt), int(np.flatnonzero(run.active.any(axis=1))[-1])
    result.began, result.ended = when
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
