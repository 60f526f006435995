"""Derivatives of forward and inverse dynamics of many robots in one call: what the methods of Batch by these names do."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbros.diff.algorithms import ANALYTIC, GIVEN, Derivatives, kept, room
from mbros.diff.duals import workspace
from mbros.errors import MbrosError

if TYPE_CHECKING:
    from mbros_core.typing import Array, ArrayLike


def derivatives(batch: Any, what: str, given: ArrayLike, out: Derivatives | None) -> Derivatives:
    """Of a Batch: value (n, nv), and its derivatives (n, nv, nv) by "q", "v" and what is given; in `out` where there is such a one.

    In lanes, on all cores, where they are analytic; else by dual numbers, robot by robot.
    """
    n, nv, there = batch.n, batch.model.nv, None if out is None else room(out, GIVEN[what])
    if out is not None and out.value.shape != (n, nv):
        raise MbrosError(f"{what}_derivatives of a batch of model {batch.model.name!r}: out: expected what an earlier call for {n} robots "
                         f"returned, got {out!r}")
    if batch.model._has_slopes(what == "forward_dynamics"):
        found = batch._compute(f"{what}_derivatives", (1 + 3 * nv, nv), there, given)
    else:
        found = _one_by_one(batch, what, batch._vectors(f"{what}_derivatives", given))
    if out is None:
        return Derivatives(None, GIVEN[what], found)
    return out if found is there else kept(Derivatives(None, GIVEN[what], found), out)


def _one_by_one(batch: Any, what: str, x: Any) -> Array:
    """(n, 1 + 3 nv, nv) by single calls."""
    n, nv = batch.n, batch.model.nv
    workspace(batch.model)                      # a model that has no derivatives is refused, not a robot
    block = batch._room(f"{what}_derivatives", (1 + 3 * nv, nv))
    for b in range(n):
        try:
            one = ANALYTIC[what](batch.model, batch.state(b), x[b])
        except MbrosError as error:
            error.args = (f"robot {b} of {n}: {error.args[0]}", *error.args[1:])
            raise
        np.concatenate([one.value[None], *one.values()], out=block[b])
    return block
