"""Snapshots into messages: what of a robot ROS sees, stamps, and the numbers of messages; pure functions, no ROS needed.

The data plane (`_dataplane`) does the same on bytes; these functions are its fallback and its oracle. Messages are filled through their
ordinary attributes, so that any object with the right attributes will do.

Units: N m or N for efforts, rad or m for positions; stamps are integers of nanoseconds.
"""
from __future__ import annotations

import math
from array import array
from collections import deque
from collections.abc import Callable, Iterable, MutableSequence, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from mbros_core.realtime import PAUSED, RESET, STEPPED

if TYPE_CHECKING:
    from mbros.ros.wire.typing import Clock, JointState, Odometry, PoseStamped, Quaternion, TFMessage, Time, TransformStamped, Vector3
    from mbros_core.typing import Array, ArrayLike


@dataclass(frozen=True)
class Base:
    """The moving base of a robot, as `odom` gives it. Places are indices into a snapshot."""

    kind: str                   # "floating" or "planar"
    frame: str                  # child_frame_id
    pose: int                   # 7 doubles: x y z qx qy qz qw of the base in the odometry frame
    velocity: int               # floating: w then v in the base's axes (6); planar: x' y' theta' in the odometry frame (3)
    pose_covariance: tuple[float, ...] = (0.0,) * 6         # variances of x, y, z and about x, y, z that its messages say
    twist_covariance: tuple[float, ...] = (0.0,) * 6


POSITION, VELOCITY, EFFORT = 1, 2, 4        # what is commanded
FOLLOWS = -2                                # in place of a place in a command: the joint follows another


@dataclass(frozen=True)
class Sensed:
    """Where the numbers of joint_states stand: indices into a snapshot with the devices' memory behind it, (joints,) each."""

    position: tuple[int, ...]
    velocity: tuple[int, ...]
    effort: tuple[int, ...]
    fallback: dict[int, tuple[int, int]]        # index -> (index that is NaN as long as nothing has come, index of the truth)
    memory: Array                                 # of the devices, (n,)
    size: int                                   # of a snapshot with the memory behind it

    def whole(self, x: np.ndarray) -> np.ndarray:
        """A snapshot with the memory behind it; of sensors that have not read anything yet, the truth. x: a snapshot, or that already."""
        if len(x) > len(self.memory) and len(x) == self.size:
            return x
        whole = np.concatenate([x, self.memory])
        for at, (since, truth) in self.fallback.items():
            if math.isnan(whole[since]):
                whole[at] = x[truth]
        return whole


@dataclass(frozen=True)
class RobotMap:
    """Where everything that messages carry stands in a snapshot and in a command; built once per robot."""

    joints: tuple[str, ...]                     # order of joint_states: every joint with exactly one coordinate
    position: int                               # first joint position in a snapshot, rad or m
    velocity: int                               # rad/s or m/s
    effort: int                                 # N m or N
    command_size: int                           # efforts of a command (nv)
    commandable: dict[str, int]                 # name in joint_commands -> place in a command, or -1: takes none, FOLLOWS
    transforms: tuple[tuple[str, str, int], ...] = ()     # (parent frame, child frame, place of x y z qx qy qz qw)
    static: tuple[tuple[str, str, tuple[float, ...]], ...] = ()   # (parent frame, child frame, x y z qx qy qz qw)
    base: Base | None = None
    odom_frame: str = "odom"                    # the frame that stands still: of a fixed base its root link, of a scene world
    takes: dict[str, int] | None = None         # with a bench, of joints: POSITION + VELOCITY + EFFORT; the others take efforts
    bounds: dict[str, tuple[float, float, float, float]] = field(default_factory=dict)    # lowest and highest position, velocity
    turns: frozenset[str] = frozenset()         # joints that turn on and on: positions a turn apart are the same place
    sensed: Sensed | None = None                # where joint_states come from, if not from the snapshot alone
    objects: tuple[tuple[str, int], ...] = ()   # of a scene, those that move: (name, place of x y z qx qy qz qw in the world)

    @property
    def nv(self) -> int:
        """Velocities of the robot: efforts of a command, which is four times as long with a bench (mbros_core/plant/_commanded.pyx)."""
        return self.command_size if self.takes is None else self.command_size // 4

    def taken(self, name: str) -> int:
        """What a joint takes."""
        return EFFORT if self.takes is None else self.takes.get(name, EFFORT)

    def takes_it(self, name: str, what: int) -> bool:
        """Whether a joint is commanded by what; without a bench, as by efforts."""
        return self.commandable.get(name, -1) >= 0 and (self.takes is None or bool(self.taken(name) & what))

    @property
    def array_order(self) -> list[str]:
        """Joints of an `effort_commands` array: those of joint_states that take an effort, in joint order."""
        return self.order(EFFORT)

    def order(self, what: int) -> list[str]:
        """Joints of an array of positions, velocities or efforts."""
        return [name for name in self.joints if self.commandable[name] >= 0 and self.taken(name) & what]


# --- stamps


BEAT_NS = 100_000_000       # between two tellings of a robot that stands still, wall time
START_NS = 1_000_000_000    # stamp of simulated time 0 where time is simulated from the start
MARKS_OF_AGE = 32           # of what the stamp was when, in the age that a command may have


@dataclass
class Stamps:
    """What the stamps of messages say (see `stamps.pxd`): system time, or simulated time while time is simulated."""

    period_ns: int
    always: bool = False                # simulated from the start: stamps count from START_NS
    scaled: bool = False                # the real-time factor is not 1
    simulated: bool = False             # once they are, all that follow are
    max_age: int = 0                    # ns, that a command may have
    not_before: int = 0
    begun: int = 0                      # stamp of the newest reset
    fresh_from: int = 0                 # the stamp of max_age ago, wall time
    stamp_ns: int = 0
    clock_ns: int = 0                   # the same without the nanoseconds of a standstill
    still: bool = False                 # simulated time is what it was in the snapshot before
    changed: bool = False               # the robot was put elsewhere meanwhile
    beat: bool = False                  # it is time to publish the same again
    tick: bool = False                  # the same of /clock
    _origin: int = 0
    _nudge: int = 0                     # nanoseconds since time stands still: one for each publication
    _published: int = 0                      # wall time of the newest publication
    _content: bytes | None = field(default=None, repr=False)
    _last: tuple[int, int, float] | None = field(default=None, repr=False)     # step, wall_ns, time
    _renewed: bool = False
    _marks: deque[tuple[int, int]] = field(default_factory=deque, repr=False)   # wall_ns, stamp

    @property
    def origin_ns(self) -> int:
        """The stamp of simulated time 0, where time is simulated; another one after a reset."""
        return self._origin

    def stamp(self, step: int, time: float, wall_ns: int, flags: int, x: ArrayLike = ()) -> int:
        """Stamp of a snapshot in ns; the same for everyone who asks about the same snapshot."""
        if self._last is not None and self._last[:2] == (step, wall_ns):
            return self.stamp_ns
        now = _nanoseconds(time)
        simulated = self.always or self.simulated or self.scaled or bool(flags & (PAUSED | STEPPED))
        renewed, self._renewed = self._renewed and self._last is not None, False
        before = self._last is not None and (renewed or time < self._last[2])
        content = np.asarray(x, float).tobytes() if simulated else None
        self.still = simulated and self._last is not None and time == self._last[2] and not renewed
        if self.still:
            self._stand_still(wall_ns, flags, content)
        else:
            self._nudge, self._published = 0, wall_ns
        stamp = wall_ns
        if simulated:
            if self._last is None:
                self._origin = START_NS if self.always else wall_ns - now
            elif before:                                            # a reset: go on after the last stamp
                self._origin = self.clock_ns + self.period_ns - now
            elif not self.simulated:                                # from wall time: simulated time goes on from it
                self._origin = self.clock_ns - _nanoseconds(self._last[2])
            stamp = self._origin + now
            self._mark(wall_ns, stamp)
        elif self._last is not None and stamp <= self.clock_ns:     # the system's clock was set back
            stamp = self.clock_ns + max(self.period_ns // 2, 1)
        if flags & RESET or before:
            self.begun = stamp
        self.simulated, self.clock_ns, self._last, self._content = simulated, stamp, (step, wall_ns, time), content
        self.stamp_ns = stamp + self._nudge
        return self.stamp_ns

    def _stand_still(self, wall_ns: int, flags: int, content: bytes | None) -> None:
        """Is this snapshot, of the same simulated time as the one before, to be published?"""
        self.changed = (self._content is not None and content != self._content) or bool(flags & RESET)
        self.beat = not 0 <= wall_ns - self._published < BEAT_NS
        self.tick = self.changed or self.beat or not self.simulated
        if self.changed or self.beat:
            self._published = wall_ns
            self._nudge += 2 * self._nudge < self.period_ns

    def _mark(self, wall_ns: int, stamp: int) -> None:
        """Remember what the stamp is now, and what it was max_age ago."""
        marks = self._marks
        if marks and 0 <= wall_ns - marks[-1][0] < self.max_age // MARKS_OF_AGE:
            return
        if len(marks) == 2 * MARKS_OF_AGE:
            marks.popleft()
        marks.append((wall_ns, stamp))
        while len(marks) > 1 and marks[1][0] <= wall_ns - self.max_age:
            marks.popleft()
        self.fresh_from = marks[0][1]

    def go_on(self) -> None:
        """Another state was restored: the next stamp comes a step after the newest one."""
        self._renewed = True

    def set_scaled(self, scaled: bool) -> None:
        self.scaled = bool(scaled)

    def refuse_before(self, stamp_ns: int) -> None:
        self.not_before = stamp_ns


def _nanoseconds(seconds: float) -> int:
    """Rounded as C's llround does: halves away from zero."""
    x = seconds * 1e9
    return int(math.floor(x + 0.5)) if x >= 0 else -int(math.floor(0.5 - x))


def set_time(message: Time, stamp_ns: int) -> None:
    """Fill a builtin_interfaces/Time."""
    message.sec, message.nanosec = divmod(int(stamp_ns), 1_000_000_000)


# --- results


def fill_joint_state(message: JointState, robot: RobotMap, x: np.ndarray, stamp_ns: int) -> JointState:
    """sensor_msgs/JointState from a snapshot."""
    n = len(robot.joints)
    set_time(message.header.stamp, stamp_ns)
    message.name = list(robot.joints)
    if robot.sensed is not None:
        of = robot.sensed
        whole = of.whole(x)
        message.position, message.velocity, message.effort = (array("d", whole[list(at)].tobytes())
                                                              for at in (of.position, of.velocity, of.effort))
        return message
    message.position, message.velocity, message.effort = (array("d", x[at:at + n].tobytes())
                                                          for at in (robot.position, robot.velocity, robot.effort))
    return message


def fill_transforms(message: TFMessage, robot: RobotMap, x: np.ndarray, stamp_ns: int,
                    transform: Callable[[], TransformStamped]) -> TFMessage:
    """tf2_msgs/TFMessage of every moving frame; `transform` makes an empty TransformStamped."""
    message.transforms = [_fill_transform(transform(), parent, child, x[at:at + 7].tolist(), stamp_ns)
                          for parent, child, at in robot.transforms]
    return message


def fill_static_transforms(message: TFMessage, robot: RobotMap, stamp_ns: int, transform: Callable[[], TransformStamped]) -> TFMessage:
    """The same for the frames that never move."""
    message.transforms = [_fill_transform(transform(), parent, child, pose, stamp_ns)
                          for parent, child, pose in robot.static]
    return message


def fill_pose_stamped(message: PoseStamped, frame: str, at: int, x: np.ndarray, stamp_ns: int) -> PoseStamped:
    """geometry_msgs/PoseStamped of what stands at this place of a snapshot."""
    set_time(message.header.stamp, stamp_ns)
    message.header.frame_id = frame
    fill_xyz(message.pose.position, x[at:at + 3].tolist())
    fill_quaternion(message.pose.orientation, x[at + 3:at + 7].tolist())
    return message


def fill_odometry(message: Odometry, robot: RobotMap, x: np.ndarray, stamp_ns: int) -> Odometry:
    """nav_msgs/Odometry of the base: pose in the odometry frame, twist in the base's own axes (REP-105)."""
    base = robot.base
    assert base is not None                 # of a robot that has one
    set_time(message.header.stamp, stamp_ns)
    message.header.frame_id, message.child_frame_id = robot.odom_frame, base.frame
    pose, v = x[base.pose:base.pose + 7].tolist(), x[base.velocity:base.velocity + 6].tolist()
    fill_xyz(message.pose.pose.position, pose[:3])
    fill_quaternion(message.pose.pose.orientation, pose[3:])
    if base.kind == "floating":
        fill_xyz(message.twist.twist.angular, v[:3])
        fill_xyz(message.twist.twist.linear, v[3:])
    else:
        qz, qw = pose[5], pose[6]
        c, s = qw * qw - qz * qz, 2.0 * (qw * qz)                   # cos and sin of the heading
        fill_xyz(message.twist.twist.linear, (c * v[0] + s * v[1], c * v[1] - s * v[0], 0.0))
        fill_xyz(message.twist.twist.angular, (0.0, 0.0, v[2]))
    if any(base.pose_covariance):
        fill_diagonal(message.pose.covariance, base.pose_covariance)
    if any(base.twist_covariance):
        fill_diagonal(message.twist.covariance, base.twist_covariance)
    return message


def fill_clock(message: Clock, stamp_ns: int) -> Clock:
    """rosgraph_msgs/Clock."""
    set_time(message.clock, stamp_ns)
    return message


def _fill_transform(t: TransformStamped, parent: str, child: str, pose: Sequence[float], stamp_ns: int) -> TransformStamped:
    set_time(t.header.stamp, stamp_ns)
    t.header.frame_id, t.child_frame_id = parent, child
    fill_xyz(t.transform.translation, pose[:3])
    fill_quaternion(t.transform.rotation, pose[3:])
    return t


def fill_diagonal(covariance: MutableSequence[float], variances: Iterable[float]) -> None:
    """Of a pose or twist: (36,), of 6."""
    for k, variance in enumerate(variances):
        covariance[7 * k] = float(variance)


def fill_xyz(target: Vector3, xyz: Iterable[float]) -> None:
    target.x, target.y, target.z = map(float, xyz)


def fill_quaternion(target: Quaternion, quat_xyzw: Sequence[float]) -> None:
    target.x, target.y, target.z, target.w = map(float, quat_xyzw)
