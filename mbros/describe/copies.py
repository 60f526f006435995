"""Copies of descriptions. What belongs to a description is copied; what a user wrote in code (joint laws, force elements in Python
or C, distributions) is shared, because only its author knows whether it can be copied."""
from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np

from mbros.describe.robot import BodyDescription, Exclusion, FrameDescription, JointDescription, Mimic, RobotDescription, Shape
from mbros.spatial.placement import Placement


def copy_description(description: RobotDescription) -> RobotDescription:
    """A description of its own: no later change of one reaches the other. Elements of other models stay as they are, for the
    checks to find; joints belong to no builder."""
    copies = Copies(description)
    return replace(description, world=copies.of[id(description.world)], bodies=[copies.of[id(body)] for body in description.bodies],
                   joints=[copies.joint(joint) for joint in description.joints],
                   frames=[copies.frame(frame) for frame in description.frames], gravity=plain(description.gravity),
                   notes=list(description.notes), exclusions=[copies.exclusion(rule) for rule in description.exclusions],
                   force_elements=[element.copied(copies) for element in description.force_elements],
                   constraints=[constraint.copied(copies) for constraint in description.constraints],
                   bench=None if description.bench is None else description.bench.copied(),
                   keyframes={name: {joint: q.copy() for joint, q in key.items()} for name, key in description.keyframes.items()})


class Copies:
    """The copies made so far, by the id of what they are of."""

    def __init__(self, description: RobotDescription) -> None:
        self.of: dict[int, Any] = {}
        for body in (description.world, *description.bodies):
            self.of[id(body)] = other = _body(body)
            self.of.update((id(mine), theirs) for mine, theirs in zip(body.collisions, other.collisions))

    def body(self, body: BodyDescription) -> BodyDescription:
        """Of a body of the description; others stay."""
        return self.of.get(id(body), body)

    def frame(self, frame: FrameDescription) -> FrameDescription:
        """Of a frame of the description, or of a frame on one of its bodies."""
        if id(frame) not in self.of:
            self.of[id(frame)] = FrameDescription(frame.name, self.body(frame.body), plain(frame.X_BF), frame.source, dict(frame.tags),
                                                  frame.robot)
        return self.of[id(frame)]

    def exclusion(self, rule: Exclusion) -> Exclusion:
        """Of a rule about bodies and shapes of the description; others stay."""
        return replace(rule, a=self.of.get(id(rule.a), rule.a), b=self.of.get(id(rule.b), rule.b))

    def joint(self, joint: JointDescription) -> JointDescription:
        """Of a joint."""
        if id(joint) not in self.of:
            other = object.__new__(type(joint))
            for name, value in joint.attributes().items():
                setattr(other, name, plain(value))
            other.parent, other.child = self.body(joint.parent), self.body(joint.child)
            self.of[id(joint)] = other
        return self.of[id(joint)]


def plain(value: Any) -> Any:
    """A copy of numbers, placements and rules; everything else is given back."""
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, Placement):
        return Placement(plain(value.R), plain(value.p))
    return replace(value) if isinstance(value, Mimic) else value


def _body(body: BodyDescription) -> BodyDescription:
    return replace(body, com=plain(body.com), inertia=plain(body.inertia), visuals=[_shape(shape) for shape in body.visuals],
                   collisions=[_shape(shape) for shape in body.collisions])


def _shape(shape: Shape) -> Shape:
    return replace(shape, geometry=copy(shape.geometry), X_BG=plain(shape.X_BG))


def move_onto(given: list[Any], sides: tuple[str, str], theirs: RobotDescription, mine: RobotDescription, name: str, body: BodyDescription,
              X_BW: Placement) -> list[Any]:
    """Force elements or constraints of `theirs` as `mine` takes them over, whose bodies, joints and frames it has already: named after the
    robot, and with frames of `mine` on both sides. The world of `theirs` stands on `body` at X_BW."""
    frames = {id(at) for at in theirs.frames}
    standing = f"{name}/{theirs.world.name}"
    world = next((at for at in mine.frames if at.name == standing), None)
    for each in given:
        for side in sides:
            at = getattr(each, side)
            if at is None or id(at) in frames:
                continue
            if at.body is theirs.world:
                if world is None:
                    world = FrameDescription(standing, body, X_BW, robot=name)
                    mine.frames.append(world)
                setattr(each, side, world)
            else:
                setattr(each, side, at.body.frame)
        each.name, each.robot = f"{name}/{each.name}", name
    return given
