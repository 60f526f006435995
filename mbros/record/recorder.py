"""Recording to CSV, as a simulation runs: a header that PlotJuggler, pandas and spreadsheets open, whole rows only.

    with Recorder("out.csv", sim.plant) as recorder:
        recorder.row()                      # now; as often as wanted

Columns: `time` (s), then `<joint>/position`, `/velocity`, `/effort` of every joint with one degree of freedom (rad, m,
N m, N and per second), then `<joint>/<coordinate>` of joints with several, `energy/kinetic`, `energy/potential` (J),
`clamped_efforts`, and the signals of a bench that are asked for (`nan`: nothing came yet, or not commanded). Numbers are written so that
reading them gives the same doubles. The file is plain UTF-8 with commas.

A file that cannot be written any more (a full disk) raises RecorderError and is cut after its last whole row.
"""
from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from mbros_core.support.files import planted

from mbros.errors import MbrosError

if TYPE_CHECKING:
    from io import FileIO
    from mbros.bench.signal_log import SignalColumns
    from mbros_core.engine._engine import Plant
    from mbros_core.typing import ArrayLike
    from os import PathLike
    from typing_extensions import Self

BLOCK = 1 << 16         # bytes that are collected before they are written


class RecorderError(MbrosError):
    """A recording that could not go on; the text says why, and what the file holds."""


class CsvFile:
    """A CSV file that grows by whole rows. path "-" is standard output; an existing file is replaced."""

    def __init__(self, path: str | PathLike[str], columns: Sequence[str]) -> None:
        self.path, self.columns, self.rows = str(path), list(columns), 0
        self._length = self._written = 0
        self._pending: list[bytes] = []
        self._file: FileIO | None
        if why := planted(Path(path)):
            raise RecorderError(f"{self.path}: it cannot be written: {why}")
        try:
            self._file = (open(sys.stdout.fileno(), "wb", buffering=0, closefd=False) if self.path == "-"
                          else open(path, "wb", buffering=0))
        except OSError as error:
            raise RecorderError(f"{self.path}: it cannot be written: {_reason(error)}") from error
        self._add(",".join(map(quoted, self.columns)) + "\n")

    def write(self, rows: Iterable[Sequence[float]]) -> None:
        """Add rows of finite numbers, each as long as `columns`."""
        for row in rows:
            if len(row) != len(self.columns):
                raise RecorderError(f"{self.path}: expected rows of {len(self.columns)} numbers, got {len(row)}")
            self.rows += 1
            self._add(",".join(map(repr, row.tolist() if isinstance(row, np.ndarray) else map(float, row))) + "\n")

    def _add(self, line: str) -> None:
        data = line.encode()
        self._pending.append(data)
        self._length += len(data)
        if self._length >= BLOCK:
            self.flush()

    def flush(self) -> None:
        """Hand what was collected to the operating system."""
        if self._file is None:
            raise RecorderError(f"{self.path}: the recording is closed")
        block, self._pending, self._length = b"".join(self._pending), [], 0
        view, done = memoryview(block), 0
        try:
            while done < len(block):
                done += self._file.write(view[done:]) or 0
        except BrokenPipeError:
            self._release()
            raise
        except OSError as error:
            self._cut(block, done)
            raise RecorderError(f"{self.path}: recording stopped: {_reason(error)}. The file holds the {self.rows} rows up to "
                                "there. Free some space, or record fewer rows.") from error
        self._written += done

    def _cut(self, block: bytes, done: int) -> None:
        """End the file after the last whole row that reached it, and count the rows it holds."""
        whole = block[:done].rfind(b"\n") + 1
        self.rows -= block[whole:].count(b"\n")
        self.rows = max(self.rows, 0)
        try:
            assert self._file is not None
            self._file.truncate(self._written + whole)
        except OSError:
            pass                            # a device or a pipe: nothing to cut
        self._release()

    def close(self) -> None:
        """Write what is left and close. Closing twice does no harm."""
        if self._file is not None:
            self.flush()
            self._release()

    def _release(self) -> None:
        if self._file is not None:
            self._file.close()
        self._file = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Recorder(CsvFile):
    """A CsvFile with the columns of a plant (mbros_core.Plant, of an mbros.Model) and the rows to go with them."""

    def __init__(self, path: str | PathLike[str], plant: Plant, signals: SignalColumns | None = None) -> None:
        self.plant, self._signals = plant, signals
        names, self._at = plant_columns(plant)
        super().__init__(path, ["time", *names, *(() if signals is None else signals.names())])

    def row(self) -> None:
        """Add the plant's present state, and the signals."""
        own = np.zeros(0) if self._signals is None else self._signals.read(self.plant)
        self.write(np.concatenate([[self.plant.state.time], self.plant.observe()[self._at], own])[None, :])

    def snapshots(self, times: ArrayLike, x: ArrayLike) -> None:
        """Add rows from times (n,) and snapshots (n, size), as the real-time loop records them; they hold no signals."""
        self.write(np.column_stack([times, np.asarray(x)[:, self._at]]))


def plant_columns(plant: Any) -> tuple[list[str], list[int]]:
    """Names of the columns after `time`, and where each stands in a snapshot."""
    model, layout = plant.model, plant.layout
    names, at = [], []
    for k, joint in enumerate(model.joint_state_names):
        for part in ("position", "velocity", "effort"):
            names.append(f"{joint}/{part}")
            at.append(layout["joint_" + part][0] + k)
    for joint in model.joints:
        if joint.nv > 1:
            for own, part, where in ((joint.q_slice, model.position_names, "q"), (joint.v_slice, model.velocity_names, "v"),
                                     (joint.v_slice, model.velocity_names, "effort")):
                for k in range(own.start, own.stop):
                    coordinate = part[k].rpartition(".")[2]
                    names.append(f"{joint.name}/{coordinate}" + ("/effort" if where == "effort" else ""))
                    at.append(layout[where][0] + k)
    for name, place in (("energy/kinetic", layout["energy"][0]), ("energy/potential", layout["energy"][0] + 1),
                        ("clamped_efforts", layout["clamped"][0])):
        names.append(name)
        at.append(place)
    return names, at


FORMULA = tuple("=+-@\t\r")          # what a cell begins with that spreadsheets take for a formula


def as_text(name: str) -> str:
    """A cell that every spreadsheet takes for text: an apostrophe before what would be a formula, as it is written by hand. meant() is its
    inverse. Names are anybody's, and a formula runs programs."""
    return f"'{name}" if name.lstrip("'").startswith(FORMULA) else name


def meant(cell: str) -> str:
    """The name that as_text made a cell of."""
    return cell[1:] if cell.startswith("'") and cell.lstrip("'").startswith(FORMULA) else cell


def quoted(name: str) -> str:
    """A cell of the header; quoted where a comma, a quote or a line end is in it."""
    name = as_text(name)
    return '"' + name.replace('"', '""') + '"' if any(c in name for c in ',"\n\r') else name


def _reason(error: OSError) -> str:
    return (error.strerror or os.strerror(error.errno or 0)).lower()
