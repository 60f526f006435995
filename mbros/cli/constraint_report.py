"""What `mbros run` says of closed loops at the end."""
from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from mbros.cli.terminal import table

if TYPE_CHECKING:
    from mbros import Simulator
    from mbros.model.constraints.constraint import BuiltConstraint
    from mbros_core.engine._engine import State


def constraint_lines(sim: Simulator) -> Iterator[str]:
    """How far each constraint is open, and what it carries. Nothing of a robot without."""
    constraints = sim.model.constraints
    if len(constraints):
        yield f"loops    {len(constraints)} constraint{'s' if len(constraints) > 1 else ''}"
        yield from table(["", "", "gap", "carries"], [_row(c, sim.state) for c in constraints], left=(0, 1))


def _row(c: BuiltConstraint, state: State) -> list[str]:
    from mbros_core.constraints.opening import gap_text

    from mbros.errors import StateError

    try:
        effort = c.effort(state)
    except StateError:
        return [c.name, c.kind, gap_text(c.model.spec, c.index, c.gap(state)), ""]
    parts = [(effort[[k for k, unit in enumerate(c.units) if unit == of]], name) for of, name in (("m", "N"), ("rad", "N m"))]
    carried = " and ".join(f"{np.linalg.norm(x):.4g} {name}" for x, name in parts if x.size)
    return [c.name, c.kind, gap_text(c.model.spec, c.index, c.gap(state)), carried]
