"""CSV files that others wrote, columns by name: PlotJuggler's export, a logger's, a spreadsheet's.

A column is found by the name that is asked for, by another one that is given for it, or as the only one that ends in /<name>: PlotJuggler
writes `/joint_states/joint1/position`, and `__time` for the times. Rows in which some of the cells asked for are empty are left out: such
files have a row for every instant of every series.
"""
from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from mbros_core.support.numbers import short

from mbros.errors import MbrosError, unknown
from mbros.names import printable
from mbros.simulate.log import Log
from mbros.study.replay.reading import LARGEST, csv_file, first_line, full_row, read_csv
from mbros.record.recorder import plant_columns
from mbros.simulate.simulator import make_plant

if TYPE_CHECKING:
    from mbros import Model
    from mbros_core.typing import Array

TIMES = ("time", "__time")


def read_log(path: str | os.PathLike[str], model: Model, columns: Mapping[str, str] | None = None) -> Log:
    """The log in a CSV file: of Log.save, of `mbros run --csv`, or of another program's that has a column of times (`time`, or `__time` as
    PlotJuggler writes it) and one of each joint's position, "<joint>/position" or ".../<joint>/position".

    columns: what others are called there, {"joint1/position": "q1", "time": "t"}. Units are SI. What a file does not have, velocities,
    efforts and energies, is NaN; rows with empty cells are left out. MbrosError names the file and the column.
    """
    if str(path).endswith((".npz", ".parquet")):
        raise MbrosError(f"{path}: read_log reads CSV files; numpy.load reads .npz, and pandas.read_parquet .parquet; save the log as .csv")
    plant = make_plant(model)
    names, at = plant_columns(plant)
    there = first_line(path)
    if columns is None and there[:2] == ["time", *names[:1]]:
        return read_csv(path, model)
    joints = [joint for joint in model.joints if joint.nv and not joint.follows]
    if any(joint.nv > 1 for joint in joints):
        raise MbrosError(f"{path}: model {model.name!r} has joints of several coordinates, of which only files of `mbros run --csv` and "
                         "Log.save have columns")
    wanted = {f"{joint.name}/{part}": (joint, part) for joint in joints for part in ("position", "velocity", "effort")}
    _check_mapping(path, columns, wanted)
    places = {name: column_of(path, there, name, columns, part != "position") for name, (_, part) in wanted.items()}
    known = {name: k for name, k in places.items() if k is not None}
    table = numbers(path, len(there), [column_of(path, there, "time", columns), *known.values()])
    place, log = dict(zip(names, at, strict=True)), Log(model, len(table))
    for row in table:
        time, q, v, effort, *_ = full_row(plant, [place[name] for name in known], row[0], row[1:])
        for name, (joint, part) in wanted.items():
            if name not in known:
                (v if part == "velocity" else effort)[joint.v_slice] = np.nan
        log.add(time, q, v, effort, np.nan, np.nan)
    return log


def read_columns(path: str | os.PathLike[str], wanted: Sequence[str], columns: Mapping[str, str] | None = None) -> Array:
    """The time and the wanted columns (n, 1 + len(wanted)) of a file; columns: what they are called there, where it is not that.
    MbrosError where one is not there or is there twice, and for cells that are no finite numbers."""
    _check_mapping(path, columns, wanted)
    there = first_line(path)
    return numbers(path, len(there), [column_of(path, there, name, columns) for name in ("time", *wanted)])


def _check_mapping(path: str | os.PathLike[str], columns: Mapping[str, str] | None, wanted: Iterable[str]) -> None:
    if columns is not None and not isinstance(columns, Mapping):
        raise MbrosError(f"columns: expected {{name: what the file calls it}}, got {short(columns)}")
    for name in columns or ():
        if name not in ("time", *wanted):
            raise unknown("column", name, f"what is read of {path}", ["time", *wanted])


def column_of(path: str | os.PathLike[str], there: list[str], name: str, columns: Mapping[str, str] | None,
              optional: bool = False) -> int | None:
    """Where the column stands among those that are `there`; None for an optional one that nobody gave and the file does not have."""
    given = (columns or {}).get(name)
    called = [given] if given is not None else list(TIMES) if name == "time" else [name]
    found = [k for k, column in enumerate(there) if column in called]
    if not found and given is None:
        found = [k for k, column in enumerate(there) if any(column.endswith(f"/{end}") for end in called)]
    if len(found) == 1:
        return found[0]
    if optional and not found and given is None:
        return None
    shown = ", ".join(printable(column) for column in there[:6]) + (", ..." if len(there) > 6 else "")
    if not found:
        raise MbrosError(f"{path}: it has no column {called[0]!r} (it has {shown}); say what it is called there: "
                         f"columns={{{name!r}: ...}}")
    raise MbrosError(f"{path}: {len(found)} columns could be {name!r}: {printable(there[found[0]])}, {printable(there[found[1]])}; say "
                     f"which: columns={{{name!r}: ...}}")


def numbers(path: str | os.PathLike[str], width: int, places: Sequence[int | None]) -> Array:
    """These columns (n, len(places)), of `width`, of the rows that have all of them; their times rise."""
    found, most = [], 64 * width + 64                   # of a row that is longer, what is left is one of another width
    with csv_file(path) as file:
        try:
            for n, row in enumerate(csv.reader(iter(lambda: file.readline(most), ""))):
                if n and len(row) != width:
                    raise MbrosError(f"{path}: row {n} has {len(row)} cells, its first line names {width}")
                cells = [row[k] for k in places if k is not None]
                if n and all(map(str.strip, cells)):
                    found.append([float(cell) for cell in cells])
        except (csv.Error, UnicodeDecodeError, ValueError) as error:
            if isinstance(error, MbrosError):
                raise
            raise MbrosError(f"{path}: row {n} cannot be read: {error}. Is the file complete?") from error
    table = np.array(found).reshape(-1, len(places))
    bad = np.argwhere(~(np.abs(table) < LARGEST))
    if len(bad):
        raise MbrosError(f"{path}: its cells hold {table[tuple(bad[0])]}; expected finite numbers, below {LARGEST:g}, or empty ones")
    if not len(table):
        raise MbrosError(f"{path}: it has no rows in which all of these columns have numbers; were they exported together?")
    if (np.diff(table[:, 0]) <= 0.0).any():
        k = int(np.argmax(np.diff(table[:, 0]) <= 0.0))
        raise MbrosError(f"{path}: its times do not rise: {table[k, 0]:.17g} s, then {table[k + 1, 0]:.17g} s")
    return table
