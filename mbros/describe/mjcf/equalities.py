"""<equality>: connect and weld, and couplings of joints and of fixed tendons that are straight lines."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbros.describe.constraints.classes import BallConstraint, CouplerConstraint, WeldConstraint
from mbros.describe.mjcf.values import several, truth, vector
from mbros.describe.urdf.numbers import shorten
from mbros.errors import MbrosError, ModelError
from mbros.spatial.placement import Placement, rotation_from_quat_wxyz

if TYPE_CHECKING:
    from mbros.describe.constraints.constraint import Constraint
    from mbros.describe.mjcf.reading import MjcfReading
    from mbros.describe.robot import FrameDescription, JointDescription
    from mbros.describe.urdf.xml import XmlElement

MOST = 2000             # constraints
POLYCOEF = (0.0, 1.0, 0.0, 0.0, 0.0)


def read_equalities(reading: MjcfReading) -> None:
    context = reading.context
    off = bool({"equality", "constraint"} & set(reading.settings.disabled))
    for section in reading.root.all("equality"):
        for element in section.children:
            if element.tag not in _READERS:
                continue                                            # mbros.describe.mjcf.schema has a note
            element = reading.defaults.filled(element, tag="equality")
            name = element.attributes.get("name") or f"{element.tag}{len(reading.description.constraints) + 1}"
            label = f"equality {shorten(name)}, <{element.tag}>"
            if off or not truth(context, element, "active", label, True):
                reading.note(("equality", "off"), element, label, "not used: it is switched off", "warning")
                continue
            if len(reading.description.constraints) >= MOST:
                context.problem(element.line, label, f"there are more than {MOST} constraints", "Leave some out.")
                return
            _add(reading, element, name, label)


def _add(reading: MjcfReading, element: XmlElement, name: str, label: str) -> None:
    context, before = reading.context, reading.context.found
    try:
        made = _READERS[element.tag](reading, element, name, label)
        if made is not None and context.found == before:
            made.source = context.source(element)
            reading.description.constraints.append(made)
    except ModelError as error:
        for problem in error.problems:
            context.problem(element.line, label, problem.reason, problem.remedy)
    except MbrosError as error:
        context.problem(element.line, label, str(error).partition(": ")[2] or str(error), "")


def _ends(reading: MjcfReading, element: XmlElement, name: str, label: str) -> tuple[FrameDescription, FrameDescription] | None:
    """The frames that two sites are, or that meet where the model stands at its reference positions, or as relpose says."""
    if "site1" in element.attributes or "site2" in element.attributes:
        sites = [reading.named(element, which, "site", reading.sites, label) for which in ("site1", "site2")]
        return None if None in sites else (sites[0], sites[1])
    one = reading.named(element, "body1", "body", reading.bodies, label)
    other = reading.named(element, "body2", "body", reading.bodies, label) if "body2" in element.attributes else reading.description.world
    if one is None or other is None:
        return None
    anchor = np.array(vector(reading.context, element, "anchor", label, (0.0, 0.0, 0.0)))
    X_12 = reading.X_WB[id(one)].inverse() @ reading.X_WB[id(other)]
    if element.tag == "connect":
        X_1A, X_2A = Placement(None, anchor), Placement(None, X_12.inverse().R @ anchor + X_12.inverse().p)
    else:
        relpose = np.array(vector(reading.context, element, "relpose", label, (0.0,) * 7))
        if relpose[3:].any():
            X_12 = Placement(rotation_from_quat_wxyz(relpose[3:]), relpose[:3])
        X_2A = Placement(None, anchor)
        X_1A = X_12 @ X_2A
    return reading.frame(f"{name}.A", one, X_1A, element), reading.frame(f"{name}.B", other, X_2A, element)


def _connect(reading: MjcfReading, element: XmlElement, name: str, label: str) -> Constraint | None:
    ends = _ends(reading, element, name, label)
    return None if ends is None else BallConstraint(name, *ends)


def _weld(reading: MjcfReading, element: XmlElement, name: str, label: str) -> Constraint | None:
    ends = _ends(reading, element, name, label)
    return None if ends is None else WeldConstraint(name, *ends)


def _line(reading: MjcfReading, element: XmlElement, label: str) -> tuple[float, float] | None:
    """a0 and a1 of polycoef; None, with a warning, where there is more."""
    a0, a1, *more = several(reading.context, element, "polycoef", label, POLYCOEF)
    if any(more):
        reading.note(("polycoef", element.line), element, label, f"not used: polycoef is {element.attributes['polycoef'][:80]!r}, and "
                     "couplings are straight lines here", "warning")
        return None
    return a0, a1


def _joint(reading: MjcfReading, element: XmlElement, name: str, label: str) -> Constraint | None:
    """q1 - ref1 = a0 + a1 (q2 - ref2)."""
    one = reading.named(element, "joint1", "joint", reading.joints, label)
    other = reading.named(element, "joint2", "joint", reading.joints, label, required=False)
    line = _line(reading, element, label)
    if one is None or line is None or other is None and "joint2" in element.attributes:
        return None
    if any(joint is not None and joint.nv != 1 for joint in (one, other)):
        reading.context.problem(element.line, label, "it is on a free or ball joint", "Hinges and slides are coupled.")
        return None
    return _coupled(reading, element, name, label, [(one, 1.0)], [] if other is None else [(other, 1.0)], line)


def _tendon(reading: MjcfReading, element: XmlElement, name: str, label: str) -> Constraint | None:
    """L1 - L1_ref = a0 + a1 (L2 - L2_ref), of fixed tendons L = sum of coef q."""
    one = reading.named(element, "tendon1", "tendon", reading.tendons, label)
    other = reading.named(element, "tendon2", "tendon", reading.tendons, label, required=False)
    line = _line(reading, element, label)
    if one is None or line is None or other is None and "tendon2" in element.attributes:
        return None
    if any(tendon is not None and not tendon.joints for tendon in (one, other)):
        reading.note(("equality", "spatial"), element, label, "not used: it is on a spatial tendon", "warning")
        return None
    return _coupled(reading, element, name, label, one.joints, [] if other is None else other.joints, line)


def _coupled(reading: MjcfReading, element: XmlElement, name: str, label: str, one: list[tuple[JointDescription, float]],
             other: list[tuple[JointDescription, float]], line: tuple[float, float]) -> Constraint | None:
    """Of sums of positions, less those at the reference: what is left must be one joint, which is then locked, or two."""
    a0, a1 = line
    terms: dict[int, tuple[JointDescription, float]] = {}
    for joint, coefficient in [*one, *((joint, -a1 * c) for joint, c in other)]:
        terms[id(joint)] = joint, coefficient + (terms[id(joint)][1] if id(joint) in terms else 0.0)
    left = [(joint, c) for joint, c in terms.values() if c]
    if len(left) == 1:
        (joint, c), = left
        position = _default(joint) + a0 / c
        joint.default = np.array([position])
        joint.locked = True
        reading.note(("equality", "lock"), element, label, f"it keeps joint {joint.name!r} at {position:g}, where it is locked")
        return None
    if len(left) != 2:
        reading.note(("equality", element.line), element, label, f"not used: it couples {len(left)} joints; couplings of two are read",
                     "warning")
        return None
    (a, c_a), (b, c_b) = left
    ratio = -c_b / c_a
    return CouplerConstraint(name, a, b, ratio, a0 / c_a + _default(a) - ratio * _default(b))


def _default(joint: JointDescription) -> float:
    assert joint.default is not None            # the reader set it
    return float(joint.default[0])


_READERS: dict[str, Any] = {"connect": _connect, "weld": _weld, "joint": _joint, "tendon": _tendon}
