"""<ros2_control> of a URDF: what it says about joints and sensors becomes the bench of the simulation, which takes the hardware's place.

    <ros2_control name="arm" type="system">
      <joint name="joint1">
        <command_interface name="position"> <param name="min">-1</param> <param name="max">1</param> </command_interface>
        <state_interface name="position"> <param name="initial_value">0.5</param> </state_interface>
      </joint>
      <sensor name="imu"> <state_interface name="angular_velocity.x"/> ... <param name="frame_id">flange</param> </sensor>
    </ros2_control>

Read as ros2_control's own documentation has it (hardware_interface_types_userdoc, joints_userdoc, joint_limiting):

* a command interface of position is a position servo, of velocity alone a velocity servo, of effort alone an ideal effort; a servo takes
  the other commands too. With stiffness or damping (kp, kd), as drives of legs have them, it is an impedance servo, whose gains are
  commands. Gains follow from what the joint moves and holds (mbros.describe.devices.drives); initial_value of kp and kd is the gain until
  one is commanded. min and max bound the command, and the joint's own <limit> does: ends, velocity, and how fast a position that is
  commanded moves; unless <limits enable="false"/>
* state interfaces of position and velocity are an encoder, effort a torque sensor; initial_value of the position is where the robot starts
* a sensor is an inertial sensor, or a force-torque sensor, by its interfaces' names; frame_id is its frame, else the link or joint of its
  name, else that of <gazebo reference="link"> with a <sensor> of its name, as gz_ros2_control has it
* mimic="false" lets a joint that follows go; the parameters mimic, multiplier and offset (before Jazzy) make one follow

What is not used is noted, once for each kind. <mbros:actuator> and <mbros:sensor> say more; a joint that has one keeps it.
"""
from __future__ import annotations

import inspect
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import numpy as np

from mbros.describe.robot import Mimic
from mbros.describe.urdf.devices import add
from mbros.describe.urdf.numbers import parse_finite_float, shorten
from mbros.errors import MbrosError, ModelError
from mbros.names import hint, printable

if TYPE_CHECKING:
    from mbros.describe.devices.bench import Bench
    from mbros.describe.robot import JointDescription, RobotDescription
    from mbros.describe.urdf.context import Context
    from mbros.describe.urdf.xml import XmlElement

TAG = "ros2_control"
COMMANDS = ("position", "velocity", "effort")
GAINS = {"stiffness": "stiffness", "damping": "damping", "kp": "stiffness", "kd": "damping"}       # interfaces of gains: commands of mbros
UNUSED = {"hardware": "the simulation takes the hardware's place", "gpio": "ports are not simulated", "transmission": "joints are driven "
          "directly; drake:gear_ratio is read", "properties": "for the hardware"}
WRENCH = ("force.x", "force.y", "force.z", "torque.x", "torque.y", "torque.z", "fx", "fy", "fz", "tx", "ty", "tz")


def read_ros2_control(context: Context, root: XmlElement, description: RobotDescription, joints: dict[str, JointDescription]) -> None:
    """All of them into the description: its bench, default positions, followers."""
    found = root.all(TAG)
    if found:
        HardwareReader(context, description, joints, links_of_gazebo(root)).read(found)


def links_of_gazebo(root: XmlElement) -> dict[str, str]:
    """{name of a sensor: link or joint} of <gazebo reference="link"> <sensor name="...">."""
    return {sensor.attributes["name"]: element.attributes["reference"] for element in root.all("gazebo")
            for sensor in element.all("sensor") if "reference" in element.attributes and "name" in sensor.attributes}


class HardwareReader:
    """One reading of one robot's <ros2_control> elements."""

    def __init__(self, context: Context, description: RobotDescription, joints: dict[str, JointDescription],
                 of_gazebo: dict[str, str]) -> None:
        from mbros.describe.devices.bench import Bench      # start-up time: who does not use it does not pay
        from mbros.describe.devices.classes import Encoder, TorqueSensor      # start-up time, as well

        self.context, self.description, self.joints, self.of_gazebo = context, description, joints, of_gazebo
        given = description.bench
        self.bench: Bench = Bench() if given is None else given
        # limits and brakes stand beside the actuator that drives a joint
        self.driven = Covered([device.joint for device in self.bench.actuators if getattr(device.row, "drives", True)])
        self.limited = Covered([device.joint for device in self.bench.actuators if device.type == "command_limits"])
        self.sensed = {kind: Covered([device.joint for device in self.bench.sensors if device.type == kind and device.joint is not None])
                       for kind in (Encoder.type, TorqueSensor.type)}
        self.drives: set[str] = set()                   # joints that are driven by what is read here
        self.sensors = {device.name for device in self.bench.sensors}
        self.frames = {**{frame.name: frame.body for frame in description.frames}, **{body.name: body for body in description.bodies}}
        self.carriers = {id(joint.child): joint.name for joint in reversed(description.joints)}
        self.before = self._count()

    def read(self, found: list[XmlElement]) -> None:
        for block in found:
            for element in block.children:
                if element.tag == "joint":
                    self.joint(element)
                elif element.tag == "sensor":
                    self.sensor(element)
                else:
                    self.note(element, UNUSED.get(element.tag, "unknown element"), element.tag)
        if self._count() > self.before:
            self.description.bench = self.bench
            self.context.notes.add((TAG, "bench"), found[0].line, f"<{TAG}>", "made a bench of it, which simulators of the model have; "
                                   "bench=False leaves it out")
        else:
            self.context.notes.add(("robot", TAG), found[0].line, f"<{TAG}> in <robot>", "not used: it names nothing that is simulated")

    def _count(self) -> int:
        return len(self.bench.actuators) + len(self.bench.sensors) + len(self.bench.channels)

    def note(self, element: XmlElement, reason: str, key: Any, severity: str = "note") -> None:
        """Something that is not used, once for each kind."""
        self.context.notes.add((TAG, key), element.line, f"<{shorten(element.tag)[1:-1]}> in <{TAG}>", f"not used: {reason}", severity)

    # ------------------------------------------------------------------------------------------------- joints

    def joint(self, element: XmlElement) -> None:
        name = element.attributes.get("name", "")
        joint = self.joints.get(name)
        if joint is None:
            self.note(element, f"there is no joint {shorten(name)}{hint(name, self.joints)}", ("no joint", name), "warning")
            return
        if joint.nv != 1 or joint.nq != 1:
            self.note(element, f"joint {shorten(name)} ({joint.kind}) has not one coordinate", ("kind", name), "warning")
            return
        parameters = self.parameters(element)
        self.mimic(element, joint, parameters)
        commands, states = (self.interfaces(element, tag) for tag in ("command_interface", "state_interface"))
        limited = not any(_off(limits) for limits in element.all("limits"))
        for word in parameters:
            self.note(element, f"parameter {shorten(word)}", ("parameter", word))
        for child in element.children:
            if child.tag not in ("command_interface", "state_interface", "param", "limits"):
                self.note(child, "unknown element", child.tag)
        self.commands(element, joint, commands, limited)
        self.states(element, joint, states)

    def interfaces(self, element: XmlElement, tag: str) -> dict[str, XmlElement]:
        """By name, the last where there are several. Their numbers stand in <param>, as ros2_control reads them."""
        found: dict[str, XmlElement] = {}
        for each in element.all(tag):
            name = each.attributes.get("name", "")
            for word in each.attributes:
                if word not in ("name", "data_type", "size"):
                    reason = f'attribute {shorten(word)}; write <param name="{printable(word, 60)}">...</param> in it'
                    self.note(each, reason, ("attribute", tag, word), "warning")
            if name in found:
                self.note(found[name], f"a second {shorten(name)} of the same joint", ("twice", tag, name), "warning")
            found[name] = each
        return found

    def mimic(self, element: XmlElement, joint: JointDescription, parameters: dict[str, str]) -> None:
        """mimic="false", and what ros2_control had before Jazzy."""
        leader = parameters.pop("mimic", None)
        ratio, offset = (parameters.pop(word, None) for word in ("multiplier", "offset"))
        wanted = element.attributes.get("mimic", "").lower()
        if wanted == "false":
            joint.mimic = None
        elif leader is not None and joint.mimic is None:
            numbers = [default if text is None else self.number(element, text) for text, default in ((ratio, 1.0), (offset, 0.0))]
            if leader not in self.joints:
                self.note(element, f"mimic: there is no joint {shorten(leader)}{hint(leader, self.joints)}", ("mimic", joint.name),
                          "warning")
            elif joint.name in self.leaders(leader):
                self.note(element, f"mimic: joint {shorten(leader)} follows {shorten(joint.name)}", ("mimic", joint.name), "warning")
            elif numbers[0] is not None and numbers[1] is not None:
                joint.mimic = Mimic(leader, numbers[0], numbers[1])
        for name in element.attributes:
            if name not in ("name", "mimic"):
                self.note(element, f"attribute {shorten(name)}", ("attribute", name))

    def leaders(self, name: str) -> list[str]:
        """A joint, the one that it follows, and so on."""
        found = {name: None}
        while name in self.joints and (mimic := self.joints[name].mimic) is not None and mimic.leader not in found:
            name = mimic.leader
            found[name] = None
        return list(found)

    def commands(self, element: XmlElement, joint: JointDescription, given: dict[str, XmlElement], limited: bool) -> None:
        """An actuator for the command interfaces, and bounds on the commands."""
        known = [word for word in given if word in COMMANDS or word in GAINS]
        for word in (word for word in given if word not in known):
            self.note(given[word], f"a command of {shorten(word)}", ("command", word))
        if not known or self.driven.has(joint.name):
            if known and joint.name in self.drives:
                self.note(given[known[0]], f"joint {shorten(joint.name)} has a drive of an earlier <joint> in a <{TAG}>; write all of "
                          "its command interfaces there", ("second drive", joint.name), "warning")
            return
        if joint.mimic is not None:
            self.note(given[known[0]], f"joint {shorten(joint.name)} follows {joint.mimic.leader!r}, which is the one to command",
                      ("follower", joint.name), "warning")
            return
        gains: dict[str, str] = {}              # by the command of mbros
        for word in known:
            if word in GAINS and gains.setdefault(GAINS[word], word) != word:
                self.note(given[word], f"{gains[GAINS[word]]!r} of the same joint is the same", ("twice", word), "warning")
        self.add(element, self.drive(joint, given, known, gains))
        self.driven.names.add(joint.name)
        self.drives.add(joint.name)
        moves = [given[word] for word in COMMANDS[:2] if word in known]
        if limited and moves and not any(map(_off, (off for each in moves for off in each.all("limits")))):
            self.limit(element, joint)
        for word in (word for word in known if word in COMMANDS or gains[GAINS[word]] == word):
            self.bounds(given[word], f"{joint.name}.command.{GAINS.get(word, word)}", limited)

    def limit(self, element: XmlElement, joint: JointDescription) -> None:
        """What ros2_control's joint limiter does of the joint's own <limit>: a commanded position moves no faster than its velocity."""
        from mbros.describe.devices.actuators import CommandLimits      # start-up time: who does not use it does not pay

        speed = min(-float(joint.velocity_lower[0]), float(joint.velocity_upper[0]))
        if 0.0 < speed < np.inf and not self.limited.has(joint.name):
            self.add(element, CommandLimits(f"{joint.name}.limits", joint=joint.name, position_rate=speed))

    def drive(self, joint: JointDescription, given: dict[str, XmlElement], known: list[str], gains: dict[str, str]) -> Any:
        """The actuator. gains: the interfaces of stiffness and damping."""
        from mbros.describe.devices.actuators import ImpedanceServo      # start-up time: who does not use it does not pay
        from mbros.describe.devices.classes import EffortActuator, PositionServo, VelocityServo      # start-up time, as well
        from mbros.describe.devices.drives import drive      # start-up time, as well

        name, rotates = f"{joint.name}.servo", joint.kind != "prismatic"
        if gains:
            first = {number: self.gain(given[gains[word]]) for word, number in (("stiffness", "kp"), ("damping", "kd")) if word in gains}
            return drive(ImpedanceServo, name, joint.name, rotates, **first)
        if "position" in known or "velocity" in known:
            return drive(PositionServo if "position" in known else VelocityServo, name, joint.name, rotates)
        return EffortActuator(f"{joint.name}.drive", joint=joint.name)

    def gain(self, interface: XmlElement) -> float | None:
        """The initial_value of a stiffness or damping, which is one that is not negative."""
        text = self.parameters(interface).get("initial_value")
        value = None if text is None else self.number(interface, text)
        if value is not None and value < 0.0:
            self.note(interface, f"initial_value {value:g} is negative", ("initial_value", "gain"), "warning")
            return None
        return value

    def bounds(self, interface: XmlElement, signal: str, limited: bool) -> None:
        """min and max of a command interface, a channel that clamps."""
        from mbros.describe.devices.channel import Channel      # start-up time: who does not use it does not pay

        limited = limited and not any(_off(limits) for limits in interface.all("limits"))
        parameters = self.parameters(interface)
        if interface.attributes.get("name") in GAINS:
            parameters.pop("initial_value", None)               # read by gain()
        ends: dict[str, Any] = {}
        for word, end in (("min", "lower"), ("max", "upper")):
            value = self.number(interface, parameters.pop(word)) if word in parameters else None
            if value is not None:
                ends[end] = value
        for word in parameters:
            self.note(interface, f"parameter {shorten(word)}", ("parameter", word))
        if limited and ends:
            try:
                self.add(interface, Channel(f"{signal}, limits", signal=signal, **ends))
            except ModelError as error:
                for problem in error.problems:
                    self.context.problem(interface.line, f"<command_interface> of {signal}", problem.reason, "Swap min and max.")

    def states(self, element: XmlElement, joint: JointDescription, given: dict[str, XmlElement]) -> None:
        """Sensors for the state interfaces, and where the joint starts."""
        from mbros.describe.devices.classes import Encoder, TorqueSensor      # start-up time: who does not use it does not pay

        for word, interface in given.items():
            parameters = self.parameters(interface)
            start = parameters.pop("initial_value", None)
            if word not in COMMANDS:
                self.note(interface, f"a state of {shorten(word)}", ("state", word))
            if start is not None and word == "position" and joint.mimic is None:
                self.start(interface, joint, self.number(interface, start))
            elif start is not None and self.number(interface, start):
                self.note(interface, f"initial_value of {shorten(word)}: a robot starts at rest", ("initial_value", word))
            for other in parameters:
                self.note(interface, f"parameter {shorten(other)}", ("parameter", other))
        if joint.mimic is not None:
            return                                      # what it does is its leader's
        for cls, words in ((Encoder, COMMANDS[:2]), (TorqueSensor, COMMANDS[2:])):
            if any(word in given for word in words) and not self.sensed[cls.type].has(joint.name):
                self.add(element, cls(f"{joint.name}.{cls.short}", joint=joint.name))
                self.sensed[cls.type].names.add(joint.name)

    def start(self, interface: XmlElement, joint: JointDescription, value: float | None) -> None:
        """Where a joint is in the beginning, unless its own element says it."""
        if value is None or joint.default is not None:
            return
        if joint.lower[0] <= value <= joint.upper[0]:
            joint.default = np.array([value])
        else:
            self.note(interface, f"initial_value {value:g} of joint {shorten(joint.name)} is beyond its limits {joint.lower[0]:g} to "
                      f"{joint.upper[0]:g}", ("initial_value", joint.name), "warning")

    # ------------------------------------------------------------------------------------------------- sensors

    def sensor(self, element: XmlElement) -> None:
        """An inertial or a force-torque sensor, by the names of its interfaces."""
        from mbros.describe.devices.words import FAMILIES      # start-up time: who does not use it does not pay

        name = element.attributes.get("name", "")
        words = [each.attributes.get("name", "") for each in element.all("state_interface")]
        parameters = self.parameters(element)
        frame = parameters.pop("frame_id", name if name in self.frames or name in self.joints else self.of_gazebo.get(name, name))
        inertial = [word for word in words if word.startswith(("angular_velocity.", "linear_acceleration."))]
        wrench = [word for word in words if word in WRENCH]
        read = {*inertial, *wrench}
        kind = "imu" if inertial else "force_torque" if wrench else ""
        for word in words:
            if word not in read or kind == "force_torque" and kind not in FAMILIES["sensor"]:
                self.note(element, f"a state of {shorten(word)}", ("state", word))
        for word in parameters:
            self.note(element, f"parameter {shorten(word)}", ("parameter", word))
        if kind not in FAMILIES["sensor"]:
            return
        places = self.places(FAMILIES["sensor"][kind], frame)
        if places is None:
            self.note(element, f"sensor {shorten(name)}: there is no link, frame or joint {shorten(frame)} for it; give "
                      "<param name=\"frame_id\">", ("sensor", name), "warning")
        elif name not in self.sensors:
            self.sensors.add(name)
            try:
                self.add(element, FAMILIES["sensor"][kind](name, **places))
            except ModelError as error:
                self.note(element, f"sensor {shorten(name)}: {error.problems[0].reason}", ("sensor", name), "warning")

    def places(self, cls: type[Any], at: str) -> dict[str, Any] | None:
        """Where a sensor stands: on a frame, or, where its class takes none, on the joint that carries it."""
        body = self.frames.get(at)
        if at in self.joints and (body is None or body.name != at):
            body, at = self.joints[at].child, self.joints[at].child.name
        if body is None:
            return None
        if "frame" in inspect.signature(cls).parameters:
            return {"frame": at}
        carrier = self.carriers.get(id(body))
        return None if carrier is None else {"joint": carrier}

    # ------------------------------------------------------------------------------------------------- details

    def add(self, element: XmlElement, part: Any) -> None:
        """Its name may be taken: then it is a problem."""
        add(self.context, element, self.bench, lambda: part)

    def parameters(self, element: XmlElement) -> dict[str, str]:
        """The texts of <param name="...">."""
        return {each.attributes.get("name", ""): each.text.strip() for each in element.all("param")}

    def number(self, element: XmlElement, text: str) -> float | None:
        """None, with a note, for what is no number. ros2_control takes an empty text for nothing given."""
        if not text:
            return None
        try:
            return parse_finite_float(text)
        except MbrosError as error:
            self.note(element, str(error), ("number", text), "warning")
            return None


class Covered:
    """Joints of which something is said: names, and patterns of them."""

    def __init__(self, given: list[Any]) -> None:
        self.names = set(given)
        self.patterns = [name for name in self.names if any(c in name for c in "*?[")]

    def has(self, name: str) -> bool:
        return name in self.names or any(fnmatchcase(name, pattern) for pattern in self.patterns)


def _off(limits: XmlElement) -> bool:
    return limits.attributes.get("enable", "true").lower() == "false"
