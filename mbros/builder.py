"""ModelBuilder: describe a robot in Python.

    b = mbros.ModelBuilder("rig")
    plate = b.add_body("plate", mass=2.0, com=(0, 0, 0), inertia=np.diag([0.1, 0.1, 0.2]))
    b.add_joint(mbros.RevoluteJoint("hinge", b.world, plate, axis=(0, 1, 0), damping=0.1))
    model = b.build()

Wrong shapes and numbers are refused where they are given; everything that needs the whole robot is checked by
`build()`, which reports all it finds at once. A body that no joint carries is free: it gets a FloatingJoint of its name.
"""
from __future__ import annotations

import numpy as np

from mbros.description import (GRAVITY, KINDS, Body, Frame, Joint, Mimic, Placement, RobotDescription,
                               rotation_from_quat_wxyz, rotation_from_rpy)
from mbros.errors import ModelError, Problem


def refuse(element, reason, remedy=""):
    raise ModelError(Problem(element, reason, remedy))


def numbers(element, what, value, size, finite=True, broadcast=False) -> np.ndarray:
    """`value` as a float64 array of shape (size,) or `size` (a tuple); NaN is always refused, inf if `finite`."""
    shape = size if isinstance(size, tuple) else (size,)
    try:
        given = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        refuse(element, f"{what} is {value!r}", f"Give {_count(shape)}.")
    if broadcast and given.ndim == 0:
        given = np.full(shape, float(given))
    if given.shape != shape:
        if given.size == 1 and shape == (1,):
            given = given.reshape(1)
        else:
            refuse(element, f"{what} has shape {given.shape}, expected {shape}", f"Give {_count(shape)}.")
    if np.isnan(given).any() or (finite and not np.isfinite(given).all()):
        refuse(element, f"{what} is {given.tolist()}", "Give finite numbers." if finite else "NaN is not a limit.")
    return np.array(given)


def _count(shape) -> str:
    return "one number" if shape == (1,) else f"{shape[0]} numbers" if len(shape) == 1 else "a 3 x 3 matrix"


def placement(element, xyz=None, rpy=None, quat_wxyz=None, R=None, pose=None) -> Placement:
    """X from a position and one kind of rotation, or from `pose`: a (4, 4) matrix or anything with .R and .p."""
    if pose is not None:
        if xyz is not None or rpy is not None or quat_wxyz is not None or R is not None:
            refuse(element, "both a pose and parts of one were given", "Give either pose, or xyz with one rotation.")
        if hasattr(pose, "R") and hasattr(pose, "p"):
            R, xyz = pose.R, pose.p
        else:
            X = numbers(element, "pose", pose, (4, 4))
            R, xyz = X[:3, :3], X[:3, 3]
    if sum(x is not None for x in (rpy, quat_wxyz, R)) > 1:
        refuse(element, "more than one rotation was given", "Give one of rpy, quat_wxyz and R.")
    p = numbers(element, "xyz", (0, 0, 0) if xyz is None else xyz, 3)
    if rpy is not None:
        return Placement(rotation_from_rpy(numbers(element, "rpy", rpy, 3)), p)
    if quat_wxyz is not None:
        quat = numbers(element, "quat_wxyz", quat_wxyz, 4)
        if not abs(np.linalg.norm(quat) - 1.0) < 1e-6:
            refuse(element, f"quat_wxyz {quat.tolist()} has length {np.linalg.norm(quat):.9g}",
                   "Give a unit quaternion, w first.")
        return Placement(rotation_from_quat_wxyz(quat), p)
    if R is None:
        return Placement(None, p)
    R = numbers(element, "R", R, (3, 3))
    if np.abs(R @ R.T - np.eye(3)).max() > 1e-9 or np.linalg.det(R) < 0:
        refuse(element, f"R {R.tolist()} is not a rotation matrix",
               "Its columns must be orthogonal unit vectors, right-handed, to 1e-9.")
    return Placement(R, p)


def _attachment(element, role, at) -> tuple[Body, Placement]:
    if isinstance(at, Body):
        return at, Placement()
    if isinstance(at, Frame):
        return at.body, at.X_BF
    refuse(element, f"{role} is {at!r}", "Give a body (b.add_body(...), b.world) or a frame (b.add_frame(...)).")


class _UserJoint(Joint):
    """What the joint classes below share: parent and child as Body or Frame, and checked options.

    xyz, rpy: pose of F on `parent` (m, rad); M is `child` itself. One number given for an (nv,) option is used for all.
    """

    __slots__ = ()

    def _setup(self, kind, name, parent, child, axis=None, xyz=None, rpy=None, **options):
        if not isinstance(name, str) or not name:
            refuse("joint", f"its name is {name!r}", "Give a non-empty string.")
        element = f"joint {name!r}"
        parent_body, X_PF = _attachment(element, "parent", parent)
        child_body, X_BM = _attachment(element, "child", child)
        if xyz is not None or rpy is not None:
            X_PF = X_PF @ placement(element, xyz, rpy)
        if axis is not None:
            axis = unit_axis(element, axis)
        Joint.__init__(self, name, kind, parent_body, child_body, X_PF, X_BM, axis)
        nq, nv = KINDS[kind]
        mimic = options.pop("mimic", None)
        if mimic is not None:
            self.mimic = _mimic(element, mimic)
        for option, value in options.items():
            if value is None:
                continue
            size = nq if option in ("lower", "upper", "default") else nv
            finite = option not in ("lower", "upper", "velocity", "effort")
            setattr(self, option, numbers(element, option, value, size, finite, broadcast=option != "default"))


def unit_axis(element, axis) -> np.ndarray:
    """`axis` with length 1; exact for axes along x, y and z."""
    axis = numbers(element, "axis", axis, 3)
    largest = np.abs(axis).max()
    if largest == 0.0:
        refuse(element, "axis is (0, 0, 0), which has no direction", "Give a non-zero vector such as (0, 0, 1).")
    axis = axis / largest           # first, so that neither tiny nor huge vectors lose digits in the norm
    return axis / np.linalg.norm(axis) + 0.0


def _mimic(element, mimic) -> Mimic:
    if isinstance(mimic, Mimic):
        return mimic
    leader, *numbers_given = mimic if isinstance(mimic, (tuple, list)) else (mimic,)
    leader = getattr(leader, "name", leader)
    if not isinstance(leader, str) or len(numbers_given) > 2:
        refuse(element, f"mimic is {mimic!r}", "Give a joint, its name, or (joint, ratio, offset).")
    ratio, offset = (list(numbers_given) + [1.0, 0.0][len(numbers_given):])
    return Mimic(leader, float(numbers(element, "mimic ratio", ratio, 1)[0]),
                 float(numbers(element, "mimic offset", offset, 1)[0]))


class RevoluteJoint(_UserJoint):
    """Rotation about `axis`, the same vector in F and M. lower, upper: rad, None for none."""

    __slots__ = ()

    def __init__(self, name, parent, child, axis=(0, 0, 1), *, lower=None, upper=None, velocity=None, effort=None,
                 damping=None, friction=None, rotor_inertia=None, gear_ratio=None, default=None, mimic=None,
                 stop_stiffness=None, stop_damping=None, xyz=None, rpy=None):
        self._setup("revolute", name, parent, child, axis, xyz, rpy, lower=lower, upper=upper, velocity=velocity,
                    effort=effort, damping=damping, friction=friction, rotor_inertia=rotor_inertia,
                    gear_ratio=gear_ratio, default=default, mimic=mimic, stop_stiffness=stop_stiffness,
                    stop_damping=stop_damping)


class ContinuousJoint(_UserJoint):
    """Rotation about `axis` without position limits."""

    __slots__ = ()

    def __init__(self, name, parent, child, axis=(0, 0, 1), *, velocity=None, effort=None, damping=None, friction=None,
                 rotor_inertia=None, gear_ratio=None, default=None, mimic=None, xyz=None, rpy=None):
        self._setup("continuous", name, parent, child, axis, xyz, rpy, velocity=velocity, effort=effort,
                    damping=damping, friction=friction, rotor_inertia=rotor_inertia, gear_ratio=gear_ratio,
                    default=default, mimic=mimic)


class PrismaticJoint(_UserJoint):
    """Translation along `axis`. lower, upper: m, None for none."""

    __slots__ = ()

    def __init__(self, name, parent, child, axis=(0, 0, 1), *, lower=None, upper=None, velocity=None, effort=None,
                 damping=None, friction=None, rotor_inertia=None, gear_ratio=None, default=None, mimic=None,
                 stop_stiffness=None, stop_damping=None, xyz=None, rpy=None):
        self._setup("prismatic", name, parent, child, axis, xyz, rpy, lower=lower, upper=upper, velocity=velocity,
                    effort=effort, damping=damping, friction=friction, rotor_inertia=rotor_inertia,
                    gear_ratio=gear_ratio, default=default, mimic=mimic, stop_stiffness=stop_stiffness,
                    stop_damping=stop_damping)


class PlanarJoint(_UserJoint):
    """Translation in the xy plane of F and rotation about Fz: q = (x, y, theta), v its rate.

    damping: (N s/m, N s/m, N m s). lower, upper: (m, m, rad).
    """

    __slots__ = ()

    def __init__(self, name, parent, child, *, damping=None, lower=None, upper=None, velocity=None, effort=None,
                 friction=None, rotor_inertia=None, default=None, stop_stiffness=None, stop_damping=None, xyz=None,
                 rpy=None):
        self._setup("planar", name, parent, child, None, xyz, rpy, lower=lower, upper=upper, velocity=velocity,
                    effort=effort, damping=damping, friction=friction, rotor_inertia=rotor_inertia, default=default,
                    stop_stiffness=stop_stiffness, stop_damping=stop_damping)


class FloatingJoint(_UserJoint):
    """Free motion: q = (x, y, z, qw, qx, qy, qz), v = (w, v) in the child frame. damping (6,): N m s, then N s/m."""

    __slots__ = ()

    def __init__(self, name, parent, child, *, damping=None, friction=None, velocity=None, effort=None,
                 rotor_inertia=None, default=None, xyz=None, rpy=None):
        self._setup("floating", name, parent, child, None, xyz, rpy, damping=damping, friction=friction,
                    velocity=velocity, effort=effort, rotor_inertia=rotor_inertia, default=default)


class WeldJoint(_UserJoint):
    """No motion; the two bodies become one when the model is compiled."""

    __slots__ = ()

    def __init__(self, name, parent, child, *, xyz=None, rpy=None):
        self._setup("weld", name, parent, child, None, xyz, rpy)


class ModelBuilder:
    """Collects bodies, joints and frames; `build()` checks them and gives the immutable model.

    gravity: (3,) m/s^2 in world axes. `world` is the body that does not move.
    """

    def __init__(self, name="model", gravity=GRAVITY):
        if not isinstance(name, str) or not name:
            refuse("model", f"its name is {name!r}", "Give a non-empty string.")
        self.description = RobotDescription(name, gravity=numbers(f"model {name!r}", "gravity", gravity, 3))

    @property
    def world(self) -> Body:
        return self.description.world

    def add_body(self, name, mass=0.0, com=(0.0, 0.0, 0.0), inertia=None) -> Body:
        """A rigid body. mass in kg; com (3,) from the body origin, m; inertia (3, 3) about the com in body axes, kg m^2
        (a triple is taken as the diagonal). A body without mass is a frame that needs others around it."""
        if not isinstance(name, str) or not name:
            refuse("body", f"its name is {name!r}", "Give a non-empty string.")
        element = f"body {name!r}"
        if inertia is None:
            inertia = np.zeros((3, 3))
        elif np.shape(inertia) == (3,):
            inertia = np.diag(numbers(element, "inertia", inertia, 3))
        body = Body(name, float(numbers(element, "mass", mass, 1)[0]), numbers(element, "com", com, 3),
                    numbers(element, "inertia", inertia, (3, 3)))
        self.description.bodies.append(body)
        return body

    def add_frame(self, name, parent, xyz=None, rpy=None, *, quat_wxyz=None, R=None, pose=None) -> Frame:
        """A frame fixed on `parent` (Body or Frame) at the given pose."""
        if not isinstance(name, str) or not name:
            refuse("frame", f"its name is {name!r}", "Give a non-empty string.")
        element = f"frame {name!r}"
        body, X_BP = _attachment(element, "parent", parent)
        frame = Frame(name, body, X_BP @ placement(element, xyz, rpy, quat_wxyz, R, pose))
        self.description.frames.append(frame)
        return frame

    def add_joint(self, joint: Joint) -> Joint:
        """Adds a joint made by one of the joint classes of this module."""
        if not isinstance(joint, Joint):
            refuse("model " + repr(self.description.name), f"add_joint() was given {joint!r}",
                   "Give a joint such as mbros.RevoluteJoint(name, parent, child, axis=...).")
        self.description.joints.append(joint)
        return joint

    def body(self, name) -> Body:
        return self._named("body", name, [self.world, *self.description.bodies])

    def joint(self, name) -> Joint:
        return self._named("joint", name, self.description.joints)

    def frame(self, name) -> Frame:
        return self._named("frame", name, self.description.frames)

    def _named(self, kind, name, elements):
        for element in elements:
            if element.name == name:
                return element
        from mbros.names import unknown
        raise unknown(kind, name, f"model {self.description.name!r}", [e.name for e in elements])

    def describe(self) -> RobotDescription:
        """The checked description, free bodies with their floating joints. The builder can go on being used."""
        from mbros.checks import raise_errors

        mine = self.description
        carried = {id(joint.child) for joint in mine.joints}
        free = [FloatingJoint(body.name, mine.world, body) for body in mine.bodies if id(body) not in carried]
        whole = RobotDescription(mine.name, list(mine.bodies), mine.joints + free, list(mine.frames), mine.world,
                                 mine.gravity.copy(), list(mine.notes))
        raise_errors(whole)
        return whole

    def build(self, merge_welds=True):
        """Checks everything and compiles: `mbros.Model`. Raises ModelError with every problem found."""
        from mbros.compile import compile_robot
        from mbros.model import Model

        description = self.describe()
        return Model(description, compile_robot(description, merge_welds=merge_welds))

    def __repr__(self) -> str:
        return f"<ModelBuilder {self.description!r}>"


__all__ = ["ModelBuilder", "RevoluteJoint", "ContinuousJoint", "PrismaticJoint", "PlanarJoint", "FloatingJoint",
           "WeldJoint"]
