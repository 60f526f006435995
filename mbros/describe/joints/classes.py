"""The joints users write: mbros.RevoluteJoint("elbow", upper, fore, axis=(0, 1, 0), damping=0.1), and so on.

Every class takes, by keyword: lower, upper (nq,) or limits=JointLimits(...), velocity, effort, damping, friction, rotor_inertia,
gear_ratio, stop_stiffness, stop_damping (nv,), default (nq,), and the pose of F on the parent: p (m) and one of rpy (rad), quat_wxyz,
quat_xyzw and R, or pose. One number given for several coordinates is used for all. `parent` and `child` are bodies or frames; F is
on the parent, M is the child frame.
parent=None: not inserted yet, see JointDescription.add_child; the pose is then the one in the world.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Union

import numpy as np
from mbros_core.support.numbers import short

from mbros.arguments import check_name, flag, is_whole, numbers, refuse
from mbros.describe.joints import limits as joint_limits
from mbros.describe.joints.joint import JointDescription
from mbros.describe.joints.kinds import ONE_AXIS, six_from_pair, sizes
from mbros.describe.robot import BodyDescription, FrameDescription, Mimic
from mbros.errors import ModelError, Problem, UnknownArgumentError, unknown
from mbros.names import did_you_mean
from mbros.spatial.given import AXIS_TOLERANCE, placement, says_quaternion, unit_axis
from mbros.spatial.placement import Placement

if TYPE_CHECKING:
    from mbros.describe.robot import RobotDescription
    from mbros_core.typing import Array, ArrayLike

OF_POSITIONS = ("lower", "upper", "default")
MAY_BE_INFINITE = ("lower", "upper", "velocity", "effort")
OPTIONS = (*OF_POSITIONS, "velocity", "effort", "damping", "friction", "rotor_inertia", "gear_ratio", "stop_stiffness",
           "stop_damping")
Place = Union[BodyDescription, FrameDescription, str]        # where something is put: a body or frame, or its name
POSE = ("p", "rpy", "quat_wxyz", "quat_xyzw", "R", "pose")


def attachment(element: str, role: str, at: object, of: RobotDescription | None = None) -> tuple[BodyDescription, Placement]:
    """The body of a body or frame, and where on it; of a name, in the description `of`."""
    if isinstance(at, str) and of is not None:
        places: list[BodyDescription | FrameDescription] = [of.world, *of.bodies, *of.frames]
        found = next((place for place in places if place.name == at), None)
        if found is None:
            raise ModelError(Problem(element, str(unknown(f"{role}: body or frame", at, f"model {of.name!r}", [
                place.name for place in places]).args[0])))
        at = found
    if isinstance(at, BodyDescription):
        return at, Placement()
    if isinstance(at, FrameDescription):
        return at.body, at.X_BF
    refuse(element, f"{role} is {short(at)}", "Give a body (b.add_body(...), b.world) or a frame (b.add_frame(...)), or its name.")


def _end(element: str, role: str, at: Any) -> tuple[Any, Placement]:
    """Of a joint that is in no builder yet: a name stays one until it is added."""
    return (at, Placement()) if at is None or isinstance(at, str) else attachment(element, role, at)


class UserJoint(JointDescription):
    """What the joint classes share. KIND: a kind of the registry."""

    __slots__ = ()
    KIND = ""

    def __init__(self, name: str, parent: Place | None, child: Place,
                 **options: Any) -> None:
        self._setup(self.KIND, name, parent, child, None, options)

    def _setup(self, kind: str, name: str, parent: Place | None, child: Place,
               axis: ArrayLike | None, options: dict[str, Any], parameters: Sequence[float] = ()) -> None:
        check_name("joint", name)
        element = f"joint {name!r}"
        parent_body, X_PF = _end(element, "parent", parent)
        child_body, X_BM = _end(element, "child", child)
        if child is None:
            attachment(element, "child", child)
        pose = {key: options.pop(key) for key in list(options) if key in (*POSE, "xyz") or key not in OPTIONS and says_quaternion(key)}
        if any(value is not None for value in pose.values()):
            X_PF = X_PF @ placement(element, **pose)
        if axis is not None:
            tolerance = float(numbers(element, "axis_tolerance", options.pop("axis_tolerance", AXIS_TOLERANCE), 1)[0])
            axis = unit_axis(element, axis, tolerance, flag(element, "normalize_axis", options.pop("normalize_axis", False)))
        JointDescription.__init__(self, name, kind, parent_body, child_body, X_PF, X_BM, axis, None, parameters)
        self._take(element, options)

    def _take(self, element: str, options: dict[str, Any]) -> None:
        nq, nv = sizes(self.kind)
        mimic, limits = options.pop("mimic", None), options.pop("limits", None)
        self.locked = flag(element, "locked", options.pop("locked", False))
        for option, value in options.items():
            if option not in OPTIONS or not nv:
                known = (*((*OPTIONS, "limits", "mimic", "locked") if nv else ()), *POSE)
                near = did_you_mean(option, known)
                raise UnknownArgumentError(f"{type(self).__name__}() got an unexpected option {short(option)}"
                                           + (f", did you mean {near!r}?" if near else "") + f"; it takes {', '.join(known)}")
            if value is not None:
                size = nq if option in OF_POSITIONS else nv
                value = six_from_pair(self.kind, value) if option == "damping" else value
                setattr(self, option, numbers(element, option, value, size, option not in MAY_BE_INFINITE, broadcast=option != "default"))
        if limits is not None:
            self._take_limits(element, limits, options)
        if mimic is not None:
            if self.kind not in ONE_AXIS:
                refuse(element, f"a {self.kind} joint cannot mimic another", "Only joints with one coordinate can.")
            self.mimic = mimic_rule(element, mimic)

    def _take_limits(self, element: str, given: object, options: dict[str, Any]) -> None:
        if not isinstance(given, joint_limits.JointLimits):
            refuse(element, f"limits is {short(given)}", "Give mbros.JointLimits(position=(lower, upper), velocity=..., acceleration=..., "
                   "effort=...).")
        for what, setter, others in (("position", self.set_position_limits, ("lower", "upper")),
                                     ("velocity", self.set_velocity_limits, ("velocity",)),
                                     ("acceleration", self.set_acceleration_limits, ()),
                                     ("effort", self._set_effort_limits, ("effort",))):
            pair = getattr(given, what)
            if pair is None:
                continue
            twice = [name for name in others if options.get(name) is not None]
            if twice:
                refuse(element, f"its {what} limits are given twice: by limits= and by {twice[0]}=", "Give one of them.")
            setter(*joint_limits.pair(element, what, pair, self.nq if what == "position" else self.nv))


    def _set_effort_limits(self, lower: Array, upper: Array) -> None:
        if (lower != -upper).any():
            refuse(self._label, f"its effort limits are {lower.tolist()} and {upper.tolist()}", "They are symmetric: give effort=(-e, e).")
        self.effort = upper


def mimic_rule(element: str, mimic: Any) -> Mimic:
    if isinstance(mimic, Mimic):
        return mimic
    leader, *given = mimic if isinstance(mimic, (tuple, list)) and mimic else (mimic,)
    leader = getattr(leader, "name", leader)
    if not isinstance(leader, str) or len(given) > 2:
        refuse(element, f"mimic is {short(mimic)}", "Give a joint, its name, or (joint, ratio, offset).")
    ratio, offset = (list(given) + [1.0, 0.0][len(given):])
    return Mimic(leader, float(numbers(element, "mimic ratio", ratio, 1)[0]),
                 float(numbers(element, "mimic offset", offset, 1)[0]))


class _AxisJoint(UserJoint):
    """axis: a unit vector in F, to 1e-6 (axis_tolerance=); normalize_axis=True takes any vector but zero."""

    __slots__ = ()

    def __init__(self, name: str, parent: Place | None, child: Place,
                 axis: ArrayLike = (0, 0, 1), **options: Any) -> None:
        self._setup(self.KIND, name, parent, child, axis, options)


class RevoluteJoint(_AxisJoint):
    """Rotation about `axis`, the same vector in F and M: q = (angle,) rad, not wrapped. May follow another: mimic=."""

    __slots__ = ()
    KIND = "revolute"


class PrismaticJoint(_AxisJoint):
    """Translation along `axis`: q = (displacement,) m. May follow another: mimic=."""

    __slots__ = ()
    KIND = "prismatic"


class CylindricalJoint(_AxisJoint):
    """Rotation about and translation along `axis`: q = (angle, displacement)."""

    __slots__ = ()
    KIND = "cylindrical"


class ContinuousJoint(_AxisJoint):
    """Rotation about `axis` without position limits: q = (angle,) or, with representation="cos_sin", q = (cos, sin)."""

    __slots__ = ()
    KIND = "continuous"

    def __init__(self, name: str, parent: Place | None, child: Place,
                 axis: ArrayLike = (0, 0, 1), *, representation: str = "angle", **options: Any) -> None:
        if not isinstance(representation, str) or representation not in ("angle", "cos_sin"):
            refuse(f"joint {name!r}", f"representation is {short(representation)}", "Give 'angle' or 'cos_sin'.")
        self._setup("circular" if representation == "cos_sin" else "continuous", name, parent, child, axis, options)


class BoundedRotation(UserJoint):
    """HPP's jointRotation::Bounded: a revolute joint about the x axis of its frame, within [-pi, pi] by default."""

    __slots__ = ()
    KIND = "revolute"

    def __init__(self, name: str, parent: Place | None, child: Place,
                 **options: Any) -> None:
        if getattr(options.get("limits"), "position", None) is None:
            options = {**options, **{side: bound for side, bound in (("lower", -np.pi), ("upper", np.pi)) if options.get(side) is None}}
        self._setup(self.KIND, name, parent, child, (1, 0, 0), options)


class ScrewJoint(_AxisJoint):
    """Rotation about `axis` with a translation of pitch_m_per_rad * q along it: q = (angle,) rad."""

    __slots__ = ()
    KIND = "screw"

    def __init__(self, name: str, parent: Place | None, child: Place,
                 axis: ArrayLike = (0, 0, 1), *, pitch_m_per_rad: float, **options: Any) -> None:
        pitch = float(numbers(f"joint {name!r}", "pitch_m_per_rad", pitch_m_per_rad, 1)[0])
        self._setup(self.KIND, name, parent, child, axis, options, (pitch,))


class TranslationJoint(UserJoint):
    """Translation along the x, the x and y, or the x, y and z axes of F: dim 1, 2 or 3."""

    __slots__ = ()

    def __init__(self, name: str, parent: Place | None, child: Place,
                 dim: int = 3, **options: Any) -> None:
        if not is_whole(dim) or dim not in (1, 2, 3):
            refuse(f"joint {name!r}", f"dim is {short(dim)}", "A translation has 1, 2 or 3 dimensions.")
        kind = ("prismatic", "translation2", "translation3")[dim - 1]
        self._setup(kind, name, parent, child, (1, 0, 0) if dim == 1 else None, options)


class PlanarJoint(UserJoint):
    """Translation in the xy plane of F and rotation about Fz: q = (x, y, theta), v its rate. damping: N s/m, N s/m, N m s."""

    __slots__ = ()
    KIND = "planar"

    def __init__(self, name: str, parent: Place | None, child: Place,
                 damping: ArrayLike | None = None, **options: Any) -> None:
        self._setup(self.KIND, name, parent, child, None, {"damping": damping, **options})


class UniversalJoint(UserJoint):
    """Rotation about Fx, then about My: q = (qx, qy) rad."""

    __slots__ = ()
    KIND = "universal"


class BallJoint(UserJoint):
    """Any rotation: q = quaternion w x y z, v = angular velocity in the child frame. damping: N m s, one or per axis."""

    __slots__ = ()
    KIND = "ball"


class BallRpyJoint(UserJoint):
    """Any rotation but pitch = +-90 deg: q = (roll, pitch, yaw), v = angular velocity in F (Drake's BallRpyJoint)."""

    __slots__ = ()
    KIND = "ball_rpy"


class FloatingJoint(UserJoint):
    """Free motion: q = (x, y, z, qw, qx, qy, qz), v = (w, v) in the child frame.

    damping: (angular N m s, translational N s/m), or one number for each of the six.
    """

    __slots__ = ()
    KIND = "floating"


class FloatingRpyJoint(FloatingJoint):
    """Free motion but pitch = +-90 deg: q = (roll, pitch, yaw, x, y, z), v = (w, v) in F (Drake's RpyFloatingJoint)."""

    __slots__ = ()
    KIND = "floating_rpy"


class WeldJoint(UserJoint):
    """No motion; the two bodies become one when the model is compiled. Also called anchor, or fixed."""

    __slots__ = ()
    KIND = "weld"


FixedJoint = AnchorJoint = WeldJoint
CLASSES = (RevoluteJoint, PrismaticJoint, CylindricalJoint, ContinuousJoint, BoundedRotation, ScrewJoint, TranslationJoint,
           PlanarJoint, UniversalJoint, BallJoint, BallRpyJoint, FloatingJoint, FloatingRpyJoint, WeldJoint)
