"""What is no number, no state and no index is refused by element and name, everywhere with the same words, and changes nothing."""
from operator import attrgetter

import numpy as np
import pytest

import mbros
from mbros import bushing_design


def rig(name="one"):
    b = mbros.ModelBuilder(name)
    bodies = {joint: b.add_body(f"{joint}_body", 1.0, (0.1, 0.0, 0.2), (1, 1, 1)) for joint in ("r", "fl", "pl", "ci")}
    b.add_joint(mbros.RevoluteJoint("r", b.world, bodies["r"]))
    b.add_joint(mbros.FloatingJoint("fl", b.world, bodies["fl"]))
    b.add_joint(mbros.PlanarJoint("pl", b.world, bodies["pl"]))
    b.add_joint(mbros.ContinuousJoint("ci", b.world, bodies["ci"], representation="cos_sin"))
    b.add_force_element(mbros.JointSpring(b.joint("r"), stiffness=1.0, name="spring"))
    b.add_force_element(mbros.LinearBushingRollPitchYaw(b.world, bodies["pl"], 1.0, name="mount"))
    return b


@pytest.fixture
def one():
    model = rig().build()
    return model, model.random_state(5)


class Thing:
    pass


NO_NUMBERS = ("x", "1", True, 10**400, Thing(), {}, [1.0, [2.0]], 1j, [True, False], ["1"])
NUMBERS = {
    "set_angle": (lambda m, s, x: m.joint("r").set_angle(s, x), "joint 'r' .*angle: expected 1 number"),
    "set_velocity": (lambda m, s, x: m.joint("r").set_velocity(s, x), "joint 'r' .*velocity: expected 1 number"),
    "set_damping": (lambda m, s, x: m.joint("r").set_damping(s, x), "joint 'r' .*damping: expected 1 number"),
    "spatial_velocity": (lambda m, s, x: m.joint("r").spatial_velocity(s, x), "joint 'r' .*v: expected 1 "),
    "spatial_acceleration": (lambda m, s, x: m.joint("r").spatial_acceleration(s, x), "joint 'r' .*vdot: expected 1 "),
    "project_force": (lambda m, s, x: m.joint("r").project_force(s, x), "joint 'r' .*wrench: expected 6 numbers"),
    "qdot_to_velocity": (lambda m, s, x: m.joint("r").mobilizer.qdot_to_velocity(s, x), "joint 'r' .*qdot: expected 1 number"),
    "pose_from_parent": (lambda m, s, x: m.joint("r").topology.pose_from_parent(x, np.eye(4)), "joint 'r' .*q: expected 1 "),
    "of": (lambda m, s, x: m.joint("r").of(x), "joint 'r': array: expected 13 "),
    "set_parameter": (lambda m, s, x: m.set_parameter(s, "damping.r", x), "model 'one': parameter 'damping.r': expected 1 number"),
    "set of an element": (lambda m, s, x: m.set_parameter(s, "force.spring.stiffness", x), "'spring'.*stiffness: expected 1 number"),
    "effort_vector": (lambda m, s, x: m.effort_vector({"r": x}), "joint 'r' .*effort: expected 1 number"),
    "apply_wrench": (lambda m, s, x: m.apply_wrench(s, "r_body", force=x), "model 'one': .*'r_body': force: expected 3 numbers"),
    "from_convention": (lambda m, s, x: m.from_convention("ros", x, s.v), "model 'one': from_convention.*q: expected 12 numbers"),
    "set_bounds": (lambda m, s, x: rig().joint("r").set_bounds(0, x, 1), "joint 'r': lower bound of position 0 is"),
    "bounds of a space": (lambda m, s, x: mbros.spaces.Rn(2, x), r"R\^2: lower: expected"),
    "space.integrate": (lambda m, s, x: m.space().integrate(x, s.v), "space of model 'one': q: expected 13 numbers"),
    "space.interpolate": (lambda m, s, x: m.space().interpolate(s.q, s.q, x), "space of model 'one': u: expected a number"),
    "interpolate": (lambda m, s, x: m.interpolate(s.q, s.q, x), "space of model 'one': u: expected a number"),
    "is_same": (lambda m, s, x: m.space().is_same(s.q, s.q, x), "space of model 'one': tol: expected 1 number"),
    "integrate": (lambda m, s, x: m.integrate(x, s.v), "model 'one': q: expected 13 numbers"),
    "difference": (lambda m, s, x: m.difference(s.q, x), "model 'one': q1: expected 13 numbers"),
    "normalize": (lambda m, s, x: m.normalize(x), "model 'one': q: expected 13 numbers"),
    "to": (lambda m, s, x: mbros.convention("drake").to(m, x, s.v), "model 'one': q: expected 13 numbers"),
    "back": (lambda m, s, x: mbros.convention("drake").back(m, x, s.v), "model 'one': q: expected 12 numbers"),
    "to_efforts": (lambda m, s, x: mbros.convention("hpp").to_efforts(m, s.q, x), "model 'one': tau: expected 11 numbers"),
    "to_twist": (lambda m, s, x: mbros.convention("ros").to_twist(x), "twist: values: expected 6 numbers"),
    "X_WF": (lambda m, s, x: mbros.convention("ros").to_twist(np.zeros(6), "local", x), "X_WF: .*expected a Pose or"),
    "advise": (lambda m, s, x: bushing_design.advise(x, 1.0, 1.0), "stiffness: expected a number"),
    "rollout": (lambda m, s, x: mbros.rollout(m, s.q, s.v, x), "rollout of model 'one': tau: expected numbers"),
    "load": (lambda m, s, x: bushing_design.advise(1.0, 1.0, 1.0, load=x), "load: expected a number"),
}


@pytest.mark.parametrize("call", NUMBERS)
def test_what_is_no_number_is_refused_by_name(one, call):
    model, state = one
    make, words = NUMBERS[call]
    before = state.q.copy(), state.v.copy(), state.damping.copy(), state.external_force.copy()
    for wrong in NO_NUMBERS:
        with pytest.raises(mbros.MbrosError, match=words):
            make(model, state, wrong)
    assert all(np.array_equal(a, b) for a, b in zip(before, (state.q, state.v, state.damping, state.external_force)))


NOT_FINITE = {
    "set_angle": lambda m, s, x: m.joint("r").set_angle(s, x),
    "velocity_to_qdot": lambda m, s, x: m.joint("pl").mobilizer.velocity_to_qdot(s, [0, x, 0]),
    "qdot_to_velocity": lambda m, s, x: m.joint("pl").mobilizer.qdot_to_velocity(s, [0, x, 0]),
    "project_force": lambda m, s, x: m.joint("pl").project_force(s, [0, 0, 0, x, 0, 0]),
    "spatial_velocity": lambda m, s, x: m.joint("pl").spatial_velocity(s, [x, 0, 0]),
    "spatial_acceleration": lambda m, s, x: m.joint("pl").spatial_acceleration(s, [x, 0, 0]),
    "origin_acceleration": lambda m, s, x: m.joint("pl").mobilizer.origin_acceleration(s, [x, 0, 0]),
    "friction_torque": lambda m, s, x: m.joint("pl").friction_torque(s, [x, 0, 0]),
    "effort_vector": lambda m, s, x: m.effort_vector({"r": x}), "interpolate": lambda m, s, x: m.space().interpolate(s.q, s.q, x),
    "to_wrench": lambda m, s, x: mbros.convention("ros").to_wrench([x] * 6),
    "from_convention": lambda m, s, x: m.from_convention("ros", [x] * 12, s.v),
    "to_acceleration": lambda m, s, x: mbros.convention("drake").to_acceleration(m, s.q, s.v, [x] * 11),
}


@pytest.mark.seed("PJ-18")
@pytest.mark.parametrize("call", NOT_FINITE)
def test_no_number_that_is_not_finite_comes_in_or_leaves(one, call):
    for bad in (np.nan, np.inf, -np.inf):
        with pytest.raises(mbros.NonFiniteError, match=r"is -?(nan|inf); expected a finite number"):
            NOT_FINITE[call](*one, bad)


@pytest.mark.seed("PJ-18", "QF-16")
def test_joints_refuse_states_that_are_not_finite_or_no_rotation_by_their_own_names(one):
    model, state = one
    names = ("transform", "spatial_velocity", *(f"mobilizer.{name}" for name in (
        "subspace", "subspace_bias", "subspace_gradient", "qdot_from_velocity_matrix", "qdot_from_velocity_gradient",
        "velocity_from_qdot_gradient", "velocity_to_qdot")))
    for joint, at, value, words in (("pl", 1, np.nan, r"joint 'pl' \(planar\): q\[1\] is nan"),
                                    ("fl", slice(3, 7), 0.0, r"joint 'fl' \(floating\): q\[3:7\] is .* has no direction"),
                                    ("ci", slice(0, 2), 0.0, r"joint 'ci' \(circular\): q\[0:2\] is .* has no direction")):
        bad = state.copy()
        bad.q[model.joint(joint).q_slice][at] = value
        for name in names:
            with pytest.raises(mbros.NonFiniteError, match=words):
                attrgetter(name)(model.joint(joint))(bad)
        assert np.isfinite(model.joint("r").spatial_velocity(bad)).all()


@pytest.mark.seed("HJ-10", "RM-17")
def test_states_of_other_models_are_refused_with_the_same_words():
    model, twin, other = rig().build(), rig().build(), rig("two").build()
    F = mbros.Forces(model)
    calls = [lambda s: model.tree.subtree_mass(s, "r"), lambda s: model.com_of(s, ["r"]).com, lambda s: model.com_of(s, "r"),
             lambda s: model.to_convention(s, "drake"), lambda s: model.clear_wrenches(s), lambda s: model.apply_wrench(s, "r_body"),
             lambda s: model.pose(s, "r_body"), lambda s: model.velocity(s, "r_body"), lambda s: model.jacobian(s, "r_body"),
             lambda s: model.acceleration(s, "r_body", np.zeros(11)), lambda s: model.jacobian(s, "r"),
             lambda s: model.parameter(s, "damping.r"), lambda s: model.set_parameter(s, "damping.r", 1.0),
             lambda s: model.force_elements["spring"].effort(s), lambda s: model.force_elements["spring"].set_stiffness(s, 1.0),
             lambda s: model.force_elements["mount"].add_forces(s, F), lambda s: F.generalized(s), lambda s: model.joint("r").transform(s),
             lambda s: model.joint("r").set_pose(s, np.eye(4)), lambda s: model.joint("fl").set_pose(s, p=(0, 0, 0))]
    for call in calls:
        for wrong, given in ((twin.default_state(), "a state of another model of that name"),
                             (other.default_state(), "a state of model 'two'"), (None, "None"), (3, "3"),
                             (model.joint("r"), "<Joint 'r'"), (model, "<Model 'one'")):
            with pytest.raises(mbros.StateError, match=f"{given}.* was given where a state of model 'one' was expected") as caught:
                call(wrong)
            assert isinstance(caught.value, TypeError) and isinstance(caught.value, mbros.MbrosError)
            assert "mbros_core" not in str(caught.value)
    touched = twin.default_state()
    touched.external_force[:] = 1.0
    with pytest.raises(mbros.StateError):
        model.clear_wrenches(touched)
    assert (touched.external_force == 1.0).all()


def test_a_simulator_takes_states_of_its_model(one):
    model, state = one
    sim = mbros.Simulator(model, state=state)
    sim.step(np.ones(model.nv))
    q = sim.state.q.copy()
    for wrong in (rig().build().default_state(), rig("two").build().default_state(), 3, model):
        for call in (lambda s: mbros.Simulator(model, state=s), sim.reset):
            with pytest.raises(mbros.StateError, match="was given where a state of model 'one' was expected"):
                call(wrong)
    assert np.array_equal(sim.state.q, q) and sim.time > 0.0


def test_forces_belong_to_a_model(one):
    model, state = one
    for element in model.force_elements:
        for wrong in (None, mbros.Forces(rig().build()), np.zeros(model.nv)):
            with pytest.raises(mbros.MbrosError, match=rf"{element.name}.*forces: expected Forces\(model\) of model 'one'"):
                element.add_forces(state, wrong)
    with pytest.raises(mbros.MbrosError, match="Forces: expected a built model, got None"):
        mbros.Forces(None)


def test_indices_and_counts_are_whole_numbers_also_numpys(one):
    model, state = one
    for part, parts in ((model.joint, model.joints), (model.body, model.bodies), (model.frame, model.frames)):
        assert part(np.int64(1)) is parts[1] and part(parts[2]) is parts[2] and part(parts[1].name) is parts[1]
        for wrong in (None, 99, -1, True, 1.0, [], rig().build().joint("r")):
            with pytest.raises(mbros.MbrosError, match="model 'one': expected the name of a "):
                part(wrong)
    joint = model.joint("pl")
    assert joint.names.positions[np.int32(2)] == "pl_qz" and model.tree.at_v(np.int64(0)).name == "r"
    for call in (joint.names.positions.__getitem__, joint.names.velocity_suffixes.__getitem__, model.tree.at_q,
                 lambda i: rig().joint("pl").set_bounds(i, 0, 1)):
        for wrong in (True, 1.0, "1", None, -1):
            with pytest.raises(mbros.MbrosError, match="coordinate|component"):
                call(wrong)
    b = rig()
    spring = mbros.JointSpring(b.joint("pl"), stiffness=1.0, coordinate=np.int64(2))
    assert spring.coordinate == 2 and type(spring.coordinate) is int
    with pytest.raises(mbros.MbrosError, match="coordinate is True"):
        mbros.JointSpring(b.joint("pl"), stiffness=1.0, coordinate=True)
    assert mbros.TranslationJoint("t", b.world, b.body("r_body"), dim=np.int64(2)).kind == "translation2"
    for wrong in (1.0, True, 4, "x"):
        with pytest.raises(mbros.MbrosError, match="joint 't': dim is"):
            mbros.TranslationJoint("t", b.world, b.body("r_body"), dim=wrong)
    assert model.space().sample(0, np.int64(3)).shape == (3, 13)
    for wrong in (-1, 1.5, "x", True):
        with pytest.raises(mbros.MbrosError, match="size: expected how many samples"):
            model.random_configuration(0, wrong)


def test_what_descriptions_refuse():
    b = rig()
    joint, body = b.joint("r"), b.body("r_body")
    for wrong in (None, "r", body):
        with pytest.raises(mbros.MbrosError, match=r"add_child\(\) was given"):
            joint.add_child(wrong)
    for law in ([], {}, None, "sead"):
        with pytest.raises(mbros.MbrosError, match="law is"):
            mbros.Bushing(b.world, body, law=law)
    with pytest.raises(mbros.MbrosError, match=r"do not go together: stiffness \(2,\), damping \(3,\), inertia \(\)"):
        bushing_design.advise([1, 2], [1, 2, 3], 1)
    with pytest.raises(mbros.MbrosError, match=r"load \(3,\), stiffness \(2,\)"):
        bushing_design.advise([1, 2], 1, 1, load=[1, 2, 3])
    with pytest.raises(mbros.MbrosError, match=r"do not go together: inertia \(2,\), stiffness \(3,\)"):
        bushing_design.natural_frequency([1, 2], [1, 2, 3])


@pytest.mark.seed("PJ-12")
def test_poses_are_poses(one):
    model, state = one
    state.q[:] = model.random_configuration(2)
    before = state.q.copy()
    sheared, scaled, mirrored = np.eye(4), np.eye(4), np.diag([1.0, 1.0, -1.0, 1.0])
    sheared[0, 1], scaled[3] = 0.1, 9.0
    calls = (lambda X: model.joint("pl").set_pose(state, X), rig().joint("pl").defaults.set_pose,
             lambda X: model.joint("pl").topology.pose_from_parent(np.zeros(3), X), lambda X: setattr(rig().joint("pl"), "placement", X))
    for call in calls:
        for wrong, words in ((None, "pose is None"), (scaled, r"last row of the pose is \[9.0, 9.0, 9.0, 9.0\]"),
                             (sheared, "R R.T is 0.1 away from the identity"), (mirrored, "determinant is -1"), ("x", "pose is 'x'"),
                             (np.eye(3), r"shape \(3, 3\)"), (np.full((4, 4), np.nan), "nan")):
            with pytest.raises(mbros.MbrosError, match=f"joint 'pl'.*{words}"):
                call(wrong)
    assert np.array_equal(state.q, before)
    given = model.joint("pl").topology.pose_from_parent(np.zeros(3), np.eye(4))
    assert np.array_equal(given.R, model.joint("pl").topology.pose_from_parent(np.zeros(3), mbros.Pose(np.eye(3), np.zeros(3))).R)


@pytest.mark.seed("PJ-09", "RM-07")
def test_setting_a_joint_touches_no_other(one):
    model, state = one
    fl = model.joint("fl")
    for quat in ((2, 0, 0, 0), (0, 0, 0, 0), (np.nan, 0, 0, 1)):
        state.q[fl.q_slice][3:] = quat
        others = np.delete(state.q, model.joint("r").q_slice)
        model.joint("r").set_angle(state, 0.3)
        assert np.array_equal(np.delete(state.q, model.joint("r").q_slice), others, equal_nan=True)
        assert model.joint("r").angle(state) == 0.3
    fl.set_position(state, (1, 2, 3, 2, 0, 0, 0))
    assert state.q[fl.q_slice].tolist() == [1, 2, 3, 1, 0, 0, 0]
    exact = model.random_configuration(4)[fl.q_slice]
    assert np.array_equal(fl.set_position(state, exact).position(state), exact)
    with pytest.raises(mbros.MbrosError, match=r"joint 'fl' .*q\[3:7\] = \[0.0, 0.0, 0.0, 0.0\] cannot be brought to unit length"):
        fl.set_position(state, np.zeros(7))
    assert np.array_equal(fl.position(state), exact)
