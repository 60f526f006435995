"""The tunable numbers of a force element, by name: groups of the engine's registry ("torque_stiffness[0..2]" is one group)."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from mbros_core.forces.registry import BY_NAME, PARAMETERS

from mbros.arguments import counted, finite, reals
from mbros.errors import MbrosError

if TYPE_CHECKING:
    from mbros_core.typing import ArrayLike


@dataclass(frozen=True)
class Group:
    """Numbers start .. start + size of an element's row; `least` is the smallest value each may have (None: any)."""

    name: str
    start: int
    size: int
    unit: str
    least: float | None

    @property
    def place(self) -> slice:
        return slice(self.start, self.start + self.size)

    @property
    def shape(self) -> str:
        return "one number" if self.size == 1 else f"({self.size},)"


@cache
def groups(kind: str) -> dict[str, Group]:
    """The groups of a kind in order; none for elements written by users."""
    if kind not in BY_NAME:
        return {}
    row = BY_NAME[kind]
    out: dict[str, Group] = {}
    for i, (text, unit, least) in enumerate(zip(row.parameters, row.units, row.least)):
        name = text.partition("[")[0]
        if name in out:
            first = out[name]
            out[name] = Group(name, first.start, first.size + 1, first.unit, first.least)
        else:
            out[name] = Group(name, i, 1, unit, least)
    return out


def checked(element: str, group: Group, value: Any) -> np.ndarray:
    """`value` as (size,) finite numbers, none below group.least; one number stands for all. Raises MbrosError.

    element: how messages name it. Nothing is changed here, so a refused value leaves everything as it was.
    """
    need = counted(group.size) + (f" in {group.unit}" if group.unit else "")
    array = reals(element, group.name, value, need)
    if array.ndim == 0:
        array = np.full(group.size, float(array))
    if array.shape != (group.size,):
        raise MbrosError(f"{element}: {group.name}: expected {need}, got shape {array.shape}")
    finite(element, group.name, array if group.size > 1 else array[0], group.least, group.unit)
    return np.array(array)


def row(element: str, kind: str, values: Mapping[str, Any], before: ArrayLike | None = None) -> np.ndarray:
    """The engine's 16 numbers of an element from {group name: value}; others as `before`, where every group need not be there.

    What no such element can have is refused, also where it lies in two values together.
    """
    out = np.zeros(PARAMETERS) if before is None else np.array(before)
    for name, group in groups(kind).items():
        if before is None or name in values:
            out[group.place] = checked(element, group, values[name])
    problem = BY_NAME[kind].refused(out)
    if problem is not None:
        raise MbrosError(f"{element}: {problem}")
    return out
