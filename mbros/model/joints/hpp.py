"""What path planners ask of a joint (hpp::model::Joint): how fast and how far it can carry its child."""
from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from mbros.describe.joints.kinematics import Kinematics
    from mbros.spatial.placement import Placement
    from mbros_core.typing import Array


def velocity_bounds(kinematics: Kinematics) -> tuple[float, float]:
    """(linear, angular): the least numbers with |v_Mo| <= linear |v| and |w| <= angular |v| for every q and every joint velocity.

    They are the largest singular values of H's halves, which for every built-in kind are the same at all q (tested). Of a
    user's joint: the `velocity_bounds` (linear, angular) of its law, inf where it gives none.
    """
    if kinematics.law is not None:
        linear, angular = getattr(kinematics.law, "velocity_bounds", (np.inf, np.inf))
        return float(linear), float(angular)
    if not kinematics.nv:
        return 0.0, 0.0
    H = kinematics.subspace(kinematics.neutral)
    return float(np.linalg.norm(H[3:], 2)) + 0.0, float(np.linalg.norm(H[:3], 2)) + 0.0


def longest_reach(placement: Placement, kinematics: Kinematics, lower: Array, upper: Array) -> float:
    """The largest distance, m, of Mo from the origin of the frame that `placement` places F in, over lower <= q <= upper.

    Mo moves linearly with q in every built-in kind, so that the largest is at a corner of the bounds; inf where a coordinate
    that moves Mo has none. Of a user's joint: `reach(start, lower, upper)` of its law, the largest |p_FoMo_F - start|; else inf.
    """
    if kinematics.law is not None:
        reach = getattr(kinematics.law, "reach", None)
        return np.inf if reach is None else float(reach(-placement.R.T @ placement.p, np.array(lower), np.array(upper)))
    neutral = kinematics.neutral
    moves = {i: u for i in range(kinematics.nq) if (u := _shift(kinematics, neutral, i)).any()}
    if any(not np.isfinite([lower[i], upper[i]]).all() for i in moves):
        return np.inf
    corners = product(*((lower[i] * u, upper[i] * u) for i, u in moves.items()))
    return max(float(np.linalg.norm(placement.p + placement.R @ sum(corner, np.zeros(3)))) for corner in corners)


def _shift(kinematics: Kinematics, neutral: Array, i: int) -> Array:
    """How far coordinate i moves Mo per unit."""
    q = neutral.copy()
    q[i] += 1.0
    return kinematics.pose(q)[1] - kinematics.pose(neutral)[1]
