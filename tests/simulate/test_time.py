"""Time is counted, not summed: the start plus the number of steps times dt, rounded once, whatever happens on the way."""
import numpy as np
import pytest

import mbros
import mbros_core
from mbros.simulate.simulator import make_plant
from mbros_core.realtime import Loop

INTEGRATORS = pytest.mark.parametrize("integrator", mbros_core.INTEGRATORS)


@pytest.fixture(scope="module")
def model():
    return mbros.load("pendulum")


@INTEGRATORS
def test_trial_B7_a_million_steps_of_a_millisecond_are_1000_seconds(model, integrator):
    sim = mbros.Simulator(model, integrator=integrator)
    sim.plant.steps([0.0], 10**6)
    assert sim.time == 1000.0


@INTEGRATORS
@pytest.mark.parametrize("dt", [1e-3, 0.7e-3, 1.0 / 3.0])
def test_trial_B7_every_time_on_the_way_is_rounded_once(model, integrator, dt):
    sim = mbros.Simulator(model, dt=dt, integrator=integrator)
    log = sim.run(500 * dt)
    assert np.array_equal(log.time, np.arange(501) * dt)


def test_trial_B7_a_time_that_was_set_begins_a_new_count(model):
    sim = mbros.Simulator(model)
    sim.plant.steps([0.0], 12_345)
    sim.state.time = 5.1
    sim.plant.steps([0.0], 777)
    assert sim.time == 5.1 + 777 * 1e-3
    sim.state.time = sim.time                           # the same: nothing begins
    sim.plant.steps([0.0], 223)
    assert sim.time == 5.1 + 1000 * 1e-3
    sim.reset()
    sim.plant.steps([0.0], 3)
    assert sim.time == 3 * 1e-3


def test_trial_B7_a_copy_goes_on_with_the_same_times(model):
    """To the bit, also from where the count did not begin: the number of steps is part of a state."""
    sim = mbros.Simulator(model)
    sim.state.time = 0.1
    sim.plant.steps([0.0], 1234)
    twin, other = mbros.Simulator(model, state=sim.state.copy()), mbros.Simulator(model)
    other.reset(sim.state)
    for simulator in (sim, twin, other):
        simulator.plant.steps([0.0], 4321)
        assert simulator.time == 0.1 + 5555 * 1e-3


def test_trial_B7_another_step_goes_on_where_the_last_one_ended(model):
    sim = mbros.Simulator(model, dt=1e-3)
    sim.plant.steps([0.0], 77)
    fine = mbros.Simulator(model, dt=1e-4, state=sim.state)
    fine.plant.steps([0.0], 9)
    assert fine.time == 77 * 1e-3 + 9 * 1e-4


def test_trial_B7_a_step_that_fails_takes_no_time(model):
    sim = mbros.Simulator(model)
    sim.state.v[:] = 1e9
    with pytest.raises(mbros.FaultError, match=r"in the step after t = (9\.99\d*|10|10\.00\d*) s"):
        sim.plant.steps([0.0], 10**6)
    steps = round(sim.time / 1e-3)
    assert 9_990 < steps < 10_010 and sim.time == steps * 1e-3 and sim.state.field("clock").tolist() == [0.0, steps]
    sim.reset()
    sim.step()
    assert sim.time == 1e-3


def test_trial_B7_the_loop_and_its_plant_tell_the_same_time(model):
    plant = make_plant(model)
    with Loop(plant, clock="virtual", rt="off", paused=True, real_time_factor=0) as loop:
        loop.step_once(1003)
        assert loop.snapshot()[0].time == 1003 * 1e-3
        loop.reset()
        loop.step_once(10)
        header = loop.snapshot()[0]
    assert header.time == 10 * 1e-3 == plant.state.time


def test_trial_A14_a_duration_that_cannot_be_counted_is_refused(model):
    sim = mbros.Simulator(model)
    for call in (lambda: sim.run(1e300), lambda: sim.run(1e308), lambda: sim.advance_to(1e300), lambda: sim.run(1e15, every=10**17)):
        with pytest.raises(mbros.MbrosError, match=r"(run|advance_to): 1e\+\d+ s is .* steps of 0.001 s; expected 2\^53"):
            call()
    for n in (2**53 + 1, 10**400, -1, 1.5, True, None):
        with pytest.raises(mbros.MbrosError, match="steps: expected a whole number of steps, 0 to 9007199254740992"):
            sim.plant.steps([0.0], n)
    assert sim.time == 0.0
