"""Sensors as topics: for each kind of sensor the message that it becomes. A kind without a row is read through joint_states, or not at all.

Topics are the names of the sensors, with slashes for dots: wrist.imu is on wrist/imu. A frame is the one along whose axes the numbers are:
a link of the robot, or a frame of its description, each of which the node publishes. Covariances are numbers of the sensor, live.
"""
from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from mbros.describe.devices.sensors import WheelOdometry
from mbros.names import printable
from mbros.spatial.vectors import heading_quaternion

from mbros.ros.wire.bench import NodeBench, devices_of
from mbros.ros.errors import ParameterError
from mbros.ros.wire.messages import fill_diagonal, fill_quaternion, fill_xyz, set_time
from mbros.ros.wire.topics import device_topic

if TYPE_CHECKING:
    from mbros.ros.wire.messages import RobotMap
    from mbros.ros.robot import Robot
    from mbros import Model
    from mbros.describe.devices.classes import Sensor
    from mbros.ros.typing import FillTopic
    from mbros.ros.wire.typing import Bool, Imu, Odometry, WrenchStamped

Readings = dict[str, np.ndarray]         # {reading or number of a sensor: its numbers}


@dataclass(frozen=True)
class Kind:
    """A kind of message: package.Message; readings that it needs, and numbers of the sensor, its covariances; fill(message, {either:
    its numbers}) fills all but the header."""

    package: str
    message: str
    needs: tuple[str, ...]
    fill: Callable[[Any, Readings], None]
    covariances: tuple[str, ...] = ()
    stamped: bool = True


@dataclass(frozen=True)
class SensorTopic:
    """A sensor's topic: fill(x, stamp) from a snapshot with the devices' memory behind it."""

    name: str
    kind: type
    fill: FillTopic
    since: tuple[int, ...]          # doubles of the memory that say when its readings came
    late: float                     # s, from a sample to its reading
    yaw: int | None = None          # a heading that the message carries as a quaternion
    bit: int | None = None          # a number of which it says whether it is not 0


def fill_imu(message: Imu, reading: Readings) -> None:
    """Without an orientation its covariance begins with -1, which is a number of the sensor as others are (sensor_msgs/Imu, REP 145)."""
    fill_quaternion(message.orientation, reading["orientation"].tolist())
    fill_xyz(message.angular_velocity, reading["angular_velocity"])
    fill_xyz(message.linear_acceleration, reading["linear_acceleration"])
    for word in ("orientation", "angular_velocity", "linear_acceleration"):
        getattr(message, f"{word}_covariance")[:] = reading[f"static_covariance_{word}"]


def _fill_covariances(message: Odometry, reading: Readings) -> None:
    """Of an Odometry."""
    fill_diagonal(message.pose.covariance, reading["pose_covariance_diagonal"])
    fill_diagonal(message.twist.covariance, reading["twist_covariance_diagonal"])


def fill_wrench(message: WrenchStamped, reading: Readings) -> None:
    fill_xyz(message.wrench.force, reading["force"])
    fill_xyz(message.wrench.torque, reading["torque"])


def fill_odometry(message: Odometry, reading: Readings) -> None:
    """Of wheels: in the plane."""
    fill_xyz(message.pose.pose.position, (*reading["position"], 0.0))
    message.pose.pose.orientation.z, message.pose.pose.orientation.w = heading_quaternion(float(reading["yaw"][0]))
    fill_xyz(message.twist.twist.linear, (reading["velocity"][0], 0.0, 0.0))
    fill_xyz(message.twist.twist.angular, (0.0, 0.0, reading["yaw_rate"][0]))
    _fill_covariances(message, reading)


def fill_switch(message: Bool, reading: Readings) -> None:
    message.data = bool(reading["closed"][0])


def fill_pose(message: Odometry, reading: Readings) -> None:
    fill_xyz(message.pose.pose.position, reading["position"])
    fill_quaternion(message.pose.pose.orientation, reading["orientation"].tolist())
    fill_xyz(message.twist.twist.linear, reading["linear_velocity"])
    fill_xyz(message.twist.twist.angular, reading["angular_velocity"])
    _fill_covariances(message, reading)


DIAGONALS = ("pose_covariance_diagonal", "twist_covariance_diagonal")
# of the kinds of mbros_core.plant.sensors.registry
KINDS = {
    "imu": Kind("sensor_msgs", "Imu", ("orientation", "angular_velocity", "linear_acceleration"), fill_imu,
                ("static_covariance_orientation", "static_covariance_angular_velocity", "static_covariance_linear_acceleration")),
    "force_torque": Kind("geometry_msgs", "WrenchStamped", ("force", "torque"), fill_wrench),
    "contact_switch": Kind("std_msgs", "Bool", ("closed",), fill_switch, stamped=False),
    "odometry": Kind("nav_msgs", "Odometry", ("position", "yaw", "velocity", "yaw_rate"), fill_odometry, DIAGONALS),
    "pose": Kind("nav_msgs", "Odometry", ("position", "orientation", "linear_velocity", "angular_velocity"), fill_pose, DIAGONALS),
}


def sensor_topics(bench: NodeBench, robot: Robot, prefix: str, snapshot: int) -> list[SensorTopic]:
    """Every sensor that becomes a message. snapshot: doubles of one."""
    model = robot.model

    def whose(name: str) -> RobotMap:
        part = robot.part_with(name)
        return robot.map if part is None else part.map

    return [_topic(bench, sensor, name, KINDS[sensor.row.name], whose(name), frame_of(sensor, model, whose(name), prefix), snapshot)
            for sensor, name, _ in devices_of(bench, model, bench.bench.sensors) if sensor.row.name in KINDS]


def _name_of(sensor: str) -> str:
    """The topic of a sensor. ParameterError where ROS has no such name."""
    topic = device_topic(sensor)
    if topic is None:
        raise ParameterError(f"parameter bench: sensor '{printable(sensor)}' would be on topic '{printable(sensor.replace('.', '/'))}', a "
                             "name that ROS does not have; in the bench, give it letters, digits and _, with no digit first or after a dot")
    return topic


def frame_of(sensor: Sensor, model: Model, where: RobotMap, prefix: str) -> str:
    """The frame along whose axes a sensor's numbers are, as it is published: its own; of a load on a joint, the body beyond it; of wheels,
    the base that they carry."""
    if isinstance(sensor, WheelOdometry):       # a base's frame has the prefix already
        return where.base.frame if where.base is not None else _published(model, model.joint(sensor.left).parent.name, where, prefix)
    frame, load = getattr(sensor, "frame", None), getattr(sensor, "load", None)
    if frame is None and load is not None:
        frame = model.joint(load).child.name
    return "" if frame is None else _published(model, frame, where, prefix)


def _published(model: Model, name: str, where: RobotMap, prefix: str) -> str:
    """The frame of a body as TF has it."""
    return where.odom_frame if name in ("world", model.description.world.name) else prefix + name


def sensor_frames(bench: NodeBench, model: Model, where: RobotMap, prefix: str) -> tuple[tuple[str, str, tuple[float, ...]], ...]:
    """(parent frame, child frame, x y z qx qy qz qw) of frames that sensors stand on and that are no links: nobody else publishes them."""
    state, found = model.default_state(), {}
    for sensor, _, _ in devices_of(bench, model, bench.bench.sensors):
        name = getattr(sensor, "frame", None)
        if name is not None and name not in ("world", *(body.name for body in model.bodies)):
            body = model.frame(name).body_name
            X = model.pose(state, name, body)
            found[name] = _published(model, body, where, prefix), prefix + name, (*map(float, X.p), *map(float, X.quat_xyzw))
    return tuple(found.values())


def _topic(bench: NodeBench, sensor: Sensor, name: str, kind: Kind, where: RobotMap, frame: str, snapshot: int) -> SensorTopic:
    signals, rows, dt = bench.signals(name), bench.layout.rows, bench.layout.dt
    places = {word: (snapshot + bench.value_at(signals[word]), rows[signals[word]].size) for word in kind.needs}
    message = getattr(import_module(f"{kind.package}.msg"), kind.message)
    places.update((word, (snapshot + at, size)) for word, (at, size) in bench.numbers_at(name, kind.covariances).items())

    def fill(x: np.ndarray, stamp: int) -> object:
        m = message()
        if kind.stamped:
            set_time(m.header.stamp, stamp)
            m.header.frame_id = frame
        if kind.message == "Odometry":
            m.header.frame_id, m.child_frame_id = where.odom_frame, frame
        kind.fill(m, {word: x[at:at + size] for word, (at, size) in places.items()})
        return m

    late = math.ceil(sensor.latency / dt - 1e-9) * dt if sensor.latency > 0.0 else 0.0
    return SensorTopic(_name_of(name), message, fill, tuple(bench.since_at(signals[word]) for word in kind.needs), late,
                       places["yaw"][0] if "yaw" in places else None, places["closed"][0] if "closed" in places else None)
