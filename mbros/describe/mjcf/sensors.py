"""<sensor>: as sensors of the bench. Those of one site are one sensor there: gyro, accelerometer and framequat an IMU, force and torque a
force-torque sensor, framepos and its like a true pose."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbros.describe.devices.classes import Encoder, Imu, TorqueSensor
from mbros.describe.devices.sensors import ForceTorque, GroundTruthPose
from mbros.describe.urdf.numbers import shorten
from mbros.errors import MbrosError

if TYPE_CHECKING:
    from mbros.describe.devices.bench import Bench
    from mbros.describe.mjcf.reading import MjcfReading
    from mbros.describe.robot import BodyDescription, FrameDescription
    from mbros.describe.urdf.xml import XmlElement

INERTIAL, WRENCH = ("gyro", "accelerometer"), ("force", "torque")
POSES = ("framepos", "framequat", "framelinvel", "frameangvel", "velocimeter")
JOINT: dict[str, Any] = {"jointpos": Encoder, "jointvel": Encoder, "jointactuatorfrc": TorqueSensor}
READ = (*INERTIAL, *WRENCH, *POSES, *JOINT)


def read_sensors(reading: MjcfReading, bench: Bench) -> None:
    made: dict[str, Any] = {}
    elements = [element for section in reading.root.all("sensor") for element in section.children if element.tag in READ]
    inertial = {element.attributes.get("site") for element in elements if element.tag in INERTIAL}
    for element in elements:
        name = element.attributes.get("name", "")
        label = f"sensor {shorten(name)}, <{element.tag}>" if name else f"<{element.tag}> in <sensor>"
        sensor = _sensor(reading, element, inertial, label)
        if sensor is None:
            continue
        for word in ("noise", "cutoff", "delay", "interval", "nsample"):
            if element.attributes.get(word, "0").strip() not in ("0", "0.0"):
                reading.note(("sensor", word), element, label, f"{word} is not used: the sensors of the bench have words of their own "
                             "(docs/bench.md)")
        key, reads, make = sensor
        if name and name != key:
            reading.note(("sensor", key, element.tag), element, label, f"it is {key}.{reads} here")
        if key not in made:
            try:
                made[key] = make()
                made[key].source = reading.context.source(element)
                bench._add_read(made[key], reading.context.taken)
            except MbrosError as error:
                reading.note(("sensor", key), element, label, f"not used: {error}", "warning")


def _sensor(reading: MjcfReading, element: XmlElement, inertial: set[Any], label: str) -> tuple[str, str, Any] | None:
    """Name, reading, and how it is made; None, with a note or a problem."""
    tag = element.tag
    if tag in JOINT:
        joint = reading.named(element, "joint", "joint", reading.joints, label)
        if joint is None or joint.nv != 1:
            if joint is not None:
                reading.note(("sensor", joint.kind), element, label, f"not used: joint {joint.name!r} is a {joint.kind} joint", "warning")
            return None
        cls = JOINT[tag]
        return (f"{joint.name}.{cls.short}", {"jointpos": "position", "jointvel": "velocity"}.get(tag, "effort"),
                lambda: cls(f"{joint.name}.{cls.short}", joint=joint.name))
    if tag in INERTIAL or tag in WRENCH or tag == "velocimeter":
        at: FrameDescription | BodyDescription | None = reading.named(element, "site", "site", reading.sites, label)
    else:
        at = _object(reading, element, label)
    if at is None:
        return None
    frame, body = at.name, getattr(at, "body", at)
    on_imu = tag == "framequat" and element.attributes.get("objtype") == "site" and element.attributes.get("objname") in inertial
    if tag in INERTIAL or on_imu:
        return (f"{frame}.imu", {"gyro": "angular_velocity", "accelerometer": "linear_acceleration"}.get(tag, "orientation"),
                lambda: Imu(f"{frame}.imu", frame=frame))
    if tag in WRENCH:
        if body is reading.description.world:
            reading.note(("sensor", "world"), element, label, "not used: nothing carries the world", "warning")
            return None
        carrier = reading.carrier[id(body)].name
        return f"{frame}.force_torque", tag, lambda: ForceTorque(f"{frame}.force_torque", joint=carrier, frame=frame)
    reads = {"framepos": "position", "framequat": "orientation", "frameangvel": "angular_velocity"}.get(tag, "linear_velocity")
    if tag in ("framelinvel", "frameangvel"):
        reading.note(("sensor", tag), element, label, "its axes are those of the frame, MuJoCo's those of the world")
    return f"{frame}.pose", reads, lambda: GroundTruthPose(f"{frame}.pose", frame=frame)


def _object(reading: MjcfReading, element: XmlElement, label: str) -> Any:
    """The site or body of objtype and objname."""
    kind = element.attributes.get("objtype", "")
    if "reftype" in element.attributes or kind not in ("site", "xbody", "body"):
        reading.note(("sensor", "frame", kind), element, label,
                     "not used: it is relative to another frame" if "reftype" in element.attributes else
                     f"not used: it is of a {shorten(kind)}", "warning")
        return None
    if kind == "body":
        reading.note(("sensor", "body"), element, label, "the frame of the body is taken, MuJoCo takes the one along its "
                     "principal axes of inertia")
    return reading.named(element, "objname", "site" if kind == "site" else "body", reading.sites if kind == "site" else reading.bodies,
                         label)
