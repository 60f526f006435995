"""URDF text to a RobotDescription: all problems of the text are collected before any is raised."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mbros.describe.robot import WORLD, BodyDescription, RobotDescription
from mbros.describe.urdf.constraints import read_constraints
from mbros.describe.urdf.contacts import read_gazebo
from mbros.describe.urdf.context import Context
from mbros.describe.urdf.devices import read_devices
from mbros.describe.urdf.filter_groups import read_filter_groups
from mbros.describe.urdf.forces import read_forces
from mbros.describe.urdf.joint_kinds import TYPES
from mbros.describe.urdf.joints import read_joint, read_rotor
from mbros.describe.urdf.links import read_link, read_material
from mbros.describe.urdf.numbers import shorten
from mbros.describe.urdf.ros2_control import read_ros2_control
from mbros.describe.urdf.schema import note_unread
from mbros.describe.urdf.xml import declaration_first, parse_xml
from mbros.errors import Problem, UrdfError
from mbros.names import no_name, printable

if TYPE_CHECKING:
    from mbros.describe.robot import JointDescription
    from mbros.describe.urdf.xml import XmlElement

MOST_TRANSMITTED = 1000     # pairs of a joint and an actuator of one transmission


def read(data: bytes, file: str, declared_encoding_counts: bool = True, default_name: str = "robot",
         limits: str = "check", places: Sequence[int | None] = ()) -> RobotDescription:
    """Links, joints and notes. places: of an expanded text, see parse_xml. The tree itself is checked by mbros.describe.check_robot
    once the base is attached. Raises UrdfError."""
    root = parse_xml(data, file, declared_encoding_counts, places)
    context = Context(file, limits)
    if root.tag != "robot":
        raise UrdfError(_not_a_robot(root, file))
    description = RobotDescription(_robot_name(context, root, default_name), file=file,
                                   text=_decode(declaration_first(data)))
    materials = _materials(context, root)
    bodies: dict[str, BodyDescription] = {}
    for element in root.all("link"):
        body = read_link(context, element, materials)
        if body is not None:
            description.bodies.append(body)
            bodies.setdefault(body.name, body)
    read_gazebo(context, root, bodies)
    _world(context, root, description, bodies)
    joints: dict[str, JointDescription] = {}
    for element in (child for child in root.children if child.tag in TYPES):
        joint = read_joint(context, element, bodies)
        if joint is not None:
            description.joints.append(joint)
            joints.setdefault(joint.name, joint)
    _transmissions(context, root, joints)
    read_forces(context, root, description, bodies, joints)
    read_constraints(context, root, description, bodies, joints)
    read_filter_groups(context, root, description, bodies)
    read_devices(context, root, description)
    read_ros2_control(context, root, description, joints)
    if not root.all("link"):
        context.problem(root.line, f"robot {description.name!r}", "it has no <link>", "A robot has at least one link.")
    note_unread(root, context)
    description.notes = context.notes.problems(file)
    if context.problems:
        context.problems.sort(key=lambda problem: problem.line or 0)
        error = UrdfError(context.problems)
        error.notes = description.notes
        raise error
    return description


def _decode(data: bytes) -> str:
    """The text for viewers. Expat has accepted it as UTF-8, or as Latin-1 when that was declared."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _not_a_robot(root: XmlElement, file: str) -> Problem:
    tag = shorten(root.tag)[1:-1]
    known = {"sdf": "This is SDF, which mbros.load takes, and not what reads URDF alone.",
             "mujoco": "This is MJCF, which mbros.load takes, and not what reads URDF alone.",
             "COLLADA": "This is a mesh, not a robot."}
    return Problem(f"<{tag}>", "the root element is not <robot>",
                   known.get(root.tag, 'A URDF starts with <robot name="...">.'), file, root.line)


def _robot_name(context: Context, root: XmlElement, default: str) -> str:
    name = root.attributes.get("name", "").strip()
    if name:
        wrong = no_name(name)
        if wrong is not None:
            context.problem(root.line, "<robot>", *wrong)
        return name
    default = printable(default)
    context.notes.add("robot name", root.line, "<robot>", f"it has no name; {default!r} is taken", "warning")
    return default


def _world(context: Context, root: XmlElement, description: RobotDescription, bodies: dict[str, BodyDescription]) -> None:
    """A joint may have the parent "world" without a link of that name, as Drake has it: then the world is meant. As a root link of that
    name would, it becomes the description's world (mbros.describe.urdf.base)."""
    if WORLD in bodies:
        return
    for joint in (child for child in root.children if child.tag in TYPES):
        for parent in joint.all("parent"):
            if parent.attributes.get("link") == WORLD:
                context.notes.add("world", parent.line, "<parent>", "there is no link 'world'; the world itself is taken")
                bodies[WORLD] = BodyDescription(WORLD, source=context.source(parent))
                description.bodies.append(bodies[WORLD])
                return


def _materials(context: Context, root: XmlElement) -> dict[str, tuple[float, float, float, float]]:
    found: dict[str, tuple[float, float, float, float]] = {}
    for element in root.all("material"):
        name = element.attributes.get("name", "")
        rgba = read_material(context, element, f"material {shorten(name)}")
        if rgba is not None:
            if found.setdefault(name, rgba) != rgba:
                context.notes.add(("material", name), element.line, f"material {shorten(name)}", "it has another colour above; the last is "
                                  "taken", "warning")
            found[name] = rgba
    return found


def _transmissions(context: Context, root: XmlElement, joints: dict[str, JointDescription]) -> None:
    """drake:rotor_inertia and drake:gear_ratio of <transmission><actuator>, where Drake writes them."""
    for element in root.all("transmission"):
        used = False
        names = dict.fromkeys(holder.attributes.get("name") for holder in element.all("joint"))
        actuators = element.all("actuator")
        if len(names) * len(actuators) > MOST_TRANSMITTED:
            context.problem(element.line, "<transmission>", f"it has {len(names)} joints and {len(actuators)} actuators, and each of these "
                            "acts on each of those", "Write a <transmission> for each joint.")
            continue
        for actuator in actuators:
            rotor, gear = (context.one(actuator, "drake:" + what, "transmission") for what in ("rotor_inertia", "gear_ratio"))
            for name in names:
                if name in joints and joints[name].nv == 1 and (rotor is not None or gear is not None):
                    read_rotor(context, joints[name], rotor, gear, f"joint {shorten(name)}")
                    used = True
        if not used:
            context.notes.add("transmission", element.line, "<transmission> in <robot>", "not used: for ros_control")
