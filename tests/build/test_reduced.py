"""Reduced models: motion, poses and Jacobians of the whole robot with the same joints locked. And which velocities are driven."""
import numpy as np
import pytest
import robots

import mbros
from mbros import diff


def pair(model, locked, rng):
    """The whole robot in a random state with joints locked at rest, the reduced one in the same, and where its velocities are."""
    state = model.random_state(rng)
    for name in locked:
        joint = model.joint(name)
        joint.set_velocity(state, np.zeros(joint.nv)) if joint.nv > 1 else joint.set_velocity(state, 0.0)
        joint.lock(state)
    small = mbros.ModelBuilder.reduced(model, locked, state).build()
    other, at = small.default_state(), []
    for joint in small.joints:
        if joint.nv and not joint.follows:
            whole = model.joint(joint.name)
            other.q[joint.q_slice], other.v[joint.v_slice] = state.q[whole.q_slice], state.v[whole.v_slice]
            at += range(whole.v_slice.start, whole.v_slice.stop)
    return state, small, other, np.array(at, dtype=int)


@pytest.mark.parametrize("name, base, locked", [
    ("arm7", "fixed", ["joint3", "joint5"]), ("arm7", "fixed", ["joint1", "joint7"]),
    ("panda", "fixed", ["panda_joint4", "panda_finger_joint1"]),
    ("humanoid", "floating", ["waist_yaw_joint", "waist_roll_joint", "left_elbow", "neck_yaw_joint"]), ("humanoid", "floating", ["base"])])
def test_it_moves_as_the_locked_robot(name, base, locked, rng):
    model = robots.loaded(name, base).model
    state, small, other, at = pair(model, locked, rng)
    assert small.nv == len(at) == model.nv - sum(model.joint(j).nv for j in locked)
    tau = rng.normal(size=model.nv)
    vdot, ours = model.forward_dynamics(state, tau), small.forward_dynamics(other, tau[at])
    assert np.abs(vdot[at] - ours).max() <= 1e-12 * np.abs(vdot).max()
    M = model.mass_matrix(state)[np.ix_(at, at)]
    assert np.abs(small.mass_matrix(other) - M).max() <= 1e-12 * np.abs(M).max()
    bias = model.bias_torques(state)[at]
    assert np.abs(small.bias_torques(other) - bias).max() <= 1e-12 * max(1.0, np.abs(bias).max())
    for frame in model.frames.names:
        if frame.endswith(".F"):
            continue
        X, Y = model.pose(state, frame), small.pose(other, frame)
        assert np.allclose(X.p, Y.p, rtol=0, atol=1e-13) and np.allclose(X.R, Y.R, rtol=0, atol=1e-13)
        assert np.allclose(small.jacobian(other, frame), model.jacobian(state, frame)[:, at], rtol=0, atol=1e-12)


def test_springs_of_locked_joints_are_left_out_and_named(rng):
    b = mbros.ModelBuilder("sprung")
    arm, tip = b.add_body("arm", 1.0, (0.3, 0, 0), (0.01, 0.1, 0.1)), b.add_body("tip", 0.5, (0.2, 0, 0), (0.01, 0.05, 0.05))
    b.add_joint(mbros.RevoluteJoint("a", b.world, arm, axis=(0, 1, 0)))
    elbow = b.add_joint(mbros.RevoluteJoint("b", arm, tip, axis=(0, 0, 1), p=(0.6, 0, 0)))
    b.add_force_element(mbros.RevoluteSpring(elbow, stiffness=30.0, name="spring"))
    b.add_force_element(mbros.LinearSpringDamper(b.world.frame, tip.frame, 50.0, 0.5, 1.0, name="rope"))
    model = b.build()
    state, small, other, at = pair(model, ["b"], rng)
    assert small.force_elements.names == ("rope",)
    assert any("'spring'" in note.element and "joint 'b' is locked" in note.reason for note in small.description.notes)
    assert np.allclose(model.forward_dynamics(state, [1.0, 0.0])[at], small.forward_dynamics(other, [1.0]), rtol=1e-12, atol=0)


def test_refused_in_words():
    panda = robots.loaded("panda", "fixed").model
    follower = next(joint for joint in panda.joints if joint.mimic is not None)
    with pytest.raises(mbros.MbrosError, match=f"joint {follower.name!r} follows .* lock that one"):
        mbros.ModelBuilder.reduced(panda, [follower.name])
    with pytest.raises(mbros.MbrosError, match="locked: expected a list of joints or their names, got 'panda_joint1'"):
        mbros.ModelBuilder.reduced(panda, "panda_joint1")
    with pytest.raises(mbros.UnknownNameError, match="panda_joint1"):
        mbros.ModelBuilder.reduced(panda, ["panda_join1"])
    with pytest.raises(mbros.StateError):
        mbros.ModelBuilder.reduced(panda, ["panda_joint1"], mbros.load("arm7").default_state())
    with pytest.raises(mbros.MbrosError, match="expected a built model"):
        mbros.ModelBuilder.reduced("panda", ["panda_joint1"])


def test_coupled_joints_are_locked_together():
    b = mbros.ModelBuilder("gears")
    wheels = [b.add_body(f"wheel{k}", 1.0, (0, 0, 0), (0.1, 0.1, 0.1)) for k in (1, 2)]
    joints = [b.add_joint(mbros.RevoluteJoint(f"axle{k}", b.world, wheel, axis=(0, 0, 1))) for k, wheel in enumerate(wheels, 1)]
    b.add_constraint(mbros.CouplerConstraint("teeth", *joints, ratio=-2.0))
    model = b.build()
    with pytest.raises(mbros.MbrosError, match="'teeth' couples 'axle1' and 'axle2'.*lock both"):
        mbros.ModelBuilder.reduced(model, ["axle1"])
    assert mbros.ModelBuilder.reduced(model, ["axle1", "axle2"]).build().nv == 0


def test_what_is_driven():
    dog = mbros.load("quadruped")
    mask, B = diff.actuated(dog), diff.transmission(dog)
    assert mask.tolist() == [False] * 6 + [True] * 12 and B.shape == (18, 12)
    u = np.arange(12.0)
    assert np.array_equal((B @ u)[mask], u) and not (B @ u)[~mask].any()
    cart = mbros.load("cartpole")               # whose hinge has no effort limit and no motor
    assert diff.actuated(cart).tolist() == [True, False] and diff.actuated(cart, []).tolist() == [False, False]
    assert diff.transmission(cart, ["hinge"]).tolist() == [[0.0], [1.0]]
    assert diff.actuated(mbros.load("arm7", bench="arm7_servo")).all()
    panda = robots.loaded("panda", "fixed").model
    follower = next(joint for joint in panda.joints if joint.mimic is not None)
    with pytest.raises(mbros.MbrosError, match=f"{follower.name!r} follows"):
        diff.actuated(panda, [follower])
    with pytest.raises(mbros.MbrosError, match="joints: expected a list"):
        diff.actuated(panda, "panda_joint1")
