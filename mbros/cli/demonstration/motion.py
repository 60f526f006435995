"""Poses for any robot, and the smooth way from one to the next, within the robot's own limits."""
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mbros.errors import MbrosError

if TYPE_CHECKING:
    from mbros import Joint, Model
    from mbros_core.engine._engine import State

REACH = {"revolute": 0.8, "continuous": 0.8, "prismatic": 0.2}       # largest excursion of a pose, rad or m
SPEED = {"revolute": 2.0, "continuous": 2.0, "prismatic": 0.4}       # largest speed, rad/s or m/s
MARGIN = 0.08               # share of a joint's range that stays free at either end
SPEED_SHARE = 0.75          # of the velocity limit
EFFORT_SHARE = 0.7          # of the effort limit, along the whole way
SHORTEST = 0.6              # s, one move


@dataclass(frozen=True)
class Move:
    """One move, then a rest: from q0 (nq,) to q1 (nq,) in `duration` s along a quintic, then `rest` s at q1."""

    q0: np.ndarray
    q1: np.ndarray
    duration: float
    rest: float = 0.25

    @property
    def length(self) -> float:
        """Move and rest, s."""
        return self.duration + self.rest

    def at(self, t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Desired q, v, vdot at time t (s) after the start; at rest before it and after the end."""
        s, ds, dds = quintic(t / self.duration)
        d = self.q1 - self.q0
        return self.q0 + s * d, ds / self.duration * d, dds / self.duration**2 * d


def quintic(u: float) -> tuple[float, float, float]:
    """s, s', s'' of the fifth-order polynomial from 0 to 1 that starts and ends at rest, without a jump in acceleration."""
    u = min(max(u, 0.0), 1.0)
    return u**3 * (10 + u * (6 * u - 15)), 30 * u**2 * (1 - u) ** 2, 60 * u * (1 - u) * (1 - 2 * u)


def driven_joints(model: Model) -> list[Joint]:
    """The joints the demonstration moves: all with coordinates of their own. Refuses robots whose base moves."""
    joints = [joint for joint in model.joints if joint.nv and not joint.follows]
    for joint in joints:
        if joint.nv > 1:
            raise MbrosError(f"robot {model.name!r} moves on joint {joint.name!r} ({joint.kind}); the demonstration needs a base "
                             "that stands still: load it with base='fixed'")
    if not joints:
        raise MbrosError(f"robot {model.name!r} has no joint that could move")
    return joints


def poses(model: Model) -> Iterator[np.ndarray]:
    """An endless sequence of different configurations (nq,): every joint swings about the middle of where it may be.

    Each is inside the position limits, and holding it against gravity takes at most EFFORT_SHARE of the effort limits.
    """
    joints = driven_joints(model)
    middle, reach = np.empty(model.nq), np.empty(model.nq)
    q_default = model.spec.q_default
    for joint in joints:
        i = joint.q_slice.start
        low, high = joint.limits.position.lower[0], joint.limits.position.upper[0]
        free = MARGIN * (high - low) if np.isfinite(high - low) else 0.0
        reach[i] = min(REACH[joint.kind], 0.5 * (high - low) - free)
        middle[i] = np.clip(q_default[i], low + free + reach[i], high - free - reach[i])
    state, limit = model.default_state(), EFFORT_SHARE * model.spec.effort_limit
    k = 0
    while True:
        swing = reach * np.cos(2.4 * np.arange(model.nq) + 2.2 * k)     # neighbours differ, and so do poses
        for _ in range(40):
            state.set_q(middle + swing)
            if (np.abs(model.gravity_torques(state)) <= limit).all():
                break
            swing *= 0.8
        else:
            raise MbrosError(f"robot {model.name!r} cannot hold itself against gravity with {EFFORT_SHARE:.0%} of its effort limits, "
                             "so there is no pose to demonstrate")
        yield middle + swing
        k += 1


def move_to(model: Model, q0: Any, q1: Any) -> Move:
    """The quickest move from q0 to q1 that respects speeds, velocity limits and effort limits along the way."""
    joints = driven_joints(model)
    limit = np.minimum(SPEED_SHARE * model.spec.velocity_limit, [SPEED[joint.kind] for joint in joints])
    duration = max(SHORTEST, 1.875 * float(np.max(np.abs(q1 - q0) / limit)))        # the quintic's peak speed is 1.875 d / T
    state = model.default_state()
    for _ in range(20):
        move = Move(np.array(q0, float), np.array(q1, float), duration)
        if _within_efforts(model, state, move):
            break
        duration *= 1.25
    return move


def _within_efforts(model: Model, state: State, move: Move) -> bool:
    bound = 0.95 * model.spec.effort_limit
    for t in np.linspace(0.0, move.duration, 21):
        q, v, vdot = move.at(t)
        state.set_q(q)
        state.set_v(v)
        if not (np.abs(model.inverse_dynamics(state, vdot)) <= bound).all():
            return False
    return True


def moves(model: Model, q0: Any, seconds: float) -> list[Move]:
    """As many moves, the first from q0, as fit into `seconds`."""
    found, used = [], 0.0
    for pose in poses(model):
        move = move_to(model, q0, pose)
        used += move.length
        if used > seconds:
            break
        found.append(move)
        q0 = pose
    if not found:
        raise MbrosError(f"robot {model.name!r} needs {used:.1f} s for its first pose and there are {seconds:.1f} s: give it more "
                         "time (--duration)")
    return found
