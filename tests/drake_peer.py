"""A joint of mbros and the same joint in Drake, where pydrake is installed: everything both can say must agree."""
import sys

import numpy as np
import pytest
from optional import CASES
from tolerance import assert_close

import mbros
from mbros.describe.joints.kinds import unit_parts


def available():
    """This module, or a skip."""
    pytest.importorskip("pydrake.multibody.plant")
    return sys.modules[__name__]


def _rigid(X):
    from pydrake.math import RigidTransform, RotationMatrix

    return RigidTransform(RotationMatrix(np.array(X.R)), np.array(X.p))


def _joint(plant, row, F, M):
    from pydrake.multibody import tree

    d = row.damping
    if row.kind in ("revolute", "continuous"):
        return plant.AddJoint(tree.RevoluteJoint("j", F, M, row.axis, float(d[0])))
    if row.kind == "prismatic":
        return plant.AddJoint(tree.PrismaticJoint("j", F, M, row.axis, damping=float(d[0])))
    if row.kind == "planar":
        return plant.AddJoint(tree.PlanarJoint("j", F, M, d))
    if row.kind == "screw":
        return plant.AddJoint(tree.ScrewJoint("j", F, M, row.axis, 2 * np.pi * row.parameters[0], float(d[0])))
    if row.kind == "universal":
        return plant.AddJoint(tree.UniversalJoint("j", F, M, float(d[0])))
    if row.kind == "ball_rpy":
        return plant.AddJoint(tree.BallRpyJoint("j", F, M, float(d[0])))
    if row.kind == "floating_rpy":
        return plant.AddJoint(tree.RpyFloatingJoint("j", F, M, float(d[0]), float(d[3])))
    return plant.AddJoint(tree.QuaternionFloatingJoint("j", F, M, float(d[0]), float(d[3])))


KINDS = ("revolute", "prismatic", "planar", "screw", "universal", "ball_rpy", "floating_rpy", "floating")


class OneJoint:
    """The Drake plant of a model with one joint "j" and one body "B"."""

    def __init__(self, model, kind):
        from pydrake.multibody.plant import MultibodyPlant
        from pydrake.multibody.tree import FixedOffsetFrame, SpatialInertia, UnitInertia

        self.model, self.kind, row = model, kind, model.joint("j")._row
        assert row.kind == kind
        self.plant = plant = MultibodyPlant(0.0)
        plant.mutable_gravity_field().set_gravity_vector(model.spec.gravity)
        body = model.body("B")
        m, c = body.mass, body.com
        I = body.inertia + m * ((c @ c) * np.eye(3) - np.outer(c, c))
        G = I / m
        self.B = plant.AddRigidBody("B", SpatialInertia(m, c, UnitInertia(*np.diag(G), G[0, 1], G[0, 2], G[1, 2])))
        F = plant.AddFrame(FixedOffsetFrame("F", plant.world_frame(), _rigid(row.X_PF)))
        M = plant.AddFrame(FixedOffsetFrame("M", self.B.body_frame(), _rigid(row.X_BM)))
        self.F, self.M, self.joint = F, M, _joint(plant, row, F, M)
        plant.Finalize()
        self.context = plant.CreateDefaultContext()

    def compare(self, model, state, rng, bound=1e-12):
        """Pose, velocity, acceleration, H, N, N+, M, bias, gravity, dynamics with damping."""
        from pydrake.multibody.math import SpatialForce
        from pydrake.multibody.tree import JacobianWrtVariable, MultibodyForces

        plant, context, joint = self.plant, self.context, model.joint("j")
        q, v = model.to_convention(state, "drake")
        plant.SetPositions(context, q)
        plant.SetVelocities(context, v)
        # v_drake = T v, and its drift at vdot = 0
        T = np.array([model.to_convention(_with_v(state, e), "drake")[1] for e in np.eye(model.nv)]).T
        scale = 1.0 + np.abs(state.q).max() + np.abs(state.v).max() ** 2
        X = self.M.CalcPose(context, self.F)
        mine = joint.transform(state)
        assert_close(mine.R, X.rotation().matrix(), bound)
        assert_close(mine.p, X.translation(), bound, scale)
        V = self.M.CalcSpatialVelocity(context, self.F, self.F)
        assert_close(joint.spatial_velocity(state), [*V.rotational(), *V.translational()], bound, scale)
        H = plant.CalcJacobianSpatialVelocity(context, JacobianWrtVariable.kV, self.M, np.zeros(3), self.F, self.F)
        assert_close(joint.mobilizer.subspace(state), H @ T, bound, 1.0)
        M = T.T @ plant.CalcMassMatrix(context) @ T
        assert_close(model.mass_matrix(state), M, bound)
        gravity = T.T @ plant.CalcGravityGeneralizedForces(context)
        assert_close(model.gravity_torques(state), -gravity, bound, scale)
        vdot_d = rng.normal(size=model.nv)
        vdot = self._own_rate(model, state, q, v, T, vdot_d)
        tau = plant.CalcInverseDynamics(context, vdot_d, MultibodyForces(plant))
        own = model.inverse_dynamics(state, vdot) + model.passive_torques(state) - model.gravity_torques(state)
        assert_close(own, T.T @ tau, bound, scale * np.abs(M).max())
        free = plant.EvalTimeDerivatives(context).CopyToVector()[model.nq:]
        own = self._own_rate(model, state, q, v, T, free)
        assert_close(model.forward_dynamics(state, np.zeros(model.nv)), own, 10 * bound, np.abs(own).max())
        if not unit_parts(self.kind):
            N = np.array([plant.MapVelocityToQDot(context, e) for e in np.eye(model.nv)]).T
            assert_close(joint.mobilizer.qdot_from_velocity_matrix(state), N, bound)
            assert_close(joint.mobilizer.velocity_from_qdot_matrix(state), np.linalg.inv(N), bound)
        wrench = rng.normal(size=6)
        R_WF = plant.CalcRelativeTransform(context, plant.world_frame(), self.F).rotation().matrix()
        F_W = SpatialForce(R_WF @ wrench[:3], R_WF @ wrench[3:])
        J = plant.CalcJacobianSpatialVelocity(context, JacobianWrtVariable.kV, self.M, np.zeros(3), plant.world_frame(),
                                              plant.world_frame())
        theirs = T.T @ (J.T @ np.concatenate([F_W.rotational(), F_W.translational()]))
        assert_close(joint.project_force(state, wrench), theirs, bound, np.abs(wrench).max() * scale)

    def _own_rate(self, model, state, q, v, T, vdot_drake):
        """vdot of mbros for one of Drake's: floating joints express v in the child frame here, in F there."""
        if self.kind != "floating":
            return vdot_drake
        R = model.joint("j").transform(state).R
        w, u = state.v[:3], state.v[3:]
        return np.concatenate([R.T @ vdot_drake[:3], R.T @ vdot_drake[3:] - np.cross(w, u)])


def _with_v(state, v):
    other = state.copy()
    other.v[:] = v
    return other


def compare_random(kind, rng):
    """CASES random states, four of each random joint: to build joints takes longer than to compare them."""
    for _ in range(0, CASES, 4):
        model = random_model(kind, rng)
        drake = OneJoint(model, kind)
        for _ in range(4):
            drake.compare(model, random_state(model, rng), rng)


def random_model(kind, rng):
    """One joint of that kind with random numbers that Drake can have too."""
    import seed_models

    b = mbros.ModelBuilder("random", rng.normal(size=3) * 5)
    body = seed_models.box(b, "B", rng.uniform(0.5, 4))
    F = b.add_frame("F", b.world, rng.uniform(-1, 1, 3), rng.uniform(-3, 3, 3))
    M = b.add_frame("M", body, rng.uniform(-1, 1, 3), rng.uniform(-3, 3, 3))
    axis = {"axis": rng.normal(size=3), "normalize_axis": True}
    d = float(rng.uniform(0, 2))
    make = {"revolute": lambda: mbros.RevoluteJoint("j", F, M, damping=d, **axis),
            "prismatic": lambda: mbros.PrismaticJoint("j", F, M, damping=d, **axis),
            "planar": lambda: mbros.PlanarJoint("j", F, M, rng.uniform(0, 2, 3)),
            "screw": lambda: mbros.ScrewJoint("j", F, M, pitch_m_per_rad=rng.uniform(-0.2, 0.2), damping=d, **axis),
            "universal": lambda: mbros.UniversalJoint("j", F, M, damping=d),
            "ball_rpy": lambda: mbros.BallRpyJoint("j", F, M, damping=d),
            "floating_rpy": lambda: mbros.FloatingRpyJoint("j", F, M, damping=(d, 2 * d)),
            "floating": lambda: mbros.FloatingJoint("j", F, M, damping=(d, 2 * d))}
    b.add_joint(make[kind]())
    return b.build()


def random_state(model, rng):
    import seed_models

    state = model.default_state()
    state.set_q(seed_models.pitch_ok(model, model.random_configuration(rng)))
    state.set_v(rng.normal(size=model.nv))
    return state
