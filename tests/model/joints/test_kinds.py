"""The mobilizer interface on every kind of joint: against the tree it stands in, against Drake, and against itself."""
import drake_peer
import numpy as np
import pytest
import seed_models
from tolerance import EPS, assert_close

import mbros
import mbros_core
from mbros.describe.joints.abilities import has_axis
from mbros.describe.joints.kinds import KINDS, engine_kind, row_of, unit_parts
from mbros.describe.joints.kinematics import kinematics
from mbros_core.joints.registry import ROWS

seed = pytest.mark.seed
MOVING = [kind for kind, (nq, nv) in KINDS.items() if nv]
AXIS = np.array([0.48, -0.6, 0.64])


def mine(kind):
    """The mathematics of a joint of that kind, its axis and parameters ugly."""
    return kinematics(kind, (0.07,) * len(row_of(kind).parameters), AXIS if has_axis(kind) else None)


def random_q(m, rng):
    space_q = m.model.normalize(rng.uniform(-1.3, 1.3, m.nq))
    return space_q


@pytest.fixture
def tree(rng):
    model = seed_models.every_kind(rng).build()
    state = model.random_state(rng)
    state.q[:] = seed_models.pitch_ok(model, state.q)
    return model, state


@seed("PJ-24", "HJ-02", "HJ-03", "HJ-04", "HJ-05", "HJ-01", "HJ-06")
def test_builder_covers_every_registered_kind(rng):
    """A kind added to the engine's registry is a kind here, without a line in mbros; every one can be built."""
    assert set(KINDS) == {row.name for row in ROWS} | {"continuous"}
    model = seed_models.every_kind(rng).build()
    assert {engine_kind(joint.kind) for joint in model.joints} == {row.name for row in ROWS}
    table = {"weld": (False, False), "revolute": (True, False), "continuous": (True, False), "circular": (True, False),
             "ball": (True, False), "ball_rpy": (True, False), "universal": (True, False), "prismatic": (False, True),
             "translation2": (False, True), "translation3": (False, True), "planar": (True, True), "screw": (True, True),
             "cylindrical": (True, True), "floating": (True, True), "floating_rpy": (True, True)}
    for joint in model.joints:
        assert (joint.can_rotate, joint.can_translate) == table[joint.kind], joint
    assert model.joint("translation1").kind == "prismatic" and model.joint("translation1").axis.tolist() == [1, 0, 0]
    assert model.joint("bounded").axis.tolist() == [1, 0, 0] and model.joint("bounded").limits.position[0] == (-np.pi, np.pi)


@seed("RM-08", "RM-09", "RM-10", "RM-11", "HJ-12")
def test_joints_agree_with_the_tree_they_stand_in(tree, rng):
    """X_FM, V_FM, A_FM and H of the joint alone, against poses, velocities and accelerations of its frames in the world."""
    model, state = tree
    vdot = rng.normal(size=model.nv)
    for joint in model.joints:
        F, M = joint.parent_frame, joint.child_frame
        X_WF, X_FM = model.pose(state, F), model.pose(state, M, F)
        X = joint.transform(state)
        assert_close(X.R, X_FM.R, 64 * EPS)
        assert_close(X.p, X_FM.p, 256 * EPS, 10.0)
        V_WF, V_WM = (np.asarray(model.velocity(state, f)) for f in (F, M))
        A_WF, A_WM = (np.asarray(model.acceleration(state, f, vdot)) for f in (F, M))
        p, w = X_WF.R @ X.p, V_WF[:3]
        relative = V_WM[3:] - V_WF[3:] - np.cross(w, p)
        alpha = A_WM[:3] - A_WF[:3] - np.cross(w, V_WM[:3])
        a = A_WM[3:] - A_WF[3:] - np.cross(A_WF[:3], p) - np.cross(w, np.cross(w, p)) - 2 * np.cross(w, relative)
        size = (np.abs(np.concatenate([V_WM, A_WM])).max() + 1) ** 2
        assert_close(joint.spatial_velocity(state), np.concatenate([X_WF.R.T @ (V_WM[:3] - w), X_WF.R.T @ relative]), 16 * EPS, size)
        assert_close(joint.spatial_acceleration(state, vdot), np.concatenate([X_WF.R.T @ alpha, X_WF.R.T @ a]), 16 * EPS, size)
        wrench = rng.normal(size=6)
        power = joint.project_force(state, wrench) @ joint.velocity(state)
        assert power == pytest.approx(np.asarray(joint.spatial_velocity(state)) @ wrench, abs=1e-13 * size)
        assert np.array_equal(joint.project_force(state, mbros.SpatialForce(wrench, M.name, F.name)), joint.project_force(state, wrench))


@seed("RM-12", "RM-13", "QF-07", "QF-08")
@pytest.mark.parametrize("kind", MOVING)
def test_n_and_its_inverse(kind, rng):
    m = mine(kind)
    for _ in range(20):
        q, v = random_q(m, rng), rng.normal(size=m.nv)
        N, Nplus = m.qdot_matrix(q), m.velocity_matrix(q)
        assert_close(Nplus @ N, np.eye(m.nv), 64 * EPS, 10.0)
        h = 1e-6
        step = (m.model.integrate(q, h * v) - m.model.integrate(q, -h * v)) / (2 * h)
        assert_close(N @ v, step, 1e-8, 1 + v @ v)
        state = m.at(q)
        assert_close(m.model.velocity_to_qdot(state, v), N @ v, 64 * EPS, 10.0)


@seed("QF-05", "QF-06", "QF-10")
@pytest.mark.parametrize("kind", MOVING)
def test_gradients_of_every_kind(kind, rng):
    from mbros.diff import joints as gradients

    m = mine(kind)

    def slope(f, x, h=1e-3):
        columns = []
        for e in np.eye(len(x)):
            coarse, fine = ((f(x + s * e) - f(x - s * e)) / (2 * s) for s in (2 * h, h))
            columns.append((4 * fine - coarse) / 3)
        return np.stack(columns, -1)

    for _ in range(5):
        q, v = random_q(m, rng), rng.normal(size=m.nv)
        assert_close(gradients.subspace(m, q), slope(m.subspace, q), 1e-8, 1.0)
        assert_close(gradients.qdot_matrix(m, q), slope(m.qdot_matrix, q), 1e-8, 1.0)
        assert_close(gradients.velocity_matrix(m, q), slope(m.velocity_matrix, q), 1e-8, 1.0)
        by_q, by_v = gradients.bias(m, q, v)
        size = 1 + v @ v
        assert_close(by_q, slope(lambda x: m.bias(x, v), q), 1e-8, size)
        assert_close(by_v, slope(lambda u: m.bias(q, u), v), 1e-8, size)
        # and H itself along the motion: Hdot v is the bias
        qdot = m.qdot_matrix(q) @ v
        assert_close(np.einsum("ijk,j,k", gradients.subspace(m, q), v, qdot), m.bias(q, v), 1e-13, size)
        # in the axes of M too
        R = m.pose(q)[0]
        in_M = gradients.subspace(m, q, in_M=True)
        assert_close(in_M, slope(lambda x: np.concatenate([m.pose(x)[0].T @ m.subspace(x)[:3], m.pose(x)[0].T @ m.subspace(x)[3:]]), q),
                     1e-8, 1.0)
        assert R.shape == (3, 3)


@seed("PJ-35")
@pytest.mark.parametrize("kind", MOVING)
def test_best_match_of_every_kind(kind, rng):
    """A pose within reach is met; of others, no configuration tried at random is nearer, and the slope there is zero."""
    from mbros.describe.joints.matching import _distance, best_match
    from mbros.spatial.placement import rotation_from_quat_wxyz

    m = mine(kind)
    for _ in range(8):
        q = random_q(m, rng)
        R, p = m.pose(q)
        got_R, got_p = m.pose(best_match(m, R, p))
        assert_close(got_R, R, 1e-9, 1.0)
        assert_close(got_p, p, 1e-9, 1.0)
    for _ in range(4):
        quat = rng.normal(size=4)
        R, p = rotation_from_quat_wxyz(quat), rng.uniform(-1, 1, 3)
        best = best_match(m, R, p)
        value = _distance(m, R, p, best)
        for _ in range(200):
            other = m.model.normalize(rng.uniform(-np.pi, np.pi, m.nq))
            assert value <= _distance(m, R, p, other) + 1e-12
        h = 1e-4
        for e in np.eye(m.nv):
            ends = [_distance(m, R, p, m.model.integrate(best, sign * h * e)) for sign in (1, -1)]
            assert abs(ends[0] - ends[1]) / (2 * h) < 1e-7 and min(ends) >= value - 1e-14


@seed("PJ-35")
@pytest.mark.parametrize("turns", [-7.3, 0.4, 2.9, 14.6])
def test_a_screw_finds_its_turn(turns):
    m = kinematics("screw", (0.03,), (0, 0.6, 0.8))
    from mbros.describe.joints.matching import best_match

    assert_close(best_match(m, *m.pose([turns])), [turns], 1e-9)


@seed("RM-05", "RM-06")
def test_words_of_every_kind(tree, rng):
    """Setters and getters of each kind's own words."""
    model, state = tree
    for name in ("revolute", "continuous", "bounded", "screw", "cylindrical", "circular"):
        joint = model.joint(name)
        assert joint.set_angle(state, 0.7).set_angular_rate(state, -0.3) is joint
        assert joint.angle(state) == pytest.approx(0.7, rel=4 * EPS) and joint.angular_rate(state) == -0.3
        assert joint.defaults.angle == 0.0
    assert model.joint("circular").position(state).tolist() == [np.cos(0.7), np.sin(0.7)]
    for name, n in (("prismatic", 1), ("translation1", 1), ("translation2", 2), ("translation3", 3), ("cylindrical", 1)):
        joint = model.joint(name)
        x = rng.normal(size=n)
        joint.set_translation(state, x).set_translation_rate(state, -x)
        assert np.atleast_1d(joint.translation(state)).tolist() == x.tolist()
        assert np.atleast_1d(joint.translation_rate(state)).tolist() == (-x).tolist()
        assert not np.any(joint.defaults.translation)
    assert model.joint("cylindrical").angle(state) == 0.7, "only its own part"
    universal = model.joint("universal")
    assert universal.set_angles(state, (0.1, 0.2)).set_angular_rates(state, (3, 4)).angles(state).tolist() == [0.1, 0.2]
    assert universal.angular_rates(state).tolist() == [3, 4]
    rpy, p = (0.3, -0.4, 0.5), (1, 2, 3)
    for name in ("ball", "ball_rpy", "floating", "floating_rpy"):
        joint = model.joint(name)
        assert joint.set_rotation(state, rpy=rpy) is joint
        assert_close(joint.rpy_angles(state), rpy, 8 * EPS)
        quat = joint.quat_wxyz(state)
        assert_close(joint.set_rotation(state, quat_wxyz=-quat).rpy_angles(state), rpy, 8 * EPS)
        assert joint.set_angular_velocity(state, p).angular_velocity(state).tolist() == [1, 2, 3]
        with pytest.raises(ValueError, match="quat_wxyz .* has length 2"):
            joint.set_rotation(state, quat_wxyz=(2, 0, 0, 0))
        with pytest.raises(TypeError, match="one of quat_wxyz, quat_xyzw and rpy"):
            joint.set_rotation(state)
        if name.startswith("floating"):
            assert joint.set_pose(state, p=p, rpy=rpy) is joint and joint.translation(state).tolist() == [1, 2, 3]
            assert_close(joint.transform(state).p, p, EPS)
            assert joint.set_translational_velocity(state, p).translational_velocity(state).tolist() == [1, 2, 3]
    X = model.joint("floating").transform(state)
    assert_close(model.joint("floating").set_pose(state, X).transform(state).matrix, X.matrix, 8 * EPS)


@seed("PJ-29")
@pytest.mark.parametrize("integrator", mbros_core.INTEGRATORS)
def test_every_kind_locks(rng, integrator):
    """To the bit, also quaternions, and whatever the others do."""
    model = seed_models.every_kind(rng).build()
    for joint in model.joints:
        if not joint.nv:
            assert not joint.is_locked(model.default_state())
            continue
        state = model.random_state(rng)
        state.set_q(seed_models.pitch_ok(model, state.q))
        joint.lock(state)
        q = state.q[joint.q_slice].copy()
        vdot = model.forward_dynamics(state, np.zeros(model.nv))
        assert not vdot[joint.v_slice].any() and vdot.any()
        moving = state.q.copy()
        mbros.Simulator(model, dt=1e-4, integrator=integrator, state=state).advance_to(2e-3)
        assert not state.v[joint.v_slice].any(), joint
        assert np.array_equal(state.q[joint.q_slice], q), joint
        assert not np.array_equal(np.delete(state.q, joint.q_slice), np.delete(moving, joint.q_slice))


@seed("PJ-29")
@pytest.mark.parametrize("integrator", mbros_core.INTEGRATORS)
def test_rollouts_keep_locked_joints_to_the_bit(rng, integrator):
    """Lanes too: every kind described as locked stays at its default, at rest, while one joint below it is pushed about."""
    b = seed_models.every_kind(rng)
    joints = {name: b.joint(name) for name in [joint.name for joint in b.description.joints if joint.nv]}
    for name, joint in joints.items():
        joint.locked = name != "bounded"
        q = kinematics(joint.kind, joint.parameters, joint.axis).model.normalize(rng.uniform(-0.7, 0.7, joint.nq))
        joint.defaults.positions = q
    model = b.build()
    state = model.default_state()
    batch, steps = 11, 15
    tau = rng.normal(size=(batch, steps, model.nv))
    q, v = mbros.rollout(model, state.q, state.v, tau, dt=1e-4, integrator=integrator)
    free = model.joint("bounded")
    assert all(model.joint(name).is_locked(state) for name in joints if name != "bounded") and not free.is_locked(state)
    assert np.array_equal(np.delete(q, free.q_slice, -1), np.broadcast_to(np.delete(state.q, free.q_slice), (batch, steps, model.nq - 1)))
    assert not np.delete(v, free.v_slice, -1).any() and np.abs(v[..., free.v_slice]).min(-1).all()


@seed("PJ-29")
@pytest.mark.parametrize("integrator", ["midpoint", "semi_implicit_euler", "rk4"])
def test_a_velocity_written_into_a_locked_joint_is_gone_after_the_next_step(rng, integrator):
    """For that joint, and for all that it carries: the step is that of a model whose joint was left at rest."""
    model = seed_models.every_kind(rng).build()
    start = model.random_state(rng)
    start.set_q(seed_models.pitch_ok(model, start.q))
    for joint in (joint for joint in model.joints if joint.nv):
        still, written = start.copy(), start.copy()
        for state in (still, written):
            joint.lock(state)
        written.v[joint.v_slice] = 3.0
        for state in (still, written):
            mbros.Simulator(model, dt=1e-4, integrator=integrator, state=state).step()
        assert np.array_equal(still.q, written.q) and np.array_equal(still.v, written.v), joint


@seed("HJ-17", "HJ-14", "HJ-15")
def test_spaces_of_joints(rng):
    model = seed_models.every_kind(rng).build()
    q = model.neutral_configuration()
    for joint in model.joints:
        assert q[joint.q_slice].tolist() == joint.defaults.neutral.tolist() == joint.space.neutral.tolist()
        assert (joint.space.nq, joint.space.nv) == (joint.nq, joint.nv)


SEEDS_OF_KINDS = {"revolute": ("RM-01", "RM-N1"), "planar": ("PJ-01", "PJ-02", "PJ-07", "PJ-N1", "PJ-N2"),
                  "floating": ("QF-01", "QF-04", "QF-11")}


@seed("RM-08", "RM-09", "RM-10", "RM-11")
@pytest.mark.parametrize("kind", [pytest.param(kind, marks=seed(*SEEDS_OF_KINDS.get(kind, ()))) for kind in drake_peer.KINDS])
def test_fresh_random_cases_against_drake(kind, rng):
    drake_peer.available().compare_random(kind, rng)


@pytest.mark.parametrize("kind, parts", [("floating", (slice(3, 7),)), ("ball", (slice(0, 4),)), ("circular", (slice(0, 2),)),
                                         ("planar", ()), ("weld", ())])
def test_unit_parts(kind, parts):
    assert unit_parts(kind) == parts


@seed("PJ-17", "PJ-18")
@pytest.mark.parametrize("kind", MOVING)
def test_sizes_of_options(kind, rng):
    """Vectors of wrong size are refused by name; one number serves all coordinates."""
    from mbros.describe.joints import classes as user

    def make(**options):
        b = mbros.ModelBuilder("rig")
        body = seed_models.box(b, "B")
        cls = {"screw": lambda *a, **o: user.ScrewJoint(*a, pitch_m_per_rad=0.1, **o),
               "circular": lambda *a, **o: user.ContinuousJoint(*a, representation="cos_sin", **o),
               "translation2": lambda *a, **o: user.TranslationJoint(*a, 2, **o),
               "translation3": lambda *a, **o: user.TranslationJoint(*a, 3, **o)}.get(kind)
        cls = cls or next(c for c in user.CLASSES if c.KIND == kind)
        return cls("j", b.world, body, **options)

    nq, nv = KINDS[kind]
    joint = make(damping=0.25, friction=0.5, velocity=3.0, effort=4.0, lower=-1.0, upper=2.0)
    assert joint.damping.tolist() == [0.25] * nv and joint.limits.position.upper.tolist() == [2.0] * nq
    assert joint.effort.tolist() == [4.0] * nv
    assert joint.limits.velocity.lower.tolist() == [-3.0] * nv
    limits = mbros.JointLimits(position=(np.full(nq, -1.0), np.full(nq, 1.0)), velocity=(-2, 3), acceleration=(-4, 5))
    joint = make(limits=limits)
    assert joint.limits.position.lower.tolist() == [-1.0] * nq and joint.limits.acceleration.upper.tolist() == [5.0] * nv
    assert joint.limits.velocity.lower.tolist() == [-2.0] * nv
    for option, n in (("damping", nv), ("friction", nv), ("velocity", nv), ("effort", nv), ("rotor_inertia", nv), ("gear_ratio", nv),
                      ("stop_stiffness", nv), ("stop_damping", nv), ("lower", nq), ("upper", nq), ("default", nq)):
        with pytest.raises(ValueError, match=f"joint 'j': {option} has shape .{n + 1},., expected .{n},."):
            make(**{option: np.ones(n + 1)})
    for what, n in (("position", nq), ("velocity", nv), ("acceleration", nv)):
        with pytest.raises(ValueError, match=f"lower {what} limit has shape .{n + 2},., expected .{n},."):
            make(limits=mbros.JointLimits(**{what: (np.ones(n + 2), np.ones(n + 2))}))
        with pytest.raises(ValueError, match=f"{what} limits are 3"):
            make(limits=mbros.JointLimits(**{what: 3}))
    with pytest.raises(TypeError, match="unexpected option 'dampin'"):
        make(dampin=1.0)
