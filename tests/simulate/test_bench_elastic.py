"""Drives behind springs, with gaps: against independent integrations, at any stiffness, with their powers balanced."""
import numpy as np
import pytest
from bench_rigs import bench, disc
from scipy.integrate import solve_ivp

import mbros

MOTOR = dict(resistance=0.611, inductance=1.19e-4, torque_constant=25.9e-3, gear_ratio=100.0, efficiency=0.8, rotor_inertia=3.33e-5,
             voltage_limit=24.0, current_limit=10.0, case_to_ambient=1e9)


def simulated(actuator, dt=1e-3, inertia=0.5, integrator="midpoint", **options):
    return mbros.Simulator(disc(inertia), dt=dt, integrator=integrator, bench=bench(actuator, **options))


def motion(sim, T, effort, *names):
    rows = []
    for _ in range(round(T / sim.dt)):
        sim.command(effort={"hinge": effort(sim.time)})
        sim.step()
        rows.append([sim.signals[name].value for name in names])
    return np.array(rows).T


def test_two_inertias_and_a_spring_against_an_independent_integration():
    k, d, J, b, I, T = 500.0, 0.3, 0.2, 0.1, 0.5, 1.0
    push = lambda t: 3.0 if t < 0.2 else -2.0                     # noqa: E731

    def rates(t, y):
        theta, w, q, v = y
        tau = k * (theta - q) + d * (w - v)
        return [w, (push(t) - b * w - tau) / J, v, tau / I]

    first = solve_ivp(rates, (0.0, 0.2 - 1e-12), [0, 0, 0, 0], rtol=1e-11, atol=1e-13).y[:, -1]
    exact = solve_ivp(rates, (0.2, T), first, rtol=1e-11, atol=1e-13).y[:, -1]
    errors = []
    for dt in (1e-3, 5e-4, 2.5e-4):
        sim = simulated(mbros.SeriesElastic("s", joint="hinge", stiffness=k, damping=d, motor_inertia=J, motor_damping=b), dt)
        theta, w, q, v, deflection = motion(sim, T, lambda t: push(t + 1e-9), "s.motor_position", "s.motor_velocity", "hinge.position",
                                            "hinge.velocity", "s.deflection")
        errors.append(abs(np.array([theta[-1], w[-1], q[-1], v[-1]]) - exact).max())
        assert deflection == pytest.approx(theta - q, abs=1e-15)
    assert errors[0] < 2e-3 and errors[1] < 0.3 * errors[0] and errors[2] < 0.3 * errors[1]        # of second order


@pytest.mark.parametrize("integrator", ["midpoint", "semi_implicit_euler"])
@pytest.mark.parametrize("stiffness", [1e2, 1e4, 1e6, 1e9, 1e13])
@pytest.mark.parametrize("motor_inertia", [1e-3, 0.2, 50.0])
def test_any_stiffness_is_stable_at_1_khz(integrator, stiffness, motor_inertia):
    for damping in (0.0, np.sqrt(stiffness * min(0.5, motor_inertia))):
        sim = simulated(mbros.SeriesElastic("s", joint="hinge", stiffness=stiffness, damping=damping, motor_inertia=motor_inertia,
                                            kp=2000.0, kd=2.0 * np.sqrt(2000.0 * (0.5 + motor_inertia))), integrator=integrator)
        sim.command(position={"hinge": 0.3})
        q = []
        for _ in range(10000):
            sim.step()
            q.append(sim.state.q[0])
        assert max(np.abs(q)) < 0.65                              # twice the way of a spring without damping, and no more
        assert not damping or q[-1] == pytest.approx(0.3, abs=1e-2 if stiffness < 1e3 else 1e-6)


def test_a_stiff_spring_is_a_rigid_drive():
    """With a stiffness that no step resolves, drive and joint are one inertia."""
    sim = simulated(mbros.SeriesElastic("s", joint="hinge", stiffness=1e12, motor_inertia=0.25))
    v, w = motion(sim, 1.0, lambda t: 3.0, "hinge.velocity", "s.motor_velocity")
    t = 1e-3 * np.arange(1, 1001)
    assert v[10:] == pytest.approx(3.0 / 0.75 * t[10:], rel=1e-6) and w[10:] == pytest.approx(v[10:], rel=1e-6)


def test_a_servo_drive_keeps_its_own_position_and_the_spring_gives_way():
    sim = simulated(mbros.SeriesElastic("s", joint="hinge", stiffness=100.0, damping=2.0, motor_inertia=0.1, kp=1e5, kd=500.0))
    sim.command(position={"hinge": 0.4})
    sim.advance_to(20.0, [-5.0])
    value = {name: sim.signals[f"s.{name}"].value for name in ("effort", "deflection", "motor_position", "motor_velocity", "motor_effort")}
    assert value["effort"] == pytest.approx(5.0, rel=1e-9) and value["deflection"] == pytest.approx(5.0 / 100.0, rel=1e-9)
    assert value["motor_position"] == pytest.approx(0.4 - 5.0 / 1e5, rel=1e-9) and value["motor_effort"] == pytest.approx(5.0, rel=1e-9)
    assert sim.state.q[0] == pytest.approx(0.4 - 5.0 / 1e5 - 0.05, rel=1e-9)


def test_powers_of_a_series_elastic_actuator():
    """What the drive did, by its own effort and way, is in the disc, in spring and drive by their formulas, or heat by its formula."""
    k, d, J, b = 500.0, 0.3, 0.2, 0.1
    sim = simulated(mbros.SeriesElastic("s", joint="hinge", stiffness=k, damping=d, motor_inertia=J, motor_damping=b))
    value = lambda name: sim.signals[f"s.{name}"].value           # noqa: E731
    x = 1e-6 * k / J
    d += 0.5 * x / (1.0 + x) * 1e-3 * k                           # what the step adds, of third order
    work = heat = passed = 0.0
    theta = q = 0.0
    sums = np.zeros(4)
    for n in range(4000):
        effort = 3.0 * np.sin(0.01 * n)
        sim.command(effort={"hinge": effort})
        sim.step()
        sums += 1e-3 * np.array([value(name) for name in ("motor_power", "power", "heat", "stored_power")])
        turned, went = value("motor_position") - theta, sim.state.q[0] - q
        theta, q = theta + turned, q + went
        work += effort * turned
        heat += (b * turned**2 + d * (turned - went)**2) / 1e-3
        passed += abs(effort * turned)
    stored = 0.5 * k * value("deflection")**2 + 0.5 * J * value("motor_velocity")**2
    exact = np.array([work, 0.25 * sim.state.v[0]**2, heat, stored])
    assert passed > 1.0 and heat > 0.01 and sums == pytest.approx(exact, abs=1e-9 * passed)
    assert sums[0] - sums[1:].sum() == pytest.approx(0.0, abs=1e-9 * passed)


@pytest.mark.parametrize("backlash", [0.0, 0.01])
def test_powers_of_a_motor_with_an_elastic_gear(backlash):
    sim = simulated(mbros.Motor("m", joint="hinge", stiffness=2e3, damping=1.0, backlash=backlash, **MOTOR))
    value = lambda name: sim.signals[f"m.{name}"].value           # noqa: E731
    sums, passed, least = np.zeros(4), 0.0, np.inf
    for n in range(5000):
        sim.command(effort={"hinge": 10.0 * np.sign(np.sin(0.003 * n))})
        sim.step()
        row = 1e-3 * np.array([value(name) for name in ("electrical_power", "power", "heat", "stored_power")])
        sums, passed, least = sums + row, passed + abs(row).max(), min(least, row[2])
    delta = value("deflection")
    stretched = np.sign(delta) * max(abs(delta) - 0.5 * backlash, 0.0)
    stored = (0.5 * 2e3 * stretched**2 + 0.5 * MOTOR["rotor_inertia"] * 1e4 * value("motor_velocity")**2
              + 0.5 * MOTOR["inductance"] * value("current")**2)
    assert passed > 10.0 and sums[0] - sums[1:].sum() == pytest.approx(0.0, abs=1e-9 * passed)
    assert sums[1] == pytest.approx(0.25 * sim.state.v[0]**2, abs=1e-9 * passed)
    assert sums[3] == pytest.approx(stored, abs=1e-9 * passed)
    assert least > -1e-9 * passed                                 # nothing of it comes from nowhere


def test_backlash_against_an_independent_integration():
    """A drive that is pushed to and fro takes the joint along only where the gap is closed."""
    k, d, J, I, gap = 2000.0, 1.0, 0.1, 0.5, 0.02
    push = lambda t: 2.0 * np.cos(8.0 * t)                        # noqa: E731

    def rates(t, y):
        theta, w, q, v = y
        delta = theta - q
        x = delta - 0.5 * gap if delta > 0.5 * gap else delta + 0.5 * gap if delta < -0.5 * gap else 0.0
        tau = k * x + d * (w - v) if x else 0.0
        tau = 0.0 if tau * x < 0.0 else tau                       # teeth push
        return [w, (push(t) - 0.2 * w - tau) / J, v, tau / I]

    T = 1.2
    exact = solve_ivp(rates, (0, T), [0, 0, 0, 0], rtol=1e-9, atol=1e-12, max_step=1e-4, dense_output=True).sol
    errors = []
    for dt in (1e-3, 2.5e-4, 6.25e-5):
        sim = simulated(mbros.SeriesElastic("s", joint="hinge", stiffness=k, damping=d, motor_inertia=J, motor_damping=0.2,
                                            backlash=gap), dt)
        theta, q, effort = motion(sim, T, lambda t, dt=dt: push(t + 0.5 * dt), "s.motor_position", "hinge.position", "s.effort")
        t = dt * np.arange(1, len(q) + 1)
        errors.append(max(abs(q - exact(t)[2]).max(), abs(theta - exact(t)[0]).max()))
        free = abs(theta - q) < 0.5 * gap - 1e-3
        assert 0.05 < free.mean() < 0.95 and (effort[1:][free[1:] & free[:-1]] == 0.0).all()
    assert errors[0] < 0.02 and errors[1] < 0.5 * errors[0] and errors[2] < 0.5 * errors[1] and errors[2] < 1e-3


def test_the_gap_is_what_a_locked_drive_lets_the_joint_move():
    gap = 0.03
    sim = simulated(mbros.SeriesElastic("s", joint="hinge", stiffness=1e6, damping=100.0, motor_inertia=10.0, kp=1e9, kd=1e7, backlash=gap))
    sim.command(position={"hinge": 0.0})
    ends = []
    for side in (1.0, -1.0):
        sim.advance_to(sim.time + 2.0, [0.5 * side])
        ends.append(sim.state.q[0])
    assert ends[0] - ends[1] == pytest.approx(gap + 2.0 * 0.5 / 1e6, abs=1e-7)


def test_a_motor_with_a_very_stiff_gear_is_the_rigid_motor():
    results = []
    for stiffness in (None, 1e9):
        words = {} if stiffness is None else {"stiffness": stiffness}
        sim = simulated(mbros.Motor("m", joint="hinge", **words, **MOTOR))
        results.append(motion(sim, 1.0, lambda t: 8.0, "hinge.velocity", "m.current", "m.temperature"))
    assert results[1][:, 20:] == pytest.approx(results[0][:, 20:], rel=2e-3)


@pytest.mark.parametrize("make, text", [
    (lambda: mbros.SeriesElastic("s", joint="h", stiffness=1.0, motor_inertia=0.0), "motor_inertia is 0"),
    (lambda: mbros.Motor("m", joint="h", **dict(MOTOR, rotor_inertia=0.0), stiffness=10.0), "its drive has no inertia"),
    (lambda: mbros.Motor("m", joint="h", **MOTOR, backlash=0.1), "it has backlash and no stiffness"),
    (lambda: mbros.SeriesElastic("s", joint="h", stiffness=0.0, motor_inertia=1.0), "stiffness is 0")])
def test_refusals(make, text):
    with pytest.raises(mbros.MbrosError, match=text):
        make()
