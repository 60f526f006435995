"""Roots: how the root link of a URDF stands in the world."""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from mbros_core.support.numbers import short

from mbros.describe.check_robot import find_loop
from mbros.describe.problems import problem
from mbros.describe.robot import JointDescription, RobotDescription
from mbros.errors import MbrosError, Problem, UrdfError
from mbros.names import did_you_mean

if TYPE_CHECKING:
    from mbros.describe.robot import BodyDescription

BASES = {"fixed": "weld", "floating": "floating", "planar": "planar"}


def attach_base(description: RobotDescription, base: str | None) -> None:
    """Adds the joint "base" between the world and the root link, first in order. A root link called "world" is the world.

    base: "fixed", "floating", "planar"; None: the description's own default.
    """
    description.base_said = base is not None
    base = description.default_base if base is None else base
    if not isinstance(base, str) or base not in BASES:
        near = did_you_mean(base, BASES)
        raise MbrosError(f"base is {short(base)}; expected 'fixed', 'floating' or 'planar'" + (f"; did you mean {near!r}?" if near else ""))
    root = find_root(description)
    if root.name == description.world.name:
        if base != "fixed":
            raise UrdfError(problem(root, f"a {base} base was asked for, but this root link is called 'world', which does "
                                          "not move", "Rename the link, or load the robot with base='fixed'."))
        if root.mass != 0.0:
            description.notes.append(problem(root, "its mass is not used", "The world does not move.", "note", "inertial"))
        root.mass, root.com, root.inertia = 0.0, np.zeros(3), np.zeros((3, 3))
        description.world = root
        description.base_said = True
        description.bodies.remove(root)
        return
    names = {joint.name for joint in description.joints}
    name = next(n for n in ("base", "world_" + root.name, *(f"base_{k}" for k in range(len(names) + 1))) if n not in names)
    description.joints.insert(0, JointDescription(name, BASES[base], description.world, root, source=root.source))
    if not description.base_said and base == "fixed" and _moves_about(description, root):
        description.notes.append(held(description, "a file does not say how its root link stands there", "note"))


def held(description: RobotDescription, why: str, severity: str = "warning") -> Problem:
    """That the root link of a robot cannot move, of which nobody said so."""
    return problem(description.joints[0].child, f"it is held by the world and cannot fall: {why}",
                   "base='floating', --base floating of the commands, lets it move; base='fixed' says that it is meant.", severity)


def _moves_about(description: RobotDescription, root: BodyDescription) -> bool:
    """Whether a robot looks as if it stood, drove or flew: it has a base with mass, and on it several parts move, as legs, wheels and
    rotors do, or none."""
    children: dict[int, list[JointDescription]] = {}
    for joint in description.joints:
        children.setdefault(id(joint.parent), []).append(joint)
    moving, mass, base, seen = 0, 0.0, [root], set()            # base: the root link, and what is welded to it
    while base:
        body = base.pop()
        for joint in () if id(body) in seen else children.get(id(body), ()):
            if joint.nv:
                moving += 1
            else:
                base.append(joint.child)
        seen.add(id(body))
        mass += body.mass
    return moving != 1 and mass > 0.0


def find_root(description: RobotDescription) -> BodyDescription:
    """The one link that is no joint's child. Raises UrdfError naming the others, or the loop."""
    carrier: dict[int, JointDescription] = {}
    for joint in description.joints:
        carrier.setdefault(id(joint.child), joint)
    roots = [body for body in description.bodies if id(body) not in carrier]
    if len(roots) == 1:
        return roots[0]
    if roots:
        shown = ", ".join(f"{body.name!r} (line {body.source.line})" for body in roots[:8])
        more = f" and {len(roots) - 8} more" if len(roots) > 8 else ""
        raise UrdfError(problem(roots[1], f"the robot has {len(roots)} root links: {shown}{more}",
                                "A URDF is one tree: connect them with joints, for example type=\"fixed\"."))
    loop = find_loop(description.bodies[0], carrier)
    first = carrier[id(loop[0])]
    names = " -> ".join(body.name for body in loop[:12]) + (" -> ..." if len(loop) > 12 else f" -> {loop[0].name}")
    raise UrdfError(Problem(f"joint {first.name!r}", f"there is no root link, because joints form a closed loop: {names}",
                            "Take one joint out, so that all links form one tree.", first.source.file, first.source.line))
