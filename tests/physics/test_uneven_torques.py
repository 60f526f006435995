"""Few contacts under torques that change in every step: feet begin and cease to slip and to push, and the search stays short."""
import numpy as np
import pytest
from benchmarks.contact import standing

import mbros
from mbros_core.constraints import touches

DT = 1e-3


@pytest.mark.parametrize("mu", [0.4, 0.8, 1.5])
@pytest.mark.parametrize("robot, most", [("quadruped", 3.0), ("humanoid", 9.0)])
def test_steps_are_solved_in_few_iterations_and_keep_coulombs_law(robot, most, mu):
    start, hold = standing(robot)
    model, state = start.model, start.state.copy()
    for name in (n for n in model.parameter_names if n.endswith(".friction") and n.startswith("contact.")):
        model.set_parameter(state, name, mu)
    sim, rng, iterations, slid = mbros.Simulator(model, DT, state=state), np.random.default_rng(0), [], 0
    for _ in range(300):
        tau = hold + rng.normal(scale=8.0, size=model.nv) * (np.arange(model.nv) >= 6)
        sim.step(tau)
        iterations.append(sim.state.field("contact_memory")[0, touches.ITERATIONS])
        found = model.contacts(sim.state)
        largest = max((c.normal_force for c in found), default=0.0)
        for c in found:
            friction = np.linalg.norm(c.friction_force)
            assert friction <= mu * c.normal_force + 1e-8 * largest
            if not c.sticks and c.normal_force > 1e-3 * largest:
                slid += 1
                assert friction >= mu * c.normal_force * (1.0 - 1e-6)
    assert slid > 20 and np.mean(iterations) < most
    assert sim.state.field("contact_memory")[0, touches.UNSOLVED] == 0
