"""Pause, single steps, reset, parameters, faults: what Python asks of a running loop."""
import threading

import numpy as np
import pytest
import rig as rigs

from mbros.errors import MbrosError

PAUSED, FAULT, STEPPED, WATCHDOG, RESET = rigs.PAUSED, rigs.FAULT, rigs.STEPPED, rigs.WATCHDOG, rigs.RESET


def test_states_and_the_snapshot_before_the_start(bench):
    loop, log = bench(clock="monotonic")
    assert loop.state == "new" and loop.stop_reason is None
    header, x = loop.snapshot()
    assert (header.step, header.time, header.command_age_ns, header.flags) == (0, 0.0, -1, 0)
    with loop:
        assert loop.state == "running"
        loop.pause()
        assert loop.state == "paused" and loop.paused
    assert loop.state == "stopped"
    assert loop.stop_reason == "stop() was called"


def test_a_pause_keeps_publishing_and_takes_no_step(bench):
    loop, log = bench(clock="monotonic")
    with loop:
        loop.pause()
        step, idle = loop.snapshot()[0].step, log.idle
        while log.idle < idle + 20:
            pass
        header, x = loop.snapshot()
        assert header.step == step and header.flags & PAUSED
        loop.resume()
        while loop.snapshot()[0].step < step + 5:
            pass
        assert not loop.snapshot()[0].flags & PAUSED
    assert (np.diff(log.step) >= 0).all()


def test_single_steps_are_done_when_the_call_returns(bench):
    loop, log = bench(clock="monotonic", real_time_factor=0, paused=True)
    with loop:
        for k, n in enumerate((1, 3, 50)):
            before = loop.snapshot()[0].step
            loop.step_once(n)
            assert loop.snapshot()[0].step == before + n
    stepped = log.flags & STEPPED != 0
    assert stepped.sum() == 54
    assert list(log.step[stepped]) == list(range(1, 55))
    assert (log.flags[stepped] & PAUSED).all()


def test_stepping_pauses_a_running_loop(bench):
    loop, log = bench(clock="monotonic")
    with loop:
        loop.step_once(5)
        assert loop.paused
    assert (log.flags & STEPPED != 0).sum() == 5


def test_concurrent_steppers_take_turns(bench):
    loop, log = bench(clock="virtual", paused=True)
    with loop:
        threads = [threading.Thread(target=loop.step_once, args=(10,)) for _ in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert loop.snapshot()[0].step == 80


def test_stepping_is_bounded(bench, rig):
    loop, log = bench(clock="monotonic", paused=True)
    with pytest.raises(RuntimeError, match="start"):
        loop.step_once()
    for bad in (0, -1, 10**12):
        with pytest.raises(ValueError, match="n: expected"):
            loop.step_once(bad)
    with pytest.raises(TypeError, match="whole number"):
        loop.step_once(1.5)
    with loop:
        with pytest.raises(TimeoutError, match="of 1000000 steps"):
            loop.step_once(1_000_000, timeout=0.05)
        loop.resume()
        loop.pause()
        done = loop.snapshot()[0].step
        loop.step_once(1)
        assert loop.snapshot()[0].step == done + 1      # the dropped ones do not come back


def test_reset_shows_the_state_it_sets_at_time_zero(bench):
    loop, log = bench(clock="monotonic")
    with loop:
        loop.command([1.0, 1.0])
        loop.pause()
        loop.step_once(5)
        loop.reset([1.0, 2.0], [3.0, 4.0])
        header, x = loop.snapshot()
        assert (header.step, header.time, header.command_age_ns) == (0, 0.0, -1)
        assert x[:4].tolist() == [1.0, 2.0, 3.0, 4.0]
        loop.step_once(1)
        header, x = loop.snapshot()
        assert x[:4].tolist() == [1.0 + 1e-3 * 3.0, 2.0 + 1e-3 * 4.0, 3.0, 4.0]       # the old command is gone
        loop.reset()
        assert loop.snapshot()[1][:4].tolist() == [0.0] * 4
    shown = np.nonzero(log.flags & RESET)[0]
    assert len(shown) == 2
    assert (log.step[shown] == 0).all() and (log.time[shown] == 0).all()
    assert log["q"][shown[0]].tolist() == [1.0, 2.0]


def test_reset_without_a_thread(bench):
    loop, log = bench()
    loop.reset([1.0, 2.0], [3.0, 4.0])
    assert loop.snapshot()[1][:4].tolist() == [1.0, 2.0, 3.0, 4.0]
    loop.start(slots=1)
    loop.wait(10.0)
    assert log["q"][0].tolist() == [1.0, 2.0] and log.flags[0] == RESET
    loop.reset([0.0, 0.0], [0.0, 0.0])
    assert not loop.snapshot()[1][:4].any()


@pytest.mark.parametrize("q, v, error", [
    ([1.0], [1.0, 1.0], "q: expected 2 numbers"), ([1.0, np.nan], [0.0, 0.0], r"q\[1\] is nan"),
    ([1.0, 1.0], None, "both")])
def test_a_bad_reset_is_refused_and_changes_nothing(bench, q, v, error):
    loop, log = bench()
    with pytest.raises(ValueError, match=error):
        loop.reset(q, v)
    assert loop.statistics().resets == 0


def test_parameters_are_all_or_nothing(bench, rig):
    # The rig reports `mixed` when its masses have different parameters: a torn block would show.
    loop, log = bench(clock="monotonic", real_time_factor=0)
    with loop:
        for k in range(300):
            loop.set_parameters(np.full(4, float(k)))
        header, x = loop.snapshot()
    assert loop.statistics().parameter_blocks == 300
    assert not log["mixed"].any()
    assert header.parameters >= 299


def test_parameters_act_in_the_next_step_and_by_name(bench):
    loop, log = bench(paused=True)
    loop.reset([1.0, 1.0], [0.0, 0.0])
    with loop:
        loop.step_once(1)
        loop.set_parameters({"stiffness": [2.0, 3.0]})
        loop.step_once(1)
    steps = log.flags & STEPPED != 0
    assert log["v"][steps].tolist() == [[0.0, 0.0], [-2e-3, -3e-3]]


@pytest.mark.parametrize("block, error", [
    ([1.0], "expected 4 numbers"), ([1.0, 1.0, np.inf, 1.0], r"block\[2\] is inf"), ({"mass": 1.0}, "no parameter 'mass'"),
    ({"damping": [1.0]}, "damping: expected 2"), ({"damping": [1.0, np.nan]}, r"damping\[1\] is nan")])
def test_bad_parameters_are_refused_and_change_nothing(bench, block, error):
    loop, log = bench()
    with pytest.raises(ValueError, match=error):
        loop.set_parameters(block)
    assert loop.statistics().parameter_blocks == 0


def test_a_fault_holds_the_last_good_state_until_a_reset(bench, rig, script):
    rig.tune(largest_speed=0.1)
    late = script([150], [[5.0, 5.0]])
    loop, log = bench(inputs=[late, script([1], [[0.0, 10.0]])])
    loop.start(slots=200)
    assert loop.wait(60.0)
    # v[1] grows by 0.01 a step: the 11th step would pass 0.1 (or the 10th, by rounding).
    faulty = log.flags & FAULT != 0
    first = int(np.argmax(faulty))
    assert first in (10, 11) and faulty[first:].all() and len(log.rows) == 200
    assert (log.step[first:] == first - 1).all()
    assert (log["v"][first:] == log["v"][first - 1]).all()
    fault = loop.fault
    assert (fault.code, fault.index, fault.step) == (7, 1, first)
    assert fault.text == f"step {first}: mass 1 is too fast (code 7)"
    s = loop.statistics()
    assert (s.faults, s.ignored) == (1, 1)
    with pytest.raises(RuntimeError, match="mass 1 is too fast"):
        loop.command([0.0, 0.0])
    loop.reset()
    assert loop.fault is None and loop.statistics().command_age is None
    loop.start(slots=10)
    assert loop.wait(60.0)
    assert list(log.step[-10:]) == list(range(10)) and not log.flags[-10:][1:].any()
    assert not log["effort"][-10:].any()


def test_stepping_a_fault_says_what_it_is(bench, rig):
    rig.tune(largest_speed=0.1)
    loop, log = bench(paused=True)
    with loop:
        loop.command([0.0, 200.0])
        with pytest.raises(RuntimeError, match="mass 1 is too fast.*reset"):
            loop.step_once(3)
        assert loop.state == "fault"
        loop.reset()
        loop.step_once(3)
        assert loop.snapshot()[0].step == 3


def test_a_number_that_is_not_finite_never_leaves_the_loop(bench, rig):
    rig.tune(not_finite_at=30)
    loop, log = bench()
    loop.start(slots=50)
    assert loop.wait(60.0)
    assert np.isfinite(log.rows).all()
    assert loop.fault.code == -1
    assert loop.fault.text == "step 30: the plant's snapshot is not finite at v[0]"
    assert not (log.flags[:30] & FAULT).any() and (log.flags[30:] & FAULT).all()
    assert log.step[-1] == 29


def test_a_stopped_loop_goes_on_where_it_was(bench):
    loop, log = bench()
    for _ in range(2):
        loop.start(slots=11)
        assert loop.wait(60.0)
    assert list(log.step) == list(range(11)) + list(range(10, 21))


def test_statistics_can_be_cleared_while_running(bench):
    loop, log = bench(clock="monotonic")
    with loop:
        while loop.statistics().slots < 50:
            pass
        loop.reset_statistics()
        s = loop.statistics()
        assert s.slots < 50 and s.lateness.count <= s.slots + 1
        assert s.steps >= 49


@pytest.mark.parametrize("options, error", [
    (dict(dt=0.0), "dt"), (dict(dt=-1e-3), "dt"), (dict(dt=float("nan")), "dt"), (dict(overrun="burst"), "'skip'"),
    (dict(real_time_factor=0.01), "0.1 to 100"), (dict(real_time_factor=-1.0), "0.1 to 100"),
    (dict(watchdog_timeout=0.0), "watchdog_timeout"), (dict(watchdog_action="reverse"), "'zero'"),
    (dict(watchdog_action="damp"), "damp_gain"), (dict(watchdog_action="damp", damp_gain=-1.0),
     r"damp_gain\[0\] is -1; expected a finite number, zero or more"),
    (dict(watchdog_action="damp", damp_gain=[1.0]), "expected 2"), (dict(rt="please"), "'auto'"),
    (dict(priority=100), "1 to 99"), (dict(clock="sun"), "'virtual'"), (dict(record=-1), "record"),
    (dict(paused="false"), "paused is 'false'; expected True or False"), (dict(count_allocations=1), "count_allocations is 1; expected"),
    (dict(damp_gain="a"), "damp_gain: expected 1 number, got 'a'")])
def test_settings_are_checked(bench, options, error):
    with pytest.raises(MbrosError, match=error):
        bench(**options)


def test_dt_must_not_contradict_the_plant(bench, rig):
    rig.dt = 2e-3
    with pytest.raises(ValueError, match="dt is 0.001 s, and that of its plant 0.002 s"):
        bench(dt=1e-3)
    loop, log = bench(dt=None)
    assert loop.dt == 2e-3
