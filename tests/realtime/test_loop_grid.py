"""Slots, overruns and the three policies. On the virtual clock every number is exact; on the real one only identities
are asserted that hold however late the machine is."""
import math

import numpy as np
import pytest

MS = 1_000_000


def run(loop, slots, **injection):
    if injection:
        loop.inject_delay(**injection)
    loop.start(slots=slots)
    assert loop.wait(60.0)
    return loop.statistics()


def slot_numbers(log, dt_ns=MS):
    """Slot of every published snapshot, from its stamp; asserts that the stamps are on the grid."""
    numbers = (log.wall_ns - log.wall_ns[0]) / dt_ns
    # Stamps since 1970 in doubles are good to 256 ns; the wall clock may be slewed meanwhile, by 500 us a second at most.
    assert np.abs(numbers - np.round(numbers)).max() < 1e-2 + 512 / dt_ns
    return np.round(numbers).astype(int)


def test_undisturbed_every_slot_is_one_step(bench):
    loop, log = bench()
    s = run(loop, 500)
    assert (s.slots, s.steps, s.published) == (500, 499, 500)
    assert (s.overruns, s.missed, s.made_up, s.lost, s.on_time) == (0, 0, 0, 0, 1.0)
    assert list(log.step) == list(slot_numbers(log)) == list(range(500))
    assert np.array_equal(log.time, log.step * 1e-3)
    assert loop.stop_reason == "the slots asked for are done"


@pytest.mark.parametrize("took_ms, overruns", [
    (0.0, 0), (0.5, 0), (0.999999, 0), (1.0, 1), (1.5, 1), (2.999999, 2), (3.0, 3), (3.1, 3), (3.9, 3), (17.2, 17)])
def test_a_step_that_takes_longer_counts_the_slots_that_began_meanwhile(bench, took_ms, overruns):
    loop, log = bench()
    s = run(loop, 60, step_ns=round(took_ms * MS), every_n=20, count=1)
    assert s.injected == 1
    assert s.overruns == overruns
    assert s.missed == 0


def test_skip_a_3_1_ms_step_in_a_1_ms_loop_is_three_overruns_and_no_lost_time(bench):
    loop, log = bench(overrun="skip")
    s = run(loop, 60, step_ns=3_100_000, every_n=20, count=1)
    assert (s.overruns, s.made_up, s.lost, s.owed) == (3, 3, 0, 0)
    # Published: slots 0 .. 20, then 24 and on; the step number is the slot number throughout.
    assert list(slot_numbers(log)) == list(range(21)) + list(range(24, 63))
    assert list(log.step) == list(slot_numbers(log))
    assert s.on_time == pytest.approx(60 / 63)


def test_skip_publishes_once_a_slot_however_many_steps_are_made_up(bench):
    loop, log = bench()
    s = run(loop, 200, step_ns=7_300_000, every_n=10, count=-1)
    assert s.overruns == s.made_up == 7 * s.injected
    assert s.injected == 19
    assert len(log.rows) == 200
    assert (np.diff(slot_numbers(log)) >= 1).all()
    assert list(log.step) == list(slot_numbers(log))


@pytest.mark.parametrize("late_ms, missed", [(0.2, 0), (0.999, 0), (1.0, 1), (1.3, 1), (3.1, 3)])
def test_skip_late_wake_ups_that_still_fit_lose_nothing_and_whole_slots_are_made_up(bench, late_ms, missed):
    loop, log = bench()
    s = run(loop, 60, late_ns=round(late_ms * MS), every_n=20, count=1)
    assert (s.missed, s.overruns, s.made_up, s.lost) == (missed, 0, missed, 0)
    # Slot 20 is run in the newest slot that has begun, and the next one follows without a gap.
    assert list(slot_numbers(log)) == list(range(20)) + list(range(20 + missed, 60 + missed))
    assert list(log.step) == list(slot_numbers(log))
    assert s.lateness.max == pytest.approx(late_ms * 1e-3)


def test_skip_made_up_steps_get_the_command_that_was_in_force(bench, script):
    # The poll of the late slot delivers a new command; the steps owed for the slots before it still get the old one.
    source = script([1, 20], [[1.0, 0.0], [5.0, 0.0]])
    loop, log = bench(inputs=[source], record=200)
    run(loop, 40, late_ns=3_000_000, every_n=20, count=1)
    headers, x, tau = loop.drain()
    assert list(headers["step"]) == list(range(43))
    assert list(tau[1:23, 0]) == [1.0] * 22
    assert list(tau[23:, 0]) == [5.0] * 20
    made_up = headers["flags"] >> 16 == 1
    assert list(np.nonzero(made_up)[0]) == [20, 21, 22]


def test_skip_gives_up_what_is_beyond_catch_up_and_says_so(bench):
    loop, log = bench(catch_up=0.010)
    s = run(loop, 60, step_ns=50_500_000, every_n=20, count=1)
    assert (s.overruns, s.made_up, s.lost) == (50, 10, 40)
    assert s.lost_time == pytest.approx(0.040)
    assert log.step[-1] + s.lost == slot_numbers(log)[-1]


def test_steps_owed_do_not_cause_the_next_overrun(bench, rig):
    # Outputs that take no virtual time, a plant that takes none: everything owed fits into the next slot.
    loop, log = bench()
    s = run(loop, 30, step_ns=9_100_000, every_n=10, count=1)
    assert log.step[11] == 20 == log.step[10] + 10
    assert s.owed == 0


def test_stop_ends_the_loop_and_says_why(bench):
    loop, log = bench(overrun="stop")
    s = run(loop, 60, step_ns=3_100_000, every_n=20, count=1)
    assert s.overruns == 3
    assert log.step[-1] == 20
    assert loop.state == "stopped"
    assert "slot 21" in loop.stop_reason and "3.100 ms" in loop.stop_reason and "3 slots" in loop.stop_reason


def test_stop_ends_it_for_a_late_wake_up_too(bench):
    loop, log = bench(overrun="stop")
    s = run(loop, 60, late_ns=2_200_000, every_n=20, count=1)
    assert (s.missed, s.overruns, log.step[-1]) == (2, 0, 19)
    assert "woken 2.200 ms late" in loop.stop_reason


def test_stop_tolerates_what_it_is_told_to(bench):
    loop, log = bench(overrun="stop", overrun_limit=6)
    s = run(loop, 200, step_ns=3_100_000, every_n=20, count=-1)
    assert s.overruns == 9
    assert s.injected == 3
    assert s.made_up == 6


def test_stretch_runs_every_slot_and_moves_the_grid(bench):
    loop, log = bench(overrun="stretch")
    s = run(loop, 60, step_ns=3_100_000, every_n=20, count=1)
    assert (s.overruns, s.made_up, s.lost) == (3, 0, 0)
    assert list(log.step) == list(range(60))
    assert s.stretched == pytest.approx(2.1e-3)
    gaps = np.diff(log.wall_ns)
    assert gaps[20] == pytest.approx(3.1 * MS, abs=300)
    assert np.delete(gaps, 20) == pytest.approx(MS, abs=300)


def test_stretch_by_a_late_wake_up(bench):
    loop, log = bench(overrun="stretch")
    s = run(loop, 60, late_ns=2_400_000, every_n=20, count=1)
    assert (s.missed, s.overruns, s.made_up) == (2, 0, 0)
    assert list(log.step) == list(range(60))
    assert s.stretched == pytest.approx(2.4e-3)


@pytest.mark.parametrize("factor", [0.1, 0.3, 1.0, 3.0, 4.0])
def test_the_real_time_factor_sets_the_slots_and_rounding_never_accumulates(bench, factor):
    loop, log = bench(real_time_factor=factor)
    run(loop, 3001)
    assert list(log.step) == list(range(3001))
    wall = log.wall_ns - log.wall_ns[0]
    assert np.abs(wall - log.step * (MS / factor)).max() < 300       # a stamp in a double is good to 256 ns
    assert wall[-1] == pytest.approx(3000 * MS / factor, abs=300)


def test_much_faster_than_real_time_several_steps_share_a_slot(bench):
    loop, log = bench(real_time_factor=100.0)
    s = run(loop, 101)
    assert s.steps == 100 * 25
    assert list(log.step) == list(range(2501))
    assert log.wall_ns[-1] - log.wall_ns[0] == pytest.approx(101 * 250_000 - 10_000, abs=300)


def test_a_new_factor_starts_a_new_grid_without_losing_a_step(bench):
    loop, log = bench(clock="monotonic")
    loop.start()
    loop.set_real_time_factor(10.0)
    loop.set_real_time_factor(math.inf)
    loop.set_real_time_factor(0.5)
    loop.stop()
    s = loop.statistics()
    assert s.steps + s.lost >= log.step[-1]
    assert (np.diff(log.step) >= 1).all()


@pytest.mark.parametrize("factor", [0, math.inf])
def test_as_fast_as_possible_is_not_paced_and_has_no_overruns(bench, factor):
    loop, log = bench(clock="monotonic", real_time_factor=factor)
    s = run(loop, 2000, step_ns=2_000_000, every_n=500, count=2)
    assert (s.steps, s.overruns, s.missed, s.injected) == (1999, 0, 0, 2)
    assert list(log.step) == list(range(2000))


@pytest.mark.parametrize("overrun", ["skip", "stretch"])
def test_on_the_real_clock_every_slot_is_accounted_for(bench, overrun):
    loop, log = bench(clock="monotonic", overrun=overrun)
    s = run(loop, 300, step_ns=3_100_000, every_n=50, count=5)
    assert s.injected == 5
    assert s.overruns >= 15           # 3.1 ms of work pass at least three slots
    assert s.slots == s.published == 300
    assert s.steps == s.slots - 1 + s.made_up
    if overrun == "skip":
        assert s.made_up + s.lost + s.owed == s.overruns + s.missed
        assert log.step[-1] + s.lost + s.owed == slot_numbers(log)[-1]
    else:
        assert list(log.step) == list(range(300))
    assert (np.diff(log.wall_ns) > 0).all()


def test_a_slow_output_overruns_too(bench):
    loop, log = bench(clock="monotonic")
    log.slow(2_000_000)
    s = run(loop, 20)
    assert s.overruns >= 2 * 19       # the first slot is exempt: the grid begins where it ends
    assert s.steps == 19 + s.made_up
    assert s.made_up + s.lost + s.owed == s.overruns + s.missed
