"""Poses, velocities, accelerations and forces as people hold them: arrays that say what they are and in which axes."""
from __future__ import annotations

import numpy as np


class Pose:
    """X_AB: where frame B is in frame A. `R` (3, 3) has B's axes in A as columns, `p` (3,) is Bo from Ao in A, m."""

    __slots__ = ("R", "p", "frame", "relative_to")

    def __init__(self, R, p, frame: str = "", relative_to: str = ""):
        self.R, self.p, self.frame, self.relative_to = np.asarray(R, float), np.asarray(p, float), frame, relative_to

    @classmethod
    def from_row(cls, row, frame="", relative_to="") -> "Pose":
        """From 12 numbers: R row-major, then p."""
        return cls(row[:9].reshape(3, 3), row[9:], frame, relative_to)

    @property
    def quat_wxyz(self) -> np.ndarray:
        """The rotation as a unit quaternion w x y z with w >= 0, from its largest component (Shepperd 1978)."""
        R = self.R
        t = np.array([1 + R[0, 0] + R[1, 1] + R[2, 2], 1 + R[0, 0] - R[1, 1] - R[2, 2],
                      1 - R[0, 0] + R[1, 1] - R[2, 2], 1 - R[0, 0] - R[1, 1] + R[2, 2]])
        k = int(t.argmax())
        a, b, c = R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
        d, e, f = R[0, 1] + R[1, 0], R[0, 2] + R[2, 0], R[1, 2] + R[2, 1]
        q = np.array([(t[0], a, b, c), (a, t[1], d, e), (b, d, t[2], f), (c, e, f, t[3])][k])
        q *= 0.5 / np.sqrt(t[k])
        return -q if q[0] < 0 else q

    @property
    def quat_xyzw(self) -> np.ndarray:
        """The same with w last, as ROS and Pinocchio have it."""
        return np.roll(self.quat_wxyz, -1)

    @property
    def matrix(self) -> np.ndarray:
        """Homogeneous (4, 4)."""
        X = np.eye(4)
        X[:3, :3], X[:3, 3] = self.R, self.p
        return X

    def inverse(self) -> "Pose":
        return Pose(self.R.T, -self.R.T @ self.p, self.relative_to, self.frame)

    def __matmul__(self, other):
        """X_AC = X_AB @ X_BC; with points (3,) or (n, 3) given in B: the same points in A."""
        if isinstance(other, Pose):
            return Pose(self.R @ other.R, self.R @ other.p + self.p, other.frame, self.relative_to)
        return np.asarray(other, float) @ self.R.T + self.p

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.matrix, dtype)

    def __repr__(self):
        def row(a):
            return "[" + " ".join(f"{x:.6g}" for x in a) + "]"
        of = f" of {self.frame!r} in {self.relative_to!r}" if self.frame else ""
        return f"<Pose{of}: p {row(self.p)} m, quat_wxyz {row(self.quat_wxyz)}>"


class _SpatialVector:
    """Six numbers, rotational part first, taken about a point and expressed in a frame's axes."""

    __slots__ = ("values", "frame", "expressed_in")
    parts, units = ("rotational", "translational"), ("", "")

    def __init__(self, values, frame: str = "", expressed_in: str = "world"):
        self.values, self.frame, self.expressed_in = np.asarray(values, float), frame, expressed_in

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.values, dtype)

    def __getitem__(self, k):
        return self.values[k]

    def __len__(self):
        return 6

    def __repr__(self):
        texts = (f"{part} [{' '.join(f'{x:.6g}' for x in self.values[3 * k:3 * k + 3])}] {unit}"
                 for k, (part, unit) in enumerate(zip(self.parts, self.units)))
        return f"<{type(self).__name__} of {self.frame!r} in the axes of {self.expressed_in!r}: {', '.join(texts)}>"


class SpatialVelocity(_SpatialVector):
    """V_WF: `angular` (3,) rad/s and `linear` (3,) m/s velocity of a frame's origin, measured in the world."""

    __slots__ = ()
    parts, units = ("angular", "linear"), ("rad/s", "m/s")

    @property
    def angular(self) -> np.ndarray:
        return self.values[:3]

    @property
    def linear(self) -> np.ndarray:
        return self.values[3:]


class SpatialAcceleration(SpatialVelocity):
    """A_WF: time derivative in the world of the spatial velocity, rad/s^2 and m/s^2 (not Featherstone's spatial one)."""

    __slots__ = ()
    units = ("rad/s^2", "m/s^2")


class SpatialForce(_SpatialVector):
    """F_F: `torque` (3,) N m about a frame's origin, and `force` (3,) N."""

    __slots__ = ()
    parts, units = ("torque", "force"), ("N m", "N")

    @property
    def torque(self) -> np.ndarray:
        return self.values[:3]

    @property
    def force(self) -> np.ndarray:
        return self.values[3:]
