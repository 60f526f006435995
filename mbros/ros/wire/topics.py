"""What the node publishes at full rate: an `Outgoing` says how one topic is filled from a snapshot, and the data plane makes a template
of it. The tests have another plane, in plain rclpy, that calls it (tests/ros/python_plane.py)."""
from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast, Literal


from mbros.ros.wire import messages
from mbros.ros.errors import ParameterError
from mbros.ros.wire.messages import RobotMap
from mbros.ros.wire.parts import Part

if TYPE_CHECKING:
    from mbros.ros.typing import FillTopic, Group, OnMessage, Publisher, Subscription, Topics
    from mbros.ros.wire.sensor_messages import SensorTopic

InputKind = Literal["joint_state", "multi_array", "trajectory", "hardware"]
CommandTopic = tuple[str, InputKind, type, list[str], int]      # of command_topics


@dataclass(frozen=True)
class Outgoing:
    """One topic. fill(snapshot, stamp_ns) makes its message; planar: see `templates.make_template`."""

    name: str
    publisher: Publisher | None
    fill: FillTopic
    planar: tuple[int, int] | None = None
    only_simulated: bool = False
    due: tuple[int, int] | None = None      # (n, m): only in n of m steps
    of_joints: bool = False             # joint_states, whose numbers may be those of sensors
    since: tuple[int, ...] = ()         # of a sensor, and the next two: see `sensor_messages.SensorTopic`
    late: float = 0.0
    yaw: int | None = None
    bit: int | None = None
    of_memory: bool = False             # its numbers are those of the devices' memory
    rate: str = ""                      # the parameter <rate>_rate says how often; "": at every chance, or as is said elsewhere


def make_outgoing(node: Topics, robot: RobotMap, parts: Iterable[Part], sensors: Iterable[SensorTopic] = (),
                  of_sources: Iterable[tuple[str, FillTopic]] = (), of_actuators: Iterable[tuple[str, FillTopic]] = (),
                  clock: Publisher | None = None) -> list[Outgoing]:
    """Create the publishers of joint_states, /tf, odom, of sensors, sources and actuators on an rclpy node; of a scene,
    joint_states and odom of each robot, and the poses of objects. clock: the publisher of /clock, which comes first, so that who is given
    a state knows what time it is; None as long as time is not simulated."""
    from geometry_msgs.msg import PoseStamped, TransformStamped
    from nav_msgs.msg import Odometry
    from rosgraph_msgs.msg import Clock
    from sensor_msgs.msg import JointState
    from std_msgs.msg import Float64MultiArray
    from tf2_msgs.msg import TFMessage

    parts, of_actuators = list(parts), list(of_actuators)
    _check_names([*(part.topic(name) for part in parts for name in ("joint_states", "odom", "robot_description")), "tf", "clock",
                  *(f"{name}/pose" for name, _ in robot.objects)], [*(("a sensor", sensor.name) for sensor in sensors),
                                                                     *(("an actuator", name) for name, _ in of_actuators)])
    topics = [Outgoing("clock", clock, lambda x, t: messages.fill_clock(Clock(), t), only_simulated=True, rate="clock")]
    topics += [_of_part(node, part, states, "joint_states", JointState, "joint_states") for part in parts]
    if robot.transforms:
        topics.append(Outgoing("tf", publisher(node, TFMessage, "/tf", 100),
                               lambda x, t: messages.fill_transforms(TFMessage(), robot, x, t, TransformStamped), rate="tf"))
    topics += [_of_part(node, part, odometry, "odom", Odometry, "odom") for part in parts if part.map.base is not None]
    topics += [_pose(node, name, at, robot.odom_frame, PoseStamped) for name, at in robot.objects]
    topics += [Outgoing(sensor.name, publisher(node, sensor.kind, sensor.name, 10), sensor.fill, since=sensor.since, late=sensor.late,
                        yaw=sensor.yaw, bit=sensor.bit) for sensor in sensors]
    topics += [Outgoing(name, publisher(node, JointState, name, 10), fill, of_memory=True) for name, fill in of_sources]
    topics += [Outgoing(name, publisher(node, Float64MultiArray, name, 10), fill, of_memory=True, rate="joint_states")
               for name, fill in of_actuators]
    return topics


def device_topic(name: str) -> str | None:
    """The topic of a sensor or an actuator of that name; None where ROS has no such topic."""
    from rclpy.exceptions import InvalidTopicNameException
    from rclpy.validate_topic_name import validate_topic_name

    topic = name.replace(".", "/")
    try:
        validate_topic_name(topic)
    except InvalidTopicNameException:
        return None
    return topic


def _check_names(taken: list[str], devices: list[tuple[str, str]]) -> None:
    """No two things on one topic. devices: (what it is, its topic)."""
    there: set[str] = set()
    for what, name in devices:
        if name in taken or name in there:
            whose = "the node's" if name in taken else "another's"
            raise ParameterError(f"parameter bench: {what} would be on topic '{name}', which is {whose} already; name it otherwise in "
                                 "the bench")
        there.add(name)


def states(robot: RobotMap, name: str = "joint_states", to: Publisher | None = None) -> Outgoing:
    """sensor_msgs/JointState of all joints. to: the publisher."""
    from sensor_msgs.msg import JointState

    return Outgoing(name, to, lambda x, t: messages.fill_joint_state(JointState(), robot, x, t), of_joints=True)


def odometry(robot: RobotMap, name: str = "odom", to: Publisher | None = None) -> Outgoing:
    """nav_msgs/Odometry of the base."""
    from nav_msgs.msg import Odometry

    assert robot.base is not None
    planar = (robot.base.pose, robot.base.velocity) if robot.base.kind == "planar" else None
    return Outgoing(name, to, lambda x, t: messages.fill_odometry(Odometry(), robot, x, t), planar)


def _of_part(node: Topics, part: Part, make: Callable[..., Outgoing], name: str, kind: type, rate: str) -> Outgoing:
    topic = part.topic(name)
    return replace(make(part.map, topic, publisher(node, kind, topic, 10)), rate=rate)


def _pose(node: Topics, name: str, at: int, frame: str, kind: type) -> Outgoing:
    topic = f"{name}/pose"
    return Outgoing(topic, publisher(node, kind, topic, 10), lambda x, t: messages.fill_pose_stamped(kind(), frame, at, x, t), rate="odom")


def publisher(node: Topics, kind: type, topic: str, depth: int, latched: bool = False) -> Publisher:
    """A reliable publisher, transient local if latched; its QoS can be overridden by parameters (qos_overrides.*)."""
    from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
    from rclpy.qos_overriding_options import QoSOverridingOptions

    qos = QoSProfile(depth=depth, reliability=ReliabilityPolicy.RELIABLE)
    if latched:
        qos.durability = DurabilityPolicy.TRANSIENT_LOCAL
        return node.create_publisher(kind, topic, qos)
    return node.create_publisher(kind, topic, qos, qos_overriding_options=QoSOverridingOptions.with_default_policies())


def clock_publisher(node: Topics) -> Publisher:
    """Of /clock."""
    from rosgraph_msgs.msg import Clock

    return publisher(node, Clock, "/clock", 10)


def command_topics(part: Part) -> list[CommandTopic]:
    """(topic, kind of `_dataplane.CommandInput`, message, names of joints, what an array commands) of every command topic of a robot."""
    from sensor_msgs.msg import JointState
    from std_msgs.msg import Float64MultiArray

    robot = part.map
    names = list(robot.commandable)
    found: list[CommandTopic] = [
        ("joint_commands", "joint_state", JointState, names, messages.EFFORT),
        ("effort_commands", "multi_array", Float64MultiArray, robot.array_order, messages.EFFORT)]
    if robot.takes is not None:
        found.extend([("position_commands", "multi_array", Float64MultiArray, robot.order(messages.POSITION), messages.POSITION),
                      ("velocity_commands", "multi_array", Float64MultiArray, robot.order(messages.VELOCITY), messages.VELOCITY)])
        trajectory = trajectory_message()
        if trajectory is not None:
            found.append(("joint_trajectory", "trajectory", trajectory, names, messages.EFFORT))
    return [(part.topic(name), kind, message, joints, what) for name, kind, message, joints, what in found]


def trajectory_message() -> type | None:
    """trajectory_msgs/JointTrajectory, or None where that package is not installed."""
    try:
        from trajectory_msgs.msg import JointTrajectory
    except ImportError:
        return None
    return JointTrajectory


def unserved_group() -> Group:
    """A callback group that never lets an executor take from its subscriptions and services: the loop does, and `prompt`.

    They stay on the node, where `ros2 node info` and remappings expect them.
    """
    from rclpy.callback_groups import CallbackGroup

    class Unserved(CallbackGroup):
        def can_execute(self, entity: object) -> bool:
            return False

        def beginning_execution(self, entity: object) -> bool:
            return False

        def ending_execution(self, entity: object) -> None:
            pass

    return cast("Group", Unserved())


def subscription(node: Topics, kind: type, topic: str, callback: OnMessage, group: object) -> Subscription:
    """A command topic: best effort, newest only, unless parameters (qos_overrides.*) say otherwise."""
    from rclpy.qos import QoSProfile, ReliabilityPolicy
    from rclpy.qos_overriding_options import QoSOverridingOptions

    return node.create_subscription(kind, topic, callback, QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT),
                                    callback_group=group,
                                    qos_overriding_options=QoSOverridingOptions.with_default_policies())


def reliable_subscription(node: Topics, kind: type, topic: str, callback: OnMessage, group: object,
                          depth: int = 100) -> Subscription:
    """What is said once, with no newer message to come in its place (answers in lockstep, trajectories): none may be lost."""
    from rclpy.qos import QoSProfile, ReliabilityPolicy
    from rclpy.qos_overriding_options import QoSOverridingOptions

    return node.create_subscription(kind, topic, callback, QoSProfile(depth=depth, reliability=ReliabilityPolicy.RELIABLE),
                                    callback_group=group, qos_overriding_options=QoSOverridingOptions.with_default_policies())


def share(rate: float, wanted: float) -> float:
    """Of the steps that are published, for a rate that is wanted: 300 of 1000 are 0.3, each third, now and then fourth, one. 0: never."""
    return min(wanted / rate, 1.0)
