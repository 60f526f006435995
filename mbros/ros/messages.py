"""Messages to arrays and back: pure functions, no ROS needed, one meaning for every message.

The data plane (`_dataplane`) does the same on bytes; these functions are its fallback and its oracle. Messages are
filled through their ordinary attributes, so that any object with the right attributes will do.

Units: N m or N for efforts, rad or m for positions; stamps are integers of nanoseconds.
"""
from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from mbros_core.realtime import PAUSED, RESET, STEPPED

# Why a command is dropped, in the order of the counters of the data plane.
REASONS = {
    "accepted": "accepted",
    "malformed": "the bytes are not a message of this type",
    "too_large": "the message is larger than any command of this robot can be",
    "wrong_size": "an array is neither empty nor as long as the list of names (effort_commands: one effort per joint)",
    "unknown_name": "a joint name is not in the model",
    "duplicate_name": "a joint is named twice",
    "not_commandable": "the joint takes no effort of its own (it follows another, or has not exactly one coordinate)",
    "no_effort": "the message has no efforts; positions and velocities are not commands here",
    "infinite": "an effort is infinite",
    "absurd": "an effort is larger than parameter max_command",
    "stale_stamp": "the stamp is older than parameter command_max_age, or from before a reset",
    "future_stamp": "the stamp lies in the future by more than parameter command_max_age",
    "read_error": "the middleware could not hand over the message",
}


@dataclass(frozen=True)
class Base:
    """The moving base of a robot, as `odom` gives it. Places are indices into a snapshot."""

    kind: str                   # "floating" or "planar"
    frame: str                  # child_frame_id
    pose: int                   # 7 doubles: x y z qx qy qz qw of the base in the odometry frame
    velocity: int               # floating: w then v in the base's axes (6); planar: x' y' theta' in the odometry frame (3)


@dataclass(frozen=True)
class RobotMap:
    """Where everything that messages carry stands in a snapshot and in a command; built once per robot."""

    joints: tuple[str, ...]                     # order of joint_states: every joint with exactly one coordinate
    position: int                               # first joint position in a snapshot, rad or m
    velocity: int                               # rad/s or m/s
    effort: int                                 # N m or N
    command_size: int                           # efforts of a command (nv)
    commandable: dict[str, int]                 # name in joint_commands -> place in a command, or -1: takes none
    transforms: tuple[tuple[str, str, int], ...] = ()     # (parent frame, child frame, place of x y z qx qy qz qw)
    static: tuple[tuple[str, str, tuple[float, ...]], ...] = ()   # (parent frame, child frame, x y z qx qy qz qw)
    base: Base | None = None
    odom_frame: str = "odom"

    @property
    def array_order(self) -> list[str]:
        """Joints of an `effort_commands` array: those of joint_states that take an effort, in joint order."""
        return [name for name in self.joints if self.commandable[name] >= 0]


# --- stamps


BEAT_NS = 100_000_000       # between two tellings of a robot that stands still, wall time


@dataclass
class Stamps:
    """What the stamps of messages say (see `stamps.pxd`): system time, or simulated time while time is simulated."""

    period_ns: int
    always: bool = False                # simulated from the start: stamps count from 0
    scaled: bool = False                # the real-time factor is not 1
    simulated: bool = False
    not_before: int = 0
    stamp_ns: int = 0
    clock_ns: int = 0                   # the same without the nanoseconds of a standstill
    still: bool = False                 # simulated time is what it was in the snapshot before
    changed: bool = False               # the robot was put elsewhere meanwhile
    beat: bool = False                  # it is time to publish the same again
    _origin: int = 0
    _nudge: int = 0                     # nanoseconds since time stands still: one for each publication
    _published: int = 0                      # wall time of the newest publication
    _content: bytes | None = field(default=None, repr=False)
    _last: tuple[int, int, float] | None = field(default=None, repr=False)     # step, wall_ns, time

    def stamp(self, step: int, time: float, wall_ns: int, flags: int, x: Any = ()) -> int:
        """Stamp of a snapshot in ns; the same for everyone who asks about the same snapshot."""
        if self._last is not None and self._last[:2] == (step, wall_ns):
            return self.stamp_ns
        now = _nanoseconds(time)
        simulated = self.always or self.scaled or bool(flags & (PAUSED | STEPPED))
        content = np.asarray(x, float).tobytes() if simulated else None
        self.still = simulated and self._last is not None and time == self._last[2]
        if self.still:
            self._stand_still(wall_ns, flags, content)
        else:
            self._nudge, self._published = 0, wall_ns
        stamp = wall_ns
        if simulated:
            if self._last is None:
                self._origin = 0 if self.always else wall_ns - now
            elif time < self._last[2]:                              # a reset: go on after the last stamp
                self._origin = self.clock_ns + self.period_ns - now
            elif not self.simulated:                                # from wall time: simulated time goes on from it
                self._origin = self.clock_ns - _nanoseconds(self._last[2])
            stamp = self._origin + now
        self.simulated, self.clock_ns, self._last, self._content = simulated, stamp, (step, wall_ns, time), content
        self.stamp_ns = stamp + self._nudge
        return self.stamp_ns

    def _stand_still(self, wall_ns: int, flags: int, content: bytes | None) -> None:
        """Is this snapshot, of the same simulated time as the one before, to be published?"""
        self.changed = (self._content is not None and content != self._content) or bool(flags & RESET)
        self.beat = not 0 <= wall_ns - self._published < BEAT_NS
        if self.changed or self.beat:
            self._published = wall_ns
            self._nudge += 2 * self._nudge < self.period_ns

    def set_scaled(self, scaled: bool) -> None:
        self.scaled = bool(scaled)

    def refuse_before(self, stamp_ns: int) -> None:
        self.not_before = stamp_ns


def _nanoseconds(seconds: float) -> int:
    """Rounded as C's llround does: halves away from zero."""
    x = seconds * 1e9
    return int(math.floor(x + 0.5)) if x >= 0 else -int(math.floor(0.5 - x))


def set_time(message: Any, stamp_ns: int) -> None:
    """Fill a builtin_interfaces/Time."""
    message.sec, message.nanosec = divmod(int(stamp_ns), 1_000_000_000)


# --- commands


@dataclass(frozen=True)
class CommandRules:
    """What is accepted of a command."""

    limit: float = 1e6              # largest effort, N m or N
    max_age: float = 0.5            # oldest stamp, s; 0: stamps are not checked


def command_from_joint_state(robot: RobotMap, message: Any, rules: CommandRules, stamps: Stamps,
                             wall_ns: int) -> tuple[str, np.ndarray | None]:
    """("accepted", efforts (command_size,), NaN where not commanded), or (reason, None)."""
    stamp = message.header.stamp.sec * 1_000_000_000 + message.header.stamp.nanosec
    if message.header.stamp.nanosec >= 1_000_000_000:
        return "malformed", None
    reason = check_stamp(stamp, rules, stamps, wall_ns)
    if reason != "accepted":
        return reason, None
    count = len(message.name)
    if any(len(values) not in (0, count) for values in (message.position, message.velocity, message.effort)):
        return "wrong_size", None
    if len(message.effort) == 0:
        return "no_effort", None
    command = np.full(robot.command_size, np.nan)
    named = set()
    for name, effort in zip(message.name, message.effort):
        if name not in robot.commandable:
            return "unknown_name", None
        if name in named:
            return "duplicate_name", None
        named.add(name)
        slot = robot.commandable[name]
        reason = check_effort(effort, rules)
        if reason == "accepted" and slot < 0 and not math.isnan(effort):
            reason = "not_commandable"
        if reason != "accepted":
            return reason, None
        if slot >= 0:
            command[slot] = effort
    return "accepted", command


def carries_more(message: Any) -> bool:
    """A joint command has positions or velocities too, which are not used. NaN: not commanded."""
    return not all(math.isnan(x) for values in (message.position, message.velocity) for x in values)


def command_from_array(robot: RobotMap, message: Any, rules: CommandRules) -> tuple[str, np.ndarray | None]:
    """The same for a std_msgs/Float64MultiArray in joint order."""
    order = robot.array_order
    if message.layout.data_offset != 0 or len(message.data) != len(order):
        return "wrong_size", None
    command = np.full(robot.command_size, np.nan)
    for name, effort in zip(order, message.data):
        reason = check_effort(effort, rules)
        if reason != "accepted":
            return reason, None
        command[robot.commandable[name]] = effort
    return "accepted", command


def check_effort(effort: float, rules: CommandRules) -> str:
    if math.isinf(effort):
        return "infinite"
    return "absurd" if abs(effort) > rules.limit else "accepted"


def check_stamp(stamp: int, rules: CommandRules, stamps: Stamps, wall_ns: int) -> str:
    """A stamp may be system time or simulated time; it has to be fresh on one of them. Zero: not stamped."""
    most = round(rules.max_age * 1e9)
    if most == 0 or stamp == 0 or (stamps.simulated and abs(stamps.stamp_ns - stamp) <= most):
        return "accepted"
    if wall_ns - stamp < -most:
        return "future_stamp"
    return "stale_stamp" if wall_ns - stamp > most or stamp < stamps.not_before else "accepted"


# --- results


def fill_joint_state(message: Any, robot: RobotMap, x: np.ndarray, stamp_ns: int) -> Any:
    """sensor_msgs/JointState from a snapshot."""
    n = len(robot.joints)
    set_time(message.header.stamp, stamp_ns)
    message.name = list(robot.joints)
    message.position = x[robot.position:robot.position + n].tolist()
    message.velocity = x[robot.velocity:robot.velocity + n].tolist()
    message.effort = x[robot.effort:robot.effort + n].tolist()
    return message


def fill_transforms(message: Any, robot: RobotMap, x: np.ndarray, stamp_ns: int, transform: Callable[[], Any]) -> Any:
    """tf2_msgs/TFMessage of every moving frame; `transform` makes an empty TransformStamped."""
    message.transforms = [_fill_transform(transform(), parent, child, x[at:at + 7].tolist(), stamp_ns)
                          for parent, child, at in robot.transforms]
    return message


def fill_static_transforms(message: Any, robot: RobotMap, stamp_ns: int, transform: Callable[[], Any]) -> Any:
    """The same for the frames that never move."""
    message.transforms = [_fill_transform(transform(), parent, child, pose, stamp_ns)
                          for parent, child, pose in robot.static]
    return message


def fill_odometry(message: Any, robot: RobotMap, x: np.ndarray, stamp_ns: int) -> Any:
    """nav_msgs/Odometry of the base: pose in the odometry frame, twist in the base's own axes (REP-105)."""
    base = robot.base
    assert base is not None                 # of a robot that has one
    set_time(message.header.stamp, stamp_ns)
    message.header.frame_id, message.child_frame_id = robot.odom_frame, base.frame
    pose, v = x[base.pose:base.pose + 7].tolist(), x[base.velocity:base.velocity + 6].tolist()
    fill_xyz(message.pose.pose.position, pose[:3])
    _fill_quaternion(message.pose.pose.orientation, pose[3:])
    if base.kind == "floating":
        fill_xyz(message.twist.twist.angular, v[:3])
        fill_xyz(message.twist.twist.linear, v[3:])
    else:
        qz, qw = pose[5], pose[6]
        c, s = qw * qw - qz * qz, 2.0 * (qw * qz)                   # cos and sin of the heading
        fill_xyz(message.twist.twist.linear, (c * v[0] + s * v[1], c * v[1] - s * v[0], 0.0))
        fill_xyz(message.twist.twist.angular, (0.0, 0.0, v[2]))
    return message


def fill_clock(message: Any, stamp_ns: int) -> Any:
    """rosgraph_msgs/Clock."""
    set_time(message.clock, stamp_ns)
    return message


def _fill_transform(t: Any, parent: str, child: str, pose: Sequence[float], stamp_ns: int) -> Any:
    set_time(t.header.stamp, stamp_ns)
    t.header.frame_id, t.child_frame_id = parent, child
    fill_xyz(t.transform.translation, pose[:3])
    _fill_quaternion(t.transform.rotation, pose[3:])
    return t


def fill_xyz(target: Any, xyz: Iterable[float]) -> None:
    target.x, target.y, target.z = map(float, xyz)


def _fill_quaternion(target: Any, quat_xyzw: Sequence[float]) -> None:
    target.x, target.y, target.z, target.w = map(float, quat_xyzw)
