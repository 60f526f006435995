"""Error-controlled steps against closed forms and an integrator of others: order, error, events at stops, dense output."""
import mbros
import mbros_core
import numpy as np
import pytest
import zoo
from scipy.integrate import solve_ivp
from scipy.optimize import brentq
from scipy.special import ellipj, ellipk

TIGHT = {"integrator": "dormand_prince", "rtol": 1e-13, "atol": 1e-15}
# 2 asin(k sn(K - t, k^2)), k = sin(179 deg / 2), of the double nearest to 179 degrees; mpmath 1.4 with 40 digits
FROM_179_DEGREES = {2: 3.07593784196547613, 4: 2.66724351756283161, 6: 0.254855336481057017, 8: -2.5311048822304667,
                    10: -3.05743584366662769, 12: -3.1235663472725999}
PERIOD = 24.51111529810689677


def bob(gravity=1.0, **joint):
    """A point 1 m below a hinge: qddot = -g sin q."""
    b = mbros.ModelBuilder("bob", gravity=(0, 0, -gravity))
    b.add_joint(mbros.RevoluteJoint("hinge", b.world, b.add_body("rod", 1.0, (0, 0, -1.0), (0, 0, 0)), axis=(0, 1, 0), **joint))
    return b.build()


def swing(t, amplitude):
    k = np.sin(amplitude / 2)
    return 2 * np.arcsin(k * ellipj(ellipk(k * k) - t, k * k)[0])


def others(model, state, times, tau):
    """q and v of DOP853 on qdot = N(q) v, vdot: quaternions free to leave the sphere, which shows only as rounding."""
    probe = state.copy()

    def rates(_, y):
        probe.q[:], probe.v[:] = y[:model.nq], y[model.nq:]
        vdot = model.forward_dynamics(probe, tau)
        return np.concatenate([model.velocity_to_qdot(probe, probe.v), vdot])

    run = solve_ivp(rates, (0.0, times[-1]), np.concatenate([state.q, state.v]), "DOP853", times, rtol=1e-13, atol=1e-14)
    return run.y[:model.nq].T, run.y[model.nq:].T


# ------------------------------------------------------------------------------------------------------ five problems

@pytest.mark.parametrize("kind", ["hinge", "free"])
def test_order_five(kind):
    """With tolerances that take every step whole: halving the step divides the error by 32, on rotations too."""
    model = bob(4.0) if kind == "hinge" else free_brick()
    errors = []
    for dt in (0.1, 0.05, 0.025):
        sim = mbros.Simulator(model, dt, "dormand_prince", rtol=1e-2, atol=1.0)
        start(sim.state, kind)
        exact = mbros.Simulator(model, 0.5, **TIGHT)
        start(exact.state, kind)
        sim.advance_to(1.0)
        exact.advance_to(1.0)
        assert sim.plant.substeps[:2] == (round(1 / dt), 0)
        errors.append(np.linalg.norm(np.append(model.difference(exact.state.q, sim.state.q), sim.state.v - exact.state.v)))
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert errors[-1] > 1e-10 and (4.6 < orders).all(), (errors, orders)


def start(state, kind):
    if kind == "hinge":
        state.q[:] = 2.0
    else:
        state.v[:] = (1.5, 2.0, 0.4, 0.3, -0.2, 0.5)


def free_brick():
    b = mbros.ModelBuilder("brick", gravity=(0, 0, 0))
    b.add_joint(mbros.FloatingJoint("free", b.world, b.add_body("brick", 2.0, (0.02, -0.03, 0.05), (0.02, 0.035, 0.03))))
    return b.build()


def test_pendulum_by_elliptic_functions():
    """The error follows the tolerance."""
    model, errors = bob(), []
    for rtol in (1e-6, 1e-9, 1e-12):
        sim = mbros.Simulator(model, 0.5, "dormand_prince", rtol=rtol, atol=1e-2 * rtol)
        sim.state.q[:] = 1.0
        log = sim.run(20.0)
        errors.append(abs(log.q[:, 0] - swing(log.time, 1.0)).max())
    assert errors[0] < 1e-5 and errors[1] < 1e-8 and errors[2] < 1e-11 and errors[2] < 1e-5 * errors[0], errors


@pytest.mark.seed("RM-N2")
def test_pendulum_from_179_degrees_to_twelve_digits():
    """Through the first half of its period, and at the end of it, where errors of before count ten thousand times in between."""
    model = bob()
    sim = mbros.Simulator(model, 0.5, "dormand_prince", rtol=1e-14, atol=1e-16)
    sim.state.q[:] = np.radians(179.0)
    for t, q in FROM_179_DEGREES.items():
        sim.advance_to(t)
        assert abs(sim.state.q[0] - q) < 1e-12, t
    whole = mbros.Simulator(model, PERIOD / 40, "dormand_prince", rtol=1e-14, atol=1e-16)
    whole.state.q[:] = np.radians(179.0)
    whole.advance_to(PERIOD)
    assert abs(whole.state.q[0] - np.radians(179.0)) < 2e-12


def test_two_bodies_on_a_spring():
    """Around their common centre each goes over an ellipse: r = r0 cos wt + v0 / w sin wt."""
    b = mbros.ModelBuilder("pair", gravity=(0, 0, 0))
    bodies = [b.add_body(name, mass, (0, 0, 0), (0.01, 0.02, 0.03)) for name, mass in (("sun", 3.0), ("moon", 1.0))]
    for body in bodies:
        b.add_joint(mbros.FloatingJoint(f"free {body.name}", b.world, body))
    b.add_force_element(mbros.LinearSpringDamper(*bodies, free_length=0.0, stiffness=7.0))
    model = b.build()
    sim = mbros.Simulator(model, 0.25, **TIGHT)
    r0, v0, w = np.array([0.0, 1.0, 0.2]), np.array([0.7, 0.0, 0.4]), np.sqrt(7.0 * (1 / 3 + 1 / 1))
    sim.state.q[7:10] = r0
    sim.state.v[9:12], sim.state.v[6:9] = v0, (0.3, 0.2, 0.1)
    log = sim.run(10.0)
    apart = log.q[:, 7:10] - log.q[:, :3]
    exact = np.cos(w * log.time)[:, None] * r0 + np.sin(w * log.time)[:, None] * v0 / w
    assert abs(apart - exact).max() < 1e-11
    assert abs(0.75 * log.q[:, :3] + 0.25 * log.q[:, 7:10] - (0.25 * r0 + log.time[:, None] * 0.25 * v0)).max() < 1e-12


@pytest.mark.seed("QF-N2")
def test_free_body_by_elliptic_functions():
    """Landau, Lifshitz, Mechanics, section 37, spun near its middle axis: it turns over some eight times."""
    I1, I2, I3 = I = np.array([0.010, 0.020, 0.028])
    w0 = np.array([3.0, 0.0, np.sqrt(I1 * (I2 - I1) * 9.0 / (I3 * (I3 - I2))) * 1.0005])
    E2, L2 = I @ w0**2, (I * w0) @ (I * w0)
    rate, m = np.sqrt((I3 - I2) * (L2 - E2 * I1) / (I1 * I2 * I3)), (I2 - I1) * (E2 * I3 - L2) / ((I3 - I2) * (L2 - E2 * I1))
    b = mbros.ModelBuilder("brick", gravity=(0, 0, 0))
    b.add_joint(mbros.BallJoint("ball", b.world, b.add_body("brick", 1.7, (0, 0, 0), I)))
    sim = mbros.Simulator(b.build(), 0.1, **TIGHT)
    sim.state.v[:] = w0
    log = sim.run(20.0)
    sn, cn, dn, _ = ellipj(rate * log.time, m)
    exact = np.stack([w0[0] * cn, np.sqrt((E2 * I3 - L2) / (I2 * (I3 - I2))) * sn, w0[2] * dn], axis=1)
    assert np.ptp(np.sign(exact[:, 1])) == 2 and abs(log.v - exact).max() < 1e-9
    L = [turned(q, I * w) for q, w in zip(log.q, log.v, strict=True)]
    assert abs(np.array(L) - I * w0).max() < 1e-12                              # q as well: momentum stays in the world


def turned(quaternion, x):
    w, u = quaternion[0], quaternion[1:]
    return x + 2 * np.cross(u, np.cross(u, x) + w * x)


def test_double_pendulum_by_equations_of_its_own():
    """Two points on rods of 1 m, masses 1 kg, in absolute angles: DOP853 on the textbook's two equations."""
    b = mbros.ModelBuilder("double", gravity=(0, 0, -9.81))
    upper, lower = (b.add_body(name, 1.0, (0, 0, -1.0), (0, 0, 0)) for name in ("upper", "lower"))
    b.add_joint(mbros.RevoluteJoint("a", b.world, upper, axis=(0, 1, 0)))
    b.add_joint(mbros.RevoluteJoint("b", upper, lower, p=(0, 0, -1.0), axis=(0, 1, 0)))
    sim = mbros.Simulator(b.build(), 0.1, **TIGHT)
    sim.state.q[:] = 1.0, 0.5
    log = sim.run(5.0)

    def rates(_, y):
        d = y[0] - y[1]
        M = np.array([[2.0, np.cos(d)], [np.cos(d), 1.0]])
        f = [-np.sin(d) * y[3] ** 2 - 2 * 9.81 * np.sin(y[0]), np.sin(d) * y[2] ** 2 - 9.81 * np.sin(y[1])]
        return [y[2], y[3], *np.linalg.solve(M, f)]

    run = solve_ivp(rates, (0, 5.0), [1.0, 1.5, 0, 0], "DOP853", log.time, rtol=1e-13, atol=1e-14)
    assert abs(np.cumsum(log.q, axis=1) - run.y[:2].T).max() < 2e-10


def test_four_bar():
    """A closed loop against rk4 at a tenth of a millisecond: it stays closed, and no energy comes or goes."""
    model = mbros.load("four_bar")
    start = model.assemble(model.default_state())
    start.damping[:] = 0.0
    sim = mbros.Simulator(model, 0.05, "dormand_prince", state=start.copy(), rtol=1e-10, atol=1e-12)
    log = sim.run(0.5)
    other = mbros.Simulator(model, 1e-4, "rk4", state=start.copy()).run(0.5, every=500)
    assert abs(log.q - other.q).max() < 1e-9 and abs(log.v - other.v).max() < 1e-8 and np.ptp(log.q[:, 0]) > 0.1
    assert abs(next(iter(model.constraints)).gap(sim.state)).max() < 1e-12
    assert np.ptp(log.energy) < 1e-10


# --------------------------------------------------------------------------------------- every kind of joint, and what acts

@pytest.mark.parametrize("name", ["all_kinds", "planar_root", "mimic", "many_floating"])
def test_every_joint_keeps_its_manifold(name, rng):
    """Against qdot = N(q) v in the ambient space, with damping and rotors."""
    model = mbros_core.Model(zoo.spec(name))
    state = model.default_state()
    state.q[:] = zoo.random_q(zoo.spec(name), rng, 0.3)
    state.v[:] = rng.normal(size=model.nv)
    begin, tau = state.copy(), 0.1 * rng.normal(size=model.nv)
    plant = mbros_core.Plant(model, state, 0.1, "dormand_prince", tolerances=(1e-12, 1e-13))
    plant.steps(tau, 2)
    q, v = others(model, begin, [0.2], np.clip(tau, -model.spec.effort_limit, model.spec.effort_limit))
    assert abs(state.v - v[-1]).max() < 1e-9 * max(1.0, abs(v).max())
    assert abs(model.difference(model.normalize(q[-1]), state.q)).max() < 1e-9
    assert abs(model.normalize(state.q) - state.q).max() < 1e-15


@pytest.mark.parametrize("damping", [0.0, 8.0, 30.0])
def test_ball_on_a_stop(damping):
    """It falls, meets a stop of k and c, and is thrown back when that would pull: pieces in closed form, their ends by bisection."""
    g, k = 9.81, 1000.0
    b = mbros.ModelBuilder("drop", gravity=(0, 0, -g))
    b.add_joint(mbros.PrismaticJoint("z", b.world, b.add_body("ball", 1.0, (0, 0, 0), (1, 1, 1)), axis=(0, 0, 1), lower=0.0, upper=10.0))
    model = b.build()
    sim = mbros.Simulator(model, 0.1, **TIGHT)
    sim.state.field("stop_stiffness")[:], sim.state.field("stop_damping")[:] = k, damping
    sim.state.q[:] = 0.5
    log = sim.run(1.0)
    hit = np.sqrt(2 * 0.5 / g)
    y = pressed(k, damping, g)

    def push(t):
        return -k * y(t, g * hit)[0] - damping * y(t, g * hit)[1]

    grid = np.linspace(1e-6, 0.2, 2000)
    last = grid[np.argmax([push(t) < 0.0 for t in grid]) - 1]
    out = brentq(push, last, last + 2e-4, xtol=1e-15)
    end = hit + out
    for t, q in zip(log.time, log.q[:, 0], strict=True):
        z, u = (0.5 - g * t * t / 2, 0) if t < hit else y(t - hit, g * hit)
        if t > end:
            z, u = y(out, g * hit)
            z += u * (t - end) - g * (t - end) ** 2 / 2
        if z >= 0.0 or t <= end:                        # before it comes down again
            assert abs(q - z) < 1e-11, t
    assert 0.3 < end < 0.9


def pressed(k, c, g):
    """z and its rate of z'' = -g - k z - c z' from z = 0 downwards at a speed."""
    def at(t, speed):
        w, d, rest = np.sqrt(k - c * c / 4), c / 2, g / k
        A, B = rest, (-speed + d * rest) / w
        e, s, co = np.exp(-d * t), np.sin(w * t), np.cos(w * t)
        return e * (A * co + B * s) - rest, e * ((B * w - d * A) * co - (A * w + d * B) * s)
    return at


def test_friction_and_prescribed_joints():
    """Stiff friction takes short substeps and no refusal; a prescribed joint is where its law says, and moves the others."""
    model = bob(4.0, friction=0.5)
    sim = mbros.Simulator(model, 0.1, "dormand_prince", rtol=1e-8, atol=1e-10)
    sim.state.q[:] = 0.5
    sim.run(5.0)
    assert abs(sim.state.v[0]) < 2e-3
    b = mbros.ModelBuilder("driven", gravity=(0, 0, -9.81))
    upper, lower = (b.add_body(name, 1.0, (0, 0, -1.0), (0, 0, 0)) for name in ("upper", "lower"))
    b.add_joint(mbros.RevoluteJoint("a", b.world, upper, axis=(0, 1, 0)))
    b.add_joint(mbros.RevoluteJoint("b", upper, lower, p=(0, 0, -1.0), axis=(0, 1, 0)))
    model = b.build()
    sim = mbros.Simulator(model, 0.02, **TIGHT)
    model.joint("a").prescribe(sim.state, position=0.2, velocity=0.3, acceleration=1.5)
    sim.advance_to(1.0)

    def rates(t, y):                                    # absolute angle of the lower one, its pivot moving
        a, w, e = 0.2 + 0.3 * t + 0.75 * t * t, 0.3 + 1.5 * t, 1.5
        return [y[1], -9.81 * np.sin(y[0]) - e * np.cos(y[0] - a) - w * w * np.sin(y[0] - a)]

    run = solve_ivp(rates, (0, 1.0), [0.2, 0.3], "DOP853", [1.0], rtol=1e-13, atol=1e-14)
    assert abs(sim.state.q[0] - 1.25) < 1e-14 and abs(sim.state.q.sum() - run.y[0, -1]) < 1e-11
