"""What all constraints share before a model is built: a name, and the frames or joints they hold together."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from mbros_core.support.numbers import short

from mbros.arguments import check_name, refuse
from mbros.describe.copies import move_onto
from mbros.describe.robot import BodyDescription, FrameDescription
from mbros.errors import NOWHERE, MbrosError, Problem, UnbuiltError
from mbros.names import no_name
from mbros.spatial.given import unit_axis
from mbros.spatial.placement import align_z

if TYPE_CHECKING:
    from mbros.describe.copies import Copies
    from mbros.describe.robot import JointDescription, RobotDescription
    from mbros.spatial.placement import Placement
    from mbros_core.typing import Array, ArrayLike
    from typing_extensions import Self


class Constraint:
    """A constraint as a user describes it. kind: the engine's name of it (mbros_core.constraints.kinds). frame_a, frame_b: the frames that
    it holds, or joint_a, joint_b. parameters: its numbers, in the order of the kind's row."""

    kind = ""
    frame_a: FrameDescription | None = None
    frame_b: FrameDescription | None = None
    joint_a: JointDescription | None = None
    joint_b: JointDescription | None = None
    turns: tuple[Array, Array] | None = None      # of frame_a and frame_b to the axes that the engine's kind means
    robot = ""                         # the group it came in with

    def __init__(self, name: str) -> None:
        check_name("constraint", name)
        self.name, self.source = name, NOWHERE
        self.parameters: tuple[float, ...] = ()

    @property
    def _label(self) -> str:
        """How messages name it."""
        return f"constraint {self.name!r} ({self.kind})"

    @property
    def model(self) -> NoReturn:
        """The model that owns it: there is none yet."""
        raise UnbuiltError(f"{self._label} is a description and belongs to no model yet: build() makes one, and "
                           f"model.constraints[{self.name!r}] is its constraint there")

    def _between(self, frame_a: object, frame_b: object) -> None:
        self.frame_a, self.frame_b = self._frame("frame_a", frame_a), self._frame("frame_b", frame_b)
        if self.frame_a.body is self.frame_b.body:
            refuse(self._label, f"frame_a {self.frame_a.name!r} and frame_b {self.frame_b.name!r} are both on body "
                   f"{self.frame_a.body.name!r}", "Take frames of two bodies.")

    def _along(self, axis: ArrayLike) -> None:
        """An axis in the axes of each frame: z of the engine's kinds."""
        self.axis = unit_axis(self._label, axis, normalize=None)
        turn = align_z(self.axis)
        self.turns = turn, turn

    def _frame(self, role: str, at: object) -> FrameDescription:
        if isinstance(at, FrameDescription):
            return at
        if isinstance(at, BodyDescription):
            return at.frame
        refuse(self._label, f"{role} is {short(at)}", "Give a body (b.add_body(...), b.world) or a frame (b.add_frame(...), body.frame).")

    def where(self) -> str:
        """What it holds together."""
        ends = (self.frame_a, self.frame_b) if self.frame_a is not None else (self.joint_a, self.joint_b)
        return " and ".join(repr(end.name) for end in ends if end is not None)

    def copied(self, copies: Copies) -> Self:
        """For a copy of its description (mbros.describe.copies)."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        for side in ("frame_a", "frame_b"):
            if getattr(self, side) is not None:
                setattr(other, side, copies.frame(getattr(self, side)))
        for side in ("joint_a", "joint_b"):
            if getattr(self, side) is not None:
                setattr(other, side, copies.joint(getattr(self, side)))
        return other

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}: {self.where()}>"


def add(description: RobotDescription, constraint: Any) -> Any:
    """ModelBuilder.add_constraint."""
    if not isinstance(constraint, Constraint):
        raise MbrosError(f"model {description.name!r}: add_constraint() was given {short(constraint)}; expected a constraint such as "
                         "mbros.BallConstraint(name, frame_a, frame_b)")
    if any(other is constraint for other in description.constraints):
        refuse(constraint._label, "it was added before", "Make another one.")
    description.constraints.append(constraint)
    return constraint


def check_constraints(description: RobotDescription) -> list[Problem]:
    """Problems that need the whole robot: names, frames and joints of another model."""
    found: list[Problem] = []
    names: dict[str, Constraint] = {}

    def note(constraint: Constraint, reason: str, remedy: str) -> None:
        found.append(Problem(constraint._label, reason, remedy, constraint.source.file, constraint.source.line))

    bodies = {id(body) for body in description.bodies} | {id(description.world)}
    frames = {id(at) for at in description.frames}
    joints = {id(joint) for joint in description.joints}
    for constraint in description.constraints:
        wrong = no_name(constraint.name)
        if wrong is not None:
            note(constraint, *wrong)
        if names.setdefault(constraint.name, constraint) is not constraint:
            note(constraint, "this name is already taken by another constraint", "Give every constraint a name of its own.")
        for role, at in (("frame_a", constraint.frame_a), ("frame_b", constraint.frame_b)):
            if at is not None and id(at.body) not in bodies:
                note(constraint, f"its {role} {at.name!r} belongs to another model", "Use the frames of this one.")
            elif at is not None and id(at) not in frames and at.name != at.body.name:
                note(constraint, f"its {role} {at.name!r} is not a frame of the model", "Add it with add_frame().")
        for role, joint in (("joint_a", constraint.joint_a), ("joint_b", constraint.joint_b)):
            if joint is not None and id(joint) not in joints:
                note(constraint, f"its {role} {joint.name!r} belongs to another model", "Use the joints of this one.")
    return found


def keep_constraints(description: RobotDescription) -> None:
    """Drop the constraints that touch anything but the description's own bodies and joints, as a subtree's world is another."""
    bodies = {id(body) for body in description.bodies}
    joints = {id(joint) for joint in description.joints}
    description.constraints = [
        constraint for constraint in description.constraints
        if all(at is None or id(at.body) in bodies for at in (constraint.frame_a, constraint.frame_b))
        and all(joint is None or id(joint) in joints for joint in (constraint.joint_a, constraint.joint_b))]


def graft_constraints(theirs: RobotDescription, mine: RobotDescription, name: str, body: BodyDescription, X_BW: Placement) -> None:
    """Take over the constraints of `theirs`, whose bodies, joints and frames have been renamed and moved over to `mine`; its world stands
    on `body` at X_BW."""
    mine.constraints += move_onto(theirs.constraints, ("frame_a", "frame_b"), theirs, mine, name, body, X_BW)
