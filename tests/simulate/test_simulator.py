"""Simulator and rollout: what people call to move a robot through time."""
import numpy as np
import pytest
import robots

import mbros
import mbros_core
from mbros import FaultError


@pytest.fixture
def model():
    return robots.loaded("arm7", "fixed").model


def test_run_is_step_after_step(model, rng):
    tau = rng.uniform(-3, 3, model.nv)
    a, b = mbros.Simulator(model), mbros.Simulator(model)
    log = a.run(0.25, effort=tau)
    for _ in range(250):
        b.step(tau)
    assert np.array_equal(a.state.q, b.state.q) and np.array_equal(a.state.v, b.state.v)
    assert len(log) == 251 and np.array_equal(log.q[-1], a.state.q) and np.array_equal(log.v[-1], a.state.v)
    assert log.time == pytest.approx(np.arange(251) * 1e-3, abs=1e-12)


def test_every_thins_the_log_and_not_the_simulation(model, rng):
    tau = rng.uniform(-3, 3, model.nv)
    fine, coarse = mbros.Simulator(model), mbros.Simulator(model)
    a, b = fine.run(0.1, tau), coarse.run(0.1, tau, every=7)
    assert np.array_equal(a.q[::7], b.q[:-1]) and np.array_equal(a.q[-1], b.q[-1])     # 100 steps: the end is logged too
    assert b.time[-1] == pytest.approx(0.1) and np.array_equal(fine.state.q, coarse.state.q)


@pytest.mark.parametrize("every", [1, 7])
def test_a_control_law_acts_in_every_step(model, every):
    """A function of time and state, asked before each step, also in those that the log leaves out."""
    asked = []

    def law(t, state):
        asked.append(t)
        return -5.0 * state.v + 2.0

    a, b = mbros.Simulator(model), mbros.Simulator(model)
    a.run(0.05, law, every=every)
    for _ in range(50):
        b.step(-5.0 * b.state.v + 2.0)
    assert asked == pytest.approx(np.arange(50) * 1e-3, abs=1e-12)
    assert np.array_equal(a.state.q, b.state.q)


def test_efforts_by_name(model):
    a, b = mbros.Simulator(model), mbros.Simulator(model)
    name, tau = model.joints[2].name, np.zeros(model.nv)
    tau[model.joint(name).v_slice] = 1.5
    a.run(0.05, {name: 1.5})
    b.run(0.05, tau)
    assert np.array_equal(a.state.q, b.state.q)
    with pytest.raises(ValueError, match=f"no joint '{name}x'.*did you mean '{name}'"):
        a.run(0.05, {name + "x": 1.0})


@pytest.mark.parametrize("wrong", [3.0, [1.0], np.zeros(6), np.zeros((7, 1))])
def test_efforts_of_a_wrong_size_are_refused(model, wrong):
    sim = mbros.Simulator(model)
    for call in (sim.step, lambda tau: sim.run(0.01, tau), lambda tau: sim.advance_to(0.01, tau)):
        with pytest.raises(ValueError, match="expected 7 numbers|shape"):
            call(wrong)
    assert sim.time == 0 and np.array_equal(sim.state.q, sim.start.q)


@pytest.mark.parametrize("duration", [float("nan"), float("inf"), -1.0])
def test_durations_must_make_sense(model, duration):
    with pytest.raises(ValueError, match="run: duration is .*expected a finite number, zero or more"):
        mbros.Simulator(model).run(duration)


def test_reset_goes_back_to_the_start(model, rng):
    state = model.random_state(rng)
    q, v = state.q.copy(), state.v.copy()
    state.gravity[:] = [0, 0, -1.62]
    sim = mbros.Simulator(model, state=state)
    sim.run(0.1)
    sim.state.gravity[:] = 0
    sim.reset()
    assert sim.time == 0 and sim.clamped == 0
    assert np.array_equal(sim.state.q, q) and np.array_equal(sim.state.v, v)
    assert np.array_equal(sim.state.gravity, [0, 0, -1.62])


def test_own_double_pendulum_keeps_its_energy():
    """The shipped model, 10 s at 1 ms with RK4: drift below 5e-8 of the energy above the lowest point."""
    model = mbros.load("double_pendulum")
    state = model.default_state()
    for name in ("damping", "friction"):
        assert not state.field(name).any()
    lowest = model.potential_energy(state)
    state.q[:] = [2.0, 0.3]
    log = mbros.Simulator(model, integrator="rk4", state=state).run(10.0)
    above = log.energy - lowest
    assert above[0] > 0
    assert np.abs(above / above[0] - 1).max() < 5e-8


def test_rollout_is_many_simulators(model, rng):
    n, steps = 11, 40
    q0 = np.array([model.random_configuration(rng) for _ in range(n)])
    v0, tau = rng.normal(size=(n, model.nv)), rng.uniform(-400, 400, (n, steps, model.nv))
    q, v = mbros.rollout(model, q0, v0, tau, dt=1e-3)
    clamped = 0
    for b in range(n):
        state = model.default_state()
        state.q[:], state.v[:] = q0[b], v0[b]
        sim = mbros.Simulator(model, state=state)
        for k in range(steps):
            sim.step(tau[b, k])
        clamped += sim.clamped
        assert np.abs(q[b, -1] - sim.state.q).max() < 1e-11
        assert np.abs(v[b, -1] - sim.state.v).max() < 1e-9 * (1 + np.abs(v[b, -1]).max())
    assert clamped > 0, "the efforts were meant to be large enough to be clamped"


def test_rollout_does_not_depend_on_threads(model, rng):
    tau = rng.normal(size=(37, 20, model.nv))
    q0, v0 = model.neutral_configuration(), np.zeros(model.nv)
    one, two, five = (mbros.rollout(model, q0, v0, tau, threads=k) for k in (1, 2, 5))
    for other in (two, five):
        assert np.array_equal(one[0], other[0]) and np.array_equal(one[1], other[1])


def test_rollout_names_the_robot_that_failed(model, rng):
    tau = np.zeros((20, 10, model.nv))
    tau[13, 4, 2] = np.nan
    with pytest.raises(FaultError, match="robot 13 of 20 would not have stayed finite in step 4"):
        mbros.rollout(model, model.neutral_configuration(), np.zeros(model.nv), tau)
    q, v = mbros.rollout(model, model.neutral_configuration(), np.zeros(model.nv), tau, on_fault="hold")
    assert np.isfinite(q).all() and (q[13, 4:] == q[13, 3]).all()


@pytest.mark.parametrize("arguments, message", [
    (lambda q, v, t: (q[:-1], v, t), "q0: expected shape"), (lambda q, v, t: (q, np.zeros((3, len(v))), t), "v0: expected shape"),
    (lambda q, v, t: (q, v, t[0]), "tau: expected shape"), (lambda q, v, t: (q * np.nan, v, t), "q0: expected finite"),
    (lambda q, v, t: (q.reshape(1, 1, -1), v, t), r"q0: expected shape \(2, 7\), or \(7,\) for all, got \(1, 1, 7\)")])
def test_rollout_refuses_wrong_arguments(model, arguments, message):
    q0, v0, tau = model.neutral_configuration(), np.zeros(model.nv), np.zeros((2, 3, model.nv))
    with pytest.raises(ValueError, match=f"^rollout of model 'arm7': {message}"):
        mbros.rollout(model, *arguments(q0, v0, tau))


def test_empty_rollouts(model):
    for batch, steps in ((0, 5), (3, 0)):
        q, v = mbros.rollout(model, np.zeros((batch, model.nq)), np.zeros((batch, model.nv)), np.zeros((batch, steps, model.nv)))
        assert q.shape == (batch, steps, model.nq) and v.shape == (batch, steps, model.nv)


def test_integrators_by_name(model):
    for name in mbros_core.INTEGRATORS:
        assert mbros.Simulator(model, integrator=name).integrator == name
    with pytest.raises(ValueError, match="integrator is 'euler'; expected 'midpoint', 'semi_implicit_euler', 'rk4' or 'dormand_prince'"):
        mbros.Simulator(model, integrator="euler")


@pytest.mark.parametrize("wrong, message", [
    ({"dt": -1.0}, "dt is -1; expected a step above 0 and up to 10 s"), ({"dt": "1 ms"}, "dt: .*got '1 ms'"), ({"dt": None}, "dt: .*None"),
    ({"dt": True}, "dt: .*True"),
    ({"integrator": "euler"}, "integrator is 'euler'; expected 'midpoint', 'semi_implicit_euler'")])
def test_steps_that_cannot_be_taken_are_refused_in_the_same_words(wrong, message):
    model = mbros.load("pendulum")
    for simulate in (lambda: mbros.Simulator(model, **wrong), lambda: mbros.rollout(model, [0.0], [0.0], np.zeros((1, 1, 1)), **wrong),
                     lambda: mbros.diff.linearize_step(model, model.default_state(), [0.0], **wrong)):
        with pytest.raises(mbros.MbrosError, match=message):
            simulate()
