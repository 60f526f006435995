"""The product of A along a run is the derivative of the run, where the state has all that a step hands to the next."""
import os
import warnings

import numpy as np
import pytest

import mbros
from mbros import MbrosError

H = 1e-3
CASES = int(os.environ.get("MBROS_CASES", "12"))


def run(model, state, tau, steps, integrator):
    sim = mbros.Simulator(model, dt=H, integrator=integrator, state=state.copy())
    for _ in range(steps):
        sim.step(tau)
    return sim.state


def product(model, state, tau, steps, integrator, **kwargs):
    """Its first 2 nv rows and columns: a run begins with a = 0, whatever its q and v are."""
    sim, found, n = mbros.Simulator(model, dt=H, integrator=integrator, state=state.copy()), 1.0, 2 * model.nv
    for _ in range(steps):
        A, _ = model.linearize(sim.state, tau, dt=H, integrator=integrator, **kwargs)
        found = A @ found if np.ndim(found) else A
        sim.step(tau)
    return found[:n, :n]


def differences(model, state, tau, steps, integrator, eps=1e-6):
    n, columns = model.nv, []
    for e in eps * np.eye(2 * model.nv):
        ends = []
        for step in (e, -e):
            start = state.copy()
            start.q[:], start.v[:] = model.integrate(state.q, step[:n]), state.v + step[n:]
            ends.append(run(model, start, tau, steps, integrator))
        columns.append(np.concatenate([model.difference(ends[1].q, ends[0].q), ends[0].v - ends[1].v]) / (2 * eps))
    return np.array(columns).T


def off(model, state, tau, steps, integrator="midpoint", **kwargs):
    wanted = differences(model, state, tau, steps, integrator)
    return np.abs(product(model, state, tau, steps, integrator, **kwargs) - wanted).max() / np.abs(wanted).max()


@pytest.mark.parametrize("robot", ["arm7", "quadruped"])
def test_trial_P7_smooth_runs(robot):
    model = mbros.load(robot)
    state = model.random_state(np.random.default_rng(0))
    tau = model.inverse_dynamics(state, np.zeros(model.nv))
    assert off(model, state, tau, 60, previous_acceleration=True) < 1e-7
    assert off(model, state, tau, 60) > 1e-4, "which holds the acceleration of the last step"


def ball(seed):
    """A ball that falls on the ground, or rolls or slides on it, with a state and efforts of its own."""
    rng = np.random.default_rng(seed)
    b = mbros.ModelBuilder("ball", ground=True)
    body = b.add_body("ball", 1.0, (0, 0, 0), (0.004, 0.0041, 0.0042))
    b.add_joint(mbros.FloatingJoint("free", b.world, body))
    b.add_collision(body, mbros.shapes.sphere(0.1))
    model = b.build()
    state = model.default_state()
    model.joint("free").set_pose(state, p=(0, 0, 0.1 + 0.002 * (seed % 3)), rpy=rng.uniform(-1, 1, 3))
    state.v[:] = rng.normal(size=6) * (3.0, 3.0, 3.0, 0.3, 0.3, 0.05)
    return model, state, rng.normal(size=6) * 0.1


@pytest.mark.parametrize("integrator", ["midpoint", "semi_implicit_euler"])
def test_trial_P7_runs_through_contact(integrator):
    """Balls in flight, that strike, slide, come to roll and roll. Runs whose differences know two sides of a switch are left out."""
    more = {"previous_acceleration": True} if integrator == "midpoint" else {}
    found, touched = [], 0
    for seed in range(CASES):
        model, state, tau = ball(seed)
        wanted, finer = (differences(model, state, tau, 50, integrator, eps) for eps in (1e-6, 1e-7))
        size = np.abs(wanted).max()
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always", mbros.SwitchWarning)
            A = product(model, state, tau, 50, integrator, **more)
        if said or np.abs(wanted - finer).max() > 1e-5 * size:
            continue
        found.append(np.abs(A - wanted).max() / size)
        touched += bool(model.contacts(run(model, state, tau, 50, integrator)))
    assert len(found) > 0.5 * CASES and touched > 0.3 * CASES
    assert np.median(found) < 1e-5 and np.quantile(found, 0.9) < 2e-5 and max(found) < 5e-4, sorted(found)


def test_locked_joints_friction_and_many_states():
    model = mbros.load("arm7")
    states = [model.random_state(np.random.default_rng(k)) for k in range(3)]
    for state in states:
        model.joint("joint3").lock(state)
        state.friction[:2] = 0.5
        state.field("a_prev")[:] = np.where(np.arange(7) == 2, 0.0, 1.0)
    tau = np.ones((3, 7))
    A, B = model.linearize(states, tau, dt=H, previous_acceleration=True)
    assert A.shape == (3, 21, 21) and B.shape == (3, 21, 7)
    for k, state in enumerate(states):
        one, of_tau = model.linearize(state, tau[k], dt=H, previous_acceleration=True)
        assert (one == A[k]).all() and (of_tau == B[k]).all() and not one[16].any()
        columns = []
        for e in 1e-3 * np.eye(7):
            ends = []
            for step in (e, -e):
                at = state.copy()
                at.field("a_prev")[:] += step * (np.arange(7) != 2)
                sim = mbros.Simulator(model, dt=H, state=at)
                sim.step(tau[k])
                ends.append(np.concatenate([sim.state.q, sim.state.v, sim.state.field("a_prev")]))
            columns.append((ends[0] - ends[1]) / 2e-3)
        there = np.array(columns).T
        there[:, 2] = one[:, 16]                        # a of what is locked is zero, whatever one writes
        assert np.abs(there - one[:, 14:]).max() < 1e-8


def test_who_keeps_nothing_says_so():
    model = mbros.load("pendulum")
    with pytest.raises(MbrosError, match="only the midpoint step starts from it; 'rk4' keeps nothing"):
        model.linearize(model.default_state(), [0.0], dt=H, integrator="rk4", previous_acceleration=True)
    with pytest.raises(MbrosError, match="is of a step; give dt"):
        model.linearize(model.default_state(), [0.0], previous_acceleration=True)
