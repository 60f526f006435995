"""Contact in a few numbers of a row: how many points there were, and the force on every body that has shapes."""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from mbros_core.constraints import touches

if TYPE_CHECKING:
    from mbros import Model
    from mbros_core.typing import Array


class ContactSums:
    """Of a model; `size` numbers, none where it has no collision shapes. `bodies`: those with shapes, in the order of their forces."""

    def __init__(self, model: Model) -> None:
        names = [shape.body.name for shape in model.shapes]
        self.bodies = list(dict.fromkeys(names))
        self.size = 1 + 3 * len(self.bodies) if names else 0
        self._body_of_shape = np.array([self.bodies.index(name) for name in names], int)

    def write(self, part: Array, out: Array) -> None:
        """Into `out` (size,), from the contacts of a plant's snapshot. Forces are NaN where it has not all of the points."""
        rows = part.reshape(-1, touches.COLUMNS)
        count = int(rows[0, touches.COUNT])
        out[0], out[1:] = count, 0.0 if count < len(rows) else np.nan
        if 0 < count < len(rows):
            points, forces = touches.between(rows[1:1 + count], len(self._body_of_shape)), out[1:].reshape(-1, 3)
            a, b = np.divmod(points[:, touches.PAIR].astype(int), len(self._body_of_shape))
            np.add.at(forces, self._body_of_shape[b], points[:, touches.FORCE])
            np.subtract.at(forces, self._body_of_shape[a], points[:, touches.FORCE])

    def place(self, body: str) -> slice | None:
        """Where the force on a body is; None of a body without shapes."""
        if body not in self.bodies:
            return None
        start = 1 + 3 * self.bodies.index(body)
        return slice(start, start + 3)
