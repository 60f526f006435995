"""Joint models (RBDA section 4.4): what a joint lets its body do, one small class per kind.

Each kind states the pose X_FM(q) of its outboard frame M in its inboard frame F, the motion subspace S (6, nv), the bias
cJ = S° v, where S° is the apparent derivative of S in M (RBDA section 4.4), and the rate qdot = N(q) v. S and cJ are in M's
axes about Mo. A joint with one axis moves along or about the z axis of F. Names and coordinates are those of
`mbros_core.joints.registry`.

The tests derive S from X_FM by complex step, and cJ from S: X_FM and qdot are the only statements to be believed.
"""
import numpy as np

from .scalars import cos, sin, sqrt, vector, zeros
from .spatial import quaternion_rate, rotation_from_quaternion, rotation_from_rpy, rotation_x, rotation_y, rotation_z

IDENTITY = np.eye(3, dtype=int)


def columns(*rows):
    """(6, n) from n motions."""
    return np.array(rows).T


class Joint:
    """Defaults: v = qdot, and a motion subspace that is constant in M. `parameters`: the spec's four numbers."""

    nq = nv = 0
    neutral = ()

    def __init__(self, parameters=(0.0, 0.0, 0.0, 0.0)):
        self.parameters = parameters

    def bias(self, q, v):
        return zeros(6)

    def rate(self, q, v):
        return v


class Weld(Joint):
    """No motion at all."""

    def pose(self, q):
        return IDENTITY, zeros(3)

    def subspace(self, q):
        return zeros(6, 0)


class Revolute(Joint):
    """Turns by q (rad) about z of F. Stands for "revolute" and "continuous"."""

    nq = nv = 1
    neutral = (0.0,)

    def pose(self, q):
        return rotation_z(q[0]), zeros(3)

    def subspace(self, q):
        return columns([0, 0, 1, 0, 0, 0])


class Circular(Joint):
    """Turns about z of F; q = (cos, sin) of the angle, of any length but zero; v the angle's rate."""

    nq, nv = 2, 1
    neutral = (1.0, 0.0)

    def pose(self, q):
        length = sqrt(q[0] * q[0] + q[1] * q[1])
        c, s = q[0] / length, q[1] / length
        return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]), zeros(3)

    def subspace(self, q):
        return columns([0, 0, 1, 0, 0, 0])

    def rate(self, q, v):
        return vector([-q[1] * v[0], q[0] * v[0]])


class Prismatic(Joint):
    """Slides by q (m) along z of F."""

    nq = nv = 1
    neutral = (0.0,)

    def pose(self, q):
        return IDENTITY, np.array([0, 0, q[0]])

    def subspace(self, q):
        return columns([0, 0, 0, 0, 0, 1])


class Screw(Joint):
    """Turns by q (rad) about z of F and slides along it by pitch q; pitch in m/rad."""

    nq = nv = 1
    neutral = (0.0,)

    def pose(self, q):
        return rotation_z(q[0]), np.array([0, 0, self.parameters[0] * q[0]])

    def subspace(self, q):
        return columns([0, 0, 1, 0, 0, self.parameters[0]])


class Cylindrical(Joint):
    """Turns by q[0] (rad) about z of F and slides by q[1] (m) along it."""

    nq = nv = 2
    neutral = (0.0, 0.0)

    def pose(self, q):
        return rotation_z(q[0]), np.array([0, 0, q[1]])

    def subspace(self, q):
        return columns([0, 0, 1, 0, 0, 0], [0, 0, 0, 0, 0, 1])


class Universal(Joint):
    """Turns by q[0] about x of F, then by q[1] about y of M (rad)."""

    nq = nv = 2
    neutral = (0.0, 0.0)

    def pose(self, q):
        return rotation_x(q[0]) @ rotation_y(q[1]), zeros(3)

    def subspace(self, q):
        # x of F as M sees it turns with q[1]
        return columns([cos(q[1]), 0, sin(q[1]), 0, 0, 0], [0, 1, 0, 0, 0, 0])

    def bias(self, q, v):
        return v[0] * v[1] * vector([-sin(q[1]), 0, cos(q[1]), 0, 0, 0])


class Translation2(Joint):
    """Slides in the xy plane of F."""

    nq = nv = 2
    neutral = (0.0, 0.0)

    def pose(self, q):
        return IDENTITY, np.array([q[0], q[1], 0])

    def subspace(self, q):
        return columns([0, 0, 0, 1, 0, 0], [0, 0, 0, 0, 1, 0])


class Translation3(Joint):
    """Slides along x, y and z of F."""

    nq = nv = 3
    neutral = (0.0, 0.0, 0.0)

    def pose(self, q):
        return IDENTITY, vector(q)

    def subspace(self, q):
        return np.eye(6, dtype=int)[:, 3:]


class Planar(Joint):
    """Slides in the xy plane of F and turns about z: q = (x, y, theta), v = qdot, with x and y along the axes of F."""

    nq = nv = 3
    neutral = (0.0, 0.0, 0.0)

    def pose(self, q):
        return rotation_z(q[2]), np.array([q[0], q[1], 0])

    def subspace(self, q):
        # the unit vectors of F, seen from M, carry xdot and ydot; z carries thetadot
        s, c = sin(q[2]), cos(q[2])
        return columns([0, 0, 0, c, -s, 0], [0, 0, 0, s, c, 0], [0, 0, 1, 0, 0, 0])

    def bias(self, q, v):
        s, c = sin(q[2]), cos(q[2])
        return v[2] * vector([0, 0, 0, -s * v[0] + c * v[1], -c * v[0] - s * v[1], 0])


class Ball(Joint):
    """Turns freely: q = quat_wxyz of R_FM, of any length but zero; v = w of M in F, expressed in M."""

    nq, nv = 4, 3
    neutral = (1.0, 0.0, 0.0, 0.0)

    def pose(self, q):
        return rotation_from_quaternion(q), zeros(3)

    def subspace(self, q):
        return np.eye(6, dtype=int)[:, :3]

    def rate(self, q, v):
        return quaternion_rate(q, v)


class Floating(Joint):
    """Free: q = [p_FoMo_F; quat_wxyz of R_FM], v = [w; v] of M in F, expressed in M."""

    nq, nv = 7, 6
    neutral = (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)

    def pose(self, q):
        return rotation_from_quaternion(q[3:7]), vector(q[:3])

    def subspace(self, q):
        return np.eye(6, dtype=int)

    def rate(self, q, v):
        # pdot = R v, and the quaternion rate of w
        return np.concatenate([rotation_from_quaternion(q[3:7]) @ v[3:6], quaternion_rate(q[3:7], v[:3])])


def rpy_rate(q, w_F):
    """Rates of (roll, pitch, yaw) of a frame that turns with w, expressed in F; singular at pitch = +-90 deg."""
    sp, cp, sy, cy = sin(q[1]), cos(q[1]), sin(q[2]), cos(q[2])
    roll = (cy * w_F[0] + sy * w_F[1]) / cp
    return vector([roll, cy * w_F[1] - sy * w_F[0], w_F[2] + sp * roll])


class BallRpy(Joint):
    """Turns freely: q = (roll, pitch, yaw), R_FM = Rz(yaw) Ry(pitch) Rx(roll); v = w of M in F, expressed in F."""

    nq = nv = 3
    neutral = (0.0, 0.0, 0.0)

    def pose(self, q):
        return rotation_from_rpy(q), zeros(3)

    def subspace(self, q):
        R = rotation_from_rpy(q)
        return np.concatenate([R.T, zeros(3, 3)])

    def rate(self, q, v):
        return rpy_rate(q, v)


class FloatingRpy(Joint):
    """Free: q = (roll, pitch, yaw, p_FoMo_F), v = [w; v] of M in F, expressed in F."""

    nq = nv = 6
    neutral = (0.0,) * 6

    def pose(self, q):
        return rotation_from_rpy(q), vector(q[3:])

    def subspace(self, q):
        R = rotation_from_rpy(q)
        return np.block([[R.T, zeros(3, 3)], [zeros(3, 3), R.T]])

    def bias(self, q, v):
        # v is constant in F, so M sees it turn: -w x v
        R = rotation_from_rpy(q)
        return np.concatenate([zeros(3), -np.cross(R.T @ v[:3], R.T @ v[3:])])

    def rate(self, q, v):
        return np.concatenate([rpy_rate(q, v[:3]), v[3:]])


KINDS = {"weld": Weld, "revolute": Revolute, "continuous": Revolute, "prismatic": Prismatic, "planar": Planar,
         "floating": Floating, "ball": Ball, "universal": Universal, "screw": Screw, "cylindrical": Cylindrical,
         "translation2": Translation2, "translation3": Translation3, "circular": Circular, "ball_rpy": BallRpy,
         "floating_rpy": FloatingRpy}
