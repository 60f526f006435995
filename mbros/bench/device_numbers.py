"""The numbers of devices while a simulation goes on: sim.devices["joint2.servo"].kp = 300."""
from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np
from mbros_core.plant.channels.registry import slots

from mbros.describe.devices.channel import Channel
from mbros.describe.devices.points import points_in
from mbros.errors import MbrosError
from mbros.bench.bench import finite
from mbros.bench.covariances import covariances
from mbros.bench.live_numbers import LiveNumbers, LiveTable, Tried, check_room

if TYPE_CHECKING:
    from mbros.bench.layout import DevicePart, Layout
    from mbros_core.plant._devices import Devices
    from mbros_core.plant.rows import Number

FIXED = {"hold_rate": "when the simulator is made, with its grid of steps", "rate": "when the simulator is made, with its grid of steps",
         "latency": "when the simulator is made, with the room for what is under way"}


class DeviceNumbers(LiveNumbers):
    """The numbers of a device, or of a channel, live: an attribute each. Setting one is in force from the next step on, also in a running
    real-time loop; what cannot be is refused, and nothing changes."""

    __slots__ = ()
    fixed = FIXED

    def _tried(self, values: Mapping[str, Any]) -> Tried:
        tried = Tried()
        for k in self._at:
            part = self._of.layout.parts[k]
            values = {**values, **self._following(k, values)}
            numbers = self._changed(k, values)
            for number, first, size in places(part):
                if number.name in values:
                    tried.at += range(self._of.starts[k] + first, self._of.starts[k] + first + size)
                    tried.written += numbers[first:first + size].tolist()
                    tried.values[number.name] = value_in(number, numbers[first:first + size])
        tried.values = self._worded(tried.values)
        return tried

    def as_dict(self) -> dict[str, Any]:
        """{number: value}, those in force or about to be."""
        values: dict[str, Any] = {}
        for k in self._at:
            values.update(self._of.numbers_of(k))
        return self._worded(values)

    def rows(self) -> dict[str, Number]:
        """{number: what it is} of those that can be set."""
        return {number.name: number for k in self._at for number, _, _ in places(self._of.layout.parts[k]) if number.name not in FIXED}

    def _worded(self, values: dict[str, Any]) -> dict[str, Any]:
        worded = getattr(self._of.layout.parts[self._at[0]].device, "worded", None)
        return values if worded is None else worded(values)

    def _following(self, k: int, values: Mapping[str, Any]) -> dict[str, np.ndarray]:
        """Covariances of part k that are those of its noise, and were neither given nor set: with these values they are others."""
        part, now = self._of.layout.parts[k], self._of.numbers_of(k)
        own = part.instead.keys() - values.keys() if getattr(part.device, "family", "") == "sensor" else ()
        if not own or not values:
            return {}
        of_now, then = (covariances(part.device.with_numbers(part.name, {**now, **more}), self._of.layout.dt) for more in ({}, values))
        return {name: then[name] for name in own if part.device._given.get(name) is None and np.array_equal(of_now[name], now[name])
                and not np.array_equal(then[name], now[name])}

    def _changed(self, k: int, values: Mapping[str, Any]) -> np.ndarray:
        """All numbers of part k with other values for some, refused as the class refuses them."""
        part = self._of.layout.parts[k]
        if not isinstance(part.device, Channel):
            other = part.device.with_numbers(part.name, {**self._of.numbers_of(k), **values})
            if other.row.name != part.row.name:
                raise MbrosError(f"devices: {self._name}: with {', '.join(values)} as given it is of another kind, {other.row.name} and "
                                 f"not {part.row.name}; expected numbers of the same kind. Make another simulator")
            return finite(other, part.instead)
        dt = self._of.layout.dt
        numbers = dict(part.device.changed(**{**self.as_dict(), **values}).stages)[part.row.name]
        if part.row.name == "delay":
            check_room(f"devices: {self._name}", numbers, slots(numbers, dt), part.room)
        return part.device.row(part.row.name, numbers, dt)


class LiveDevices(LiveTable[DeviceNumbers]):
    """Devices and channels by name, with their numbers. A number's own name is "<device>.<number>", as in set_parameter("joint2.servo.kp",
    300.0)."""

    starts: list[int]

    def __init__(self, layout: Layout, engine: Devices) -> None:
        self.layout, self.engine = layout, engine
        self.starts = np.cumsum([0, *map(len, layout.numbers)]).tolist()
        self._by_name = {}
        for k, part in enumerate(layout.parts):
            taken = self._by_name.get(part.name)
            alone = taken is None or layout.parts[taken[0]].device is part.device and isinstance(part.device, Channel)
            self._by_name.setdefault(part.name if alone else f"channel {part.name}", []).append(k)

    def numbers_of(self, k: int) -> dict[str, Any]:
        """{number: value} of part k, as its class takes them."""
        part, numbers = self.layout.parts[k], self.engine._numbers()[self.starts[k]:]
        values: dict[str, Any] = {}
        for number, at, size in places(part):
            values[number.name] = value_in(number, numbers[at:at + size])
        return values

    def numbers(self, name: str) -> DeviceNumbers:
        """Those of one of them."""
        return self[name]

    def __getitem__(self, name: str) -> DeviceNumbers:
        return DeviceNumbers(self, name, self._place(name))

    def __repr__(self) -> str:
        return f"<LiveDevices: {', '.join(self)}>"


def places(part: DevicePart) -> Iterator[tuple[Number, int, int]]:
    """(number, where it is among those of its part, how many it is) of every number that a user gives."""
    taken = {number.name for number in part.row.numbers} - {"dt"} if isinstance(part.device, Channel) else {
        number.name for number in part.device.taken()}
    at = 0
    for number in part.row.numbers:
        if number.name in taken:
            yield number, at, number.size
        at += number.size


def value_in(number: Number, x: np.ndarray) -> Any:
    """The value that stands in x (size,)."""
    if number.points:
        return points_in(x)
    if number.size > 1:
        return x.copy()
    return number.default if abs(x[0]) >= 1e300 and number.default in (inf, -inf) else float(x[0])
