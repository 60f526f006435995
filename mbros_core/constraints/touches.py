"""The memory of contacts in a state, as Python reads it: the columns of constraints/touch.pxd."""
from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mbros_core.typing import Array

COLUMNS = 21                    # of a row; the first row is the head
COUNT, LOST, ITERATIONS, UNSOLVED, KNOWN, STAMP = range(6)
PAIR, FEATURE, IMPULSE, STUCK = range(4)
POINT, NORMAL, FORCE, SLIP = slice(4, 7), slice(7, 10), slice(10, 13), slice(13, 16)
DEPTH, STIFFNESS, TORQUE = 16, 17, slice(18, 21)
WRENCH, EFFORT = slice(0, 6), slice(6, 12)       # of the rows of constraints

# What a contact or rope is about to do where derivatives of a step were taken: bits of constraints/touch_slopes.pxd.
SWITCHES = {1: "begin or cease to push", 2: "begin or cease to slip", 4: "touch with other features", 8: "become taut or slack"}


def points_in(memory: Array, shapes: int) -> Array:
    """The rows of the contact points of which a memory (n, COLUMNS) tells, of so many shapes: no more than it has, whatever is written."""
    count = memory[0, COUNT]
    return between(memory[1:1 + int(min(count, len(memory) - 1))] if count >= 1 else memory[:0], shapes)


def between(rows: Array, shapes: int) -> Array:
    """Those of the rows that are between two of so many shapes."""
    return rows[(rows[:, PAIR] >= 0) & (rows[:, PAIR] < shapes * shapes)]
