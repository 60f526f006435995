"""Constraints in a URDF, which close the loops that its tree cannot: mbros' own tag, Drake's, and the one proposed for URDF.

    <mbros:constraint name="loop" type="ball" frame_A="coupler_end" frame_B="rocker"/>                  or weld;
                      hinge, prismatic, cylindrical, planar with axis="0 0 1", universal with axis_A="1 0 0" axis_B="0 1 0"
    <mbros:constraint name="rope" type="distance" frame_A="..." frame_B="..." length="0.5" rope="true"/>
    <mbros:constraint name="gear" type="coupler" joint_A="wheel" joint_B="motor" ratio="-0.25" offset="0"/>

    <drake:ball_constraint> <drake:ball_constraint_body_A name="..."/> <drake:ball_constraint_p_AP value="0 0 1"/>
        <drake:ball_constraint_body_B name="..."/> <drake:ball_constraint_p_BQ value="0 0 0"/> </drake:ball_constraint>

    <constraint name="loop" type="revolute"> <parent link="..."/> <parent_origin xyz="..." rpy="..."/> <parent_axis xyz="0 1 0"/>
        <child link="..."/> <child_origin xyz="..." rpy="..."/> <child_axis xyz="0 1 0"/> </constraint>    (ros/urdfdom pull request 264)

All stand in <robot>. frame_A and frame_B take the name of a link, a frame or "world". Types of <constraint>: fixed, revolute and continuous
(a hinge), ball and spherical.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbros.describe.constraints.classes import (BY_KIND, BallConstraint, CouplerConstraint, DistanceConstraint, HingeConstraint,
                                                UniversalConstraint, WeldConstraint)
from mbros.describe.robot import FrameDescription
from mbros.describe.urdf.numbers import shorten
from mbros.errors import MbrosError, ModelError
from mbros.names import did_you_mean, hint
from mbros.spatial.given import unit_axis
from mbros.spatial.placement import Placement, align_z, rotation_from_rpy

if TYPE_CHECKING:
    from mbros.describe.robot import BodyDescription, JointDescription, RobotDescription
    from mbros.describe.urdf.context import Context
    from mbros.describe.urdf.xml import XmlElement

OWN, PROPOSED, DRAKE = "mbros:constraint", "constraint", "drake:ball_constraint"
FRAMES, JOINTS = ("frame_A", "frame_B"), ("joint_A", "joint_B")
WORDS = {"ball": FRAMES, "weld": FRAMES, "hinge": (*FRAMES, "axis"), "prismatic": (*FRAMES, "axis"),
         "cylindrical": (*FRAMES, "axis"), "planar": (*FRAMES, "axis"), "universal": (*FRAMES, "axis_A", "axis_B"),
         "distance": (*FRAMES, "length", "rope"),
         "coupler": (*JOINTS, "ratio", "offset")}
ALONG: dict[str, Any] = {kind: BY_KIND[kind] for kind, words in WORDS.items() if words[2:] == ("axis",)}
TYPES = {"fixed": "weld", "revolute": "hinge", "continuous": "hinge", "ball": "ball", "spherical": "ball"}
DRAKE_BODIES = ("drake:ball_constraint_body_A", "drake:ball_constraint_body_B")
DRAKE_POINTS = ("drake:ball_constraint_p_AP", "drake:ball_constraint_p_BQ")
SIDES = ("parent", "child")

# What mbros.describe.urdf.schema adds to its table: path -> (attributes read, children read)
READ: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    OWN: (("name", "type", *FRAMES, *JOINTS, "axis", "axis_A", "axis_B", "length", "rope", "ratio", "offset"), ()),
    PROPOSED: (("name", "type"), tuple(side + part for side in SIDES for part in ("", "_origin", "_axis"))),
    **{side + "_origin": (("xyz", "rpy"), ()) for side in SIDES},
    **{side + "_axis": (("xyz",), ()) for side in SIDES},
    DRAKE: ((), (*DRAKE_BODIES, *DRAKE_POINTS)),
    **{tag: (("name",), ()) for tag in DRAKE_BODIES},
    **{tag: (("value",), ()) for tag in DRAKE_POINTS},
}
IN_ROBOT = (OWN, PROPOSED, DRAKE)


def read_constraints(context: Context, root: XmlElement, description: RobotDescription, bodies: dict[str, BodyDescription],
                     joints: dict[str, JointDescription]) -> None:
    """The constraints of <robot>, into the description, which has its frames. bodies, joints: by name."""
    frames: dict[str, Any] = {**bodies}
    frames.setdefault(description.world.name, description.world)
    for frame in description.frames:
        frames.setdefault(frame.name, frame)
    for element in root.children:
        if element.tag not in IN_ROBOT:
            continue
        label = _label(element)
        try:
            before = context.found
            made = _own(context, element, label, frames, joints) if element.tag == OWN else \
                _proposed(context, element, label, frames, description) if element.tag == PROPOSED else \
                _drake(context, element, label, frames, description)
            if made is not None and context.found == before:
                made.source = context.source(element)
                description.constraints.append(made)
        except ModelError as error:
            for problem in error.problems:
                context.problem(element.line, label, problem.reason, problem.remedy)
        except MbrosError as error:
            context.problem(element.line, label, str(error).partition(": ")[2] or str(error), "")


def _label(element: XmlElement) -> str:
    name = element.attributes.get("name")
    return (f"constraint {shorten(name)}" if name else "constraint") + f", <{element.tag}>"


def _own(context: Context, element: XmlElement, label: str, frames: dict[str, Any], joints: dict[str, Any]) -> Any:
    """<mbros:constraint>; None, with problems, where something in it is wrong."""
    name, kind = context.name(element, label), element.attributes.get("type", "")
    if kind not in BY_KIND:
        near = did_you_mean(kind, BY_KIND)
        context.problem(element.line, label, f"type={shorten(kind)} is unknown" + (f"; did you mean {near!r}?" if near else ""),
                        "There are " + ", ".join(BY_KIND) + ".")
        return None
    for word in element.attributes:
        if word not in ("name", "type", *WORDS[kind]) and not word.startswith(("xmlns", "xml:")):
            context.problem(element.line, label, f"attribute {shorten(word)} has no meaning for type {kind!r}",
                            "It has " + ", ".join(("name", "type", *WORDS[kind])) + ".")
    at = [_named(context, element, word, label, joints if kind == "coupler" else frames) for word in WORDS[kind][:2]]
    if name is None or at[0] is None or at[1] is None:
        return None
    one, other = at
    if kind in ALONG:
        axis = context.vector(element, "axis", 3, label, (0.0, 0.0, 1.0))
        return None if axis is None else ALONG[kind](name, one, other, unit_axis(label, axis, normalize=True))
    if kind == "universal":
        usual = {"axis_A": (1.0, 0.0, 0.0), "axis_B": (0.0, 1.0, 0.0)}
        axes = [context.vector(element, word, 3, label, usual[word]) for word in usual]
        units = [unit_axis(label, axis, normalize=True) for axis in axes if axis is not None]
        return UniversalConstraint(name, one, other, *units) if len(units) == 2 else None
    if kind == "distance":
        rope = _truth(context, element, "rope", label)
        length = context.scalar(element, "length", label)
        return None if length is None or rope is None else DistanceConstraint(name, one, other, length, rope)
    if kind == "coupler":
        ratio, offset = context.scalar(element, "ratio", label, 1.0), context.scalar(element, "offset", label, 0.0)
        return None if ratio is None or offset is None else CouplerConstraint(name, one, other, ratio, offset)
    return BallConstraint(name, one, other) if kind == "ball" else WeldConstraint(name, one, other)


def _named(context: Context, element: XmlElement, attribute: str, label: str, known: dict[str, Any]) -> Any:
    what = "joint" if attribute in JOINTS else "link or frame"
    name = element.attributes.get(attribute)
    if name is None:
        context.problem(element.line, label, f"attribute {attribute!r} is missing", f"Give the name of a {what}.")
    elif name not in known:
        context.problem(element.line, label, f"{attribute}: there is no {what} {shorten(name)}{hint(name, known)}",
                        "Add it, or correct the name.")
    return None if name is None else known.get(name)


def _truth(context: Context, element: XmlElement, attribute: str, label: str) -> bool | None:
    text = element.attributes.get(attribute, "false").strip().lower()
    if text not in ("true", "false", "1", "0"):
        context.problem(element.line, label, f"{attribute}={shorten(text)} is neither true nor false", f'Write {attribute}="true".')
        return None
    return text in ("true", "1")


def _frame(description: RobotDescription, name: str, body: Any, X: Placement, source: Any) -> FrameDescription:
    """A frame that a constraint brings along."""
    taken = {frame.name for frame in description.frames} | {b.name for b in description.bodies}
    name = next(n for n in (name, *(f"{name}_{k}" for k in range(len(taken) + 1))) if n not in taken)
    frame = FrameDescription(name, body, X, source)
    description.frames.append(frame)
    return frame


def _proposed(context: Context, element: XmlElement, label: str, frames: dict[str, Any], description: RobotDescription) -> Any:
    """<constraint> with a frame on each side; where it has an axis, that is z of both."""
    name, kind = context.name(element, label), TYPES.get(element.attributes.get("type", ""))
    if kind is None:
        context.problem(element.line, label, f"type={shorten(element.attributes.get('type', ''))} is not read",
                        f"There are {', '.join(TYPES)}; <{OWN}> has more.")
    ends: list[tuple[Any, Placement]] = []
    for side in SIDES:
        holder = context.one(element, side, label, required=True)
        body = None if holder is None else _named(context, holder, "link", label, frames)
        origin, axis = context.one(element, side + "_origin", label), context.one(element, side + "_axis", label)
        xyz = None if origin is None else context.vector(origin, "xyz", 3, label, (0.0, 0.0, 0.0))
        rpy = None if origin is None else context.vector(origin, "rpy", 3, label, (0.0, 0.0, 0.0))
        direction = (1.0, 0.0, 0.0) if axis is None else context.vector(axis, "xyz", 3, label)
        if body is None or direction is None:
            continue
        R = np.eye(3) if rpy is None else rotation_from_rpy(rpy)
        if kind == "hinge":
            R = R @ align_z(unit_axis(label, direction, normalize=True))
        ends.append((body, Placement(R, np.zeros(3) if xyz is None else np.array(xyz))))
    if name is None or kind is None or len(ends) < 2:
        return None
    a, b = (_frame(description, f"{name}.{side}", end[0], end[1], context.source(element)) for side, end in zip("AB", ends))
    return WeldConstraint(name, a, b) if kind == "weld" else HingeConstraint(name, a, b) if kind == "hinge" else BallConstraint(name, a, b)


def _drake(context: Context, element: XmlElement, label: str, frames: dict[str, Any], description: RobotDescription) -> Any:
    """Drake's tag: two bodies and a point on each. It has no name."""
    taken = {constraint.name for constraint in description.constraints}
    name = next(n for n in (f"ball_constraint{k}" for k in range(len(taken) + 1)) if n not in taken)
    ends: list[tuple[Any, Placement]] = []
    for body_tag, point_tag in zip(DRAKE_BODIES, DRAKE_POINTS):
        holder, point = context.one(element, body_tag, label, required=True), context.one(element, point_tag, label, required=True)
        body = None if holder is None else _named(context, holder, "name", label, frames)
        p = None if point is None else context.vector(point, "value", 3, label)
        if body is not None and p is not None:
            ends.append((body, Placement(None, np.array(p))))
    if len(ends) < 2:
        return None
    a, b = (_frame(description, f"{name}.{side}", end[0], end[1], context.source(element)) for side, end in zip("AB", ends))
    return BallConstraint(name, a, b)
