"""The constraint classes users make: what closes a loop of bodies, and what couples two coordinates.

    b.add_constraint(mbros.BallConstraint("loop", coupler_end, rocker_end))
    b.add_constraint(mbros.CouplerConstraint("gear", wheel, motor, ratio=-0.25))
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbros_core.support.numbers import short

from mbros.arguments import flag, numbers, refuse
from mbros.describe.constraints.constraint import Constraint
from mbros.describe.robot import JointDescription
from mbros.spatial.given import unit_axis
from mbros.spatial.placement import align_z

if TYPE_CHECKING:
    from mbros.describe.robot import BodyDescription, FrameDescription
    from mbros_core.typing import ArrayLike


MOST_RATIO = 1e6        # of a coupler: beyond, the inertia that one side moves is lost in the other's digits


class BallConstraint(Constraint):
    """The origins of frame_a and frame_b stay together (3 rows, m)."""

    kind = "ball"

    def __init__(self, name: str, frame_a: BodyDescription | FrameDescription, frame_b: BodyDescription | FrameDescription) -> None:
        super().__init__(name)
        self._between(frame_a, frame_b)


class WeldConstraint(Constraint):
    """frame_a and frame_b stay together (3 rows in m, 3 in rad)."""

    kind = "weld"

    def __init__(self, name: str, frame_a: BodyDescription | FrameDescription, frame_b: BodyDescription | FrameDescription) -> None:
        super().__init__(name)
        self._between(frame_a, frame_b)


class HingeConstraint(Constraint):
    """The origins of frame_a and frame_b stay together, and so does the axis (3,), given in the axes of each (3 rows in m, 2 in rad)."""

    kind = "hinge"

    def __init__(self, name: str, frame_a: BodyDescription | FrameDescription, frame_b: BodyDescription | FrameDescription,
                 axis: ArrayLike = (0.0, 0.0, 1.0)) -> None:
        super().__init__(name)
        self._between(frame_a, frame_b)
        self._along(axis)


class UniversalConstraint(Constraint):
    """The origins of frame_a and frame_b stay together, and axis_a (3,), in frame_a, and axis_b, in frame_b, stay at right angles: a Cardan
    joint, whose cross turns about axis_a on one side and about axis_b on the other (3 rows in m, 1 in rad)."""

    kind = "universal"

    def __init__(self, name: str, frame_a: BodyDescription | FrameDescription, frame_b: BodyDescription | FrameDescription,
                 axis_a: ArrayLike = (1.0, 0.0, 0.0), axis_b: ArrayLike = (0.0, 1.0, 0.0)) -> None:
        super().__init__(name)
        self._between(frame_a, frame_b)
        self.axis_a, self.axis_b = (unit_axis(self._label, axis, normalize=None) for axis in (axis_a, axis_b))
        self.turns = align_z(self.axis_a)[:, [2, 0, 1]], align_z(self.axis_b)[:, [1, 2, 0]]


class PrismaticConstraint(Constraint):
    """frame_b slides along the axis (3,), given in the axes of each frame, through frame_a's origin, and does not turn against frame_a
    (2 rows in m, 3 in rad)."""

    kind = "prismatic"

    def __init__(self, name: str, frame_a: BodyDescription | FrameDescription, frame_b: BodyDescription | FrameDescription,
                 axis: ArrayLike = (0.0, 0.0, 1.0)) -> None:
        super().__init__(name)
        self._between(frame_a, frame_b)
        self._along(axis)


class CylindricalConstraint(Constraint):
    """frame_b slides along the axis (3,), given in the axes of each frame, through frame_a's origin, and turns about it (2 rows in m,
    2 in rad)."""

    kind = "cylindrical"

    def __init__(self, name: str, frame_a: BodyDescription | FrameDescription, frame_b: BodyDescription | FrameDescription,
                 axis: ArrayLike = (0.0, 0.0, 1.0)) -> None:
        super().__init__(name)
        self._between(frame_a, frame_b)
        self._along(axis)


class PlanarConstraint(Constraint):
    """frame_b slides in the plane through frame_a's origin at right angles to the axis (3,), given in the axes of each frame, and turns
    about it (1 row in m, 2 in rad)."""

    kind = "planar"

    def __init__(self, name: str, frame_a: BodyDescription | FrameDescription, frame_b: BodyDescription | FrameDescription,
                 axis: ArrayLike = (0.0, 0.0, 1.0)) -> None:
        super().__init__(name)
        self._between(frame_a, frame_b)
        self._along(axis)


class DistanceConstraint(Constraint):
    """The origins of frame_a and frame_b stay `length` (m) apart: a rod without mass; with rope=True, at most that (1 row, m)."""

    kind = "distance"

    def __init__(self, name: str, frame_a: BodyDescription | FrameDescription, frame_b: BodyDescription | FrameDescription, length: float,
                 rope: bool = False) -> None:
        super().__init__(name)
        self._between(frame_a, frame_b)
        self.length, self.rope = float(numbers(self._label, "length", length, 1)[0]), flag(self._label, "rope", rope)
        if not self.length > 0.0:
            refuse(self._label, f"length is {self.length:g} m", "Give a length above zero; a BallConstraint keeps points together.")
        self.parameters = self.length, float(self.rope)


class CouplerConstraint(Constraint):
    """q_a = ratio q_b + offset (rad or m), of two joints with one axis: gears, belts, racks, pulleys (1 row). What a mimic joint does, but
    with a force of its own, and coordinates of their own on both sides, which may stand on moving bodies."""

    kind = "coupler"

    def __init__(self, name: str, joint_a: JointDescription, joint_b: JointDescription, ratio: float = 1.0, offset: float = 0.0) -> None:
        super().__init__(name)
        self.joint_a, self.joint_b = self._joint("joint_a", joint_a), self._joint("joint_b", joint_b)
        if joint_a is joint_b:
            refuse(self._label, f"joint_a and joint_b are both {joint_a.name!r}", "Take two joints.")
        self.ratio, self.offset = float(numbers(self._label, "ratio", ratio, 1)[0]), float(numbers(self._label, "offset", offset, 1)[0])
        if self.ratio == 0.0:
            refuse(self._label, "ratio is 0", "Give another one, or lock joint_a.")
        if not 1.0 / MOST_RATIO <= abs(self.ratio) <= MOST_RATIO:
            refuse(self._label, f"ratio is {self.ratio:g}",
                   f"Its size must be {1.0 / MOST_RATIO:g} to {MOST_RATIO:g}: beyond, one side has no digits.")

    def _joint(self, role: str, joint: Any) -> JointDescription:
        if not isinstance(joint, JointDescription):
            refuse(self._label, f"{role} is {short(joint)}", "Give a joint: what b.add_joint(...) or b.joint(name) returned.")
        if joint.nv != 1 or joint.nq != 1:
            refuse(self._label, f"{role} {joint.name!r} is a {joint.kind} joint with {joint.nq} positions and {joint.nv} velocities",
                   "Take a joint with one of each, such as a revolute or prismatic one.")
        return joint


CLASSES = (BallConstraint, WeldConstraint, HingeConstraint, DistanceConstraint, CouplerConstraint, UniversalConstraint, PrismaticConstraint,
           CylindricalConstraint, PlanarConstraint)
BY_KIND = {cls.kind: cls for cls in CLASSES}

__all__ = [cls.__name__ for cls in CLASSES]
