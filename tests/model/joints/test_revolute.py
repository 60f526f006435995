"""Seed 001, drake::multibody::RevoluteMobilizer with MobilizerImpl and Mobilizer, on what Drake 1.51.1 computed."""
import copy
import numpy as np
import pytest
import seed_models
from scipy.special import ellipk
from tolerance import EPS, assert_close

import mbros

GOLDEN = seed_models.load("revolute_mobilizer")
META = GOLDEN["meta"]
seed = pytest.mark.seed
every_case = pytest.mark.parametrize("case", GOLDEN["cases"], ids=range(len(GOLDEN["cases"])))


def of_case(case):
    model = seed_models.one_joint(case, mbros.RevoluteJoint, case["axis_F"], damping=case["damping"])
    joint, state = model.joint("j"), model.default_state()
    assert joint.set_angle(state, case["angle"]).set_angular_rate(state, case["angular_rate"]) is joint
    return model, joint, state


@seed("RM-01", "RM-02", "RM-04", "RM-05", "RM-06", "RM-08", "RM-09", "RM-10", "RM-11", "RM-12", "RM-13", "RM-15")
@every_case
def test_mobilizer(case):
    model, joint, state = of_case(case)
    X = joint.transform(state)
    assert_close(X.R, case["X_FM"]["R"], 8 * EPS)
    assert not X.p.any()
    axis, angle = np.array(case["axis_F"]), case["angle"]
    K = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    assert_close(X.R, np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K, 1e-15)
    assert_close(joint.axis, case["axis_F"], 2e-16)
    assert abs(np.linalg.norm(joint.axis) - 1) <= EPS
    assert_close(X.R @ joint.axis, joint.axis, 2 * EPS)
    assert joint.angle(state) == case["angle"] and joint.angular_rate(state) == case["angular_rate"]
    assert joint.position(state).item() == case["angle"] and joint.velocity(state).item() == case["angular_rate"]
    V = joint.spatial_velocity(state)
    assert_close(V, seed_models.spatial(case["V_FM_F"]), 8 * EPS)
    assert_close(joint.spatial_velocity(state, v=[-2.0]), [*(-2 * axis), 0, 0, 0], 4 * EPS)
    assert_close(joint.spatial_acceleration(state, case["vdot"]), seed_models.spatial(case["A_FM_F"]), 8 * EPS)
    H = joint.mobilizer.subspace(state)
    assert_close(H, case["H_FM_F_rows_rot_then_lin"], 8 * EPS)
    assert_close(H[:3, 0], axis, 2 * EPS)
    assert not H[3:].any()
    assert not joint.mobilizer.subspace_bias(state).any()
    force = seed_models.spatial(case["project_spatial_force"]["F_Mo_F"])
    assert_close(joint.project_force(state, force), case["project_spatial_force"]["tau"], 8 * EPS, np.abs(force).max())
    force[3:] = 1e3                                               # the force part is ignored
    assert_close(joint.project_force(state, force), case["project_spatial_force"]["tau"], 8 * EPS, np.abs(force).max())
    assert joint.mobilizer.velocity_to_qdot(state).tolist() == [case["angular_rate"]] == joint.mobilizer.velocity_to_qdot(state).tolist()
    assert joint.mobilizer.velocity_to_qdot(state, [0.7]).tolist() == [0.7] == joint.mobilizer.qdot_to_velocity(state, [0.7]).tolist()
    assert (joint.nq, joint.nv) == (1, 1) and model.joint("j").kind == META["type_name"] == mbros.RevoluteJoint.KIND
    assert joint.names.position_suffixes[0] == META["position_suffix"] and joint.names.velocity_suffixes[0] == META["velocity_suffix"]
    assert joint.can_rotate and not joint.can_translate


@seed("RM-N1", "RM-16")
@every_case
def test_dynamics(case):
    model, joint, state = of_case(case)
    body, vdot = model.body("B"), np.array(case["vdot"])
    assert_close(joint.add_damping(state, np.zeros(1)), case["damping_tau"], 1e-14)
    assert_close(model.pose(state, body).matrix[:3], np.column_stack([case["X_WB"]["R"], case["X_WB"]["p"]]), 1e-14)
    assert_close(model.velocity(state, body), seed_models.spatial(case["V_WB_W"]), 1e-13)
    assert_close(model.acceleration(state, body, vdot), seed_models.spatial(case["A_WB_W"]), 1e-12)
    assert_close(model.mass_matrix(state), case["mass_matrix"], 1e-12)
    scale = case["mass_matrix"][0][0] * (1 + state.v[0] ** 2)
    assert_close(model.coriolis_torques(state), case["coriolis_gyro_bias_Cv"], 1e-12, scale)
    assert_close(model.gravity_torques(state), -np.array(case["gravity_tau"]), 1e-12)
    inverse = model.inverse_dynamics(state, vdot) - model.gravity_torques(state) + model.passive_torques(state)
    assert_close(inverse, case["inverse_dynamics_no_applied_forces"], 1e-12, scale)
    assert_close(model.forward_dynamics(state, np.zeros(1)), case["xdot_forward_dynamics"][1:], 1e-12)
    assert_close(model.kinetic_energy(state), case["kinetic_energy"], 1e-12)
    assert_close(model.potential_energy(state), case["potential_energy"], 1e-12)


@seed("RM-16")
@every_case
def test_the_compiled_tree(case):
    """model.spec: one row per moved body, with its joint and its parent, where body frames are the joints' frames M."""
    model, _, _ = of_case(case)
    spec, data = model.spec, case["body_B"]
    assert (spec.name, spec.body_names, spec.joint_kind) == ("one", ["world", "B"], ["weld", "revolute"])
    assert spec.parent.tolist() == [-1, 0] and spec.leader.tolist() == [-1, -1] and spec.joint_names[1] == "j"
    assert spec.damping.tolist() == [case["damping"]] and spec.gravity.tolist() == [0, 0, -9.81]
    # the joint's axis is z of the compiled frame F
    R_PF, p_PF = spec.X_PF[1][:9].reshape(3, 3), spec.X_PF[1][9:]
    assert_close(R_PF[:, 2], np.array(case["X_PF"]["R"]) @ case["axis_F"], 4 * EPS)
    assert_close(p_PF, case["X_PF"]["p"], 0.0)
    # mass, and the centre of mass from Mo: X_BM^-1 com, its distance from the axis whatever the frame is turned by
    X_BM = seed_models.pose(case["X_BM"])
    com_M = X_BM.inverse() @ np.array(data["com_B"])
    mass, com = spec.inertia[1][0], spec.inertia[1][1:4] / spec.inertia[1][0]
    assert mass == data["mass"] and com[2] == pytest.approx(com_M @ case["axis_F"], abs=1e-15)
    assert np.linalg.norm(com) == pytest.approx(np.linalg.norm(com_M), rel=1e-14)
    assert spec.frame_names[:2] == ["world", "B"] and {"j.F", "j.M"} <= set(spec.frame_names)


@seed("RM-09", "RM-10")
def test_a_follower_takes_the_models_vector_where_sizes_are_the_same(rng):
    """One leader and its followers: nv = 1 = the joints' own, and the model's vector is what stands for all of them."""
    b = mbros.ModelBuilder("pair")
    b.add_joint(mbros.RevoluteJoint("a", b.world, seed_models.box(b, "A"), (0, 0, 1)))
    b.add_joint(mbros.RevoluteJoint("f", b.body("A"), seed_models.box(b, "B"), (0, 1, 0), p=(0.3, 0, 0), mimic=("a", 2.0, 0.25)))
    model = b.build()
    assert (model.nq, model.nv) == (1, 1)
    state = model.default_state()
    state.set_q([0.3]), state.set_v([1.5])
    leader, follower = model.joint("a"), model.joint("f")
    vdot = np.array([0.7])
    assert_close(follower.spatial_velocity(state, state.v), follower.spatial_velocity(state), 0.0)
    assert_close(follower.spatial_velocity(state).angular, [0, 3.0, 0], 4 * EPS)
    assert_close(follower.spatial_acceleration(state, vdot).angular, [0, 2 * 0.7, 0], 4 * EPS)
    assert_close(leader.spatial_acceleration(state, vdot).angular, [0, 0, 0.7], 4 * EPS)
    assert_close(follower.mobilizer.velocity_to_qdot(state, state.v), [3.0], 4 * EPS)
    # against the tree: the relative acceleration of the frames
    A, B = (model.acceleration(state, joint.child_frame, vdot) for joint in (leader, follower))
    V = model.velocity(state, "a.M")
    R_WF = model.pose(state, "f.F").R
    own = follower.spatial_acceleration(state, vdot).angular
    assert_close(B.angular - A.angular, R_WF @ own + np.cross(V.angular, R_WF @ follower.spatial_velocity(state).angular), 16 * EPS)
    X = follower.topology.pose_from_parent(state.q, model.pose(state, "a.M"))
    assert_close(X.matrix, model.pose(state, "f.M").matrix, 4 * EPS)
    assert_close(leader.topology.pose_from_parent(state.q, np.eye(4)).R, model.pose(state, "a.M").R, 4 * EPS)


def hinge(axis=(0, 0, 1), **options):
    b = mbros.ModelBuilder("rig")
    b.add_joint(mbros.RevoluteJoint("j", b.world, seed_models.box(b, "B"), axis, **options))
    return b


@seed("RM-03")
@pytest.mark.parametrize("case", META["seed_axis_tolerance_cases"], ids=lambda case: str(case["axis"]))
def test_the_axis_is_of_unit_length(case):
    if case["accept"]:
        assert_close(hinge(case["axis"]).joint("j").axis, case["stored"], 2 * EPS)
        return
    with pytest.raises(ValueError, match="joint 'j': axis .* (has length .*, expected 1 within 1e-06|has no direction)"):
        hinge(case["axis"])


@seed("RM-03", "RM-04")
def test_the_modern_rule_takes_any_axis_but_zero(rng):
    assert_close(hinge((1, 2, 2), normalize_axis=True).joint("j").axis, META["modern_drake_normalises_axis_1_2_2"], EPS)
    assert hinge((0, 0, 1.01), axis_tolerance=0.02).joint("j").axis.tolist() == [0, 0, 1]
    with pytest.raises(ValueError, match="no direction"):
        hinge((0, 0, 0), normalize_axis=True)
    for k in range(200):
        axis = hinge(rng.normal(size=3) * 10.0 ** rng.uniform(-300, 300), normalize_axis=True).joint("j").axis
        assert abs(np.linalg.norm(axis) - 1.0) <= EPS
    for wrong in ((np.nan, 0, 1), (0, 1), "z"):
        with pytest.raises(ValueError, match="joint 'j': axis"):
            hinge(wrong)


@seed("RM-05", "RM-14", "RM-17")
def test_what_is_refused():
    model, other = hinge().build(), hinge().build()
    joint, state = model.joint("j"), model.default_state()
    foreign = other.default_state()
    calls = (joint.angle, joint.angular_rate, joint.transform, joint.spatial_velocity, joint.mobilizer.subspace,
             joint.mobilizer.subspace_bias, joint.mobilizer.velocity_to_qdot,
             joint.damping, joint.friction, joint.is_locked, joint.lock, joint.unlock, joint.set_zero, joint.position, joint.velocity,
             joint.mobilizer.qdot_from_velocity_matrix, joint.mobilizer.velocity_from_qdot_matrix, lambda s: joint.set_angle(s, 1.0),
             lambda s: joint.set_angular_rate(s, 1.0), lambda s: joint.set_damping(s, 1.0), lambda s: joint.set_friction(s, 1.0),
             lambda s: joint.project_force(s, np.zeros(6)), lambda s: joint.spatial_acceleration(s, [0.0]),
             lambda s: joint.add_damping(s, np.zeros(1)), lambda s: joint.add_force(s, 0, 1.0, np.zeros(1)))
    for call in calls:
        for wrong in (foreign, None, 3.0, model):
            with pytest.raises(TypeError, match="joint 'j': .* a state of model 'rig' was expected"):
                call(wrong)
    for n in (0, 2):
        for call in (lambda x: joint.mobilizer.velocity_to_qdot(state, x), lambda x: joint.mobilizer.qdot_to_velocity(state, x),
                     lambda x: joint.spatial_velocity(state, x), lambda x: joint.spatial_acceleration(state, x),
                     lambda x: joint.set_position(state, x), lambda x: joint.set_velocity(state, x), lambda x: joint.of(x)):
            with pytest.raises(ValueError, match="joint 'j'.*expected 1 "):
                call(np.zeros(n))
    with pytest.raises(ValueError, match="wrench: expected 6 numbers"):
        joint.project_force(state, np.zeros(3))
    with pytest.raises(ValueError, match="expressed_in is 'W'"):
        joint.mobilizer.subspace(state, "W")
    assert not state.q.any() and not state.v.any() and not joint.is_locked(state)


@seed("RM-07", "RM-18", "RM-24", "RM-19", "RM-20", "RM-21", "RM-22", "RM-25")
def test_its_part_of_states_and_arrays(rng):
    b = hinge()
    b.add_joint(mbros.BallJoint("ball", b.body("B"), seed_models.box(b, "C")))
    b.add_joint(mbros.RevoluteJoint("k", b.body("C"), seed_models.box(b, "D"), (1, 0, 0)))
    model = b.build()
    joint, ball, state = model.joint("k"), model.joint("ball"), model.random_state(rng)
    q, v = state.q.copy(), state.v.copy()
    assert joint.set_zero(state) is joint
    assert state.q[5] == 0.0 == state.v[4] and np.array_equal(state.q[:5], q[:5]) and np.array_equal(state.v[:4], v[:4])
    state.q[:], state.v[:] = q, v
    ball.set_zero(state, velocity=False)
    assert state.q[1:5].tolist() == [1, 0, 0, 0] and np.array_equal(state.v, v)
    view = state.q[joint.q_slice]
    view[0] = 0.625
    assert joint.angle(state) == 0.625 and view.base is not None and view.strides == (8,)
    assert np.shares_memory(joint.of(state.q), state.q) and np.shares_memory(ball.of(state.v), state.v)
    ball.of(state.v)[:] = 7.0
    assert ball.velocity(state).tolist() == [7, 7, 7]
    batch = rng.normal(size=(4, 3, model.nq))
    assert np.array_equal(ball.of(batch), batch[..., 1:5]) and np.shares_memory(ball.of(batch), batch)
    assert np.array_equal(joint.of(rng_v := rng.normal(size=(9, model.nv))), rng_v[:, 4:5])
    with pytest.raises(ValueError, match=r"joint 'k': expected 6 \(nq\) or 5 \(nv\)"):
        joint.of(np.zeros(4))
    assert joint.topology.parent is ball and (joint.topology.level, ball.topology.level) == (3, 2) and ball.topology.children == [joint]
    for x in model.joints:
        above = x.topology.parent
        assert x.topology.level == (1 if above is None else above.topology.level + 1)
        assert x.parent_frame.body_name == x.parent.name and x.child_frame.body_name == x.child.name
        assert x.parent_frame.name == f"{x.name}.F" and x.child_frame.name == f"{x.name}.M"


@seed("RM-23", "PJ-43")
def test_clones_are_independent(rng):
    model = hinge(damping=0.5).build()
    twin = copy.deepcopy(model)
    state = model.random_state(rng)
    other = twin.default_state()
    other.q[:], other.v[:] = state.q, state.v
    assert np.array_equal(twin.forward_dynamics(other, np.ones(1)), model.forward_dynamics(state, np.ones(1)))
    assert twin.joint("j") is not model.joint("j") and twin.joint("j").model is twin and twin.spec is not model.spec
    assert not np.shares_memory(twin.spec.damping, model.spec.damping) and twin.spec.damping[0] == 0.5
    twin.description.joints[0].damping[:] = 9.0
    assert twin.description.joints[0].damping[0] == 0.5 == model.description.joints[0].damping[0]
    with pytest.raises(TypeError):
        model.joint("j").angle(other)


@seed("RM-N2")
def test_period_of_a_pendulum():
    """2 pi sqrt(L / g) (2 / pi) K(sin^2(theta0 / 2)) for amplitudes of 1 and 179 degrees, to 1e-9."""
    length, g = 0.7, 9.81
    b = mbros.ModelBuilder("pendulum", (0, 0, -g))
    b.add_joint(mbros.RevoluteJoint("j", b.world, b.add_body("bob", 1.0, (0, 0, -length)), (0, 1, 0)))
    model = b.build()
    for degrees, dt in ((1.0, 1e-3), (179.0, 1e-3)):
        theta = np.radians(degrees)
        period = 4 * np.sqrt(length / g) * ellipk(np.sin(theta / 2) ** 2)
        steps = int(np.ceil(period / 2 / dt))
        state = model.default_state()
        state.set_q([theta])
        sim = mbros.Simulator(model, dt=period / 2 / steps, integrator="rk4", state=state)
        for _ in range(steps):
            sim.step()
        # at half the period it stands at the other end; near an end, time is the rate over the acceleration
        late = state.v[0] / model.forward_dynamics(state, np.zeros(1))[0]
        assert abs(2 * late / period) < 1e-9, degrees
