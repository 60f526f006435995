"""What a simulation in another process says of itself, checked: it comes out of a file that other programs of the user can write, too."""
from __future__ import annotations

import json
from typing import Any, NamedTuple

from mbros_core.support.numbers import short

from mbros.errors import LoopError

ALL = 7                         # 1 position + 2 velocity + 4 effort
LONGEST = 1e9                   # s


class SimulationText(NamedTuple):
    robot: str
    dt: float
    positions: tuple[str, ...]
    velocities: tuple[str, ...]
    layout: dict[str, slice]
    command: dict[str, slice]
    takes: list[int]


class _Wrong(Exception):
    """What is wrong, in words."""


def read_description(name: str, text: str, sizes: tuple[int, int]) -> SimulationText:
    """The JSON text of the simulation `name`, whose states and commands have `sizes` numbers. LoopError that says what is wrong with it."""
    try:
        about = json.loads(text)
        if not isinstance(about, dict):
            raise _Wrong(f"it is {short(about)}, and no table")
        positions, velocities = _names(about, "positions"), _names(about, "velocities")
        layout = _slices(about, "layout", sizes[0], {"q": len(positions), "v": len(velocities)})
        command = _slices(about, "command", sizes[1], {"effort": len(velocities)})
        if any(part.stop - part.start != len(velocities) for part in command.values()):
            raise _Wrong(f"not every part of `command` has {len(velocities)} numbers")
        return SimulationText(_name(about.get("robot"), "robot"), _step(about.get("dt")), positions, velocities, layout, command,
                         _takes(about, len(velocities)))
    except RecursionError:
        wrong = "it is nested too deep"
    except ValueError as error:
        wrong = f"it is no JSON ({error})"
    except _Wrong as error:
        wrong = str(error)
    raise LoopError(f"connect: what the simulation {name!r} says of itself cannot be used: {wrong}. Its file is damaged; start it again")


def _name(value: Any, what: str) -> str:
    if not isinstance(value, str) or not value.isprintable():
        raise _Wrong(f"`{what}` has {short(value)} where a name was expected")
    return value


def _names(about: dict[str, Any], what: str) -> tuple[str, ...]:
    found = about.get(what)
    if not isinstance(found, list):
        raise _Wrong(f"`{what}` is {short(found)}; expected names")
    return tuple(_name(value, what) for value in found)


def _slices(about: dict[str, Any], what: str, size: int, needed: dict[str, int]) -> dict[str, slice]:
    """{part: its place among `size` numbers}; the needed parts are there, with so many numbers."""
    found = about.get(what)
    if not isinstance(found, dict):
        raise _Wrong(f"`{what}` is {short(found)}; expected parts with their place")
    parts = {}
    for part, at in found.items():
        if not (isinstance(at, list) and len(at) == 2 and all(type(k) is int for k in at) and min(at) >= 0 and sum(at) <= size):
            raise _Wrong(f"`{what}`: {short(part)} is at {short(at)}; expected [begin, count] among {size} numbers")
        parts[_name(part, what)] = slice(at[0], sum(at))
    for part, count in needed.items():
        if part not in parts or parts[part].stop - parts[part].start != count:
            raise _Wrong(f"`{what}` has no part {part!r} of {count} numbers")
    return parts


def _step(dt: Any) -> float:
    if type(dt) not in (int, float) or not 0.0 <= dt <= LONGEST:        # of an int, isfinite() may fail
        raise _Wrong(f"`dt` is {short(dt)}; expected seconds")
    return float(dt)


def _takes(about: dict[str, Any], nv: int) -> list[int]:
    found = about.get("takes", [ALL] * nv)
    if not isinstance(found, list) or len(found) != nv or not all(type(k) is int and 0 <= k <= ALL for k in found):
        raise _Wrong(f"`takes` is {short(found)}; expected {nv} numbers, 0 to {ALL}")
    return found
