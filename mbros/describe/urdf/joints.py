"""<joint>: kind, axis, limits, dynamics, mimic."""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbros.describe.joints.abilities import has_axis
from mbros.describe.joints.kinds import ONE_AXIS
from mbros.describe.robot import JointDescription, Mimic
from mbros.describe.urdf.joint_kinds import kind_of, read_parameters, read_start, spread, tilt
from mbros.describe.urdf.numbers import shorten
from mbros.names import hint
from mbros.spatial.placement import Placement, align_z

if TYPE_CHECKING:
    from mbros.describe.robot import BodyDescription
    from mbros.describe.urdf.context import Context
    from mbros.describe.urdf.xml import XmlElement
    from mbros_core.typing import Array

NO_LIMIT = 1e15


def read_joint(context: Context, element: XmlElement, bodies: dict[str, BodyDescription]) -> JointDescription | None:
    """`bodies`: link name -> Body."""
    name = context.name(element, "joint")
    label = f"joint {shorten(name)}" if name else "joint without a name"
    kind = kind_of(context, element, label)
    parent = _link(context, element, "parent", label, bodies)
    child = _link(context, element, "child", label, bodies)
    X_PF = context.origin(element, label)
    if kind is None:
        return None
    axis = _axis(context, element, kind, label)
    parameters = read_parameters(context, element, kind, label)
    if name is None or parent is None or child is None or parameters is None or (axis is None and _turns_on(kind)):
        return None
    source = context.source(element)
    if kind == "planar" and axis is not None:
        # URDF names the plane's normal; F's z is put along it, and M coincides with F at q = 0
        A = Placement(align_z(axis) if element.tag == "joint" else tilt(axis))
        joint = JointDescription(name, kind, parent, child, X_PF @ A, A, None, source)
    else:
        joint = JointDescription(name, kind, parent, child, X_PF, None, axis, source, parameters)
    (_extended_limits if element.tag == "mbros:joint" else _limits)(context, element, joint, label)
    _dynamics(context, element, joint, label)
    _mimic(context, element, joint, label)
    read_start(context, element, joint, label)
    return joint


def _turns_on(kind: str) -> bool:
    """Whether <axis> means something to the kind."""
    return kind == "planar" or has_axis(kind)


def _link(context: Context, element: XmlElement, role: str, label: str, bodies: dict[str, BodyDescription]) -> BodyDescription | None:
    holder = context.one(element, role, label, required=True)
    name = None if holder is None else context.name(holder, label, "link")
    if holder is None or name is None:
        return None
    if name not in bodies:
        context.problem(holder.line, f"{label}, <{role}>", f"there is no link {shorten(name)}{hint(name, bodies)}",
                        "Add the link, or correct the name.")
        return None
    return bodies[name]


def _axis(context: Context, element: XmlElement, kind: str, label: str) -> Array | None:
    """Unit axis; the default of URDF is x."""
    holder = context.one(element, "axis", label)
    if not _turns_on(kind):
        if holder is not None and kind != "weld":
            context.notes.add((kind, "axis"), holder.line, "<axis>", f"has no effect on a {kind} joint")
        return None
    if holder is None:
        context.notes.add("default axis", element.line, label, "no <axis>; x is taken, as URDF has it")
        return np.array([1.0, 0.0, 0.0])
    xyz = context.vector(holder, "xyz", 3, label)
    if xyz is None:
        return None
    axis = np.array(xyz)
    largest = np.abs(axis).max()
    if largest == 0.0:
        context.problem(holder.line, f"{label}, <axis>", f"xyz={shorten(holder.attributes['xyz'])} has no direction",
                        'Give a vector that is not zero, for example xyz="0 0 1".')
        return None
    length = float(largest * np.linalg.norm(axis / largest))
    if abs(length - 1.0) > 1e-6:
        context.notes.add("axis length", holder.line, f"{label}, <axis>", f"has length {length:.9g} and was normalised")
    axis = axis / largest
    return axis / np.linalg.norm(axis) + 0.0


def _limits(context: Context, element: XmlElement, joint: JointDescription, label: str) -> None:
    needed = joint.kind in ("revolute", "prismatic")
    holder = context.one(element, "limit", label, required=needed and context.limits == "check")
    if holder is None:
        if needed and context.limits == "as_given":
            context.notes.add("no limit", element.line, label,
                              "it has no <limit>; taken as without limits, as limits='as_given' asks", "warning")
        return
    if joint.kind not in ONE_AXIS or element.tag != "joint":
        if joint.kind != "weld":
            context.notes.add(("limit", joint.kind), holder.line, label, f"<limit> is not used on a {joint.kind} joint")
        return
    part = f"{label}, <limit>"
    bounded = joint.kind != "continuous"
    if not bounded and {"lower", "upper"} & set(holder.attributes):
        context.notes.add("continuous", holder.line, part, 'lower and upper are not used: a continuous joint turns without end; '
                          'type="revolute" has limits')
    lower = context.scalar(holder, "lower", label, None)
    upper = context.scalar(holder, "upper", label, None)
    effort, velocity = (_required(context, holder, name, label) for name in ("effort", "velocity"))
    if effort is None or velocity is None:
        return
    if effort == 0.0 and velocity == 0.0:
        context.notes.add("zero limits", holder.line, part, "effort and velocity are both 0, which exporters write for "
                          "'not filled in'; taken as without limits", "warning")
        effort = velocity = np.inf
        bounded = bounded and not (lower == 0.0 and upper == 0.0)
    elif effort == 0.0:
        context.notes.add("zero effort", holder.line, part, "effort is 0: every command to this joint is clamped to 0",
                          "warning")
    lower, upper, effort, velocity = (_open(context, holder, part, value) for value in (lower, upper, effort, velocity))
    joint.effort[0], joint.velocity = effort, velocity
    acceleration = context.scalar(holder, "drake:acceleration", label, None, least=0.0)
    if acceleration is not None:
        joint.set_acceleration_limits(-acceleration, acceleration)
    if bounded and "lower" not in holder.attributes and "upper" not in holder.attributes:
        context.notes.add("no bounds", holder.line, part, "neither lower nor upper is given; taken as without position "
                          "limits (URDF's default of 0 for both would lock the joint)", "warning")
    elif bounded:
        missing = [name for name, bound in (("lower", lower), ("upper", upper)) if bound is None]
        lower, upper = (0.0 if bound is None else bound for bound in (lower, upper))
        if lower > upper:
            context.problem(holder.line, part, f"lower {lower:g} is above upper {upper:g}" +
                            "".join(f"; {name} is not given, and 0 then" for name in missing),
                            "".join(f"Write {name}." for name in missing) or "Swap them.")
            return
        joint.lower[0], joint.upper[0] = lower, upper


def _required(context: Context, holder: XmlElement, name: str, label: str) -> float | None:
    """An attribute that the specification asks for; None when it is wrong or missing. limits="as_given" takes one that is missing as
    inf."""
    if name not in holder.attributes and context.limits == "as_given":
        context.notes.add(("no limit", name), holder.line, f"{label}, <limit>",
                          f"it has no {name}; taken as without, as limits='as_given' asks",
                          "warning")
        return np.inf
    return context.scalar(holder, name, label, least=0.0)


def _extended_limits(context: Context, element: XmlElement, joint: JointDescription, label: str) -> None:
    """<limit> of <mbros:joint>: every attribute optional, one number for all coordinates or one for each."""
    holder = context.one(element, "limit", label)
    if holder is None or not joint.nv:
        return
    part = f"{label}, <limit>"
    lower, upper = (spread(context, holder, name, joint.nq, label) for name in ("lower", "upper"))
    lower, upper = joint.lower if lower is None else lower, joint.upper if upper is None else upper
    if not (lower <= upper).all():
        i = int(np.argmax(~(lower <= upper)))
        context.problem(holder.line, part, f"lower {lower[i]:g} of coordinate {i} is above upper {upper[i]:g}", "Swap them.")
        return
    joint.lower, joint.upper = lower, upper
    for name, setter in (("velocity", joint.set_velocity_limits), ("acceleration", joint.set_acceleration_limits)):
        largest = spread(context, holder, name, joint.nv, label, least=0.0)
        if largest is not None:
            setter(-largest, largest)
    effort = spread(context, holder, "effort", joint.nv, label, least=0.0)
    if effort is not None:
        joint.effort = effort


def _open(context: Context, holder: XmlElement, part: str, value: float | None) -> float | None:
    """Limits of 1e16, 1e38 or 1.8e308 are written for 'no limit'."""
    if value is None or abs(value) < NO_LIMIT or value in (np.inf, -np.inf):
        return value
    context.notes.add("huge limit", holder.line, part, f"a limit of {value:g} is taken as none")
    return float(np.copysign(np.inf, value))


def _dynamics(context: Context, element: XmlElement, joint: JointDescription, label: str) -> None:
    holder = context.one(element, "dynamics", label)
    rotor = context.one(element, "drake:rotor_inertia", label)
    gear = context.one(element, "drake:gear_ratio", label)
    if holder is not None and joint.kind != "weld":
        for name in ("damping", "friction"):
            values = spread(context, holder, name, joint.nv, label, least=0.0)
            if values is not None:
                setattr(joint, name, values)
    if joint.kind in ONE_AXIS:
        read_rotor(context, joint, rotor, gear, label)
    else:
        for holder in (rotor, gear):
            if holder is not None:
                context.notes.add((holder.tag, joint.kind), holder.line, label, f"<{holder.tag}> has no effect on a {joint.kind} joint")


def read_rotor(context: Context, joint: JointDescription, rotor: XmlElement | None, gear: XmlElement | None, label: str) -> None:
    """<drake:rotor_inertia value> (kg m^2) and <drake:gear_ratio value>."""
    if rotor is not None:
        joint.rotor_inertia[0] = context.scalar(rotor, "value", label, least=0.0) or 0.0
    if gear is not None:
        ratio = context.scalar(gear, "value", label)
        if ratio == 0.0:
            context.problem(gear.line, f"{label}, <drake:gear_ratio>", "value is 0", "1 is no gear.")
        elif ratio is not None:
            joint.gear_ratio[0] = ratio


def _mimic(context: Context, element: XmlElement, joint: JointDescription, label: str) -> None:
    holder = context.one(element, "mimic", label)
    if holder is None:
        return
    if joint.kind not in ONE_AXIS:
        context.notes.add(("mimic", joint.kind), holder.line, label, f"<mimic> has no effect on a {element.attributes['type']}"
                          " joint")
        return
    leader = context.name(holder, label, "joint")
    ratio = context.scalar(holder, "multiplier", label, 1.0)
    offset = context.scalar(holder, "offset", label, 0.0)
    if leader is not None and ratio is not None and offset is not None:
        joint.mimic = Mimic(leader, ratio, offset)
