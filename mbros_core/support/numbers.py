"""What is a number, and what is an array of them: asked wherever users give something."""
from __future__ import annotations

import sys
from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np


DOUBLE = np.dtype(np.float64)


def floats(value: object) -> np.ndarray | None:
    """`value` as a float64 array of its shape; None for what is no number: text, True, objects, ragged lists, 10**400, what is masked."""
    if type(value) is np.ndarray and value.dtype is DOUBLE:
        return value                            # the same, for what most calls are
    try:
        masked: Any = sys.modules.get("numpy.ma")    # which NumPy imports where such an array is made: here it would slow the start
        # while another thread is importing it, it is there and has no such arrays yet
        if isinstance(value, getattr(masked, "MaskedArray", ())) and masked.is_masked(value):
            return None                         # np.asarray would take the number below the mask
        given = np.asarray(value)
        real = given.dtype.kind in "fiu" or given.dtype.kind == "O" and all(
            isinstance(x, Real) and not isinstance(x, (bool, np.bool_)) for x in given.flat)
        return given.astype(float, copy=False) if real else None
    except (TypeError, ValueError, OverflowError):
        return None


def is_whole(x: object) -> bool:
    """Whether x is a whole number, of Python or NumPy; True and False are none."""
    return isinstance(x, (int, np.integer)) and not isinstance(x, bool)


def short(x: object) -> str:
    """x in at most 80 characters, whatever it is."""
    try:
        return " ".join(repr(x).split())[:80] if isinstance(x, np.ndarray) else f"{x!r:.80}"       # an array's repr has several lines
    except Exception:               # its own repr failed, or it is a whole number of more digits than Python writes
        return f"something of type {type(x).__name__}"


def counted(shape: int | Sequence[int | None]) -> str:
    """An array's shape as messages ask for it, None for any number of rows: "1 number", "3 numbers", "numbers of shape (rows, 3)"."""
    n = shape if isinstance(shape, int) else shape[0] if len(shape) == 1 else None
    if n is not None:
        return f"{n} number{'s' * (n != 1)}"
    rows = (shape,) if isinstance(shape, int) else shape
    return f"numbers of shape ({', '.join('rows' if k is None else str(k) for k in rows)}{',' * (len(rows) == 1)})"
