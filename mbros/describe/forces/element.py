"""What all force elements share before a model is built: a name, what they act on, their numbers."""
from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from mbros_core.forces.registry import BY_NAME
from mbros_core.support.numbers import short

from mbros.arguments import check_name, is_whole, refuse
from mbros.describe.copies import move_onto
from mbros.describe.forces.groups import groups, row
from mbros.describe.robot import BodyDescription, FrameDescription, JointDescription
from mbros.errors import NOWHERE, MbrosError, Problem, UnbuiltError, UnknownAttributeError
from mbros.names import no_name

if TYPE_CHECKING:
    from mbros.describe.copies import Copies
    from mbros.describe.robot import RobotDescription
    from mbros.spatial.placement import Placement
    from typing_extensions import Self


class Taken:
    """The names of a description's force elements."""

    def __init__(self, description: RobotDescription) -> None:
        self.names = {element.name for element in description.force_elements}
        self._numbers: dict[str, int] = {}

    def next(self, stem: str) -> str:
        """The first of stem0, stem1, ... that nothing has."""
        k = self._numbers.get(stem, 0)
        while f"{stem}{k}" in self.names:
            k += 1
        self._numbers[stem] = k
        return f"{stem}{k}"


class Described:
    """A force element as a user describes it. kind: the engine's name of its law. values: {parameter group: value}, checked.

    frame_a, frame_c: the frames it acts between (frame_a None: it acts on C's body alone); or joint and coordinate, the place
    among the joint's velocities. Unused ones are None. name: None until the element is added to a model.
    """

    kind = ""
    called = "force element"           # the word for its kind in messages
    frame_a: FrameDescription | None = None
    frame_c: FrameDescription | None = None
    joint: JointDescription | None = None
    coordinate = 0
    robot = ""                         # the group it came in with
    original: Described | None = None                    # of a copy: the user's own object, whose functions run

    def __init__(self, name: str | None = None) -> None:
        if name is not None:
            check_name("force element", name)
        self.name, self.source = name, NOWHERE
        self.parameters = np.zeros(16)
        self.values: dict[str, Any] = {}

    def __setattr__(self, name: str, value: object) -> None:
        if name in self.__dict__.get("values", ()):
            raise UnknownAttributeError(f"{self._label}: {name} is given when it is made; of a built model, "
                                        f"element.set_{name}(state, ...) changes it in a state")
        object.__setattr__(self, name, value)

    @property
    def _label(self) -> str:
        """How messages name it."""
        return f"force element {self.name!r} ({self.called})" if self.name else self.called

    @property
    def acts_on(self) -> str:
        """"pair", "coordinate" or "body"."""
        return BY_NAME[self.kind].acts_on if self.kind in BY_NAME else "pair"

    @property
    def model(self) -> NoReturn:
        """The model that owns it: there is none yet."""
        raise UnbuiltError(f"{self._label} is a description and belongs to no model yet: build() makes one, and "
                           f"model.force_elements[{self.name!r}] is its element there")

    def _numbers(self, **values: Any) -> None:
        """Check and keep the parameters."""
        self.parameters = row(self._label, self.kind, values)
        self.values = {name: self.parameters[group.place] if group.size > 1 else float(self.parameters[group.start])
                       for name, group in groups(self.kind).items()}

    def _between(self, frame_A: object, frame_C: object) -> None:
        self.frame_a, self.frame_c = frame(self, "frame_A", frame_A), frame(self, "frame_C", frame_C)

    def _on_body(self, at: object) -> None:
        self.frame_c = frame(self, "body", at)

    def _on_joint(self, joint: object, coordinate: Any) -> None:
        if not isinstance(joint, JointDescription):
            refuse(self._label, f"joint is {short(joint)}", "Give a joint: what b.add_joint(...) or b.joint(name) returned.")
        if joint.nv == 0:
            refuse(self._label, f"joint {joint.name!r} is a {joint.kind} joint and does not move", "Take a joint that does.")
        if coordinate is None:
            if joint.nv > 1:
                refuse(self._label, f"joint {joint.name!r} ({joint.kind}) has {joint.nv} velocities and no coordinate was given",
                       f"Say which with coordinate=0 .. {joint.nv - 1}.")
            coordinate = 0
        if not is_whole(coordinate) or not 0 <= coordinate < joint.nv:
            refuse(self._label, f"coordinate is {short(coordinate)}; joint {joint.name!r} ({joint.kind}) has {joint.nv}",
                   f"Give 0 .. {joint.nv - 1}.")
        self.joint, self.coordinate = joint, int(coordinate)

    def where(self) -> str:
        if self.joint is not None:
            place = f", coordinate {self.coordinate}" if self.joint.nv > 1 else ""
            return f"on joint {self.joint.name!r}{place}"
        assert self.frame_c is not None
        if self.frame_a is None:
            return f"on {self.frame_c.name!r}"
        return f"{self.frame_a.name!r} to {self.frame_c.name!r}"

    def add_to(self, description: RobotDescription, taken: Taken | None = None) -> None:
        """Join a description under a name of its own. taken: of the description, for one that was just made; then what it costs does not
        grow with the description."""
        if taken is None:
            if any(element is self for element in description.force_elements):
                refuse(self._label, "it was added before", "Make another one.")
            taken = Taken(description)
        if self.name is None:
            self.name = taken.next(self.called.replace(" ", "_"))
        taken.names.add(self.name)
        description.force_elements.append(self)

    def copied(self, copies: Copies) -> Self:
        """For a copy of its description (mbros.describe.copies). One with functions of its own goes on calling those of the user's
        object."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__, parameters=np.array(self.parameters), values=deepcopy(self.values))
        if self.kind == "user":
            other.original = self.original or self
        for side in ("frame_a", "frame_c"):
            if getattr(self, side) is not None:
                setattr(other, side, copies.frame(getattr(self, side)))
        if self.joint is not None:
            other.joint = copies.joint(self.joint)
        return other

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}: {self.where()}>"


def frame(element: Described, role: str, at: object) -> FrameDescription:
    """The description's Frame of what a user gave: a frame, or a body for its own frame."""
    if isinstance(at, FrameDescription):
        return at
    if isinstance(at, BodyDescription):
        return at.frame
    refuse(element._label, f"{role} is {short(at)}", "Give a body (b.add_body(...), b.world) or a frame (b.add_frame(...), body.frame).")


def add(description: RobotDescription, element: Any) -> Any:
    """ModelBuilder.add_force_element."""
    if not isinstance(element, Described):
        raise MbrosError(f"model {description.name!r}: add_force_element() was given {short(element)}; expected a force element such as "
                         "mbros.LinearBushingRollPitchYaw(frame_A, frame_C, ...)")
    element.add_to(description)
    return element


def check_elements(description: RobotDescription) -> list[Problem]:
    """Problems that need the whole robot: names, frames and joints of another model."""
    found: list[Problem] = []
    names: dict[str | None, Described] = {}

    def note(element: Described, reason: str, remedy: str) -> None:
        found.append(Problem(element._label, reason, remedy, element.source.file, element.source.line))

    bodies = {id(body) for body in description.bodies} | {id(description.world)}
    frames = {id(at) for at in description.frames}
    joints = {id(joint) for joint in description.joints}
    for element in description.force_elements:
        wrong = no_name(element.name)
        if wrong is not None:
            note(element, *wrong)
        first = names.setdefault(element.name, element)
        if first is not element:
            place = f" at line {first.source.line}" if first.source.line is not None else ""
            note(element, f"this name is already taken by another force element{place}", "Give every element a name of its own.")
        for role, at in (("frame A", element.frame_a), ("frame C", element.frame_c)):
            if at is not None and id(at.body) not in bodies:
                note(element, f"its {role} {at.name!r} belongs to another model", "Use the frames of this one.")
            elif at is not None and id(at) not in frames and at.name != at.body.name:
                note(element, f"its {role} {at.name!r} is not a frame of the model", "Add it with add_frame().")
        if element.joint is not None and id(element.joint) not in joints:
            note(element, f"its joint {element.joint.name!r} belongs to another model", "Use the joints of this one.")
    return found


def keep_elements(description: RobotDescription) -> None:
    """Drop the elements that touch anything but the description's own bodies and joints: a subtree's world is not where the
    whole robot's was."""
    bodies = {id(body) for body in description.bodies}
    joints = {id(joint) for joint in description.joints}
    description.force_elements = [
        element for element in description.force_elements
        if (element.joint is None or id(element.joint) in joints)
        and all(at is None or id(at.body) in bodies for at in (element.frame_a, element.frame_c))]


def graft_elements(theirs: RobotDescription, mine: RobotDescription, name: str, body: BodyDescription, X_BW: Placement) -> None:
    """Take over the elements of `theirs`, whose bodies, joints and frames have been renamed and moved over to `mine`; its world
    stands on `body` at X_BW."""
    mine.force_elements += move_onto(theirs.force_elements, ("frame_a", "frame_c"), theirs, mine, name, body, X_BW)
