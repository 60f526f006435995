"""From the graph that joints of SDF are to the tree that a robot is: which joint carries which link, which joints close loops.

SDF lets any joint connect any two links. Here a link is carried by one joint. A joint whose child is carried already turns round what its
parent stands on, where that is free; where both stand on the same, it closes a loop and becomes a constraint.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbros.describe.constraints.classes import BallConstraint, HingeConstraint, PrismaticConstraint, UniversalConstraint, WeldConstraint
from mbros.describe.robot import FrameDescription, JointDescription

if TYPE_CHECKING:
    from mbros.describe.robot import BodyDescription, RobotDescription
    from mbros.describe.urdf.context import Context

MOST_TURNED = 100_000
TURNS_ROUND = ("weld", "revolute", "continuous", "prismatic", "screw")          # kinds that are of the same kind the other way


def make_tree(context: Context, description: RobotDescription, joints: list[JointDescription]) -> list[BodyDescription]:
    """The joints into the description: as joints, some the other way round, or as constraints. Returns the links that nothing carries."""
    carrier: dict[int, JointDescription] = {}
    together = Together()
    left, loops, turned = [], [], 0
    for joint in joints:
        if id(joint.child) not in carrier and together.join(joint.parent, joint.child):
            carrier[id(joint.child)] = joint
        else:
            left.append(joint)
    for joint in left:
        if not together.join(joint.parent, joint.child):
            loops.append(joint)
            continue
        line, other = _line(carrier, joint.parent), [joint]
        if line and line[-1].parent is description.world or not line and joint.parent is description.world:
            line, other = _line(carrier, joint.child), []
        turned += len(line) + len(other)
        if turned > MOST_TURNED:
            context.problem(joint.source.line, f"joint {joint.name!r}", f"more than {MOST_TURNED} joints would have to be turned round",
                            "Let each link be the child of one joint.")
            break
        if _turn_round(context, joint, [*other, *line], carrier):
            carrier[id(joint.child)] = joint
    tree = {id(joint) for joint in carrier.values()}
    description.joints += [joint for joint in joints if id(joint) in tree]
    sprung = {id(element.joint) for element in description.force_elements}
    for joint in loops:
        _close(context, description, joint, id(joint) in sprung)
    gone = {id(joint) for joint in loops}
    description.force_elements = [element for element in description.force_elements if id(element.joint) not in gone]
    return [body for body in description.bodies if id(body) not in carrier]


class Together:
    """Which bodies hang together, by joints in any direction."""

    def __init__(self) -> None:
        self.first: dict[int, int] = {}

    def join(self, a: BodyDescription, b: BodyDescription) -> bool:
        """A joint between two bodies. False where they hung together before."""
        x, y = self.of(id(a)), self.of(id(b))
        self.first[x] = y
        return x != y

    def of(self, at: int) -> int:
        path = []
        while self.first.setdefault(at, at) != at:
            path.append(at)
            at = self.first[at]
        self.first.update(dict.fromkeys(path, at))
        return at


def _line(carrier: dict[int, JointDescription], body: BodyDescription) -> list[JointDescription]:
    """The joint that carries a body, the one that carries its parent, and so on."""
    found = []
    while id(body) in carrier:
        found.append(carrier[id(body)])
        body = found[-1].parent
    return found


def _turn_round(context: Context, why: JointDescription, joints: list[JointDescription], carrier: dict[int, JointDescription]) -> bool:
    """Joints of one line carry the other way. False, with a problem, where one of them has no other way."""
    for each in joints:
        if each.kind not in TURNS_ROUND:
            context.problem(each.source.line, f"joint {each.name!r}", f"link {why.child.name!r} is the child of two joints, and a "
                            f"{each.kind} joint cannot be turned round to make a tree of them", "Swap its parent and child.")
            return False
    for each in joints:
        context.notes.add("turned round", each.source.line, f"joint {each.name!r}", f"link {why.child.name!r} is the child of two joints: "
                          f"here {each.child.name!r} carries {each.parent.name!r}; the coordinate means the same")
        if carrier.get(id(each.child)) is each:
            del carrier[id(each.child)]
    for each in joints:
        each.parent, each.child, each.X_PF, each.X_BM = each.child, each.parent, each.X_BM, each.X_PF
        each.axis = None if each.axis is None else -each.axis + 0.0
        carrier[id(each.child)] = each
    return True


def _close(context: Context, description: RobotDescription, joint: JointDescription, sprung: bool) -> None:
    """A joint between two links that hang together already, as a constraint of its name. sprung: whether it has a spring."""
    line, label = joint.source.line, f"joint {joint.name!r}"
    if joint.parent is joint.child:
        context.problem(line, label, f"its parent and its child are the same link {joint.child.name!r}", "A joint connects two links.")
        return
    a, b = (FrameDescription(f"{joint.name}.{end}", body, X, joint.source)
            for end, body, X in (("parent", joint.parent, joint.X_PF), ("child", joint.child, joint.X_BM)))
    made: Any = None
    if joint.kind == "weld":
        made = WeldConstraint(joint.name, a, b)
    elif joint.kind in ("revolute", "continuous") and joint.axis is not None:
        made = HingeConstraint(joint.name, a, b, joint.axis)
    elif joint.kind == "prismatic" and joint.axis is not None:
        made = PrismaticConstraint(joint.name, a, b, joint.axis)
    elif joint.kind == "ball":
        made = BallConstraint(joint.name, a, b)
    elif joint.kind == "universal":
        made = UniversalConstraint(joint.name, a, b)
    if made is None:
        context.problem(line, label, f"it closes a loop, and a {joint.kind} joint cannot", "Close the loop at another joint.")
        return
    made.source = joint.source
    description.frames += [a, b]
    description.constraints.append(made)
    lost = [word for word, there in (("limits", bool(np.isfinite([*joint.lower, *joint.upper]).any())), ("damping", joint.damping.any()),
                                     ("friction", joint.friction.any()), ("mimic", joint.mimic is not None)) if there]
    lost += ["its spring"] if sprung else []
    context.notes.add(("loop", joint.name), line, label, f"it closes a loop: a constraint ({made.kind}) here, without a coordinate" +
                      (f"; not used: {', '.join(lost)}" if lost else ""), "warning" if lost else "note")
