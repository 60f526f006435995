"""Recordings back into a Log: the CSV files of mbros.record.recorder."""
from __future__ import annotations

import csv
import itertools
import os
import re
from io import TextIOWrapper
from typing import Any

import numpy as np
from mbros_core.support.files import open_regular

from mbros.arguments import file_path
from mbros.errors import MbrosError
from mbros.simulate.log import Log
from mbros.record.recorder import meant, plant_columns
from mbros.simulate.simulator import make_plant

MAX_BYTES = 1 << 30
MAX_LINE = 1 << 22          # of the first line
LARGEST = 1e300             # of a number: what is computed of them stays finite


def first_line(path: str | os.PathLike[str]) -> list[str]:
    """The names in the first line of a CSV file."""
    with csv_file(path) as file:
        try:
            return [meant(name) for name in next(csv.reader([file.readline(MAX_LINE)]), [])]
        except (csv.Error, UnicodeDecodeError) as error:
            raise MbrosError(f"{path}: its first line cannot be read as text: {error}. Is it a CSV file?") from error


def csv_columns(path: str | os.PathLike[str]) -> list[str]:
    """The names in the first line of a recording."""
    names = first_line(path)
    if not names or names[0] != "time":
        raise MbrosError(f"{path}: it is no recording of mbros: its first column is {names[0] if names else ''!r:.60}, expected 'time'")
    return names


def fits(model: Any, columns: list[str]) -> bool:
    """Whether a recording with these columns is of such a robot."""
    names = plant_columns(make_plant(model))[0]
    return any(columns[1:1 + len(known)] == known and all(map(_of_bench, columns[1 + len(known):])) for known in (names, names[:-1]))


def _of_bench(name: str) -> bool:
    """Whether a column is a signal of a bench, as `mbros run --signals` writes them behind those of the robot."""
    return "." in re.sub(r"/[0-9]+$", "", name).rpartition("/")[2]


def read_csv(path: str | os.PathLike[str], model: Any) -> Log:
    """The recording of a simulation of `model` as a Log."""
    columns = csv_columns(path)
    plant = make_plant(model)
    names, places = plant_columns(plant)
    if names[-1] not in columns:            # what a Log does not hold: clamps
        names, places = names[:-1], places[:-1]
    if columns[1:1 + len(names)] != names or not all(map(_of_bench, columns[1 + len(names):])):
        odd = next((name for name in columns[1:] if name not in names and not _of_bench(name)), None)
        missing = next((name for name in names if name not in columns), None)
        reason = (f"it has a column {odd!r}" if odd is not None else f"it has no column {missing!r}" if missing is not None
                  else "its columns are in another order")
        raise MbrosError(f"{path}: it is no recording of robot {model.name!r}: {reason}")
    table = rows(path, len(columns))[:, :1 + len(names)]            # what a bench says is not where the robot is
    bad = np.argwhere(~(np.abs(table) < LARGEST))
    if len(bad):
        raise MbrosError(f"{path}: row {int(bad[0][0]) + 1} holds {table[tuple(bad[0])]}; expected finite numbers, below {LARGEST:g}")
    log = Log(model, len(table))
    for row in table:
        log.add(*full_row(plant, places, row[0], row[1:]))
    return log


def full_row(plant: Any, places: list[int], time: float, numbers: np.ndarray) -> tuple[Any, ...]:
    """time, q, v, effort, energies of one row. Joints with one position have it in `joint_position`, others in `q` itself."""
    model, layout = plant.model, plant.layout
    x = np.zeros(sum(size for _, size in layout.values()))
    x[places] = numbers
    q, v, effort = (x[at:at + size] for at, size in (layout[name] for name in ("q", "v", "effort")))
    for k, name in enumerate(model.joint_state_names):
        joint = model.joint(name)
        if joint.follows:
            continue
        position, velocity, torque = (x[layout[f"joint_{part}"][0] + k] for part in ("position", "velocity", "effort"))
        q[joint.q_slice] = position if joint.nq == 1 else (np.cos(position), np.sin(position))
        v[joint.v_slice], effort[joint.v_slice] = velocity, torque
    at = layout["energy"][0]
    return float(time), model.normalize(q), v, effort, float(x[at]), float(x[at + 1])


def rows(path: str | os.PathLike[str], width: int) -> np.ndarray:
    """What is below the first line (n, width); NaN where that is written."""
    with csv_file(path) as file:
        file.readline(MAX_LINE)
        try:
            first = file.readline(64 * width + 64)          # of a row that is much longer, what is left is none, and said so below
            if not first.strip():
                raise MbrosError(f"{path}: it has no rows")
            if first.count(",") + 1 != width:
                raise MbrosError(f"{path}: its rows have {first.count(',') + 1} numbers, its first line names {width}")
            more = iter(lambda: file.readline(64 * width + 64), "")
            table = np.loadtxt(itertools.chain([first], more), delimiter=",", ndmin=2)
        except MbrosError:
            raise
        except (ValueError, UnicodeDecodeError) as error:
            raise MbrosError(f"{path}: its rows cannot be read: {error}. Is the file complete?") from error
    return table


def csv_file(path: str | os.PathLike[str]) -> Any:
    """The file, open as text. MbrosError where it cannot be read or is too large."""
    try:
        file = open_regular(file_path("recording", path))
        if os.fstat(file.fileno()).st_size > MAX_BYTES:
            file.close()
            raise MbrosError(f"{path}: it has more than {MAX_BYTES >> 20} MiB; record fewer rows (--every)")
        return TextIOWrapper(file, encoding="utf-8-sig", newline="")          # spreadsheets begin theirs with a mark
    except OSError as error:
        raise MbrosError(f"{path}: it cannot be read: {(error.strerror or str(error)).lower()}") from error
