"""Force elements in a URDF: mbros' own tags, and Drake's for bushings.

    <frame name="mount_a" link="base" xyz="0 0 0.1" rpy="0 0 0"/>                  (Drake's; also <mbros:frame>)

    <mbros:bushing name="mount" frame_A="mount_a" frame_C="plate" law="energy_consistent" torque_stiffness="10 10 10"
                   torque_damping="1" force_stiffness="1e3 1e3 2e3" force_damping="5"/>
    <mbros:spring_damper frame_A="..." frame_C="..." free_length="0.2" stiffness="100" damping="1"/>
    <mbros:joint_spring joint="elbow" position="0.1" stiffness="5" damping="0.1"/>
    <mbros:door_hinge joint="door" spring_stiffness="1" .../>      <mbros:stribeck joint="elbow" coulomb="1" breakaway="1.5" .../>
    <mbros:body_wrench frame="plate" force="0 0 1" expressed_in="body"/>    <mbros:body_gravity frame="plate" gravity="0 0 9.81"/>
    <mbros:stop joint="elbow" stiffness="1e4" damping="10"/>

    <drake:linear_bushing_rpy> <drake:bushing_frameA name="..."/> <drake:bushing_frameC name="..."/>
        <drake:bushing_torque_stiffness value="k0 k1 k2"/> ... </drake:linear_bushing_rpy>

All stand in <robot>. frame_A, frame_C and frame take the name of a link, a frame or "world"; parameters are those of the
Python classes (docs/forces.md), one number for all components or one for each; `coordinate` chooses of a joint with several.
"""
from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from mbros.describe.forces.bushing import LinearBushingRollPitchYaw
from mbros.describe.forces.element import Taken
from mbros.describe.forces.groups import groups
from mbros.describe.robot import FrameDescription
from mbros.describe.urdf.numbers import shorten
from mbros.errors import MbrosError, ModelError
from mbros.names import did_you_mean, hint
from mbros.spatial.placement import Placement, rotation_from_rpy

if TYPE_CHECKING:
    from mbros.describe.forces.element import Described
    from mbros.describe.robot import BodyDescription, JointDescription, RobotDescription
    from mbros.describe.urdf.context import Context
    from mbros.describe.urdf.xml import XmlElement


class Tag(NamedTuple):
    """module and name of the class in mbros.describe.forces; kind: the engine's; places: what it acts on; words: other attributes."""

    module: str
    name: str
    kind: str
    places: tuple[str, ...]
    words: tuple[str, ...] = ()

    @property
    def numbers(self) -> dict[str, int]:
        """Attributes that are numbers, with how many each has; 0: as many as the joint has velocities."""
        if self.kind == "stop":
            return {"stiffness": 0, "damping": 0}
        return {name: group.size for name, group in groups(self.kind).items() if name != "in_body"}

    @property
    def attributes(self) -> tuple[str, ...]:
        coordinate = ("coordinate",) if "joint" in self.places and self.kind != "stop" else ()
        return ("name",) * (self.kind != "stop") + self.places + coordinate + self.words + tuple(self.numbers)


PAIR, JOINT, BODY = ("frame_A", "frame_C"), ("joint",), ("frame",)
TAGS = {
    "mbros:bushing": Tag("bushing", "LinearBushingRollPitchYaw", "bushing", PAIR, ("law",)),
    "mbros:spring_damper": Tag("springs", "LinearSpringDamper", "spring_damper", PAIR),
    "mbros:joint_spring": Tag("springs", "JointSpring", "joint_spring", JOINT),
    "mbros:door_hinge": Tag("springs", "DoorHinge", "door_hinge", JOINT),
    "mbros:stribeck": Tag("springs", "StribeckFriction", "stribeck", JOINT),
    "mbros:body_wrench": Tag("body", "BodyWrench", "body_wrench", BODY, ("expressed_in",)),
    "mbros:body_gravity": Tag("body", "BodyGravity", "body_gravity", BODY),
    "mbros:stop": Tag("springs", "JointStop", "stop", JOINT),
}
DRAKE = "drake:linear_bushing_rpy"
DRAKE_FRAMES = ("drake:bushing_frameA", "drake:bushing_frameC")
DRAKE_NUMBERS = ("drake:bushing_torque_stiffness", "drake:bushing_torque_damping", "drake:bushing_force_stiffness",
                 "drake:bushing_force_damping")
FRAMES = ("frame", "mbros:frame")

# What mbros.describe.urdf.schema adds to its table: path -> (attributes read, children read)
READ = {
    **{tag: (("name", "link", "xyz", "rpy"), ()) for tag in FRAMES},
    **{tag: (row.attributes, ()) for tag, row in TAGS.items()},
    DRAKE: ((), (*DRAKE_FRAMES, *DRAKE_NUMBERS)),
    **{tag: (("name",), ()) for tag in DRAKE_FRAMES},
    **{tag: (("value",), ()) for tag in DRAKE_NUMBERS},
}
IN_ROBOT = (*FRAMES, *TAGS, DRAKE)


def read_forces(context: Context, root: XmlElement, description: RobotDescription, bodies: dict[str, BodyDescription],
                joints: dict[str, JointDescription]) -> None:
    """Frames, force elements and stops of <robot>, into the description. bodies, joints: by name."""
    frames: dict[str, BodyDescription | FrameDescription] = dict(bodies)
    frames.setdefault(description.world.name, description.world)
    for element in root.children:
        if element.tag in FRAMES:
            frame = _frame(context, element, bodies)
            if frame is not None:
                description.frames.append(frame)
                frames.setdefault(frame.name, frame)
    taken = Taken(description)
    for element in root.children:
        if element.tag == DRAKE:
            _add(context, element, description, taken, f"<{DRAKE}>", partial(_drake_bushing, context, element, frames))
        elif element.tag in TAGS:
            _add(context, element, description, taken, _label(element), partial(_own, context, element, TAGS[element.tag], frames, joints))


def _frame(context: Context, element: XmlElement, bodies: dict[str, BodyDescription]) -> FrameDescription | None:
    """<frame name link xyz rpy>."""
    import numpy as np

    name = context.name(element, "frame")
    label = f"frame {shorten(name)}" if name else "frame without a name"
    link = context.name(element, label, "link")
    xyz = context.vector(element, "xyz", 3, label, (0.0, 0.0, 0.0))
    rpy = context.vector(element, "rpy", 3, label, (0.0, 0.0, 0.0))
    if name is None or link is None or xyz is None or rpy is None:
        return None
    if link not in bodies:
        context.problem(element.line, label, f"there is no link {shorten(link)}{hint(link, bodies)}", "Add the link, or correct the name.")
        return None
    X = Placement(None if rpy == (0.0, 0.0, 0.0) else rotation_from_rpy(rpy), np.array(xyz))
    return FrameDescription(name, bodies[link], X, context.source(element))


def _label(element: XmlElement) -> str:
    return f"{_called(element)}, <{element.tag}>"


def _called(element: XmlElement) -> str:
    name = element.attributes.get("name")
    return f"force element {shorten(name)}" if name else "force element"


def _add(context: Context, element: XmlElement, description: RobotDescription, taken: Taken, label: str,
         make: Callable[[], Described | None]) -> None:
    """Add what make() gives; refusals of the classes become problems of this line."""
    try:
        made = make()
        if made is not None:
            made.source = context.source(element)
            made.add_to(description, taken)
    except ModelError as error:
        for problem in error.problems:
            context.problem(element.line, label, problem.reason, problem.remedy)
    except MbrosError as error:
        context.problem(element.line, label, str(error).partition(": ")[2] or str(error), "")


def _own(context: Context, element: XmlElement, tag: Tag, frames: dict[str, BodyDescription | FrameDescription],
         joints: dict[str, JointDescription]) -> Described | None:
    """One of mbros' tags; None when something in it is wrong."""
    label, before = _label(element), context.found
    for name in element.attributes:
        if name not in tag.attributes and not name.startswith(("xmlns", "xml:")):
            near = did_you_mean(name, tag.attributes)
            context.problem(element.line, label, f"attribute {shorten(name)} is unknown" + (f"; did you mean {near!r}?" if near else ""),
                            "It has " + ", ".join(tag.attributes) + ".")
    for child in element.children:
        context.problem(child.line, label, f"<{shorten(child.tag)[1:-1]}> is not allowed in it", "Everything is an attribute here.")
    places = [_joint(context, element, label, joints) if place == "joint" else _place(context, element, place, label, frames)
              for place in tag.places]
    make = getattr(importlib.import_module("mbros.describe.forces." + tag.module), tag.name)
    needed = inspect.signature(make).parameters
    options: dict[str, Any] = {word: element.attributes[word] for word in tag.words if word in element.attributes}
    for name, size in tag.numbers.items():
        if name in element.attributes:
            options[name] = _numbers(context, element, name, size or getattr(places[0], "nv", 1))
        elif needed[name].default is inspect.Parameter.empty or name == "stiffness":
            context.problem(element.line, label, f"attribute {name!r} is missing", f'Write {name}="...".')
    if "coordinate" in tag.attributes and "coordinate" in element.attributes:
        options["coordinate"] = _whole(context, element, label)
    if "name" in element.attributes and tag.kind != "stop":
        options["name"] = context.name(element, label)
    return make(*places, **options) if context.found == before else None


def _place(context: Context, element: XmlElement, attribute: str, label: str,
           frames: dict[str, BodyDescription | FrameDescription]) -> BodyDescription | FrameDescription | None:
    name = element.attributes.get(attribute)
    if name is None:
        context.problem(element.line, label, f"attribute {attribute!r} is missing", 'Give the name of a link, a <frame> or "world".')
    elif name not in frames:
        context.problem(element.line, label, f"{attribute}: there is no link or frame {shorten(name)}{hint(name, frames)}",
                        "Add it, or correct the name.")
    return None if name is None else frames.get(name)


def _joint(context: Context, element: XmlElement, label: str, joints: dict[str, JointDescription]) -> JointDescription | None:
    name = element.attributes.get("joint")
    if name is None:
        context.problem(element.line, label, "attribute 'joint' is missing", "Give the name of a joint.")
    elif name not in joints:
        context.problem(element.line, label, f"there is no joint {shorten(name)}{hint(name, joints)}", "Correct the name.")
    return None if name is None else joints.get(name)


def _numbers(context: Context, element: XmlElement, name: str, size: int) -> Any:
    """One number, or a list of `size`."""
    count = size if size > 1 and len(element.attributes[name].split()) != 1 else 1
    values = context.vector(element, name, count, _called(element))
    return None if values is None else values[0] if count == 1 else values


def _whole(context: Context, element: XmlElement, label: str) -> int | None:
    text = element.attributes["coordinate"]
    if not text.isdecimal() or not text.isascii() or len(text) > 3:
        context.problem(element.line, label, f"coordinate={shorten(text)} is not a whole number", "Give 0, 1, 2, ...")
        return None
    return int(text)


def _drake_bushing(context: Context, element: XmlElement, frames: dict[str, BodyDescription | FrameDescription]) -> Described | None:
    """Drake's tag: two frames by name and four triples."""
    before = context.found
    ends: list[Any] = []
    constants: list[Any] = []
    for tag in DRAKE_FRAMES:
        holder = context.one(element, tag, f"<{DRAKE}>", required=True)
        if holder is not None:
            ends.append(_place(context, holder, "name", f"<{DRAKE}>, <{tag}>", frames))
    for tag in DRAKE_NUMBERS:
        holder = context.one(element, tag, f"<{DRAKE}>", required=True)
        if holder is not None:
            constants.append(context.vector(holder, "value", 3, f"<{DRAKE}>"))
    return LinearBushingRollPitchYaw(*ends, *constants) if context.found == before else None
