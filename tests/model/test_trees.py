"""Trees over every joint kind that Pinocchio computed (trees.json), built with the joints people write, through names."""
import numpy as np
import pytest
import seed_models
from tolerance import assert_close

import mbros

CASES = seed_models.load("trees")["cases"]
seed = pytest.mark.seed
every_case = pytest.mark.parametrize("case", CASES, ids=[f"{len(case['joints'])} joints" for case in CASES])

MAKE = {
    "revolute_x": lambda n, p, c, X: mbros.RevoluteJoint(n, p, c, (1, 0, 0), pose=X),
    "revolute_x_unbounded": lambda n, p, c, X: mbros.ContinuousJoint(n, p, c, (1, 0, 0), representation="cos_sin", pose=X),
    "prismatic_x": lambda n, p, c, X: mbros.TranslationJoint(n, p, c, 1, pose=X),
    "translation_xyz": lambda n, p, c, X: mbros.TranslationJoint(n, p, c, 3, pose=X),
    "spherical": lambda n, p, c, X: mbros.BallJoint(n, p, c, pose=X),
    "planar": lambda n, p, c, X: mbros.PlanarJoint(n, p, c, pose=X),
    "free_flyer": lambda n, p, c, X: mbros.FloatingJoint(n, p, c, pose=X),
}


class Tree:
    """The model, and the golden numbers in its order and coordinates."""

    def __init__(self, case):
        b = mbros.ModelBuilder("tree", case["gravity"])
        bodies = [b.add_body(f"body{k}", j["mass"], j["com"], j["inertia_at_com"]) for k, j in enumerate(case["joints"])]
        for k, j in enumerate(case["joints"]):
            parent = b.world if j["parent"] < 0 else bodies[j["parent"]]
            b.add_joint(MAKE[j["kind"]](j["name"], parent, bodies[k], seed_models.pose(j["placement"])))
        self.builder, self.model, self.case = b, b.build(), case
        self.state = self.model.default_state()
        self.joints = [self.model.joint(j["name"]) for j in case["joints"]]
        n = self.model.nv
        self.T, self.drift = np.zeros((n, n)), np.zeros(n)      # v_golden = T v;  drift = Tdot v
        for k, joint in enumerate(self.joints):
            self.state.q[joint.q_slice] = self._own_q(k)
        for k, joint in enumerate(self.joints):
            at = case["idx_v"][k]
            self.T[at:at + joint.nv, joint.v_slice] = self._own_T(k)
        self.state.v[:] = np.linalg.solve(self.T, case["v"])
        for k, joint in enumerate(self.joints):
            if case["joints"][k]["kind"] == "planar":
                at = case["idx_v"][k]
                a, b_, w = case["v"][at:at + 3]
                self.drift[at:at + 2] = w * b_, -w * a

    def _q(self, k):
        at = self.case["idx_q"]
        return np.array(self.case["q"][at[k]:at[k + 1] if k + 1 < len(at) else None])

    def _own_q(self, k):
        q, kind = self._q(k), self.case["joints"][k]["kind"]
        if kind == "free_flyer":
            return [*q[:3], q[6], *q[3:6]]
        if kind == "spherical":
            return [q[3], *q[:3]]
        return [*q[:2], np.arctan2(q[3], q[2])] if kind == "planar" else q

    def _own_T(self, k):
        kind, nv = self.case["joints"][k]["kind"], self.joints[k].nv
        if kind == "free_flyer":
            return np.roll(np.eye(6), 3, axis=0)
        if kind == "planar":
            c, s = self._q(k)[2:]
            return [[c, s, 0], [-s, c, 0], [0, 0, 1]]
        return np.eye(nv)


@seed("HJ-01", "HJ-02", "HJ-03", "HJ-04", "HJ-05", "HJ-11", "HJ-13", "HJ-28", "HJ-29", "HJ-45")
@every_case
def test_kinematics(case):
    x = Tree(case)
    model, state, T = x.model, x.state, x.T
    for k, joint in enumerate(x.joints):
        want = case["world_pose"][k]
        X = model.pose(state, joint)
        assert_close(X.R, want["R"], 1e-12)
        assert_close(X.p, want["p"], 1e-12)
        J = model.jacobian(state, joint, rows="linear_angular")
        assert_close(J, np.array(case["jacobian_lin_ang_world"][k]) @ T, 1e-12)
        assert np.array_equal(model.jacobian(state, joint), np.vstack([J[3:], J[:3]]))
    assert_close(model.total_mass(state), case["total_mass"], 1e-12)
    assert_close(model.center_of_mass(state), case["com"], 1e-12)
    assert_close(model.com_jacobian(state), np.array(case["jacobian_com"]) @ T, 1e-12)
    with pytest.raises(ValueError, match="rows is 'up'"):
        model.jacobian(state, joint, rows="up")


@seed("HJ-45", "HJ-42")
@every_case
def test_dynamics(case):
    x = Tree(case)
    model, state, T = x.model, x.state, x.T
    acceleration = np.linalg.solve(T, np.array(case["a"]) - x.drift)
    tau = T.T @ np.array(case["inverse_dynamics"])
    assert_close(model.inverse_dynamics(state, acceleration), tau, 1e-12)
    assert_close(model.gravity_torques(state), T.T @ np.array(case["gravity_tau"]), 1e-12)
    vdot = np.linalg.solve(T, np.array(case["forward_dynamics"]) - x.drift)
    assert_close(model.forward_dynamics(state, T.T @ np.array(case["tau"])), vdot, 1e-12)
    assert_close(model.kinetic_energy(state), case["kinetic_energy"], 1e-12)
    assert_close(model.potential_energy(state), case["potential_energy"], 1e-12)


@seed("HJ-14", "HJ-15", "HJ-16")
@every_case
def test_sizes_and_neutral(case):
    x = Tree(case)
    planar = sum(joint["kind"] == "planar" for joint in case["joints"])      # an angle here, (cos, sin) there
    assert x.model.nq == len(case["q"]) - planar and x.model.nv == len(case["v"])
    neutral = x.model.neutral_configuration()
    for k, joint in enumerate(x.joints):
        own = joint.defaults.neutral
        golden = case["neutral"][case["idx_q"][k]:][:len(x._q(k))]
        assert neutral[joint.q_slice].tolist() == own.tolist()
        kind = case["joints"][k]["kind"]
        if kind == "free_flyer":
            golden = [*golden[:3], golden[6], *golden[3:6]]
        elif kind == "spherical":
            golden = [golden[3], *golden[:3]]
        elif kind == "planar":
            golden = [*golden[:2], 0.0]
        assert own.tolist() == golden
        assert (joint.q_slice.start, joint.v_slice.start) == (joint.q_slice.start, joint.v_slice.start)


@seed("HJ-12", "HJ-10", "HJ-23", "HJ-07")
@every_case
def test_poses_one_by_one(case):
    """pose = parent's pose, placement, X_FM(q); and building from world poses gives the same placements."""
    x = Tree(case)
    model, state = x.model, x.state
    for joint in model.joints:
        above = joint.topology.parent
        X = mbros.Pose(np.eye(3), np.zeros(3)) if above is None else model.pose(state, above)
        for q in (joint.position(state), state.q.copy()):
            got = joint.topology.pose_from_parent(q, X)
            assert_close(got.matrix, model.pose(state, joint).matrix, 1e-13)
        rest = model.default_state()
        rest.q[:] = model.neutral_configuration()
        assert_close(joint.topology.neutral_pose.matrix, model.pose(rest, joint).matrix, 1e-15)
    b = mbros.ModelBuilder("again", case["gravity"])
    bodies = [b.add_body(f"body{k}", j["mass"], j["com"], j["inertia_at_com"]) for k, j in enumerate(case["joints"])]
    for k, j in enumerate(case["joints"]):
        parent = b.world if j["parent"] < 0 else bodies[j["parent"]]
        b.add_joint(MAKE[j["kind"]](j["name"], parent, bodies[k], None), world_pose=x.joints[k].topology.neutral_pose)
    again = b.build()
    for joint in x.joints:
        assert_close(again.joint(joint.name).placement.matrix(), joint.placement.matrix(), 1e-13)
