"""Random scenes with contact: finite, repeatable, without a gain of energy, with the momenta that a free system keeps.

MBROS_CASES=1000 draws that many scenes for each of them.
"""
import copy
import os

import numpy as np
from contact_scenes import scenes
from hypothesis import assume, given, settings
from mbros_core.constraints import touches
from tolerance import assert_close

import mbros

CASES = int(os.environ.get("MBROS_CASES", "40"))
CHECK = settings(max_examples=CASES, deadline=None, derandomize=True, database=None)


def energy(sim):
    return sim.model.kinetic_energy(sim.state) + sim.model.potential_energy(sim.state)


def gain(drawn, dt, seconds=0.4):
    """The most that the energy rose between two moments without contact, over the largest kinetic energy."""
    sim = drawn.simulator(dt)
    free, most, largest = energy(sim), 0.0, sim.model.kinetic_energy(sim.state)
    while sim.time < seconds:
        sim.step()
        largest = max(largest, sim.model.kinetic_energy(sim.state))
        if not sim.model.contacts(sim.state):
            now = energy(sim)
            most, free = max(most, now - free), now
    return most / largest


def gentle(sim):
    """Whether the bodies start with little energy in what they touch."""
    rows = sim.model._contact_rows(sim.state)
    return (0.5 * rows[:, touches.STIFFNESS] * np.maximum(rows[:, touches.DEPTH], 0.0) ** 2).sum() < 5.0


def exact(drawn):
    """Whether contact points are known to rounding: those of cylinders are to 1e-7, and which feature made one may hang on it. A point of
    another feature is a new one."""
    return "cylinder" not in drawn.solids


def momenta(sim):
    """Linear and angular about the world's origin, and the sum of their magnitudes over the bodies."""
    total, size = np.zeros(6), np.zeros(2)
    for k in range(len(sim.model.joints)):
        body = sim.model.body(f"body{k}")
        X, V = sim.model.pose(sim.state, body), sim.model.velocity(sim.state, body)
        arm = X.R @ body.com
        p = body.mass * (V.linear + np.cross(V.angular, arm))
        spin, orbit = X.R @ body.inertia @ X.R.T @ V.angular, np.cross(X.p + arm, p)
        total += [*p, *(spin + orbit)]
        size += np.linalg.norm(p), np.linalg.norm(spin) + np.linalg.norm(orbit)
    return total, size


@CHECK
@given(scenes())
def test_it_stays_finite_and_repeats_to_the_bit(drawn):
    one = drawn.simulator()
    assume(gentle(one))
    other = copy.deepcopy(one)
    for sim in (one, other):
        sim.advance_to(0.3)
    assert np.isfinite(one.state.q).all() and np.isfinite(one.state.v).all()
    assert one.state.q.tobytes() == other.state.q.tobytes() and one.state.v.tobytes() == other.state.v.tobytes()
    assert one.state.field("contact_memory").tobytes() == other.state.field("contact_memory").tobytes()
    head = one.state.field("contact_memory")[0]
    assert head[touches.UNSOLVED] == 0.0 and head[touches.LOST] == 0.0
    for c in one.model.contacts(one.state):
        assert np.isfinite(c.force).all() and c.normal_force >= 0.0 and abs(np.linalg.norm(c.normal) - 1.0) < 1e-12


@CHECK
@given(scenes())
def test_contact_gives_no_energy(drawn):
    """What is gained is the step's own error, of second order at least: gone at a quarter of the step."""
    assume(gentle(drawn.simulator()))
    assert gain(drawn, 1e-3) < 1e-3 or gain(drawn, 2.5e-4) < 1e-3


@CHECK
@given(scenes(grounds=("none",), gravity=False, free=True))
def test_free_bodies_that_meet_keep_their_momenta(drawn):
    """To what the solver of a step leaves, 1e-8 of the momentum, in the steps in which they touch."""
    sim = drawn.simulator()
    assume(gentle(sim))
    start, size = momenta(sim)
    sim.advance_to(0.5)
    now, later = momenta(sim)
    assert np.abs((now - start)[:3]).max() < 1e-8 * max(size[0], later[0])
    assert np.abs((now - start)[3:]).max() < 1e-8 * max(size[1], later[1])


@CHECK
@given(scenes())
def test_lanes_do_what_one_robot_does(drawn):
    """Over a few steps: what rounding differs by grows in collisions."""
    sim = drawn.simulator()
    assume(exact(drawn) and gentle(sim))
    model, n, steps = sim.model, 11, 30
    q0, v0 = np.tile(sim.state.q, (n, 1)), np.tile(sim.state.v, (n, 1)) * np.linspace(0.5, 1.5, n)[:, None]
    q, v = mbros.rollout(model, q0, v0, np.zeros((n, steps, model.nv)), dt=1e-3)
    for k in range(n):
        one = mbros.Simulator(model, 1e-3, state=model.default_state())
        one.state.set_q(q0[k])
        one.state.set_v(v0[k])
        for _ in range(steps):
            one.step()
        assert_close(q[k, -1], one.state.q, 1e-7, scale=1.0)


@CHECK
@given(scenes(most=5))
def test_the_order_of_bodies_does_not_matter(drawn):
    n = len(drawn.parents)
    order = [k for k in range(n - 1, -1, -1) if drawn.parents[k] < 0]
    order += [k for k in range(n) if drawn.parents[k] >= 0]
    one, other = drawn.simulator(), drawn.simulator(order=order)
    assume(exact(drawn) and gentle(one))
    for sim in (one, other):
        sim.advance_to(0.03)
    for k in range(n):
        a, b = (sim.model.pose(sim.state, f"body{k}") for sim in (one, other))
        assert_close(b.p, a.p, 1e-9, scale=1.0)
        assert_close(b.R, a.R, 1e-9, scale=1.0)
