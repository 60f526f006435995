"""Fingerprints of models: whether two processes speak of the same robot, and where they do not.

A fingerprint is of the numbers a model was compiled from (ModelSpec), bit by bit, and of nothing else: not of the file it came from, nor of
the machine. Of a part written outside mbros, only the name of its class is known.
"""
from __future__ import annotations

import hashlib
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from mbros_core.spec import ModelSpec

DIGITS = 16         # hexadecimal digits of each table's digest


def fingerprint(spec: ModelSpec) -> dict[str, str]:
    """{table: digest} of a model's numbers, in the order of ModelSpec. What is empty is not in it, so that a table which a later version
    adds changes no fingerprint of a robot without such parts."""
    return {f.name: digest(value) for f in fields(spec) if not is_empty(value := getattr(spec, f.name))}


def differing(a: dict[str, str], b: dict[str, str]) -> list[str]:
    """The tables in which two fingerprints differ."""
    return [name for name in dict.fromkeys((*a, *b)) if a.get(name) != b.get(name)]


def is_empty(value: Any) -> bool:
    return value is None or (np.size(value) == 0 if isinstance(value, np.ndarray) else not value)


def digest(value: Any) -> str:
    return hashlib.sha256(plain(value)).hexdigest()[:DIGITS]


def plain(value: Any) -> bytes:
    """A table as bytes, the same on every machine."""
    if isinstance(value, np.ndarray):
        kind = "<i4" if value.dtype.kind == "i" else "<f8"
        return repr((kind, value.shape)).encode() + np.ascontiguousarray(value, kind).tobytes()
    if isinstance(value, dict):
        return b"".join(plain(str(key)) + plain(value[key]) for key in sorted(value))
    if isinstance(value, (list, tuple)):
        return b"".join(len(part).to_bytes(8, "little") + part for part in map(plain, value))
    if hasattr(value, "sizes") and hasattr(value, "points"):            # mbros_core.geometry.Shape
        points = b"" if value.points is None else plain(value.points)
        return plain(value.kind) + plain(np.array(value.sizes, float)) + points
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, (int, float, np.number)):
        return repr(float(value) if isinstance(value, (float, np.floating)) else int(value)).encode()
    return f"{type(value).__module__}.{type(value).__qualname__}".encode()
