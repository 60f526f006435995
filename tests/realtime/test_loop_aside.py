"""The loop stands aside between two steps: what another thread finds and leaves there, and records that are kept when they are wanted."""
import threading
import time

import mbros
import numpy as np
import pytest
from patience import until
from mbros.simulate.simulator import make_plant
from mbros_core.errors import BusyError, LoopError
from mbros_core.realtime import RESET, Loop


@pytest.fixture
def loop():
    loop = Loop(make_plant(mbros.load("arm7")), rt="off", watchdog_timeout=None, record=4000)
    yield loop
    loop.stop()


def plant_of(loop):
    return loop._plant


def test_the_plant_is_the_callers_meanwhile_and_the_loops_before_and_after(loop):
    loop.start()
    plant = plant_of(loop)
    with pytest.raises(BusyError):
        plant.observe()
    for _ in range(20):
        with loop.aside():
            step = loop.commands_in_force()["step"]
            time.sleep(0.002)
            assert loop.commands_in_force()["step"] == step == round(plant.state.time / plant.dt)
            plant.observe()
        with pytest.raises(BusyError):
            plant.observe()
    before = loop.snapshot()[0].step
    until(lambda: loop.snapshot()[0].step > before)


def test_it_goes_on_from_what_was_left_there(loop):
    loop.start()
    loop.command(np.arange(7.0))
    plant = plant_of(loop)
    with loop.aside():
        kept, state = loop.commands_in_force(), plant.state.copy()
    until(lambda: loop.snapshot()[0].step > kept["step"] + 10)
    loop.pause()
    with loop.aside():
        plant.state.assign(state)
        loop.recall(**kept)
    header, x = loop.snapshot()
    assert header.step == kept["step"] and header.flags & RESET and (x[:7] == state.q).all()
    loop.step_once(5)
    twin = make_plant(plant.model, state)
    twin.steps(np.array(kept["held"]), 5)
    assert (loop.snapshot()[1][:7] == twin.state.q).all()


def test_within_itself_without_a_thread_and_after_an_error(loop):
    with loop.aside(), loop.aside():
        assert loop.commands_in_force()["step"] == 0
    loop.start()
    with pytest.raises(ZeroDivisionError), loop.aside():
        raise ZeroDivisionError
    with loop.aside(), loop.aside():
        loop.set_watchdog(0.5)                      # posted; in force when the loop goes on
    until(lambda: loop.snapshot()[0].step > 5)
    loop.pause()
    loop.reset()
    assert loop.snapshot()[0].step == 0


def test_several_threads_take_turns(loop):
    loop.start()
    inside, most = [], []

    def visit():
        for _ in range(20):
            with loop.aside():
                inside.append(1)
                most.append(len(inside))
                plant_of(loop).observe()
                inside.pop()

    threads = [threading.Thread(target=visit) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(most) == 80 and max(most) == 1 and loop.state == "running"


def test_records_are_kept_while_they_are_wanted(loop):
    loop.start()
    assert until(lambda: len(loop.drain()[0])) and loop.recording
    with loop.aside():
        loop.recording = False
        loop.drain()
    before = loop.snapshot()[0].step
    until(lambda: loop.snapshot()[0].step > before + 20)
    assert not loop.recording and not len(loop.drain()[0])
    with loop.aside():
        loop.recording = True
        step = loop.commands_in_force()["step"]
    assert until(lambda: list(loop.drain()[0]["step"]))[0] == step + 1
    other = Loop(make_plant(mbros.load("arm7")), rt="off")
    assert not other.recording
    with pytest.raises(LoopError, match="keeps no records"):
        other.recording = True
