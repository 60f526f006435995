"""Ctrl-C in calls that would last for minutes: seen at once, between two steps, with everything whole and ready to go on."""
import signal
import threading
import time

import numpy as np
import pytest
from interrupting import SOON, interrupt_after, one_coordinate

import mbros
import mbros_core
from mbros.diff.duals import workspace
from mbros.errors import BusyError


@pytest.fixture(scope="module")
def model():
    return mbros.load("arm6")


@pytest.fixture(scope="module")
def heavy():
    return one_coordinate()


LONG = {"advance_to": lambda sim: sim.advance_to(1e6), "run": lambda sim: sim.run(1e5, every=10**8),
        "run with efforts": lambda sim: sim.run(1e5, np.ones(6), every=10**8),
        "steps": lambda sim: sim.plant.steps(np.zeros(6), 10**10)}


@pytest.mark.parametrize("call", LONG.values(), ids=LONG)
@pytest.mark.parametrize("integrator", ["midpoint", "semi_implicit_euler", "rk4"])
def test_trial_A4_a_long_simulation_sees_the_interrupt_and_stays_whole(model, call, integrator):
    sim = mbros.Simulator(model, integrator=integrator)
    with interrupt_after(0.15) as since, pytest.raises(KeyboardInterrupt):
        call(sim)
    assert since() < SOON and sim.plant.fault[0] == 0
    n = round(sim.time / sim.dt)
    assert n > 0 and sim.time == n * sim.dt
    again = mbros.Simulator(model, integrator=integrator)
    again.plant.steps(sim.plant.effort, n)
    assert np.array_equal(again.state.q, sim.state.q) and np.array_equal(again.state.v, sim.state.v)
    sim.step()


@pytest.mark.parametrize("threads", [1, 2])
def test_trial_A4_inverse_kinematics_sees_the_interrupt(model, threads):
    far = {model.frames[-1]: np.array([[1, 0, 0, 9.0], [0, 1, 0, 9.0], [0, 0, 1, 9.0], [0, 0, 0, 1.0]])}
    assert not model.inverse_kinematics(far, restarts=200_000, iterations=1).solved         # the starts are drawn, and kept
    with interrupt_after(0.3) as since, pytest.raises(KeyboardInterrupt):
        model.inverse_kinematics([far, far], restarts=200_000, iterations=100_000, threads=threads)
    assert since() < SOON
    assert not model.inverse_kinematics(far, restarts=3).solved


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_trial_A4_a_rollout_on_any_number_of_threads_sees_the_interrupt(heavy, threads):
    tau = np.zeros((40, 50_000, 1))
    with interrupt_after(0.3) as since, pytest.raises(KeyboardInterrupt):
        mbros.rollout(heavy, [0.1], [0.0], tau, threads=threads)
    assert since() < SOON and not [t for t in threading.enumerate() if t.name.startswith("ThreadPool")]
    q, _ = mbros.rollout(heavy, [0.1], [0.0], tau[:, :3], threads=threads)
    assert np.isfinite(q).all() and (q != 0.1).all()


@pytest.mark.parametrize("algorithm", ["forward_dynamics", "inverse_dynamics"])
def test_trial_A4_long_batches_see_the_interrupt(heavy, algorithm):
    module = mbros_core.lanes()
    batch, x = module.Batch(module.Model(heavy.spec)), np.zeros((1_500_000, 1))
    with interrupt_after(0.1) as since, pytest.raises(KeyboardInterrupt):
        getattr(batch, algorithm)(x, x, x, np.empty_like(x))
    assert since() < SOON


def test_trial_A4_long_derivatives_see_the_interrupt():
    """Taken in 4 million directions, a few at a time: the last ones that were written say how far it came."""
    model, count = mbros.load("pendulum"), 4_000_000
    work = workspace(model)
    work.write(model.default_state(), [])
    q, rows = work.inputs["q"], np.arange(float(count))[:, None]
    with interrupt_after(0.03), pytest.raises(KeyboardInterrupt):
        work.duals.sweep("potential_energy", [(q, rows)], count)
    assert 0.0 < q[0, 1] < count - 10 * work.duals.partials


def test_a_handler_that_raises_nothing_ends_nothing(model):
    rung = []
    before = signal.signal(signal.SIGALRM, lambda *_: rung.append(sim.time))
    sim = mbros.Simulator(model)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    try:
        sim.plant.steps(np.zeros(6), 400_000)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert sim.time == 400_000 * 1e-3 and len(rung) == 1 and 0.0 < rung[0] < sim.time, "it ran while the steps went on"


def test_other_threads_step_through_a_signal_of_the_main_thread(model):
    sim, ended = mbros.Simulator(model), []

    def work():
        sim.plant.steps(np.zeros(6), 300_000)
        ended.append(sim.time)

    thread = threading.Thread(target=work)
    with interrupt_after(0.05), pytest.raises(KeyboardInterrupt):
        thread.start()
        time.sleep(SOON)
    thread.join()
    assert ended == [300_000 * 1e-3]


@pytest.mark.parametrize("how", ["advance_to", "run", "run, logged", "run under a law"])
def test_progress_is_told_the_time_and_may_end_the_simulation(model, how):
    class Enough(Exception):
        pass

    told = []

    def progress(now):
        told.append((now, sim.time))
        if len(told) == 3:
            raise Enough

    sim = mbros.Simulator(model)
    with pytest.raises(Enough):
        if how == "advance_to":
            sim.advance_to(1e6, progress=progress)
        else:
            law = (lambda t, state: -state.v) if "law" in how else None
            sim.run(1e4, law, every=1 if "logged" in how else 10**7, progress=progress)
    times = [now for now, _ in told]
    assert len(times) == 3 and times == sorted(set(times)) and all(now == there for now, there in told)
    assert sim.time == times[-1] == round(sim.time / sim.dt) * sim.dt
    sim.step()


def test_a_progress_that_is_no_function_is_refused_before_anything_moves(model):
    sim = mbros.Simulator(model)
    for call in (lambda: sim.run(1.0, progress=1), lambda: sim.advance_to(1.0, progress="bar")):
        with pytest.raises(mbros.MbrosError, match="progress: expected a function of the time, or None, got"):
            call()
    assert sim.time == 0.0


@pytest.mark.parametrize("how", ["advance_to", "run", "run, logged", "run under a law", "the law itself"])
@pytest.mark.parametrize("change", [lambda sim: sim.reset(), lambda sim: sim.step(), lambda sim: sim.run(0.1),
                                    lambda sim: sim.plant.reset()])
def test_what_a_simulation_calls_may_look_and_not_move_it(model, how, change):
    sim, looked = mbros.Simulator(model), []

    def look(now, *_):
        looked.append((sim.state.copy().time, sim.plant.observe(), model.pose(sim.state, model.frames[-1])))
        change(sim)

    with pytest.raises(BusyError, match=r"simulation of model 'arm6' is in the middle of a call \(run, advance_to"):
        if how == "advance_to":
            sim.advance_to(1e6, progress=look)
        elif how == "the law itself":
            sim.run(1.0, look)
        else:
            law = (lambda t, state: -state.v) if "law" in how else None
            sim.run(1e4, law, every=1 if "logged" in how else 10**7, progress=look)
    assert len(looked) == 1 and sim.time == looked[0][0]
    sim.step()
    sim.reset()
    assert sim.time == 0.0


def test_no_other_thread_steps_between_two_stretches_either(model):
    """While progress sleeps the interpreter lock is free, and so is the state's memory."""
    sim, caught = mbros.Simulator(model), []

    def progress(now):
        def step():
            with pytest.raises(BusyError, match="in the middle of a call") as refused:
                sim.step()
            caught.append(refused)
        thread = threading.Thread(target=step)
        thread.start()
        thread.join()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sim.advance_to(1e6, progress=progress)
    assert len(caught) == 1
