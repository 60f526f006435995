"""The bench of an SDF: its sensors (sensors.py), and what Gazebo's plug-ins that move or read joints are here: devices that take the same
commands.

    DiffDrive                 a velocity servo and an encoder for each wheel, and wheel odometry; the wheels take velocities
    JointPositionController   a position servo with its gains
    JointController           a velocity servo, with its gains where it pushes (use_force_commands)
    ApplyJointForce           an ideal effort
    JointStatePublisher       encoders of the joints that it names, or of all
    OdometryPublisher         the true pose of the model's canonical link
    gz_ros2_control           the <ros2_control> in it or in its model, as in a URDF; parameters of controllers are for those

All others are noted. A joint that has a drive keeps its first.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbros.describe.joints.kinds import ONE_AXIS
from mbros.describe.sdf.frames import first_link
from mbros.describe.sdf.sensors import device_name, read_sensors
from mbros.describe.sdf.values import flag, number
from mbros.describe.urdf.devices import add
from mbros.describe.urdf.numbers import shorten
from mbros.names import hint

if TYPE_CHECKING:
    from mbros.describe.devices.bench import Bench
    from mbros.describe.robot import JointDescription, RobotDescription
    from mbros.describe.sdf.robots import Parts, PlacedModel
    from mbros.describe.urdf.context import Context
    from mbros.describe.urdf.xml import XmlElement

ROS2_CONTROL = "ros2_control"
CLASSIC = {"libgazebo_ros_diff_drive.so": "DiffDrive", "libgazebo_ros_joint_state_publisher.so": "JointStatePublisher"}
MOST_PLUGINS = 1000         # of a file: each may be about all joints
RATES = ("odom_publish_frequency", "update_rate")


def read_bench(context: Context, description: RobotDescription, models: list[PlacedModel], parts: Parts) -> None:
    """Into the description, where there is anything of a bench."""
    if not any(entry.element.all("sensor") for model in models for entry in model.scope.entries.values()) and not any(
            element.tag == "plugin" or element.all("plugin") or element.all("ros2_control")
            for model in models for element, _ in model.scope.elements):
        return
    from mbros.describe.devices.bench import Bench      # start-up time: who does not use it does not pay

    bench = Bench()
    read_sensors(context, description, models, parts, bench)
    read_plugins(context, description, models, parts, bench)
    description.bench = bench if bench.actuators or bench.sensors or bench.channels else None


def read_plugins(context: Context, description: RobotDescription, models: list[PlacedModel], parts: Parts, bench: Bench) -> None:
    """All plug-ins of models, into the bench."""
    driven, sensed, plugins = set[str](), set[str](), 0
    for model in models:
        for element, _ in model.scope.elements:
            for plugin in element.all("plugin") if element.tag == "model" else (element,) if element.tag == "plugin" else ():
                plugins += 1
                if plugins > MOST_PLUGINS:
                    context.problem(plugin.line, "<plugin>", f"there are more than {MOST_PLUGINS} of them", "Leave out what is not needed.")
                    return
                Plugin(context, description, model, parts, bench, plugin, driven, sensed).read()
            blocks = element.all(ROS2_CONTROL) if element.tag == "model" else []
            if blocks:
                _ros2_control(context, description, model, parts, bench, blocks)


def kind_of(plugin: XmlElement) -> str:
    """DiffDrive of gz::sim::systems::DiffDrive, or of a file of Gazebo Classic."""
    name, file = plugin.attributes.get("name", ""), plugin.attributes.get("filename", "")
    if "ros2_control" in file or "ros2_control" in name:
        return ROS2_CONTROL
    return name.rpartition("::")[2] if "systems::" in name else CLASSIC.get(file, "")


class Plugin:
    """One reading of one plug-in. driven, sensed: names of joints that have a drive, and an encoder."""

    def __init__(self, context: Context, description: RobotDescription, model: PlacedModel, parts: Parts, bench: Bench, element: XmlElement,
                 driven: set[str], sensed: set[str]) -> None:
        self.context, self.description, self.model, self.parts = context, description, model, parts
        self.bench, self.element, self.driven, self.sensed = bench, element, driven, sensed
        shown = element.attributes.get("name") or element.attributes.get("filename", "")
        self.label, self.used = f"<plugin> {shorten(shown)}", set[str]()

    def read(self) -> None:
        kind = kind_of(self.element)
        reader = getattr(self, f"_{kind}", None) if kind in READERS else None
        if reader is None or self.model.static:
            why = "its model is static" if reader is not None else "what it does in Gazebo is not done here"
            self.note(f"not used: {why}", kind or self.element.attributes.get("filename", ""))
            return
        reader()
        left = dict.fromkeys(child.tag for child in self.element.children if child.tag not in self.used)
        if left:
            shown = ", ".join(f"<{shorten(tag, 40)[1:-1]}>" for tag in list(left)[:10])
            self.note(f"not used of it: {shown}", ("left", kind, *left))

    def note(self, reason: str, key: Any, severity: str = "note") -> None:
        self.context.notes.add(("plugin", key), self.element.line, self.label, reason, severity)

    # ------------------------------------------------------------------------------------------------- its numbers and joints

    def number(self, tag: str, default: float, least: float | None = None) -> float:
        self.used.add(tag)
        value = number(self.context, self.element, tag, self.label, default, least)
        return default if value is None else float(value)

    def flag(self, tag: str) -> bool:
        self.used.add(tag)
        return flag(self.context, self.element, tag, self.label)

    def rate(self) -> float | None:
        value = next((value for tag in RATES if self.element.all(tag) and (value := self.number(tag, 0.0, 0.0))), 0.0)
        return value or None

    def joints(self, tag: str) -> list[JointDescription]:
        """Those that the elements `tag` name; what is no joint with one axis is noted."""
        self.used.add(tag)
        found = []
        for element in self.element.all(tag):
            name = element.text.strip()
            joint = self.parts.joints.get(self.model.prefix + name)
            if joint is None or joint.kind not in ONE_AXIS or joint.mimic is not None:
                what = f"there is no joint {shorten(name)}{hint(self.model.prefix + name, self.parts.joints)}" if joint is None else \
                    f"joint {shorten(name)} ({joint.kind}) has not one axis of its own"
                self.note(f"<{tag}> is not used: {what}", ("joint", tag, name), "warning")
            else:
                found.append(joint)
        return found

    def name(self, joint: JointDescription, short: str) -> str:
        return device_name(self.model, joint.name.removeprefix(self.model.prefix).replace("::", ".")) + f".{short}"

    def drive(self, joint: JointDescription, make: Any) -> None:
        """An actuator, where the joint has none yet."""
        if joint.name in self.driven:
            self.note(f"joint {shorten(joint.name)} has a drive of an earlier plug-in", ("driven", joint.name), "warning")
            return
        self.driven.add(joint.name)
        add(self.context, self.element, self.bench, make)

    def velocity_servo(self, joint: JointDescription, kd: float = 0.0, ki: float = 0.0) -> None:
        """With these gains; without kd, with gains for what the joint moves."""
        from mbros.describe.devices.classes import VelocityServo      # start-up time: who does not use it does not pay
        from mbros.describe.devices.drives import drive      # start-up time, as well

        name = self.name(joint, "servo")
        self.drive(joint, lambda: VelocityServo(name, joint=joint.name, kd=kd, ki=ki) if kd else
                   drive(VelocityServo, name, joint.name, joint.kind != "prismatic"))

    def encoder(self, joint: JointDescription, rate: float | None = None) -> None:
        from mbros.describe.devices.classes import Encoder      # start-up time: who does not use it does not pay

        name = self.name(joint, Encoder.short)
        if joint.name not in self.sensed:
            self.sensed.add(joint.name)
            add(self.context, self.element, self.bench, lambda: Encoder(name, joint=joint.name, rate=rate))

    # ------------------------------------------------------------------------------------------------- the plug-ins

    def _DiffDrive(self) -> None:
        from mbros.describe.devices.sensors import WheelOdometry      # start-up time: who does not use it does not pay

        left, right = self.joints("left_joint"), self.joints("right_joint")
        diameter = self.number("wheel_diameter", 0.4, 0.0)
        radius, separation = self.number("wheel_radius", diameter / 2.0, 0.0), self.number("wheel_separation", 1.0, 0.0)
        for joint in (*left, *right):
            self.velocity_servo(joint)
            self.encoder(joint)
        if left and right:
            rate = self.rate()
            add(self.context, self.element, self.bench, lambda: WheelOdometry(
                device_name(self.model, "odometry"), left=left[0].name, right=right[0].name, radius=radius, separation=separation,
                rate=rate))
        self.note("it is a velocity servo for each wheel, their encoders and wheel odometry here: the wheels take velocities, not a Twist",
                  "DiffDrive")

    def _JointPositionController(self) -> None:
        from mbros.describe.devices.classes import PositionServo      # start-up time: who does not use it does not pay

        joints = self.joints("joint_name")
        if self.flag("use_velocity_commands"):
            for joint in joints:
                self.velocity_servo(joint)
            return
        kp, ki, kd = self.number("p_gain", 1.0, 0.0), self.number("i_gain", 0.1, 0.0), self.number("d_gain", 0.01, 0.0)
        most = min(abs(self.number("cmd_max", 1000.0)), abs(self.number("cmd_min", -1000.0)))
        start = self.number("initial_position", 0.0)
        for joint in joints:
            self.drive(joint, lambda joint=joint: PositionServo(self.name(joint, "servo"), joint=joint.name, kp=kp, ki=ki, kd=kd,
                                                                effort_limit=most))
            if start and joint.default is None:
                joint.default = np.array([start])

    def _JointController(self) -> None:
        joints = self.joints("joint_name")
        kd, ki = (self.number("p_gain", 1.0, 0.0), self.number("i_gain", 0.0, 0.0)) if self.flag("use_force_commands") else (0.0, 0.0)
        for joint in joints:
            self.velocity_servo(joint, kd, ki)

    def _ApplyJointForce(self) -> None:
        from mbros.describe.devices.classes import EffortActuator      # start-up time: who does not use it does not pay

        for joint in self.joints("joint_name"):
            self.drive(joint, lambda joint=joint: EffortActuator(self.name(joint, "drive"), joint=joint.name))

    def _JointStatePublisher(self) -> None:
        rate = self.rate()
        named = self.joints("joint_name")
        mine = [joint for name, joint in self.parts.joints.items() if name.startswith(self.model.prefix)
                and joint.robot == self.model.member and joint.kind in ONE_AXIS and joint.mimic is None]
        for joint in named if self.element.all("joint_name") else mine:
            self.encoder(joint, rate)

    def _OdometryPublisher(self) -> None:
        from mbros.describe.devices.sensors import GroundTruthPose      # start-up time: who does not use it does not pay

        key = self.model.scope.canonical or first_link(self.model.scope)
        body = None if key is None else self.parts.bodies.get(self.model.path + key)
        if body is not None:
            rate = self.rate()
            add(self.context, self.element, self.bench,
                lambda: GroundTruthPose(device_name(self.model, "true_odometry"), frame=body.name, rate=rate))

    def _ros2_control(self) -> None:
        blocks = self.element.all(ROS2_CONTROL)
        self.used.add(ROS2_CONTROL)
        if blocks:
            _ros2_control(self.context, self.description, self.model, self.parts, self.bench, blocks)
        elif not any(element.all(ROS2_CONTROL) for element, _ in self.model.scope.elements):
            self.note("there is no <ros2_control> in its model: with mbros, write one there, or load the URDF that has it",
                      "no ros2_control", "warning")


READERS = frozenset(name[1:] for name in vars(Plugin) if name.startswith("_") and not name.startswith("__"))


def _ros2_control(context: Context, description: RobotDescription, model: PlacedModel, parts: Parts, bench: Bench,
                  blocks: list[XmlElement]) -> None:
    """What a URDF's <ros2_control> is; of a model by itself, whose joints are called as it calls them."""
    from mbros.describe.urdf.ros2_control import HardwareReader      # start-up time: who does not use it does not pay

    if model.prefix:
        context.notes.add("ros2_control inside", blocks[0].line, "<ros2_control>", "not used: it is read of a file with one model, and not "
                          "of a nested one", "warning")
        return
    description.bench = bench
    HardwareReader(context, description, parts.joints, {}).read(blocks)
