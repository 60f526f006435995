"""The sampling controller of an arm: with a few samples it comes near, with all of them it does what is pasted at its end."""
import os

import example_modules
import numpy as np
import runs

PATH = runs.EXAMPLES / "sampling_reach.py"
SAMPLES = int(os.environ.get("MBROS_CASES", "512"))         # rollouts of a decision; the example: 4096


def test_it_reaches_and_comes_to_rest():
    said = []
    reach = example_modules.module_of(PATH)
    away = np.linalg.norm(reach.model.pose(at(reach), "flange").p - reach.TARGET)
    miss, speed = reach.reach(samples=SAMPLES, say=said.append)
    assert away > 0.2 and miss < 0.03 and speed < 1.0       # m, rad/s
    assert len(said) == len(runs.pasted(PATH).splitlines()) and said[-1].startswith("1.2 s: ")


def test_the_plan_as_it_is_is_among_the_rollouts():
    """So no decision is worse than none: at rest at the target, without noise, the plan stays what it was."""
    reach = example_modules.module_of(PATH)
    controller = reach.Controller(reach.model, 8)
    reach.SPREAD = np.zeros(reach.model.nv)
    tau, _ = controller.decide(at(reach))
    assert not controller.plan.any() and np.array_equal(tau, reach.model.gravity_torques(at(reach)))


def at(reach):
    state = reach.model.default_state()
    state.q[:] = reach.START
    return state
