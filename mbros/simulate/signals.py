"""Signals of a simulation with a bench, by name: what was sent, what came, and when."""
from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from mbros.errors import OwnAttributes, unknown

if TYPE_CHECKING:
    from mbros.simulate.bench_layout import Layout, SignalRow
    from mbros_core.devices._devices import Devices


class Signal:
    """One signal, live. value: what came through its channels last; sent: what went into them. NaN: nothing yet, or not commanded."""

    __slots__ = ("_devices", "_layout", "_index")

    def __init__(self, layout: Layout, devices: Devices, index: int) -> None:
        self._devices, self._layout, self._index = devices, layout, index

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
        return self._numbers(self._layout.size)

    @property
    def sent(self) -> Any:
        """What its channels were given last."""
        return self._numbers(0)

    def _numbers(self, start: int) -> Any:
        self._devices.plant.state._check_free()
        at = 2 + start + self._row.at
        x = self._devices.block[at:at + self.size]
        return float(x[0]) if self.size == 1 else x.copy()

    @property
    def time(self) -> float:
        """When `value` came, s since the last reset; NaN: never."""
        at = 2 + 2 * self._layout.size + len(self._layout.rows) + self._index
        return float(self._devices.block[at]) * self._layout.dt

    def __repr__(self) -> str:
        return f"<Signal {self.name}: {np.array2string(np.asarray(self.value), precision=6)} {self.unit}>"


class Signals(OwnAttributes, Mapping[str, Signal]):
    """Signals by name."""

    def __init__(self, layout: Layout, devices: Devices) -> None:
        self._layout, self._devices = layout, devices
        self._index = {row.name: k for k, row in enumerate(layout.rows)}

    def __getitem__(self, name: str) -> Signal:
        k = self._index.get(name) if isinstance(name, str) else None
        if k is None:
            raise unknown("signal", name, "this bench", self._index)
        return Signal(self._layout, self._devices, k)

    def __iter__(self) -> Iterator[str]:
        return iter(self._index)

    def __len__(self) -> int:
        return len(self._index)

    def __repr__(self) -> str:
        return f"<Signals: {len(self)}>"
