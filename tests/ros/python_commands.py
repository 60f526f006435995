"""What is accepted of a command, and why not, in plain Python: the oracle of `_dataplane.CommandInput`. No ROS needed.

Units: N m or N for efforts, rad or m for positions, rad/s or m/s for velocities; stamps are integers of nanoseconds.
"""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from mbros.ros.wire.commands import FREE, NOTHING, About, CommandRules
from mbros.ros.wire.messages import EFFORT, FOLLOWS, POSITION, VELOCITY, RobotMap

if TYPE_CHECKING:
    from python_plane import Stamps

LIMIT_GIVE, SPEED_GIVE = 1e-6, 1.001     # so far beyond a limit is on it
LONGEST = 63                            # bytes of a joint's name that are kept of it


def command_from_joint_state(robot: RobotMap, message: Any, rules: CommandRules, stamps: Stamps, wall_ns: int,
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


def _columns(robot: RobotMap, message: Any) -> tuple[list[list[float]], int]:
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


def carries_more(robot: RobotMap, message: Any) -> bool:
    """A joint command has positions or velocities that its joints do not take. NaN: not commanded."""
    columns, _ = _columns(robot, message)

    def unused(name: str, what: int) -> bool:
        return robot.takes is None or (robot.commandable.get(name, -1) >= 0 and not robot.taken(name) & what)

    return any(not math.isnan(number) and unused(name, what) for what, values in zip((POSITION, VELOCITY), columns)
               for name, number in zip(message.name, values))


def follows(robot: RobotMap, message: Any) -> bool:
    """A joint command has numbers for joints that follow another: their leaders decide."""
    columns, _ = _columns(robot, message)
    used = columns if robot.takes is not None else columns[2:]
    return any(robot.commandable.get(name) == FOLLOWS and not all(map(math.isnan, numbers)) for name, *numbers in zip(message.name, *used))


def command_from_array(robot: RobotMap, message: Any, rules: CommandRules, what: int = EFFORT,
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
