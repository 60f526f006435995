"""The pose and the velocity nearest to what is wanted of a joint, which may be more than a joint of its kind can do; and how far they are
from it. For requests that come from outside as poses and twists, whatever the kind of the joint.
"""
from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from mbros.describe.joints.kinds import unit_parts
from mbros_core.errors import called

if TYPE_CHECKING:
    from mbros import Joint, Pose
    from mbros_core.engine._engine import State
    from mbros_core.typing import ArrayLike


def take_pose(joint: Joint, state: State, X_FM: Pose) -> tuple[float, float]:
    """Puts the joint into its pose nearest to X_FM; (m, rad) between the two. The angle comes from an arc cosine: 1e-8 near zero."""
    joint.set_pose(state, X_FM)
    X = joint.transform(state)
    angle = math.acos(min(1.0, max(-1.0, (np.trace(X.R.T @ X_FM.R) - 1.0) / 2.0)))
    return float(np.linalg.norm(X.p - X_FM.p)), angle


def take_twist(joint: Joint, state: State, V_FM: ArrayLike) -> float:
    """Gives the joint the velocity v whose H v is nearest to V_FM [angular; linear], in M axes, by least squares; the largest difference
    of a component, m/s or rad/s."""
    V_FM, H = np.asarray(V_FM, float), joint.mobilizer.subspace(state, expressed_in="M")
    v = np.linalg.lstsq(H, V_FM, rcond=None)[0]
    joint.set_velocity(state, v)
    return float(np.abs(H @ v - V_FM).max())


def why_not_at(joint: Joint, q: ArrayLike, what: str, give: float = 0.0) -> str:
    """Why `what`, a position q of the joint, cannot be, or "": it is beyond a limit by more than `give`, or a quaternion's length is far
    from 1."""
    row, q = joint._row, np.atleast_1d(np.asarray(q, float))
    for x, low, high in zip(q, np.atleast_1d(row.lower), np.atleast_1d(row.upper)):
        if not low - give <= x <= high + give:
            return f"{what} = {x:g} is outside the limits {low:g} ... {high:g} of joint '{joint.name}'"
    for part in unit_parts(row.kind):
        if not 0.5 < np.linalg.norm(q[part]) < 2.0:
            return f"{what} must be [{', '.join(joint.names.position_suffixes)}] with a {called(part)} of length 1, got {q.tolist()}"
    return ""
