"""Several watchdogs in one loop, as for the robots of a scene: each hears the commands of its own coordinates, and the others run on."""
import numpy as np
import pytest

import mbros
from mbros.simulate.simulator import make_plant
from mbros_core.realtime import WATCHDOG, Loop, settings

nan = np.nan


def run(loop, slots):
    loop.start(slots=slots)
    assert loop.wait(60.0)
    return loop.statistics()


def both(n):
    """The second coordinate is commanded in every slot, the first in slot 1 only."""
    return list(range(1, n)), [[1.0, 2.0], *([nan, 2.0] for _ in range(2, n))]


@pytest.mark.parametrize("action, effort", [("zero", 0.0), ("hold", 1.0)])
def test_one_that_is_silent_is_noticed_while_another_commands(bench, script, action, effort):
    loop, log = bench(inputs=[script(*both(70))], watchdog_timeout=0.02, watchdog_action=action, watchdogs=[0, 1])
    s = run(loop, 70)
    assert (log["effort"][1:21, 0] == 1.0).all() and (log["effort"][21:, 0] == effort).all()
    assert (log["effort"][1:, 1] == 2.0).all()
    assert list(np.nonzero(log.flags & WATCHDOG)[0]) == list(range(21, 70))
    assert s.watchdog_trips == 1 and loop.silent == (True, False)


def test_one_watchdog_for_all_hears_every_command(bench, script):
    loop, log = bench(inputs=[script(*both(70))], watchdog_timeout=0.02)
    s = run(loop, 70)
    assert (log["effort"][1:] == [1.0, 2.0]).all() and s.watchdog_trips == 0 and loop.silent == ()


def test_damp_brakes_the_silent_one_only_and_a_command_of_its_own_ends_it(bench, script):
    at, commands = both(100)
    commands[59] = [4.0, 2.0]                       # of slot 60
    loop, log = bench(inputs=[script(at, commands)], watchdog_timeout=0.02, watchdog_action="damp", damp_gain=[4.0, 6.0], watchdogs=[0, 1])
    s = run(loop, 100)
    effort = log["effort"]
    assert (effort[21:60, 0] == -4.0 * log["v"][20:59, 0]).all() and (effort[1:, 1] == 2.0).all()
    assert (effort[60:80, 0] == 4.0).all() and (effort[80:, 0] == -4.0 * log["v"][79:-1, 0]).all() and s.watchdog_trips == 2


def test_what_nobody_commands_has_no_watchdog(bench, script):
    loop, log = bench(inputs=[script([1], [[1.0, 2.0]])], watchdog_timeout=0.02, watchdog_action="damp", damp_gain=4.0, watchdogs=[-1, 0])
    run(loop, 60)
    assert (log["effort"][1:, 0] == 1.0).all() and (log["effort"][21:, 1] == -4.0 * log["v"][20:-1, 1]).all()


def test_one_that_was_never_commanded_is_not_silent(bench, script):
    loop, log = bench(inputs=[script([1], [[nan, 2.0]])], watchdog_timeout=0.02, watchdog_action="damp", damp_gain=4.0, watchdogs=[0, 1])
    s = run(loop, 60)
    assert not log["effort"][:, 0].any() and s.watchdog_trips == 1 and loop.silent == (False, True)


def test_a_reset_forgets_all_of_them(bench):
    loop, log = bench(watchdog_timeout=0.02, watchdogs=[0, 1], paused=True)
    with loop:
        loop.command([1.0, 1.0])
        loop.step_once(15)
        loop.command([nan, 1.0])
        loop.step_once(15)
        assert loop.silent == (True, False)
        loop.reset()
        assert loop.silent == (False, False)
        loop.step_once(100)
    assert loop.statistics().watchdog_trips == 1


def test_who_is_silent_is_recalled():
    model = mbros.load("arm7")
    first, second = (Loop(make_plant(model), rt="off", clock="virtual", paused=True, watchdog_timeout=0.05,
                          watchdogs=[0, 0, 0, 1, 1, 1, -1]) for _ in range(2))
    tau = np.array([nan] * 3 + [2.0] * 4)
    with first, second:
        first.command(np.ones(7))
        first.step_once(40)
        first.command(tau)
        first.step_once(15)
        with first.aside(), second.aside():
            said = first.commands_in_force()
            assert said["watched"] == [[True, True, 55, 0], [True, False, 15, 0]] and said["held"] == [0.0] * 3 + [2.0] * 4
            second.recall(**said)
            with pytest.raises(mbros.MbrosError, match="expected 2 rows, one for each watchdog, got 1"):
                second.recall(**{**said, "watched": [[True, False, 0, 0]]})
        second.step_once(1)
        assert second.silent == (True, False)
        second.step_once(34)
        assert second.silent == (True, False)
        second.step_once(1)
        assert second.silent == (True, True)


def test_with_devices_a_position_is_heard_and_withdrawn_by_its_own():
    from test_loop_commanded import NV, command, loop_of, plant

    watchdogs = np.arange(NV)
    driven = plant()
    with loop_of(driven, watchdog_timeout=0.05, watchdogs=watchdogs) as loop:
        for _ in range(10):
            loop.command(command(joint1=(0.2, nan, nan)))
            loop.step_once(10)
        assert not any(loop.silent)
        loop.command(command(joint2=(nan, 0.3, nan)))
        loop.step_once(45)
        loop.command(command(joint2=(nan, 0.3, nan)))
        loop.step_once(10)
        assert loop.silent == (True, *[False] * (NV - 1))
        with loop.aside():
            held = np.array(loop.commands_in_force()["held"]).reshape(4, NV)
        assert not held[:, 0].any() and held[3, 1] == 2.0


@pytest.mark.parametrize("wrong", [[0], [0.0, 1.0], [0, 2], [-2, 0], "ab"])
def test_what_is_no_row_of_watchdogs_is_refused(bench, wrong):
    with pytest.raises(mbros.MbrosError, match="watchdogs: expected one whole number, -1 or the watchdog's, for each of 2 velocities"):
        bench(watchdogs=wrong)


def test_numbers_behind_the_coordinates_are_nobody_s():
    """Of plants whose own say is no whole rows of coordinates; of ones without coordinates."""
    assert settings.watched_by([0, 1], 2, 5).tolist() == [0, 1, 0, 1, -1] and settings.watched_by([0, 1], 2, 8).tolist() == [0, 1] * 4
    assert settings.watched_by(np.zeros(0, int), 0, 3).tolist() == [-1] * 3
