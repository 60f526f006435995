"""One name and one manner for each thing: positions are p, parts are given by name, place or object, limits are lower and upper."""
import warnings

import numpy as np
import pytest

import mbros

ARM = mbros.load("arm7")
DOG = mbros.load("quadruped")
P = (0.1, 0.2, 0.3)


def rig():
    b = mbros.ModelBuilder("rig")
    return b, b.add_body("plate", mass=1.0, inertia=(1, 1, 1))


PLACES = {          # where a position is given: its p
    "Pose.make": lambda **at: mbros.Pose.make(**at).p,
    "add_frame": lambda **at: (lambda b, plate: b.add_frame("tip", plate, **at).X_BF.p)(*rig()),
    "joint": lambda **at: (lambda b, plate: mbros.RevoluteJoint("j", b.world, plate, **at).X_PF.p)(*rig()),
    "add_robot": lambda **at: (lambda b, _: (b.add_robot(ARM, "left", **at), b.joint("left/base").X_PF.p)[1])(*rig()),
}


@pytest.mark.parametrize("place", PLACES)
def test_trial_D7_a_position_is_p_wherever_it_is_given(place):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert PLACES[place](p=P).tolist() == list(P)
        assert PLACES[place](p=P, rpy=(0, 0, 1)).tolist() == list(P)
    with pytest.raises(mbros.ModelError, match=r"p has shape \(2,\), expected \(3,\)"):
        PLACES[place](p=(1, 2))


@pytest.mark.parametrize("place", PLACES)
def test_trial_D7_the_old_name_still_works_and_says_so(place):
    with pytest.warns(FutureWarning, match="a position is given as p=") as caught:
        assert PLACES[place](xyz=P).tolist() == list(P)
    assert caught[0].filename == __file__
    with pytest.raises(mbros.ModelError, match="both p and xyz"):
        PLACES[place](p=P, xyz=P)


def test_trial_D7_what_is_read_can_be_given():
    state = DOG.default_state()
    X = DOG.pose(state, "trunk")
    again = mbros.Pose.make(p=X.p, R=X.R)
    assert np.array_equal(again.p, X.p) and np.array_equal(again.R, X.R)
    DOG.joint("base").set_pose(state, p=P, quat_wxyz=X.quat_wxyz)
    assert state.q[:3].tolist() == list(P)


def test_trial_D7_frames_are_given_by_name_place_or_object_everywhere():
    state, k = ARM.default_state(), ARM.frame("flange").index
    vdot = np.zeros(ARM.nv)
    for of in ("flange", k, np.int64(k), ARM.frame("flange"), ARM.body("flange"), ARM.bodies["flange"]):
        assert ARM._frame_index(of) == k and ARM.frame(of) is ARM.frames[k]
        assert np.array_equal(ARM.jacobian(state, of), ARM.jacobian(state, "flange"))
        assert np.array_equal(ARM.pose(state, "link3", of).matrix, ARM.pose(state, "link3", "flange").matrix)
        assert np.array_equal(ARM.velocity(state, of), ARM.velocity(state, "flange"))
        assert np.array_equal(ARM.acceleration(state, of, vdot), ARM.acceleration(state, "flange", vdot))
        assert np.array_equal(ARM.jacobian(state, of, expressed_in=of), ARM.jacobian(state, "flange", "local"))
        ARM.apply_wrench(state, of, force=(0, 0, 1))
    assert ARM._frame_index(ARM.joint(2)) == ARM.joint(2).child_frame.index
    assert ARM.jacobian(state, ARM.joint(2)).shape == (6, 7)
    assert ARM.tree.subtree_mass(state, 2) == ARM.tree.subtree_mass(state, ARM.joint(2))


@pytest.mark.parametrize("wrong", [300, -1, 1.0, None, True, ["flange"], mbros.load("arm6").frames[2], np.zeros(3)])
def test_trial_D7_what_is_no_frame_is_told(wrong):
    state = ARM.default_state()
    for call in (ARM._frame_index, ARM.frame, lambda f: ARM.jacobian(state, f), lambda f: ARM.pose(state, "flange", f)):
        with pytest.raises(mbros.MbrosError,
                           match="model 'arm7': expected the name of a frame, its index 0 .. 27, or a Frame, Body or Joint of "):
            call(wrong)


@pytest.mark.parametrize("name", ["arm7", "quadruped", "mobile_arm", "humanoid", "scara"])
def test_trial_D7_limits_of_the_model_are_vectors_of_its_coordinates(name):
    model = mbros.load(name)
    for limits, n in ((model.limits.position, model.nq), (model.limits.velocity, model.nv), (model.limits.effort, model.nv)):
        low, high = limits
        assert low.shape == high.shape == (n,) and (low <= high).all()
        assert not low.flags.writeable and not high.flags.writeable
    for joint in model.joints:
        if joint.follows or not joint.nv:
            continue
        assert np.array_equal(joint.of(model.limits.position.lower), joint.limits.position.lower)
        assert np.array_equal(joint.of(model.limits.position.upper), joint.limits.position.upper)
        assert np.array_equal(model.limits.velocity.upper[joint.v_slice], joint.limits.velocity.upper)
        assert np.array_equal(model.limits.effort.upper[joint.v_slice], joint.limits.effort.upper)
        assert np.array_equal(model.limits.effort.lower[joint.v_slice], -joint.limits.effort.upper)
        for i in range(joint.nq):
            assert model.limits.position[joint.q_slice.start + i] == joint.limits.position[i]


def test_trial_D7_limits_of_one_coordinate_are_numbers():
    joint = ARM.joint("joint2")
    (low, high), (slow, fast), (weak, strong) = joint.limits.position[0], joint.limits.velocity[0], joint.limits.effort[0]
    assert [type(x) for x in (low, high, slow, fast, weak, strong)] == [float] * 6
    assert (low, high, -slow, fast, -weak, strong) == (-2.0, 2.0, fast, 1.7, strong, 300.0)
    assert f"{low:g} to {high:g}" == "-2 to 2" and joint.limits.position[0] == (low, high)


def test_trial_D7_effort_limits_are_given_as_they_are_read():
    b, plate = rig()
    joint = mbros.RevoluteJoint("j", b.world, plate, limits=mbros.JointLimits(position=(-1, 1), effort=(-5, 5)))
    assert joint.effort.tolist() == [5.0] and joint.limits.effort[0] == (-5.0, 5.0)
    with pytest.raises(mbros.ModelError, match="effort limits are .-1.0. and .5.0.. They are symmetric"):
        mbros.RevoluteJoint("j", b.world, plate, limits=mbros.JointLimits(effort=(-1, 5)))
    with pytest.raises(mbros.ModelError, match="given twice: by limits= and by effort="):
        mbros.RevoluteJoint("j", b.world, plate, effort=5, limits=mbros.JointLimits(effort=(-5, 5)))
