"""PJ-37: a joint written by a user in Cython (examples/joint_in_cython) in the real-time loop: a real thread, no interpreter in it."""
import ctypes
import time

import numpy as np
import pytest

import mbros
from mbros.simulate.simulator import make_plant
from mbros_core.realtime import Loop

seed = pytest.mark.seed
STEPS = 500
START = np.array([1.2, 0.4]), np.array([-0.3, 0.8])


def swing(law):
    """A cart on the law's curve, and a pendulum on the cart."""
    b = mbros.ModelBuilder("swing")
    cart = b.add_body("cart", 2.0, (0, 0, 0.1), np.diag([0.02, 0.03, 0.04]))
    b.add_joint(mbros.CustomJoint("track", b.world, cart, law, damping=0.1))
    b.add_joint(mbros.RevoluteJoint("pivot", cart, b.add_body("bob", 0.7, (0, 0, -0.3), np.diag([0.01, 0.01, 0.002])), (0, 1, 0)))
    return b.build()


def started(model):
    """A plant of the model at START."""
    plant = make_plant(model, dt=1e-3)
    plant.reset(*START)
    return plant


def part(plant, x, name):
    start, size = plant.layout[name]
    return x[start:start + size]


@seed("PJ-37")
def test_half_a_second_of_real_time_equals_as_many_steps_to_the_bit(joint_in_cython):
    model = swing(joint_in_cython.Cycloid(0.5))
    plant, tau = started(model), np.array([0.4, -0.2])
    assert not plant.needs_gil
    loop = Loop(plant, watchdog_timeout=None, rt="off")
    loop.command(tau)
    began = time.monotonic()
    loop.start(slots=STEPS + 1)                     # the first slot shows the initial state
    assert loop.wait(60.0)
    assert time.monotonic() - began >= 0.95 * STEPS * 1e-3
    header, x = loop.snapshot()
    assert header.step + loop.statistics().lost >= STEPS and header.step > 0 and loop.fault is None
    beside, sim = started(model), mbros.Simulator(model, dt=1e-3)
    beside.steps(tau, header.step)
    sim.state.set_q(START[0]), sim.state.set_v(START[1])
    for _ in range(header.step):
        sim.step(tau)
    for name, field in (("q", sim.state.q), ("v", sim.state.v)):
        assert np.array_equal(part(plant, x, name), part(beside, beside.observe(), name))
        assert np.array_equal(part(plant, x, name), field)
    assert abs(part(plant, x, "q")[0] - START[0][0]) > 0.05


@seed("PJ-37")
def test_it_runs_while_this_thread_holds_the_interpreter_lock(joint_in_cython):
    """PyDLL calls keep the lock: a loop that needed it would stand still meanwhile."""
    with Loop(started(swing(joint_in_cython.Cycloid(0.5))), watchdog_timeout=None, rt="off") as loop:
        while loop.snapshot()[0].step < 10:
            time.sleep(1e-3)
        before = loop.snapshot()[0].step
        ctypes.PyDLL(None).usleep(300_000)
        after = loop.snapshot()[0].step
    assert after - before >= 50


@seed("PJ-37")
def test_a_joint_in_python_is_refused(joint_in_python, joint_in_cython):
    in_python, in_cython = (started(swing(law)) for law in (joint_in_python.Cycloid(0.5), joint_in_cython.Cycloid(0.5)))
    assert in_python.needs_gil
    with pytest.raises(ValueError, match="joint .*written in Python, which cannot run in the real-time loop: simulate it with "
                                         "mbros.Simulator, or write the element in Cython or C"):
        Loop(in_python)
    for plant in (in_python, in_cython):            # the refusal took nothing from it: it still does what the other one does
        plant.steps(np.zeros(2), 100)
    assert np.abs(in_python.state.q - in_cython.state.q).max() < 1e-12
