"""The midpoint step where motion is smooth: its order, what it does to the energy, and the momenta of free bodies.

Tolerances of the energy are twice the errors that were measured; those of the momenta are rounding: a step rounds each momentum
some 20 times.
"""
import numpy as np
import pytest
import zoo

import mbros
import mbros_core

EPS = np.finfo(float).eps
BRICK = (0.13, 0.1, 0.05)       # kg m^2 / kg, three different ones
OFF = (0.05, 0.03, -0.04)       # m, the centre of mass


def energy_error(model, seconds, dt, q=None, v=None, integrator="midpoint"):
    """Largest error of the energy over the largest kinetic energy, without damping, friction and stops."""
    state = model.default_state()
    for name in ("damping", "friction", "stop_stiffness", "stop_damping"):
        state.field(name)[:] = 0.0
    state.q[:] = state.q if q is None else q
    state.v[:] = 0.0 if v is None else v
    plant = mbros_core.Plant(model, state, dt, integrator)
    at, _ = plant.layout["energy"]
    energies = [plant.observe()[at:at + 2]]
    for _ in range(round(seconds / dt) // 10):
        plant.steps(np.zeros(model.nv), 10)
        energies.append(plant.observe()[at:at + 2])
    kinetic, total = np.array(energies)[:, 0], np.array(energies).sum(1)
    return np.abs(total - total[0]).max() / max(kinetic[0], total[0] - (total - kinetic).min())


def one_body(joint, inertia=BRICK, com=OFF, gravity=(0, 0, 0)):
    b = mbros.ModelBuilder("body", gravity=gravity)
    b.add_joint(joint("joint", b.world, b.add_body("body", 1.0, com, inertia)))
    return b.build()


def top():
    model = one_body(mbros.BallJoint, (0.002, 0.002, 0.004), (0, 0, 0.2), (0, 0, -9.81))
    return model, [np.cos(0.25), np.sin(0.25), 0.0, 0.0], [0.0, 0.0, 150.0]


def brick(speed, com=(0, 0, 0)):
    v = speed * np.array([0.1, 1.0, 0.1]) / np.linalg.norm([0.1, 1.0, 0.1])
    inertia = tuple((a**2 + b**2) / 12 for a, b in ((0.2, 0.3), (0.1, 0.3), (0.1, 0.2)))
    return one_body(mbros.FloatingJoint, inertia, com), None, [*v, 1.0, 2.0, 3.0]


def tumbling():
    rng = np.random.default_rng(3)
    model = mbros.load("quadruped")
    return model, None, 2.0 * rng.normal(size=model.nv)


@pytest.mark.parametrize("case, bound", [
    (lambda: (mbros.load("double_pendulum"), [1.0, 0.0], None), 1e-5),
    (tumbling, 2e-6),
    (lambda: brick(20.0), 5e-5),
    (top, 1.2e-4),
], ids=["double pendulum", "quadruped", "brick", "top"])
def test_the_energy_is_kept_and_half_the_step_errs_a_quarter(case, bound):
    model, q, v = case()
    whole, half = (energy_error(model, 10.0, dt, q, v) for dt in (1e-3, 5e-4))
    assert whole < bound
    assert whole > 2.0 * half if case is tumbling else 3.5 < whole / half < 4.6


@pytest.mark.parametrize("joint", [mbros.FloatingJoint, mbros.PlanarJoint, mbros.FloatingRpyJoint], ids=lambda j: j.__name__)
def test_a_free_body_keeps_its_momenta_to_rounding(joint):
    model = one_body(joint)
    state = model.default_state()
    state.v[:] = {3: [1.0, 2.0, 20.0]}.get(model.nv, [1.5, 2.5, -2.0, 1.0, 2.0, 3.0] if joint is mbros.FloatingRpyJoint
                                           else [2.0, 19.8, 2.0, 1.0, 2.0, 3.0])
    seconds = 0.3 if joint is mbros.FloatingRpyJoint else 10.0      # before it comes to its gimbal lock
    start, l = model.centroidal_momentum(state).copy(), 2.0
    com = model.center_of_mass(state).copy()
    mbros_core.Plant(model, state, 1e-3, "midpoint").steps(np.zeros(model.nv), round(seconds * 1e3))
    drift = np.abs(model.centroidal_momentum(state) - start)
    steps = seconds * 1e3
    assert drift[:3].max() < 20 * EPS * l * steps and drift[3:].max() < 20 * EPS * 40.0 * steps     # 20 rad/s, arms of metres at the end
    assert drift.max() / np.abs(start).max() / seconds < 1e-10
    # and the centre of mass has gone straight on
    assert model.center_of_mass(state) == pytest.approx(com + seconds * start[3:], rel=1e-11)


@pytest.mark.parametrize("name, bound", [("quadruped", 1e-4), ("humanoid", 4e-4)])
def test_a_free_robot_keeps_its_momenta_to_second_order(name, bound):
    """All joints at some rad/s, for a second; why no better is in docs/integrators.md."""
    model = mbros.load(name)
    state = model.default_state()
    for field in ("damping", "friction", "stop_stiffness", "stop_damping", "gravity"):
        state.field(field)[:] = 0.0
    state.v[:] = 2.0 * np.random.default_rng(3).normal(size=model.nv)
    start, lost = model.centroidal_momentum(state).copy(), []
    for dt in (1e-3, 5e-4):
        end = state.copy()
        mbros_core.Plant(model, end, dt, "midpoint").steps(np.zeros(model.nv), round(1.0 / dt))
        change = np.abs(model.centroidal_momentum(end) - start)
        lost.append(max(change[:3].max() / np.linalg.norm(start[:3]), change[3:].max() / np.linalg.norm(start[3:])))
    assert lost[0] < bound and 3.5 < lost[0] / lost[1] < 4.6


def test_a_top_keeps_its_momentum_about_the_vertical():
    model, q, v = top()
    state = model.default_state()
    state.q[:], state.v[:] = q, v

    def vertical():
        w, x, y, z = state.q
        up = [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]
        return up @ (np.array([0.042, 0.042, 0.004]) * state.v)         # about the tip

    start = vertical()
    mbros_core.Plant(model, state, 1e-3, "midpoint").steps(np.zeros(3), 10000)
    assert abs(vertical() - start) < 1e-10 * abs(start)


def test_a_thrown_body_flies_its_parabola():
    model = one_body(mbros.FloatingJoint, gravity=(0, 0, -9.81))
    state = model.default_state()
    state.v[:] = [3.0, -20.0, 5.0, 1.0, 2.0, 3.0]
    p, u = model.center_of_mass(state).copy(), model.centroidal_momentum(state)[3:].copy()
    mbros_core.Plant(model, state, 1e-3, "midpoint").steps(np.zeros(6), 1000)
    assert model.center_of_mass(state) == pytest.approx(p + u + [0, 0, -9.81 / 2], rel=1e-11)


def test_bodies_without_inertia_and_rods_can_float():
    """The base of many files has no mass, and what it carries moves it; a rod's inertia has no inverse."""
    for inertia, mass in (((0.0, 0.0, 0.0), 0.0), ((1e-2, 1e-2, 1e-8), 1.0)):
        b = mbros.ModelBuilder("light base", gravity=(0, 0, 0))
        base = b.add_body("base", mass, (0, 0, 0), inertia)
        b.add_joint(mbros.FloatingJoint("free", b.world, base))
        for name, axis in (("left", (1, 0, 0)), ("right", (0, 1, 0))):
            b.add_joint(mbros.RevoluteJoint(name, base, b.add_body(f"{name} load", 1.0, (0.1, 0.0, 0.2), (0.02, 0.03, 0.04)), axis=axis))
        model = b.build()
        error = [energy_error(model, 1.0, dt, v=[1.0, 2.0, 3.0, 1.0, 0.0, 0.0, 2.0, -1.0]) for dt in (1e-3, 5e-4)]
        assert error[0] < 1e-4 and error[0] > 3.0 * error[1]


@pytest.mark.parametrize("name", [name for name in zoo.NAMES if name != "rough"])       # whose friction and stops are implicit
def test_every_joint_is_stepped_to_second_order(name, rng):
    """Robots of every kind of joint, followers and loops of ugly numbers, with damping and efforts, against rk4 at a tenth of the step."""
    spec = zoo.spec(name)
    model = mbros_core.Model(spec)
    q, v, tau = zoo.random_q(spec, rng, 0.3), 0.5 * rng.normal(size=model.nv), 0.5 * rng.normal(size=model.nv)

    def end(integrator, dt):
        plant = mbros_core.Plant(model, dt=dt, integrator=integrator)
        plant.reset(q, v)
        plant.steps(tau, round(0.02 / dt))
        return np.concatenate([model.difference(q, plant.state.q), plant.state.v])

    exact = end("rk4", 2.5e-5)
    errors = [np.abs(end("midpoint", dt) - exact).max() for dt in (1e-3, 5e-4, 2.5e-4)]
    assert errors[2] < 1e-11 * np.abs(exact).max() or (errors[0] > 3.0 * errors[1] and errors[1] > 3.3 * errors[2])
