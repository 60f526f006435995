"""Tables of columns as files: .npz (NumPy; every bit), .csv (text), .parquet (needs pyarrow)."""
from __future__ import annotations

import csv
import io
import json
from os import PathLike
from pathlib import Path

import numpy as np
from mbros_core.support.files import replace_file

from mbros.errors import MbrosError, optional
from mbros.record.recorder import as_text


def write_table(who: str, path: str | PathLike[str], columns: dict[str, np.ndarray]) -> Path:
    """Write the columns, in place of a file that may be there; its path. MbrosError where it cannot be written."""
    path = check_path(who, path)
    return replace_file(who, path, WRITERS[path.suffix](columns))


def check_path(who: str, path: str | PathLike[str]) -> Path:
    """MbrosError unless a table can be written in the kind of file that the name says."""
    path = Path(path)
    if path.suffix not in WRITERS:
        raise MbrosError(f"{who}: {path}: expected a file that ends in {', '.join(WRITERS)}")
    if path.suffix == ".parquet":
        optional("pyarrow.parquet", "Parquet files", "sweep")
    return path


def npz(columns: dict[str, np.ndarray]) -> bytes:
    file = io.BytesIO()
    np.savez(file, allow_pickle=False, **columns)                # names of columns may be any
    return file.getvalue()


def as_csv(columns: dict[str, np.ndarray]) -> bytes:
    file = io.StringIO()
    out = csv.writer(file)
    out.writerow(map(as_text, columns))
    out.writerows(zip(*([json.dumps(cell) if isinstance(cell, list) else as_text(cell) if isinstance(cell, str) else cell
                         for cell in column.tolist()] for column in columns.values())))
    return file.getvalue().encode()


def parquet(columns: dict[str, np.ndarray]) -> bytes:
    arrow, files = optional("pyarrow", "Parquet files", "sweep"), optional("pyarrow.parquet", "Parquet files", "sweep")
    file = io.BytesIO()
    files.write_table(arrow.table({name: arrow.array(column.tolist()) for name, column in columns.items()}), file)
    return file.getvalue()


WRITERS = {".npz": npz, ".csv": as_csv, ".parquet": parquet}
