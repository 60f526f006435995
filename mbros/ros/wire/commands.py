"""Commands out of messages: why the data plane (`_dataplane`) drops one, in words. What it accepts, in plain Python, is its oracle:
tests/ros/python_commands.py."""
from __future__ import annotations

import math
from dataclasses import dataclass

from mbros.names import hint, printable

from mbros.ros.wire.messages import RobotMap

Bounds = tuple[float, float, float, float]      # lowest and highest position, lowest and highest velocity
FREE: Bounds = (-math.inf, math.inf, -math.inf, math.inf)
About = tuple[str, float]               # what a dropped command was dropped for: a joint or "", and a number or NaN (`shown`)
NOTHING: About = ("", math.nan)

# Why a command is dropped, in the order of the counters of the data plane.
REASONS = {
    "accepted": "accepted",
    "malformed": "the bytes are not a message of this type",
    "too_large": "the message is larger than any command of this robot can be",
    "wrong_size": "an array is neither empty nor as long as the list of names, nor has it one number for each of the named joints that "
                  "take it (arrays of commands: one for each joint)",
    "unknown_name": "a joint name is not in the model",
    "duplicate_name": "a joint is named twice",
    "not_commandable": "the joint takes no effort of its own (it has not exactly one coordinate), or a trajectory names one that follows "
                       "another",
    "no_effort": "the message has no efforts, and positions and velocities are commands only with a bench that has servos; bench:=servo "
                 "has one for every joint",
    "infinite": "a command is infinite",
    "absurd": "a command is larger than parameter max_command",
    "stale_stamp": "the stamp is older than parameter command_max_age, or from before a reset",
    "future_stamp": "the stamp lies in the future by more than parameter command_max_age",
    "read_error": "the middleware could not hand over the message",
    "no_servo": "a position or velocity for a joint whose actuator does not take it; bench:=servo has a servo for every joint",
    "no_positions": "a trajectory has no points, or a point without positions",
    "bad_times": "the times of a trajectory's points do not increase",
    "in_the_past": "all points of a trajectory lie in the past, or now: it takes time to get there",
    "beyond_limits": "a position is beyond the limits of its joint (of a trajectory: anywhere on its way)",
    "too_fast": "a velocity is beyond the limit of its joint (of a trajectory: anywhere on its way)",
    "not_a_number": "a number of a trajectory is NaN",
}


@dataclass(frozen=True)
class CommandRules:
    """What is accepted of a command."""

    limit: float = 1e6              # largest effort, N m or N
    max_age: float = 0.5            # oldest stamp, s; 0: stamps are not checked


def shown(reason: str, about: About, behind: float = 0.0, bounds: Bounds | None = None) -> str:
    """What a command was dropped for, in words, or "". behind: s, of simulated stamps behind system time; a stamp is of the one of the two
    times that it is nearer to. bounds: of the joint; None: the number is a time after the start of a trajectory."""
    joint, value = about
    if joint or reason == "unknown_name":         # which may be empty
        number = "" if math.isnan(value) else f", value {value:g}"
        if reason in ("beyond_limits", "too_fast") and number:
            low, high = (bounds or (0.0,) * 4)[2 * (reason == "too_fast"):][:2]
            number = f", {value:.3g} s after its start" if bounds is None else f"{number}; expected {low:g} to {high:g}"
        return f"joint '{printable(joint)}'{number}"
    if math.isnan(value):
        return ""
    if reason in ("stale_stamp", "future_stamp"):
        age = min(value, value - behind, key=abs)
        return f"{abs(age):.3f} s {'old' if age >= 0 else 'ahead'}"
    return {"wrong_size": f"of {value:g} numbers", "too_large": f"the bound is {value:g} bytes"}.get(reason, "")


def refusal(reason: str, about: About, robot: RobotMap, behind: float) -> str:
    """The sentence of a service that drops a command."""
    what = shown(reason, about, behind, robot.bounds.get(about[0], FREE))
    known = [name for name, slot in robot.commandable.items() if slot >= 0] if reason == "unknown_name" else []
    return REASONS[reason] + (f" ({what})" if what else "") + (hint(about[0], known) if known else "")
