"""What a solution is."""
from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from mbros_core.typing import Array


class ConvexSolution(NamedTuple):
    """v (nv,), y (rows,) = J v - target and impulses (rows,) = -dl/dy of all blocks one after another; how many Newton steps and how
    many tries of line searches it took; whether the residual, |M (v - v*) - J^T impulses| over the momenta, is within the tolerance; the
    cost, J."""

    v: Array
    y: Array
    impulses: Array
    iterations: int
    evaluations: int
    converged: bool
    residual: float
    cost: float
