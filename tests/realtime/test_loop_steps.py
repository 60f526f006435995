"""Single steps in a pause: each is taken when it is asked for, with everything that was said before."""
import os
import threading
import time

import mbros
import numpy as np
import pytest
import rig as rigs
from mbros_core.realtime import Loop

STEPS = int(os.environ.get("MBROS_STEPS", "5000"))


@pytest.mark.parametrize("factor", [0, 0.1, 1.0, 100.0])
def test_single_steps_wait_for_no_slot(bench, factor):
    loop, log = bench(real_time_factor=factor, paused=True)
    with loop:
        loop.step_once(2000)
    walls = log.wall_ns[log.flags & rigs.STEPPED != 0]
    # The virtual clock stands still while nothing waits: all in the slot in which the request was seen, or the next.
    slot = {0: 1e6, 0.1: 1e7, 1.0: 1e6, 100.0: 250e3}[factor]
    assert len(walls) == 2000 and np.ptp(walls) <= slot + 300


@pytest.fixture
def arm():
    """A paused loop at a tenth of real time: 10 ms a slot."""
    model = mbros.load("arm7")
    loop = Loop(mbros.Simulator(model).plant, watchdog_timeout=None, paused=True, rt="off", real_time_factor=0.1)
    yield loop
    loop.stop()


def test_requests_in_a_pause_wait_for_no_slot():
    plant = mbros.Simulator(mbros.load("pendulum"), dt=10.0).plant
    loop = Loop(plant, watchdog_timeout=None, paused=True, rt="off", real_time_factor=0.1)
    begun = time.monotonic()
    with loop:
        loop.set_parameters(plant.parameter_block())
        loop.set_state(v=[0.25])
        assert loop.snapshot()[1][plant.layout["v"][0]] == 0.25
        loop.set_real_time_factor(0.11)
        loop.reset()
        loop.step_once(3)
        assert loop.snapshot()[0].step == 3
        loop.pause()
    assert time.monotonic() - begun < 60.0                      # a slot is of 100 s


def test_what_was_commanded_before_a_step_is_in_it(arm):
    at, n = arm._plant.layout["effort"]
    with arm:
        for k in range(STEPS):
            effort = np.full(n, (k % 7) - 3.0)
            arm.command(effort)
            arm.step_once()
            header, x = arm.snapshot()
            assert header.step == k + 1 and np.array_equal(x[at:at + n], effort), k


def test_so_is_what_was_set_before_it(arm):
    plant = arm._plant
    block, (where, n) = plant.parameter_block(), plant.parameters["damping"]
    at, _ = plant.layout["v"]
    with arm:
        for k in range(50):
            block[where:where + n] = 1e9 * (k % 2)              # N m s/rad: stands like a rock, or swings
            arm.set_parameters(block)
            arm.set_state(v=np.full(n, 0.5))
            arm.step_once()
            assert (np.abs(arm.snapshot()[1][at:at + n]).max() < 1e-3) == bool(k % 2), k


def test_steps_of_many_threads_are_all_taken(arm):
    threads = [threading.Thread(target=lambda: [arm.step_once(3) for _ in range(100)]) for _ in range(4)]
    with arm:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert arm.snapshot()[0].step == 4 * 100 * 3


def test_a_run_in_steps_has_the_bits_of_one_without(arm):
    sim = mbros.Simulator(mbros.load("arm7"))
    sim.advance_to(0.3)
    with arm:
        for n in (1, 7, 92, 200):
            arm.step_once(n)
    q, nq = arm._plant.layout["q"]
    assert np.array_equal(arm.snapshot()[1][q:q + nq], sim.state.q)


def test_going_on_after_steps_keeps_the_pace(bench):
    loop, log = bench(paused=True)
    with loop:
        loop.step_once(10)
        loop.resume()
        while loop.snapshot()[0].step < 500:
            time.sleep(1e-3)
    running = log.flags & (rigs.STEPPED | rigs.PAUSED) == 0
    assert np.abs(np.diff(log.wall_ns[running]) - 1_000_000).max() <= 1000
