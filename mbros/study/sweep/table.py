"""What a sweep gives: one table, a row for every case."""
from __future__ import annotations

from collections.abc import Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from mbros_core.support.available import Room

from mbros.errors import MbrosError, unknown
from mbros.names import plural, printable
from mbros.study.sweep.cases import Case, written
from mbros.simulate.table_files import write_table

Results = dict[int, dict[str, np.ndarray]]


class SweepTable(Mapping[str, np.ndarray]):
    """Columns by name, each (cases, ...): the values of the cases, then the results. `pandas.DataFrame(dict(table))` takes those with one
    number a case.

    errors: {index of a case: what went wrong}. Results of a case that failed, and those it did not give, are NaN (words: empty);
    a column of whole numbers or truth values then becomes one of floating-point numbers.
    """

    def __init__(self, columns: dict[str, np.ndarray], parameters: tuple[str, ...], errors: dict[int, str], count: int) -> None:
        self._columns, self.parameters, self.errors, self.count = columns, parameters, errors, count

    def __getitem__(self, name: str) -> np.ndarray:
        try:
            return self._columns[name]
        except KeyError:
            raise unknown("column", name, "the table of the sweep", self._columns) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __repr__(self) -> str:
        failed = f", {len(self.errors)} failed" if self.errors else ""
        return f"<sweep of {plural(self.count, 'case')}{failed}: {', '.join(map(printable, self._columns))}>"

    def save(self, path: str | PathLike[str]) -> Path:
        """Write it: .npz (NumPy; every bit), .csv (text; arrays as lists), .parquet (needs pyarrow). A column "error" says what failed."""
        columns = dict(self._columns)
        if "error" not in columns:
            columns["error"] = np.array([self.errors.get(index, "") for index in range(self.count)], dtype=str)
        return write_table("sweep", path, columns)


def table_of(cases: list[Case], results: Results, errors: dict[int, str]) -> SweepTable:
    """One column for every name of a case and of a result."""
    count = len(cases)
    parameters = tuple(dict.fromkeys(name for case in cases for name in case))
    columns = {name: of_cases([case.get(name) for case in cases]) for name in parameters}
    for name in dict.fromkeys(name for index in sorted(results) for name in results[index]):
        columns[name] = of_results(name, {index: row[name] for index, row in results.items() if name in row}, count)
    return SweepTable(columns, parameters, dict(sorted(errors.items())), count)


def of_cases(values: list[Any]) -> np.ndarray:
    """Numbers as they are; what is no column of numbers, as text."""
    if all(isinstance(value, str) for value in values):
        return np.array(values, dtype=str)
    try:
        column = np.array(values)
    except ValueError:                                  # lists of several lengths
        column = np.empty(0, object)
    if column.dtype.kind in "bif" and len(column) == len(values):
        return column
    return np.array([value if isinstance(value, str) else written(value) for value in values], dtype=str)


def of_results(name: str, rows: dict[int, np.ndarray], count: int) -> np.ndarray:
    shapes = {row.shape: index for index, row in sorted(rows.items(), reverse=True)}
    kinds = {row.dtype.kind == "U": index for index, row in sorted(rows.items(), reverse=True)}
    for what in (shapes, kinds):
        if len(what) > 1:
            first, second = sorted(what.values())[:2]
            raise MbrosError(f"sweep: result {name!r}: expected the same shape and kind in all cases, got {about(rows[first])} in case "
                             f"{first} and {about(rows[second])} in case {second}")
    kind = np.result_type(*(row.dtype for row in rows.values()))
    if len(rows) < count and kind.kind in "biu":
        kind = np.dtype(float)
    empty = "" if kind.kind == "U" else np.nan if kind.kind in "fc" else 0
    with Room(f"sweep: result {name!r} of {count} cases", count, *next(iter(shapes))):
        column = np.full((count, *next(iter(shapes))), empty, kind)
    for index, row in rows.items():
        column[index] = row
    return column


def about(row: np.ndarray) -> str:
    return f"{'text' if row.dtype.kind == 'U' else 'numbers'} of shape {row.shape}"
