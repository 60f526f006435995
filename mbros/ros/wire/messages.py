"""Snapshots into messages: what of a robot ROS sees, and the numbers of messages; pure functions, no ROS needed.

The data plane (`_dataplane`) writes the same as bytes, in which these functions show it the places. Messages are filled through their
ordinary attributes, so that any object with the right attributes will do.

Units: N m or N for efforts, rad or m for positions; stamps are integers of nanoseconds.
"""
from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterable, MutableSequence, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from mbros.ros.wire.typing import Clock, JointState, Odometry, PoseStamped, Quaternion, TFMessage, Time, TransformStamped, Vector3
    from mbros_core.typing import Array


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


START_NS = 1_000_000_000    # stamp of simulated time 0 where time is simulated from the start


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
