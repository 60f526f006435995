"""What a URDF may hold: what mbros reads, and what it knows and leaves to others. Everything else is reported as unknown.

What is unknown in mbros' own namespace is for no other reader, so it is an error: a `<mbros:bushng>` would be a robot without its bushing.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mbros.describe.urdf import constraints, contacts, devices, filter_groups, forces
from mbros.describe.urdf.numbers import shorten
from mbros.errors import Problem
from mbros.names import did_you_mean

if TYPE_CHECKING:
    from mbros.describe.urdf.context import Context
    from mbros.describe.urdf.xml import XmlElement

_ORIGIN = (("xyz", "rpy"), ())
_VALUE = (("value",), ())
_JOINT = ("origin", "parent", "child", "axis", "limit", "dynamics", "mimic", "drake:rotor_inertia", "drake:gear_ratio", "mbros:lock",
          "mbros:default")

# path: (attributes read, children read); a path is "element" or "parent/element" where the parent matters
READ = {
    "robot": (("name", "version"), ("link", "joint", "drake:joint", "mbros:joint", "material", "transmission", "ros2_control",
                                  *forces.IN_ROBOT, *constraints.IN_ROBOT, *devices.TAGS, filter_groups.TAG)),
    **forces.READ,
    **constraints.READ,
    **devices.READ,
    **filter_groups.READ,
    "ros2_control": ((), ()),
    "link": (("name",), ("inertial", "visual", "collision")),
    "inertial": ((), ("origin", "mass", "inertia")),
    "mass": _VALUE,
    "inertia": (("ixx", "ixy", "ixz", "iyy", "iyz", "izz"), ()),
    "origin": _ORIGIN,
    "visual": (("name",), ("origin", "geometry", "material")),
    "collision": (("name",), ("origin", "geometry", *contacts.IN_COLLISION)),
    **contacts.READ,
    "geometry": ((), ("box", "cylinder", "capsule", "sphere", "mesh", "drake:capsule")),
    "box": (("size",), ()),
    "cylinder": (("radius", "length"), ()),
    "capsule": (("radius", "length"), ()),
    "drake:capsule": (("radius", "length"), ()),
    "sphere": (("radius",), ()),
    "mesh": (("filename", "scale"), ()),
    "material": (("name",), ("color",)),
    "color": (("rgba",), ()),
    "joint": (("name", "type"), _JOINT),
    "drake:joint": (("name", "type"), (*_JOINT, "drake:screw_thread_pitch")),
    "mbros:joint": (("name", "type"), (*_JOINT, "mbros:pitch")),
    "drake:screw_thread_pitch": _VALUE,
    "mbros:pitch": _VALUE,
    "mbros:lock": ((), ()),
    "mbros:default": (("q",), ()),
    "parent": (("link",), ()),
    "child": (("link",), ()),
    "axis": (("xyz",), ()),
    "limit": (("lower", "upper", "effort", "velocity", "drake:acceleration"), ()),
    "mbros:joint/limit": (("lower", "upper", "effort", "velocity", "acceleration"), ()),
    "dynamics": (("damping", "friction"), ()),
    "mimic": (("joint", "multiplier", "offset"), ()),
    "drake:rotor_inertia": _VALUE,
    "drake:gear_ratio": _VALUE,
    "transmission": (("name", "type"), ("joint", "actuator", "type")),
    "transmission/joint": (("name", "type"), ("hardwareInterface",)),
    "transmission/actuator": (("name", "type"), ("drake:rotor_inertia", "drake:gear_ratio", "hardwareInterface")),
    "transmission/type": ((), ()),
    "hardwareInterface": ((), ()),
}

OWN = "mbros:"
READ_ELSEWHERE = (*forces.TAGS, *devices.TAGS, "ros2_control")       # their attributes and children are looked at where they are read

# element: who it is for
UNUSED = {
    "gazebo": "settings of the Gazebo simulator",
    "sensor": "sensors are not simulated",
    "safety_controller": "for the controller; mbros uses <limit>",
    "calibration": "for the hardware driver",
    "texture": "for viewers",
    "contact": "contact parameters of the Bullet simulator",
    "collision_checking": "for motion planners",
    "self_collision_checking": "for motion planners",
    "self_filter": "for perception",
    "verbose": "for viewers",
    "surface": "for the Gazebo simulator",
    "gravity": "for the Gazebo simulator",
    "kinematic": "for the Gazebo simulator",
    "selfCollide": "for the Gazebo simulator",
    "mechanicalReduction": "for ros_control; drake:gear_ratio is read",
    "motorTorqueConstant": "for ros_control",
    "disable_collisions": "for motion planners",
    "group": "for motion planners",
    "mujoco": "settings of the MuJoCo simulator",
    "drake:hunt_crossley_dissipation": "the normal force here is linear in the velocity; drake:relaxation_time is read",
    "loop_joint": "loops are closed by <constraint>, <mbros:constraint> or <drake:ball_constraint>",
}


class Notes:
    """Findings that are counted and reported once each, in the order they were first met; at most MOST kinds of them."""

    MOST = 300

    def __init__(self) -> None:
        self.found: dict[Any, list[Any]] = {}

    @property
    def full(self) -> bool:
        return len(self.found) >= self.MOST

    def again(self, key: Any) -> bool:
        """Whether this was reported before; it is counted then."""
        entry = self.found.get(key)
        if entry is not None:
            entry[4] += 1
        return entry is not None

    def add(self, key: Any, line: int | None, element: str, reason: str, severity: str = "note") -> None:
        if self.again(key):
            return
        if not self.full:
            self.found[key] = [line, element, reason, severity, 1]
        elif not self.again("more"):
            self.found["more"] = [line, "file", "there are more findings of other kinds", "warning", 1]

    def problems(self, file: str | None) -> list[Problem]:
        out = []
        for line, element, reason, severity, count in self.found.values():
            times = f" ({count} times, this is the first)" if count > 1 else ""
            out.append(Problem(element, reason + times, "", file, line, severity))
        return out


def note_unread(root: XmlElement, context: Context) -> None:
    """Adds a note for every kind of element and attribute below `root` that the reader does not use, and a problem for what is wrong
    with mbros' own."""
    notes, contact = context.notes, {id(element) for element in contacts.gazebo_elements(root)}
    stack = [(root, root.tag)]
    while stack:
        element, path = stack.pop()
        attributes, children = READ[path]
        if element.text.strip():                       # kept for mbros' own elements
            context.problem(element.line, f"<{element.tag}>", f"there is text in it: {shorten(element.text.strip())}",
                            "Everything is an attribute or an element here.")
        if path in READ_ELSEWHERE:
            continue
        for name in element.attributes:
            if name not in attributes and not name.startswith(("xmlns", "xml:")):
                if element.tag.startswith(OWN) or name.startswith(OWN):
                    _refuse_attribute(context, element, name, attributes)
                else:
                    _note_attribute(element, path, name, attributes, notes)
        for child in reversed(element.children):
            nested = f"{element.tag}/{child.tag}"
            if child.tag in children:
                stack.append((child, nested if nested in READ else child.tag))
            elif child.tag.startswith(OWN):
                _refuse_element(context, element, child)
            elif id(child) in contact:
                _note_others(child, notes)
            else:
                _note_element(element, child, children, notes)


def _note_others(gazebo: XmlElement, notes: Notes) -> None:
    """What else stands beside the contact numbers of a <gazebo>."""
    others = dict.fromkeys(child.tag for child in gazebo.children if child.tag not in contacts.GAZEBO_NUMBERS)
    if others:
        names = ", ".join(f"<{shorten(tag)[1:-1]}>" for tag in list(others)[:8])
        notes.add(("robot", "gazebo"), gazebo.line, "<gazebo> in <robot>", f"not used but for its contact numbers: {names}")


def _refuse_attribute(context: Context, element: XmlElement, name: str, attributes: Sequence[str]) -> None:
    near = did_you_mean(name, attributes)
    context.problem(element.line, f"<{element.tag}>",
                    f"attribute {shorten(name)} is unknown" + (f"; did you mean {near!r}?" if near else ""),
                    "It has " + ", ".join(attributes) + "." if attributes else "It has no attributes.")


def _refuse_element(context: Context, parent: XmlElement, child: XmlElement) -> None:
    tag = shorten(child.tag)[1:-1]
    places = sorted({path.partition("/")[0] for path, (_, children) in READ.items() if child.tag in children})
    if places:
        reason, remedy = f"it is not allowed in <{parent.tag}>", "Move it into " + " or ".join(f"<{place}>" for place in places) + "."
    else:
        own = [name for name in READ if name.startswith(OWN) and "/" not in name]
        near = did_you_mean(child.tag, own)
        reason = "mbros has no such element" + (f"; did you mean <{near}>?" if near else "")
        remedy = "There are " + ", ".join(f"<{name}>" for name in own) + "."
    context.problem(child.line, f"<{tag}> in <{parent.tag}>", reason, remedy)


def _note_attribute(element: XmlElement, path: str, name: str, attributes: Sequence[str], notes: Notes) -> None:
    if notes.again((path, "@", name)):
        return
    near = None if notes.full else did_you_mean(name, attributes, 0.75)
    text = f"attribute {shorten(name)} is not used" + (f"; did you mean {near!r}?" if near and near not in element.attributes else "")
    notes.add((path, "@", name), element.line, f"<{element.tag}>", text, "warning" if "mean" in text else "note")


def _note_element(parent: XmlElement, child: XmlElement, children: Sequence[str], notes: Notes) -> None:
    if notes.again((parent.tag, child.tag)):
        return
    tag = child.tag if len(child.tag) <= 60 else child.tag[:60] + "..."
    what = f"<{tag}> in <{parent.tag}>"
    if child.tag in UNUSED:
        notes.add((parent.tag, child.tag), child.line, what, f"not used: {UNUSED[child.tag]}")
    elif child.tag.startswith("drake:"):
        notes.add((parent.tag, child.tag), child.line, what, "not used: this drake: extension is not read")
    elif child.tag.startswith("xacro:"):
        notes.add("xacro", child.line, what, "not used: this is xacro; load the .xacro file, or expand it first", "warning")
    else:
        near = None if notes.full else did_you_mean(child.tag, children, 0.75)
        notes.add((parent.tag, child.tag), child.line, what,
                  f"not used: unknown element; did you mean <{near}>?" if near else "not used: unknown element",
                  "warning" if near else "note")
