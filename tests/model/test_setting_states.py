"""What is written on the left of an equals sign, and positions beyond a joint's limits."""
import sys
import warnings

import numpy as np
import pytest

import mbros
from mbros.describe.joints.limits import HELD_WITHIN, beyond_in

ARM = mbros.load("arm7")
DOG = mbros.load("quadruped")


def test_trial_D6_q_and_v_are_set_as_set_q_and_set_v_set_them():
    state, other = DOG.default_state(), DOG.default_state()
    q = DOG.random_configuration(3)
    q[3:7] *= 2.0
    state.q, state.v = list(q), np.arange(18)
    other.set_q(q).set_v(np.arange(18.0))
    assert np.array_equal(state.q, other.q) and np.array_equal(state.v, other.v) and np.linalg.norm(state.q[3:7]) == pytest.approx(1.0)


@pytest.mark.parametrize("name, value, words", [
    ("q", [1, 2], "q: expected 7 numbers, got shape .2,."), ("q", "home", r"q: expected 7 numbers, got 'home'"),
    ("q", [0, 0, np.nan, 0, 0, 0, 0], r"q\[2\] \(joint 'joint3'\) is nan"), ("v", 3.0, r"v: expected 7 numbers.*shape \(\)"),
    ("gravity", [0, 0], r"gravity: expected 3 numbers, got shape \(2,\)"), ("gravity", "moon", "gravity: .* got 'moon'"),
    ("damping", -np.ones(7), r"damping\[0\] is -1; expected a finite number, zero or more"),
    ("friction", np.full(7, np.inf), r"friction\[0\] is inf"),
    ("external_force", np.zeros(6), r"external_force: .*\(8, 6\), got shape \(6,\)")])
def test_trial_D6_what_cannot_be_set_says_what_was_expected_and_changes_nothing(name, value, words):
    state = ARM.default_state()
    before = state._inputs.copy()
    with pytest.raises(mbros.MbrosError, match="state of model 'arm7': " + words):
        setattr(state, name, value)
    assert np.array_equal(state._inputs, before)


def test_trial_D6_parameters_are_set_whole():
    state = ARM.default_state()
    state.gravity, state.damping = (0, 0, -1.62), np.arange(7)
    state.friction = state.damping
    state.rotor_inertia += 0.5                      # in place, and then the same numbers once more
    assert state.gravity.tolist() == [0, 0, -1.62] and state.damping.tolist() == state.friction.tolist() == list(range(7))
    assert state.rotor_inertia.tolist() == (np.asarray(ARM.spec.rotor_inertia) + 0.5).tolist()


def test_trial_D6_a_position_beyond_a_limit_is_set_with_a_warning():
    state, joint = ARM.default_state(), ARM.joint("joint2")
    with pytest.warns(mbros.PositionLimitWarning) as caught:
        joint.set_position(state, 90.0)
        line = sys._getframe().f_lineno - 1
    assert [str(w.message) for w in caught] == [
        "joint 'joint2': its position of 90 rad is beyond its upper limit 2, and its stop will throw it back "
        "(angles are in rad: 90 degrees are 1.571)"]
    assert caught[0].filename == __file__ and caught[0].lineno == line
    assert state.q[1] == 90.0
    assert issubclass(mbros.PositionLimitWarning, mbros.MbrosWarning) and issubclass(mbros.MbrosWarning, UserWarning)


@pytest.mark.parametrize("call", [lambda j, s: j.set_position(s, [-3]), lambda j, s: j.set_position(s, np.array([-3.0])),
                                  lambda j, s: j.set_angle(s, -3), lambda j, s: j.set_angle(s, -3.0)])
def test_trial_D6_however_it_is_written(call):
    state = ARM.default_state()
    with pytest.warns(mbros.PositionLimitWarning,
                      match=r"its position of -3 rad is beyond its lower limit -2, and its stop will throw it back$") as caught:
        call(ARM.joint("joint2"), state)
    assert caught[0].filename == __file__ and state.q[1] == -3.0


def test_what_is_within_the_limits_or_leans_on_a_stop_says_nothing():
    state, joint = ARM.default_state(), ARM.joint("joint2")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for q in (-2.0, 2.0, 2.0 + 0.9 * HELD_WITHIN["rad"], 2, np.float64(1.0), [0.0]):
            joint.set_position(state, q)
        joint.set_zero(state)
        DOG.joint("base").set_pose(DOG.default_state(), p=(1e6, 0, 0))
        assert beyond_in(state) == []


def test_several_coordinates_say_which_and_the_state_all_joints():
    b = mbros.ModelBuilder("rig")
    b.add_joint(mbros.PlanarJoint("slide", b.world, b.add_body("plate", mass=1.0, inertia=(1, 1, 1)), lower=(-1, -2, -3), upper=(1, 2, 3)))
    body = b.add_body("ball", mass=1.0, inertia=(1, 1, 1))
    b.add_joint(mbros.RevoluteJoint("hinge", b.world, body, lower=-1, upper=1, stop_stiffness=0.0, stop_damping=0.0))
    model = b.build()
    state = model.default_state()
    with pytest.warns(mbros.PositionLimitWarning, match="joint 'slide': its position y of -5 m is beyond its lower limit -2, and its stop"):
        model.joint("slide").set_position(state, (0, -5, 0))
    with pytest.warns(mbros.PositionLimitWarning,
                      match="joint 'hinge': its position of 7 rad is beyond its upper limit 1 .angles are in rad: 7 degrees are 0.1222.$"):
        model.joint("hinge").set_position(state, 7.0)
    assert [text.split(":")[0] for text in beyond_in(state)] == ["joint 'slide'", "joint 'hinge'"]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), 10**400, True, "x", [1, 2], None])
def test_what_is_no_position_is_refused_by_the_fast_way_too(value):
    state, joint = ARM.default_state(), ARM.joint("joint2")
    for model, name in ((ARM, "joint2"), (mbros.load("cartpole"), None)):
        joint = model.joint(name) if name else next(j for j in model.joints if j.nv == 1)
        state = model.default_state()
        before = state.q.copy()
        with pytest.raises(mbros.MbrosError, match=f"joint {joint.name!r}"):
            joint.set_position(state, value)
        assert np.array_equal(state.q, before)


def test_a_quaternion_of_unit_length_is_kept_to_the_bit_and_others_are_brought_back():
    joint, state = DOG.joint("base"), DOG.default_state()
    for k in range(200):
        q = DOG.random_configuration(k)[:7]
        joint.set_position(state, q)
        kept = state.copy().set_q(np.concatenate([q, state.q[7:]])).q[:7]           # what the engine says
        assert np.array_equal(state.q[:7], kept)
        joint.set_position(state, q * 1.0001)
        assert abs(np.linalg.norm(state.q[3:7]) - 1.0) < 1e-15
    with pytest.raises(mbros.MbrosError, match="cannot be brought to unit length"):
        joint.set_position(state, np.zeros(7))


def test_an_error_names_the_method_that_was_called():
    joint, state = DOG.joint("base"), DOG.default_state()
    for call, name in ((joint.set_pose, "set_pose"), (joint.set_rotation, "set_rotation")):
        with pytest.raises(mbros.errors.JointKindError, match=f"joint 'base': {name} takes one of quat_wxyz, quat_xyzw and rpy"):
            call(state, rpy=(0, 0, 0), quat_wxyz=(1, 0, 0, 0))
