"""Limits of joints that follow others by <mimic>: a follower has no coordinate of its own, so its leader keeps them.

With q = ratio q_leader + offset, a follower's position limits are limits of q_leader, and so is its velocity limit over |ratio|. Where
they would leave the leader nothing to move in, they are a mistake, and not kept; both is said. A follower's effort limit is not used:
efforts act on its leader.
"""
from __future__ import annotations

from copy import copy

import numpy as np

from mbros.describe.problems import note, problem
from mbros.describe.robot import JointDescription, RobotDescription

ROUNDING = 1e-6         # a limit that is beyond the other by less than this, of their size, is the same one in other digits


def keep_limits(description: RobotDescription, joints: list[JointDescription], mimic: dict[str, tuple[str, float, float]]) -> None:
    """Puts leaders with the limits of their followers in place of the leaders in `joints`."""
    at = {joint.name: i for i, joint in enumerate(joints)}
    own = set()
    for name, (above, ratio, offset) in mimic.items():
        follower, leader = joints[at[name]], joints[at[above]]
        if ratio == 0.0:
            continue
        low, high = (float(x[0]) for x in (leader.lower, leader.upper))
        theirs = sorted((float(x[0]) - offset) / ratio + 0.0 for x in (follower.lower, follower.upper))
        least, most = max(low, theirs[0]), min(high, theirs[1])
        if least > most or least == most and low < high:
            reason = (f"its limits, {follower.lower[0]:g} to {follower.upper[0]:g}, are not kept: joint {above!r}, which it follows, would "
                      f"have to be within {theirs[0]:g} to {theirs[1]:g}, and has the limits {low:g} to {high:g}")
            note(description, problem(follower, reason, "Correct its <limit>, or <mimic>.", "warning", "limit"))
            least, most = low, high
        speed = float(follower.velocity[0]) / abs(ratio)
        narrower = _less(low, least) or _less(most, high)
        slower = 0.0 < speed and _less(speed, float(leader.velocity[0]))
        if (narrower or slower) and above not in own:            # the description stays as its author wrote it
            leader = joints[at[above]] = copy(leader)
            own.add(above)
        if narrower:
            reason = f"it moves from {least:g} to {most:g} only: joint {name!r} follows it and has limits of its own"
            note(description, problem(leader, reason, "", "note", "limit"))
            leader.lower, leader.upper = np.array([least]), np.array([most])
        if slower:
            leader.velocity_lower = np.maximum(leader.velocity_lower, -speed)
            leader.velocity_upper = np.minimum(leader.velocity_upper, speed)


def _less(a: float, b: float) -> bool:
    """Whether a is clearly below b."""
    return a < b and (np.isinf(a) or np.isinf(b) or b - a > ROUNDING * max(abs(a), abs(b)))
