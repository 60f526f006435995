"""The words of each joint kind: angle, translation, rotation, quaternion, ... Every setter returns the joint.

`make_joint` gives a model's joint the class that has its kind's words; kinds without one have those of `Joint`.
"""
from __future__ import annotations

import numpy as np

from mbros.spatial.given import named_quaternion
from mbros.errors import JointKindError
from mbros.model.joints.joint import Joint
from mbros.describe.joints.kinds import TRANSLATION
from mbros.spatial.placement import rotation_from_quat_wxyz, rpy_from_rotation


class _Parts(Joint):
    """Reads and writes runs of the joint's coordinates."""

    def _q(self, state, part):
        return self.position(state)[part]

    def _v(self, state, part):
        return self.velocity(state)[part]

    def _set_q(self, state, part, value, what):
        if type(value) is float and self._range is not None and self._range[0] <= value <= self._range[1]:
            return self.set_position(state, value)
        q = self.position(state)
        q[part] = self._own(value, len(q[part]), what)
        return self.set_position(state, q)

    def _set_v(self, state, part, value, what):
        v = self.velocity(state)
        v[part] = self._own(value, len(v[part]), what)
        return self.set_velocity(state, v)


class TurningJoint(_Parts):
    """revolute, continuous, screw, cylindrical: the angle about the axis is the first coordinate."""

    def angle(self, state) -> float:
        """rad, not wrapped."""
        return float(self._q(state, slice(0, 1))[0])

    def set_angle(self, state, angle):
        """angle in rad. Returns the joint."""
        return self._set_q(state, slice(0, 1), angle, "angle")

    def angular_rate(self, state) -> float:
        """rad/s."""
        return float(self._v(state, slice(0, 1))[0])

    def set_angular_rate(self, state, rate):
        """rate in rad/s. Returns the joint."""
        return self._set_v(state, slice(0, 1), rate, "angular_rate")

    @property
    def default_angle(self) -> float:
        """rad, where new states start."""
        return float(self.row.default[0])


class CircularJoint(TurningJoint):
    """continuous, as (cos, sin)."""

    def angle(self, state) -> float:
        """rad, in (-pi, pi]."""
        c, s = self.position(state)
        return float(np.arctan2(s, c))

    def set_angle(self, state, angle):
        """angle in rad; stored as its cosine and sine. Returns the joint."""
        theta = float(self._own(angle, 1, "angle")[0])
        return self.set_position(state, (np.cos(theta), np.sin(theta)))

    @property
    def default_angle(self) -> float:
        """rad, in (-pi, pi], where new states start."""
        c, s = self.row.default
        return float(np.arctan2(s, c))


class SlidingJoint(_Parts):
    """prismatic: a number; translation2 and translation3: (2,) and (3,), m. Of all coordinates but a cylindrical's first."""

    part = TRANSLATION["prismatic"]

    def translation(self, state):
        """m; a number for one axis."""
        return _plain(self._q(state, self.part))

    def set_translation(self, state, translation):
        """m; a number for one axis. Returns the joint."""
        return self._set_q(state, self.part, translation, "translation")

    def translation_rate(self, state):
        """m/s; a number for one axis."""
        return _plain(self._v(state, self.part))

    def set_translation_rate(self, state, rate):
        """m/s; a number for one axis. Returns the joint."""
        return self._set_v(state, self.part, rate, "translation_rate")

    @property
    def default_translation(self):
        """m, where new states start; a number for one axis."""
        return _plain(self.row.default[self.part].copy())


def _plain(values):
    return float(values[0]) if len(values) == 1 else values


class CylindricalJoint(TurningJoint, SlidingJoint):
    """Angle, then displacement."""

    part = TRANSLATION["cylindrical"]


class PlanarJoint(_Parts):
    """Translation (x, y) of Mo in F, rotation theta about Fz."""

    def translation(self, state) -> np.ndarray:
        """p_FoMo_F: (x, y), m."""
        return self._q(state, slice(0, 2))

    def set_translation(self, state, xy):
        """p_FoMo_F: (x, y), m. Returns the joint."""
        return self._set_q(state, slice(0, 2), xy, "translation")

    def rotation(self, state) -> float:
        """theta, rad, not wrapped."""
        return float(self._q(state, slice(2, 3))[0])

    def set_rotation(self, state, theta):
        """theta, rad. Returns the joint."""
        return self._set_q(state, slice(2, 3), theta, "rotation")

    def set_planar_pose(self, state, xy, theta):
        """(x, y), m, and theta, rad. Returns the joint."""
        return self.set_position(state, [*self._own(xy, 2, "xy"), *self._own(theta, 1, "theta")])

    def set_pose(self, state, *, xy=None, theta=None):
        """xy (2,), m, and theta, rad: the one not given is kept."""
        return self.set_planar_pose(state, self.translation(state) if xy is None else xy,
                                    self.rotation(state) if theta is None else theta)

    def translational_velocity(self, state) -> np.ndarray:
        """v_FoMo_F: (xdot, ydot), m/s."""
        return self._v(state, slice(0, 2))

    def set_translational_velocity(self, state, velocity):
        """v_FoMo_F: (xdot, ydot), m/s. Returns the joint."""
        return self._set_v(state, slice(0, 2), velocity, "translational_velocity")

    def angular_velocity(self, state) -> float:
        """rad/s."""
        return float(self._v(state, slice(2, 3))[0])

    def set_angular_velocity(self, state, rate):
        """rad/s. Returns the joint."""
        return self._set_v(state, slice(2, 3), rate, "angular_velocity")

    @property
    def default_translation(self) -> np.ndarray:
        """(x, y), m, where new states start."""
        return self.row.default[:2].copy()

    @property
    def default_rotation(self) -> float:
        """theta, rad, where new states start."""
        return float(self.row.default[2])


class UniversalJoint(_Parts):
    """Angles about Fx, then My."""

    def angles(self, state) -> np.ndarray:
        """(2,), rad."""
        return self.position(state)

    def set_angles(self, state, angles):
        """(2,), rad. Returns the joint."""
        return self._set_q(state, slice(0, 2), angles, "angles")

    def angular_rates(self, state) -> np.ndarray:
        """(2,), rad/s."""
        return self.velocity(state)

    def set_angular_rates(self, state, rates):
        """(2,), rad/s. Returns the joint."""
        return self._set_v(state, slice(0, 2), rates, "angular_rates")


class FreeJoint(_Parts):
    """ball, ball_rpy, floating, floating_rpy: rotation, where they have it translation, and v = [w; v]."""

    quat, rpy, p = None, None, None

    def quat_wxyz(self, state) -> np.ndarray:
        """R_FM as a quaternion w x y z."""
        return self._q(state, self.quat) if self.quat else self.transform(state).quat_wxyz

    def rpy_angles(self, state) -> np.ndarray:
        """R_FM as roll, pitch, yaw, rad."""
        return self._q(state, self.rpy) if self.rpy else rpy_from_rotation(self.transform(state).R)

    def set_rotation(self, state, *, rpy=None, **quat):
        """One of quat_wxyz (4,) and quat_xyzw (4,), of unit length, and rpy (3,), rad."""
        self.check_state(state)
        quat_wxyz = named_quaternion(f"joint {self.name!r}", quat)
        if (quat_wxyz is None) == (rpy is None):
            raise JointKindError(f"joint {self.name!r}: set_rotation takes one of quat_wxyz, quat_xyzw and rpy")
        if rpy is not None:
            rpy = self._own(rpy, 3, "rpy")
        if self.rpy:
            return self._set_q(state, self.rpy, rpy_from_rotation(rotation_from_quat_wxyz(quat_wxyz)) if rpy is None else rpy, "rpy")
        return self._set_q(state, self.quat, quaternion_from_rpy(rpy) if quat_wxyz is None else quat_wxyz, "quat_wxyz")

    def angular_velocity(self, state) -> np.ndarray:
        """The joint's own: w_FM (3,), rad/s, in M axes for quaternions, in F axes for roll, pitch, yaw."""
        return self._v(state, slice(0, 3))

    def set_angular_velocity(self, state, w):
        """(3,), rad/s, in the axes of angular_velocity. Returns the joint."""
        return self._set_v(state, slice(0, 3), w, "angular_velocity")


class FreeBody(FreeJoint):
    """What a floating joint has beside."""

    def translation(self, state) -> np.ndarray:
        """p_FoMo_F (3,), m."""
        return self._q(state, self.p)

    def set_translation(self, state, p):
        """p_FoMo_F (3,), m. Returns the joint."""
        return self._set_q(state, self.p, p, "translation")

    def translational_velocity(self, state) -> np.ndarray:
        """The joint's own: v_FMo (3,), m/s, in the axes of angular_velocity."""
        return self._v(state, slice(3, 6))

    def set_translational_velocity(self, state, v):
        """(3,), m/s, in the axes of angular_velocity. Returns the joint."""
        return self._set_v(state, slice(3, 6), v, "translational_velocity")

    def pose(self, state):
        """X_FM."""
        return self.transform(state)

    def set_pose(self, state, *, p=None, rpy=None, **quat):
        """p (3,), m, and a rotation, one of rpy, quat_wxyz and quat_xyzw: what is not given is kept."""
        self.check_state(state)
        p = None if p is None else self._own(p, 3, "p")
        if rpy is not None or named_quaternion(f"joint {self.name!r}", quat) is not None:
            self.set_rotation(state, rpy=rpy, **quat)
        return self if p is None else self.set_translation(state, p)


class BallJoint(FreeJoint):
    quat = slice(0, 4)


class BallRpyJoint(FreeJoint):
    rpy = slice(0, 3)


class FloatingJoint(FreeBody):
    quat, p = slice(3, 7), slice(0, 3)


class FloatingRpyJoint(FreeBody):
    rpy, p = slice(0, 3), slice(3, 6)


def quaternion_from_rpy(rpy) -> np.ndarray:
    """w x y z of Rz(yaw) Ry(pitch) Rx(roll): the product of three half-angle quaternions."""
    (cr, cp, cy), (sr, sp, sy) = np.cos(np.asarray(rpy) / 2), np.sin(np.asarray(rpy) / 2)
    return np.array([cr * cp * cy + sr * sp * sy, sr * cp * cy - cr * sp * sy, cr * sp * cy + sr * cp * sy,
                     cr * cp * sy - sr * sp * cy])


WORDS = {"revolute": TurningJoint, "continuous": TurningJoint, "screw": TurningJoint, "circular": CircularJoint,
         "cylindrical": CylindricalJoint, "prismatic": SlidingJoint, "translation2": SlidingJoint, "translation3": SlidingJoint,
         "planar": PlanarJoint, "universal": UniversalJoint, "ball": BallJoint, "ball_rpy": BallRpyJoint,
         "floating": FloatingJoint, "floating_rpy": FloatingRpyJoint}


def make_joint(model, row) -> Joint:
    """The joint of a model for a CompiledJoint."""
    return WORDS.get(row.kind, Joint)(model, row)
