"""What path planners ask of a joint (hpp::model::Joint): how fast and how far it can carry its child."""
from __future__ import annotations

from itertools import product

import numpy as np


def velocity_bounds(mobility) -> tuple[float, float]:
    """(linear, angular): the least numbers with |v_Mo| <= linear |v| and |w| <= angular |v| for every q and every joint velocity.

    They are the largest singular values of H's halves, which for every built-in kind are the same at all q (tested). Of a
    user's joint: the `velocity_bounds` (linear, angular) of its law, inf where it gives none.
    """
    if mobility.law is not None:
        return tuple(float(x) for x in getattr(mobility.law, "velocity_bounds", (np.inf, np.inf)))
    if not mobility.nv:
        return 0.0, 0.0
    H = mobility.subspace(mobility.neutral)
    return tuple(float(np.linalg.norm(half, 2)) + 0.0 for half in (H[3:], H[:3]))


def longest_reach(placement, mobility, lower, upper) -> float:
    """The largest distance, m, of Mo from the origin of the frame that `placement` places F in, over lower <= q <= upper.

    Mo moves linearly with q in every built-in kind, so that the largest is at a corner of the bounds; inf where a coordinate
    that moves Mo has none. Of a user's joint: `reach(start, lower, upper)` of its law, the largest |p_FoMo_F - start|; else inf.
    """
    if mobility.law is not None:
        reach = getattr(mobility.law, "reach", None)
        return np.inf if reach is None else float(reach(-placement.R.T @ placement.p, np.array(lower), np.array(upper)))
    neutral = mobility.neutral
    moves = {i: u for i in range(mobility.nq) if (u := _shift(mobility, neutral, i)).any()}
    if any(not np.isfinite([lower[i], upper[i]]).all() for i in moves):
        return np.inf
    corners = product(*((lower[i] * u, upper[i] * u) for i, u in moves.items()))
    return max(float(np.linalg.norm(placement.p + placement.R @ sum(corner, np.zeros(3)))) for corner in corners)


def _shift(mobility, neutral, i):
    """How far coordinate i moves Mo per unit."""
    q = neutral.copy()
    q[i] += 1.0
    return mobility.pose(q)[1] - mobility.pose(neutral)[1]
