"""A fault says what is known to be its cause: each case that can be told apart is, and none is guessed."""
import numpy as np
import pytest

import mbros
import mbros_core

NO_MORE = "far too large"


def ball(base="ball", com=(0, 0, -0.5), inertia=(0.1, 0.1, 0.1)):
    b = mbros.ModelBuilder("ball")
    joint = mbros.FloatingJoint if base == "floating" else mbros.BallJoint
    b.add_joint(joint("centre", b.world, b.add_body("body", 1.0, com, inertia)))
    return b.build()


def fault_of(sim, tau=None):
    with pytest.raises(mbros.FaultError) as caught:
        sim.step(tau)
    assert sim.plant.fault[0] != 0
    assert str(caught.value).endswith(sim.plant.fault_text(*sim.plant.fault)[-60:]), "the loop and the node say the same"
    return str(caught.value)


@pytest.mark.parametrize("field, place, named", [
    ("q", 2, r"q[2] (joint 'joint3') is nan; expected a finite number below 1e+10"), ("v", 0, "v[0] (joint 'joint1') is nan"),
    ("gravity", 1, "gravity[1] is nan; expected a finite number. "), ("damping", 6, "damping[6] (joint 'joint7') is nan"),
    ("inertia", (2, 0), "inertia[2, 0] (body 'link2') is nan")])
def test_trial_B6_a_number_that_was_written_into_the_state_is_told_and_nothing_else(field, place, named):
    sim = mbros.Simulator(mbros.load("arm7"))
    sim.step()
    sim.state.field(field)[place] = np.nan
    said = fault_of(sim)
    assert said.startswith("the step after t = 0.001 s could not be taken: ") and named in said and NO_MORE not in said


def test_trial_B6_a_coordinate_beyond_the_bound_is_told():
    sim = mbros.Simulator(mbros.load("arm7"))
    sim.state.v[3] = -2e10
    assert "could not be taken: v[3] (joint 'joint4') is -2e+10; expected a finite number below 1e+10" in fault_of(sim)


@pytest.mark.parametrize("base, part", [("ball", "q[0:4]"), ("floating", "q[3:7]")])
def test_trial_B6_a_quaternion_of_zeros_is_told(base, part):
    sim = mbros.Simulator(ball(base))
    sim.state.q[:] = 0.0
    said = fault_of(sim)
    assert f"the quaternion of joint 'centre', {part} = [0.0, 0.0, 0.0, 0.0], has no direction" in said and NO_MORE not in said


class Broken(mbros.ForceElement):
    def wrench(self, pose, velocity):
        raise KeyError("tyre")


def test_trial_B6_an_error_in_a_users_wrench_is_told_once():
    b = mbros.ModelBuilder("rig")
    body = b.add_body("B", 1.0, (0, 0, 0), (0.1, 0.1, 0.1))
    b.add_joint(mbros.PrismaticJoint("slide", b.world, body))
    b.add_force_element(Broken(b.world, body, name="mine"))
    model = b.build()
    with pytest.raises(mbros.FaultError) as caught:
        mbros.Simulator(model).step()
    said = str(caught.value)
    assert said.count("Cause: ") == 1 and "Cause: force element 'mine'" in said and "raised KeyError: 'tyre'" in said
    assert NO_MORE not in said and isinstance(caught.value.__cause__, KeyError)
    with pytest.raises(mbros.FaultError, match="robot 0 of 2.*Cause: force element 'mine'.*KeyError: 'tyre'"):
        mbros.rollout(model, [0.0], [0.0], np.zeros((2, 3, 1)))


@pytest.mark.parametrize("integrator", mbros_core.INTEGRATORS)
@pytest.mark.parametrize("locked", [False, True])
def test_trial_B6_a_body_that_nothing_resists_is_told(integrator, locked):
    """Masses changed in a state reach no build(): the last link of a chain weighs nothing. A locked joint before it is not to blame."""
    model = mbros.chain(3)
    state = model.default_state()
    state.field("inertia")[3] = 0.0
    state.rotor_inertia[:] = 0.0
    state.damping[:] = 0.0
    if locked:
        model.joints[1].lock(state)
    sim = mbros.Simulator(model, integrator=integrator, state=state)
    said = fault_of(sim, np.zeros(3))
    last = model.velocity_names[2]
    assert f"Nothing resists '{last}': what it carries has no mass or moment of inertia there" in said and NO_MORE not in said


def test_trial_B6_a_command_far_too_large_is_told_with_what_it_does():
    model = mbros.chain(3)
    sim = mbros.Simulator(model)
    said = fault_of(sim, [0.0, 1e14, 0.0])
    name = model.velocity_names[1]
    assert f"of which 1e+14 on {name!r} is the largest" in said and "that effort is far too large for what it moves" in said
    sim.reset()
    assert f"of which 1e+300 on {name!r} is the largest" in fault_of(sim, [0.0, 1e300, 0.0])
    sim.reset()
    assert "is beyond all numbers under the efforts given, of which 1e+308" in fault_of(sim, [0.0, 1e308, 0.0])


def test_trial_B6_a_step_that_is_too_long_is_not_called_a_command():
    model = mbros.load("double_pendulum")
    sim = mbros.Simulator(model, dt=0.5)
    sim.state.v[1] = 3e4
    with pytest.raises(mbros.FaultError) as caught:
        for _ in range(1000):
            sim.step()
    assert NO_MORE not in str(caught.value) and "for a step of 0.5 s. Try a shorter one" in str(caught.value)


def test_a_robot_that_ran_away_is_told_where_it_is():
    b = mbros.ModelBuilder("far", gravity=(0, 0, 0))
    b.add_joint(mbros.PrismaticJoint("slide", b.world, b.add_body("B", 1.0, (0, 0, 0), (0.1, 0.1, 0.1))))
    sim = mbros.Simulator(b.build(), dt=1.0)
    sim.state.v[:] = 3e9
    with pytest.raises(mbros.FaultError, match=r"'slide' is at 9e\+09, and the step would take it beyond 1e\+10: it ran away"):
        sim.advance_to(10.0)


@pytest.mark.filterwarnings("ignore::mbros.PositionLimitWarning")
def test_trial_B6_a_rollout_says_the_same_of_its_robot():
    model = mbros.load("arm7")
    tau = np.zeros((5, 4, 7))
    tau[3, 2, 4] = np.nan
    with pytest.raises(mbros.FaultError, match=r"robot 3 of 5 .* in step 2 .*effort\[4\] \(joint 'joint5'\) is nan"):
        mbros.rollout(model, np.zeros(7), np.zeros(7), tau)
    state = model.default_state()
    state.gravity[2] = np.inf
    with pytest.raises(mbros.FaultError, match=r"robot 0 of 5 .* in step 0 .*gravity\[2\] is inf"):
        mbros.rollout(model, np.zeros(7), np.zeros(7), np.zeros((5, 4, 7)), state=state)


def test_looking_for_the_cause_changes_nothing():
    model = mbros.load("arm7")
    sim = mbros.Simulator(model)
    sim.plant.steps(np.ones(7), 50)
    sim.state.v[0] = np.inf
    before = sim.state.copy()
    first = fault_of(sim)
    for name in ("last_step", "effort", "q_before", "v_before", "a_before"):            # of the step that failed
        before.field(name)[:] = sim.state.field(name)
    assert np.array_equal(sim.state._inputs, before._inputs) and sim.plant.fault_text(*sim.plant.fault) == first
    sim.reset()
    sim.step()
