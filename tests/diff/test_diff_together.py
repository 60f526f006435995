"""Derivatives of steps in which contact, a loop and a stiff force element meet, against differences."""
import warnings

import numpy as np
import pytest

import mbros

E, H = 1e-6, 1e-3


def robot(loop, ground, spring):
    """A chain of three links on a base that rests on the ground or turns about a pin; a rod closes it, a stiff spring braces it."""
    b = mbros.ModelBuilder("together")
    base = b.add_body("base", mass=2.0, com=(0.01, 0.02, 0), inertia=(0.05, 0.06, 0.07))
    b.add_joint(mbros.FloatingJoint("free", b.world, base) if ground else mbros.RevoluteJoint("free", b.world, base, axis=(0, 1, 0)))
    bodies = [base]
    for k in range(3):
        link = b.add_body(f"l{k}", mass=0.7 + 0.1 * k, com=(0.15, 0, 0.01), inertia=(0.01, 0.02, 0.02))
        b.add_joint(mbros.RevoluteJoint(f"j{k}", bodies[-1], link, axis=(0, 1, 0), p=(0.3, 0, 0)))
        bodies.append(link)
    if loop:
        ends = b.add_frame("fa", base, p=(0, 0, 0.2)), b.add_frame("fb", bodies[3], p=(0.3, 0, 0))
        b.add_constraint(mbros.DistanceConstraint("rod", *ends, 0.9))
    if spring:
        b.add_force_element(mbros.LinearSpringDamper(b.add_frame("sa", bodies[1], p=(0.1, 0, 0.1)),
                                                     b.add_frame("sb", bodies[3], p=(0.1, 0, -0.1)), 0.5, 3e6, 100.0, name="brace"))
    if ground:
        b.add_collision(base, mbros.shapes.sphere(0.1), friction=0.6, stiffness=1e4, relaxation_time=0.02)
        b.add_ground()
    return b.build()


def in_motion(model, rng):
    state = model.default_state()
    state.q[-3:] = 0.6, 0.7, 0.8
    if model.constraints:
        state = model.assemble(state)
    for element in model.force_elements:
        length = np.linalg.norm(model.pose(state, "sa").p - model.pose(state, "sb").p)
        model.set_parameter(state, f"force.{element.name}.free_length", length)
    state.v[:] = 0.2 * rng.normal(size=model.nv)
    sim = mbros.Simulator(model, H, state=state)
    sim.plant.steps(np.zeros(model.nv), 3)
    return sim.state


def differences(model, state):
    """(2 nv, 2 nv) of (dq, dv) after a step by those before it."""
    sim, n, ends = mbros.Simulator(model, H), model.nv, []
    for d in np.vstack([np.eye(2 * n), -np.eye(2 * n)]) * E:
        sim.state.assign(state)
        sim.state.q[:] = model.integrate(state.q, d[:n])
        sim.state.v[:] = state.v + d[n:]
        sim.plant.step()
        ends.append((sim.state.q.copy(), sim.state.v.copy()))
    pairs = zip(ends[:2 * n], ends[2 * n:])
    return np.array([np.concatenate([model.difference(qm, qp), vp - vm]) / (2 * E) for (qp, vp), (qm, vm) in pairs]).T


@pytest.mark.parametrize("loop, ground, spring", [(0, 0, 1), (0, 1, 1), (1, 0, 1), (1, 1, 0), (1, 1, 1)])
def test_a_step_by_its_state(loop, ground, spring):
    model, rng, seen = robot(loop, ground, spring), np.random.default_rng(1), 0
    for _ in range(6):
        state = in_motion(model, rng)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            A, _ = model.linearize(state, np.zeros(model.nv), dt=H)
        if any(issubclass(w.category, mbros.SwitchWarning) for w in told):
            continue
        D, seen = differences(model, state), seen + 1
        assert np.abs(A - D).max() < 1e-6 * np.abs(D).max()
        assert all(element.implicit_share(state, H) == 1.0 for element in model.force_elements)
    assert seen >= 2
