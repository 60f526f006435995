"""Faults of a simulation with a bench, by name: whether they act, since when, their numbers, and by hand."""
from __future__ import annotations

from typing import TYPE_CHECKING

from mbros_core.plant.faults.registry import TRIGGER_MEMORY

from mbros.bench.live_numbers import LiveTable

if TYPE_CHECKING:
    from mbros.bench.bench_faults import FaultRow
    from mbros.bench.layout import Layout
    from mbros.bench.fault_numbers import FaultNumbers
    from mbros_core.plant._devices import Devices


class ActiveFault:
    """One fault, live."""

    __slots__ = ("_devices", "_layout", "_index")

    def __init__(self, layout: Layout, devices: Devices, index: int) -> None:
        self._devices, self._layout, self._index = devices, layout, index

    @property
    def _row(self) -> FaultRow:
        return self._layout.faults[self._index]

    @property
    def name(self) -> str:
        return self._row.name

    @property
    def kind(self) -> str:
        return self._row.kind

    @property
    def signals(self) -> tuple[str, ...]:
        """The signals that it worsens."""
        return self._row.signals

    @property
    def joints(self) -> tuple[str, ...]:
        """The joints that it acts on, or whose commands and sensors it worsens."""
        return self._row.joints

    @property
    def active(self) -> bool:
        """Whether it acted in the last step."""
        return self._memory("active") != 0.0

    @property
    def count(self) -> int:
        """How often it has begun since the last reset."""
        return int(self._memory("begun"))

    @property
    def began(self) -> float:
        """When the first step of its last time began, s since the last reset; NaN: never."""
        return self._time("since")

    @property
    def ended(self) -> float:
        """When the last step of its last time was over, s since the last reset; NaN: never, or it acts."""
        return self._time("ended") if not self.active else float("nan")

    @property
    def numbers(self) -> FaultNumbers:
        """Its numbers, times and threshold, live: sim.faults["encoder hangs"].numbers.until = 0.7."""
        return Faults(self._layout, self._devices).numbers(self.name)

    def start(self) -> None:
        """Acts from the next step on, for its duration or until stop()."""
        self._devices._ask(self._index, True)

    def stop(self) -> None:
        """Acts no more from the next step on. One with a time or a condition begins again when that has let go and holds anew."""
        self._devices._ask(self._index, False)

    def _memory(self, what: str) -> float:
        return float(self._devices.block[self._layout.fault_memory(self._index) + TRIGGER_MEMORY.index(what)])

    def _time(self, what: str) -> float:
        k = self._memory(what)
        return (k - 1.0) * self._layout.dt if k > 0.0 else float("nan")

    def __repr__(self) -> str:
        said = f"acts since {self.began:g} s" if self.active else f"acted until {self.ended:g} s" if self.count else "has not acted"
        return f"<Fault {self.name!r}: {self.kind}, {said}>"


class Faults(LiveTable[ActiveFault]):
    """Faults by name. A number's own name is "<fault>.<number>", as in set_parameter("encoder hangs.until", 0.7)."""

    what = "fault"

    def __init__(self, layout: Layout, devices: Devices) -> None:
        self.layout, self.engine = layout, devices
        self._by_name = {row.name: k for k, row in enumerate(layout.faults)}

    def __getitem__(self, name: str) -> ActiveFault:
        return ActiveFault(self.layout, self.engine, self._place(name))

    def numbers(self, name: str) -> FaultNumbers:
        """Those of one of them."""
        from mbros.bench.fault_numbers import FaultNumbers      # start-up time: faults are looked at more often than changed

        return FaultNumbers(self, name, self._place(name))

    def __repr__(self) -> str:
        return f"<Faults: {len(self)}, {sum(fault.active for fault in self.values())} act>"
