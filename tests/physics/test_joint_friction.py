"""Coulomb friction of joints in a step: what friction can hold keeps every bit, what it cannot slides against all of it.

The oracle is the optimality of v+ = argmin 1/2 (v - v*)^T M (v - v*) + h sum f |v|, from M and v* by other routines: with
F = (M (v+ - v*)) / h, |F_i| <= f_i everywhere, and F_i = -f_i sign(v+_i) where v+_i is not zero. The problem is convex, so this is all.
"""
import numpy as np
import pytest

import mbros
from mbros_core.constraints import touches

INTEGRATORS = ("midpoint", "semi_implicit_euler")
H = 1e-3


def hinge(J=0.1, f=0.5):
    b = mbros.ModelBuilder("hinge", gravity=(0, 0, 0))
    b.add_joint(mbros.RevoluteJoint("turn", b.world, b.add_body("disc", 1.0, (0, 0, 0), (J,) * 3), friction=f))
    return b.build()


def hanging(name, part, seed=0):
    """(model, state) of a robot somewhere, whose friction could bear 1 / part of its weight."""
    model = mbros.load(name, base="fixed") if name == "quadruped" else mbros.load(name)
    state = model.random_state(np.random.default_rng(seed))
    state.v[:] = 0.0
    state.friction[:] = np.abs(model.gravity_torques(state)) / part + 0.01
    return model, state


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_trial_P9_half_the_friction_holds_a_hinge_to_the_bit(integrator):
    sim = mbros.Simulator(hinge(), dt=H, integrator=integrator)
    sim.state.q[:] = 0.3
    for _ in range(2000):
        sim.step([0.25])
    assert sim.state.q[0] == 0.3 and sim.state.v[0] == 0.0
    for _ in range(100):
        sim.step([0.8])
    assert sim.state.v[0] == pytest.approx(0.1 * (0.8 - 0.5) / 0.1, rel=1e-12), "what is beyond it accelerates"


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("name", ["arm7", "quadruped", "humanoid"])
def test_trial_P9_a_robot_hangs_on_its_joints(name, integrator):
    model, state = hanging(name, 0.5)
    if model.nv > 30:                                       # its base floats: held as the others are
        state.friction[:6] = 2.0 * np.abs(model.gravity_torques(state)[:6]) + 1.0
    sim = mbros.Simulator(model, dt=H, integrator=integrator, state=state)
    q = np.array(sim.state.q)
    for _ in range(500):
        sim.step(np.zeros(model.nv))
    assert np.abs(sim.state.q - q).max() <= 1e-15 and not sim.state.v.any()


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("J, f, v", [(0.1, 0.5, 1.0), (10.0, 0.3, 0.002), (1e-4, 2.0, 3.0)])
def test_a_hinge_stops_where_work_ends(J, f, v, integrator):
    """At J v / f, having gone J v^2 / 2 f; within the step in which it stops."""
    sim = mbros.Simulator(hinge(J, f), dt=H, integrator=integrator)
    sim.state.v[:] = v
    steps = 0
    while sim.state.v[0] != 0.0:
        sim.step([0.0])
        steps += 1
        assert steps <= 1 + J * v / f / H, "it does not stop"
    assert steps == pytest.approx(J * v / f / H, abs=1.0)
    assert sim.state.q[0] == pytest.approx(0.5 * J * v * v / f, abs=v * H)


def random_step(robot, integrator, rng):
    """(f, v+, (M (v+ - v*)) / h) of a step of a robot with friction; some of its joints stand, others are slow enough to stop."""
    model = mbros.load(robot, base="fixed")
    state = model.random_state(rng)
    for name in ("damping", "stop_stiffness", "stop_damping", "friction"):
        state.field(name)[:] = 0.0
    n = model.nv
    state.v[:] = rng.normal(size=n) * 10.0 ** rng.uniform(-4, 0, n) * (rng.random(n) < 0.7)
    tau = model.inverse_dynamics(state, np.zeros(n)) + rng.normal(size=n) * 3.0
    friction = np.abs(rng.normal(size=n)) * 3.0 * (rng.random(n) < 0.8)
    at = state.copy()
    if integrator == "midpoint":
        at.q[:] = model.integrate(state.q, state.v * (0.5 * H))
    free = state.v + H * model.forward_dynamics(at, tau)
    state.friction[:] = friction
    sim = mbros.Simulator(model, dt=H, integrator=integrator, state=state)
    sim.step(tau)
    return friction, np.array(sim.state.v), model.mass_matrix(at) @ (sim.state.v - free) / H


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("robot", ["arm7", "quadruped", "humanoid"])
def test_steps_are_the_optimum_of_the_convex_problem(robot, integrator):
    rng = np.random.default_rng(5)
    holds = slides = 0
    for _ in range(60):
        friction, v, carried = random_step(robot, integrator, rng)
        scale = 1e-7 * (1.0 + np.abs(carried).max())
        assert (np.abs(carried) <= friction + scale).all()
        moves = (v != 0.0) & (friction > 0.0)
        assert np.abs(carried + friction * np.sign(v))[moves].max(initial=0.0) <= scale
        holds, slides = holds + (v == 0.0).sum(), slides + moves.sum()
    assert holds > 50 and slides > 50


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_loop_is_held_by_the_friction_of_one_joint(integrator):
    model = mbros.load("four_bar")
    state = model.assemble(model.default_state())
    state.v[:] = 0.0
    k = int(np.argmax(np.abs(model.gravity_torques(state))))
    state.friction[:] = 0.0
    state.friction[k] = 4.0 * np.abs(model.gravity_torques(state)).sum()
    sim = mbros.Simulator(model, dt=H, integrator=integrator, state=state)
    for _ in range(500):
        sim.step(np.zeros(model.nv))
    q = np.array(sim.state.q)
    for _ in range(2000):
        sim.step(np.zeros(model.nv))
    assert np.abs(sim.state.v).max() < 1e-9 and np.abs(sim.state.q - q).max() < 1e-10 and sim.state.v[k] == 0.0


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_friction_takes_energy_and_no_momentum(integrator):
    """A robot in free flight whose joints rub: it ends stiff, with the momentum it had."""
    model = mbros.load("quadruped")
    state = model.default_state()
    for name in ("gravity", "damping", "stop_stiffness", "stop_damping"):
        state.field(name)[:] = 0.0
    state.friction[6:] = 0.4
    state.v[:] = np.random.default_rng(1).normal(size=model.nv)
    sim = mbros.Simulator(model, dt=2e-4, integrator=integrator, state=state)
    before, energy = model.centroidal_momentum(state), [model.kinetic_energy(state)]
    for _ in range(5000):
        sim.step(np.zeros(model.nv))
        energy.append(model.kinetic_energy(sim.state))
    assert not sim.state.v[6:].any(), "all joints hold"
    assert np.diff(energy).max() < (1e-6 if integrator == "midpoint" else 1e-3) * energy[0]
    assert np.abs(model.centroidal_momentum(sim.state) - before).max() < 2e-3 * np.abs(before).max()


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_joints_and_contacts_hold_together(integrator):
    """A quadruped stands on its joints' friction alone, and its feet keep Coulomb's law meanwhile."""
    model = mbros.load("quadruped", ground=True)
    state = model.default_state()
    q = np.array(state.q)
    q[2], q[7:] = 0.36, np.tile((0.0, 0.72, -1.44), 4)
    state.set_q(q)
    state.friction[6:] = 30.0
    sim = mbros.Simulator(model, dt=H, integrator=integrator, state=state)
    for _ in range(2000):
        sim.step(np.zeros(model.nv))
    assert not sim.state.v[6:].any() and np.abs(sim.state.v).max() < 1e-9
    assert sum(c.normal_force for c in model.contacts(sim.state)) == pytest.approx(9.81 * model.total_mass(state), rel=1e-3)


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("robot", ["arm7", "quadruped"])
def test_derivatives_of_steps_that_hold_and_slide(robot, integrator):
    model = mbros.load(robot, base="fixed")
    state = model.random_state(np.random.default_rng(3))
    n = model.nv
    state.v[:] = np.where(np.arange(n) % 3 == 0, 0.0, np.where(np.arange(n) % 3 == 1, 1e-5, 0.7))
    tau = model.inverse_dynamics(state, np.zeros(n))
    state.friction[:] = 2.0
    A, B = model.linearize(state, tau, dt=H, integrator=integrator)

    def after(dq, dv, dtau):
        at = state.copy()
        at.q[:], at.v[:] = state.q + dq, state.v + dv
        sim = mbros.Simulator(model, dt=H, integrator=integrator, state=at)
        sim.step(tau + dtau)
        return np.concatenate([sim.state.q, sim.state.v])

    zero, step = np.zeros(n), 1e-6
    found = [(after(*args(step * e)) - after(*args(-step * e))) / (2 * step)
             for args in (lambda e: (e, zero, zero), lambda e: (zero, e, zero), lambda e: (zero, zero, e)) for e in np.eye(n)]
    found = np.array(found).T
    assert np.abs(found - np.hstack([A, B])).max() < 1e-6 * np.abs(found).max()
    held = after(zero, zero, zero)[n:] == 0.0
    assert held.sum() >= 2 and not A[n:][held].any() and not B[n:][held].any(), "what holds does not move, whatever changes a little"


def test_a_broken_gear_holds_as_its_friction_says():
    """A fault that jams a brake: friction that is added while it runs holds at once."""
    model = mbros.load("arm7")
    sim = mbros.Simulator(model, dt=H)
    sim.inject(mbros.Fault("jam", "jammed_brake", joint="joint2", effort=400.0, at=0.2))
    sim.state.q[1] = 0.8
    sim.advance_to(0.5)
    q = sim.state.q[1]
    sim.advance_to(1.0)
    assert sim.state.v[1] == 0.0 and sim.state.q[1] == q


def test_uneven_chains_are_at_the_optimum():
    """A light arm with a heavy load: what is wrong must not change all at once for ever."""
    b = mbros.ModelBuilder("chain", gravity=(0, 0, 0))
    parent = b.world
    for k, mass in enumerate((0.12566, 0.24298, 92.470)):
        body = b.add_body(f"b{k}", mass, (0.3, 0, 0), (0.02 * mass,) * 3)
        b.add_joint(mbros.RevoluteJoint(f"j{k}", parent, body, p=(0.5 if k else 0, 0, 0), friction=2.0))
        parent = body
    model = b.build()
    state = model.default_state()
    state.q[:], state.v[:] = (-2.25527, 0.08386, 1.05897), (0.02, -0.02, -0.02)
    sim = mbros.Simulator(model, dt=H, integrator="semi_implicit_euler", state=state)
    sim.step([1.0, 0.0, 1.0])
    assert sim.state.v == pytest.approx([0.0100725, 0.0, -0.0308869], abs=1e-6), "of all 27 sets the only one that is an optimum"


@pytest.mark.parametrize("friction", [0.3, 1.0, 3.0])
def test_a_loop_whose_joints_all_hold_carries_no_more_than_they_can(friction):
    """Left off by what a step leaves of its gap, which friction does not let close: no constraint may press with all that it has."""
    for seed in range(6):
        model = mbros.load("four_bar")
        state = model.default_state()
        state.friction[:] = friction
        sim = mbros.Simulator(model, dt=H, state=state)
        for _ in range(50):
            sim.step([10.0 * np.random.default_rng(seed).uniform(0.5, 1.5), 0.0, 0.0])
        rests = 0
        while rests < 50 and sim.time < 6.0:
            sim.step(np.zeros(3))
            rests = rests + 1 if np.abs(sim.state.v).max() < 1e-9 else 0
        assert np.abs(sim.state.v).max() < 1e-9 and np.abs(model.constraints[0].effort(sim.state)).max() < 30.0 + 50.0 * friction
        assert sim.state.field("contact_memory")[0, touches.UNSOLVED] == 0
