"""Seed 004, QuaternionFloatingJoint: the seed's own convention, on what Drake, Pinocchio and MuJoCo computed."""
import copy
import drake_peer
import numpy as np
import pytest
import seed_models
from optional import CASES
from tolerance import EPS, assert_close

import mbros

GOLDEN = seed_models.load("quaternion_floating")
META = GOLDEN["meta"]
seed = pytest.mark.seed
every_case = pytest.mark.parametrize("case", GOLDEN["cases"], ids=range(len(GOLDEN["cases"])))


def of_case(case, **options):
    """q as stored, also where its quaternion is not of unit length."""
    model = seed_models.one_joint(case, mbros.FloatingJoint, **options)
    state = model.default_state()
    state.q[:], state.v[:] = case["seed"]["q"], case["seed"]["v"]
    return model, model.joint("j"), state


def quiet(case):
    """No warning is expected for quaternions of unit length; the others are told about."""
    if abs(case["quat_norm"] - 1) > 1e-6:
        return pytest.warns(mbros.QuaternionDriftWarning, match="length")
    import contextlib

    return contextlib.nullcontext()


@seed("QF-01", "QF-02", "QF-03", "QF-05", "QF-06", "QF-18")
@every_case
def test_kinematics(case):
    model, joint, state = of_case(case)
    want = case["seed"]
    assert_close(joint.transform(state).R, case["X_FM"]["R"], 1e-14)
    assert_close(joint.transform(state).p, case["X_FM"]["p"], 1e-14)
    # the placement before the joint
    X = seed_models.pose(case["X_PF"])
    assert_close(model.pose(state, joint.parent_frame).matrix, X.matrix, EPS, 1.0)
    assert_close(joint.placement.matrix(), X.matrix, EPS, 1.0)
    assert_close(joint.mobilizer.body_twist(state), want["v"], 1e-14)
    with quiet(case):
        assert_close(joint.mobilizer.velocity_to_qdot(state), want["qdot"], 1e-13)
    assert_close(joint.mobilizer.subspace(state, expressed_in="M"), np.eye(6), 4 * EPS)
    assert np.abs(joint.mobilizer.subspace_bias(state, expressed_in="M")).max() < 8 * EPS * (state.v @ state.v)
    R, w, u = joint.transform(state).R, state.v[:3], state.v[3:]
    assert_close(joint.mobilizer.subspace_bias(state), [0, 0, 0, *(R @ np.cross(w, u))], 1e-14)
    # the gradients that the seed leaves empty
    assert np.abs(joint.mobilizer.subspace_gradient(state, expressed_in="M")).max() <= 8 * EPS          # H is constant in M
    assert joint.mobilizer.subspace_gradient(state, expressed_in="M").reshape(36, 7).shape == np.zeros((36, 7)).shape
    by_q, by_v = joint.mobilizer.subspace_bias_gradient(state, expressed_in="M")
    assert by_q.shape == (6, 7) and by_v.shape == (6, 6)
    assert np.abs(by_q).max() < 16 * EPS * (state.v @ state.v) and np.abs(by_v).max() < 16 * EPS * np.linalg.norm(state.v)


@seed("QF-04")
@every_case
def test_acceleration(case):
    model, joint, state = of_case(case)
    want = case["seed"]
    assert_close(joint.mobilizer.origin_acceleration(state, want["vdot"]), want["a_PB_B"], 1e-14)
    assert_close(joint.mobilizer.origin_acceleration(state, want["vdot"], frame="F"), want["a_PB_P"], 1e-14)
    A = joint.spatial_acceleration(state, want["vdot"])
    assert_close(A.linear, want["a_PB_P"], 1e-14)
    assert_close(joint.transform(state).R.T @ A.angular, want["vdot"][:3], 1e-14)
    # and as the second derivative of position, by differences along the motion
    h = 1e-4
    ends = [np.array(model.integrate(model.normalize(state.q), sign * h * state.v + h * h / 2 * np.array(want["vdot"])))
            for sign in (1, -1)]
    second = (ends[0][:3] + ends[1][:3] - 2 * state.q[:3]) / h**2
    scale = (1 + np.abs(state.v).max() + np.abs(want["vdot"]).max()) ** 2
    assert_close(second, want["a_PB_P"], 1e-6, scale)


@seed("QF-07", "QF-08", "QF-09")
@every_case
def test_matrices(case):
    model, joint, state = of_case(case)
    want, s = case["seed"], case["quat_norm"]
    with quiet(case):
        N = joint.mobilizer.qdot_from_velocity_matrix(state)
        Nplus = joint.mobilizer.velocity_from_qdot_matrix(state)
        as_seed = joint.mobilizer.velocity_from_qdot_matrix(state, normalize="drake")
    assert_close(N, want["N"], 1e-14)
    assert_close(as_seed, want["Nplus"], 1e-14)
    assert_close(np.diag(as_seed @ N), want["Nplus_N_diag"], 1e-13)
    assert_close(np.diag(as_seed @ N), [s * s] * 3 + [1] * 3, 1e-13)
    assert_close(Nplus @ N, np.eye(6), 1e-14)
    # modern Drake's N+ is the physical one, in its order and with its velocities in F
    modern = np.array(case["modern"]["Nplus"])
    R = joint.transform(state).R
    theirs = np.block([[R.T @ modern[:3, 4:], R.T @ modern[:3, :4]], [R.T @ modern[3:, 4:], R.T @ modern[3:, :4]]])
    assert_close(Nplus, theirs, 1e-13)
    with pytest.raises(ValueError, match="normalize is 'none'; expected 'physical' or 'drake'"):
        joint.mobilizer.velocity_from_qdot_matrix(state, normalize="none")


@seed("QF-10")
@every_case
def test_gradients_are_exact(case):
    """Central differences of the engine's matrices, Richardson-extrapolated."""
    model, joint, state = of_case(case)
    q = state.q.copy()

    def slope(f, h=1e-3):
        out = []
        for k in range(7):
            def at(x):
                state.q[:] = q
                state.q[k] += x
                import warnings
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    return np.asarray(f())
            coarse, fine = ((at(s) - at(-s)) / (2 * s) for s in (2 * h, h))
            out.append((4 * fine - coarse) / 3)
        state.q[:] = q
        return np.stack(out, -1)

    N, seed_like = joint.mobilizer.qdot_from_velocity_gradient(state), joint.mobilizer.velocity_from_qdot_gradient(state, normalize="drake")
    assert_close(N, slope(lambda: joint.mobilizer.qdot_from_velocity_matrix(state)), 1e-9, 1.0)
    assert_close(joint.mobilizer.velocity_from_qdot_gradient(state),
                 slope(lambda: joint.mobilizer.velocity_from_qdot_matrix(state)), 1e-8, 1.0)
    assert_close(seed_like, slope(lambda: joint.mobilizer.velocity_from_qdot_matrix(state, "drake")), 1e-8, 1.0)
    assert_close(joint.mobilizer.subspace_gradient(state), slope(lambda: joint.mobilizer.subspace(state)), 1e-9, 1.0)
    assert_close(joint.mobilizer.subspace_bias_gradient(state)[0], slope(lambda: joint.mobilizer.subspace_bias(state)), 1e-8,
                 np.abs(state.v).max() ** 2)


@pytest.fixture
def free():
    b = mbros.ModelBuilder("free")
    b.add_joint(mbros.FloatingJoint("float", b.world, seed_models.box(b, "B"), damping=(0.5, 0.7)))
    return b


@seed("QF-11")
def test_damping_and_friction(free):
    model = free.build()
    joint, state = model.joint("float"), model.default_state()
    joint.set_angular_velocity(state, (1, 2, 3)).set_translational_velocity(state, (4, 5, 6))
    assert_close(joint.add_damping(state, np.zeros(6)), [-0.5, -1, -1.5, -2.8, -3.5, -4.2], EPS)
    assert not joint.friction_torque(state).any()
    per_axis = mbros.FloatingJoint("x", free.world, free.body("B"), damping=(1, 2, 3, 4, 5, 6))
    assert per_axis.defaults.damping.tolist() == [1, 2, 3, 4, 5, 6]
    with pytest.raises(ValueError, match="joint 'x': damping has shape .3,., expected .6,."):
        mbros.FloatingJoint("x", free.world, free.body("B"), damping=(1, 2, 3))
    joint.set_friction(state, np.full(6, 0.25))
    assert_close(joint.friction_torque(state), [-0.25] * 6, 1e-6)


@seed("QF-12", "QF-13", "QF-14", "QF-15", "PJ-24")
def test_names_and_neutral(free):
    model = free.build()
    joint = model.joint("float")
    assert joint.is_floating and joint.can_rotate and joint.can_translate
    assert list(joint.names.positions) == META["seed_position_names"] and list(joint.names.velocities) == META["seed_velocity_names"]
    assert joint.defaults.neutral.tolist() == META["seed_zero_configuration"] == model.default_state().q.tolist()
    assert joint.names.positions[3] == "float_qw" and joint.names.velocity_suffixes[5] == "vz"
    names = joint.names
    for these, n in ((names.positions, 7), (names.velocities, 6), (names.position_suffixes, 7), (names.velocity_suffixes, 6)):
        for wrong in (n, -1, 1.5):
            with pytest.raises(IndexError, match=f"joint 'float'.*there are 0 to {n - 1}"):
                these[wrong]


@seed("QF-16")
def test_random_configurations(free, rng):
    """Lengths standard normal, rotations uniform."""
    from mbros.model.joints.sampling import random_positions

    joint = free.build().joint("float")
    n = 20000
    q = np.array([random_positions(joint, rng) for _ in range(n)])
    assert np.abs(np.linalg.norm(q[:, 3:], axis=1) - 1).max() < 4 * EPS
    assert (np.abs(q[:, :3].mean(0)) < 4 / np.sqrt(n)).all() and (np.abs(q[:, :3].var(0) - 1) < 4 * np.sqrt(2 / n)).all()
    w, x, y, z = q[:, 3:].T
    # entries of a uniform rotation matrix have mean 0 and variance 1/3
    for entry in (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)):
        assert abs(entry.mean()) < 4 * np.sqrt(1 / 3 / n) and abs(entry.var() - 1 / 3) < 0.01
    model_q = np.array([free.build().random_configuration(rng) for _ in range(10)])
    assert np.abs(np.linalg.norm(model_q[:, 3:], axis=1) - 1).max() < 4 * EPS


@seed("QF-16", "PJ-15")
def test_its_own_distribution(free, rng):
    free.joint("float").defaults.set_random(x=mbros.Uniform(2, 3), rotation=mbros.UniformRotation()).defaults.set_pose_pair(
        (0.6, 0, 0.8, 0), (7, 8, 9))
    state = free.build().random_state(rng)
    assert 2 <= state.q[0] <= 3 and state.q[1:3].tolist() == [8, 9] and abs(np.linalg.norm(state.q[3:]) - 1) < 4 * EPS
    assert not np.allclose(state.q[3:], (0.6, 0, 0.8, 0))
    with pytest.raises(ValueError, match="no coordinate 'qw' to draw"):
        free.joint("float").defaults.set_random(qw=1)
    with pytest.raises(ValueError, match="expected mbros.UniformRotation"):
        free.joint("float").defaults.set_random(rotation=mbros.Uniform())


@seed("PJ-36", "PJ-35")
def test_default_pose_pair_to_the_bit(free, rng):
    joint = free.joint("float")
    for _ in range(20):
        quat = rng.normal(size=4)
        quat /= np.linalg.norm(quat)
        p = rng.normal(size=3)
        assert joint.defaults.set_pose_pair(quat, p) is joint
        got_quat, got_p = joint.defaults.pose_pair
        assert got_quat.tobytes() == quat.tobytes() and got_p.tobytes() == p.tobytes()
        built = free.build().joint("float")
        assert built.defaults.pose_pair[0].tobytes() == quat.tobytes() and built.defaults.pose_pair[1].tobytes() == p.tobytes()
        X = built.defaults.pose
        joint.defaults.set_pose(X)
        assert_close(joint.defaults.pose.matrix, X.matrix, 8 * EPS)


@seed("QF-17", "QF-N2")
def test_torque_free_body_for_one_second():
    want = META["torque_free_1s"]
    b = mbros.ModelBuilder("free", (0, 0, 0))
    b.add_joint(mbros.FloatingJoint("j", b.world, b.add_body("B", want["mass"], inertia=want["inertia_diag_B"])))
    b.joint("j").placement = mbros.Pose.make((0.3, -0.2, 0.1), (0.1, 0.2, 0.3))
    original = b.build()
    model = copy.deepcopy(original)
    joint, first = model.joint("j"), original.joint("j")
    assert model is not original and model.name == original.name == "free" and joint is not first and joint.model is model
    assert (joint.name, joint.kind, joint.parent.name, joint.child.name) == ("j", "floating", "world", "B")
    assert np.array_equal(joint.placement.matrix(), first.placement.matrix()) and not np.shares_memory(joint.placement.R, first.placement.R)
    assert_close(joint.placement.p, (0.3, -0.2, 0.1), 0.0)
    assert_close(joint.placement.R, mbros.Pose.make(rpy=(0.1, 0.2, 0.3)).R, 4 * EPS)
    state = model.default_state()
    state.set_q(want["q0_seed"]), state.set_v(want["v0_seed"])
    energy, momentum = model.kinetic_energy(state), model.centroidal_momentum(state)
    mbros.Simulator(model, dt=1e-3, integrator="rk4", state=state).advance_to(1.0)
    assert_close(state.q, want["q1_seed"], 1e-10)
    assert_close(state.v, want["v1_seed"], 1e-10)
    assert abs(model.kinetic_energy(state) / energy - 1) < 1e-11
    assert_close(model.centroidal_momentum(state), momentum, 1e-11)


@seed("QF-N1")
@every_case
def test_every_librarys_numbers(case):
    model, joint, state = of_case(case)
    length = case["quat_norm"]
    given = [(name, case[key]) for name, key in (("drake", "modern"), ("pinocchio", "pinocchio"), ("mujoco", "mujoco")) if case.get(key)]
    assert len(given) == (3 if length == 1.0 else 1)
    for name, theirs in given:
        q, v = model.to_convention(state, name)
        assert_close(q, theirs["q"], EPS)
        assert_close(v, theirs["v"], 4 * EPS)
        # their numbers, quaternion of length s and all: a State has the unit one, the same rotation and velocity
        back = model.from_convention(name, theirs["q"], theirs["v"])
        unit = np.array(case["seed"]["q"])
        unit[3:] /= length
        assert_close(back.q, unit, 2 * EPS)
        assert abs(np.linalg.norm(back.q[3:]) - 1.0) <= 2 * EPS
        assert_close(back.v, case["seed"]["v"], 8 * EPS)
    if length == 1.0:                               # both conventions' qdot is one
        modern = case["modern"]["qdot"]
        assert_close(joint.mobilizer.velocity_to_qdot(state), [*modern[4:], *modern[:4]], 8 * EPS)


@seed("QF-07", "QF-08", "QF-N1")
def test_fresh_random_cases_against_pinocchio(rng):
    """The step along a velocity and the difference of two configurations: Pinocchio's SE(3)."""
    pin = pytest.importorskip("pinocchio")
    space = pin.liegroups.SE3()
    model = weightless()
    for _ in range(CASES):
        state, ahead = drake_peer.random_state(model, rng), model.default_state()
        q, v = model.to_convention(state, "pinocchio")
        ahead.set_q(model.integrate(state.q, 0.3 * state.v))
        theirs, ours = space.integrate(q, 0.3 * v), model.to_convention(ahead, "pinocchio")[0]
        assert_close(ours, [*theirs[:3], *(np.sign(theirs[3:] @ ours[3:]) * theirs[3:])], 1e-13)
        assert_close(model.difference(state.q, ahead.q), 0.3 * state.v, 1e-12)


@seed("QF-02", "QF-N1")
def test_fresh_random_cases_against_mujoco(rng):
    """Small steps: MuJoCo moves position and rotation apart, which differs from SE(3) in second order only."""
    mujoco = pytest.importorskip("mujoco")
    theirs = mujoco.MjModel.from_xml_string(
        '<mujoco><worldbody><body><freejoint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body></worldbody></mujoco>')
    model, h = weightless(), 1e-6
    for _ in range(CASES):
        state = drake_peer.random_state(model, rng)
        q, v = model.to_convention(state, "mujoco")
        ahead = q.copy()
        mujoco.mj_integratePos(theirs, ahead, v, h)
        own = model.from_convention("mujoco", ahead, v)
        qdot = model.joint("float").mobilizer.velocity_to_qdot(state)
        size = 1 + np.abs(state.v).max() ** 2
        assert_close((own.q - state.q) / h, qdot, h, size)


def weightless():
    b = mbros.ModelBuilder("free")
    b.add_joint(mbros.FloatingJoint("float", b.world, seed_models.box(b, "B")))
    return b.build()
