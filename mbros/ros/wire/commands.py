"""Commands out of messages: what is accepted of them, and why not; pure functions, no ROS needed.

The data plane (`_dataplane`) does the same on bytes; these functions are its fallback and its oracle.

Units: N m or N for efforts, rad or m for positions, rad/s or m/s for velocities; stamps are integers of nanoseconds.
"""
from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mbros.names import hint, printable

from mbros.ros.wire.messages import EFFORT, FOLLOWS, POSITION, VELOCITY, RobotMap, Stamps

if TYPE_CHECKING:
    from mbros.ros.wire.typing import Float64MultiArray, JointState

Bounds = tuple[float, float, float, float]      # lowest and highest position, lowest and highest velocity
FREE: Bounds = (-math.inf, math.inf, -math.inf, math.inf)
About = tuple[str, float]               # what a dropped command was dropped for: a joint or "", and a number or NaN (`shown`)
NOTHING: About = ("", math.nan)
LIMIT_GIVE, SPEED_GIVE = 1e-6, 1.001     # so far beyond a limit is on it
LONGEST = 63                            # bytes of a joint's name that are kept of it

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


def command_from_joint_state(robot: RobotMap, message: JointState, rules: CommandRules, stamps: Stamps, wall_ns: int,
                             x: np.ndarray | None = None) -> tuple[str, np.ndarray | None, About]:
    """("accepted", command (command_size,), NaN where not commanded, NOTHING), or (reason, None, what it is about). x: a snapshot: where
    the joints are (`beyond`)."""
    stamp = message.header.stamp.sec * 1_000_000_000 + message.header.stamp.nanosec
    if message.header.stamp.nanosec >= 1_000_000_000:
        return "malformed", None, NOTHING
    reason = check_stamp(stamp, rules, stamps, wall_ns)
    if reason != "accepted":
        return reason, None, ("", 1e-9 * (wall_ns - stamp))
    columns, unfit = _columns(robot, message)
    if unfit >= 0:
        return "wrong_size", None, ("", float(unfit))
    if len(message.effort) == 0 and (robot.takes is None or not (len(message.position) or len(message.velocity))):
        return "no_effort", None, NOTHING
    command = np.full(robot.command_size, np.nan)
    named = set()
    for name, *numbers in zip(message.name, *columns):
        if name not in robot.commandable or name in named:
            return "duplicate_name" if name in named else "unknown_name", None, (cut(name), math.nan)
        named.add(name)
        reason, value = _put_state(robot, name, Numbers(*numbers), rules, command, x)
        if reason != "accepted":
            return reason, None, (cut(name), value)
    return "accepted", command, NOTHING


class Numbers(NamedTuple):
    """What a message says of a joint. NaN: nothing."""

    position: float
    velocity: float
    effort: float


def _columns(robot: RobotMap, message: JointState) -> tuple[list[list[float]], int]:
    """Positions, velocities and efforts, a number for each name: an array has as many, or, as ros2_control's topic hardware sends them, one
    for each of the named joints that take it. And the length of the first that fits neither, -1: all fit."""
    columns = []
    for what, values in ((POSITION, message.position), (VELOCITY, message.velocity), (EFFORT, message.effort)):
        takers = [k for k, name in enumerate(message.name) if robot.takes_it(name, what)]
        column = [math.nan] * len(message.name)
        if len(values) == len(message.name):
            column = list(values)
        elif len(values) not in (0, len(takers)):
            return [], len(values)
        elif len(values):
            for k, value in zip(takers, values):
                column[k] = value
        columns.append(column)
    return columns, -1


def beyond(robot: RobotMap, name: str, position: float, velocity: float, x: np.ndarray | None = None) -> tuple[str, float]:
    """("accepted", NaN), or why a joint may not be commanded to be there or as fast, and which number it is. A joint that stands beyond a
    limit may be commanded to where it is, and back. x: a snapshot."""
    bounds = robot.bounds.get(name, FREE)
    at = float(x[robot.position + robot.joints.index(name)]) if x is not None and name in robot.joints else math.nan
    low, high = min(bounds[0], at), max(bounds[1], at)                  # NaN leaves the bounds
    if position < low - LIMIT_GIVE or position > high + LIMIT_GIVE:
        return "beyond_limits", position
    if velocity < bounds[2] * SPEED_GIVE - LIMIT_GIVE or velocity > bounds[3] * SPEED_GIVE + LIMIT_GIVE:
        return "too_fast", velocity
    return "accepted", math.nan


def cut(name: str) -> str:
    """As much of a joint's name as is kept."""
    return name.encode(errors="replace")[:LONGEST].decode(errors="replace")


def _put_state(robot: RobotMap, name: str, numbers: Numbers, rules: CommandRules, command: np.ndarray,
               x: np.ndarray | None) -> tuple[str, float]:
    """What a JointState says of a joint into a command, as far as it is taken; the reason why not, or "accepted", and the number in
    question."""
    position, velocity, effort = numbers
    if robot.takes is None:
        position = velocity = math.nan
    for number in (effort, position, velocity):
        reason = check_effort(number, rules)
        if reason != "accepted":
            return reason, number
    if robot.commandable[name] == FOLLOWS:
        return "accepted", math.nan
    if robot.commandable[name] < 0:
        return "accepted" if math.isnan(effort) else "not_commandable", effort
    takes, asked = robot.taken(name), velocity if math.isnan(position) else position
    position = position if takes & POSITION else math.nan
    velocity = velocity if takes & VELOCITY else math.nan
    if not math.isnan(asked) and all(map(math.isnan, (position, velocity, effort))):
        return "no_servo", asked
    reason, value = beyond(robot, name, position, velocity, x)
    if reason != "accepted":
        return reason, value
    put_command(robot, command, name, position, velocity, effort)
    return "accepted", math.nan


def put_command(robot: RobotMap, command: np.ndarray, name: str, position: float, velocity: float, effort: float) -> None:
    """All that is commanded of a joint from now on. NaN: not commanded."""
    slot, nv = robot.commandable[name], robot.nv
    if robot.takes is None:
        command[slot] = effort
        return
    what = POSITION * (not math.isnan(position)) + VELOCITY * (not math.isnan(velocity)) + EFFORT * (not math.isnan(effort))
    if what:
        command[slot::nv] = [0.0 if math.isnan(x) else x for x in (effort, position, velocity)] + [what]


def carries_more(robot: RobotMap, message: JointState) -> bool:
    """A joint command has positions or velocities that its joints do not take. NaN: not commanded."""
    columns, _ = _columns(robot, message)

    def unused(name: str, what: int) -> bool:
        return robot.takes is None or (robot.commandable.get(name, -1) >= 0 and not robot.taken(name) & what)

    return any(not math.isnan(number) and unused(name, what) for what, values in zip((POSITION, VELOCITY), columns)
               for name, number in zip(message.name, values))


def follows(robot: RobotMap, message: JointState) -> bool:
    """A joint command has numbers for joints that follow another: their leaders decide."""
    columns, _ = _columns(robot, message)
    used = columns if robot.takes is not None else columns[2:]
    return any(robot.commandable.get(name) == FOLLOWS and not all(map(math.isnan, numbers)) for name, *numbers in zip(message.name, *used))


def command_from_array(robot: RobotMap, message: Float64MultiArray, rules: CommandRules, what: int = EFFORT,
                       x: np.ndarray | None = None) -> tuple[str, np.ndarray | None, About]:
    """The same for a std_msgs/Float64MultiArray in joint order, of positions, velocities or efforts."""
    order = robot.order(what)
    if message.layout.data_offset != 0 or len(message.data) != len(order):
        return "wrong_size", None, ("", float(len(message.data)))
    command = np.full(robot.command_size, np.nan)
    for name, number in zip(order, message.data):
        numbers = Numbers(*(number if what == kind else math.nan for kind in (POSITION, VELOCITY, EFFORT)))
        reason = check_effort(number, rules)
        if reason == "accepted" and robot.takes is not None:
            reason, _ = beyond(robot, name, numbers.position, numbers.velocity, x)
        if reason != "accepted":
            return reason, None, (cut(name), number)
        put_command(robot, command, name, *numbers)
    return "accepted", command, NOTHING


def check_effort(effort: float, rules: CommandRules) -> str:
    if math.isinf(effort):
        return "infinite"
    return "absurd" if abs(effort) > rules.limit else "accepted"


def check_stamp(stamp: int, rules: CommandRules, stamps: Stamps, wall_ns: int) -> str:
    """A stamp may be that of a state or system time; it has to be fresh on one of them. That of a state is as old as it says, or as the
    wall clock says since states had it, whichever is less. Zero: not stamped."""
    most, behind = round(rules.max_age * 1e9), stamps.stamp_ns - stamp
    if most == 0 or stamp == 0:
        return "accepted"
    if (behind >= -most and stamp >= stamps.begun and (stamps.simulated or stamp >= stamps.not_before)
            and (behind <= most or (stamps.simulated and stamp >= stamps.fresh_from))):
        return "accepted"
    old = wall_ns - stamp
    if abs(old) <= most:
        return "accepted" if stamp >= stamps.not_before else "stale_stamp"
    if stamps.simulated and abs(behind) < abs(old):         # of which time it is: the one that it is nearer to
        old = behind
    return "future_stamp" if old < -most else "stale_stamp"
