"""Where a described joint starts: its default positions, as numbers, as a pose, and in the words of its kind."""
from __future__ import annotations

import numpy as np

from mbros.arguments import numbers
from mbros.spatial.given import pose_of, rotation_matrix, unit_quaternion
from mbros.errors import JointKindError
from mbros.describe.joints.kinds import TRANSLATION, TURNING, row_of
from mbros.spatial.placement import Placement
from mbros.spatial.vectors import Pose
from mbros.spatial.placement import rotation_from_quat_wxyz


class DescribedDefaults:
    """Needs of its class: element, kind, nq, mobility, default (nq,) or None."""

    __slots__ = ()

    @property
    def default_positions(self) -> np.ndarray:
        """(nq,) of new states: what was set; else neutral, or midway between limits that exclude neutral. A follower's are not used:
        its leader decides when the model is built."""
        return default_position(self).copy()

    @default_positions.setter
    def default_positions(self, q):
        self.default = numbers(self.element, "default", q, self.nq)

    @property
    def default_pose(self) -> Pose:
        """X_FM at the default positions."""
        return Pose(*self.mobility.pose(default_position(self)), "M", "F")

    def set_default_pose(self, X_FM):
        """Default positions whose X_FM is nearest to this pose: a (4, 4) matrix or anything with .R and .p. Returns the joint."""
        from mbros.describe.joints.matching import best_match      # start-up time: who does not use it does not pay

        X = pose_of(self.element, X_FM)
        self.default = best_match(self.mobility, X.R, X.p)
        return self

    @property
    def default_pose_pair(self):
        """(quat_wxyz (4,), p (3,)) of the default pose; a quaternion joint gives its own numbers, to the bit."""
        return pose_pair(self)

    def set_default_pose_pair(self, quat_wxyz, p):
        """The same as set_default_pose; quaternion joints store the numbers as given. Returns the joint."""
        quat = unit_quaternion(self.element, "quat_wxyz", quat_wxyz)
        p = numbers(self.element, "p", p, 3)
        group = row_of(self.kind).group
        if group == "SE(3)":
            self.default = np.concatenate([p, quat])
        elif group == "SO(3)":
            self.default = quat
        else:
            self.set_default_pose(Placement(rotation_matrix(self.element, rotation_from_quat_wxyz(quat)), p))
        return self

    @property
    def default_angle(self) -> float:
        """rad, of joints that turn about one axis: revolute, continuous (also as (cos, sin)), screw, cylindrical."""
        self._only((*TURNING, "circular"), "default_angle")
        q = default_position(self)
        return float(np.arctan2(q[1], q[0])) if self.kind == "circular" else float(q[0])

    @default_angle.setter
    def default_angle(self, angle):
        self._only((*TURNING, "circular"), "default_angle")
        angle = float(numbers(self.element, "default_angle", angle, 1)[0])
        if self.kind == "circular":
            self.default = np.array([np.cos(angle), np.sin(angle)])
        else:
            self._put(slice(0, 1), angle)

    @property
    def default_translation(self):
        """m: (x, y) of a planar joint, (2,) or (3,) of a translation, a number for one axis."""
        self._only(TRANSLATION, "default_translation")
        part = default_position(self)[TRANSLATION[self.kind]]
        return float(part[0]) if len(part) == 1 else part.copy()

    @default_translation.setter
    def default_translation(self, translation):
        self._only(TRANSLATION, "default_translation")
        part = TRANSLATION[self.kind]
        self._put(part, numbers(self.element, "default_translation", translation, len(range(self.nq)[part])))

    @property
    def default_rotation(self) -> float:
        """theta of a planar joint's default, rad."""
        self._only(("planar",), "default_rotation")
        return float(default_position(self)[2])

    @default_rotation.setter
    def default_rotation(self, theta):
        self._only(("planar",), "default_rotation")
        self._put(slice(2, 3), numbers(self.element, "default_rotation", theta, 1))

    def set_default_planar_pose(self, xy, theta):
        """Default of a planar joint, xy (2,) in m and theta in rad; not clipped by limits. Returns the joint."""
        self._only(("planar",), "set_default_planar_pose")
        self.default = np.concatenate([numbers(self.element, "xy", xy, 2), numbers(self.element, "theta", theta, 1)])
        return self

    def _put(self, part, values):
        q = default_position(self).copy()
        q[part] = values
        self.default = q

    def _only(self, kinds, what):
        if self.kind not in kinds:
            raise JointKindError(f"{self.element} ({self.kind}): {what} is for {', '.join(kinds)} joints; default_positions is for all")


def default_position(joint) -> np.ndarray:
    """What was set; else the kind's neutral position where the limits allow it, and the middle of the limits where not."""
    if joint.default is not None:
        return joint.default
    q = np.array(row_of(joint.kind).neutral, float)
    outside = (joint.lower > q) | (joint.upper < q)
    if outside.any():
        middle = np.where(np.isfinite(joint.lower) & np.isfinite(joint.upper), 0.5 * (joint.lower + joint.upper),
                          np.clip(q, joint.lower, joint.upper))
        q[outside] = middle[outside]
    return q


def pose_pair(joint):
    """(quat_wxyz, p) of joint.default_positions."""
    q, group = joint.default_positions, joint.mobility.row.group
    if group == "SE(3)":
        return q[3:].copy(), q[:3].copy()
    R, p = joint.mobility.pose(q)
    return (q.copy() if group == "SO(3)" else Pose(R, p).quat_wxyz), p
