"""<sensor> of links and joints: inertial, force-torque and contact sensors become those of the bench; others are noted.

Noise of Gazebo's words in those of an Allan deviation plot, with the period T = 1 / update_rate:

    stddev                                       noise_density = stddev sqrt(T); of force-torque sensors the standard deviation of a sample
    mean + bias_mean                             bias
    dynamic_bias_stddev, _correlation_time tau   correlation_time = tau, bias_instability = dynamic_bias_stddev sqrt(tau) / 1.5217

mbros has one number for the three axes of an inertial sensor: of several, the largest is taken, which is noted.
"""
from __future__ import annotations

from math import log, pi, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from mbros.describe.robot import FrameDescription
from mbros.describe.sdf.links import in_link
from mbros.describe.sdf.values import number, text
from mbros.describe.urdf.devices import add
from mbros.describe.urdf.numbers import shorten

if TYPE_CHECKING:
    from mbros.describe.devices.bench import Bench
    from mbros.describe.robot import BodyDescription, JointDescription, RobotDescription
    from mbros.describe.sdf.robots import Parts, PlacedModel
    from mbros.describe.urdf.context import Context
    from mbros.describe.urdf.xml import XmlElement

AXES = ("x", "y", "z")
# The Allan deviation of a bias with correlation time 1 that unit noise drives has its largest value at 0.43654; 0.664 of the instability
PEAK = sqrt(2.0 * log(2.0) / pi) / 0.4365424710738057
HELD = "not used: nothing that moves carries it, it is on the world"
READ = {"imu": "imu", "force_torque": "force_torque", "contact": "contact"}


def read_sensors(context: Context, description: RobotDescription, models: list[PlacedModel], parts: Parts, bench: Bench) -> None:
    """All sensors of links and joints, into the bench; their frames into the description."""
    taken, held = set[str](), on_the_world(description)
    for body in list(description.bodies):
        model, key = parts.links[id(body)]
        for element in model.scope.entries[key].element.all("sensor"):
            _of_link(context, description, model, key, body, element, bench, _name(model, key, element, taken), held)
    for model in models:
        for entry in model.scope.entries.values():
            for element in entry.element.all("sensor") if entry.kind == "joint" else ():
                joint = parts.joints.get(model.prefix + entry.name)
                _of_joint(context, description, joint, element, bench, _name(model, entry.name, element, taken), held)


def on_the_world(description: RobotDescription) -> set[int]:
    """Bodies (their ids) that stand on the world with nothing that moves between."""
    welded: dict[int, list[BodyDescription]] = {}
    for joint in description.joints:
        if not joint.nv:
            welded.setdefault(id(joint.parent), []).append(joint.child)
    held, stack = set[int](), [description.world]
    while stack:
        for body in welded.get(id(stack.pop()), ()):
            held.add(id(body))
            stack.append(body)
    return held


def _name(model: PlacedModel, holder: str, element: XmlElement, taken: set[str]) -> str:
    """A sensor's name as a device: its own; with that of its link or joint before it where another one is called so."""
    given = element.attributes.get("name", "")
    name = device_name(model, given)
    name = device_name(model, f"{holder}.{given}") if name in taken else name
    taken.add(name)
    return name


def device_name(model: PlacedModel, name: str) -> str:
    """A device's name: the member of a scene, "/", and the rest with points, as topics are called after it."""
    inner = model.prefix[len(model.member) + 1:] if model.member else model.prefix
    return (f"{model.member}/" if model.member else "") + inner.replace("::", ".") + name


def _of_link(context: Context, description: RobotDescription, model: PlacedModel, key: str, body: BodyDescription, element: XmlElement,
             bench: Bench, name: str, held: set[int]) -> None:
    from mbros.describe.devices.classes import Imu      # start-up time: who does not use it does not pay
    from mbros.describe.devices.sensors import ContactSwitch, ForceTorque      # start-up time, as well

    kind, given = element.attributes.get("type", ""), element.attributes.get("name", "")
    label = f"sensor {shorten(given)}"
    if kind not in READ or not given:
        why = f"a sensor of type {shorten(kind)} is not simulated" if given else "it has no name"
        context.notes.add(("sensor", kind), element.line, label, f"not used: {why}", "note" if given else "warning")
        return
    numbers = _rate(context, element, label)
    if kind == "contact" and not body.collisions:
        context.notes.add("contact sensor", element.line, label, "not used: its link has no collision", "warning")
        return
    if kind == "contact":
        description.collisions = True
        add(context, element, bench, lambda: ContactSwitch(name, body=body.name, **numbers))
        return
    frame = _frame(context, description, model, key, body, element, label)
    if kind == "force_torque":
        if id(body) in held:
            context.notes.add("held", element.line, label, HELD, "warning")
        else:
            add(context, element, bench, lambda: ForceTorque(name, frame=frame, **numbers))
        return
    inner = context.one(element, "imu", label)
    for tag, prefix in (("angular_velocity", "gyro_"), ("linear_acceleration", "accel_")):
        holder = None if inner is None else context.one(inner, tag, label)
        if holder is not None:
            numbers.update(_noise(context, holder, prefix, numbers.get("rate"), f"{label}, <{tag}>"))
    add(context, element, bench, lambda: Imu(name, frame=frame, **numbers))


def _of_joint(context: Context, description: RobotDescription, joint: JointDescription | None, element: XmlElement, bench: Bench,
              name: str, held: set[int]) -> None:
    """A force-torque sensor. Gazebo's default is what the child does to the parent; mbros measures what the parent does to the child."""
    from mbros.describe.devices.sensors import ForceTorque      # start-up time: who does not use it does not pay

    kind, given = element.attributes.get("type", ""), element.attributes.get("name", "")
    label = f"sensor {shorten(given)}"
    if kind != "force_torque" or not given or joint is None:
        why = f"a sensor of type {shorten(kind)} is not simulated on a joint" if kind != "force_torque" else \
            "it has no name" if not given else "its joint is none of the tree"
        context.notes.add(("joint sensor", kind), element.line, label, f"not used: {why}", "note" if given else "warning")
        return
    if id(joint.child) in held:
        context.notes.add("held", element.line, label, HELD, "warning")
        return
    numbers = _rate(context, element, label)
    inner = context.one(element, "force_torque", label)
    frame = "child" if inner is None else text(context, inner, "frame", label) or "child"
    direction = "child_to_parent" if inner is None else text(context, inner, "measure_direction", label) or "child_to_parent"
    if frame not in ("child", "parent", "sensor") or direction not in ("child_to_parent", "parent_to_child"):
        context.problem(element.line, label, f"frame {shorten(frame)} or measure_direction {shorten(direction)} is unknown",
                        "There are child, parent and sensor; child_to_parent and parent_to_child.")
        return
    at = joint.X_BM
    if frame == "parent":
        context.notes.add("wrench frame", element.line, label, "<frame>parent is read as the joint's frame on the child, where the "
                          "parent's axes are while the joint is at zero", "warning")
    if frame == "sensor":
        from mbros.describe.sdf.values import pose      # of this one alone

        at = at @ pose(context, element, label)[0]
    elif element.all("pose"):
        context.notes.add("sensor pose", element.line, label, "its <pose> is not used: the wrench is that in the joint's frame; "
                          "<frame>sensor makes it count")
    numbers["matrix"] = (np.eye(6) * (1.0 if direction == "parent_to_child" else -1.0)).ravel()
    if inner is not None:
        spread = [_stddev(context, inner, tag, axis, label) for tag in ("force", "torque") for axis in AXES]
        numbers |= {"noise": spread} if any(spread) else {}
    placed = FrameDescription(f"{joint.name}::{given}", joint.child, at, context.source(element), robot=joint.robot)
    description.frames.append(placed)
    add(context, element, bench, lambda: ForceTorque(name, joint=joint.name, frame=placed.name, **numbers))


def _frame(context: Context, description: RobotDescription, model: PlacedModel, key: str, body: BodyDescription, element: XmlElement,
           label: str) -> str:
    """The name of a frame where a sensor is: its link's, or one of its own."""
    X = in_link(context, model.scope, key, element, label)
    if (X.R == np.eye(3)).all() and not X.p.any():
        return body.name
    frame = FrameDescription(f"{body.name}::{element.attributes['name']}", body, X, context.source(element), robot=body.robot)
    description.frames.append(frame)
    return frame.name


def _rate(context: Context, element: XmlElement, label: str) -> dict[str, Any]:
    """{"rate": Hz}; {} for every step, which SDF writes as 0, or not at all."""
    rate = number(context, element, "update_rate", label, 0.0, 0.0)
    return {"rate": rate} if rate else {}


def _noise(context: Context, holder: XmlElement, prefix: str, rate: float | None, label: str) -> dict[str, float]:
    """The numbers of a gyroscope or an accelerometer, of the noise of its axes."""
    axes = [axis for axis in (context.one(holder, name, label) for name in AXES) if axis is not None]
    rows = [row for row in (_gaussian(context, axis, label) for axis in axes) if row is not None]
    if not rows:
        return {}
    spread, bias, drift, tau, drawn = (max((row[i] for row in rows), key=abs) for i in range(5))
    if any(row != rows[0] for row in rows) or len(rows) < 3:
        context.notes.add("noise axes", holder.line, label, "its axes have other noise each: the largest is that of all three", "warning")
    if drawn:
        context.notes.add("bias_stddev", holder.line, label, "<bias_stddev> is not used: a bias is a number, sweeps draw them")
    found: dict[str, float] = {}
    if spread and rate is None:
        context.notes.add("noise rate", holder.line, label, "its noise is not used: a density follows from <stddev> and <update_rate>, of "
                          "which there is none", "warning")
    elif spread and rate is not None:
        found[f"{prefix}noise_density"] = spread / sqrt(rate)
    if bias:
        found[f"{prefix}bias"] = bias
    if drift and tau > 0.0:
        found |= {f"{prefix}correlation_time": tau, f"{prefix}bias_instability": drift * sqrt(tau) / PEAK}
    return found


def _gaussian(context: Context, axis: XmlElement, label: str) -> tuple[float, float, float, float, float] | None:
    """(stddev, mean and bias_mean, dynamic_bias_stddev, its correlation time, bias_stddev) of the <noise> in an axis."""
    holder = context.one(axis, "noise", label)
    kind = "none" if holder is None else holder.attributes.get("type") or text(context, holder, "type", label) or "none"
    if holder is None or kind == "none":
        return 0.0, 0.0, 0.0, 0.0, 0.0
    if kind not in ("gaussian", "gaussian_quantized"):
        context.notes.add(("noise", kind), holder.line, label, f"noise of type {shorten(kind)} is not used", "warning")
        return None
    if kind == "gaussian_quantized":
        context.notes.add("quantized", holder.line, label, "<precision> is not used: a channel with a quantum does that")
    spread, mean, bias, drift, tau, drawn = (number(context, holder, tag, label, 0.0, least) for tag, least in (
        ("stddev", 0.0), ("mean", None), ("bias_mean", None), ("dynamic_bias_stddev", 0.0), ("dynamic_bias_correlation_time", 0.0),
        ("bias_stddev", 0.0)))
    if None in (spread, mean, bias, drift, tau, drawn):
        return None
    return spread, mean + bias, drift, tau, drawn


def _stddev(context: Context, inner: XmlElement, tag: str, axis: str, label: str) -> float:
    """The standard deviation of one number of a force-torque sensor."""
    holder = context.one(inner, tag, label)
    holder = None if holder is None else context.one(holder, axis, label)
    row = None if holder is None else _gaussian(context, holder, label)
    return 0.0 if row is None else row[0]
