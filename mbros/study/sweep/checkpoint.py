"""The folder in which a sweep keeps what is done, so that it goes on where it was ended.

    sweep.json      which sweep this is: a digest of its cases, seed and function; and which engine began it
    part-*.npz      results of some cases each, written as a whole; no pickles
"""
from __future__ import annotations

import hashlib
import json
import os
import zipfile
from os import PathLike
from pathlib import Path
from types import CodeType
from typing import Any

import numpy as np
from mbros_core.support.files import open_regular, read_regular, replace_file

from mbros.errors import MbrosError, MbrosWarning, warn
from mbros.names import printable
from mbros.record.engines import another_engine, check_engine, this_engine
from mbros.study.sweep.cases import Case, written
from mbros.study.sweep.table import Results
from mbros.simulate.table_files import npz
from mbros.study.sweep.work import KINDS

VERSION = 1
MOST_BYTES = 1 << 20        # of sweep.json


class Checkpoint:
    """One folder. MbrosError where it holds another sweep: nothing of that is overwritten."""

    def __init__(self, folder: str | PathLike[str], cases: list[Case], run: Any) -> None:
        self.folder, self.cases = Path(folder), cases
        self.changed = getattr(run, "changed", f"{name_of(run)} has changed since")
        from mbros import __version__

        mine = {"version": VERSION, "cases": len(cases), "digest": digest_of(cases), "function": name_of(run), "code": code_of(run)}
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            there = self.folder / "sweep.json"
            if there.exists():
                self._compare(mine, json.loads(read_regular(there, MOST_BYTES)))
            else:
                begun = {**mine, "mbros": __version__, "engine": this_engine()}
                replace_file("sweep", there, json.dumps(begun, indent=1).encode())
        except (OSError, ValueError, RecursionError) as error:
            reason = getattr(error, "strerror", None) or error
            raise MbrosError(f"sweep: checkpoint {str(self.folder)!r} cannot be used: {reason}") from None

    def _compare(self, mine: dict[str, Any], theirs: Any) -> None:
        theirs = theirs if isinstance(theirs, dict) else {}
        words = {"version": "it was written by another version of mbros",
                 "cases": f"it has {printable(theirs.get('cases'), 80)} cases, not {mine['cases']}",
                 "digest": "its cases or its seed are others",
                 "function": f"its function is {printable(theirs.get('function'), 200)}, not {mine['function']}",
                 "code": self.changed}
        for what, reason in words.items():
            if theirs.get(what) != mine[what]:
                raise MbrosError(f"sweep: checkpoint {str(self.folder)!r} is of another sweep: {reason}. Give another folder, or delete "
                                 "this one")
        check_engine(theirs.get("engine"))
        if other := another_engine(theirs.get("engine"), str(theirs.get("mbros"))):
            warn(f"sweep: checkpoint {str(self.folder)!r} was {other}: cases done there and here may differ in last digits", MbrosWarning)

    def read(self) -> tuple[Results, dict[int, str]]:
        """What is done. A part that is damaged is as if it were not there."""
        results: Results = {}
        errors: dict[int, str] = {}
        for path in sorted(self.folder.glob("part-*.npz")):
            try:
                with open_regular(path) as file:
                    check_size(file)
                    with np.load(file, allow_pickle=False) as part:
                        found = unpacked(part, self.cases)
            except Exception:           # zipfile and NumPy trust what a file says, and fail in any way where that is damaged
                continue
            results.update(found[0])
            errors.update(found[1])
        return results, errors

    def write(self, results: Results, errors: dict[int, str]) -> None:
        done = [*results, *errors]
        columns = packed(results)
        columns["errors"] = np.array([written([index, text]) for index, text in errors.items()], dtype=str)
        columns["done"] = np.array(list(results), dtype=np.int64)
        name = f"part-{min(done):09d}-{hashlib.sha256(str(sorted(done)).encode()).hexdigest()[:12]}.npz"
        replace_file("sweep", self.folder / name, npz(columns))


def packed(results: Results) -> dict[str, np.ndarray]:
    """Results of the same name, shape and type as one array, and beside it which cases they are of."""
    groups: dict[tuple[str, tuple[int, ...], str], list[int]] = {}
    for index, row in results.items():
        for name, value in row.items():
            groups.setdefault((name, value.shape, value.dtype.str), []).append(index)
    columns = {}
    for k, ((name, _, _), of) in enumerate(groups.items()):
        columns[f"values {k}"] = np.stack([results[index][name] for index in of])
        columns[f"of {k}"] = np.array(of, dtype=np.int64)
    columns["names"] = np.array([name for name, _, _ in groups], dtype=str)
    return columns


def check_size(file: Any) -> None:
    """ValueError of a file in which more is packed than it has bytes: write() packs nothing."""
    with zipfile.ZipFile(file) as packed_in:
        sizes = [(one.compress_type, one.file_size) for one in packed_in.infolist()]
    if any(how != zipfile.ZIP_STORED for how, _ in sizes) or sum(size for _, size in sizes) > os.fstat(file.fileno()).st_size:
        raise ValueError("it is packed")
    file.seek(0)


def unpacked(part: Any, cases: list[Case]) -> tuple[Results, dict[int, str]]:
    """What a part holds; the first error where it is not as packed() makes it, of these cases."""
    results: Results = {int(index): {} for index in part["done"]}
    for k, name in enumerate(part["names"]):
        of, values = part[f"of {k}"], part[f"values {k}"]
        if values.dtype.kind not in KINDS or len(of) != len(values) or not name:
            raise ValueError(f"of {k}")
        for index, value in zip(of, values):
            if name in cases[index]:
                raise ValueError(name)
            results[int(index)][str(name)] = np.asarray(value)
    errors = dict(json.loads(str(line)) for line in part["errors"])
    if not all(type(index) is int and 0 <= index < len(cases) for index in (*results, *errors)) or any(
            type(text) is not str for text in errors.values()):
        raise ValueError("errors")
    return results, errors


def digest_of(cases: list[Case]) -> str:
    digest = hashlib.sha256()
    for case in cases:
        digest.update(f"{case.seed:032x} {written(dict(case))}\n".encode())
    return digest.hexdigest()


def name_of(run: Any) -> str:
    """The function's name; of a script's, without the name that the script has while it runs."""
    module, name = getattr(run, "__module__", ""), getattr(run, "__qualname__", type(run).__qualname__)
    return name if module in ("__main__", "__mp_main__") else f"{module}.{name}"


def code_of(run: Any) -> str:
    """A digest of what the function itself does; of what it calls, nothing is known. What is no function may have a `digest` of its own."""
    code = getattr(run, "__code__", None)
    does = repr(parts_of(code)) if isinstance(code, CodeType) else str(getattr(run, "digest", ""))
    return hashlib.sha256(does.encode()).hexdigest()


def parts_of(code: CodeType) -> list[Any]:
    return [code.co_code.hex(), code.co_names, code.co_varnames,
            [parts_of(part) if isinstance(part, CodeType) else part for part in code.co_consts if not isinstance(part, frozenset)]]
