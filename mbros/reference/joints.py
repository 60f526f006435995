"""Joint models (RBDA section 4.4): what a joint lets its body do, one small class per kind.

Each kind states the pose X_FM(q) of its outboard frame M in its inboard frame F, the motion subspace S (6, nv) and the
bias cJ = S° v, where S° is the apparent derivative of S in M (RBDA section 4.4). S and cJ are in M's axes about Mo.
A joint with one axis moves along or about the z axis of F.

The tests derive S from X_FM by complex step, and cJ from S: X_FM is the only statement that has to be believed.
"""
import numpy as np

from .scalars import cos, sin, vector, zeros
from .spatial import quaternion_rate, rotation_from_quaternion, rotation_z

IDENTITY = np.eye(3, dtype=int)


class Weld:
    """No motion at all."""

    nq = nv = 0
    neutral = ()

    @staticmethod
    def pose(q):
        return IDENTITY, zeros(3)

    @staticmethod
    def subspace(q):
        return zeros(6, 0)

    @staticmethod
    def bias(q, v):
        return zeros(6)

    @staticmethod
    def rate(q, v):
        return zeros(0)


class Revolute:
    """Turns by q (rad) about z of F. Stands for "revolute" and "continuous"."""

    nq = nv = 1
    neutral = (0.0,)

    @staticmethod
    def pose(q):
        return rotation_z(sin(q[0]), cos(q[0])), zeros(3)

    @staticmethod
    def subspace(q):
        return np.array([[0, 0, 1, 0, 0, 0]]).T

    @staticmethod
    def bias(q, v):
        return zeros(6)

    @staticmethod
    def rate(q, v):
        return v


class Prismatic:
    """Slides by q (m) along z of F."""

    nq = nv = 1
    neutral = (0.0,)

    @staticmethod
    def pose(q):
        return IDENTITY, np.array([0, 0, q[0]])

    @staticmethod
    def subspace(q):
        return np.array([[0, 0, 0, 0, 0, 1]]).T

    @staticmethod
    def bias(q, v):
        return zeros(6)

    @staticmethod
    def rate(q, v):
        return v


class Planar:
    """Slides in the xy plane of F and turns about z: q = (x, y, theta), v = qdot, with x and y along the axes of F."""

    nq = nv = 3
    neutral = (0.0, 0.0, 0.0)

    @staticmethod
    def pose(q):
        return rotation_z(sin(q[2]), cos(q[2])), np.array([q[0], q[1], 0])

    @staticmethod
    def subspace(q):
        # the unit vectors of F, seen from M, carry xdot and ydot; z carries thetadot
        s, c = sin(q[2]), cos(q[2])
        return np.array([[0, 0, 0, c, -s, 0], [0, 0, 0, s, c, 0], [0, 0, 1, 0, 0, 0]]).T

    @staticmethod
    def bias(q, v):
        s, c = sin(q[2]), cos(q[2])
        return v[2] * vector([0, 0, 0, -s * v[0] + c * v[1], -c * v[0] - s * v[1], 0])

    @staticmethod
    def rate(q, v):
        return v


class Floating:
    """Free: q = [p_FoMo_F; quat_wxyz of R_FM], v = [w; v] of M in F, expressed in M."""

    nq, nv = 7, 6
    neutral = (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)

    @staticmethod
    def pose(q):
        return rotation_from_quaternion(q[3:7]), vector(q[:3])

    @staticmethod
    def subspace(q):
        return np.eye(6, dtype=int)

    @staticmethod
    def bias(q, v):
        return zeros(6)

    @staticmethod
    def rate(q, v):
        # pdot = R v, and the quaternion rate of w
        return np.concatenate([rotation_from_quaternion(q[3:7]) @ v[3:6], quaternion_rate(q[3:7], v[:3])])


KINDS = {"weld": Weld, "revolute": Revolute, "continuous": Revolute, "prismatic": Prismatic, "planar": Planar,
         "floating": Floating}
