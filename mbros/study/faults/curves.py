"""The curves of a case that its page shows: the signals that come nearest to breaking a requirement, few points of each."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbros.study.faults.criteria import Finding
    from mbros.study.faults.runs import FaultTrial, Trace
    from mbros_core.typing import Array
    from numpy.typing import NDArray

POINTS = 300                # of a curve
CURVES = 4                  # of a case
DIGITS = 5


@dataclass
class FaultCurve:
    """One signal of a case (None: no number) beside that of the run without a fault. low, high: bounds of it; spans: [name of a fault,
    beginning, end] (s); marks: [time (s), what was there]; bands: [from when on (s), how far it may be from the other curve]."""

    signal: str
    unit: str
    times: list[float]
    run: list[float | None]
    base: list[float | None]
    low: float | None = None
    high: float | None = None
    spans: list[list[Any]] = field(default_factory=list)
    marks: list[list[Any]] = field(default_factory=list)
    bands: list[list[float]] = field(default_factory=list)


def curves_of(trial: FaultTrial, run: Trace, base: Trace, findings: Sequence[Finding]) -> list[FaultCurve]:
    """Of the findings that are worst, one a signal; where there are none, of the joint that went farthest from where it was without the
    fault."""
    if not len(run.times) or not run.columns:
        return []
    spans = [[fault.name, *_span(run.active[:, k], trial.script.dt)] for k, fault in enumerate(run.case.faults if run.case else ())
             if run.active[:, k].any()]
    wanted: dict[str, list[Finding]] = {}
    for finding in sorted(findings, key=lambda each: (each.kept, each.share)):
        if finding.signal in run.columns:
            wanted.setdefault(finding.signal, []).append(finding)
    farthest = _farthest(trial, run, base)
    signals = [*list(wanted)[:CURVES - 1]]
    if farthest is not None and farthest not in signals:
        signals.append(farthest)
    return [_curve(signal, run, base, wanted.get(signal, []), spans) for signal in signals]


def _span(active: Array, dt: float) -> tuple[float, float]:
    acting = np.flatnonzero(active)
    return float(acting[0]) * dt, float(acting[-1] + 1) * dt


def _farthest(trial: FaultTrial, run: Trace, base: Trace) -> str | None:
    n = min(len(run.times), len(base.times))
    if not trial.joints or not n:
        return None
    apart = np.abs(run.states[:n, :, 0] - base.states[:n, :, 0]).max(axis=0)
    return f"{trial.joints[int(np.argmax(apart))]}.position"


def _curve(signal: str, run: Trace, base: Trace, findings: Sequence[Finding], spans: list[list[Any]]) -> FaultCurve:
    """Of a signal with several numbers the one that goes farthest."""
    x, r = run.of(signal), base.of(signal)
    n = min(len(x), len(r))
    apart = np.nan_to_num(np.abs(x[:n] - r[:n])).max(axis=0) if n else np.abs(np.nan_to_num(x)).max(axis=0)
    k = int(np.argmax(apart))
    at = chosen(x[:, k])
    lows, highs = ([bound for each in findings if (bound := getattr(each, word)) is not None] for word in ("low", "high"))
    marks = [[each.time, each.requirement or each.kind] for each in findings if not each.kept and each.time is not None]
    name = signal if x.shape[1] == 1 else f"{signal}[{k}]"
    return FaultCurve(name, run.units.get(signal, ""), _rounded(run.times[at]), _rounded(x[at, k]), _rounded(r[at[at < n], k]),
                 max(lows, default=None), min(highs, default=None), spans, marks, [list(each.band) for each in findings if each.band])


def chosen(x: Array) -> NDArray[np.intp]:
    """Which samples stand for all: of each of POINTS / 2 stretches the smallest and the largest, in their order."""
    if len(x) <= POINTS:
        return np.arange(len(x), dtype=np.intp)
    ends = np.linspace(0, len(x), POINTS // 2 + 1).astype(int)
    found = [0, len(x) - 1]
    for first, last in zip(ends[:-1], ends[1:]):
        part = x[first:last]
        if np.isnan(part).any():
            found += [first, last - 1]
        if not np.isnan(part).all():
            found += [first + int(np.nanargmin(part)), first + int(np.nanargmax(part))]
    return np.unique(np.array(found, np.intp))


def _rounded(x: Array) -> list[Any]:
    return [float(f"{value:.{DIGITS}g}") if np.isfinite(value) else None for value in x.tolist()]
