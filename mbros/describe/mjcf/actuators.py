"""<actuator>: as drives and servos of the bench that the model carries. Their commands are those of joints: a position in rad or m where
MuJoCo's input u is one of what a gear or a gain makes of it.

    u, force = gain u                                      effort      gear gain u
    u, force = gain u + b0 - kp l - kv ldot                position    (gain u + b0) / (kp gear), with kp gear^2 and kv gear^2
    u, force = gain u + b0 - kv ldot                       velocity    (gain u + b0) / (kv gear), with kv gear^2
    u, force = -kv u ldot                                  damping     kv gear^2 u
    u', force = kp (integral of u - l) - kv ldot           velocity    u / gear, with kv gear^2 and the integral kp gear^2
"""
from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from mbros.describe.devices.actuators import ImpedanceServo
from mbros.describe.devices.channel import Channel
from mbros.describe.devices.classes import EffortActuator, PositionServo, VelocityServo
from mbros.describe.mjcf.defaults import ACTUATORS
from mbros.describe.mjcf.laws import UNREAD, law_of
from mbros.describe.mjcf.motors import dc_motor
from mbros.describe.mjcf.reference import effective_inertia
from mbros.describe.mjcf.values import limited, number, several
from mbros.describe.urdf.numbers import shorten
from mbros.describe.urdf.xml import XmlElement
from mbros.errors import MbrosError, ModelError

if TYPE_CHECKING:
    from mbros.describe.devices.bench import Bench
    from mbros.describe.mjcf.laws import Law
    from mbros.describe.mjcf.reading import MjcfReading
    from mbros.describe.robot import JointDescription

    Range = tuple[float, float]
    Moments = list[tuple[JointDescription, float]]

ELSEWHERE = ("site", "body", "cranksite", "slidersite", "refsite")
OPEN: Range = (-inf, inf)


def read_actuators(reading: MjcfReading, bench: Bench) -> None:
    for section in reading.root.all("actuator"):
        for element in section.children:
            if element.tag not in ACTUATORS:
                continue                                            # mbros.describe.mjcf.schema has a note
            name = element.attributes.get("name", "")
            label = f"actuator {shorten(name)}, <{element.tag}>" if name else f"<{element.tag}> in <actuator>"
            steps = [*reading.defaults.of(element).actuators, element]
            law = law_of(reading.context, steps, label)
            whole = XmlElement(element.tag, law.attributes, element.line)
            if element.tag in UNREAD or law.gain_type in UNREAD:
                reading.note(("actuator", element.tag), element, label, f"not used: a {element.tag} is not read", "warning")
                continue
            found = _joint(reading, whole, label)
            if found is not None:
                _actuator(reading, bench, whole, law, *found, label)


def _joint(reading: MjcfReading, element: XmlElement, label: str) -> tuple[JointDescription, float, float, Moments] | None:
    """The one joint that an actuator acts on, dl/dq and l at q = 0, and dl/dq of all joints that it pulls on."""
    given = element.attributes
    elsewhere = [word for word in ELSEWHERE if word in given]
    gear = several(reading.context, element, "gear", label, (1.0, 0.0, 0.0, 0.0, 0.0, 0.0))[0]
    if elsewhere:
        reading.note(("actuator", elsewhere[0]), element, label, f"not used: it acts on a {elsewhere[0]}, and actuators act on joints here",
                     "warning")
        return None
    if "tendon" in given:
        tendon = reading.named(element, "tendon", "tendon", reading.tendons, label)
        if tendon is None:
            return None
        line = _of_tendon(reading, tendon.joints)
        if line is None:
            reading.note(("actuator", "tendon"), element, label, "not used: it pulls on a tendon of joints that no equality couples",
                         "warning")
            return None
        return (line[0], gear * line[1], gear * line[2], [(joint, gear * c) for joint, c in tendon.joints])
    joint = reading.named(element, "jointinparent" if "jointinparent" in given else "joint", "joint", reading.joints, label)
    if joint is None:
        return None
    if joint.nv != 1:
        reading.note(("actuator", joint.kind), element, label, f"not used: joint {joint.name!r} is a {joint.kind} joint", "warning")
        return None
    return joint, gear, 0.0, [(joint, gear)]


def _of_tendon(reading: MjcfReading, joints: list[tuple[JointDescription, float]]) -> tuple[JointDescription, float, float] | None:
    """A joint, dL/dq and L at q = 0 of a fixed tendon, whose other joints follow that one by couplings."""
    if not joints:
        return None
    first, slope = joints[0]
    offset = 0.0
    for joint, coefficient in joints[1:]:
        rule = _follows(reading, joint, first)
        if rule is None:
            return None
        slope, offset = slope + coefficient * rule[0], offset + coefficient * rule[1]
    return (first, slope, offset) if slope else None


def _follows(reading: MjcfReading, joint: JointDescription, leader: JointDescription) -> tuple[float, float] | None:
    """ratio and offset of joint = ratio leader + offset."""
    for each in reading.description.constraints:
        if each.kind == "coupler":
            ratio, offset = each.ratio, each.offset         # type: ignore[attr-defined]
            if each.joint_a is joint and each.joint_b is leader:
                return ratio, offset
            if each.joint_b is joint and each.joint_a is leader:
                return 1.0 / ratio, -offset / ratio
    return None


def _actuator(reading: MjcfReading, bench: Bench, element: XmlElement, law: Law, joint: JointDescription, gear: float, length: float,
              moments: Moments, label: str) -> None:
    context = reading.context
    joint.rotor_inertia = joint.rotor_inertia + gear**2 * max(number(context, element, "armature", label, 0.0), 0.0)
    joint.damping = joint.damping + gear**2 * max(several(context, element, "damping", label, (0.0, 0.0, 0.0), 1)[0], 0.0)
    autolimits = reading.settings.autolimits
    inputs = limited(context, element, "ctrllimited", "ctrlrange", label, autolimits) or OPEN
    if "clampctrl" in reading.settings.disabled:
        inputs = OPEN
    force = limited(context, element, "forcelimited", "forcerange", label, autolimits) or OPEN
    if gear == 0.0:
        reading.note(("actuator", "gear"), element, label, "not used: its gear is 0", "warning")
        return
    if element.tag == "dcmotor" and joint.nv == 1:
        name = _name(reading, element, joint, "motor")
        motor = dc_motor(reading, element, joint, gear, name, label)
        made = None if motor is None else (*motor, OPEN)
    else:
        made = _made(reading, element, law, joint, gear, length, moments, inputs, force, label)
    if made is None:
        return
    device, command, scale, shift, ends = made
    try:
        device.source = context.source(element)
        if joint.name not in reading.drives:
            bench._add_read(device, context.taken)
            reading.drives[joint.name] = device
        elif not _joined(reading, bench, device):
            reading.note(("actuator", "second"), element, label, f"not used: one actuator acts on a joint, and joint {joint.name!r} has "
                         f"{reading.drives[joint.name].name!r} already", "warning")
            return
        if ends != OPEN and ends[0] < ends[1]:
            signal = f"{joint.name}.command.{command}"
            words: dict[str, Any] = {word: x for word, x in zip(("lower", "upper"), ends) if abs(x) < inf}
            channel = Channel(f"{device.name}, limits", signal=signal, **words)
            channel.source = device.source
            bench._add_read(channel, context.taken)
    except ModelError as error:
        for problem in error.problems:
            context.problem(element.line, label, problem.reason, problem.remedy)
        return
    except MbrosError as error:
        context.problem(element.line, label, str(error), "")
        return
    if (scale, shift) != (1.0, 0.0):
        more = f" {'+' if shift > 0.0 else '-'} {abs(shift):.6g}" if shift else ""
        reading.note(("actuator", element.line), element, label, f"its command is the {command} of joint {joint.name!r}, {scale:.6g} "
                                                                 f"ctrl{more}")


def _joined(reading: MjcfReading, bench: Bench, device: Any) -> bool:
    """Whether one servo does what a joint's drives do together: position, velocity and effort, each commanded once, none limited."""
    first = reading.drives[device.joint]
    kinds = {type(first), type(device)}
    if len(kinds) == 1 or not kinds <= {PositionServo, VelocityServo, EffortActuator}:
        return False
    values = [each.values for each in (first, device)]
    if any(x["effort_limit"][0] < inf for x in values) or any(x.get("time_constant", (0.0,))[0] or x.get("ki", (0.0,))[0] for x in values):
        return False
    if kinds == {PositionServo, VelocityServo} and first.values["kd"][0] and device.values["kd"][0]:
        return False                                        # the damping of the one, about rest, is not that of the other
    if EffortActuator in kinds and reading.efforts.get(device.joint):
        return False
    reading.efforts[device.joint] = reading.efforts.get(device.joint, False) or EffortActuator in kinds
    cls = PositionServo if PositionServo in kinds else VelocityServo
    gains = {word: sum(float(x[word][0]) for x in values if word in x) for word in ("kp", "kd") if cls is PositionServo or word == "kd"}
    whole = cls(first.name, joint=first.joint, **gains)
    whole.source = first.source
    bench.actuators[bench.actuators.index(first)] = whole
    reading.drives[device.joint] = whole
    return True


def _made(reading: MjcfReading, element: XmlElement, law: Law, joint: JointDescription, gear: float, length: float, moments: Moments,
          inputs: Range, force: Range, label: str) -> tuple[Any, str, float, float, Range] | None:
    """The device, its command = scale u + shift, and between what; None, with a note, where the bench has no such law."""
    b0, b1, b2 = law.bias if law.bias_type == "affine" else (0.0, 0.0, 0.0)
    gain = law.gain[0]
    name = _name(reading, element, joint, "servo" if b1 or b2 or law.gain_type == "affine" else "drive")
    if law.dampratio:
        b2 = -2.0 * law.dampratio * float(np.sqrt(gain * effective_inertia(reading, moments)))
    largest = abs(gear) * max(-force[0], force[1])
    b0 += b1 * length                       # of a tendon, whose length is not 0 where the joint is
    if law.gain_type == "affine" and law.bias_type == "none" and gain == law.gain[1] == 0.0:
        d = -law.gain[2] * gear**2
        return ImpedanceServo(name, joint=joint.name, effort_limit=_both(reading, element, label, force, largest)), "damping", d, 0.0, \
            _scaled(inputs, d, 0.0)
    if law.gain_type != "fixed" or law.bias_type not in ("none", "affine") or b1 > 0.0 or b2 > 0.0 or law.dynamics == "user" or \
            law.dynamics == "integrator" and (b1 == 0.0 or gain != -b1) or gain == 0.0:
        reading.note(("actuator", "law", element.tag), element, label, "not used: the bench has no such law (gaintype "
                     f"{law.gain_type} {gain:g}, biastype {law.bias_type} {b0:g} {b1:g} {b2:g}, dyntype {law.dynamics})", "warning")
        return None
    kp, kd = -b1 * gear**2, -b2 * gear**2
    if law.dynamics in ("filter", "filterexact") and (kp or kd):
        reading.note(("actuator", "filter"), element, label, f"its time constant of {law.time_constant:g} s is not used: a servo has no "
                                                             "lag here",
                     "warning")
    if law.dynamics == "integrator":
        limit = _both(reading, element, label, force, largest)
        reading.note(("actuator", "integrator"), element, label, "its integral begins where the joint is, that of MuJoCo at 0")
        if "actrange" in element.attributes or law.inherit:
            reading.note(("actuator", "actrange"), element, label, "actrange is not used: the integral has no bounds here", "warning")
        servo: Any = VelocityServo(name, joint=joint.name, kd=kd, ki=kp, effort_limit=limit)
        return servo, "velocity", 1.0 / gear, 0.0, _scaled(inputs, 1.0 / gear, 0.0)
    if kp:
        scale, shift = gain / (-b1 * gear), b0 / (-b1 * gear)
        servo = PositionServo(name, joint=joint.name, kp=kp, kd=kd, effort_limit=_both(reading, element, label, force, largest))
        ends = _scaled(inputs, scale, shift) if law.inherit <= 0.0 else _inherited(reading, element, joint, law.inherit, label)
        return servo, "position", scale, shift, ends
    if kd:
        scale, shift = gain / (-b2 * gear), b0 / (-b2 * gear)
        servo = VelocityServo(name, joint=joint.name, kd=kd, effort_limit=_both(reading, element, label, force, largest))
        return servo, "velocity", scale, shift, _scaled(inputs, scale, shift)
    return _effort(name, law, joint, gear, b0, inputs, force)


def _name(reading: MjcfReading, element: XmlElement, joint: JointDescription, word: str) -> str:
    """The name in the file; not that of a joint, whose signals begin with it, too."""
    name = element.attributes.get("name") or joint.name
    return f"{name}.{word}" if name in reading.joint_names else name


def _effort(name: str, law: Law, joint: JointDescription, gear: float, b0: float, inputs: Range, force: Range) -> Any:
    """A drive. What its force cannot be, its command cannot be either."""
    scale, shift = gear * law.gain[0], gear * b0
    one, other = _scaled(inputs, scale, shift), _scaled(force, gear, 0.0)
    lag = law.time_constant if law.dynamics in ("filter", "filterexact") else 0.0
    ends = max(one[0], other[0]), min(one[1], other[1])
    limit, channel = (ends[1], OPEN) if ends[0] == -ends[1] else (inf, ends)
    return EffortActuator(name, joint=joint.name, effort_limit=limit, time_constant=max(lag, 0.0)), "effort", scale, shift, channel


def _scaled(ends: Range, scale: float, shift: float) -> Range:
    if ends == OPEN:
        return OPEN
    one, other = scale * ends[0] + shift, scale * ends[1] + shift
    return min(one, other), max(one, other)


def _both(reading: MjcfReading, element: XmlElement, label: str, force: Range, largest: float) -> float:
    """The effort limit, the same both ways."""
    if force != OPEN and force[0] != -force[1]:
        reading.note(("actuator", "forcerange"), element, label, f"forcerange is {force[0]:g} to {force[1]:g}: the limit of a servo's "
                     "effort is the same both ways, the larger is taken", "warning")
    return largest


def _inherited(reading: MjcfReading, element: XmlElement, joint: JointDescription, share: float, label: str) -> Range:
    """inheritrange: the range of the joint, scaled about its middle."""
    if not np.isfinite([joint.lower[0], joint.upper[0]]).all():
        reading.context.problem(element.line, label, f"it has inheritrange, and joint {joint.name!r} has no range",
                                "Give the joint a range.")
        return OPEN
    middle, half = 0.5 * (joint.lower[0] + joint.upper[0]), 0.5 * share * (joint.upper[0] - joint.lower[0])
    return float(middle - half), float(middle + half)
