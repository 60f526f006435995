"""Signals of a simulation with a bench, by name: what was sent, what came, and when."""
from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from mbros.errors import OwnAttributes, unknown
from mbros.bench.layout import HEAD

if TYPE_CHECKING:
    from mbros.bench.layout import Layout, SignalRow
    from mbros_core.plant._devices import Devices


class Signal:
    """One signal, live. value: what came through its channels last; sent: what went into them. NaN: nothing yet, or not commanded."""

    __slots__ = ("_devices", "_layout", "_index", "_sent_at", "_value_at", "_one")

    def __init__(self, layout: Layout, devices: Devices, index: int) -> None:
        self._devices, self._layout, self._index = devices, layout, index
        row = layout.rows[index]
        self._sent_at, self._one = HEAD + row.at, row.size == 1
        self._value_at = self._sent_at + layout.size

    @property
    def _row(self) -> SignalRow:
        return self._layout.rows[self._index]

    @property
    def name(self) -> str:
        return self._row.name

    @property
    def unit(self) -> str:
        return self._row.unit

    @property
    def size(self) -> int:
        return self._row.size

    @property
    def value(self) -> Any:
        """A number, or (size,) where there are several."""
        return self._numbers(self._value_at)

    @property
    def sent(self) -> Any:
        """What its channels were given last."""
        return self._numbers(self._sent_at)

    def _numbers(self, at: int) -> Any:
        devices = self._devices
        devices.plant.state._check_free()
        return devices.block.item(at) if self._one else devices.block[at:at + self.size].copy()

    @property
    def time(self) -> float:
        """When `value` came, s since the last reset; NaN: never."""
        at = HEAD + 2 * self._layout.size + len(self._layout.rows) + self._index
        return float(self._devices.block[at]) * self._layout.dt

    def __repr__(self) -> str:
        return f"<Signal {self.name}: {np.array2string(np.asarray(self.value), precision=6)} {self.unit}>"


class Signals(OwnAttributes, Mapping[str, Signal]):
    """Signals by name."""

    def __init__(self, layout: Layout, devices: Devices) -> None:
        self._layout, self._devices = layout, devices
        self._index = layout.index
        self._made: dict[str, Signal] = {}

    def __getitem__(self, name: str) -> Signal:
        signal = self._made.get(name) if isinstance(name, str) else None
        return self._found(name) if signal is None else signal

    def _found(self, name: str) -> Signal:
        if not isinstance(name, str) or name not in self._index:
            raise unknown("signal", name, "this bench", self._index)
        return self._made.setdefault(name, Signal(self._layout, self._devices, self._index[name]))

    def __iter__(self) -> Iterator[str]:
        return iter(self._index)

    def __len__(self) -> int:
        return len(self._index)

    def __repr__(self) -> str:
        return f"<Signals: {len(self)}>"
