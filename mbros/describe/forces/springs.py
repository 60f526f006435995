"""Springs, dampers, friction: between two points, and on the coordinates of joints."""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbros.arguments import not_negative, numbers, refuse
from mbros.describe.forces.element import Described, Taken
from mbros.describe.joints.limits import pair

if TYPE_CHECKING:
    from mbros.describe.joints.joint import JointDescription
    from mbros.describe.robot import BodyDescription, FrameDescription, RobotDescription
    from mbros_core.typing import ArrayLike


class LinearSpringDamper(Described):
    """A spring and damper between two points, Ao of frame A and Co of frame C (Drake's LinearSpringDamper).

    It pulls the points together with k (l - free_length) + c ldot: stiffness k in N/m, damping c in N s/m, free_length in m,
    none negative. Where the points coincide it has no direction and does not push.
    """

    kind, called = "spring_damper", "spring damper"

    def __init__(self, frame_A: BodyDescription | FrameDescription, frame_C: BodyDescription | FrameDescription, free_length: float,
                 stiffness: float, damping: float = 0.0, *, name: str | None = None) -> None:
        super().__init__(name)
        self._between(frame_A, frame_C)
        self._numbers(free_length=free_length, stiffness=stiffness, damping=damping)


class JointSpring(Described):
    """A spring and damper on one coordinate of a joint: tau = -stiffness (q - position) - damping v.

    position: rad or m, where the spring is at rest. stiffness (needed): N m/rad or N/m. coordinate: which of a joint with several.
    """

    kind, called = "joint_spring", "joint spring"
    unit: str | None = None                      # the unit of the coordinate a subclass insists on

    def __init__(self, joint: JointDescription, position: float = 0.0, stiffness: float | None = None, damping: float = 0.0, *,
                 coordinate: int | None = None, name: str | None = None) -> None:
        super().__init__(name)
        if stiffness is None:
            refuse(self._label, "it has no stiffness", "Give stiffness=... (N m/rad or N/m).")
        self._on_joint(joint, coordinate)
        if self.unit is not None and _unit(joint, self.coordinate) != self.unit:
            word = "turn" if self.unit == "rad" else "slide"
            refuse(self._label, f"joint {joint.name!r} is a {joint.kind} joint, whose coordinate {self.coordinate} does not {word}",
                   "Take mbros.JointSpring, which fits both.")
        self._numbers(position=position, stiffness=stiffness, damping=damping)


class RevoluteSpring(JointSpring):
    """JointSpring on an angle, Drake's RevoluteSpring: position in rad, stiffness in N m/rad, damping in N m s/rad."""

    called, unit = "revolute spring", "rad"


TorsionSpring = RevoluteSpring


class PrismaticSpring(JointSpring):
    """JointSpring on a length, Drake's PrismaticSpring: position in m, stiffness in N/m, damping in N s/m."""

    called, unit = "prismatic spring", "m"


class DoorHinge(Described):
    """A door's hinge on a turning coordinate (Drake's DoorHinge): torsion spring, catch, and friction of three kinds.

    spring_position (rad), spring_stiffness (N m/rad); catch_torque (N m), the largest with which the catch pulls towards 0, and
    catch_width (rad), over which it acts; dynamic_friction, static_friction (N m); viscous_friction (N m s/rad); and
    motion_threshold (rad/s), the speed over which friction builds up.
    """

    kind, called = "door_hinge", "door hinge"

    def __init__(self, joint: JointDescription, *, spring_position: float = 0.0, spring_stiffness: float = 0.0, catch_torque: float = 0.0,
                 catch_width: float = 0.02, dynamic_friction: float = 0.0,
                 static_friction: float = 0.0, viscous_friction: float = 0.0, motion_threshold: float = 0.001,
                 coordinate: int | None = None, name: str | None = None) -> None:
        super().__init__(name)
        self._on_joint(joint, coordinate)
        if _unit(joint, self.coordinate) != "rad":
            refuse(self._label, f"joint {joint.name!r} is a {joint.kind} joint, whose coordinate {self.coordinate} does not turn",
                   "A door turns on its hinge.")
        self._numbers(spring_position=spring_position, spring_stiffness=spring_stiffness, catch_torque=catch_torque,
                      catch_width=catch_width, dynamic_friction=dynamic_friction, static_friction=static_friction,
                      viscous_friction=viscous_friction, motion_threshold=motion_threshold)


class StribeckFriction(Described):
    """Coulomb, Stribeck and viscous friction on one velocity coordinate of a joint.

    coulomb: sliding, breakaway: at rest (N m or N, breakaway the larger; None: the same); stribeck_speed: over which one
    becomes the other, smoothing_speed: the width of the passage through zero (rad/s or m/s); viscous (N m s/rad or N s/m).
    """

    kind, called = "stribeck", "stribeck friction"

    def __init__(self, joint: JointDescription, coulomb: float, breakaway: float | None = None, *, stribeck_speed: float = 0.01,
                 smoothing_speed: float = 0.001, viscous: float = 0.0, coordinate: int | None = None,
                 name: str | None = None) -> None:
        super().__init__(name)
        self._on_joint(joint, coordinate)
        self._numbers(coulomb=coulomb, breakaway=coulomb if breakaway is None else breakaway, stribeck_speed=stribeck_speed,
                      smoothing_speed=smoothing_speed, viscous=viscous)


class JointStop(Described):
    """The stops of a joint at its position limits: tau = -max(0, stiffness x + damping v), x how far beyond; never pulls.

    Stops belong to the joint: adding this sets the joint's own stop_stiffness (N m/rad or N/m) and stop_damping, and its lower
    and upper limits where given. Every stop of a model, also those that come with limits by default, is among
    model.force_elements under the name "<joint>.stop".
    """

    kind, called = "stop", "joint stop"

    def __init__(self, joint: JointDescription, stiffness: ArrayLike, damping: ArrayLike = 0.0, *, lower: ArrayLike | None = None,
                 upper: ArrayLike | None = None) -> None:
        super().__init__()
        self._on_joint(joint, 0)
        self._stop = f"stop of joint {joint.name!r}"
        stiffness, damping = (not_negative(self._stop, what, numbers(self._stop, what, value, joint.nv, broadcast=True))
                              for what, value in (("stiffness", stiffness), ("damping", damping)))
        lower, upper = (None if value is None else numbers(self._stop, what, value, joint.nq, finite=False, broadcast=True)
                        for what, value in (("lower", lower), ("upper", upper)))
        self.values = {"stiffness": stiffness, "damping": damping, "lower": lower, "upper": upper}

    def add_to(self, description: RobotDescription, taken: Taken | None = None) -> None:
        """Sets the joint's stops; nothing joins the description's own list."""
        joint = self.joint
        assert joint is not None
        if taken is None and not any(joint is mine for mine in description.joints):
            refuse(self._stop, "the joint belongs to another model", "Use the joints of this one.")
        if joint.mimic is not None:
            refuse(self._stop, f"the joint follows {joint.mimic.leader!r}", f"Stop {joint.mimic.leader!r} instead.")
        lower, upper = (getattr(joint, side) if self.values[side] is None else self.values[side] for side in ("lower", "upper"))
        joint.lower, joint.upper = pair(self._stop, "position", (lower, upper), joint.nq)
        joint.stop_stiffness, joint.stop_damping = np.array(self.values["stiffness"]), np.array(self.values["damping"])


def _unit(joint: JointDescription, coordinate: int) -> str:
    """"rad" or "m": what the rate of a velocity coordinate's unit is of."""
    from mbros_core.joints.registry import BY_NAME

    kind = {"continuous": "revolute"}.get(joint.kind, joint.kind)
    return BY_NAME[kind].velocity_units[coordinate].partition("/")[0] if kind in BY_NAME else ""
