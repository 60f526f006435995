"""What is used of messages, which have no types of their own. Only type checkers read it (mbros.ros.typing)."""
from __future__ import annotations

from collections.abc import MutableSequence, Sequence
from typing import Protocol


class Time(Protocol):
    """builtin_interfaces.msg.Time; Duration has the same"""

    sec: int
    nanosec: int


class Header(Protocol):
    """std_msgs.msg.Header"""

    stamp: Time
    frame_id: str


class Vector3(Protocol):
    """geometry_msgs.msg.Vector3; Point has the same"""

    x: float
    y: float
    z: float


class Quaternion(Protocol):
    """geometry_msgs.msg.Quaternion"""

    x: float
    y: float
    z: float
    w: float


class PoseMessage(Protocol):
    """geometry_msgs.msg.Pose"""

    position: Vector3
    orientation: Quaternion


class PoseStamped(Protocol):
    """geometry_msgs.msg.PoseStamped"""

    header: Header
    pose: PoseMessage


class Transform(Protocol):
    """geometry_msgs.msg.Transform"""

    translation: Vector3
    rotation: Quaternion


class TransformStamped(Protocol):
    """geometry_msgs.msg.TransformStamped"""

    header: Header
    child_frame_id: str
    transform: Transform


class TFMessage(Protocol):
    """tf2_msgs.msg.TFMessage"""

    transforms: Sequence[TransformStamped]


class Twist(Protocol):
    """geometry_msgs.msg.Twist"""

    linear: Vector3
    angular: Vector3


class PoseWithCovariance(Protocol):
    """geometry_msgs.msg.PoseWithCovariance"""

    pose: PoseMessage
    covariance: MutableSequence[float]


class TwistWithCovariance(Protocol):
    """geometry_msgs.msg.TwistWithCovariance"""

    twist: Twist
    covariance: MutableSequence[float]


class Odometry(Protocol):
    """nav_msgs.msg.Odometry"""

    header: Header
    child_frame_id: str
    pose: PoseWithCovariance
    twist: TwistWithCovariance


class Wrench(Protocol):
    """geometry_msgs.msg.Wrench"""

    force: Vector3
    torque: Vector3


class Inertia(Protocol):
    """geometry_msgs.msg.Inertia"""

    m: float
    com: Vector3
    ixx: float
    ixy: float
    ixz: float
    iyy: float
    iyz: float
    izz: float


class WrenchStamped(Protocol):
    """geometry_msgs.msg.WrenchStamped"""

    wrench: Wrench


class Imu(Protocol):
    """sensor_msgs.msg.Imu"""

    orientation: Quaternion
    angular_velocity: Vector3
    linear_acceleration: Vector3


class Bool(Protocol):
    """std_msgs.msg.Bool"""

    data: bool


class JointState(Protocol):
    """sensor_msgs.msg.JointState"""

    header: Header
    name: Sequence[str]
    position: Sequence[float]
    velocity: Sequence[float]
    effort: Sequence[float]


class MultiDOFJointState(Protocol):
    """sensor_msgs.msg.MultiDOFJointState"""

    joint_names: Sequence[str]
    transforms: Sequence[Transform]
    twist: Sequence[Twist]
    wrench: Sequence[Wrench]


class MultiArrayLayout(Protocol):
    """std_msgs.msg.MultiArrayLayout"""

    data_offset: int


class Float64MultiArray(Protocol):
    """std_msgs.msg.Float64MultiArray"""

    layout: MultiArrayLayout
    data: Sequence[float]


class Clock(Protocol):
    """rosgraph_msgs.msg.Clock"""

    clock: Time


class ColorRGBA(Protocol):
    """std_msgs.msg.ColorRGBA"""

    r: float
    g: float
    b: float
    a: float


class Marker(Protocol):
    """visualization_msgs.msg.Marker"""

    header: Header
    ns: str
    id: int
    type: int
    action: int
    pose: PoseMessage
    scale: Vector3
    color: ColorRGBA
    points: Sequence[Vector3]
    colors: Sequence[ColorRGBA]


class MarkerArray(Protocol):
    """visualization_msgs.msg.MarkerArray"""

    markers: MutableSequence[Marker]


class ContactMessage(Protocol):
    """mbros_msgs.msg.Contact"""

    body_a: str
    body_b: str
    shape_a: str
    shape_b: str
    point: Vector3
    normal: Vector3
    force: Vector3
    slip_velocity: Vector3
    depth: float
    sticks: bool


class Contacts(Protocol):
    """mbros_msgs.msg.Contacts"""

    header: Header
    count: int
    contacts: Sequence[ContactMessage]


class DiagnosticArray(Protocol):
    """diagnostic_msgs.msg.DiagnosticArray"""

    header: Header
    status: MutableSequence[object]
