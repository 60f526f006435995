"""The numbers of a bench as parameters of the node, `device.` or `fault.` before the names that they have in Python (bench_ways.md)."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from mbros.bench.bench import OF_JOINTS
from mbros.bench.device_numbers import LiveDevices
from mbros.bench.faults import Faults
from mbros.bench.live_numbers import Tried

from mbros.ros.parameters import OF_DEVICES, OF_FAULTS, Row

if TYPE_CHECKING:
    from mbros.bench.layout import Layout
    from mbros_core.plant._devices import Devices
    from mbros_core.plant.rows import Number
    from mbros.ros.typing import Value, Values

PREFIXES = {"device.": OF_DEVICES, "fault.": OF_FAULTS}
KINDS = {bool: "bool", str: "string", tuple: "doubles"}


class DeviceParameters:
    """Those of one bench. What cannot be is refused as in Python; several, of several devices and faults, are in force in the same step."""

    def __init__(self, layout: Layout, devices: Devices) -> None:
        self.live = {"device.": LiveDevices(layout, devices), "fault.": Faults(layout, devices)}

    def values(self) -> Values:
        """{name: value}, those in force or about to be."""
        return {row.name: row.default for row in self.rows()}

    def rows(self) -> list[Row]:
        """The parameters, with these as defaults."""
        found = []
        for prefix, table in self.live.items():
            for of in table:
                numbers = table.numbers(of)
                values = numbers.as_dict()
                found += [_row(PREFIXES[prefix], f"{prefix}{of}.{name}", number, _plain(values[name]))
                          for name, number in numbers.rows().items()]
        return found

    def tried(self, values: Mapping[str, Value]) -> Values:
        """{name: value} as they would be in force: where no effort limit is given, the joint's own. MbrosError where one cannot be."""
        return {prefix + name: _plain(value) for prefix, tried in self._tried(values).items() for name, value in tried.values.items()}

    def put(self, values: Mapping[str, Value]) -> None:
        """From the next step on those among these that are numbers of devices and faults are in force."""
        every = Tried()
        for prefix, tried in self._tried(values).items():
            every.add(prefix, tried)
        self.live["device."].write(every)

    def _tried(self, values: Mapping[str, Value]) -> dict[str, Tried]:
        """Of devices and of faults, without the prefix."""
        return {prefix: table.tried({name.removeprefix(prefix): value for name, value in values.items() if name.startswith(prefix)})
                for prefix, table in self.live.items()}


def _plain(value: Value | np.ndarray) -> Value:
    return tuple(value.ravel().tolist()) if isinstance(value, np.ndarray) else value


def _row(of: Row, name: str, number: Number, value: Value) -> Row:
    """The parameter of a number that has this value now. of: the row of its table."""
    kind = KINDS.get(type(value), "double")
    unit = " or ".join(OF_JOINTS.get(number.unit, (number.unit,)))
    return replace(of, name=name, kind=kind, default=value, doc=number.doc, unit=unit,
                   size=number.size if kind == "doubles" and not number.points else 0,
                   expected=number.expected if kind in ("double", "doubles") else "")
