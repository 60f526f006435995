"""The words of each joint kind of a model: angle, translation, rotation, quaternion, ... Every setter returns the joint.

`make_joint` gives a model's joint the class that has its kind's words; kinds without one have those of `Joint`.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from mbros.describe.joints.kinds import TRANSLATION
from mbros.errors import JointKindError, MbrosError
from mbros.model.joints.joint import Joint
from mbros.spatial.given import named_quaternion
from mbros.spatial.placement import rotation_from_quat_wxyz, rpy_from_rotation

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mbros import Model
    from mbros.model.tables import CompiledJoint
    from mbros.names import PoseLike
    from mbros_core.engine._engine import State
    from mbros_core.typing import Array, ArrayLike
    from typing_extensions import Self


class _Parts(Joint):
    """Reads and writes runs of the joint's coordinates."""

    def _q(self, state: State, part: Any) -> Array:
        return self.position(state)[part]

    def _v(self, state: State, part: Any) -> Array:
        return self.velocity(state)[part]

    def _set_q(self, state: State, part: Any, value: Any, what: str) -> Self:
        if type(value) is float and self._range is not None and self._range[0] <= value <= self._range[1]:
            return self.set_position(state, value)
        q = self.position(state)
        q[part] = self._own(value, len(q[part]), what)
        return self.set_position(state, q)

    def _one_pose(self, **others: object) -> None:
        """Refuses a pose that is given twice."""
        for name, value in others.items():
            if value is not None:
                raise MbrosError(f"{self._called}: set_pose: it is given twice, as X_FM and by {name}=; give one of them")

    def _set_v(self, state: State, part: Any, value: Any, what: str) -> Self:
        v = self.velocity(state)
        v[part] = self._own(value, len(v[part]), what)
        return self.set_velocity(state, v)


class BuiltTurningJoint(_Parts):
    """revolute, continuous, screw, cylindrical: the angle about the axis is the first coordinate."""

    def angle(self, state: State) -> float:
        """rad, not wrapped."""
        return float(self._q(state, slice(0, 1))[0])

    def set_angle(self, state: State, angle: ArrayLike) -> Self:
        """angle in rad. Returns the joint."""
        return self._set_q(state, slice(0, 1), angle, "angle")

    def angular_rate(self, state: State) -> float:
        """rad/s."""
        return float(self._v(state, slice(0, 1))[0])

    def set_angular_rate(self, state: State, rate: ArrayLike) -> Self:
        """rate in rad/s. Returns the joint."""
        return self._set_v(state, slice(0, 1), rate, "angular_rate")


class BuiltScrewJoint(BuiltTurningJoint):
    """screw: the angle, and how far a turn carries it."""

    @property
    def pitch_m_per_rad(self) -> float:
        """Translation along the axis per angle, m/rad."""
        return float(self._row.parameters[0])


class BuiltCircularJoint(BuiltTurningJoint):
    """continuous, as (cos, sin)."""

    def angle(self, state: State) -> float:
        """rad, in (-pi, pi]."""
        c, s = self.position(state)
        return float(np.arctan2(s, c))

    def set_angle(self, state: State, angle: ArrayLike) -> Self:
        """angle in rad; stored as its cosine and sine. Returns the joint."""
        theta = float(self._own(angle, 1, "angle")[0])
        return self.set_position(state, (np.cos(theta), np.sin(theta)))


class BuiltSlidingJoint(_Parts):
    """prismatic: a number; translation2 and translation3: (2,) and (3,), m. Of all coordinates but a cylindrical's first."""

    _run = TRANSLATION["prismatic"]

    def translation(self, state: State) -> float | Array:
        """m; a number for one axis."""
        return _plain(self._q(state, self._run))

    def set_translation(self, state: State, translation: ArrayLike) -> Self:
        """m; a number for one axis. Returns the joint."""
        return self._set_q(state, self._run, translation, "translation")

    def translation_rate(self, state: State) -> float | Array:
        """m/s; a number for one axis."""
        return _plain(self._v(state, self._run))

    def set_translation_rate(self, state: State, rate: ArrayLike) -> Self:
        """m/s; a number for one axis. Returns the joint."""
        return self._set_v(state, self._run, rate, "translation_rate")


def _plain(values: Array) -> float | Array:
    return float(values[0]) if len(values) == 1 else values


class BuiltCylindricalJoint(BuiltTurningJoint, BuiltSlidingJoint):
    """Angle, then displacement."""

    _run = TRANSLATION["cylindrical"]


class BuiltPlanarJoint(_Parts):
    """Translation (x, y) of Mo in F, rotation theta about Fz."""

    def translation(self, state: State) -> np.ndarray:
        """p_FoMo_F: (x, y), m."""
        return self._q(state, slice(0, 2))

    def set_translation(self, state: State, xy: ArrayLike) -> Self:
        """p_FoMo_F: (x, y), m. Returns the joint."""
        return self._set_q(state, slice(0, 2), xy, "translation")

    def rotation(self, state: State) -> float:
        """theta, rad, not wrapped."""
        return float(self._q(state, slice(2, 3))[0])

    def set_rotation(self, state: State, theta: ArrayLike) -> Self:
        """theta, rad. Returns the joint."""
        return self._set_q(state, slice(2, 3), theta, "rotation")

    def set_pose(self, state: State, X_FM: PoseLike | None = None, *,      # type: ignore[override]     # no other words
                 xy: ArrayLike | None = None, theta: ArrayLike | None = None) -> Self:
        """X_FM, a (4, 4) matrix or anything with .R and .p; or xy (2,), m, and theta, rad: the one not given is kept. Returns the joint."""
        if X_FM is not None or xy is None and theta is None:
            self._one_pose(xy=xy, theta=theta)
            return super().set_pose(state, X_FM)
        xy = self.translation(state) if xy is None else self._own(xy, 2, "xy")
        theta = self.rotation(state) if theta is None else float(self._own(theta, 1, "theta")[0])
        return self.set_position(state, [*xy, theta])

    def translational_velocity(self, state: State) -> np.ndarray:
        """v_FoMo_F: (xdot, ydot), m/s."""
        return self._v(state, slice(0, 2))

    def set_translational_velocity(self, state: State, velocity: ArrayLike) -> Self:
        """v_FoMo_F: (xdot, ydot), m/s. Returns the joint."""
        return self._set_v(state, slice(0, 2), velocity, "translational_velocity")

    def angular_velocity(self, state: State) -> float:
        """rad/s."""
        return float(self._v(state, slice(2, 3))[0])

    def set_angular_velocity(self, state: State, rate: ArrayLike) -> Self:
        """rad/s. Returns the joint."""
        return self._set_v(state, slice(2, 3), rate, "angular_velocity")


class BuiltUniversalJoint(_Parts):
    """Angles about Fx, then My."""

    def angles(self, state: State) -> np.ndarray:
        """(2,), rad."""
        return self.position(state)

    def set_angles(self, state: State, angles: ArrayLike) -> Self:
        """(2,), rad. Returns the joint."""
        return self._set_q(state, slice(0, 2), angles, "angles")

    def angular_rates(self, state: State) -> np.ndarray:
        """(2,), rad/s."""
        return self.velocity(state)

    def set_angular_rates(self, state: State, rates: ArrayLike) -> Self:
        """(2,), rad/s. Returns the joint."""
        return self._set_v(state, slice(0, 2), rates, "angular_rates")


class BuiltFreeJoint(_Parts):
    """ball, ball_rpy, floating, floating_rpy: rotation, where they have it translation, and v = [w; v]."""

    _quat: slice | None = None
    _rpy: slice | None = None
    _p: slice | None = None

    def quat_wxyz(self, state: State) -> np.ndarray:
        """R_FM as a quaternion w x y z."""
        return self._q(state, self._quat) if self._quat else self.transform(state).quat_wxyz

    def rpy_angles(self, state: State) -> np.ndarray:
        """R_FM as roll, pitch, yaw, rad."""
        return self._q(state, self._rpy) if self._rpy else rpy_from_rotation(self.transform(state).R)

    def set_rotation(self, state: State, *, rpy: ArrayLike | None = None, **quat: ArrayLike) -> Self:
        """One of quat_wxyz (4,) and quat_xyzw (4,), of unit length, and rpy (3,), rad."""
        return self._turn("set_rotation", state, rpy, quat)

    def _turn(self, who: str, state: State, rpy: ArrayLike | None, quat: Mapping[str, ArrayLike]) -> Self:
        self._check_state(state)
        quat_wxyz = named_quaternion(self._label, quat)
        if (quat_wxyz is None) == (rpy is None):
            raise JointKindError(f"{self._label}: {who} takes one of quat_wxyz, quat_xyzw and rpy")
        if rpy is not None:
            angles = self._own(rpy, 3, "rpy")
            if self._rpy:
                return self._set_q(state, self._rpy, angles, "rpy")
            return self._set_q(state, self._quat, quaternion_from_rpy(angles), "quat_wxyz")
        if self._rpy:
            return self._set_q(state, self._rpy, rpy_from_rotation(rotation_from_quat_wxyz(cast(Any, quat_wxyz))), "rpy")
        return self._set_q(state, self._quat, quat_wxyz, "quat_wxyz")

    def angular_velocity(self, state: State) -> np.ndarray:
        """The joint's own: w_FM (3,), rad/s, in M axes for quaternions, in F axes for roll, pitch, yaw."""
        return self._v(state, slice(0, 3))

    def set_angular_velocity(self, state: State, w: ArrayLike) -> Self:
        """(3,), rad/s, in the axes of angular_velocity. Returns the joint."""
        return self._set_v(state, slice(0, 3), w, "angular_velocity")


class BuiltFreeBodyJoint(BuiltFreeJoint):
    """What a floating joint has beside."""

    def translation(self, state: State) -> np.ndarray:
        """p_FoMo_F (3,), m."""
        return self._q(state, self._p)

    def set_translation(self, state: State, p: ArrayLike) -> Self:
        """p_FoMo_F (3,), m. Returns the joint."""
        return self._set_q(state, self._p, p, "translation")

    def translational_velocity(self, state: State) -> np.ndarray:
        """The joint's own: v_FMo (3,), m/s, in the axes of angular_velocity."""
        return self._v(state, slice(3, 6))

    def set_translational_velocity(self, state: State, v: ArrayLike) -> Self:
        """(3,), m/s, in the axes of angular_velocity. Returns the joint."""
        return self._set_v(state, slice(3, 6), v, "translational_velocity")

    def set_pose(self, state: State, X_FM: PoseLike | None = None, *, p: ArrayLike | None = None, rpy: ArrayLike | None = None,
                 **quat: ArrayLike) -> Self:
        """X_FM, a (4, 4) matrix or anything with .R and .p; or p (3,), m, and a rotation, one of rpy, quat_wxyz and quat_xyzw: what is
        not given is kept. Returns the joint."""
        if X_FM is not None or p is None and rpy is None and not quat:
            self._one_pose(p=p, rpy=rpy, **quat)
            return super().set_pose(state, X_FM)
        self._check_state(state)
        p = None if p is None else self._own(p, 3, "p")
        if rpy is not None or named_quaternion(self._label, quat) is not None:
            self._turn("set_pose", state, rpy, quat)
        return self if p is None else self.set_translation(state, p)


class BuiltBallJoint(BuiltFreeJoint):
    _quat = slice(0, 4)


class BuiltBallRpyJoint(BuiltFreeJoint):
    _rpy = slice(0, 3)


class BuiltFloatingJoint(BuiltFreeBodyJoint):
    _quat, _p = slice(3, 7), slice(0, 3)


class BuiltFloatingRpyJoint(BuiltFreeBodyJoint):
    _rpy, _p = slice(0, 3), slice(3, 6)


def quaternion_from_rpy(rpy: ArrayLike) -> np.ndarray:
    """w x y z of Rz(yaw) Ry(pitch) Rx(roll): the product of three half-angle quaternions."""
    (cr, cp, cy), (sr, sp, sy) = np.cos(np.asarray(rpy) / 2), np.sin(np.asarray(rpy) / 2)
    return np.array([cr * cp * cy + sr * sp * sy, sr * cp * cy - cr * sp * sy, cr * sp * cy + sr * cp * sy,
                     cr * cp * sy - sr * sp * cy])


WORDS = {"revolute": BuiltTurningJoint, "continuous": BuiltTurningJoint, "screw": BuiltScrewJoint, "circular": BuiltCircularJoint,
         "cylindrical": BuiltCylindricalJoint, "prismatic": BuiltSlidingJoint, "translation2": BuiltSlidingJoint,
         "translation3": BuiltSlidingJoint,
         "planar": BuiltPlanarJoint, "universal": BuiltUniversalJoint, "ball": BuiltBallJoint, "ball_rpy": BuiltBallRpyJoint,
         "floating": BuiltFloatingJoint, "floating_rpy": BuiltFloatingRpyJoint}


def make_joint(model: Model, row: CompiledJoint) -> Joint:
    """The joint of a model for a CompiledJoint."""
    return WORDS.get(row.kind, Joint)(model, row)
