"""Attributes that would do nothing."""
import copy
import pickle

import mbros
import numpy as np
import pytest


@pytest.fixture(scope="module")
def arm():
    return mbros.load("arm7")


@pytest.mark.parametrize("name, words", [
    ("gravity", "sim.state.gravity = "), ("effort", "efforts are given to step"), ("tau", "efforts are given to step"),
    ("dt", "'dt' cannot be set: make another one"), ("state", "sim.reset"), ("time", "sim.advance_to"), ("plannt", "did you mean 'plant'"),
    ("q", "sim.state.q")])
def test_trial_L4_what_does_nothing_names_what_does(arm, name, words):
    sim = mbros.Simulator(arm)
    with pytest.raises(AttributeError, match=words) as caught:
        setattr(sim, name, 0)
    assert isinstance(caught.value, mbros.MbrosError) and name not in vars(sim)


def things(arm):
    b = mbros.ModelBuilder("b")
    body = b.add_body("a", 1.0)
    joint = b.add_joint(mbros.RevoluteJoint("j", b.world, body, axis=(0, 0, 1)))
    sim = mbros.Simulator(arm, bench="servo")
    return [sim, b, body, joint, b.description, b.add_frame("f", body), mbros.Bench(), mbros.Scene(), sim.signals, sim.devices, sim.faults,
            sim.disturbances, mbros.Simulator(arm).motions, arm.batch(np.zeros((2, 7)), np.zeros((2, 7))), mbros.shapes.box((1, 1, 1)), arm,
            arm.joints[1], arm.default_state()]


def test_trial_L4_nothing_takes_an_attribute_that_it_does_not_have(arm):
    for thing in things(arm):
        with pytest.raises((AttributeError, mbros.MbrosError)):
            thing.gravitty = 1.0


def test_trial_L4_numbers_of_described_devices_and_elements(arm):
    """They are taken when the object is made: setting them changed nothing."""
    servo = mbros.PositionServo("servo", joint="joint2", kp=1.0)
    with pytest.raises(AttributeError, match="kp is given when it is made.*changed"):
        servo.kp = 2.0
    assert servo.changed(kp=2.0).values["kp"][0] == 2.0
    b = mbros.ModelBuilder("b")
    joint = b.add_joint(mbros.RevoluteJoint("j", b.world, b.add_body("a", 1.0), axis=(0, 0, 1)))
    with pytest.raises(AttributeError, match="stiffness is given when it is made.*set_stiffness"):
        mbros.JointSpring(joint, stiffness=3.0).stiffness = 4.0


def test_trial_L4_what_users_derive_and_copy_goes_on(arm):
    class Mine(mbros.Simulator):
        pass

    sim = Mine(arm)
    sim.note = "mine"
    for other in (copy.copy(mbros.Simulator(arm)), pickle.loads(pickle.dumps(mbros.Simulator(arm)))):
        other.step()
    sim.state.gravity = (0.0, 0.0, 0.0)
    sim.step()
    assert sim.note == "mine" and not sim.state.v.any()


def test_trial_L4_a_law_without_return_is_refused(arm):
    with pytest.raises(mbros.MbrosError, match="the function returned None at 0 s; .*Is there a `return`"):
        mbros.Simulator(arm).run(0.1, effort=lambda time, state: None)
    mbros.Simulator(arm).run(0.01, effort=lambda time, state: {})


def test_trial_L13_messages_name_what_there_is(arm):
    from mbros import diff

    state = arm.default_state()
    with pytest.raises(mbros.MbrosError, match="expressed_in: expected 'world', 'local' or a frame of model 'arm7', got 'LOCAL'"):
        arm.jacobian(state, "flange", "LOCAL")
    with pytest.raises(mbros.UnknownNameError, match="no variable 'p'; expected 'q', 'v', or a parameter of model 'arm7', as 'gravity'"):
        diff.derivatives(arm, "gravity_torques", state, wrt="p")


def test_trial_L13_expressions_have_a_short_repr():
    pytest.importorskip("sympy")
    assert len(repr(mbros.symbolic(mbros.load("double_pendulum"), "mass_matrix"))) < 200
