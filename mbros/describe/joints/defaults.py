"""Where a joint starts, as numbers, as a pose, and in the words of its kind: `joint.defaults`."""
from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import numpy as np

from mbros.arguments import not_negative, numbers
from mbros.describe.joints.kinds import TRANSLATION, TURNING, row_of, six_from_pair
from mbros.describe.joints.random import RandomPositions
from mbros.errors import JointKindError
from mbros.spatial.given import pose_of, rotation_matrix, unit_quaternion
from mbros.spatial.placement import Placement, rotation_from_quat_wxyz
from mbros.spatial.vectors import Pose

if TYPE_CHECKING:
    from mbros.describe.joints.joint import JointDescription
    from mbros.names import PoseLike
    from mbros_core.typing import Array, ArrayLike


class Defaults:
    """What new states of a joint start with. Made anew for each question by a description, once by a joint of a model."""

    __slots__ = ("_joint",)
    _joint: Any

    @property
    def _frames(self) -> tuple[str, str]:
        """Names of M and F."""
        return "M", "F"

    def __init__(self, joint: Any) -> None:
        object.__setattr__(self, "_joint", joint)

    def _q(self) -> np.ndarray:
        """(nq,), not to be written to."""
        raise NotImplementedError

    @property
    def neutral(self) -> np.ndarray:
        """(nq,) the kind's position of no motion: zeros, unit quaternions, (1, 0)."""
        return np.array(row_of(self._joint._exact_kind).neutral, float)

    @property
    def positions(self) -> np.ndarray:
        """(nq,) what was set; else neutral, or midway between limits that exclude neutral. A follower's come from its leader's when the
        model is built."""
        return self._q().copy()

    @property
    def pose(self) -> Pose:
        """X_FM at the default positions."""
        R, p = self._joint._kinematics.pose(self._q())
        return Pose._made(R, p, *self._frames)

    @property
    def pose_pair(self) -> tuple[Array, Array]:
        """(quat_wxyz (4,), p (3,)) of the default pose; a quaternion joint gives its own numbers, to the bit."""
        q, kinematics = self.positions, self._joint._kinematics
        if kinematics.row.group == "SE(3)":
            return q[3:].copy(), q[:3].copy()
        R, p = kinematics.pose(q)
        return (q.copy() if kinematics.row.group == "SO(3)" else Pose._made(R, p).quat_wxyz), p

    @property
    def angle(self) -> float:
        """rad, of joints that turn about one axis: revolute, continuous (also as (cos, sin): in (-pi, pi]), screw, cylindrical."""
        self._only((*TURNING, "circular"), "angle")
        q = self._q()
        return float(np.arctan2(q[1], q[0])) if self._joint.kind == "circular" else float(q[0])

    @property
    def translation(self) -> float | Array:
        """m: (x, y) of a planar joint, (2,) or (3,) of a translation, a number for one axis."""
        self._only(TRANSLATION, "translation")
        part = self._q()[TRANSLATION[self._joint.kind]]
        return float(part[0]) if len(part) == 1 else part.copy()

    @property
    def rotation(self) -> float:
        """theta of a planar joint, rad."""
        self._only(("planar",), "rotation")
        return float(self._q()[2])

    @property
    def damping(self) -> np.ndarray:
        """(nv,) of this joint alone, N m s/rad or N s/m. New states hold it; a leader's coordinate holds ratio^2 times its followers'
        too, and damping(state) of each of them gives that sum."""
        return self._source().damping.copy()

    @property
    def random(self) -> RandomPositions | None:
        """What model.random_state draws its position from, None for uniform within the limits."""
        return self._source().random

    def _source(self) -> Any:
        """Whose `damping` and `random` are the defaults."""
        return self._joint

    def _only(self, kinds: Collection[str], what: str) -> None:
        joint = self._joint
        if joint.kind not in kinds:
            raise JointKindError(f"{joint._label} ({joint.kind}): defaults.{what} is for {', '.join(kinds)} joints; defaults.positions is "
                                 "for all")

    def __repr__(self) -> str:
        return f"<defaults of {self._joint._label}: positions {self._q().tolist()}>"


class DescribedDefaults(Defaults):
    """... of a description: everything can be set. Setters that are methods return the joint."""

    __slots__ = ()

    def _q(self) -> Array:
        return default_position(self._joint)

    @Defaults.positions.setter       # type: ignore[attr-defined, untyped-decorator]   # of a property that a base class defines
    def positions(self, q: ArrayLike) -> None:
        self._joint.default = numbers(self._joint._label, "default", q, self._joint.nq)

    @Defaults.damping.setter       # type: ignore[attr-defined, untyped-decorator]   # of a property that a base class defines
    def damping(self, value: Any) -> None:
        """Floating joints also take (angular, translational)."""
        joint = self._joint
        joint.damping = not_negative(joint._label, "damping", numbers(joint._label, "damping", six_from_pair(joint.kind, value), joint.nv))

    @Defaults.angle.setter       # type: ignore[attr-defined, untyped-decorator]   # of a property that a base class defines
    def angle(self, angle: ArrayLike) -> None:
        self._only((*TURNING, "circular"), "angle")
        angle = float(numbers(self._joint._label, "defaults.angle", angle, 1)[0])
        if self._joint.kind == "circular":
            self._joint.default = np.array([np.cos(angle), np.sin(angle)])
        else:
            self._put(slice(0, 1), angle)

    @Defaults.translation.setter       # type: ignore[attr-defined, untyped-decorator]   # of a property that a base class defines
    def translation(self, translation: ArrayLike) -> None:
        self._only(TRANSLATION, "translation")
        part = TRANSLATION[self._joint.kind]
        self._put(part, numbers(self._joint._label, "defaults.translation", translation, len(range(self._joint.nq)[part])))

    @Defaults.rotation.setter       # type: ignore[attr-defined, untyped-decorator]   # of a property that a base class defines
    def rotation(self, theta: ArrayLike) -> None:
        self._only(("planar",), "rotation")
        self._put(slice(2, 3), numbers(self._joint._label, "defaults.rotation", theta, 1))

    def set_pose(self, X_FM: PoseLike | Placement) -> JointDescription:
        """Default positions whose X_FM is nearest to this pose: a (4, 4) matrix or anything with .R and .p. Returns the joint."""
        from mbros.describe.joints.matching import best_match      # start-up time: who does not use it does not pay

        X = pose_of(self._joint._label, X_FM)
        self._joint.default = best_match(self._joint._kinematics, X.R, X.p)
        return self._joint

    def set_pose_pair(self, quat_wxyz: ArrayLike, p: ArrayLike) -> JointDescription:
        """The same as set_pose; quaternion joints store the numbers as given. Returns the joint."""
        label = self._joint._label
        quat, p = unit_quaternion(label, "quat_wxyz", quat_wxyz), numbers(label, "p", p, 3)
        group = row_of(self._joint.kind).group
        if group == "SE(3)":
            self._joint.default = np.concatenate([p, quat])
        elif group == "SO(3)":
            self._joint.default = quat
        else:
            self.set_pose(Placement(rotation_matrix(label, rotation_from_quat_wxyz(quat)), p))
        return self._joint

    def set_planar_pose(self, xy: ArrayLike, theta: ArrayLike) -> JointDescription:
        """Of a planar joint, xy (2,) in m and theta in rad; not clipped by limits. Returns the joint."""
        self._only(("planar",), "set_planar_pose")
        label = self._joint._label
        self._joint.default = np.concatenate([numbers(label, "xy", xy, 2), numbers(label, "theta", theta, 1)])
        return self._joint

    def set_random(self, **by_name: Any) -> JointDescription:
        """Draw initial positions from these expressions (model.random_state): x=Uniform(-1, 1), theta=Normal(0, 0.1),
        rotation=UniformRotation(). Coordinates not named keep their default. Returns the joint."""
        self._joint.random = RandomPositions.by_name(self._joint._label, self._joint.kind, by_name)
        return self._joint

    def _put(self, part: slice, values: Any) -> None:
        q = self._q().copy()
        q[part] = values
        self._joint.default = q


def default_position(joint: Any) -> np.ndarray:
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
