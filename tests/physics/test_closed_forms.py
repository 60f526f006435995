"""Motions that have a formula."""
import numpy as np
import pytest
from physics_rigs import HANGING, G, Run, agm, body, crossings, double_pendulum, free_body, pendulum, placed, point, rig, slider
from tolerance import EPS
from zoo import Body

import mbros_core


@pytest.mark.parametrize("amplitude", [1e-3, 0.5, 2.0, 3.0])
def test_pendulum_period(amplitude):
    """T = 2 pi sqrt(l/g) / agm(1, cos(a/2)) at any amplitude (Gauss); small ones swing with 2 pi sqrt(l/g)."""
    length, dt = 0.8, 1e-3
    period = 2 * np.pi * np.sqrt(length / G) / agm(1.0, np.cos(amplitude / 2))
    run = Run(pendulum(length=length), dt, q=[amplitude])
    t, q, v = run.record(int(1.6 * period / dt))
    down, up, _ = crossings(t, q[:, 0], v[:, 0])[:3]
    # RK4 and the cubic through a step both err with the fourth power of the step
    rate = np.sqrt(G / length)
    assert abs(up - down - period / 2) <= 20 * (rate * dt) ** 4 * period
    assert abs(down - period / 4) <= 20 * (rate * dt) ** 4 * period


def test_physical_pendulum_and_parallel_axes():
    """A rod about its end: the same as a point mass at 2/3 of its length (Huygens)."""
    m, l = 2.0, 1.2
    rod = body(m, [l / 2, 0, 0], np.diag([1e-3, m * l * l / 3, m * l * l / 3]))
    run = Run(rig([Body("revolute", 0)], [placed(HANGING)], [rod]), 1e-3, q=[1.0])
    same = Run(pendulum(mass=m, length=2 * l / 3), 1e-3, q=[1.0])
    assert np.abs(run.record(2000)[1] - same.record(2000)[1]).max() <= 1e4 * EPS


def test_double_pendulum_accelerations():
    """Unit masses and rods, angles from the vertical a, b = a + q2: the textbook's two equations."""
    run = Run(double_pendulum(), 1e-3)
    q, v = np.array([0.7, -1.9]), np.array([1.1, 0.4])
    run.state.q[:], run.state.v[:] = q, v
    vdot = run.model.forward_dynamics(run.state, np.zeros(2))
    a, b, wa, wb = q[0], q[0] + q[1], v[0], v[0] + v[1]
    M = np.array([[2, np.cos(a - b)], [np.cos(a - b), 1]])
    force = [-np.sin(a - b) * wb ** 2 - 2 * G * np.sin(a), np.sin(a - b) * wa ** 2 - G * np.sin(b)]
    expected = np.linalg.solve(M, force)
    assert np.abs([vdot[0] - expected[0], vdot[0] + vdot[1] - expected[1]]).max() <= 1e3 * EPS * np.abs(expected).max()


def test_double_pendulum_keeps_its_energy():
    """10 s at 1 ms with RK4: the drift, relative to the energy above the lowest point, stays under 5e-8."""
    run = Run(double_pendulum(), 1e-3, q=[2.0, 0.3])
    lowest = -3 * G
    _, q, v = run.record(10_000)
    E = run.energy(q, v) - lowest
    assert np.abs(E / E[0] - 1).max() < 5e-8


def test_tumbling_body_keeps_energy_and_momentum():
    """A torque-free body spun about its middle axis turns over and over (Dzhanibekov): T, L and the period hold."""
    I, dt = np.array([0.010, 0.020, 0.028]), 1e-3
    w0 = np.array([0.02, 8.0, 0.03])
    run = Run(free_body(body(1.7, [0, 0, 0], np.diag(I))), dt, v=[*w0, 0, 0, 0])
    t, q, v = run.record(12_000)
    E = run.energy(q, v)
    assert np.abs(E / E[0] - 1).max() < 1e-9
    L = np.array([momentum(run.model, *row) for row in zip(q[::100], v[::100])])
    assert np.abs(L - L[0]).max() < 1e-8 * np.linalg.norm(L[0])
    assert (v[:, 1].min() < -7.9) and (v[:, 1].max() > 7.9)            # it did turn over
    # Euler's equations in Jacobi's elliptic functions (Landau, Lifshitz, Mechanics, section 37)
    E2, L2 = I @ w0 ** 2, (I * w0) @ (I * w0)
    (a, b, c) = I if L2 > E2 * I[1] else I[::-1]
    n = np.sqrt((c - b) * (L2 - E2 * a) / (a * b * c))
    k2 = (b - a) * (E2 * c - L2) / ((c - b) * (L2 - E2 * a))
    half_turn = np.pi / agm(1.0, np.sqrt(1 - k2)) / n
    wdot = (I[2] - I[0]) / I[1] * v[:, 2] * v[:, 0]
    flips = np.diff(crossings(t, v[:, 1], wdot))
    assert len(flips) >= 3
    assert np.abs(flips / half_turn - 1).max() < 1e-6


def momentum(model, q, v):
    """Angular momentum about the centre of mass, world axes."""
    state = model.default_state()
    state.q[:], state.v[:] = q, v
    return model.centroidal_momentum(state)[:3]


@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "rk4"])
def test_quaternions_stay_unit_for_a_million_steps(integrator):
    inertia = body(1.7, [0.1, -0.2, 0.05], np.diag([0.110, 0.120, 0.128]))
    run = Run(free_body(inertia), 1e-3, integrator, v=[0.3, -0.5, 0.4, 0.2, 0.1, -0.3])
    tau = np.zeros(6)
    for _ in range(100):
        run.plant.steps(tau, 10_000)
        assert abs(np.linalg.norm(run.state.q[3:]) - 1) <= 1e-15
    assert run.state.field("time")[0] == pytest.approx(1000.0, rel=1e-9)


def test_projectile_spinning_about_its_mass_centre():
    """The centre of mass flies on a parabola, whatever the body does; RK4 of a body that does not spin is exact."""
    inertia = body(0.7, [0.1, -0.05, 0.2], np.diag([0.2, 0.15, 0.12]))
    g = np.array([0.3, -0.2, -G])
    for spin, bound in ((0.0, 1e-13), (6.0, 1e-8)):
        run = Run(free_body(inertia, g), 1e-3, v=[spin, -spin, spin / 2, 1.0, 2.0, 8.0])
        c0, v0 = com(run, run.state.q, run.state.v)
        t, q, v = run.record(1000)
        c, vc = com(run, q[-1], v[-1])
        assert np.abs(c - (c0 + v0 * t[-1] + g * t[-1] ** 2 / 2)).max() < bound
        assert np.abs(vc - (v0 + g * t[-1])).max() < bound * 10


def test_a_spinning_ball_flies_straight():
    """Semi-implicit Euler too: without gravity the centre of mass keeps its velocity, however the body spins."""
    ball = body(1.7, [0, 0, 0], np.diag([0.05, 0.055, 0.06]))
    run = Run(free_body(ball), 1e-3, "semi_implicit_euler", v=[1.0, -5.0, 3.0, 0.0, 0.0, 8.0])
    run.plant.steps(np.zeros(6), 10_000)
    c, v = com(run, run.state.q, run.state.v)
    assert np.abs(v - [0, 0, 8.0]).max() < 1e-10
    assert np.abs(c - [0, 0, 80.0]).max() < 1e-9


def com(run, q, v):
    """Position and velocity of the centre of mass."""
    state = run.model.default_state()
    state.q[:], state.v[:] = q, v
    return run.model.center_of_mass(state), run.model.com_jacobian(state) @ state.v


def test_damped_oscillator():
    """A mass between two stops that meet is a spring: x'' = -(k x + d v) / m, underdamped."""
    m, k, d, dt = 2.0, 500.0, 3.0, 1e-4
    spec = slider(m, damping=d, stop_stiffness=k, q_lower=0.0, q_upper=0.0)
    t, q, v = Run(spec, dt, q=[0.1]).record(10_000)
    decay, wd = d / (2 * m), np.sqrt(k / m - (d / (2 * m)) ** 2)
    expected = 0.1 * np.exp(-decay * t) * (np.cos(wd * t) + decay / wd * np.sin(wd * t))
    # each time the mass crosses from one stop to the other one step mixes two laws: one order less
    assert np.abs(q[:, 0] - expected).max() < 1e-9


def test_viscous_damping():
    """v = v0 exp(-d t / m), and under gravity the terminal velocity m g / d."""
    m, d = 2.0, 5.0
    t, _, v = Run(slider(m, damping=d), 1e-3, v=[3.0]).record(2000)
    assert np.abs(v[:, 0] - 3.0 * np.exp(-d * t / m)).max() < 1e-11
    falling = Run(slider(m, gravity=(0, 0, -G), damping=d), 1e-2, "semi_implicit_euler")
    falling.plant.steps(np.zeros(1), 5000)
    assert falling.state.v[0] == pytest.approx(-m * G / d, rel=1e-12)


@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "rk4"])
def test_friction_stops_what_moves(integrator):
    """Distance m v0^2 / (2 f), time m v0 / f; then it stays."""
    m, f, v0 = 2.0, 4.0, 3.0
    run = Run(slider(m, friction=f), 1e-4, integrator, v=[v0])
    t, q, v = run.record(20_000)
    speed = 1e-3                                   # below this the law is smooth instead of Coulomb's
    assert abs(q[-1, 0] - m * v0 ** 2 / (2 * f)) < 4 * speed * v0
    still = t > m * v0 / f + 20 * m * speed / f
    assert np.abs(v[still, 0]).max() < 1e-6


@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "rk4"])
def test_friction_holds_a_smaller_load_and_not_a_larger_one(integrator):
    """Half the friction: it stays, and where the law is smooth it creeps with v_s r / sqrt(1 - r^2), r = 1/2, and no more. Twice: it
    accelerates with the rest."""
    m, f, creep = 2.0, 4.0, 1e-3 * 0.5 / np.sqrt(0.75) if integrator == "rk4" else 0.0
    held = Run(slider(m, friction=f), 1e-4, integrator)
    held.plant.steps(np.array([f / 2]), 50_000)
    assert held.state.v[0] == pytest.approx(creep, rel=1e-6)
    pushed = Run(slider(m, friction=f), 1e-4, integrator)
    pushed.plant.steps(np.array([2 * f]), 50_000)
    assert pushed.state.v[0] == pytest.approx(5.0 * f / m, rel=1e-3)


def test_stop_returns_what_it_takes():
    """An undamped stop is half a spring: contact lasts pi sqrt(m/k), the speed comes back reversed."""
    m, k, v0, dt = 2.0, 1e4, 1.5, 1e-5
    run = Run(slider(m, stop_stiffness=k, q_upper=0.3), dt, q=[0.3 - 1e-9], v=[v0])
    contact = np.pi * np.sqrt(m / k)
    t, q, v = run.record(int(1.1 * contact / dt))
    assert v[-1, 0] == pytest.approx(-v0, rel=1e-6)
    assert q[:, 0].max() - 0.3 == pytest.approx(v0 * np.sqrt(m / k), rel=1e-5)
    leaving = t[np.flatnonzero(q[:, 0] > 0.3)[-1]]
    assert leaving == pytest.approx(contact, abs=2 * dt)


@pytest.mark.parametrize("side", [-1, 1])
@pytest.mark.parametrize("integrator, dt", [("semi_implicit_euler", 1e-2), ("semi_implicit_euler", 1e-3), ("rk4", 1e-3)])
def test_stops_hold(side, integrator, dt):
    """Under a constant load a joint comes to rest load / k beyond its limit; an implicit step may be as long as it likes."""
    m, k, load = 2.0, 2e4, 30.0
    spec = slider(m, stop_stiffness=k, stop_damping=60.0, q_lower=-0.2, q_upper=0.2)
    run = Run(spec, dt, integrator)
    run.plant.steps(np.array([side * load]), int(5 / dt))
    assert side * run.state.q[0] == pytest.approx(0.2 + load / k, rel=1e-9)
    assert abs(run.state.v[0]) < 1e-9


def test_very_stiff_stops_and_dampers_stay_calm():
    """A stop of 1e9 N/m and damping of 1e7 N s/m at 1 ms, which no explicit step survives."""
    spec = slider(0.1, damping=1e7, stop_stiffness=1e9, stop_damping=1e5, q_upper=0.0)
    run = Run(spec, 1e-3, "semi_implicit_euler", q=[0.01], v=[50.0])
    run.plant.steps(np.array([5.0]), 20_000)
    assert abs(run.state.q[0]) < 0.011 and abs(run.state.v[0]) < 1.0


def test_integrators_have_their_order():
    """Halving the step halves the error of semi-implicit Euler and divides that of RK4 by 16."""
    def end(integrator, dt):
        run = Run(double_pendulum(), dt, integrator, q=[2.0, 0.3])
        run.plant.steps(np.zeros(2), round(0.8 / dt))
        return np.concatenate([run.state.q, run.state.v])

    exact = end("rk4", 0.8 / 2**14)
    for integrator, order, dt in (("semi_implicit_euler", 1, 0.8 / 2**12), ("rk4", 4, 0.8 / 2**8)):
        errors = [np.abs(end(integrator, dt / 2**k) - exact).max() for k in range(3)]
        rates = np.log2(np.array(errors[:-1]) / errors[1:])
        assert np.abs(rates - order).max() < 0.1 * order, (integrator, errors)


def test_integrators_have_their_order_on_rotations():
    """The same for a tumbling body, whose configuration is no vector."""
    inertia = body(1.0, [0.1, 0.02, -0.04], np.diag([0.110, 0.120, 0.128]))

    def end(integrator, dt):
        run = Run(free_body(inertia, (0, 0, -G)), dt, integrator, v=[3.0, -2.0, 4.0, 0.5, 0.1, 1.0])
        run.plant.steps(np.zeros(6), round(0.8 / dt))
        return np.concatenate([run.state.q, run.state.v])

    exact = end("rk4", 0.8 / 2**14)
    for integrator, order, dt in (("semi_implicit_euler", 1, 0.8 / 2**11), ("rk4", 4, 0.8 / 2**7)):
        errors = [np.abs(end(integrator, dt / 2**k) - exact).max() for k in range(3)]
        rates = np.log2(np.array(errors[:-1]) / errors[1:])
        assert np.abs(rates - order).max() < 0.1 * order, (integrator, errors)


def test_semi_implicit_energy_does_not_drift():
    """The error of the undamped pendulum's energy is of first order and stays bounded over 200 swings."""
    run = Run(pendulum(), 1e-3, "semi_implicit_euler", q=[1.0])
    _, q, v = run.record(40_000)
    E = run.energy(q, v)
    swing = E[0] + 1.3 * G * 0.8
    error = np.abs(E - E[0]) / swing
    assert error[-10_000:].max() < 1.1 * error[:10_000].max() < 0.01


def test_rotor_inertia_is_inertia_about_the_axis():
    """A rotor on a joint to the world, or the same inertia added to the body about that axis: one motion."""
    rotor = 0.37
    geared = double_pendulum()
    geared.rotor_inertia[0] = rotor
    heavy = double_pendulum()
    heavy.inertia[1] += body(0.0, [0, 0, 0], np.diag([0, 0, rotor]))
    a, b = (Run(spec, 1e-3, q=[1.0, 0.5]).record(1000)[1] for spec in (geared, heavy))
    assert np.abs(a - b).max() < 1e-11


def test_rotor_and_link_share_the_torque():
    """tau = (I + rotor) vdot on a horizontal axis without gravity."""
    spec = pendulum(mass=1.0, length=1.0, rotor_inertia=0.25)
    spec.gravity[:] = 0
    model = mbros_core.Model(spec)
    assert model.forward_dynamics(model.default_state(), [2.5])[0] == pytest.approx(2.0, rel=8 * EPS)


def test_follower_carries_its_share():
    """Two racks on one pinion: the follower's mass counts with the square of its ratio, its weight with the ratio."""
    bodies = [Body("prismatic", 0), Body("prismatic", 0, leader=1, ratio=-2.0, offset=0.5)]
    spec = rig(bodies, [placed(), placed(p=(1, 0, 0))], [point(3.0, [0, 0, 0]), point(1.0, [0, 0, 0])])
    model = mbros_core.Model(spec)
    state = model.default_state()
    assert model.mass_matrix(state)[0, 0] == pytest.approx(3.0 + 4.0 * 1.0, rel=8 * EPS)
    # weight: -3 g of the leader, +2 g of the follower that rises when the leader falls
    assert model.forward_dynamics(state, [0.0])[0] == pytest.approx(-G / 7.0, rel=8 * EPS)
    state.q[0] = 0.2
    assert model._frame_pose(state, 2)[11] == pytest.approx(-2.0 * 0.2 + 0.5, rel=8 * EPS)


def test_heavy_top_precesses_steadily():
    """A symmetric top on a ball joint at a constant tilt t: I W^2 cos t - J w W + m g l = 0 (Lagrange); it stays there."""
    m, l, tilt, spin, I, J = 0.5, 0.1, 0.6, 200.0, 0.006, 0.0008
    top = rig([Body("ball", 0)], [placed()], [body(m, [0, 0, l], np.diag([I, I, J]))])
    # the slow root; the axis of the top is z of M, tilted about x, and precesses about the vertical
    b = J * spin / (2 * I * np.cos(tilt))
    precession = b - np.sqrt(b * b - m * G * l / (I * np.cos(tilt)))
    start = [np.cos(tilt / 2), np.sin(tilt / 2), 0, 0]
    w_M = np.array([0, precession * np.sin(tilt), spin])
    run = Run(top, 1e-4, q=start, v=w_M)
    turn = 2 * np.pi / precession
    steps = round(turn / 4 / 1e-4)
    t, q, v = run.record(steps)
    axis = np.array([2 * (q[:, 1] * q[:, 3] + q[:, 0] * q[:, 2]), 2 * (q[:, 2] * q[:, 3] - q[:, 0] * q[:, 1]),
                     1 - 2 * (q[:, 1] ** 2 + q[:, 2] ** 2)])
    assert np.abs(axis[2] - np.cos(tilt)).max() < 1e-7
    heading = np.unwrap(np.arctan2(axis[1], axis[0]))
    assert np.abs(heading - heading[0] - precession * t).max() < 1e-6
    assert np.abs(v[:, 2] - spin).max() < 1e-9 * spin


def test_screw_falls_by_its_pitch():
    """A nut on a vertical screw: (J + m p^2) qddot = -m g p."""
    m, J, pitch = 1.5, 0.02, 0.03
    spec = rig([Body("screw", 0)], [placed()], [body(m, [0, 0, 0], np.diag([0.03, 0.03, J]))])
    spec.joint_parameters[1, 0] = pitch
    model = mbros_core.Model(spec)
    expected = -m * G * pitch / (J + m * pitch ** 2)
    assert model.forward_dynamics(model.default_state(), [0.0])[0] == pytest.approx(expected, rel=16 * EPS)


@pytest.mark.parametrize("kind", ["ball_rpy", "floating_rpy"])
def test_roll_pitch_yaw_is_the_same_body_as_the_quaternion(kind):
    """The same throw in both coordinates ends in the same pose, as long as the pitch stays away from 90 degrees."""
    twin = {"ball_rpy": "ball", "floating_rpy": "floating"}[kind]
    inertia = body(1.2, [0.05, -0.02, 0.04], np.diag([0.05, 0.06, 0.07]))
    w, v = [0.4, -0.5, 1.5], [0.3, 0.2, 1.0]
    ends = []
    for name in (kind, twin):
        # at the start all axes agree, so v in F and v in M are the same numbers
        run = Run(rig([Body(name, 0)], [placed()], [inertia]), 1e-3, v=w + v if "floating" in name else w)
        run.plant.steps(np.zeros(run.model.nv), 700)
        ends.append(run.model._frame_pose(run.state, 1))
    assert np.abs(ends[0] - ends[1]).max() < 1e-9


def test_pitch_of_90_degrees_is_a_fault_and_not_a_wrong_number():
    ball = body(1.0, [0, 0, 0], np.diag([0.05, 0.05, 0.05]))
    run = Run(rig([Body("ball_rpy", 0)], [placed()], [ball], gravity=(0, 0, 0)), 1e-3, v=[0, 1.0, 0])
    with pytest.raises(mbros_core.FaultError):
        run.plant.reset(q=[0, np.pi / 2, 0], v=[1.0, 0.0, 1.0])
        run.plant.steps(np.zeros(3), 10)
    assert np.isfinite(run.state.q).all() and np.isfinite(run.state.v).all()
