"""Clients in lockstep over a loop's shared memory: the same bits as in one process, answers that are late, and waits that spin."""
import os
import signal
import subprocess
import sys
import textwrap
import time
import warnings

import mbros
import numpy as np
import pytest
from mbros_core.errors import LoopError, LoopTimeoutError
from patience import PATIENCE


def law(q, v):
    return -20.0 * q - 2.0 * v


CONTROLLER = """
    import sys, mbros
    with mbros.connect(sys.argv[1]) as arm:
        while arm.step < 400:
            arm.wait(60.0)
            arm.command(-20.0 * arm.q - 2.0 * arm.v)
"""


@pytest.mark.parametrize("ratio", [(1, 1), (1, 4), (333, 1000)])
@pytest.mark.parametrize("language", ["Python", "C"])
def test_lockstep_is_the_same_to_the_bit_as_in_one_process(share, name, client, ratio, language):
    loop, door = share(settings={"real_time_factor": 0, "watchdog_timeout": None, "paused": True}, lockstep=ratio)
    loop.start()
    loop.reset([0, 0.5, 0, -0.7, 0, 0, 0], np.zeros(7))
    words = [sys.executable, "-c", textwrap.dedent(CONTROLLER), name] if language == "Python" else [client, "control", name, "400"]
    with subprocess.Popen(words) as process:
        loop.step_once(400, timeout=PATIENCE)
        _, x = loop.snapshot()
        process.send_signal(signal.SIGKILL)
    twin = mbros.Simulator(mbros.load("arm7"))
    twin.state.q[:] = [0, 0.5, 0, -0.7, 0, 0, 0]
    mbros.Lockstep(twin, {lambda state: law(state.q, state.v): ratio}).run(0.4)
    assert (x[:7] == twin.state.q).all() and (x[7:14] == twin.state.v).all()


@pytest.fixture
def cores():
    """Those that this process may use; the test's thread may go to one of them."""
    own = os.sched_getaffinity(0)
    yield sorted(own)
    os.sched_setaffinity(0, own)


def exchange(name, while_true, **options):
    """Seconds that a client has spun, after it has answered states as long as something is true of it."""
    end = time.monotonic() + PATIENCE
    with mbros.connect(name, **options) as arm:
        while while_true(arm):
            arm.wait(PATIENCE)
            arm.command(np.zeros(7))
            assert time.monotonic() < end, "waited in vain for a spin"
        return arm.spun


def test_nobody_spins_on_the_core_of_the_other(share, name, cores):
    os.sched_setaffinity(0, cores[:1])
    loop, door = share(settings={"real_time_factor": 0}, lockstep=(1, 1))
    with loop:                                              # its thread is on this core too
        assert exchange(name, lambda arm: arm.number < 300) == door.spun == 0.0


def test_a_wait_spins_where_the_other_side_has_its_own_core(share, name, cores):
    if len(cores) < 2:
        pytest.skip("one core")
    loop, door = share(settings={"real_time_factor": 0, "cpu": cores[0]}, lockstep=(1, 1))
    with loop:
        os.sched_setaffinity(0, cores[1:2])
        assert exchange(name, lambda arm: arm.number < 300, spin=0.0) == 0.0
        assert exchange(name, lambda arm: arm.spun == 0.0 or door.spun == 0.0) > 0.0


def test_a_late_answer_is_counted_and_the_policy_followed(share, name):
    loop, door = share(settings={"real_time_factor": 0, "watchdog_timeout": None, "paused": True}, lockstep=(1, 1), timeout=0.05,
                       policy="hold")
    with loop, mbros.connect(name) as arm:
        loop.step_once(20, timeout=PATIENCE)                # nobody answers: the first is waited for, the others are not
        assert door.counts()["late"] == 1 and loop.snapshot()[0].step == 20
        arm.read()
        arm.command(np.zeros(7))
        door.set_patience(0.05, "stop")
        with pytest.raises(LoopError, match="0 of 5 steps done|1 of 5 steps done"):
            loop.step_once(5, timeout=PATIENCE)
        door.set_patience(0.0, "wait")
        with pytest.raises(LoopTimeoutError):
            loop.step_once(5, timeout=0.3)


def test_trial_H2_lockstep_without_its_gate_is_said(name):
    """386,033 steps ran with no command: `gate=` stood in a docstring alone."""
    from mbros.simulate.shared import SharedMemory
    from mbros.simulate.simulator import make_plant
    from mbros_core.realtime import Loop

    for ratio, plugs, gate, warned in ((None, "both", False, False), ((1, 1), "both", False, True), ((1, 4), "input", False, True),
                                       ((1, 1), "output", False, True), ((1, 1), "both", True, False)):
        plant = make_plant(mbros.load("arm7"))
        with SharedMemory(name, plant, lockstep=ratio) as door, warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            Loop(plant, inputs=[door.input] if plugs != "output" else [], outputs=[door.output] if plugs != "input" else [],
                 gate=door.gate if gate else None)
        said = [str(each.message) for each in found]
        assert [text for text in said if "gate=door.gate" in text] == said and bool(said) == warned, (ratio, plugs, gate, said)
