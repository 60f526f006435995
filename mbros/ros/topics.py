"""What the node publishes at full rate, and how a data plane looks to the node.

An `Outgoing` says how one topic is filled from a snapshot; the native plane makes a template of it, the Python plane
calls it. The two planes are interchangeable: `start`, `stop`, `close`, `set_every`, `counts`, `beside`, `problems`,
`stamps`, `clock_of`.
"""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import messages
from .messages import RobotMap


@dataclass(frozen=True)
class Outgoing:
    """One topic. fill(snapshot, stamp_ns) makes its message; planar: see `templates.make_template`."""

    name: str
    publisher: Any
    fill: Callable[[np.ndarray, int], Any]
    planar: tuple[int, int] | None = None
    only_simulated: bool = False


def make_outgoing(node: Any, robot: RobotMap) -> list[Outgoing]:
    """Create the publishers of joint_states, /tf, odom and /clock on an rclpy node."""
    from geometry_msgs.msg import TransformStamped
    from nav_msgs.msg import Odometry
    from rosgraph_msgs.msg import Clock
    from sensor_msgs.msg import JointState
    from tf2_msgs.msg import TFMessage

    topics = [Outgoing("joint_states", publisher(node, JointState, "joint_states", 10),
                       lambda x, t: messages.fill_joint_state(JointState(), robot, x, t))]
    if robot.transforms:
        topics.append(Outgoing("tf", publisher(node, TFMessage, "/tf", 100),
                               lambda x, t: messages.fill_transforms(TFMessage(), robot, x, t, TransformStamped)))
    if robot.base is not None:
        planar = (robot.base.pose, robot.base.velocity) if robot.base.kind == "planar" else None
        topics.append(Outgoing("odom", publisher(node, Odometry, "odom", 10),
                               lambda x, t: messages.fill_odometry(Odometry(), robot, x, t), planar))
    topics.append(Outgoing("clock", publisher(node, Clock, "/clock", 10),
                           lambda x, t: messages.fill_clock(Clock(), t), only_simulated=True))
    return topics


def publisher(node: Any, kind: type, topic: str, depth: int, latched: bool = False) -> Any:
    """A reliable publisher, transient local if latched; its QoS can be overridden by parameters (qos_overrides.*)."""
    from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
    from rclpy.qos_overriding_options import QoSOverridingOptions

    qos = QoSProfile(depth=depth, reliability=ReliabilityPolicy.RELIABLE)
    if latched:
        qos.durability = DurabilityPolicy.TRANSIENT_LOCAL
        return node.create_publisher(kind, topic, qos)
    return node.create_publisher(kind, topic, qos, qos_overriding_options=QoSOverridingOptions.with_default_policies())


def subscription(node: Any, kind: type, topic: str, callback: Callable[[Any], None], group: Any) -> Any:
    """A command topic: best effort, newest only, unless parameters (qos_overrides.*) say otherwise."""
    from rclpy.qos import QoSProfile, ReliabilityPolicy
    from rclpy.qos_overriding_options import QoSOverridingOptions

    return node.create_subscription(kind, topic, callback, QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT),
                                    callback_group=group,
                                    qos_overriding_options=QoSOverridingOptions.with_default_policies())


def every(rate: float, wanted: float) -> int:
    """Publish every so many steps: the nearest whole number to rate / wanted, at least 1; 0: never."""
    return max(1, round(rate / wanted)) if wanted > 0 else 0
