"""Descriptions taken from models: whole ones, subtrees, robots inside robots. What ModelBuilder begins with."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbros.arguments import check_name, refuse
from mbros.describe.constraints.constraint import graft_constraints, keep_constraints
from mbros.describe.copies import copy_description
from mbros.describe.forces.element import graft_elements, keep_elements
from mbros_core.support.numbers import short

from mbros.describe.joints.classes import attachment
from mbros.describe.robot import Collision, JointDescription
from mbros.describe.shapes import GROUNDS
from mbros.errors import MbrosError, Problem
from mbros.spatial.placement import Placement

if TYPE_CHECKING:
    from mbros import ModelBuilder
    from mbros.describe.robot import RobotDescription


def description_of(source: Any) -> RobotDescription:
    """A copy of everything a Model, ModelBuilder or RobotDescription was made of."""
    return copy_description(getattr(source, "_description", None) or getattr(source, "description", source))


def is_robot(source: object) -> bool:
    """Whether it is a Model, ModelBuilder or RobotDescription."""
    return hasattr(source, "description") or hasattr(source, "joints")


def subtree_of(joint: Any) -> RobotDescription:
    """A description of a model's joint and all below it, see ModelBuilder.subtree."""
    if not isinstance(joint, JointDescription) and not hasattr(joint, "topology"):
        raise MbrosError(f"subtree: expected a joint of a model, such as model.joint(name), got {short(joint)}")
    of: Any = joint
    mine = description_of(of.model)
    keep = {other.name for other in of.topology.subtree()}
    root = next(j for j in mine.joints if j.name == joint.name)
    root.X_PF, root.parent = Placement(), mine.world
    mine.joints = [j for j in mine.joints if j.name in keep]
    kept = {id(j.child) for j in mine.joints}
    mine.bodies = [body for body in mine.bodies if id(body) in kept]
    mine.frames = [frame for frame in mine.frames if id(frame.body) in kept]
    before: list[Any] = [*mine.force_elements, *mine.constraints]
    keep_elements(mine)
    keep_constraints(mine)
    mine.name, mine.text, mine.file = f"{mine.name}/{joint.name}", None, None
    _keep_shapes(mine)
    mine.notes += [Problem(element._label, f"left out: it touches what is outside the subtree of joint {joint.name!r}", severity="note")
                   for element in before if element not in mine.force_elements and element not in mine.constraints]
    if mine.bench is not None:
        mine.notes.append(Problem(repr(mine.bench), f"left out: it is that of the whole robot {of.model.name!r}", severity="note"))
        mine.bench = None
    for j in mine.joints:
        if j.mimic is not None and j.mimic.leader not in keep:
            mine.notes.append(Problem(j._label, f"independent: its leader {j.mimic.leader!r} is outside the subtree", severity="note"))
            j.mimic, j.default = None, joint.model.joint(j.name).defaults.positions
    return mine


def graft(builder: ModelBuilder, source: Any, name: str, parent: Any, X_PW: Placement) -> dict[str, Any]:
    """Adds a copy of a whole robot to a builder; see ModelBuilder.add_robot."""
    check_name("robot", name)
    taken = {element.robot for element in builder.description.joints}
    if name in taken:
        refuse(f"robot {name!r}", "this name is already taken", "Give every robot a name of its own.")
    if not is_robot(source):
        raise MbrosError(f"robot {name!r}: expected a Model, ModelBuilder or RobotDescription, got {short(source)}")
    theirs = description_of(source)
    body, X_BP = attachment(f"robot {name!r}", "parent", builder.world if parent is None else parent, builder.description)
    X = X_BP @ X_PW
    for joint in theirs.joints:
        joint.owner = builder
        if joint.parent is theirs.world:
            joint.parent, joint.X_PF = body, X @ joint.X_PF
        if joint.mimic is not None:
            joint.mimic.leader = f"{name}/{joint.mimic.leader}"
    for frame in theirs.frames:
        if frame.body is theirs.world:
            frame.body, frame.X_BF = body, X @ frame.X_BF
    old = {element.name: element for element in theirs.bodies}
    everything: list[Any] = [*theirs.bodies, *theirs.joints, *theirs.frames]
    for element in everything:
        element.name = f"{name}/{element.name}"
        element.robot = name
    builder.description.bodies += theirs.bodies
    builder.description.joints += theirs.joints
    builder.description.frames += theirs.frames
    _graft_shapes(theirs, builder.description, name, body, X)
    graft_elements(theirs, builder.description, name, body, X)
    graft_constraints(theirs, builder.description, name, body, X)
    builder.description.keyframes |= {f"{name}/{key}": {f"{name}/{joint}": q for joint, q in positions.items()}
                                      for key, positions in theirs.keyframes.items()}
    if theirs.bench is not None:
        from mbros.describe.devices.carried import graft_bench      # start-up time: who does not use it does not pay

        graft_bench(theirs, builder.description, name)
    return old


def _keep_shapes(description: RobotDescription) -> None:
    """The shapes of its bodies, and what is said of them; its world is another one, without the shapes that stood there."""
    mine: list[Any] = [*description.bodies, description.world, *(shape for body in description.bodies for shape in body.collisions)]
    known = {id(element) for element in mine} | {element.name for element in mine}
    description.world.collisions = []
    description.exclusions = [rule for rule in description.exclusions
                              if all((end if isinstance(end, str) else id(end)) in known for end in (rule.a, rule.b))]


def _graft_shapes(theirs: RobotDescription, mine: RobotDescription, name: str, body: Any, X_BW: Placement) -> None:
    """Take over the shapes of `theirs`: names and groups get its own in front, what stands on its world stands on `body` at X_BW. Its
    grounds stay behind: a scene has its own."""
    grounds = [shape for shape in theirs.world.collisions if shape.geometry.kind in GROUNDS]
    mine.notes += [Problem(f"shape {shape.name!r} of robot {name!r}", "left out: a robot that is added does not bring its ground along",
                           "Give the scene its own with add_ground().", severity="note") for shape in grounds]
    gone = {id(shape) for shape in grounds} | {shape.name for shape in grounds}
    for of in (theirs.world, *theirs.bodies):
        for shape in of.collisions:
            shape.name = shape.name and f"{name}/{shape.name}"
            if isinstance(shape, Collision):
                shape.group, shape.robot = shape.group and f"{name}/{shape.group}", name
    for shape in theirs.world.collisions:
        if shape not in grounds:
            shape.X_BG = X_BW @ shape.X_BG
            body.collisions.append(shape)
    for rule in theirs.exclusions:
        if not any((end if isinstance(end, str) else id(end)) in gone for end in (rule.a, rule.b)):
            rule.a, rule.b = (body if end is theirs.world or end == theirs.world.name else
                              f"{name}/{end}" if isinstance(end, str) else end for end in (rule.a, rule.b))
            mine.exclusions.append(rule)
    if theirs.collisions and mine.collisions is None:
        mine.collisions = True
