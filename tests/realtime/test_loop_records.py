"""Records of every step, read without disturbing the loop, and replaying a run from them."""
import numpy as np
import pytest
import rig as rigs

from mbros_core.errors import MbrosError
from mbros_core.realtime import MADE_UP, RESET


def test_every_step_is_recorded_with_the_effort_that_made_it(bench, script):
    loop, log = bench(record=1000, inputs=[script([3, 9], [[1.0, 2.0], [3.0, -1.0]])])
    loop.start(slots=100)
    assert loop.wait(60.0)
    headers, x, tau = loop.drain()
    assert list(headers["step"]) == list(range(100))
    assert np.array_equal(x, log.rows[:, 5:]) and np.array_equal(tau, log["effort"])
    assert np.array_equal(headers["time"], log.time) and np.array_equal(headers["command_age_ns"], log.age_ns)
    assert len(loop.drain()[0]) == 0


def test_numbers_beside_the_snapshot_are_recorded_behind_it(bench):
    beside = np.arange(6.0)
    loop, log = bench(record=100, record_also=(beside, [4, 1]))
    loop.start(slots=50)
    assert loop.wait(60.0)
    headers, x, tau = loop.drain()
    assert np.array_equal(x, np.column_stack([log.rows[:, 5:], np.full(50, 4.0), np.full(50, 1.0)])) and np.array_equal(tau, log["effort"])
    with pytest.raises(MbrosError, match="record_also: expected places of 0 to 5"):
        bench(record=100, record_also=(beside, [6]))


def test_every_kth_step(bench):
    loop, log = bench(record=100, record_every=7)
    loop.start(slots=100)
    assert loop.wait(60.0)
    assert list(loop.drain()[0]["step"]) == list(range(0, 100, 7))


def test_a_full_ring_drops_new_records_and_counts_them(bench):
    loop, log = bench(record=16)
    loop.start(slots=100)
    assert loop.wait(60.0)
    assert list(loop.drain()[0]["step"]) == list(range(16))
    assert loop.statistics().records_dropped == 84


def test_draining_while_it_runs_misses_nothing(bench):
    loop, log = bench(record=1 << 14, clock="monotonic", real_time_factor=100.0)
    seen = []
    loop.start(slots=200)
    while not loop.wait(0.001):
        seen.append(loop.drain()[0]["step"])
    seen.append(loop.drain()[0]["step"])
    assert loop.statistics().records_dropped == 0
    steps = np.concatenate(seen)
    assert list(steps) == list(range(len(steps))) and len(steps) >= 199 * 25


def test_a_recorded_run_replays_bit_for_bit(bench, c, rng):
    """Random commands, late slots and overruns on the real clock; then the rig's arithmetic over the recorded efforts."""
    loop, log = bench(record=1 << 14, clock="monotonic", watchdog_timeout=0.01)
    loop.set_parameters([3.0, 5.0, 0.1, 0.2])
    loop.inject_delay(step_ns=2_500_000, every_n=13, count=-1)
    with loop:
        while loop.snapshot()[0].step < 300:
            loop.command(rng.normal(size=2))
    headers, x, tau = loop.drain()
    n = len(headers)
    assert n > 300 and list(headers["step"]) == list(range(n))
    assert (headers["flags"] & MADE_UP).any()
    for i, (stiffness, damping) in enumerate(((3.0, 0.1), (5.0, 0.2))):
        q, v = rigs.expected(n - 1, tau[1:, i], stiffness=stiffness, damping=damping).T
        assert np.array_equal(x[1:, i], q) and np.array_equal(x[1:, 2 + i], v)


def test_a_reset_is_marked_in_the_records(bench):
    loop, log = bench(record=1000, paused=True)
    with loop:
        loop.step_once(3)
        loop.reset([1.0, 1.0], [0.0, 0.0])
        loop.step_once(2)
    headers, x, tau = loop.drain()
    assert list(headers["step"]) == [0, 1, 2, 3, 0, 1, 2]
    assert list(headers["flags"] & RESET) == [0, 0, 0, 0, RESET, 0, 0]
    assert x[4, 0] == 1.0


def test_no_records_without_asking(bench):
    loop, log = bench()
    with pytest.raises(RuntimeError, match="record="):
        loop.drain()
