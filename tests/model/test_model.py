"""The friendly model: parts by name, poses and velocities as objects, joints that answer for themselves."""
import pickle

import numpy as np
import pytest
import robots
from tolerance import EPS, assert_close

import mbros
import reference as ref

ROBOTS = [("panda", "fixed"), ("mobile_arm", "planar"), ("quadruped", "floating")]


@pytest.fixture(params=ROBOTS, ids=[name for name, _ in ROBOTS])
def robot(request):
    return robots.loaded(*request.param)


@pytest.fixture
def state(robot, rng):
    state = robot.model.random_state(rng)
    state.v[:] = rng.normal(size=robot.model.nv)
    return state


def test_names_lead_to_parts(robot):
    model = robot.model
    for parts, find in ((model.joints, model.joint), (model.bodies, model.body), (model.frames, model.frame)):
        assert len(set(parts.names)) == len(parts)
        for k, part in enumerate(parts):
            assert find(part.name) is part is parts[k] and part.name in parts
    assert model.bodies[0].name == "world" and len(model.bodies) == len(model.bodies)
    assert "no such" not in model.joints


def test_lists_are_shown_in_plain_words():
    model = mbros.load("double_pendulum")
    assert repr(model.bodies).startswith("<4 bodies: world, ") and repr(model.joints) == "<3 joints: base, shoulder, elbow>"
    assert repr(mbros.ModelBuilder("empty").build().bodies) == "<1 body: world>"


def test_efforts_of_a_joint_with_several_velocities_are_given_one_by_one():
    model = mbros.load("quadruped")
    assert model.effort_vector({"base": (1, 2, 3, 4, 5, 6), "FL_hip_joint": 7.0})[:7].tolist() == [1, 2, 3, 4, 5, 6, 7]
    with pytest.raises(mbros.MbrosError, match=r"joint 'base' \(floating\): effort: expected 6 numbers, got shape \(\)"):
        model.effort_vector({"base": 3.0})                   # three newton metres, three newtons?


@pytest.mark.parametrize("kind, wrong, meant", [
    ("joint", "panda_join4", "panda_joint4"), ("body", "panda_hnad", "panda_hand"), ("frame", "panda_joint4.m", "panda_joint4.M")])
def test_a_wrong_name_says_what_was_meant(kind, wrong, meant):
    model = robots.loaded("panda", "fixed").model
    with pytest.raises(ValueError, match=f"no {kind} '{wrong}' in model 'panda'; did you mean '{meant}'"):
        getattr(model, kind)(wrong)


def test_frames_move_as_the_textbook_says(robot, state, rng):
    model, tree, vdot = robot.model, ref.Tree(robot.spec), rng.normal(size=robot.model.nv)
    for frame in (model.bodies[-1], model.joints[-1], model.frames[-1], model.bodies[len(model.bodies) // 2].name):
        k = model._frame_index(frame)
        R, p = ref.frame_pose(tree, state.q, k)
        X = model.pose(state, frame)
        assert_close(X.R, R, 64 * EPS, scale=1.0)
        assert_close(X.p, p, 64 * EPS, scale=1.0)
        assert_close(model.velocity(state, frame), ref.frame_velocity(tree, state.q, state.v, k), 256 * EPS, scale=1.0)
        assert_close(model.acceleration(state, frame, vdot),
                     ref.frame_acceleration(tree, state.q, state.v, vdot, k), 1024 * EPS, scale=1.0)
        J = ref.frame_jacobian(tree, state.q, k)
        assert_close(model.jacobian(state, frame), J, 128 * EPS, scale=1.0)
        local = np.vstack([R.T @ J[:3], R.T @ J[3:]])
        assert_close(model.jacobian(state, frame, expressed_in="local"), local, 128 * EPS, scale=1.0)


def test_poses_are_inverse_of_each_other(robot, state):
    model = robot.model
    a, b = model.bodies[-1].name, model.bodies[2].name
    X, Y = model.pose(state, a, relative_to=b), model.pose(state, b, relative_to=a)
    assert_close((X @ Y).matrix, np.eye(4), 64 * EPS)
    assert_close(X.inverse().matrix, Y.matrix, 64 * EPS, scale=1.0)
    w, x, y, z = X.quat_wxyz
    assert abs(np.linalg.norm([w, x, y, z]) - 1) < 4 * EPS and w >= 0
    assert np.array_equal(X.quat_xyzw, [x, y, z, w])


def test_joints_know_their_relative_motion(robot, state, rng):
    """X_FM, V_FM and A_FM against differences over time along the motion; H^T by virtual power."""
    model, h = robot.model, EPS ** 0.25
    vdot = rng.normal(size=model.nv)
    ahead, behind = model.default_state(), model.default_state()
    for s, sign in ((ahead, 1), (behind, -1)):
        s.q[:] = model.integrate(state.q, sign * h * state.v + h * h / 2 * vdot)
        s.v[:] = state.v + sign * h * vdot
    for joint in model.joints:
        X = joint.transform(state)
        Xa, Xb = joint.transform(ahead), joint.transform(behind)
        V, A = np.asarray(joint.spatial_velocity(state)), np.asarray(joint.spatial_acceleration(state, vdot))
        W = (Xa.R - Xb.R) / (2 * h) @ X.R.T
        moved = np.concatenate([[W[2, 1], W[0, 2], W[1, 0]], (Xa.p - Xb.p) / (2 * h)])
        scale = (1 + np.abs(state.v).max() + np.abs(vdot).max()) ** 3
        assert_close(V, moved, 4 * h * h, scale=scale, what=joint.name)
        change = (np.asarray(joint.spatial_velocity(ahead)) - np.asarray(joint.spatial_velocity(behind))) / (2 * h)
        assert_close(A, change, 4 * h * h, scale=scale, what=joint.name)
        F = rng.normal(size=6)
        power = joint.project_force(state, F) @ state.v[joint.v_slice] if joint.nv else 0.0
        assert power == pytest.approx(V @ F, abs=256 * EPS * (np.abs(V) @ np.abs(F) + np.abs(state.v).max()))


def test_a_one_axis_joint_turns_about_its_axis(robot, state):
    for joint in robot.model.joints:
        if joint.kind in ("revolute", "continuous", "prismatic"):
            V = np.asarray(joint.spatial_velocity(state))
            along = V[3:] if joint.kind == "prismatic" else V[:3]
            assert_close(along, joint.axis * joint.velocity(state), 256 * EPS, scale=1.0)


@pytest.mark.filterwarnings("ignore::mbros.PositionLimitWarning")
def test_positions_and_velocities_by_joint(robot, rng):
    model = robot.model
    state = model.default_state()
    for joint in model.joints:
        if joint.nv == 0 or joint.kind == "floating":
            continue
        if joint.follows:
            with pytest.raises(ValueError, match=f"'{joint.name}' follows '{joint.mimic[0]}'"):
                joint.set_position(state, 0.0)
            leader = model.joint(joint.mimic[0])
            assert joint.position(state) == pytest.approx(joint.mimic[1] * leader.position(state) + joint.mimic[2])
            continue
        q, v = rng.normal(size=(2, joint.nv))
        joint.set_position(state, q).set_velocity(state, v)
        assert np.array_equal(state.q[joint.q_slice], q) and np.array_equal(joint.position(state), q)
        assert np.array_equal(state.v[joint.v_slice], v) and np.array_equal(joint.velocity(state), v)
        for wrong in (np.zeros(joint.nv + 1), np.full(joint.nv, np.nan)):
            with pytest.raises(ValueError, match=f"joint '{joint.name}'"):
                joint.set_position(state, wrong)
        for setter in (joint.set_damping, joint.set_friction):
            with pytest.raises(ValueError, match="zero or more"):
                setter(state, np.full(joint.nv, -1.0))
        assert np.array_equal(joint.position(state), q), "a refused value changes nothing"


def test_wrenches_on_frames(robot, state, rng):
    """A wrench on any frame acts like its Jacobian's transpose; several add up; clearing removes them."""
    model, tau = robot.model, rng.normal(size=robot.model.nv)
    free = model.inverse_dynamics(state, np.zeros(model.nv))
    a, b = model.bodies[-1], model.bodies[2]
    Fa, Fb = rng.normal(size=(2, 6))
    model.apply_wrench(state, a, torque=Fa[:3], force=Fa[3:])
    model.apply_wrench(state, b.name, torque=Fb[:3], force=Fb[3:], expressed_in=b.name)
    R = model.pose(state, b).R
    Fb_W = np.concatenate([R @ Fb[:3], R @ Fb[3:]])
    expected = free - model.jacobian(state, a).T @ Fa - model.jacobian(state, b).T @ Fb_W
    assert_close(model.inverse_dynamics(state, np.zeros(model.nv)), expected, 512 * EPS, scale=1.0)
    model.clear_wrenches(state)
    assert np.array_equal(model.inverse_dynamics(state, np.zeros(model.nv)), free)
    assert tau.shape == (model.nv,)


def test_configurations(robot, rng):
    model = robot.model
    for _ in range(20):
        q0, q1 = model.random_configuration(rng), model.random_configuration(rng)
        spec = model.spec
        assert (q0 >= spec.q_lower).all() and (q0 <= spec.q_upper).all()
        assert model.space().is_same(model.normalize(q0), q0)
        assert model.space().is_same(model.interpolate(q0, q1, 0.0), q0)
        assert model.space().is_same(model.interpolate(q0, q1, 1.0), q1, 1e-12)
        middle = model.interpolate(q0, q1, 0.5)
        assert model.space().distance(q0, middle) == pytest.approx(model.space().distance(q0, q1) / 2, rel=1e-9)
        assert not model.space().is_same(q0, q1)
    assert np.array_equal(model.normalize(model.neutral_configuration()), model.neutral_configuration())


def test_random_numbers_are_reproducible(robot):
    a, b = (robot.model.random_state(np.random.default_rng(3)) for _ in range(2))
    assert np.array_equal(a.q, b.q) and np.array_equal(a.v, b.v)
    assert np.array_equal(robot.model.random_configuration(5), robot.model.random_configuration(5))


def test_models_travel_between_processes(robot, state):
    twin = pickle.loads(pickle.dumps(robot.model))
    other = twin.default_state()
    other.q[:], other.v[:] = state.q, state.v
    tau = np.ones(twin.nv)
    assert np.array_equal(twin.forward_dynamics(other, tau), robot.model.forward_dynamics(state, tau))
    assert twin.joints.names == robot.model.joints.names


def test_frames_of_another_model_are_refused(robot, state):
    other = robots.loaded("scara", "fixed").model
    with pytest.raises(ValueError, match="expected the name of a frame, its index"):
        robot.model.pose(state, other.bodies[1])
    with pytest.raises(ValueError):
        robot.model.pose(state, 3.7)


def test_state_setters_check(robot, rng):
    model = robot.model
    state = model.default_state()
    q, v = model.random_configuration(rng), rng.normal(size=model.nv)
    state.set_q(q)
    state.set_v(v)
    assert np.array_equal(state.q, q) and np.array_equal(state.v, v)
    for setter, n in ((state.set_q, model.nq), (state.set_v, model.nv)):
        for wrong in (np.zeros(n + 1), np.zeros((n, 1)), np.full(n, np.nan), "q"):
            with pytest.raises((ValueError, TypeError)):
                setter(wrong)
    assert np.array_equal(state.q, q) and np.array_equal(state.v, v)
    assert state.time == 0.0
    assert mbros.Simulator(model, state=state).time == 0.0


def test_a_wrench_that_cannot_be_meant_is_refused():
    model = mbros.load("arm7")
    state = model.default_state()
    for wrong in (dict(force=(0, 0, 1e308)), dict(torque=(1e11, 0, 0))):
        with pytest.raises(mbros.MbrosError, match=r"wrench on 'flange': \w+\[\d\] is 1e\+\d+; expected a finite number, at most 1e\+10"):
            model.apply_wrench(state, "flange", **wrong)
    assert not state.external_force.any()
