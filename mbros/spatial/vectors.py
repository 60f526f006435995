"""Poses, velocities, accelerations and forces as users hold them: arrays that say what they are and in which axes."""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from mbros_core import State
from mbros_core.engine._small import arm, composed, inverted, is_finite, is_rotation, point_in, quaternion, shifted, turned

from mbros.arguments import check_state, finite, reals, vector
from mbros.errors import MbrosError
from mbros.spatial.given import check_rotation, placement, plain_placement
from mbros.spatial.lie import from_matrix

if TYPE_CHECKING:
    from mbros_core.typing import Array, ArrayLike

    from mbros.names import FrameLike
    from typing_extensions import Self


_new = object.__new__


def _sized(who: str, what: str, values: Any, shape: tuple[int, ...]) -> np.ndarray:
    """`values` as a float64 array of this shape, the same array where it is one."""
    array = values if type(values) is np.ndarray and values.dtype == np.float64 else reals(who, what, values)
    if array.shape != shape:
        raise MbrosError(f"{who}: {what}: expected numbers of shape {shape}, got shape {array.shape}")
    return array


class Pose:
    """X_AB: where frame B is in frame A. `R` (3, 3), a rotation to 1e-9, has B's axes in A as columns, `p` (3,) is Bo from Ao in A, m."""

    __slots__ = ("R", "p", "frame", "relative_to")

    def __init__(self, R: ArrayLike, p: ArrayLike, frame: str = "", relative_to: str = "") -> None:
        if not (is_rotation(R) and is_finite(p) and np.shape(p) == (3,)):
            R, p = _sized("Pose", "R", R, (3, 3)), _sized("Pose", "p", p, (3,))
            finite("Pose", "R", R)
            finite("Pose", "p", p)
            check_rotation("Pose", R)
        self.R: np.ndarray = R              # type: ignore[assignment]   # an array now
        self.p: np.ndarray = p              # type: ignore[assignment]
        self.frame, self.relative_to = frame, relative_to

    @classmethod
    def from_row(cls, row: ArrayLike, frame: str = "", relative_to: str = "") -> "Pose":
        """From 12 numbers: R row-major, then p."""
        row = _sized("Pose", "row", row, (12,))
        return cls(row[:9].reshape(3, 3), row[9:], frame, relative_to)

    @classmethod
    def _of_engine(cls, row: Array, frame: str, relative_to: str) -> "Pose":
        """from_row of what the engine gave."""
        X = _new(cls)
        X.R, X.p, X.frame, X.relative_to = row[:9].reshape(3, 3), row[9:], frame, relative_to
        return X

    @classmethod
    def _made(cls, R: Array, p: Array, frame: str = "", relative_to: str = "") -> "Pose":
        """Of what the library computed from a rotation and finite numbers, or checked already."""
        X = _new(cls)
        X.R, X.p, X.frame, X.relative_to = R, p, frame, relative_to
        return X

    @classmethod
    def make(cls, p: ArrayLike | None = None, rpy: ArrayLike | None = None, *, R: ArrayLike | None = None, frame: str = "",
             relative_to: str = "", **quat: ArrayLike) -> "Pose":
        """From a position p (m) and one of rpy (rad), R, quat_wxyz and quat_xyzw; none: the axes are parallel."""
        X = plain_placement(p, rpy, R, **quat) or placement("Pose", p, rpy, R, **quat)
        return cls._made(X.R, X.p, frame, relative_to)

    @property
    def quat_wxyz(self) -> np.ndarray:
        """The rotation as a unit quaternion w x y z with w >= 0, from its largest component (Shepperd 1978)."""
        q = quaternion(self.R, False)
        return from_matrix(np.asarray(self.R)) if q is None else q

    @property
    def quat_xyzw(self) -> np.ndarray:
        """The same with w last, as ROS and Pinocchio have it."""
        q = quaternion(self.R, True)
        return np.roll(from_matrix(np.asarray(self.R)), -1) if q is None else q

    @property
    def matrix(self) -> np.ndarray:
        """Homogeneous (4, 4)."""
        X = np.eye(4)
        X[:3, :3], X[:3, 3] = self.R, self.p
        return X

    def inverse(self) -> "Pose":
        """X_BA of X_AB."""
        X = _new(Pose)
        X.R, X.p = inverted(self.R, self.p)
        X.frame, X.relative_to = self.relative_to, self.frame
        return X

    @overload
    def __matmul__(self, other: Pose) -> Pose: ...
    @overload
    def __matmul__(self, other: np.ndarray | Sequence[Any]) -> np.ndarray: ...

    def __matmul__(self, other: Any) -> Any:
        """X_AC = X_AB @ X_BC; with points (3,) or (n, 3) given in B: the same points in A. Poses without names fit to all."""
        if isinstance(other, Pose):
            if self.frame and other.relative_to and self.frame != other.relative_to:
                raise MbrosError(f"X_AB @ X_BC: the pose of {self.frame!r} in {self.relative_to!r} does not go with the pose of "
                                 f"{other.frame!r} in {other.relative_to!r}: the second has to be a pose in {self.frame!r}, which is "
                                 f"model.pose(state, {other.frame!r}, {self.frame!r}), or first.inverse() @ second of two poses in one "
                                 "frame")
            X = _new(Pose)
            X.R, X.p = composed(self.R, self.p, other.R, other.p)
            X.frame, X.relative_to = other.frame, self.relative_to
            return X
        point = point_in(self.R, self.p, other)
        if point is not None:
            return point
        points = reals("Pose @", "points", other, "another Pose, or points of 3 numbers")
        if points.shape[-1:] != (3,):
            raise MbrosError(f"Pose @: expected another Pose, or points of 3 numbers, got shape {points.shape}")
        return points @ self.R.T + self.p

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.asarray(self.matrix, dtype)

    def __repr__(self) -> str:
        def row(a: Array) -> str:
            return "[" + " ".join(f"{x:.6g}" for x in a) + "]"
        of = f" of {self.frame!r} in {self.relative_to!r}" if self.frame else ""
        return f"<Pose{of}: p {row(self.p)} m, quat_wxyz {row(self.quat_wxyz)}>"


class _SpatialVector:
    """Six numbers, rotational part first, taken about the origin of `frame` and in the axes of `expressed_in`."""

    __slots__ = ("values", "frame", "expressed_in")
    parts, units = ("rotational", "translational"), ("", "")

    def __init__(self, values: ArrayLike, frame: str = "", expressed_in: str = "world") -> None:
        self.values, self.frame, self.expressed_in = _sized(type(self).__name__, "values", values, (6,)), frame, expressed_in

    def in_axes(self, state: State, axes: FrameLike = "world") -> Self:
        """The same quantity about the same point, in the axes of another frame; state.model has the frames."""
        model = self._model(state)
        R = model.pose(state, self.expressed_in, axes).R
        return self._made(turned(R, self.values), self.frame, model._frame_table[1][model._frame_index(axes)])

    @classmethod
    def _made(cls, values: Array, frame: str, expressed_in: str) -> Self:
        """Of what the library computed."""
        V = _new(cls)
        V.values, V.frame, V.expressed_in = values, frame, expressed_in
        return V

    def _model(self, state: State) -> Any:
        if type(state) is not State or state.is_held:
            check_state(f"{type(self).__name__} of {self.frame!r}", None, state)
        return state.model

    def _arm(self, state: State, frame: FrameLike) -> tuple[Array, str]:
        """(p (3,) from this quantity's point to the frame's origin, in this quantity's axes; the frame's name)."""
        model = self._model(state)
        if not self.frame:
            raise MbrosError(f"this {type(self).__name__} does not say about which frame's origin it is taken: "
                             f"{type(self).__name__}(values, frame, expressed_in)")
        rows, names = model._frame_table
        to = rows.get(frame) if type(frame) is str else None
        if to is None:
            to = model._frame_index(frame)
        at = rows.get(self.frame) if type(self.frame) is str else None
        if at is None:
            at = model._frame_index(self.frame)
        R = None if self.expressed_in == "world" else model.pose(state, self.expressed_in).R
        return arm(model._frame_pose(state, at), model._frame_pose(state, to), R), names[to]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.asarray(self.values, dtype)

    def __getitem__(self, k: Any) -> Any:
        return self.values[k]

    def __len__(self) -> int:
        return 6

    def __repr__(self) -> str:
        texts = (f"{part} [{' '.join(f'{x:.6g}' for x in self.values[3 * k:3 * k + 3])}] {unit}"
                 for k, (part, unit) in enumerate(zip(self.parts, self.units)))
        return f"<{type(self).__name__} of {self.frame!r} in the axes of {self.expressed_in!r}: {', '.join(texts)}>"


class SpatialVelocity(_SpatialVector):
    """V_WF: `angular` (3,) rad/s and `linear` (3,) m/s velocity of a frame's origin, measured in the world."""

    __slots__ = ()
    parts, units = ("angular", "linear"), ("rad/s", "m/s")

    @property
    def angular(self) -> np.ndarray:
        """The rotational part (3,): rad/s of a velocity, rad/s^2 of an acceleration."""
        return self.values[:3]

    @property
    def linear(self) -> np.ndarray:
        """The translational part (3,): m/s of a velocity, m/s^2 of an acceleration."""
        return self.values[3:]

    def moved_to(self, state: State, frame: FrameLike) -> Self:
        """Of the point of the same rigid body that is at another frame's origin now; axes as before. v + w x p."""
        p, to = self._arm(state, frame)
        return self._made(shifted(self.values, p, False, None), to, self.expressed_in)


class SpatialAcceleration(SpatialVelocity):
    """A_WF: time derivative in the world of the spatial velocity, rad/s^2 and m/s^2 (not Featherstone's spatial one)."""

    __slots__ = ()
    units = ("rad/s^2", "m/s^2")

    def moved_to(self, state: State, frame: FrameLike,     # type: ignore[override]   # of a velocity: without w
                 angular_velocity: ArrayLike) -> Self:
        """Of the point of the same rigid body that is at another frame's origin now, for the body's angular velocity w (3,) in the
        same axes. a + dw/dt x p + w x (w x p)."""
        p, to = self._arm(state, frame)
        w = vector(type(self).__name__, "angular_velocity", angular_velocity, 3)
        return self._made(shifted(self.values, p, False, w), to, self.expressed_in)


class SpatialForce(_SpatialVector):
    """F_F: `torque` (3,) N m about a frame's origin, and `force` (3,) N."""

    __slots__ = ()
    parts, units = ("torque", "force"), ("N m", "N")

    @property
    def torque(self) -> np.ndarray:
        """(3,), N m, about the point that it is about."""
        return self.values[:3]

    @property
    def force(self) -> np.ndarray:
        """(3,), N."""
        return self.values[3:]

    def moved_to(self, state: State, frame: FrameLike) -> Self:
        """The wrench of the same effect about another frame's origin; axes as before. torque - p x force."""
        p, to = self._arm(state, frame)
        return self._made(shifted(self.values, p, True, None), to, self.expressed_in)


def in_axes_of(what: str, given: _SpatialVector, axes: str) -> np.ndarray:
    """The numbers of a spatial vector, which must be in the axes of the frame named."""
    if given.expressed_in != axes:
        raise MbrosError(f"{what}: this {type(given).__name__} of {given.frame!r} is in the axes of {given.expressed_in!r}, expected "
                         f"those of {axes!r}; its method in_axes(state, {axes!r}) turns it")
    return given.values


def heading_quaternion(angle: float) -> tuple[float, float]:
    """z and w of the quaternion of a rotation by an angle (rad) about z; x and y are 0."""
    return math.sin(0.5 * angle), math.cos(0.5 * angle)
