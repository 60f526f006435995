"""Closed loops in the real-time loop: the simulator's numbers, nothing allocated, open starts refused."""
import numpy as np
import pytest

import mbros
from mbros.simulate.simulator import make_plant
from mbros_core.realtime import Loop


@pytest.mark.parametrize("name, effort", [("gripper", {"left_driver": 0.02}), ("four_bar", {"crank": 0.5})])
def test_the_loop_gives_the_simulators_bits(name, effort):
    model = mbros.load(name)
    plant, sim = make_plant(model), mbros.Simulator(model)
    tau = model.effort_vector(effort)
    loop = Loop(plant, clock="virtual", rt="off", watchdog_timeout=None, paused=True, real_time_factor=0)
    loop.command(tau)
    with loop:
        for _ in range(5):
            loop.step_once(200)
            sim.plant.steps(tau, 200)
            x = loop.snapshot()[1]
            for what, expected in (("q", sim.state.q), ("v", sim.state.v)):
                at, n = plant.layout[what]
                assert np.array_equal(x[at:at + n], expected), what
    assert np.abs(sim.state.q).max() > 0.05
    assert max(np.abs(c.gap(sim.state)).max() for c in model.constraints) < 1e-5


@pytest.mark.parametrize("integrator", ["midpoint", "semi_implicit_euler", "rk4"])
def test_nothing_is_allocated(integrator, allocates_nothing):
    allocates_nothing(make_plant(mbros.load("gripper"), integrator=integrator))


def test_open_starts_are_refused():
    model = mbros.load("four_bar")
    state = model.default_state()
    state.q[0] += 0.01
    with pytest.raises(mbros.MbrosError, match="the start violates constraint 'loop' by 0.00469 m"):
        Loop(make_plant(model, state))
    plant = make_plant(model)
    with Loop(plant, clock="virtual", rt="off", watchdog_timeout=None, paused=True, real_time_factor=0) as loop:
        for put in (loop.reset, loop.set_state):
            with pytest.raises(mbros.MbrosError, match="violates constraint 'loop'"):
                put(state.q, np.zeros(3))
        loop.step_once(10)
        at, n = plant.layout["q"]
        assert np.abs(loop.snapshot()[1][at:at + n]).max() < 5e-3             # where it was
