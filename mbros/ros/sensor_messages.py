"""Sensors as topics: for each kind of sensor the message that it becomes. A kind without a row is read through joint_states, or not at all.

Topics are the names of the sensors, with slashes for dots: wrist.imu is on wrist/imu. Frames are those of the sensors.
"""
from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from mbros.names import printable
from mbros.spatial.vectors import heading_quaternion

from .bench import NodeBench, devices_of
from .errors import ParameterError
from .messages import fill_xyz, set_time
from .topics import device_topic

if TYPE_CHECKING:
    from .messages import RobotMap
    from .robot import Robot


@dataclass(frozen=True)
class Kind:
    """A kind of message: package.Message; readings that it needs; fill(message, reading -> numbers, sensor) fills all but the header."""

    package: str
    message: str
    needs: tuple[str, ...]
    fill: Callable[[Any, dict[str, np.ndarray], Any], None]
    stamped: bool = True


@dataclass(frozen=True)
class SensorTopic:
    """A sensor's topic: fill(x, stamp) from a snapshot with the devices' memory behind it."""

    name: str
    kind: type
    fill: Callable[[np.ndarray, int], Any]
    since: tuple[int, ...]          # doubles of the memory that say when its readings came
    late: float                     # s, from a sample to its reading
    yaw: int | None = None          # a heading that the message carries as a quaternion
    bit: int | None = None          # a number of which it says whether it is not 0


def variance(sensor: Any, prefix: str, rate: float) -> float:
    """Of a sample: white noise of density N at a rate f has N^2 f, and the bias wanders by its instability."""
    noise, bias = (float(sensor.values[prefix + name][0]) for name in ("noise_density", "bias_instability"))
    return noise * noise * rate + bias * bias


def fill_imu(message: Any, reading: dict[str, np.ndarray], sensor: Any) -> None:
    fill_xyz(message.angular_velocity, reading["angular_velocity"])
    fill_xyz(message.linear_acceleration, reading["linear_acceleration"])
    message.orientation_covariance[0] = -1.0                        # no orientation (sensor_msgs/Imu)
    for k in (0, 4, 8):
        message.angular_velocity_covariance[k] = variance(sensor, "gyro_", sensor.sampled_at)
        message.linear_acceleration_covariance[k] = variance(sensor, "accel_", sensor.sampled_at)


def fill_wrench(message: Any, reading: dict[str, np.ndarray], sensor: Any) -> None:
    fill_xyz(message.wrench.force, reading["force"])
    fill_xyz(message.wrench.torque, reading["torque"])


def fill_odometry(message: Any, reading: dict[str, np.ndarray], sensor: Any) -> None:
    """Of wheels: in the plane."""
    fill_xyz(message.pose.pose.position, (*reading["position"], 0.0))
    message.pose.pose.orientation.z, message.pose.pose.orientation.w = heading_quaternion(float(reading["yaw"][0]))
    fill_xyz(message.twist.twist.linear, (reading["velocity"][0], 0.0, 0.0))
    fill_xyz(message.twist.twist.angular, (0.0, 0.0, reading["yaw_rate"][0]))


def fill_switch(message: Any, reading: dict[str, np.ndarray], sensor: Any) -> None:
    message.data = bool(reading["closed"][0])


def fill_pose(message: Any, reading: dict[str, np.ndarray], sensor: Any) -> None:
    fill_xyz(message.pose.pose.position, reading["position"])
    q = message.pose.pose.orientation
    q.x, q.y, q.z, q.w = map(float, reading["orientation"])
    fill_xyz(message.twist.twist.linear, reading["linear_velocity"])
    fill_xyz(message.twist.twist.angular, reading["angular_velocity"])


# of the kinds of mbros_core.sensors.registry
KINDS = {
    "imu": Kind("sensor_msgs", "Imu", ("angular_velocity", "linear_acceleration"), fill_imu),
    "force_torque": Kind("geometry_msgs", "WrenchStamped", ("force", "torque"), fill_wrench),
    "contact_switch": Kind("std_msgs", "Bool", ("closed",), fill_switch, stamped=False),
    "odometry": Kind("nav_msgs", "Odometry", ("position", "yaw", "velocity", "yaw_rate"), fill_odometry),
    "pose": Kind("nav_msgs", "Odometry", ("position", "orientation", "linear_velocity", "angular_velocity"), fill_pose),
}


@dataclass(frozen=True)
class Sampled:
    """A sensor as its message needs it."""

    values: dict[str, Any]
    sampled_at: float               # Hz


def sensor_topics(bench: NodeBench, robot: Robot, prefix: str, snapshot: int) -> list[SensorTopic]:
    """Every sensor that becomes a message. snapshot: doubles of one."""
    model = robot.model

    def whose(name: str) -> RobotMap:
        part = robot.part_with(name)
        return robot.map if part is None else part.map

    return [_topic(bench, sensor, name, KINDS[sensor.row.name], whose(name), prefix, snapshot)
            for sensor, name, _ in devices_of(bench, model, bench.bench.sensors) if sensor.row.name in KINDS]


def _name_of(sensor: str) -> str:
    """The topic of a sensor. ParameterError where ROS has no such name."""
    topic = device_topic(sensor)
    if topic is None:
        raise ParameterError(f"parameter bench: sensor '{printable(sensor)}' would be on topic '{printable(sensor.replace('.', '/'))}', a "
                             "name that ROS does not have; in the bench, give it letters, digits and _, with no digit first or after a dot")
    return topic


def _topic(bench: NodeBench, sensor: Any, name: str, kind: Kind, where: RobotMap, prefix: str, snapshot: int) -> SensorTopic:
    signals, rows, dt = bench.signals(name), bench.layout.rows, bench.layout.dt
    places = {word: (snapshot + bench.value_at(signals[word]), rows[signals[word]].size) for word in kind.needs}
    message = getattr(import_module(f"{kind.package}.msg"), kind.message)
    what = Sampled(sensor.values, min(sensor.rate, 1.0 / dt))
    own = getattr(sensor, "frame", None) or ("" if where.base else getattr(sensor, "joint", None) or "")
    frame = prefix + str(own) if own or where.base is None else where.base.frame        # a base's has the prefix already

    def fill(x: np.ndarray, stamp: int) -> Any:
        m: Any = message()
        if kind.stamped:
            set_time(m.header.stamp, stamp)
            m.header.frame_id = frame
        if kind.message == "Odometry":
            m.header.frame_id, m.child_frame_id = where.odom_frame, frame
        kind.fill(m, {word: x[at:at + size] for word, (at, size) in places.items()}, what)
        return m

    late = math.ceil(sensor.latency / dt - 1e-9) * dt if sensor.latency > 0.0 else 0.0
    return SensorTopic(_name_of(name), message, fill, tuple(bench.since_at(signals[word]) for word in kind.needs), late,
                       places["yaw"][0] if "yaw" in places else None, places["closed"][0] if "closed" in places else None)
