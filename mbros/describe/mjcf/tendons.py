"""<tendon>: fixed ones, sums of joint positions, and spatial ones between two sites, as springs and ropes."""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from mbros_core.support.records import record

from mbros.describe.constraints.classes import DistanceConstraint
from mbros.describe.forces.springs import JointSpring, LinearSpringDamper
from mbros.describe.mjcf.values import limited, number, several
from mbros.describe.urdf.numbers import shorten
from mbros.errors import MbrosError

if TYPE_CHECKING:
    from mbros.describe.mjcf.reading import MjcfReading
    from mbros.describe.robot import FrameDescription, JointDescription
    from mbros.describe.urdf.xml import XmlElement

MOST = 2000


@record(eq=False)
class Tendon:
    """joints: of a fixed one, with coefficients. ends: of a spatial one that is straight, its two sites."""

    name: str
    element: XmlElement
    joints: list[tuple[JointDescription, float]]
    ends: tuple[FrameDescription, ...] = ()


def read_tendons(reading: MjcfReading) -> None:
    """Tendons by name, and what they exert by themselves."""
    given = {element.attributes.get("name") for section in reading.root.all("tendon") for element in section.children}
    for section in reading.root.all("tendon"):
        for element in section.children:
            if element.tag not in ("fixed", "spatial"):
                continue                                            # mbros.describe.mjcf.schema has a note
            element = reading.defaults.filled(element, tag="tendon")
            name = element.attributes.get("name", "")
            if not name:
                name = next(n for k in range(len(reading.tendons) + 1, 10**9) if (n := f"tendon{k}") not in given | set(reading.tendons))
            label = f"tendon {shorten(name)}, <{element.tag}>"
            if name in reading.tendons or len(reading.tendons) >= MOST:
                reading.context.problem(element.line, label, "this name is already taken by another tendon" if name in reading.tendons else
                                        f"there are more than {MOST} tendons", "Give every tendon a name of its own.")
                continue
            made = _fixed(reading, element, name, label) if element.tag == "fixed" else _spatial(reading, element, name, label)
            if made is not None:
                reading.tendons[name] = made
                _own_forces(reading, made, label)


def _fixed(reading: MjcfReading, element: XmlElement, name: str, label: str) -> Tendon | None:
    found: list[tuple[JointDescription, float]] = []
    for each in element.all("joint"):
        joint = reading.named(each, "joint", "joint", reading.joints, label)
        if joint is None:
            return None
        if joint.nv != 1:
            reading.context.problem(each.line, label, f"joint {joint.name!r} is a {joint.kind} joint", "Take hinges and slides.")
            return None
        found.append((joint, number(reading.context, each, "coef", label, 1.0)))
    if not found:
        reading.context.problem(element.line, label, "it has no <joint>", 'Write <joint joint="..." coef="..."/> in it.')
        return None
    return Tendon(name, element, found)


def _spatial(reading: MjcfReading, element: XmlElement, name: str, label: str) -> Tendon:
    ends = [reading.named(each, "site", "site", reading.sites, label) for each in element.all("site")]
    straight = len(ends) == len(element.children) == 2 and None not in ends and ends[0].body is not ends[1].body
    if not straight:
        reading.note(("spatial", element.line), element, label, "not used: it is not straight between two sites of two bodies (pulleys and "
                     "what tendons wrap around are not read)", "warning")
    return Tendon(name, element, [], tuple(ends) if straight else ())


def _own_forces(reading: MjcfReading, tendon: Tendon, label: str) -> None:
    """Spring, damper, friction and limits of a tendon."""
    context, element = reading.context, tendon.element
    stiffness, damping = (several(context, element, which, label, (0.0, 0.0, 0.0), 1)[0] for which in ("stiffness", "damping"))
    for which in ("stiffness", "damping"):
        if any(several(context, element, which, label, (0.0, 0.0, 0.0), 1)[1:]):
            reading.note(("tendon", "polynomial", which), element, label, f"of {which} the first number is taken: what grows with powers "
                         "is not read", "warning")
    bounds = limited(context, element, "limited", "range", label, reading.settings.autolimits)
    lone = len(tendon.joints) == 1
    if tendon.ends:
        _straight(reading, tendon, label, max(stiffness, 0.0), max(damping, 0.0), bounds)
    elif lone and (stiffness > 0.0 or damping > 0.0):
        (joint, c), = tendon.joints
        rest = _rest(reading, tendon, label, c * reading.springref[id(joint)])
        made = JointSpring(joint, rest / c if c else 0.0, max(stiffness, 0.0) * c * c, max(damping, 0.0) * c * c,
                           name=f"{tendon.name}.spring")
        made.add_to(reading.description, reading.taken)
    elif (stiffness or damping) and tendon.joints:
        reading.note(("tendon", "spring"), element, label, "its stiffness and damping are not used: it pulls on several joints", "warning")
    if bounds is not None and not tendon.ends and tendon.joints:
        reading.note(("tendon", "range"), element, label, "its range is not used: fixed tendons have no limits here", "warning")
    for name in ("frictionloss", "armature"):
        if number(context, element, name, label, 0.0):
            reading.note(("tendon", name), element, label, f"{name} is not used: tendons have none here", "warning")


def _rest(reading: MjcfReading, tendon: Tendon, label: str, usual: float) -> float:
    """The length at which the spring rests: by default the one where the springs of the joints rest."""
    lower, upper = several(reading.context, tendon.element, "springlength", label, (-1.0, -1.0))
    given = len(tendon.element.attributes.get("springlength", "").split())
    if given == 2 and lower != upper:
        reading.note(("tendon", "springlength"), tendon.element, label, "of springlength the first number is taken: springs have one "
                     "length of rest here", "warning")
    return usual if lower == -1.0 else lower


def _straight(reading: MjcfReading, tendon: Tendon, label: str, stiffness: float, damping: float,
              bounds: tuple[float, float] | None) -> None:
    a, b = tendon.ends
    if stiffness or damping:
        X_WB = reading.where_springs_rest()
        length = float(np.linalg.norm((X_WB[id(a.body)] @ a.X_BF).p - (X_WB[id(b.body)] @ b.X_BF).p))
        free = _rest(reading, tendon, label, length)
        made = LinearSpringDamper(a, b, max(free, 0.0), stiffness, damping, name=f"{tendon.name}.spring")
        made.add_to(reading.description, reading.taken)
    if bounds is None:
        return
    if bounds[0] > 0.0:
        reading.note(("tendon", "lower"), tendon.element, label, f"of its range only the upper end is used: a rope is never too short, and "
                     f"{bounds[0]:g} m is the least", "warning")
    try:
        rope = DistanceConstraint(f"{tendon.name}.rope", a, b, bounds[1], rope=True)
        rope.source = reading.context.source(tendon.element)
        reading.description.constraints.append(rope)
    except MbrosError as error:
        reading.context.problem(tendon.element.line, label, str(error), "")
