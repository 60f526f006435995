"""Where one joint's motion comes from: what it remembers, in words, and what is said of it. The law is mbros_core/plant/source.pxd."""
from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from mbros.describe.devices.source import JUMP, ROW, SAFE
from mbros.errors import MbrosError, MbrosWarning, warn

if TYPE_CHECKING:
    from mbros import Joint, Simulator
    from mbros.bench.bench_sources import SourceRow
    from mbros.bench.device_numbers import DeviceNumbers
    from mbros_core.typing import Array

MODES = ("sim", "real", "prescribed", "locked")
REASONS = ("", "no sample for longer than its timeout", "a sample jumped", "a sample was not a number, or one beyond 1e10",
           "its velocities contradict its positions", "a sample jumped farther than its joint can go", "a sample jumped in velocity")
NAMES = [number.name for number in ROW.numbers]
FREE, STILL, GIVEN = 0.0, 1.0, 2.0          # of HELD
REAL = 1.0                                  # of MODE


@cache
def places() -> dict[str, int]:
    """Where a source's memory has what."""
    from mbros_core.plant._devices import SOURCE_PLACES      # start-up time: few benches have sources

    return SOURCE_PLACES


class SourceMemory:
    """What a source remembers, by the names of mbros_core/plant/source.pxd, and its numbers; live. block: of the devices."""

    __slots__ = ("_block", "_at", "_numbers")

    def __init__(self, block: Array, row: SourceRow) -> None:
        self._block, self._at, self._numbers = block, row.memory, row.numbers

    def __getitem__(self, name: str) -> float:
        return float(self._block[self._at + places()[name]])

    def __setitem__(self, name: str, x: float) -> None:
        self._block[self._at + places()[name]] = x

    def number(self, name: str) -> float:
        """One of its numbers, as it is now."""
        return float(self._block[self._numbers + NAMES.index(name)])

    @property
    def safe(self) -> str:
        """The safe state."""
        return SAFE[int(self.number("safe"))]

    @property
    def held(self) -> str:
        """The mode that the source gave its joint: "sim" where it gave none."""
        if self["HELD"] == GIVEN:
            return "real" if self["MODE"] == REAL else "prescribed"
        return "locked" if self["HELD"] == STILL else "sim"

    @property
    def reason(self) -> str:
        """Why it fell into its safe state last, or ""."""
        return REASONS[int(self["REASON"])]


def tripped(row: SourceRow, memory: SourceMemory) -> str:
    """The sentence of a source that fell into its safe state."""
    return (f"source of joint {row.joint!r}, at {memory['TRIPPED_AT']:g} s: {memory.reason}{figures(row.unit, memory)}; the joint is now "
            f"in its safe state, {memory.safe!r}")


def figures(unit: str, memory: SourceMemory) -> str:
    """Of a jump, or of velocities that contradict positions."""
    reason, by, most = int(memory["REASON"]), memory["JUMPED_BY"], memory["JUMPED_MOST"]
    if reason == 4:
        return f": {opposed(unit, memory)}"
    return {2: f": it was {by:.4g} {unit} from where the last ones led, and its jump is {most:g} {unit}",
            5: f": it was {by:.4g} {unit} from the last one, and twice what its speed allows in their time is {most:.4g} {unit}",
            6: f": it was {by:.4g} {unit}/s from the last one, and its velocity_jump is {most:g} {unit}/s"}.get(reason, "")


def opposed(unit: str, memory: SourceMemory) -> str:
    return (f"its positions went {memory['OPPOSED_Q']:+.4g} {unit}, and its velocities say {memory['OPPOSED_V']:+.4g} {unit}. Look at the "
            "sign of the velocities")


def judged(row: SourceRow, memory: SourceMemory) -> str:
    """That of a source whose residual went beyond its bound."""
    return (f"source of joint {row.joint!r}, at {memory['JUDGED_AT']:g} s: predicted effort {memory['JUDGED_EFFORT']:.4g}, measured "
            f"{memory['JUDGED_MEASURED']:.4g}; the difference is beyond its bound {memory.number('bound'):g} (said once, counted in "
            "`judged`)")


def not_real(joint: Joint, memory: SourceMemory, age: float, feed: str) -> str:
    """Why it cannot become real, or "". age: of its newest sample, s; feed: how there will be a newer one."""
    who = f"source of joint {joint.name!r}: it cannot become real: "
    if not age <= memory.number("timeout"):
        newest = "it has had no sample" if np.isnan(age) else f"its newest sample is {age:.3g} s old"
        if memory["AHEAD"]:
            newest = (f"{memory['AHEAD']:.0f} samples were not used: their stamps are ahead of the simulation's time, the newest by "
                      f"{memory['AHEAD_BY']:.3g} s; {newest} beside them. Look at the clocks")
        return f"{who}{newest}; expected one of the last {memory.number('timeout'):g} s{feed}"
    if memory["OPPOSED_Q"]:
        return f"{who}{opposed('rad' if joint.can_rotate else 'm', memory)}"
    (lower, *_), (upper, *_) = joint.limits.position
    q, jump = memory["Q"], min(memory.number("jump"), JUMP)
    if not lower - jump <= q <= upper + jump:
        return (f"{who}its newest sample is at {q:g}, and the joint's limits are {lower:g} and {upper:g}; expected one within them, or "
                f"beyond by no more than {jump:g}. Look at the sample's unit, sign and zero")
    return ""


class SourceWarning(MbrosWarning):
    """A source was lost, jumped or disagrees with the model; the joint is in its safe state."""


class ActiveSource:
    """The source of one joint, live."""

    __slots__ = ("_sim", "_row", "_joint", "_k", "_said")

    def __init__(self, sim: Simulator, row: SourceRow, k: int) -> None:
        self._sim, self._row, self._k = sim, row, k
        self._joint: Joint = sim.model.joint(row.joint)
        self._said = (0.0, 0.0)
        self.heed()

    @property
    def _memory(self) -> SourceMemory:
        return SourceMemory(self._sim.plant.devices.block, self._row)

    @property
    def mode(self) -> str:
        """"sim", "real", "prescribed" (by a motion, or coming to rest) or "locked"."""
        if self._memory["MODE"] == REAL and self._joint._is_prescribed(self._sim.state):
            return "real"
        return {"dynamic": "sim"}.get(found := self._joint.mobilizer.source(self._sim.state), found)

    @property
    def effort(self) -> float:
        """What the joint's motion took in the last step, N m or N; NaN where it was simulated."""
        return self._signal(0)

    @property
    def residual(self) -> float:
        """That less the effort that was measured, through the momentum observer; NaN where none was, and while the joint comes to its
        source."""
        return self._signal(1)

    def _signal(self, k: int) -> float:
        return float(self._sim.plant.devices.block[self._row.signals[k]])

    @property
    def trips(self) -> int:
        """How often it fell into its safe state since the last reset."""
        return int(self._memory["TRIPS"])

    @property
    def reason(self) -> str:
        """Why it did so last, or ""."""
        return self._memory.reason

    @property
    def ignored(self) -> int:
        """Samples since the last reset that were no newer than the one before, or of the future."""
        return int(self._memory["IGNORED"])

    @property
    def ahead(self) -> int:
        """Those of them whose time was more than the timeout ahead of the simulation's."""
        return int(self._memory["AHEAD"])

    @property
    def ahead_by(self) -> float:
        """By how much the newest of these was, s; NaN: none was."""
        return self._memory["AHEAD_BY"] if self.ahead else float("nan")

    @property
    def judged(self) -> int:
        """Steps since the last reset in which the residual was beyond its bound."""
        return int(self._memory["JUDGED"])

    @property
    def age(self) -> float:
        """Of the newest sample, s; NaN: there was none."""
        return float(self._sim.time - self._memory["TIME"])

    @property
    def numbers(self) -> DeviceNumbers:
        """Time-out, jump, safe state and the others of docs/sources.md, live: sim.sources["joint2"].numbers.timeout = 0.1."""
        return self._sim.devices[f"{self._row.joint}.interface"]

    def __repr__(self) -> str:
        said = f", {self.trips} trips, last: {self.reason}" if self.trips else ""
        return f"<Source of joint {self._row.joint!r}: {self.mode}{said}>"

    # ------------------------------------------------------------------------------------------------ changing it

    def become(self, mode: str) -> None:
        """One of MODES, from the present step on."""
        if mode == "real":
            wrong = not_real(self._joint, self._memory, self.age, f": sim.feed(position={{{self._row.joint!r}: ...}}) first")
            if wrong:
                raise MbrosError(wrong)
        self._sim.plant.devices._become(self._k, MODES.index(mode))
        if mode == "real":
            self._sim.motions._by_name.pop(self._row.joint, None)

    def take(self, t: float, q: float, v: float, effort: float) -> None:
        """A sample; v NaN: by difference; effort NaN: not measured."""
        self._sim.plant.devices._feed(self._k, t, q, v, effort)

    def heed(self) -> None:
        """What there is has been said."""
        self._said = self._memory["TRIPS"], self._memory["JUDGED"]

    def say(self) -> None:
        """Warn of what happened in the steps since heed()."""
        m = self._memory
        trips, found = self._said
        self.heed()
        if m["TRIPS"] > trips:
            warn(tripped(self._row, m), SourceWarning)
        if m["JUDGED"] > 0.0 and found == 0.0:
            warn(judged(self._row, m), SourceWarning)

    def _motion(self, t: float) -> tuple[float, float, float]:
        """(q, v, a) at t."""
        return self._sim.plant.devices._source_motion(self._k, t)
