"""Spatial algebra in Plücker coordinates (RBDA chapter 2): 6-vectors [angular; linear], 6x6 matrices.

`X_AB` is a pose, the pair (R_AB, p_AoBo_A). `motion_transform(X_AB)` is the matrix RBDA calls ^B X_A: it takes a
motion expressed in A (about Ao) to B (about Bo). Its transpose takes a force from B to A.
"""
import numpy as np

from .scalars import cos, sin, vector, zeros


def skew(a):
    """[a]x with [a]x b = a x b (RBDA eq. 2.23)."""
    x, y, z = a
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])


def unskew(A):
    """a from a matrix whose antisymmetric part is [a]x."""
    return vector([A[2, 1] - A[1, 2], A[0, 2] - A[2, 0], A[1, 0] - A[0, 1]]) / 2


def compose(X_AB, X_BC):
    """X_AC = X_AB X_BC."""
    (R, p), (S, r) = X_AB, X_BC
    return R @ S, p + R @ r


def motion_transform(X_AB):
    """^B X_A = [[E, 0], [-E [p]x, E]] with E = R_AB^T and p = p_AoBo_A (RBDA eq. 2.24)."""
    R, p = X_AB
    E = R.T
    return np.block([[E, zeros(3, 3)], [-E @ skew(p), E]])


def rotate6(R, x):
    """The 6-vector x (motion or force) re-expressed: both halves are rotated by R, the point stays."""
    return np.concatenate([R @ x[:3], R @ x[3:]])


def cross_motion(v):
    """crm(v): the matrix of v x m for a motion m (RBDA eq. 2.31)."""
    w, u = skew(v[:3]), skew(v[3:])
    return np.block([[w, zeros(3, 3)], [u, w]])


def cross_force(v):
    """crf(v): the matrix of v x* f for a force f; minus the transpose of crm(v) (RBDA eq. 2.32)."""
    return -cross_motion(v).T


def spatial_inertia(ten):
    """The 6x6 inertia about Bo from m, h = m c (3), Ixx Iyy Izz Ixy Ixz Iyz about Bo (RBDA eq. 2.63)."""
    m, hx, hy, hz, xx, yy, zz, xy, xz, yz = ten
    I_Bo = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    h = skew([hx, hy, hz])
    return np.block([[I_Bo, h], [h.T, m * np.eye(3, dtype=int)]])


def rotation_x(angle):
    s, c = sin(angle), cos(angle)
    return np.array([[1, 0, 0], [0, c, -s], [0, s, c]])


def rotation_y(angle):
    s, c = sin(angle), cos(angle)
    return np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])


def rotation_z(angle):
    s, c = sin(angle), cos(angle)
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])


def rotation_from_rpy(rpy):
    """Rz(yaw) Ry(pitch) Rx(roll): roll, pitch and yaw about the fixed axes x, y, z, as in URDF."""
    return rotation_z(rpy[2]) @ rotation_y(rpy[1]) @ rotation_x(rpy[0])


def rotation_from_quaternion(quat_wxyz):
    """The rotation of quat / |quat|, without a square root (RBDA eq. 4.12 with the norm divided out)."""
    w, x, y, z = quat_wxyz
    s = 2 / (w * w + x * x + y * y + z * z)
    return np.array([
        [1 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y)],
        [s * (x * y + w * z), 1 - s * (x * x + z * z), s * (y * z - w * x)],
        [s * (x * z - w * y), s * (y * z + w * x), 1 - s * (x * x + y * y)]])


def quaternion_rate(quat_wxyz, w_B):
    """d/dt of the quaternion of a body that turns with w_B (in its own axes): quat * (0, w) / 2 (RBDA eq. 4.13)."""
    w, x, y, z = quat_wxyz
    a, b, c = w_B
    return vector([-x * a - y * b - z * c, w * a + y * c - z * b, w * b + z * a - x * c, w * c + x * b - y * a]) / 2
