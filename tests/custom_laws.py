"""Joint laws for the tests of users' joints: three by hand, every built-in kind once more, and a cam at rest in its neutral position."""
import numpy as np
import seed_models

import mbros
from mbros.describe.joints.kinds import row_of
from mbros.describe.joints.kinematics import kinematics
from mbros.diff import joints as gradients
from mbros.model.joints import hpp
from mbros.spatial.placement import Placement

BUILT_IN = {
    "revolute": mbros.RevoluteJoint, "prismatic": mbros.PrismaticJoint, "planar": mbros.PlanarJoint, "floating": mbros.FloatingJoint,
    "ball": mbros.BallJoint, "universal": mbros.UniversalJoint, "cylindrical": mbros.CylindricalJoint, "ball_rpy": mbros.BallRpyJoint,
    "floating_rpy": mbros.FloatingRpyJoint, "screw": lambda *a, **o: mbros.ScrewJoint(*a, pitch_m_per_rad=0.07, **o),
    "circular": lambda *a, **o: mbros.ContinuousJoint(*a, representation="cos_sin", **o),
    **{f"translation{n}": lambda *a, n=n, **o: mbros.TranslationJoint(*a, n, **o) for n in (2, 3)}}
KINDS = list(BUILT_IN)


class Slide(mbros.JointLaw):
    """A prismatic joint along x."""

    nq = nv = 1

    def pose(self, q):
        return np.eye(3), np.array([q[0], 0, 0])

    def subspace(self, q):
        return np.array([[0, 0, 0, 1.0, 0, 0]]).T

    def bias(self, q, v):
        return np.zeros(6)


class Again(mbros.JointLaw):
    """A built-in kind once more, for v = qdot."""

    def __init__(self, kind):
        self.m = m = kinematics(kind, (0.07,) * len(row_of(kind).parameters))
        self.nq, self.nv, self.neutral = m.nq, m.nv, m.row.neutral
        self.position_names, self.velocity_names = m.row.position_names, m.row.velocity_names
        self.position_units, self.velocity_units = m.row.position_units, m.row.velocity_units
        self.velocity_bounds = hpp.velocity_bounds(m)

    def __reduce__(self):
        return type(self), (self.m.row.name,)

    def pose(self, q):
        return self.m.pose(q)

    def subspace(self, q):
        return self.m.subspace(q)

    def bias(self, q, v):
        return self.m.bias(q, v)

    def reach(self, start, lower, upper):
        return hpp.longest_reach(Placement(np.eye(3), -start), self.m, lower, upper)


class AgainOnItsGroup(Again):
    """... with the maps of its own."""

    def qdot(self, q, v):
        return self.m.qdot_matrix(q) @ v

    def velocity(self, q, qdot):
        return self.m.velocity_matrix(q) @ qdot

    def integrate(self, q, dv):
        return self.m.model.integrate(q, dv)

    def difference(self, q0, q1):
        return self.m.model.difference(q0, q1)

    def normalize(self, q):
        return self.m.model.normalize(q)


class Exact(AgainOnItsGroup):
    """... and with exact derivatives."""

    def subspace_gradient(self, q):
        return gradients.subspace(self.m, q)

    def bias_gradient(self, q, v):
        return gradients.bias(self.m, q, v)

    def qdot_gradient(self, q):
        return gradients.qdot_matrix(self.m, q)

    def velocity_gradient(self, q):
        return gradients.velocity_matrix(self.m, q)


def again(kind):
    return (Again if row_of(kind).velocities_are_rates else AgainOnItsGroup)(kind)


class Plane(mbros.JointLaw):
    """The planar joint once more."""

    nq = nv = 3
    position_names, velocity_names = ("x", "y", "qz"), ("vx", "vy", "wz")

    def pose(self, q):
        c, s = np.cos(q[2]), np.sin(q[2])
        return [[c, -s, 0], [s, c, 0], [0, 0, 1]], [q[0], q[1], 0]

    def subspace(self, q):
        H = np.zeros((6, 3))
        H[3, 0] = H[4, 1] = H[2, 2] = 1.0
        return H

    def bias(self, q, v):
        return np.zeros(6)


class Sphere(mbros.JointLaw):
    """The ball joint once more: v is not qdot."""

    nq, nv = 4, 3
    neutral = (1.0, 0.0, 0.0, 0.0)

    def __init__(self):
        self.ball = kinematics("ball")

    def pose(self, q):
        return self.ball.pose(q)

    def subspace(self, q):
        return self.ball.subspace(q)

    def bias(self, q, v):
        return self.ball.bias(q, v)

    def qdot(self, q, v):
        return self.ball.qdot_matrix(q) @ v

    def velocity(self, q, qdot):
        return self.ball.velocity_matrix(q) @ qdot

    def integrate(self, q, dv):
        return self.ball.model.integrate(q, dv)

    def difference(self, q0, q1):
        return self.ball.model.difference(q0, q1)

    def normalize(self, q):
        return q / np.linalg.norm(q)

    def __getstate__(self):
        return {}

    def __setstate__(self, _):
        self.__init__()


class Cam(mbros.JointLaw):
    """At rest at q = 0: M turns about Fz by q^2 and Mo slides along Fx by q^3. Nothing but what a law needs."""

    nq = nv = 1

    def pose(self, q):
        c, s = np.cos(q[0]**2), np.sin(q[0]**2)
        return [[c, -s, 0], [s, c, 0], [0, 0, 1]], [q[0]**3, 0, 0]

    def subspace(self, q):
        return np.array([[0, 0, 2 * q[0], 3 * q[0]**2, 0, 0]]).T

    def bias(self, q, v):
        return np.array([0, 0, 2.0, 6 * q[0], 0, 0]) * v[0]**2


def only(law):
    """Its joint in a model of nothing else."""
    b = mbros.ModelBuilder("only")
    b.add_joint(mbros.CustomJoint("mine", b.world, seed_models.box(b, "B"), law, lower=-0.5, upper=0.7))
    return b.build().joint("mine")
