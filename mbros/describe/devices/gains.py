"""Gains of a servo from what it drives: the inertia J that the joint moves, its damping d, and the load L that the drive holds (weight and
dry friction, the effort limit at most). With w = 2 pi bandwidth and e the static error that is allowed:

    position: kp = max(J w^2, d w, L / e),   kd = 2 kp / w - d,   ki = kp w / 32
    velocity: kd = max(J w, 100 d, L / e),                        ki = kd w / 16

Of J alone a position servo is critically damped; stiffer, it is as fast (its error decays with w / 2) and damped better. It gives way by e
until its integral has taken the load over, within 32 / w, and overshoots a step by 6 % of it, more where its effort limit does not let it
brake. Without e the load does not count, it gives way by L / kp, and ki = kp w / 8 takes that over within 8 / w, at 12 % of overshoot. It
is stable with any inertia below kp (kd + d) / ki: 64 J, without e 16 J; beside a smaller kd that is given, ki is less in proportion, so
that it stays so. A velocity servo is within 1 % of its command at once, whatever the damping, and within e of it under its load, which the
integral takes over within 16 / w; it is stable with any inertia. Integrals are explicit, all the rest is implicit: steps up to 1 / w are
stable."""
from __future__ import annotations

from math import pi

from mbros_core.support.records import record

STIFF_AGAINST_DAMPING = 100.0
STIFF, SOFT, OF_VELOCITY = 1.0 / 32.0, 1.0 / 8.0, 1.0 / 16.0        # ki / (kp w) with and without a static error, ki / (kd w)


@record(eq=False, frozen=True)
class JointLoad:
    """What a drive moves and holds, in the joint's own units (rotating: kg m^2, N m s/rad, N m; sliding: kg, N s/m, N).

    inertia: the most over the joint's range. weight: the largest static effort over it. on_ground: the robot stands on what the joint
    carries, and both have the whole robot in them. effort_limit: inf where there is none."""

    inertia: float
    weight: float
    damping: float = 0.0
    friction: float = 0.0
    effort_limit: float = float("inf")
    on_ground: bool = False

    @property
    def held(self) -> float:
        """What the drive has to hold, and can."""
        return min(self.weight + self.friction, self.effort_limit)


@record(eq=False, frozen=True)
class Gains:
    """kp is 0 of a velocity servo. reason: what the first gain was chosen for."""

    kp: float
    kd: float
    ki: float
    reason: str


def position_gains(load: JointLoad, bandwidth: float, static_error: float | None = None, *, kd: float | None = None) -> Gains:
    """Of a position servo: bandwidth Hz, static_error rad or m, or None where the load does not count; kd where it is given."""
    w = 2.0 * pi * bandwidth
    kp, reason = _largest(load, load.inertia * w * w, load.damping * w, static_error)
    designed = 2.0 * kp / w - load.damping
    own = designed if kd is None else kd
    ki = kp * w * (SOFT if static_error is None else STIFF)
    return Gains(kp, own, ki if own >= designed else ki * (own + load.damping) / (designed + load.damping), reason)


def stable_below(load: JointLoad, kp: float, kd: float) -> float:
    """The ki from which on a position servo with the most inertia swings up."""
    return kp * (kd + load.damping) / load.inertia if load.inertia > 0.0 else float("inf")


def velocity_gains(load: JointLoad, bandwidth: float, static_error: float | None = None) -> Gains:
    """Of a velocity servo: bandwidth Hz, static_error rad/s or m/s, or None where the load does not count."""
    w = 2.0 * pi * bandwidth
    kd, reason = _largest(load, load.inertia * w, load.damping * STIFF_AGAINST_DAMPING, static_error)
    return Gains(0.0, kd, kd * w * OF_VELOCITY, reason)


def _largest(load: JointLoad, by_inertia: float, by_damping: float, static_error: float | None) -> tuple[float, str]:
    by_load = 0.0 if static_error is None else load.held / static_error
    heavier = "weight" if load.weight >= load.friction else "friction"
    return max((by_inertia, "inertia"), (by_damping, "damping"), (by_load, heavier), key=lambda each: each[0])
