"""Objects of a scene: a body of one shape, free or fixed."""
from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from mbros_core.support.numbers import floats, short

from mbros.arguments import numbers, refuse
from mbros.build.scenes.placing import start_at
from mbros.describe.joints.joint import JointDescription
from mbros.describe.members import OBJECT
from mbros.describe.robot import BodyDescription, Geometry, Shape
from mbros.describe.shapes import GROUNDS
from mbros.spatial import inertia as of

if TYPE_CHECKING:
    from mbros.build.builder import ModelBuilder
    from mbros.describe.robot import RobotDescription
    from mbros.spatial.placement import Placement

SOLIDS: dict[str, Any] = {
    "box": lambda mass, g: of.solid_box(mass, g.size), "sphere": lambda mass, g: of.solid_sphere(mass, g.radius),
    "cylinder": lambda mass, g: of.solid_cylinder(mass, g.radius, g.length),
    "capsule": lambda mass, g: of.solid_capsule(mass, g.radius, g.length)}


def add_object(builder: ModelBuilder, element: str, name: str, shape: Any, mass: Any, X: Placement, fixed: bool, inertia: Any,
               touch: dict[str, Any], rgba: Any) -> None:
    """Scene.add_object. Everything is looked at before anything is added."""
    if not isinstance(shape, Geometry) or shape.kind in GROUNDS:
        refuse(element, f"its shape is {short(shape) if not isinstance(shape, Geometry) else shape.kind}",
               "Give one of mbros.shapes with a surface all around, such as mbros.shapes.box((0.1, 0.1, 0.1)).")
    if fixed and (mass is not None or inertia is not None):
        refuse(element, "it is fixed and has a mass or an inertia", "Leave those out: what is fixed never moves.")
    m, I = (0.0, np.zeros((3, 3))) if fixed else _masses(element, shape, mass, inertia)
    colour = None if rgba is None else tuple(numbers(element, "rgba", rgba, 4).tolist())
    wanted = builder.description.collisions
    body = BodyDescription(name, m, inertia=I, visuals=[Shape(shape, name=name, rgba=colour)], robot=name)
    builder.description.bodies.append(body)
    try:
        builder.add_collision(body, shape, name=f"{name}/shape", **touch)
    except BaseException:
        builder.description.bodies.remove(body)
        raise
    builder.description.collisions = wanted         # a scene without shapes stays one
    joint = JointDescription(name, "weld" if fixed else "floating", builder.world, body, X_PF=X if fixed else None)
    joint.robot = body.collisions[0].robot = name    # add_collision made it
    if not fixed:
        start_at(joint, X)
    builder.add_joint(joint)


def _masses(element: str, shape: Geometry, mass: Any, inertia: Any) -> tuple[float, np.ndarray]:
    if mass is None:
        refuse(element, "it has no mass", "Give mass, kg, or fixed: true for what never moves.")
    m = float(numbers(element, "mass", mass, 1)[0])
    if not m > 0.0:
        refuse(element, f"mass is {m:g}", "It must be positive; what never moves is fixed.")
    if inertia is not None:
        given = floats(inertia)
        diagonal = given is not None and given.shape == (3,)
        I = np.diag(numbers(element, "inertia", inertia, 3)) if diagonal else numbers(element, "inertia", inertia, (3, 3))
        wrong = of.why_impossible(m, np.zeros(3), I)
        if wrong is not None:
            refuse(element, wrong, "Give moments of inertia about the centre of mass, kg m^2.")
        return m, I
    if shape.kind not in SOLIDS:
        refuse(element, f"its shape is a {shape.kind} and it has no inertia", "Give inertia: [ixx, iyy, izz] about the shape's origin, "
               "kg m^2.")
    return m, SOLIDS[shape.kind](m, shape)


def is_lone(description: RobotDescription) -> bool:
    """Whether a robot is one body that is free or fixed: an object."""
    return len(description.bodies) == 1 and [joint.kind for joint in description.joints] in (["floating"], ["weld"])


def as_object(description: RobotDescription, name: str) -> None:
    """A robot that has just been added to a scene and is_lone becomes an object of it, called as objects are."""
    body = next(body for body in description.bodies if body.robot == name)
    joint = next(joint for joint in description.joints if joint.robot == name)
    for rule in description.exclusions:
        rule.a, rule.b = (name if end == body.name else end for end in (rule.a, rule.b))
    body.name = joint.name = name
    description.members = tuple(replace(member, kind=OBJECT, text=None) if member.name == name else member
                                for member in description.members)
