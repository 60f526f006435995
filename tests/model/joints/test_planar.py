"""Seed 000, drake::multibody::PlanarJoint with all it inherits: every capability, on what Drake 1.51.1 computed."""
import numpy as np
import pytest
import seed_models
from optional import CASES
from tolerance import EPS, assert_close

import mbros

GOLDEN = seed_models.load("planar_joint")
META = GOLDEN["meta"]
seed = pytest.mark.seed
every_case = pytest.mark.parametrize("case", GOLDEN["cases"], ids=range(len(GOLDEN["cases"])))


class Case:
    def __init__(self, data):
        self.model = seed_models.one_joint(data, mbros.PlanarJoint, damping=data["damping"])
        self.joint = self.model.joint("j")
        self.state = self.model.default_state()
        self.joint.set_pose(self.state, xy=data["translation"], theta=data["rotation"])
        self.joint.set_translational_velocity(self.state, data["translational_velocity"])
        self.joint.set_angular_velocity(self.state, data["angular_velocity"])


@pytest.fixture
def plate():
    b = mbros.ModelBuilder("rig")
    b.add_joint(mbros.PlanarJoint("pl", b.world, seed_models.box(b, "plate"), damping=(0.1, 0.2, 0.3)))
    return b


@seed("PJ-01", "PJ-02", "PJ-09", "PJ-10", "PJ-11", "PJ-12", "PJ-13", "PJ-N2", "PJ-N3")
@every_case
def test_kinematics(case):
    x = Case(case)
    joint, state, model = x.joint, x.state, x.model
    assert state.q.tolist() == case["q"] and state.v.tolist() == case["v"]
    X = joint.transform(state)
    assert_close(X.R, case["X_FM"]["R"], 1e-14)
    assert_close(X.p, case["X_FM"]["p"], 1e-14)
    c, s = np.cos(state.q[2]), np.sin(state.q[2])
    assert_close(X.matrix, [[c, -s, 0, state.q[0]], [s, c, 0, state.q[1]], [0, 0, 1, 0], [0, 0, 0, 1]], 1e-15)
    assert_close(joint.spatial_velocity(state), seed_models.spatial(case["V_FM_F"]), 1e-14)
    assert_close(joint.mobilizer.subspace(state), case["H_FM_F_rows_rot_then_lin"], 1e-14)
    assert np.abs(joint.mobilizer.subspace_bias(state)).max() < 1e-14
    for matrix, name in ((joint.mobilizer.qdot_from_velocity_matrix(state), "N"),
                         (joint.mobilizer.velocity_from_qdot_matrix(state), "Nplus")):
        assert np.array_equal(matrix, np.eye(3)) and np.array_equal(case[name], np.eye(3))
    body = model.body("B")
    assert_close(model.pose(state, body).R, case["X_WB"]["R"], 1e-14)
    assert_close(model.pose(state, body).p, case["X_WB"]["p"], 1e-14)
    assert_close(model.velocity(state, body), seed_models.spatial(case["V_WB_W"]), 1e-13)
    assert_close(model.acceleration(state, body, np.array(case["vdot"])), seed_models.spatial(case["A_WB_W"]), 1e-12)
    wrench = seed_models.spatial(case["project_spatial_force"]["F_Mo_F"])
    assert_close(joint.project_force(state, wrench), case["project_spatial_force"]["tau"], 1e-14)
    assert_close(joint.project_force(state, wrench), [wrench[3], wrench[4], wrench[2]], 1e-15)


@seed("PJ-07", "PJ-27", "PJ-28", "PJ-N1")
@every_case
def test_dynamics(case):
    x = Case(case)
    joint, state, model = x.joint, x.state, x.model
    vdot = np.array(case["vdot"])
    damping = joint.add_damping(state, np.zeros(3))
    assert_close(damping, case["damping_tau"], 1e-14)
    assert damping @ state.v <= 0.0
    assert_close(joint.add_damping(state, damping.copy()), 2 * damping, 1e-15)
    tau = np.zeros(3)
    for k, value in enumerate(case["add_in_one_force"]["tau_in"]):
        assert joint.add_force(state, k, value, tau) is tau
    assert_close(tau, case["add_in_one_force"]["generalized_forces"], 1e-14)
    assert_close(joint.add_force(state, 1, tau[1], tau.copy())[1], 2 * tau[1], 1e-15)
    M = model.mass_matrix(state)
    assert_close(M, case["mass_matrix"], 1e-12)
    scale = np.abs(M).max() * (state.v @ state.v + 1)
    assert_close(model.coriolis_torques(state), case["coriolis_gyro_bias_Cv"], 1e-12, scale)
    assert_close(model.gravity_torques(state), -np.array(case["gravity_tau"]), 1e-12)
    # Drake's number leaves gravity and damping out of inverse dynamics; both are in its forward dynamics
    inverse = model.inverse_dynamics(state, vdot) + damping - model.gravity_torques(state)
    assert_close(inverse, case["inverse_dynamics_no_applied_forces"], 1e-12, scale)
    assert_close(model.forward_dynamics(state, np.zeros(3)), case["xdot_forward_dynamics"][3:], 1e-12)
    assert_close(model.kinetic_energy(state), case["kinetic_energy"], 1e-12)
    assert_close(model.potential_energy(state), case["potential_energy"], 1e-12)


@seed("PJ-03", "PJ-04", "PJ-18", "PJ-19", "PJ-20", "PJ-21", "PJ-22", "PJ-23", "PJ-24", "PJ-25", "PJ-32", "PJ-38", "PJ-42")
def test_what_it_is(plate):
    model = plate.build()
    joint = model.joint("pl")
    assert joint.kind == mbros.PlanarJoint.KIND == META["type_name"]
    assert list(joint.names.position_suffixes) == META["position_suffixes"]
    assert list(joint.names.velocity_suffixes) == META["velocity_suffixes"]
    assert [f"DefaultModelInstance_{name}" for name in joint.names.positions] == META["position_names"]
    assert [f"DefaultModelInstance_{name}" for name in joint.names.velocities] == META["velocity_names"]
    assert [joint.names.position_suffixes[k] for k in range(3)] == META["position_suffixes"] and joint.names.velocities[2] == "pl_wz"
    assert (joint.can_rotate, joint.can_translate) == (META["can_rotate"], META["can_translate"]) == (True, True)
    for what, limits in (("position", joint.limits.position), ("velocity", joint.limits.velocity),
                         ("acceleration", joint.limits.acceleration)):
        assert limits.lower.tolist() == [float(x) for x in META["default_limits"][f"{what}_lower_limits"]]
        assert limits.upper.tolist() == [float(x) for x in META["default_limits"][f"{what}_upper_limits"]]
    assert (joint.nq, joint.nv, joint.q_slice, joint.v_slice) == (3, 3, slice(0, 3), slice(0, 3))
    assert joint.index == 0 and model.joints[joint.index] is joint
    assert joint.parent is model.bodies[0] and joint.child is model.body("plate")
    assert joint.parent_frame is model.frame("pl.F") and joint.child_frame is model.frame("pl.M")
    assert joint.model is model and joint.topology.parent is None and joint.topology.level == 1 and joint.robot == ""
    for name in ("second", "third"):
        other = mbros.PlanarJoint(name, plate.world, seed_models.box(plate, name)) if name == "second" else mbros.RevoluteJoint(
            name, plate.body("plate"), seed_models.box(plate, name))
        plate.add_joint(other)
    several = plate.build()
    q = v = 0
    for k, joint in enumerate(several.joints):
        assert joint.index == k and several.joints[k] is several.joint(joint.name) is joint
        assert (joint.q_slice, joint.v_slice) == (slice(q, q + joint.nq), slice(v, v + joint.nv))
        q, v = q + joint.nq, v + joint.nv
    assert (k, q, v) == (2, several.nq, several.nv) == (2, 7, 7) and {j.nq for j in several.joints} == {1, 3}
    assert mbros.PlanarJoint("other", plate.world, plate.body("plate")).defaults.damping.tolist() == [0, 0, 0]


@seed("PJ-05", "PJ-17", "PJ-26", "PJ-30", "PJ-31", "PJ-33", "PJ-34", "PJ-39")
@pytest.mark.parametrize("k", range(3))
def test_what_is_refused(plate, k):
    """Each with a named exception that says what, which coordinate and which number; nothing has changed after."""
    damping = np.array([0.1, 0.2, 0.3])
    damping[k] = -0.25
    other = mbros.ModelBuilder("other")
    other.add_joint(mbros.PlanarJoint("pl", other.world, seed_models.box(other, "b"), damping=damping))
    with pytest.raises(ValueError, match=f"joint 'pl': damping of coordinate {k} is -0.25"):
        other.build()
    described = plate.joint("pl")
    with pytest.raises(ValueError, match=f"joint 'pl': damping of coordinate {k} is -0.25"):
        described.defaults.damping = damping
    with pytest.raises(ValueError, match="joint 'pl': damping has shape"):
        described.defaults.damping = (1.0, 2.0)
    assert described.defaults.damping.tolist() == [0.1, 0.2, 0.3]
    upper = np.ones(3)
    upper[k] = -2.0
    for what, setter in (("position", described.set_position_limits), ("velocity", described.set_velocity_limits),
                         ("acceleration", described.set_acceleration_limits)):
        with pytest.raises(ValueError, match=f"joint 'pl'.*lower {what} limit -1 of coordinate {k} is above its upper limit -2"):
            setter(-np.ones(3), upper)
        with pytest.raises(ValueError, match=f"lower {what} limit has shape .2,., expected .3,."):
            setter([0, 0], [1, 1])
        assert getattr(described.limits, what).upper.tolist() == [np.inf] * 3
    with pytest.raises(ValueError, match="joint 'pl': default has shape"):
        described.defaults.positions = (0.0, 1.0)
    with pytest.raises(ValueError, match="belongs to no model yet"):
        described.model
    model = plate.build()
    joint, state = model.joint("pl"), model.default_state()
    for three in (joint.position(state), joint.velocity(state)):
        with pytest.raises(ValueError, match="size 1"):
            three.item()
    names = joint.names
    for these, name in ((names.position_suffixes, "position"), (names.velocity_suffixes, "velocity"), (names.positions, "position"),
                        (names.velocities, "velocity")):
        for wrong in (3 + k, -1 - k, "x"):
            with pytest.raises(IndexError, match=f"{name} coordinate {wrong!r} does not exist; there are 0 to 2"):
                these[wrong]
    with pytest.raises(ValueError, match=f"damping.{k}. is -0.25; expected a finite number, zero or more"):
        joint.set_damping(state, damping)
    with pytest.raises(IndexError, match="velocity coordinate 3"):
        joint.add_force(state, 3, 1.0, np.zeros(3))
    with pytest.raises(ValueError, match="force.0. is nan"):
        joint.add_force(state, k, np.nan, np.zeros(3))
    with pytest.raises(ValueError, match="forces: expected a float64 array of 3"):
        joint.add_force(state, k, 1.0, [0.0, 0.0, 0.0])
    assert joint.damping(state).tolist() == [0.1, 0.2, 0.3]


@seed("PJ-06", "PJ-31")
def test_damping_of_the_model_and_of_a_state(plate):
    context = META["context_damping"]
    model = plate.build()
    joint, state, other = model.joint("pl"), model.default_state(), model.default_state()
    assert joint.defaults.damping.tolist() == context["default_damping_unchanged"] == joint.damping(state).tolist()
    assert joint.set_damping(state, context["damping"]).set_velocity(state, context["v"]) is joint
    assert joint.damping(state).tolist() == context["damping"] and joint.damping(other).tolist() == context["default_damping_unchanged"]
    assert joint.add_damping(state, np.zeros(3)).tolist() == context["tau"] == model.passive_torques(state).tolist()
    assert joint.defaults.damping.tolist() == context["default_damping_unchanged"]


@seed("PJ-09", "PJ-10", "PJ-11", "PJ-12", "PJ-13")
def test_getters_and_setters_touch_only_their_own(plate):
    tail = mbros.RevoluteJoint("tail", plate.body("plate"), seed_models.box(plate, "tail"), (0, 1, 0))
    plate.add_joint(tail)
    model = plate.build()
    joint, state = model.joint("pl"), model.default_state()
    state.set_q([1, 2, 4, 0.5]), state.set_v([5, 6, 7, 8])
    assert joint.rotation(state) == 4.0                          # not wrapped
    assert joint.set_translation(state, (-1, -2)).set_rotation(state, -4.0) is joint
    assert state.q.tolist() == [-1, -2, -4, 0.5] and joint.translation(state).tolist() == [-1, -2]
    assert joint.set_translational_velocity(state, (0.5, 0.25)).set_angular_velocity(state, -3) is joint
    assert state.v.tolist() == [0.5, 0.25, -3, 8] and joint.angular_velocity(state) == -3.0
    assert joint.translational_velocity(state).tolist() == [0.5, 0.25]
    assert joint.set_pose(state, xy=(9, 8), theta=7).set_pose(state, theta=6.5) is joint
    assert state.q.tolist() == [9, 8, 6.5, 0.5]
    for wrong in (lambda: joint.set_translation(state, (1, 2, 3)), lambda: joint.set_rotation(state, np.inf),
                  lambda: joint.set_pose(state, xy=(1, np.nan), theta=0), lambda: joint.set_angular_velocity(state, (1, 2))):
        with pytest.raises(ValueError, match="joint 'pl'"):
            wrong()
    assert state.q.tolist() == [9, 8, 6.5, 0.5] and state.v.tolist() == [0.5, 0.25, -3, 8]


@seed("PJ-29")
@pytest.mark.parametrize("integrator", ["midpoint", "semi_implicit_euler", "rk4"])
def test_locks(plate, integrator):
    """0.1 s under gravity: as Drake, q unchanged to the bit; the reaction balances the load."""
    tilted = mbros.ModelBuilder("tilted", (1.0, 2.0, -9.81))
    body = seed_models.box(tilted, "plate")
    tilted.add_joint(mbros.PlanarJoint("pl", tilted.world, body, rpy=(0.5, 0.2, 0.1)))
    tilted.add_joint(mbros.RevoluteJoint("tail", body, seed_models.box(tilted, "tail"), (1, 0, 0), p=(0.3, 0, 0)))
    model = tilted.build()
    joint, state = model.joint("pl"), model.default_state()
    want = META["lock"]["continuous"]
    state.q[:3], state.v[:] = want["q_after_lock"], 1.0
    assert not joint.is_locked(state) and joint.lock(state) is joint and joint.is_locked(state)
    assert state.v[:3].tolist() == want["v_after_lock"] and 0.0 < state.v[3] < 1.0     # the impulse of the lock
    vdot = model.forward_dynamics(state, np.zeros(4))
    assert vdot[:3].tolist() == [0, 0, 0] and vdot[3] != 0.0
    reaction = model.inverse_dynamics(state, vdot)
    assert abs(reaction[3]) < 1e-12 and np.abs(reaction[:3]).max() > 1.0
    free = state.copy()
    joint.unlock(free)
    assert_close(model.forward_dynamics(free, reaction), vdot, 1e-12, scale=np.abs(vdot).max())
    sim = mbros.Simulator(model, dt=1e-3, integrator=integrator, state=state)
    sim.advance_to(0.1)
    assert state.q[:3].tolist() == want["q_after_0p1s"] and state.v[:3].tolist() == want["v_after_0p1s"]
    assert abs(state.q[3]) > 0.01
    assert not joint.unlock(state).is_locked(state)
    sim.advance_to(0.2)
    assert np.abs(state.v[:3]).min() > 0.0


@seed("PJ-38", "PJ-20")
def test_two_robots_in_one_model(plate):
    one = plate.build()
    both = mbros.ModelBuilder("both")
    both.add_robot(one, "left", p=(1, 0, 0))
    both.add_robot(one, "right", p=(-1, 0, 0))
    model = both.build()
    assert [joint.name for joint in model.joints] == ["left/pl", "right/pl"]
    assert [joint.robot for joint in model.joints] == ["left", "right"] == [body.robot for body in model.bodies[1:]]
    assert {frame.name: frame.robot for frame in model.frames} == {
        "world": "", **{side + end: side for side in ("left", "right") for end in ("/plate", "/pl.F", "/pl.M")}}
    state = model.default_state()
    assert_close(model.pose(state, "right/plate").p - model.pose(state, "left/plate").p, [-2, 0, 0], EPS)
    with pytest.raises(ValueError, match="robot 'left': this name is already taken"):
        both.add_robot(one, "left")
    twice = mbros.ModelBuilder("twice")
    for _ in range(2):
        twice.add_joint(mbros.PlanarJoint("pl", twice.world, seed_models.box(twice, f"b{_}")))
    with pytest.raises(ValueError, match="joint 'pl': this name is already taken"):
        twice.build()


@seed("PJ-N4")
def test_undamped_and_weightless_it_keeps_its_energy_and_its_mass_centre_goes_straight():
    b = mbros.ModelBuilder("puck", (0, 0, 0))
    b.add_joint(mbros.PlanarJoint("pl", b.world, seed_models.box(b, "plate")))
    model = b.build()
    sim = mbros.Simulator(model, dt=2e-3, integrator="rk4")
    sim.state.set_v([0.7, -0.4, 2.0])
    start, energy = model.center_of_mass(sim.state), model.kinetic_energy(sim.state)
    v = model.com_jacobian(sim.state) @ sim.state.v
    sim.advance_to(10.0)
    assert abs(model.kinetic_energy(sim.state) / energy - 1) < 1e-10
    assert_close(model.center_of_mass(sim.state), start + 10.0 * v, 1e-9)


@seed("PJ-N5")
def test_pinocchios_planar_joint_is_the_same_in_other_coordinates(rng):
    pin = pytest.importorskip("pinocchio")
    for _ in range(CASES):
        model = random_case(rng)
        body = model.body("B")
        theirs = pin.Model()
        theirs.gravity.linear[:] = model.spec.gravity
        R_M, p_M = (getattr(model.joint("j")._row.X_BM, name) for name in "Rp")
        X_FW = model.joint("j")._row.X_PF
        k = theirs.addJoint(0, pin.JointModelPlanar(), pin.SE3(X_FW.R, X_FW.p), "j")
        inertia = pin.Inertia(body.mass, R_M.T @ (body.com - p_M), R_M.T @ body.inertia @ R_M)
        theirs.appendBodyToJoint(k, inertia, pin.SE3.Identity())
        state = model.default_state()
        state.set_q(rng.uniform(-4, 4, 3)), state.set_v(rng.normal(size=3))
        q, v = model.to_convention(state, "pinocchio")
        data = theirs.createData()
        M = pin.crba(theirs, data, q)
        M = np.triu(M) + np.triu(M, 1).T
        c, s = np.cos(state.q[2]), np.sin(state.q[2])
        T = np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]])             # v_M = T v_F
        assert_close(T @ state.v, v, 8 * EPS)
        assert_close(model.mass_matrix(state), T.T @ M @ T, 1e-12)
        assert_close(model.gravity_torques(state), T.T @ pin.computeGeneralizedGravity(theirs, data, q), 1e-11)


def random_case(rng):
    b = mbros.ModelBuilder("random", rng.normal(size=3) * 5)
    body = seed_models.box(b, "B", rng.uniform(0.5, 4))
    F = b.add_frame("F", b.world, rng.uniform(-1, 1, 3), rng.uniform(-3, 3, 3))
    M = b.add_frame("M", body, rng.uniform(-1, 1, 3), rng.uniform(-3, 3, 3))
    b.add_joint(mbros.PlanarJoint("j", F, M, damping=rng.uniform(0, 3, 3)))
    return b.build()


@seed("PJ-16")
def test_derivatives_by_complex_step_agree_with_differences(plate, rng):
    """Until there is a dual engine: exact joint derivatives, and inverse dynamics differentiated through the textbook."""
    import reference as ref

    model = plate.build()
    state, h = model.default_state(), 1e-6
    q, v, vdot = rng.uniform(-2, 2, 3), rng.normal(size=3), rng.normal(size=3)
    tree = ref.Tree(model.spec)
    for k in range(3):
        step = np.eye(3)[k]
        exact = np.imag(ref.rnea(tree, q + 1e-100j * step, v, vdot)) / 1e-100
        sides = []
        for sign in (1, -1):
            state.set_q(q + sign * h * step), state.set_v(v)
            sides.append(model.inverse_dynamics(state, vdot) + model.passive_torques(state))
        assert_close(exact, (sides[0] - sides[1]) / (2 * h), 1e-7, scale=1.0)
