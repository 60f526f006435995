"""What is said of constraints that a state violates."""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbros_core.constraints.kinds import BY_NAME

if TYPE_CHECKING:
    from mbros_core.spec import ModelSpec
    from mbros_core.typing import Array


def row_slices(spec: ModelSpec) -> list[slice]:
    """Which rows each constraint of a spec has among those of all."""
    out, at = [], 0
    for kind in spec.constraint_kind:
        out.append(slice(at, at + BY_NAME[kind].rows))
        at += BY_NAME[kind].rows
    return out


def row_count(spec: ModelSpec) -> int:
    """Of all constraints together."""
    return sum(BY_NAME[kind].rows for kind in spec.constraint_kind)


def lengths_of(spec: ModelSpec, k: int) -> int:
    """How many rows of constraint k are lengths; the others are angles."""
    row = BY_NAME[spec.constraint_kind[k]]
    return row.lengths if row.lengths >= 0 else int(spec.constraint_parameters[k, 3])


def gap_text(spec: ModelSpec, k: int, gap: Array) -> str:
    """The size of its gap, in m and rad."""
    n = lengths_of(spec, k)
    parts = [(gap[:n], "m"), (gap[n:], "rad")]
    return " and ".join(f"{np.linalg.norm(x):.3g} {unit}" for x, unit in parts if x.size)


def unresolved_text(spec: ModelSpec, k: int) -> str:
    """A sentence that names a constraint which accelerations do not keep."""
    return (f"model {spec.name!r}: forward_dynamics: accelerations that keep constraint {spec.constraint_names[k]!r} were not found: some "
            "part is too light beside what hangs on it; give light parts a mass or inertia of at least 1e-12 of the heaviest")


def open_text(spec: ModelSpec, gaps: Array, allowed: float) -> str:
    """A sentence that names the constraints whose rows exceed what is allowed."""
    rows = row_slices(spec)
    found = [k for k in range(len(rows)) if np.abs(gaps[rows[k]]).max() > allowed]
    names = [f"{spec.constraint_names[k]!r} by {gap_text(spec, k, gaps[rows[k]])}" for k in found[:4]]
    more = f" and {len(found) - 4} more" if len(found) > 4 else ""
    return (f"model {spec.name!r}: the start violates constraint{'s' if len(found) > 1 else ''} {', '.join(names)}{more}; {allowed:g} m "
            "and rad are allowed. state = model.assemble(state) closes them")
