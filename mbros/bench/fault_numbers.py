"""The numbers of faults while a simulation goes on: sim.faults["encoder hangs"].numbers.until = 0.7."""
from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from mbros_core.plant.channels.registry import BY_NAME as CHANNELS
from mbros_core.plant.faults.registry import TRIGGER_NUMBERS, room

from mbros.bench.bench_faults import numbers_of
from mbros.bench.device_numbers import value_in
from mbros.bench.live_numbers import LiveNumbers, Tried, check_room

if TYPE_CHECKING:
    from mbros.describe.devices.fault import Fault
    from mbros.bench.layout import Layout
    from mbros_core.plant.rows import Number


class FaultNumbers(LiveNumbers):
    """The numbers of a fault, live: its own, its times and its threshold. Setting one is in force from the next step on, also in a running
    real-time loop; what cannot be is refused, and nothing changes. Of all signals and joints of a pattern they are the same."""

    __slots__ = ()
    what = "fault"

    @property
    def _fault(self) -> Fault:
        fault: Fault = self._of.layout.faults[self._at].fault
        return fault

    def as_dict(self) -> dict[str, Any]:
        """{number: value}, those in force or about to be."""
        numbers = self._of.engine._numbers()
        return {number.name: value_in(number, numbers[at:at + number.size]) for number, at in _places(self._of.layout, self._at)}

    def rows(self) -> dict[str, Number]:
        """{number: what it is} of those that can be set."""
        return {number.name: number for number in self._fault.taken()}

    def _tried(self, values: Mapping[str, Any]) -> Tried:
        layout, k = self._of.layout, self._at
        other = self._fault.with_numbers({**self.as_dict(), **values})
        own = {name: float(x[0]) for name, x in other.values.items()}
        for _, fault, _, slots, _ in layout.signal_faults:
            if fault == k:
                check_room(f"faults: {self._name}", own, room(other.row, own, layout.dt), slots) if slots else None
        new = np.array(self._of.engine._numbers())
        before = new.copy()
        for start, row in numbers_of(layout, k, other):
            new[start:start + len(row)] = row
        at = np.flatnonzero(new != before)          # the others are perhaps just being set elsewhere
        return Tried(at.tolist(), new[at].tolist(), {number.name: value_in(number, new[first:first + number.size])
                                                     for number, first in _places(layout, k) if number.name in values})


def _places(layout: Layout, k: int) -> Iterator[tuple[Number, int]]:
    """(number, where it begins among all numbers of the bench) of what can be set of fault k."""
    fault = layout.faults[k].fault
    (trigger, _), (own, _), *_ = numbers_of(layout, k, fault)
    names = [number.name for number in CHANNELS[fault.row.stage].numbers] if fault.row.stage else None
    at = 0
    for number in fault.row.numbers:
        yield number, own + (at if names is None else names.index(number.name))
        at += number.size
    for number in fault.taken()[len(fault.row.numbers):]:
        yield number, trigger + TRIGGER_NUMBERS.index(number.name)
