"""model.inverse_kinematics: what it reaches, what it leaves alone, and what it chooses."""
import numpy as np
import pytest
from optional import needs
from robots import loaded

import mbros

ROBOTS = [("arm6", "fixed", ["tool"]), ("arm7", "fixed", ["flange"]), ("panda", "fixed", ["panda_hand_tcp"]), ("scara", "fixed", []),
          ("humanoid", "fixed", ["left_hand", "right_hand"]),
          ("humanoid", "floating", ["left_hand", "right_hand", "left_foot", "right_foot"]),
          ("mobile_arm", "planar", [])]


def robot(name, base, frames):
    model = loaded(name, base).model
    return model, frames or [model.bodies[-1].name]


def posed(model, q):
    state = model.default_state()
    state.q[:] = q
    return state


def errors(model, q, targets):
    """(m, rad) between the frames at q and their targets, by model.pose and a trace: nothing of the solver's."""
    state, worst = posed(model, q), np.zeros(2)
    for frame, X in targets.items():
        found = model.pose(state, frame)
        angle = 2.0 * np.arcsin(min(1.0, np.linalg.norm(found.R - X.R) / np.sqrt(8.0)))
        worst = np.maximum(worst, [np.linalg.norm(found.p - X.p), angle])
    return worst


def planar(n=3, lower=-3.0, upper=3.0, length=1.0):
    """n revolute joints about z, links of one length, a frame "tip" at the end; limits of every joint."""
    b = mbros.ModelBuilder("planar")
    body = b.world
    for k in range(n):
        link = b.add_body(f"link{k}", 1.0, inertia=np.eye(3))
        b.add_joint(mbros.RevoluteJoint(f"joint{k}", body, link, p=(length * (k > 0), 0, 0), axis=(0, 0, 1), lower=lower, upper=upper))
        body = link
    b.add_frame("tip", body, p=(length, 0, 0))
    return b.build()


@pytest.mark.parametrize("name, base, frames", ROBOTS, ids=[f"{name} {base}" for name, base, _ in ROBOTS])
def test_random_reachable_targets_are_reached_within_the_limits(name, base, frames, rng):
    model, frames = robot(name, base, frames)
    targets = [{frame: model.pose(posed(model, q), frame) for frame in frames} for q in model.random_configuration(rng, 40)]
    found = model.inverse_kinematics(targets)
    assert found.solved.mean() >= 0.97, found
    for q, target, solved, error in zip(found.q, targets, found.solved, found.error):
        assert np.allclose(errors(model, q, target), error, rtol=1e-3, atol=1e-9)
        assert not solved or (error <= 1e-6).all()
        assert (q >= model.spec.q_lower).all() and (q <= model.spec.q_upper).all()
    assert np.abs(model.normalize(found.q) - found.q).max() < 1e-15


def test_convergence_is_quadratic(rng):
    """From a hundredth of a radian away: every step squares the error, so two more digits cost no step and six cost one or two."""
    model = mbros.load("arm7")
    q = np.array([0.3, 0.4, -0.2, 1.1, 0.5, -0.8, 0.1])
    target, near = {"flange": model.pose(posed(model, q), "flange")}, q + 0.01 * rng.normal(size=7)
    steps = [model.inverse_kinematics(target, q0=near, tolerance=tolerance, restarts=0) for tolerance in (1e-3, 1e-6, 1e-12)]
    assert all(found.solved for found in steps)
    assert steps[0].iterations <= 2 and steps[1].iterations <= 4 and steps[2].iterations <= 6


def test_a_half_turn_is_no_obstacle():
    b = mbros.ModelBuilder("ball")
    b.add_joint(mbros.BallJoint("ball", b.world, b.add_body("body", 1.0, inertia=np.eye(3))))
    model = b.build()
    for R in (np.diag([1.0, -1, -1]), np.diag([-1.0, 1, -1]), np.diag([-1.0, -1, 1])):
        found = model.inverse_kinematics({"body": mbros.Pose(R, np.zeros(3))}, restarts=0)
        assert found.solved and found.iterations <= 10 and errors(model, found.q, {"body": mbros.Pose(R, np.zeros(3))})[1] < 1e-6


def test_a_target_out_of_reach_is_approached_and_not_solved():
    model = planar(3)
    found = model.inverse_kinematics({"tip": (3.0, 4.0, 0.0)})
    assert not found.solved and abs(found.error[0] - 2.0) < 1e-4 and found.error[1] == 0.0
    assert np.abs(model.pose(posed(model, found.q), "tip").p - 3.0 * np.array([0.6, 0.8, 0.0])).max() < 1e-2


def test_limits_hold_a_joint_where_it_would_go_on():
    b = mbros.ModelBuilder("slide")
    b.add_joint(mbros.PrismaticJoint("slide", b.world, b.add_body("cart", 1.0), axis=(1, 0, 0), lower=-0.5, upper=0.25))
    model = b.build()
    for x, end in ((1.0, 0.25), (-7.0, -0.5)):
        found = model.inverse_kinematics({"cart": (x, 0, 0)})
        assert not found.solved and found.q[0] == end and found.error[0] == abs(x - end)
    assert model.inverse_kinematics({"cart": (0.25, 0, 0)}).solved
    assert model.inverse_kinematics({"cart": (0.1, 0, 0)}, q0=[40.0]).solved        # a start outside is brought inside


def test_a_limit_met_on_the_way_leaves_the_others_their_best(rng):
    """With the first joint at its limit the rest are at the minimum: the gradient along them is zero, and along it points outside."""
    model = planar(3, lower=-0.4, upper=0.4)
    found = model.inverse_kinematics({"tip": (0.0, 2.5, 0.0)}, restarts=5)
    J = model.jacobian(posed(model, found.q), "tip")[3:]
    gradient = J.T @ (model.pose(posed(model, found.q), "tip").p - (0.0, 2.5, 0.0))
    held = np.abs(found.q) == 0.4
    assert not found.solved and held[0]
    assert np.abs(gradient[~held]).max(initial=0.0) < 1e-4 and (gradient[held] * found.q[held] < 0).all()


def test_axes_without_weight_are_free():
    model = mbros.load("arm7")
    down = mbros.Pose.make((0.45, 0.1, 0.4), rpy=(np.pi, 0, 0.9))
    whole, spun = (model.inverse_kinematics({"flange": target}) for target in (down, (down, (1, 1, 0, 1, 1, 1))))
    X = model.pose(posed(model, spun.q), "flange")
    assert whole.solved and spun.solved and spun.error.max() <= 1e-6
    assert np.abs(X.p - down.p).max() < 1e-6 and np.abs(X.R[:, 2] - down.R[:, 2]).max() < 2e-6      # its z axis is the target's
    point, same = model.inverse_kinematics({"flange": down.p}), model.inverse_kinematics({"flange": (down, (0, 1))})
    assert np.abs(point.q - same.q).max() < 1e-12 and point.error[1] == 0.0 and point.error[0] <= 1e-6


def test_weights_share_what_cannot_be_had_together():
    """A cart between two points: at their mean, weighted with the squares of the weights."""
    b = mbros.ModelBuilder("slide")
    cart = b.add_body("cart", 1.0)
    b.add_joint(mbros.PrismaticJoint("slide", b.world, cart, axis=(1, 0, 0), lower=-9, upper=9))
    b.add_frame("a", cart)
    b.add_frame("b", cart)
    found = b.build().inverse_kinematics({"a": ((0, 0, 0), 3.0), "b": ((1, 0, 0), 1.0)})
    assert abs(found.q[0] - 0.1) < 1e-6 and not found.solved


def test_a_floating_base_comes_along_from_anywhere(rng):
    model = loaded("humanoid", "floating").model
    q = model.random_configuration(rng)
    q[:3] = 50.0, -20.0, 3.0
    targets = {frame: model.pose(posed(model, q), frame) for frame in ("left_foot", "right_foot", "right_hand")}
    found = model.inverse_kinematics(targets)
    assert found.solved and errors(model, found.q, targets).max() <= 1e-6 and abs(np.linalg.norm(found.q[3:7]) - 1) < 1e-15


def test_joints_that_carry_no_target_keep_every_bit(rng):
    model = loaded("humanoid", "fixed").model
    q = model.random_configuration(rng, 2)
    found = model.inverse_kinematics({"left_hand": model.pose(posed(model, q[0]), "left_hand")}, q0=q[1], posture=q[0])
    moved = {model.tree.at_q(k).name for k in np.flatnonzero(found.q != q[1])}
    chain = ("waist", "left_shoulder", "left_elbow", "left_forearm", "left_wrist")
    assert found.solved and moved and all(name.startswith(chain) for name in moved)


def test_locked_joints_keep_every_bit():
    model = planar(3)
    state = model.default_state()
    state.q[:] = 0.1234567, 0.5, -0.3
    model.joint("joint0").lock(state)
    target = (np.cos(0.1234567) + 0.9, np.sin(0.1234567) + 0.6, 0.0)
    found = model.inverse_kinematics({"tip": target}, state)
    assert found.solved and found.q[0] == 0.1234567
    for name in ("joint1", "joint2"):
        model.joint(name).lock(state)
    found = model.inverse_kinematics({"tip": target}, state)
    assert not found.solved and np.array_equal(found.q, state.q) and found.iterations == 0
    here = model.pose(state, "tip")
    assert model.inverse_kinematics({"tip": here}, state).solved


def test_followers_move_with_their_leader_within_both_limits():
    """Two links of which the second follows with -2 times the first plus 0.1; its own limit of 1 stops the first at 0.55."""
    b = mbros.ModelBuilder("linkage")
    one, two = (b.add_body(name, 1.0, inertia=np.eye(3)) for name in ("one", "two"))
    b.add_joint(mbros.RevoluteJoint("lead", b.world, one, axis=(0, 0, 1), lower=-2, upper=2))
    b.add_joint(mbros.RevoluteJoint("follow", one, two, p=(1, 0, 0), axis=(0, 0, 1), lower=-1, upper=1, mimic=("lead", -2.0, 0.1)))
    b.add_frame("tip", two, p=(1, 0, 0))
    model = b.build()
    reach = model.pose(posed(model, [0.4]), "tip")
    found = model.inverse_kinematics({"tip": reach}, q0=[-0.3])
    assert found.solved and abs(found.q[0] - 0.4) < 1e-6
    beyond = model.inverse_kinematics({"two": model.pose(posed(model, [0.9]), "two")})
    assert not beyond.solved and abs(beyond.q[0] - 0.55) < 1e-12


def chain_of_every_kind():
    b = mbros.ModelBuilder("kinds")
    body, n = b.world, 0
    kinds = [mbros.PrismaticJoint, mbros.RevoluteJoint, mbros.CylindricalJoint, mbros.ScrewJoint, mbros.UniversalJoint, mbros.BallJoint,
             mbros.BallRpyJoint, mbros.PlanarJoint, mbros.TranslationJoint, mbros.BoundedRotation, mbros.ContinuousJoint,
             mbros.FloatingRpyJoint, mbros.FloatingJoint]
    for kind in kinds:
        link = b.add_body(f"link{n}", 1.0, inertia=np.eye(3))
        b.add_joint(kind(f"joint{n}", body, link, p=(0.1, 0.2, 0.3), rpy=(0.3, -0.4, 0.5),
                         **({"pitch_m_per_rad": 0.2} if kind is mbros.ScrewJoint else {})))
        body, n = link, n + 1
    return b.build()


def test_every_kind_of_joint_helps(rng):
    """A body at the end of a chain with one joint of each kind: each alone (the others locked) gets back to where it was."""
    model = chain_of_every_kind()
    for joint in model.joints:
        state = model.default_state()
        v = np.zeros(model.nv)
        v[joint.v_slice] = rng.uniform(-0.3, 0.3, joint.nv)
        target = {model.bodies[-1].name: model.pose(posed(model, model.integrate(state.q, v)), model.bodies[-1])}
        for other in model.joints:
            if other is not joint and other.nv:
                other.lock(state)
        found = model.inverse_kinematics(target, state, restarts=0)
        assert found.solved, (joint, found)
        assert errors(model, found.q, target).max() <= 1e-6
    assert model.inverse_kinematics(target, posture=model.default_state().q).solved


def test_a_posture_chooses_the_nearest_solution_of_a_family():
    """Four links and a point: at the end the posture's pull has no part left along the solutions, and stays inside the limits."""
    model = planar(4)
    posture = np.array([0.2, 0.6, 0.5, 0.4])
    plain, found = (model.inverse_kinematics({"tip": (1.5, 1.8, 0.0)}, q0=[1.5, -0.5, 0.3, -0.2], posture=p, tolerance=1e-9)
                    for p in (None, posture))
    assert plain.solved and found.solved
    J = model.jacobian(posed(model, found.q), "tip")[3:5]
    _, _, V = np.linalg.svd(J)
    along = V[2:] @ (posture - found.q)
    assert np.abs(along).max() < 1e-5
    assert np.linalg.norm(found.q - posture) < np.linalg.norm(plain.q - posture) - 0.05


def test_batches_are_single_calls_whatever_the_threads(rng):
    model = mbros.load("arm6")
    targets = [{"tool": model.pose(posed(model, q), "tool")} for q in model.random_configuration(rng, 70)]
    state = model.default_state()
    one, two = (model.inverse_kinematics(targets, state, threads=threads) for threads in (1, 3))
    assert np.array_equal(one.q, two.q) and np.array_equal(one.iterations, two.iterations)
    for k in (0, 33, 69):
        single = model.inverse_kinematics(targets[k], state)
        assert np.array_equal(single.q, one.q[k]) and single.iterations == one.iterations[k] and single.solved == one.solved[k]
        assert single.q.shape == (6,) and single.error.shape == (2,) and type(single.solved) is bool and type(single.iterations) is int
    starts = model.random_configuration(rng, 5)
    many = model.inverse_kinematics(targets[0], q0=starts)
    assert many.q.shape == (5, 6) and many.error.shape == (5, 2)
    assert np.array_equal(many.q[3], model.inverse_kinematics(targets[0], q0=starts[3]).q)


def test_the_seed_decides_which_starts_are_tried(rng):
    model = mbros.load("arm6")
    targets = [{"tool": model.pose(posed(model, q), "tool")} for q in model.random_configuration(rng, 60)]
    a, b, c = (model.inverse_kinematics(targets, seed=seed) for seed in (0, 1, 0))
    assert np.array_equal(a.q, c.q) and not np.array_equal(a.q, b.q)
    assert model.inverse_kinematics(targets, restarts=0).solved.sum() < a.solved.sum()


def test_a_users_joint_in_python_takes_part():
    class Slide(mbros.JointLaw):
        nq = nv = 1
        position_names, velocity_names = ("s",), ("sdot",)

        def pose(self, q):
            return np.eye(3), np.array([q[0], q[0] ** 2, 0.0])

        def subspace(self, q):
            return np.array([[0, 0, 0, 1.0, 2 * q[0], 0]]).T

        def bias(self, q, v):
            return np.array([0, 0, 0, 0, 2 * v[0] ** 2, 0])

    b = mbros.ModelBuilder("parabola")
    b.add_joint(mbros.CustomJoint("track", b.world, b.add_body("cart", 1.0), Slide()))
    found = b.build().inverse_kinematics({"cart": (0.7, 0.49, 0.0)})
    assert found.solved and abs(found.q[0] - 0.7) < 1e-6


@needs("pinocchio", "its damped least squares on the same targets")
def test_pinocchios_frames_are_there_too(rng):
    import pinocchio as pin

    model = mbros.load("arm7")
    peer = pin.buildModelFromXML(model.description.text)
    data = peer.createData()
    target = model.pose(posed(model, model.random_configuration(rng)), "flange")
    found = model.inverse_kinematics({"flange": target})
    pin.framesForwardKinematics(peer, data, found.q)
    X = data.oMf[peer.getFrameId("flange")]
    assert found.solved and np.abs(X.translation - target.p).max() < 1e-6 and np.abs(X.rotation - target.R).max() < 2e-6
