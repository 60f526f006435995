"""Signals of a bench over time: the columns that a log and a recording have beside the robot's own."""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import numpy as np
from mbros_core.support.numbers import short

from mbros.errors import MbrosError, WrongTypeError, unknown
from mbros.bench.layout import HEAD

if TYPE_CHECKING:
    from mbros.bench.layout import Layout
    from mbros_core.engine._engine import Plant
    from mbros_core.typing import Array


class SignalColumns:
    """Which signals, and where their values stand in the memory of the devices. patterns: names, or patterns of names; of a fault there is
    fault.<name>.active, 1 where it acts."""

    def __init__(self, who: str, layout: Layout | None, patterns: str | Sequence[str]) -> None:
        wanted: Any = [patterns] if isinstance(patterns, str) else patterns
        if not isinstance(wanted, (list, tuple)) or not all(isinstance(pattern, str) for pattern in wanted):
            raise WrongTypeError(f"{who}: signals: expected names of signals, or patterns such as 'joint*.position', got {short(patterns)}")
        if layout is None:
            raise MbrosError(f"{who}: signals: there is no bench, and so there are no signals; give it one: bench=...")
        first = HEAD + layout.size
        known = {row.name: (row.unit, first + row.at, row.size) for row in layout.rows}
        known |= {name: ("", place, 1) for name, place in layout.activity().items()}
        rows: dict[str, tuple[str, int, int]] = {}
        for pattern in wanted:
            found = {name: known[name] for name in ([pattern] if pattern in known else known) if name == pattern
                     or fnmatchcase(name, pattern)}
            if not found:
                raise unknown("signal", pattern, "this bench", known)
            rows.update(found)
        self._stand({name: (unit, size) for name, (unit, _, size) in rows.items()},
                    [at + i for _, at, size in rows.values() for i in range(size)])

    @classmethod
    def of(cls, rows: dict[str, tuple[str, int]], places: Sequence[int]) -> SignalColumns:
        """Of signals, {name: (unit, numbers)}, that stand elsewhere, as in a recording."""
        self = object.__new__(cls)
        self._stand(rows, places)
        return self

    def _stand(self, rows: dict[str, tuple[str, int]], places: Sequence[int]) -> None:
        self.units, self.places = {name: unit for name, (unit, _) in rows.items()}, np.array(places, dtype=np.intp)
        ends = np.cumsum([0, *(size for _, size in rows.values())]).tolist()
        self.columns = {name: (ends[k], size) for k, (name, (_, size)) in enumerate(rows.items())}

    @property
    def size(self) -> int:
        """Numbers of all of them."""
        return len(self.places)

    def names(self) -> list[str]:
        """A name for every number: of a signal with several, <signal>/0, <signal>/1, ..."""
        return [name if size == 1 else f"{name}/{k}" for name, (_, size) in self.columns.items() for k in range(size)]

    def read(self, plant: Plant) -> Array:
        """What came through their channels last (size,). NaN: nothing yet, or not commanded."""
        return plant.devices.block[self.places]


class SignalLog(Mapping[str, "Array"]):
    """The signals of a log by name: (n,), or (n, size) of those with several numbers. units: by name."""

    def __init__(self, columns: SignalColumns | None, values: Array, of: str) -> None:
        self._columns, self._values, self._of = {} if columns is None else columns.columns, values, of
        self.units = {} if columns is None else dict(columns.units)

    def __getitem__(self, name: str) -> Array:
        if not isinstance(name, str) or name not in self._columns:
            raise unknown("signal", name, f"the log of model {self._of!r}", self._columns)
        at, size = self._columns[name]
        return self._values[:, at] if size == 1 else self._values[:, at:at + size]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __repr__(self) -> str:
        return f"<SignalLog: {', '.join(self._columns) or 'no signals'}>"
