"""Where constraints are and how far they are open, for users to look at: a line between what each holds together, and a colour."""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from mbros import Model
    from mbros_core.engine._engine import State
    from mbros_core.typing import Array

CLOSED, OPEN = 1e-6, 1e-3           # m or rad: green below, red above, by the logarithm in between


class Ends(NamedTuple):
    """Of one constraint. start, end: the origins of frame_a and frame_b, of a coupler those of the bodies that its joints carry, (3,) in
    world axes, m. gap: the largest of its residuals, m or rad."""

    name: str
    start: Array
    end: Array
    gap: float

    @property
    def rgb(self) -> tuple[float, float, float]:
        """Green where it is closed, by way of yellow to red where it is open."""
        x = 2.0 * min(1.0, max(0.0, math.log(max(self.gap, CLOSED) / CLOSED) / math.log(OPEN / CLOSED)))
        return 0.15 + 0.7 * min(1.0, x), 0.15 + 0.55 * min(1.0, 2.0 - x), 0.15


def constraint_ends(model: Model, state: State) -> list[Ends]:
    """Of every constraint, in a state."""
    found = []
    gaps = np.abs(model._constraint_gaps(state))
    for c in model.constraints:
        held = (c.frame_a, c.frame_b) if c.joint_a is None or c.joint_b is None else (c.joint_a.child, c.joint_b.child)
        start, end = (np.asarray(model._frame_pose(state, x._frame_index))[9:] for x in held if x is not None)
        found.append(Ends(c.name, start, end, float(gaps[c._rows].max())))
    return found
