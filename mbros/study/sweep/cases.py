"""The cases of a sweep: plain values under names, each with a seed that is made of nothing but these."""
from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

import numpy as np
from mbros_core.support.available import SMALL, amount, memory_available
from mbros_core.support.numbers import is_whole, short

from mbros.arguments import entries
from mbros.errors import MbrosError, NoMemoryError, unknown

MOST = 100_000_000          # cases of a sweep
BYTES = 1000                # that a case takes


class Case(Mapping[str, Any]):
    """What `run` of a sweep is given: case["mass"], and random numbers that are its own.

    index: its place in the sweep. seed: 128 bits, of the sweep's seed and the case's values (and of how many equal cases come before it),
    so that a case has the same seed in any order, on any machine.
    """

    def __init__(self, values: dict[str, Any], index: int, seed: int) -> None:
        self._values, self.index, self.seed = values, index, seed

    def __getitem__(self, name: str) -> Any:
        try:
            return self._values[name]
        except KeyError:
            raise unknown("value", name, f"case {self.index} of the sweep", self._values) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __contains__(self, name: object) -> bool:
        return name in self._values

    def __repr__(self) -> str:
        return f"<case {self.index}: {', '.join(f'{name}={value!r}' for name, value in self._values.items())}>"

    def rng(self) -> np.random.Generator:
        """A new random generator that begins with the case's seed."""
        return np.random.default_rng(self.seed)


def plain(who: str, value: Any) -> Any:
    """A value as JSON has it; a number, a word, a truth value, None, or a list of such."""
    if isinstance(value, (np.generic, np.ndarray)):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [plain(who, part) for part in value]
    if isinstance(value, float) and not np.isfinite(value):
        raise MbrosError(f"{who}: expected a finite number, got {value}")
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise MbrosError(f"{who}: expected a number, a word, True, False, None, or a list of such, got {short(value)}")


def values_of(cases: Any) -> list[dict[str, Any]]:
    """The values of every case. cases: a list of {name: value}; or {name: list of values}, all combinations, the last name fastest."""
    if isinstance(cases, Mapping):
        columns = {name: values_of_one(name, values) for name, values in cases.items()}
        count = int(np.prod([len(column) for column in columns.values()], dtype=object))
        if count > MOST:
            raise MbrosError(f"sweep: cases: {count} combinations; expected at most {MOST}")
        size = BYTES * float(count)
        if size > SMALL and size > memory_available():
            raise NoMemoryError(f"sweep: {count} cases take {amount(size)} of memory, and {amount(memory_available())} are free. Ask for "
                                "fewer at a time")
        rows: list[Any] = [dict(zip(columns, row)) for row in product(*columns.values())]
    else:
        rows = entries(cases) if not isinstance(cases, (str, bytes)) else None      # type: ignore[assignment]
        if rows is None:
            raise MbrosError(f"sweep: cases: expected a list of {{name: value}}, or {{name: list of values}}, got {short(cases)}")
    return [one_case(index, row) for index, row in enumerate(rows)]


def values_of_one(name: object, values: Any) -> list[Any]:
    listed = None if isinstance(values, (str, bytes, Mapping)) else entries(values)
    if not listed:
        raise MbrosError(f"sweep: cases: {name!r}: expected a list of at least one value, got {short(values)}")
    return listed


def one_case(index: int, row: Any) -> dict[str, Any]:
    if not isinstance(row, Mapping) or not all(isinstance(name, str) and name for name in row):
        raise MbrosError(f"sweep: case {index}: expected {{name: value}}, got {short(row)}")
    return {name: plain(f"sweep: case {index}: {name!r}", value) for name, value in row.items()}


def written(value: Any) -> str:
    """The same text for the same values, whatever their order; of numbers every digit."""
    return json.dumps(value, sort_keys=True, allow_nan=False, separators=(",", ":"))


def cases_of(rows: list[dict[str, Any]], seed: Any) -> list[Case]:
    if not is_whole(seed) or seed < 0:
        raise MbrosError(f"sweep: seed: expected a whole number, zero or more, got {short(seed)}")
    before: Counter[str] = Counter()
    cases = []
    for index, row in enumerate(rows):
        text = written(row)
        digest = hashlib.sha256(f"{int(seed)} {before[text]} {text}".encode()).digest()
        before[text] += 1
        cases.append(Case(row, index, int.from_bytes(digest[:16], "little")))
    return cases
