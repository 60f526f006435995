"""Placements X_AB, and rotations from the angles and quaternions users write."""
from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from mbros_core.typing import Array, ArrayLike

_IDENTITY = np.eye(3)
_ORIGIN = np.zeros(3)
_IDENTITY.setflags(write=False)         # shared by every placement made without one
_ORIGIN.setflags(write=False)


class Placement:
    """X_AB: where frame B is in frame A. `R` (3, 3) has B's axes in A as columns, `p` (3,) is Bo from Ao in A, in m."""

    __slots__ = ("R", "p")

    def __init__(self, R: Array | None = None, p: Array | None = None) -> None:
        self.R = _IDENTITY if R is None else R
        self.p = _ORIGIN if p is None else p

    def __matmul__(self, other: "Placement") -> "Placement":
        """X_AC = X_AB @ X_BC."""
        return Placement(self.R @ other.R, self.R @ other.p + self.p)

    def inverse(self) -> "Placement":
        return Placement(self.R.T, -(self.R.T @ self.p))

    def matrix(self) -> np.ndarray:
        """The homogeneous (4, 4) matrix."""
        X = np.eye(4)
        X[:3, :3], X[:3, 3] = self.R, self.p
        return X

    def __repr__(self) -> str:
        return f"Placement(R={self.R.tolist()}, p={self.p.tolist()})"


def rotation_from_rpy(rpy: Iterable[float]) -> np.ndarray:
    """R = Rz(yaw) Ry(pitch) Rx(roll): URDF's fixed-axis angles, in rad."""
    roll, pitch, yaw = (float(a) for a in rpy)
    cr, sr, cp, sp, cy, sy = np.cos(roll), np.sin(roll), np.cos(pitch), np.sin(pitch), np.cos(yaw), np.sin(yaw)
    return np.array([[cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
                     [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
                     [-sp, cp * sr, cp * cr]])


def rpy_from_rotation(R: Array) -> np.ndarray:
    """(roll, pitch, yaw) of R, pitch in [-pi/2, pi/2]; at its ends, where only yaw -+ roll is determined, roll = 0."""
    pitch = np.arctan2(-R[2, 0], np.hypot(R[0, 0], R[1, 0]))
    if np.hypot(R[2, 1], R[2, 2]) < 1e-12:
        return np.array([0.0, pitch, np.arctan2(-R[0, 1], R[1, 1])])
    return np.array([np.arctan2(R[2, 1], R[2, 2]), pitch, np.arctan2(R[1, 0], R[0, 0])])


def rotation_from_quat_wxyz(quat_wxyz: ArrayLike) -> np.ndarray:
    """R of a quaternion (w, x, y, z); it is normalised first."""
    w, x, y, z = np.asarray(quat_wxyz, dtype=float) / np.linalg.norm(quat_wxyz)
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                     [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])


def align_z(axis: ArrayLike) -> np.ndarray:
    """A rotation whose z column is `axis` (unit). Entries are exactly 0 and +-1 for axes along x, y and z."""
    axis = np.asarray(axis, dtype=float)
    k = int(np.argmax(np.abs(axis)))
    if np.count_nonzero(axis) == 1:
        if k == 2 and axis[2] > 0:
            return np.eye(3)
        x = np.eye(3)[(k + 1) % 3]
    else:
        # x at right angles to the axis and to the coordinate axis it leans on least
        x = np.array(_cross(np.eye(3)[int(np.argmin(np.abs(axis)))], axis))
        x = x / np.linalg.norm(x)
    return np.array([x, _cross(axis, x), axis]).T + 0.0


def _cross(a: Array, b: Array) -> tuple[float, float, float]:
    """a x b; for single vectors many times faster than np.cross."""
    (ax, ay, az), (bx, by, bz) = a.tolist(), b.tolist()
    return ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
