"""Whether a run keeps what a fault script requires: one finding for each requirement, of the signal that comes nearest to breaking it.

Times of a requirement count from the step in which the case's first fault begins, or, with after: end, from the one in which its last
fault ends; of a fault that acts to the end, from its beginning. What has no number keeps nothing.
"""
from __future__ import annotations

from dataclasses import asdict, dataclass
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from mbros.describe.devices.requirement import MEANING, Requirement
from mbros.study.faults.runs import Limit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbros.study.faults.runs import Trace
    from mbros_core.typing import Array
    from numpy.typing import NDArray


@dataclass
class Finding:
    """What became of a requirement, or of a limit. value: what was measured, None where there is nothing; bound: what it may be; margin:
    how much there is left, below 0 where it is broken; time: when it was there, s. For plots low, high: bounds of the signal itself,
    and band: (from when on, s; how far it may be from what it is without the fault)."""

    requirement: str
    kind: str
    signal: str
    unit: str
    kept: bool
    value: float | None
    bound: float | None
    margin: float | None
    time: float | None
    text: str
    low: float | None = None
    high: float | None = None
    band: tuple[float, float] | None = None

    def __str__(self) -> str:
        return f"{self.requirement}: {self.text}" if self.requirement else self.text

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def share(self) -> float:
        """The margin as a share of its bound: what comes first when they are sorted by how near they are to being broken."""
        if self.margin is None:
            return inf if self.kept else -inf
        return self.margin / abs(self.bound) if self.bound else self.margin if self.margin <= 0.0 else inf


def worst(findings: Sequence[Finding]) -> Finding:
    return min(findings, key=lambda each: (each.kept, each.share))


def span(run: Trace, dt: float) -> tuple[float, float | None] | None:
    """(beginning of the first fault, end of the last; None: it acts to the end), s; None: none began."""
    acting = np.flatnonzero(run.active.any(axis=1))
    if not acting.size:
        return None
    return float(acting[0]) * dt, None if acting[-1] == len(run.active) - 1 else float(acting[-1] + 1) * dt


# ------------------------------------------------------------------------------------------------------ limits

def of_limit(limit: Limit, run: Trace, first: int = 0) -> Finding:
    """In every step from `first` on."""
    x = run.of(limit.signal)
    return bounded(limit, run.units.get(limit.signal, ""), run.times, np.stack([x.min(axis=1), x.max(axis=1)], axis=1), first)


def bounded(limit: Limit, unit: str, times: Array, values: Array, first: int = 0) -> Finding:
    """The limit from step `first` on. values (n, 2): smallest and largest number of the signal after each step; NaN, before a first number
    came, keeps every bound, and breaks it where none comes at all or one is lost again."""
    missing: Any = np.isnan(values).any(axis=1)
    begun = np.logical_or.accumulate(~missing)
    lost: Any = np.zeros_like(missing) if limit.may_be_missing else missing & begun if begun.any() else missing
    times, values, lost = times[first:], values[first:], lost[first:]
    low, high = np.where(np.isnan(values[:, 0]), np.inf, values[:, 0]), np.where(np.isnan(values[:, 1]), -np.inf, values[:, 1])
    above, below = high - limit.most, limit.least - low
    upper = above.max(initial=-np.inf) >= below.max(initial=-np.inf)
    value, bound = (high.max(initial=-np.inf), limit.most) if upper else (low.min(initial=np.inf), limit.least)
    out = (above > 0.0) | (below > 0.0)
    made = Finding(limit.requirement, "limit", limit.signal, unit, not out.any(), _number(value), _number(bound),
                   _number((bound - value) * (1.0 if upper else -1.0)), None, "", _number(limit.least), _number(limit.most))
    if out.any():
        made.time = float(times[np.argmax(out)])
        made.text = f"{limit.signal} reached {value:.4g}, bound {bound:.4g}, at {made.time:.4g} s first"
    elif lost.any():
        made.kept, made.value, made.margin, made.time = False, None, None, float(times[np.argmax(lost)])
        made.text = f"{limit.signal} had no value at {made.time:.4g} s, so nothing says that it kept its bound"
    else:
        made.text = f"{limit.signal} reached {value:.4g}, bound {bound:.4g}"
    return made


def _number(x: float) -> float | None:
    return float(x) if abs(x) < inf else None


# ------------------------------------------------------------------------------------------------------ requirements

def of_requirement(one: Requirement, signals: Sequence[str], run: Trace, base: Trace, dt: float) -> Finding:
    """Of the signal that comes nearest to breaking it; run: in which a fault began."""
    when = span(run, dt)
    assert when is not None
    start = when[0] if one.after == "begin" or when[1] is None else when[1]
    width = None if one.number("reference") is not None else one.number({"deviation": "most", "settling": "band"}.get(one.kind, ""))
    judge = {"deviation": deviation, "settling": settling, "reaction": reaction, "limit": within_bounds}[one.kind]
    found = worst([judge(one, signal, run, base, start, dt) for signal in signals])
    if width is not None:
        found.band = start + one.numbers.get("from", one.numbers.get("within", 0.0)), width
    return found


def _reference(one: Requirement, signal: str, run: Trace, base: Trace) -> tuple[Array, Array, Array]:
    """(times, values, what they should be), as far as both runs go."""
    fixed = one.number("reference")
    n = len(run.times) if fixed is not None else min(len(run.times), len(base.times))
    x = run.of(signal)[:n]
    return run.times[:n], x, np.full_like(x, fixed) if fixed is not None else base.of(signal)[:n]


def _looked_at(one: Requirement, times: Array, start: float, dt: float) -> NDArray[np.intp]:
    """Which steps: those that end after `start` + from, up to `start` + until."""
    since = times - start
    return np.flatnonzero((since > one.numbers["from"] + 1e-9) & (since <= one.numbers["until"] + 0.5 * dt))


def _made(one: Requirement, signal: str, run: Trace, kept: bool, value: float | None, bound: float, margin: float | None,
          time: float | None, text: str, unit: str | None = None) -> Finding:
    return Finding(one.name, one.kind, signal, run.units.get(signal, "") if unit is None else unit, kept, value, bound, margin, time,
                   text)


def _unit(run: Trace, signal: str) -> str:
    unit = run.units.get(signal, "")
    return f" {unit}" if unit else ""


def _nothing(one: Requirement, signal: str, run: Trace, bound: float, why: str) -> Finding:
    return _made(one, signal, run, False, None, bound, None, None, f"{signal} {why}, so nothing says that {MEANING[one.kind]}")


def deviation(one: Requirement, signal: str, run: Trace, base: Trace, start: float, dt: float) -> Finding:
    """Largest, or root mean square, distance from its reference."""
    most = one.numbers["most"]
    times, x, r = _reference(one, signal, run, base)
    seen = _looked_at(one, times, start, dt)
    apart = np.abs(x - r)[seen].max(axis=1, initial=-np.inf)
    if not apart.size:
        return _nothing(one, signal, run, most, f"was not simulated from {start + one.numbers['from']:.4g} s on")
    if np.isnan(apart).any():
        return _nothing(one, signal, run, most, f"had no value at {times[seen][np.argmax(np.isnan(apart))]:.4g} s")
    value = float(apart.max() if one.statistic == "largest" else np.sqrt(np.mean(apart**2)))
    when = float(times[seen][np.argmax(apart)])
    of = "was" if one.statistic == "largest" else "was, as a root mean square,"
    return _made(one, signal, run, value <= most, value, most, most - value, when,
                 f"{signal} {of} {value:.4g}{_unit(run, signal)} from its reference, at most {most:.4g}, farthest at {when:.4g} s")


def settling(one: Requirement, signal: str, run: Trace, base: Trace, start: float, dt: float) -> Finding:
    """When it is within the band for good."""
    band, within = one.numbers["band"], one.numbers["within"]
    times, x, r = _reference(one, signal, run, base)
    if not len(times) or times[-1] < start + within - 0.5 * dt:
        return _nothing(one, signal, run, within, f"was not simulated up to {start + within:.4g} s")
    apart = np.abs(x - r).max(axis=1)
    far = np.flatnonzero((times > start + 1e-9) & ~(apart <= band))        # what has no number is not there
    if far.size and far[-1] == len(times) - 1:
        last = "has no value" if np.isnan(apart[-1]) else f"is {apart[-1]:.4g}{_unit(run, signal)} from its reference"
        return _made(one, signal, run, False, None, within, None, float(times[-1]),
                     f"{signal} has not settled: it {last} at the end, band {band:.4g}", "s")
    value = max(0.0, float(times[far[-1]]) - start) if far.size else 0.0
    return _made(one, signal, run, value <= within + 1e-9, value, within, within - value, start + value,
                 f"{signal} settled after {value:.4g} s, at most {within:.4g} s", "s")


def reaction(one: Requirement, signal: str, run: Trace, base: Trace, start: float, dt: float) -> Finding:
    """When it reacts first: above or below a number, or another one than without the fault."""
    within, above, below = one.numbers["within"], one.number("above"), one.number("below")
    x = run.of(signal)
    if above is not None:
        there = x > above
    elif below is not None:
        there = x < below
    else:
        n = min(len(run.times), len(base.times))
        x, r = x[:n], base.of(signal)[:n]
        there = (np.abs(x - r) > one.numbers["change"]) | (np.isnan(x) != np.isnan(r))
    reacted = np.max(there, axis=1, initial=False)
    begun = run.times[:len(x)] > start + 1e-9
    k = int(np.argmax(reacted & begun)) if (reacted & begun).any() else -1
    if k < 0:
        return _made(one, signal, run, False, None, within, None, None, f"{signal} has not reacted, expected within {within:.4g} s", "s")
    if k > 0 and reacted[k - 1]:
        return _nothing(one, signal, run, within, "was there before the fault")
    value = float(run.times[k]) - start
    return _made(one, signal, run, value <= within + 1e-9, value, within, within - value, float(run.times[k]),
                 f"{signal} reacted after {value:.4g} s, at most {within:.4g} s", "s")


def within_bounds(one: Requirement, signal: str, run: Trace, base: Trace, start: float, dt: float) -> Finding:
    """A limit, while it is looked at."""
    seen = _looked_at(one, run.times, start, dt)
    limit = Limit(signal, one.numbers["least"], one.numbers["most"], requirement=one.name)
    if not seen.size:
        return _nothing(one, signal, run, one.numbers["most"], f"was not simulated from {start + one.numbers['from']:.4g} s on")
    first, last = int(seen[0]), int(seen[-1]) + 1
    x = run.of(signal)[:last]
    return bounded(limit, run.units.get(signal, ""), run.times[:last], np.stack([x.min(axis=1), x.max(axis=1)], axis=1), first)
