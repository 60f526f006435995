"""Commands and the watchdog, on the virtual clock: which effort acts in which step, exactly."""
import numpy as np
import pytest

nan, inf = np.nan, np.inf


def run(loop, slots):
    loop.start(slots=slots)
    assert loop.wait(60.0)
    return loop.statistics()


def test_no_command_is_no_effort_and_no_watchdog(bench):
    loop, log = bench(watchdog_timeout=0.01)
    s = run(loop, 100)
    assert not log["effort"].any()
    assert (log.age_ns == -1).all()
    assert s.watchdog_trips == 0 and s.command_age is None


def test_a_command_acts_in_the_step_of_its_poll(bench, script):
    # The loop polls once in every slot, slot 0 (which shows the initial state) included: poll k serves step k.
    loop, log = bench(inputs=[script([7, 12], [[1.0, 2.0], [3.0, 4.0]])])
    s = run(loop, 30)
    assert list(log["effort"][:, 0]) == [0.0] * 7 + [1.0] * 5 + [3.0] * 18
    assert list(log["effort"][:, 1]) == [0.0] * 7 + [2.0] * 5 + [4.0] * 18
    assert [k.accepted for k in s.inputs] == [0, 2]
    assert list(log.age_ns[6:13]) == [-1, 1e6, 2e6, 3e6, 4e6, 5e6, 1e6]


def test_nan_keeps_the_last_commanded_value_of_its_coordinate(bench, script):
    loop, log = bench(inputs=[script([5, 10, 15], [[1.0, nan], [nan, 2.0], [3.0, nan]])])
    run(loop, 20)
    assert list(log["effort"][5]) == [1.0, 0.0]
    assert list(log["effort"][10]) == [1.0, 2.0]
    assert list(log["effort"][15]) == [3.0, 2.0]


@pytest.mark.parametrize("bad", [[inf, 1.0], [nan, -inf], [inf, nan]])
def test_an_infinite_entry_refuses_the_whole_command(bench, script, bad):
    loop, log = bench(inputs=[script([5, 10], [[1.0, 2.0], bad])])
    s = run(loop, 20)
    assert (log["effort"][5:] == [1.0, 2.0]).all()
    assert (s.inputs[1].accepted, s.inputs[1].refused) == (1, 1)
    assert log.age_ns[19] == 15e6            # a refused command is not fresh


def test_a_command_of_nothing_but_nan_is_counted_and_keeps_nothing_alive(bench, script):
    loop, log = bench(inputs=[script([5, 10], [[1.0, 2.0], [nan, nan]])], watchdog_timeout=0.012)
    s = run(loop, 30)
    assert s.inputs[1].empty == 1
    assert s.watchdog_trips == 1
    assert not log["effort"][17:].any()


def test_later_inputs_win(bench, script):
    loop, log = bench(inputs=[script([5], [[1.0, 1.0]]), script([5], [[2.0, nan]])])
    run(loop, 10)
    assert (log["effort"][5:] == [2.0, 1.0]).all()


@pytest.mark.parametrize("action, effort", [("zero", [0.0, 0.0]), ("hold", [1.0, 2.0])])
def test_the_watchdog_acts_at_its_time_and_a_fresh_command_ends_it(bench, script, action, effort):
    source = script([1, 60], [[1.0, 2.0], [nan, 7.0]])
    loop, log = bench(inputs=[source], watchdog_timeout=0.02, watchdog_action=action)
    s = run(loop, 70)
    # Accepted before step 1: in force in steps 1 to 20; step 21 begins 20 ms after it.
    assert (log["effort"][1:21] == [1.0, 2.0]).all()
    assert (log["effort"][21:60] == effort).all()
    assert list(np.nonzero(log.flags & 8)[0]) == list(range(21, 60))
    # The partial command that ends it revives what it does not name only where the action was to hold it.
    assert (log["effort"][60:] == [effort[0], 7.0]).all()
    assert s.watchdog_trips == 1


def test_damp_brakes_with_the_velocity_before_the_step(bench, rig, script):
    loop, log = bench(inputs=[script([1], [[5.0, -3.0]])], watchdog_timeout=0.02, watchdog_action="damp",
                      damp_gain=[4.0, 6.0])
    run(loop, 200)
    assert (log["effort"][21:] == -np.array([4.0, 6.0]) * log["v"][20:-1]).all()
    assert (np.abs(log["v"][-1]) < 0.51 * np.abs(log["v"][20])).all()


def test_damp_also_acts_in_steps_that_are_made_up(bench, script):
    options = dict(watchdog_timeout=0.02, watchdog_action="damp", damp_gain=4.0, record=400)
    loop, log = bench(inputs=[script([1], [[5.0, -3.0]])], **options)
    loop.inject_delay(late_ns=30_000_000, every_n=10, count=1)
    run(loop, 100)
    headers, x, tau = loop.drain()
    v = x[:, 2:4]
    assert list(headers["step"]) == list(range(130))
    assert (tau[1:21] == [5.0, -3.0]).all()
    assert (tau[21:] == -4.0 * v[20:-1]).all()
    assert log["v"].shape[0] == 100


def test_the_watchdog_counts_simulated_time_and_pauses_do_not_count(bench):
    loop, log = bench(watchdog_timeout=0.02, paused=True)
    with loop:
        loop.command([1.0, 1.0])
        for _ in range(19):
            loop.step_once(1)
        assert not loop.snapshot()[0].flags & 8
        loop.step_once(3)
        assert loop.snapshot()[0].flags & 8
    assert log["effort"][-3:].tolist() == [[1.0, 1.0], [0.0, 0.0], [0.0, 0.0]]
    assert loop.statistics().watchdog_trips == 1


def test_the_watchdog_can_be_changed_while_running_and_switched_off(bench):
    loop, log = bench(watchdog_timeout=0.02, paused=True)
    with loop:
        loop.set_watchdog(None)
        loop.command([1.0, 1.0])
        loop.step_once(100)
        assert not loop.snapshot()[0].flags & 8
        loop.set_watchdog(0.05, "zero")
        loop.step_once(1)
        assert loop.snapshot()[0].flags & 8


def test_python_commands_newest_wins(bench):
    loop, log = bench(paused=True)
    with loop:
        for k in range(100):
            loop.command([float(k), nan])
        loop.step_once(1)
    assert log["effort"][-1].tolist() == [99.0, 0.0]


@pytest.mark.parametrize("bad, what", [([1.0], "shape"), ([1.0, inf], r"command\[1\] is inf"), ([[1.0, 2.0]], "shape")])
def test_python_commands_are_checked(bench, bad, what):
    loop, log = bench()
    with pytest.raises(ValueError, match=what):
        loop.command(bad)
