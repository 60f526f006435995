"""a_prev, the acceleration of the last midpoint step: it is state, is copied and put away like q and v, and costs a step of first
order at most."""
import copy
import pickle

import numpy as np
import pytest
import robots
import zoo
from tolerance import assert_close

import mbros
import mbros_core


def moving(steps=20, name="quadruped", **settings):
    model = mbros.load(name)
    sim = mbros.Simulator(model, integrator="midpoint", **settings)
    sim.state.set_v(np.random.default_rng(3).normal(size=model.nv))
    sim.plant.steps(np.full(model.nv, 0.1), steps)
    return sim


def test_it_is_the_change_of_v_over_the_step():
    sim = moving()
    v = sim.state.v.copy()
    sim.step()
    assert_close(sim.state._a_prev, (sim.state.v - v) / sim.dt, 1e-9)


@pytest.mark.parametrize("made", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))], ids=["copy", "deepcopy", "pickle"])
def test_copies_go_on_with_it_to_the_bit(made):
    sim = moving()
    other = made(sim)
    assert sim.state._a_prev.any() and np.array_equal(other.state._a_prev, sim.state._a_prev)
    for each in (sim, other):
        each.plant.steps(np.zeros(each.model.nv), 30)
    assert np.array_equal(other.state.q, sim.state.q) and np.array_equal(other.state.v, sim.state.v)
    state = sim.state.copy()
    assert np.array_equal(state._a_prev, sim.state._a_prev)


def test_who_puts_the_robot_somewhere_puts_it_away():
    sim = moving()
    model, state = sim.model, sim.state
    for put in (lambda: sim.plant.reset(), lambda: state.set_q(model.spec.q_default), lambda: state.set_v(np.zeros(model.nv)), sim.reset):
        sim.plant.steps(np.ones(model.nv), 2)
        assert state._a_prev.any()
        put()
        assert not state._a_prev.any()
    sim.plant.steps(np.ones(model.nv), 2)
    joint = next(joint for joint in model.joints if joint.nv == 1)
    joint.set_velocity(state, [0.5])
    assert not state._a_prev[joint.v_slice].any() and state._a_prev.any()
    joint.lock(state)
    sim.step()
    assert not state._a_prev[joint.v_slice].any() and not state.v[joint.v_slice].any()


def test_a_simulation_that_is_reset_repeats_to_the_bit():
    sim = moving(0)
    def run():
        sim.plant.steps(np.full(sim.model.nv, 0.1), 50)
        return np.concatenate([sim.state.q, sim.state.v])
    first = run()
    sim.reset()
    sim.state.set_v(np.random.default_rng(3).normal(size=sim.model.nv))
    assert np.array_equal(run(), first)


def test_a_start_without_it_errs_like_the_rest():
    """Global error from a moving start, against rk4: a quarter at half the step, although its first step knows no acceleration."""
    model = mbros.load("double_pendulum")
    def end(integrator, dt):
        plant = mbros_core.Plant(model, dt=dt, integrator=integrator)
        plant.reset([1.0, 0.5], [3.0, -5.0])
        plant.steps(np.zeros(2), round(0.2 / dt))
        return plant.state.q.copy()
    exact = end("rk4", 1e-4)
    errors = [np.abs(end("midpoint", dt) - exact).max() for dt in (1e-3, 5e-4)]
    assert 3.5 < errors[0] / errors[1] < 4.5


def test_a_fault_keeps_the_last_good_one():
    sim = moving()
    before = [x.copy() for x in (sim.state.q, sim.state.v, sim.state._a_prev)]
    sim.state.external_force[1] = 1e300
    with pytest.raises(mbros.FaultError):
        sim.step()
    assert all(map(np.array_equal, before, (sim.state.q, sim.state.v, sim.state._a_prev)))


def test_a_step_reads_nothing_that_it_has_not_written():
    for name in ("all_kinds", "mimic", "rough"):
        model = robots.model(name)
        spec, rng = zoo.spec(name), np.random.default_rng(1)
        q, v = zoo.random_q(spec, rng), rng.normal(size=model.nv)
        ends = []
        for poisoned in (False, True):
            plant = mbros_core.Plant(model, dt=1e-3, integrator="midpoint")
            plant.reset(q, v)
            for _ in range(3):
                if poisoned:
                    plant.state._poison()
                plant.step(np.ones(model.nv))
            ends.append(np.concatenate([plant.state.q, plant.state.v, plant.state._a_prev]))
        assert np.array_equal(*ends)


def test_a_rollout_goes_on_from_a_state_with_it():
    sim = moving()
    start, tau = sim.state.copy(), np.zeros((1, 30, sim.model.nv))
    sim.plant.steps(tau[0, 0], 30)
    q, v = mbros.rollout(sim.model, None, None, tau, integrator="midpoint", state=start)
    assert_close(q[0, -1], sim.state.q, 1e-11)
    assert_close(v[0, -1], sim.state.v, 1e-10)
    # where it is put somewhere, even there, there was no step before
    fresh = start.copy()
    fresh._a_prev[:] = 0.0
    one, _ = mbros.rollout(sim.model, start.q, None, tau, integrator="midpoint", state=start)
    two, _ = mbros.rollout(sim.model, None, None, tau, integrator="midpoint", state=fresh)
    assert np.array_equal(one, two) and not np.array_equal(one, q)
    # many groups of lanes start alike
    many, _ = mbros.rollout(sim.model, None, None, np.zeros((37, 5, sim.model.nv)), integrator="midpoint", state=start)
    assert (many == many[0]).all()


def test_a_step_costs_one_evaluation():
    """Counted by a force element written in Python."""
    calls = []

    class Counting(mbros.ForceElement):
        def wrench(self, pose, velocity):
            calls.append(1)
            return np.zeros(3), np.zeros(3)

    b = mbros.ModelBuilder("counted")
    body = b.add_body("body", 1.0, (0, 0, 0), (0.1, 0.1, 0.1))
    b.add_joint(mbros.FloatingJoint("free", b.world, body))
    b.add_force_element(Counting(b.world, body, name="counting"))
    model = b.build()
    per = {}
    for integrator in ("semi_implicit_euler", "midpoint", "rk4"):
        plant = mbros_core.Plant(model, integrator=integrator)
        plant.step(np.zeros(6))
        calls.clear()
        for _ in range(10):
            plant.step(np.zeros(6))
        per[integrator] = len(calls)
    assert per["midpoint"] == per["semi_implicit_euler"] and per["rk4"] == 4 * per["midpoint"]
