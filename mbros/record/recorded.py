"""What the parts of a recording have to be for a replay: its note, its events, and what they say was changed. ValueError, in
words, for what mbros never writes."""
from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from mbros_core.support.numbers import short
from mbros_core.typing import Array

from mbros.errors import MbrosError

VECTORS = {"parameters": ("block",), "reset": ("q", "v"), "set_state": ("q", "v")}         # kind of an event: its vectors
MOST = 1 << 24          # bytes of JSON: what is made of them takes many times as much
CHANGED = ("state", "devices", "disturbances")          # by a "change": each [places, numbers]


class ReplayError(MbrosError):
    """A recording that cannot be run again; the text says why."""


def no_part(path: object, why: str) -> ReplayError:
    """The refusal of a recording that can be read, in which something is as mbros never writes it."""
    return ReplayError(f"{path}: {why}; the file was edited, or is damaged: record again")


def read_json(text: str | bytes) -> dict[str, Any]:
    """A JSON object."""
    if len(text) > MOST:
        raise ValueError(f"it has {len(text)} bytes, more than the {MOST} that mbros reads")
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as e:           # RecursionError: of thousands of brackets
        raise ValueError(f"no JSON ({e})") from e
    if type(found) is not dict:
        raise ValueError(f"expected a JSON object, got {short(found)}")
    return found


def about_of(note: dict[str, str]) -> dict[str, Any]:
    """The note: {"fields": {field: signal}, "gravity": [x, y, z], "robot": file or None, ...}."""
    if "about" not in note:
        raise ValueError("it has no note of mbros")
    about = read_json(note["about"])
    fields, gravity = about.get("fields"), numbers(about.get("gravity"))
    if type(fields) is not dict or any(type(signal) is not str for signal in fields.values()):
        raise ValueError(f"its note does not name the signals: {short(fields)}")
    if gravity is None or gravity.size != 3 or not np.isfinite(gravity).all():
        raise ValueError(f"gravity in its note is {short(about.get('gravity'))}, expected three numbers")
    for word in ("robot", "bench"):
        if not isinstance(about.get(word), (str, type(None))):
            raise ValueError(f"{word} in its note is {short(about[word])}, expected a name")
    return about


def event_of(text: str) -> dict[str, Any]:
    """An event, whose lists are arrays: of numbers, and of places in them. Whether those are there is the replay's to say."""
    what = read_json(text)
    kind = what.get("kind")
    for name in VECTORS.get(kind, ()) if type(kind) is str else ():
        what[name] = vector(name, what.get(name))
    if kind == "disturbances":
        rows = what.get("table")
        what["table"] = np.array([vector("table", row) for row in rows]) if type(rows) is list and len({*map(size, rows)}) == 1 else (
            vector("table", None))
    elif kind in ("start", "state") and type(what.get("data")) is not str:
        raise ValueError(f"data is {short(what.get('data'))}, expected text")
    elif kind == "change":
        what.update((name, change(name, what[name])) for name in CHANGED if name in what)
    return what


def differences(before: Array, now: Array, always: Sequence[int] = ()) -> list[list[Any]]:
    """[places, numbers] of what is not the same to the bit, and of the places that are wanted anyway; [] where there is none."""
    differ = before.view(np.int64) != now.view(np.int64)
    differ[list(always)] = True
    at = np.flatnonzero(differ)
    return [at.tolist(), now[at].tolist()] if at.size else []


def change(name: str, given: Any) -> tuple[np.ndarray, Array]:
    """Places and numbers."""
    if type(given) is not list or len(given) != 2 or type(given[0]) is not list or any(type(k) is not int for k in given[0]):
        raise ValueError(f"{name} is {short(given)}, expected places and numbers")
    values = vector(name, given[1])
    if len(values) != len(given[0]) or any(not 0 <= k < 2**31 for k in given[0]):
        raise ValueError(f"{name} is {short(given)}, expected a number for each place")
    return np.array(given[0], np.int64), values


def size(x: Any) -> int:
    return len(x) if type(x) is list else -1


def vector(name: str, given: Any) -> Array:
    found = numbers(given)
    if found is None:
        raise ValueError(f"{name} is {short(given)}, expected numbers")
    return found


def numbers(x: Any) -> Array | None:
    """A list of numbers as an array; None for anything else."""
    if type(x) is not list or any(type(k) not in (int, float) for k in x):
        return None
    try:
        return np.array(x, float)
    except OverflowError:           # a whole number beyond all floats
        return None
