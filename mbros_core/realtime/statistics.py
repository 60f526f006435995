"""What the loop counted: histograms of durations and the Statistics record."""
from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import MbrosError
from . import _loop

if TYPE_CHECKING:
    from mbros_core.typing import IntArray

_STARTS = _loop.bin_starts()


class Histogram:
    """Durations in seconds, from a histogram with 16 bins per octave (6 % wide).

    `count`, `mean` and `max` are exact; a percentile is the upper end of its bin (never optimistic), at most `max`.
    """

    def __init__(self, counts: IntArray, count: int, sum_ns: int, max_ns: int) -> None:
        self.counts = counts
        self.count = int(counts.sum())
        self.mean = sum_ns * 1e-9 / count if count else 0.0
        self.max = max_ns * 1e-9

    def percentile(self, p: float) -> float:
        """Smallest duration (s) that at least p percent of the values do not exceed; 0 when there are none."""
        if not 0.0 <= p <= 100.0:
            raise MbrosError(f"percentile: expected 0 to 100, got {p}")
        if self.count == 0:
            return 0.0
        rank = max(1, int(np.ceil(self.count * p / 100.0 - 1e-9)))
        k = int(np.searchsorted(np.cumsum(self.counts), rank))
        return min(float(_STARTS[k + 1]) * 1e-9, self.max) if k + 1 < len(_STARTS) else self.max

    @property
    def p50(self) -> float:
        return self.percentile(50)

    @property
    def p90(self) -> float:
        return self.percentile(90)

    @property
    def p99(self) -> float:
        return self.percentile(99)

    @property
    def p999(self) -> float:
        return self.percentile(99.9)

    def fraction_within(self, seconds: float) -> float:
        """Share of values that certainly do not exceed `seconds` (whole bins only); 1 when there are none."""
        if self.count == 0:
            return 1.0
        return float(self.counts[_STARTS[1:] <= seconds * 1e9 + 1].sum()) / self.count

    def bars(self) -> list[tuple[float, float, int]]:
        """Rows (from s, to s, count) of one octave each, from the first used to the last."""
        octaves = self.counts.reshape(-1, 16).sum(axis=1)
        used = np.nonzero(octaves)[0]
        if len(used) == 0:
            return []
        return [(float(_STARTS[16 * k]) * 1e-9, float(_STARTS[16 * (k + 1)]) * 1e-9, int(octaves[k]))
                for k in range(used[0], used[-1] + 1)]

    def text(self, title: str = "", width: int = 40) -> str:
        """The histogram as text, a line per octave, with its percentiles."""
        lines = [f"{title}: {self}" if title else str(self)]
        rows = self.bars()
        most = max((n for _, _, n in rows), default=1)
        for low, high, n in rows:
            bar = "#" * max(1 if n else 0, round(width * np.log1p(n) / np.log1p(most)))
            lines.append(f"  {microseconds(low)} .. {microseconds(high)}  {n:9d}  {bar}")
        return "\n".join(lines)

    def __str__(self) -> str:
        return (f"n {self.count}, mean {microseconds(self.mean)}, p50 {microseconds(self.p50)}, "
                f"p90 {microseconds(self.p90)}, p99 {microseconds(self.p99)}, p99.9 {microseconds(self.p999)}, "
                f"max {microseconds(self.max)}")


def microseconds(seconds: float) -> str:
    us = seconds * 1e6
    return f"{us:8.1f} us" if us < 1e5 else f"{us / 1e3:8.1f} ms"


@dataclass(frozen=True)
class InputStatistics:
    """Commands of one input: put in force, refused because infinite, or empty (all NaN)."""

    accepted: int
    refused: int
    empty: int


@dataclass(frozen=True)
class Statistics:
    """Counters of a loop. Read while it runs they may be a slot apart from each other; once it is stopped they agree.

    slots = on time or late, `published` snapshots; steps = plant steps, of which `made_up` were not published.
    """

    slots: int                  #: slots run
    steps: int                  #: plant steps since the loop was made
    published: int              #: snapshots published
    overruns: int               #: slots that began while a step was still running
    missed: int                 #: slots slept through because the machine woke the loop too late
    made_up: int                #: steps taken without publishing for slots that were not run
    owed: int                   #: steps still to be made up
    lost: int                   #: steps given up: simulated time that no longer follows the wall clock
    lost_time: float            #: the same in simulated seconds
    stretched: float            #: seconds by which `stretch` has moved the grid
    on_time: float              #: share of the slots run within one period of their beginning
    ignored: int                #: commands that came while in fault
    watchdog_trips: int
    resets: int
    parameter_blocks: int
    faults: int
    injected: int               #: slots disturbed by inject_delay
    records_dropped: int        #: records that found the ring full
    command_age: float | None   #: seconds, of the command in force; None: there is none
    warm: bool                  #: the warm-up is over; the next three count from there
    minor_faults: int           #: page faults of the loop's thread
    major_faults: int
    allocations: int | None     #: calls of malloc and relatives by the loop's thread; None: not counted (Loop(count_allocations=True))
    inputs: tuple[InputStatistics, ...]     #: first Loop.command, then every input in order
    lateness: Histogram = field(repr=False)     #: from the beginning of a slot to the loop's waking
    work: Histogram = field(repr=False)         #: from waking to the end of the slot's work
    plant: Histogram = field(repr=False)        #: plant steps alone

    def memory(self) -> str:
        """What the loop's thread asked of memory after its warm-up, in a line."""
        allocations = "not counted" if self.allocations is None else self.allocations
        return f"after warm-up: allocations {allocations}, page faults {self.minor_faults} minor, {self.major_faults} major"

    def text(self) -> str:
        """All of it in a few lines."""
        return "\n".join([
            f"slots {self.slots}, steps {self.steps}, published {self.published}, on time {100 * self.on_time:.3f} %",
            f"overruns {self.overruns}, missed {self.missed}, made up {self.made_up}, owed {self.owed}, "
            f"lost {self.lost} ({self.lost_time:.3f} s), stretched {self.stretched:.3f} s",
            self.memory(), self.lateness.text("lateness"), self.work.text("slot work")])


def from_figures(figures: dict[str, Any], histograms: Iterable[tuple[IntArray, int, int, int]], dt: float) -> Statistics:
    """Statistics from LoopThread.figures() and .histograms()."""
    f = dict(figures)
    lateness, work, plant = (Histogram(*h) for h in histograms)
    unrun = f["overruns"] + f["missed"]
    f.update(lost_time=f["lost"] * dt, stretched=f["stretched_ns"] * 1e-9, warm=bool(f["warm"]),
             on_time=f["slots"] / (f["slots"] + unrun) if f["slots"] else 1.0,
             command_age=None if f["command_age_ns"] < 0 else f["command_age_ns"] * 1e-9,
             allocations=None if f["counter_error"] else f["allocations"],
             inputs=tuple(InputStatistics(**s) for s in f["sources"]), lateness=lateness, work=work, plant=plant)
    return Statistics(**{k.name: f[k.name] for k in fields(Statistics)})
