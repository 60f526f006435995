"""<joint> and <freejoint>: free, ball, hinge and slide. Positions q are MuJoCo's qpos: with ref, q is ref where the body stands as it is
written.

Several joints on a body are a chain of bodies without mass, the last of which is the body; they move it in the order of the file.
"""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbros.describe.forces.springs import JointSpring
from mbros.describe.mjcf.poses import about, unit
from mbros.describe.mjcf.values import limited, number, several, vector, word
from mbros.describe.robot import BodyDescription, JointDescription
from mbros.describe.urdf.numbers import shorten
from mbros.spatial.placement import Placement
from mbros.spatial.vectors import Pose

if TYPE_CHECKING:
    from mbros.describe.mjcf.reading import MjcfReading
    from mbros.describe.urdf.xml import XmlElement

KINDS = {"free": "floating", "ball": "ball", "slide": "prismatic", "hinge": "revolute"}
MOST_DOFS = 6           # of a body


def read_joints(reading: MjcfReading, body: BodyDescription, parent: BodyDescription, X_PB: Placement,
                given: list[tuple[XmlElement, Placement, str, str]]) -> None:
    """The joints between a body and its parent, on which it stands at X_PB at its reference positions. given: their elements, the frames
    around them, default classes and suffixes of names; none: a weld."""
    description, before = reading.description, reading.context.found
    made: list[JointDescription] = []
    for k, (element, X_frame, childclass, suffix) in enumerate(given):
        child = body
        if k < len(given) - 1:
            name = reading.free(body.name, reading.names)
            reading.names.add(name)
            child = BodyDescription(name, source=body.source)
            description.bodies.append(child)
        usual = body.name if len(given) == 1 else f"{body.name}.{k + 1}"
        joint = _joint(reading, element, X_frame, childclass, (parent if k == 0 else made[-1].child, child),
                       X_PB if k == 0 else Placement(), usual, suffix)
        if joint is None:
            return
        made.append(joint)
    if not made:
        name = body.name if body.name not in reading.joint_names else reading.free(body.name, reading.joint_names)
        reading.joint_names.add(name)
        made.append(JointDescription(name, "weld", parent, body, X_PB, source=body.source))
    description.joints += made
    description.bodies.append(body)
    reading.carrier[id(body)] = made[-1]
    reading.joints_of[id(body)] = made if given else []
    reading.order += made if given else []
    if given and reading.context.found == before:
        _check_order(reading, body, made)


def _check_order(reading: MjcfReading, body: BodyDescription, made: list[JointDescription]) -> None:
    kinds = [joint.kind for joint in made]
    line, label = body.source.line, f"body {body.name!r}"
    if sum(joint.nv for joint in made) > MOST_DOFS:
        reading.context.problem(line, label, f"its joints have {sum(joint.nv for joint in made)} degrees of freedom",
                                f"At most {MOST_DOFS} move.")
    if "floating" in kinds and (len(kinds) > 1 or made[0].parent is not reading.description.world):
        reading.context.problem(line, label, "its free joint is not the only one, or the body is not in <worldbody>",
                                "A free joint stands alone, in a body of <worldbody>.")
    if "ball" in kinds and any(kind in ("ball", "revolute", "continuous") for kind in kinds[kinds.index("ball") + 1:]):
        reading.context.problem(line, label, "a ball joint is followed by one that turns", "One of them is too many.")


def _joint(reading: MjcfReading, element: XmlElement, X_frame: Placement, childclass: str, ends: tuple[BodyDescription, BodyDescription],
           X_PB: Placement, usual: str, suffix: str) -> JointDescription | None:
    context, settings = reading.context, reading.settings
    given = element.attributes.get("name", "")
    label = f"joint {shorten(given + suffix)}" if given else f"a joint of body {ends[1].name!r}"
    if element.tag != "freejoint":
        element = reading.defaults.filled(element, childclass)
    type_ = "free" if element.tag == "freejoint" else word(context, element, "type", label, tuple(KINDS), "hinge")
    name = reading.name(element, usual, reading.joint_names, suffix)
    if type_ == "free":
        X_PF = X_BM = Placement()
    else:
        p = X_frame.R @ np.array(vector(context, element, "pos", label, (0.0, 0.0, 0.0))) + X_frame.p
        X_PF, X_BM = X_PB @ Placement(None, p), Placement(None, p)
    axis = None
    ref = springref = 0.0
    angle = settings.angle if type_ == "hinge" else 1.0
    if type_ in ("hinge", "slide"):
        axis = unit(np.array(vector(context, element, "axis", label, (0.0, 0.0, 1.0))))
        if axis is None:
            context.problem(element.line, label, "its axis is zero", "Give a direction.")
            return None
        axis = unit(X_frame.R @ axis) if X_frame.R is not None else axis
        ref, springref = (number(context, element, which, label, 0.0) * angle for which in ("ref", "springref"))
        X_PF = X_PF @ (Placement(about(axis, -ref)) if type_ == "hinge" and ref else Placement(None, -ref * axis))
    bounds = None
    if axis is not None:
        bounds = limited(context, element, "limited", "range", label, settings.autolimits)
    kind = KINDS[type_] if bounds is not None or type_ != "hinge" else "continuous"
    joint = JointDescription(name, kind, *ends, X_PF, X_BM, axis, context.source(element))
    reading.springref[id(joint)] = springref
    joint.default = np.array([ref]) if axis is not None else np.array([1.0, 0.0, 0.0, 0.0])
    if type_ == "free":
        joint.default = np.concatenate([X_PB.p, Pose.make(R=X_PB.R).quat_wxyz])
    if bounds is not None and axis is not None and "limit" not in settings.disabled:
        joint.lower, joint.upper = np.array([bounds[0] * angle]), np.array([bounds[1] * angle])
    elif type_ == "ball" and element.attributes.get("limited") != "false" and any(vector(context, element, "range", label, (0.0, 0.0))):
        reading.note(("ball", "range"), element, label, "range is not used: a ball joint has no limits here", "warning")
    _resistance(reading, element, joint, label, springref, axis is not None)
    if given and given + suffix in reading.joints:
        context.problem(element.line, label, "this name is already taken by another joint", "Give every joint a name of its own.")
    if given:
        reading.joints.setdefault(given + suffix, joint)
    return joint


def _resistance(reading: MjcfReading, element: XmlElement, joint: JointDescription, label: str, springref: float, one_axis: bool) -> None:
    """Damping, friction, armature, spring and the range of what actuators exert."""
    context, disabled = reading.context, reading.settings.disabled
    found = {}
    for name in ("damping", "frictionloss", "armature", "stiffness"):
        values = several(context, element, name, label, (0.0, 0.0, 0.0)) if name in ("damping", "stiffness") else \
            (number(context, element, name, label, 0.0),)
        if values[0] < 0.0:
            context.problem(element.line, label, f"{name} is {values[0]:g}", "It must be zero or more.")
            continue
        if any(values[1:]):
            reading.note(("polynomial", name), element, label, f"of {name} the first number is taken: what grows with powers is not read",
                         "warning")
        found[name] = values[0]
    if "damper" not in disabled:
        joint.damping = np.full(joint.nv, found.get("damping", 0.0))
    if "frictionloss" not in disabled:
        joint.friction = np.full(joint.nv, found.get("frictionloss", 0.0))
    joint.rotor_inertia = np.full(joint.nv, found.get("armature", 0.0))
    if joint.kind == "floating" and joint.rotor_inertia.any():
        reading.note(("free", "armature"), element, label, "armature of a free joint is felt along the axes of the body, in MuJoCo along "
                     "those of the world")
    time_constant, ratio = vector(context, element, "springdamper", label, (0.0, 0.0))
    if time_constant > 0.0 and ratio > 0.0:
        reading.springdampers.append((joint, time_constant, ratio))
        if not one_axis:
            reading.note(("springdamper", joint.kind), element, label, f"of springdamper the damping is used: a {joint.kind} joint has no "
                                                                       "spring here",
                         "warning")
    elif time_constant or ratio:
        context.problem(element.line, label, "a number of springdamper is not positive", "Give a time constant and a damping ratio, or "
                                                                                         "leave it out.")
    if found.get("stiffness") and "spring" not in disabled:
        if one_axis:
            JointSpring(joint, springref, found["stiffness"], name=f"{joint.name}.spring").add_to(reading.description, reading.taken)
        else:
            reading.note(("spring", joint.kind), element, label, f"stiffness is not used: a {joint.kind} joint has no spring here",
                         "warning")
    if one_axis:
        force = limited(context, element, "actuatorfrclimited", "actuatorfrcrange", label, reading.settings.autolimits)
        if force is not None:
            joint.effort = np.array([max(-force[0], force[1])])
            if force[0] != -force[1]:
                reading.note("actuatorfrcrange", element, label, f"actuatorfrcrange is {force[0]:g} to {force[1]:g}: the limit of a "
                             "joint's effort is the same both ways, the larger is taken", "warning")
            if not joint.effort[0] > 0.0:
                context.problem(element.line, label, "actuatorfrcrange does not reach from below zero to above", "Give such a range.")

