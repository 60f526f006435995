"""Actuators against closed forms, and the balance of their powers."""
import numpy as np
import pytest
from bench_rigs import bench, disc
from scipy.integrate import solve_ivp

import mbros

MAXON = dict(resistance=0.611, inductance=1.19e-4, torque_constant=25.9e-3, gear_ratio=100.0, efficiency=0.8, rotor_inertia=3.33e-6,
             voltage_limit=24.0, current_limit=10.0, winding_heat_capacity=20.0, winding_to_case=2.0, case_heat_capacity=80.0,
             case_to_ambient=5.0)


def simulated(model, actuator, v=0.0, dt=1e-3, integrator="midpoint"):
    sim = mbros.Simulator(model, dt=dt, integrator=integrator, bench=bench(actuator))
    sim.state.v[:] = v
    return sim


def watched(sim, steps, *signals):
    rows = []
    for _ in range(steps):
        sim.step()
        rows.append([sim.signals[name].value for name in signals])
    return np.array(rows).T


@pytest.mark.parametrize("integrator", ["midpoint", "semi_implicit_euler"])
@pytest.mark.parametrize("ratio", [1e-3, 1.0, 1000.0, 1e9])
@pytest.mark.parametrize("damped", [0.0, 1.0])
def test_a_servo_of_any_gain_is_stable(integrator, ratio, damped):
    """ratio: kp dt^2 / m, where an explicit spring ends at 4."""
    inertia, dt = 0.5, 1e-3
    kp = ratio * inertia / dt**2
    sim = simulated(disc(inertia), mbros.PositionServo("s", joint="hinge", kp=kp, kd=damped * 2.0 * np.sqrt(kp * inertia)),
                    integrator=integrator)
    sim.command(position={"hinge": 0.3})
    positions, = watched(sim, 4000, "hinge.position")
    assert abs(positions).max() < 0.3 * 2.0 and abs(positions[-1] - 0.3) < (0.3 if ratio < 0.01 and not damped else 1e-9)


@pytest.mark.parametrize("h", [1e-3, 1e-4])
def test_step_response_of_a_servo(h):
    """Against the closed form of the oscillator; the error is of first order."""
    inertia, kp, kd = 0.5, 200.0, 8.0
    sim = simulated(disc(inertia), mbros.PositionServo("s", joint="hinge", kp=kp, kd=kd), dt=h)
    sim.command(position={"hinge": 1.0})
    positions, = watched(sim, round(0.5 / h), "hinge.position")
    t = h * np.arange(1, len(positions) + 1)
    w, zeta = np.sqrt(kp / inertia), kd / (2.0 * np.sqrt(kp * inertia))
    wd = w * np.sqrt(1.0 - zeta**2)
    exact = 1.0 - np.exp(-zeta * w * t) * (np.cos(wd * t) + zeta * w / wd * np.sin(wd * t))
    assert abs(positions - exact).max() < 16.0 * h


def test_steady_state_of_a_servo_under_load_with_and_without_integral():
    for ki, error in ((0.0, 5.0 / 200.0), (400.0, 0.0)):
        sim = simulated(disc(), mbros.PositionServo("s", joint="hinge", kp=200.0, kd=20.0, ki=ki))
        sim.command(position={"hinge": 0.3})
        sim.advance_to(20.0, tau=[-5.0])
        assert sim.state.q[0] == pytest.approx(0.3 - error, abs=1e-9)
        assert sim.signals["s.effort"].value == pytest.approx(5.0, abs=1e-6)


def test_a_velocity_servo_and_feed_forward():
    sim = simulated(disc(), mbros.VelocityServo("s", joint="hinge", kd=1e5))
    sim.command(velocity={"hinge": 2.0})
    sim.advance_to(0.1)
    assert sim.state.v[0] == pytest.approx(2.0, rel=1e-6)
    sim = simulated(disc(0.5), mbros.PositionServo("s", joint="hinge", kp=0.0))
    sim.command(effort={"hinge": 3.0})
    sim.advance_to(1.0)
    assert sim.state.v[0] == pytest.approx(6.0, rel=1e-12)


@pytest.mark.parametrize("kp", [100.0, 5e8])
def test_a_servo_keeps_its_limit_exactly_and_its_integral_does_not_wind_up(kp):
    inertia, limit = 0.5, 4.0
    sim = simulated(disc(inertia, limit=limit), mbros.PositionServo("s", joint="hinge", kp=kp, kd=kp / 5.0, ki=1000.0))
    sim.command(position={"hinge": 1.0})
    effort, position, saturated = watched(sim, 4000, "s.effort", "hinge.position", "s.saturated")
    assert abs(effort).max() <= limit and (effort == limit).sum() > 100 and (saturated == 1.0).sum() > 100
    assert position.max() < 1.25 and sim.plant.devices.repeated > 0
    # while it pushes at its limit: a motion of constant acceleration, to rounding
    first = np.argmax(saturated != 1.0)
    t = 1e-3 * np.arange(1, first + 1)
    assert position[:first] == pytest.approx(0.5 * limit / inertia * t**2, abs=2e-4)


def test_effort_with_a_lag_and_a_torque_speed_line():
    sim = simulated(disc(), mbros.EffortActuator("e", joint="hinge", time_constant=0.05))
    sim.command(effort={"hinge": 2.0})
    effort, = watched(sim, 100, "e.effort")
    assert effort == pytest.approx(2.0 * -np.expm1(-1e-3 * np.arange(1, 101) / 0.05), rel=1e-12)
    inertia, stall, speed = 0.5, 3.0, 8.0
    for dt in (1e-3, 2.0):                                        # on its line an actuator is a damper, of any stiffness
        sim = simulated(disc(inertia), mbros.EffortActuator("e", joint="hinge", stall_effort=stall, no_load_speed=speed), dt=dt)
        sim.command(effort={"hinge": 100.0})
        effort, v = watched(sim, 1000, "e.effort", "hinge.velocity")
        assert (effort <= stall * (1 - v / speed) + 1e-12).all() and v.max() <= speed and v[-1] > 0.5 * speed
        if dt < 1.0:
            t = dt * np.arange(1, 1001)
            assert v == pytest.approx(speed * -np.expm1(-stall / speed / inertia * t), abs=2e-2)
    held = disc(limit=1.5)
    sim = simulated(held, mbros.EffortActuator("e", joint="hinge"))
    sim.command(effort={"hinge": -9.0})
    assert watched(sim, 1, "e.effort")[0] == -1.5


@pytest.mark.parametrize("actuator", [
    mbros.EffortActuator("a", joint="hinge", time_constant=0.01, stall_effort=3.0, no_load_speed=8.0),
    mbros.EffortActuator("a", joint="hinge", time_constant=0.01, torque_speed_curve=[[0, 2.2], [0.5, 2.1], [1, 1], [3, 0.4]]),
    mbros.PositionServo("a", joint="hinge", kp=5e5, kd=100.0, effort_limit=20.0),
    mbros.VelocityServo("a", joint="hinge", kd=50.0, ki=10.0, effort_limit=20.0),
    mbros.ImpedanceServo("a", joint="hinge", kp=5e5, kd=100.0, effort_limit=20.0),
    mbros.SeriesElastic("a", joint="hinge", stiffness=1e4, damping=1.0, motor_inertia=0.1, kp=500.0, kd=10.0, backlash=0.01),
    mbros.Motor("a", joint="hinge", **MAXON)], ids=lambda a: a.type)
def test_what_the_joint_received_is_what_it_has(actuator):
    """The power of every actuator, summed, is the kinetic energy of a free disc, to 1e-9 of what passed."""
    inertia = 0.5
    sim = simulated(disc(inertia), actuator, v=1.0)
    passed = gained = 0.0
    for k in range(3000):
        target = np.sign(np.sin(0.004 * k))
        sim.command(position={"hinge": target}, velocity={"hinge": 2.0 * target}, effort={"hinge": 2.5 * target})
        sim.step()
        power = sim.signals["a.power"].value
        passed, gained = passed + abs(power) * 1e-3, gained + power * 1e-3
    assert passed > 1.0
    assert gained == pytest.approx(0.5 * inertia * (sim.state.v[0]**2 - 1.0), abs=1e-9 * passed)


def test_a_motors_power_balance():
    """Electrical = mechanical + heat + stored, where each comes from another side: the rotor and the inductance from what they hold, the
    heat of the winding from the temperatures, what remains is the gear's and never negative."""
    dt = 1e-3
    motor = mbros.Motor("m", joint="hinge", **dict(MAXON, case_to_ambient=1e9, winding_to_case=0.01))
    sim = simulated(disc(), motor)
    sums = np.zeros(4)
    passed = 0.0
    least_gear_heat = np.inf
    names = ["m.electrical_power", "m.power", "m.heat", "m.stored_power"]
    squares = 0.0
    for k in range(6000):
        sim.command(effort={"hinge": 15.0 * np.sign(np.sin(0.003 * k))})
        T = 20.0 * sim.signals["m.temperature"].value + 80.0 * sim.signals["m.case_temperature"].value
        sim.step()
        row = np.array([sim.signals[name].value for name in names])
        sums += row * dt
        passed += abs(row).max() * dt
        if k:
            heat = 20.0 * sim.signals["m.temperature"].value + 80.0 * sim.signals["m.case_temperature"].value - T
            squares += heat
            least_gear_heat = min(least_gear_heat, row[2] * dt - heat)
    i, v = sim.signals["m.current"].value, sim.state.v[0]
    stored = 0.5 * MAXON["inductance"] * i**2 + 0.5 * MAXON["rotor_inertia"] * 1e4 * v**2
    assert sums[0] == pytest.approx(sums[1:].sum(), abs=1e-9 * passed)
    assert sums[3] == pytest.approx(stored, abs=1e-9 * passed)
    assert sums[1] == pytest.approx(0.5 * 0.5 * v**2, abs=1e-9 * passed)
    assert squares > 0.1 and least_gear_heat > -1e-6 * passed


def test_a_motor_at_stall_without_load_and_in_thermal_steady_state():
    K, n, R, U = (MAXON[key] for key in ("torque_constant", "gear_ratio", "resistance", "voltage_limit"))
    warm = dict(MAXON, resistance_coefficient=0.0, current_limit=100.0)
    sim = simulated(disc(), mbros.Motor("m", joint="hinge", **warm))
    sim.model.joint("hinge").lock(sim.state)
    sim.command(effort={"hinge": 1e4})
    sim.advance_to(0.1)
    assert sim.signals["m.current"].value == pytest.approx(U / R, rel=1e-9)
    assert sim.signals["m.effort"].value == pytest.approx(0.8 * n * K * U / R, rel=1e-9)
    sim = simulated(disc(), mbros.Motor("m", joint="hinge", **warm))
    sim.command(effort={"hinge": 1e4})
    sim.advance_to(30.0)
    assert sim.state.v[0] == pytest.approx(U / (K * n), rel=1e-9)
    sim = simulated(disc(), mbros.Motor("m", joint="hinge", **MAXON), dt=0.05)
    sim.model.joint("hinge").lock(sim.state)
    current = 4.0
    sim.command(effort={"hinge": n * K * current})
    sim.advance_to(20000.0)
    rise = R * current**2 * 7.0
    expected = 25.0 + rise / (1.0 - 0.00393 * rise)               # R grows with what it causes
    assert sim.signals["m.temperature"].value == pytest.approx(expected, rel=1e-9)
    assert sim.signals["m.case_temperature"].value == pytest.approx(25.0 + (expected - 25.0) * 5.0 / 7.0, rel=1e-9)


def test_a_motor_against_an_independent_integration():
    """At its voltage limit, with an inductance that matters: current and speed of the differential equations."""
    numbers = dict(MAXON, inductance=5e-3, efficiency=1.0, resistance_coefficient=0.0, current_limit=1e3)
    K, n, R, L, U = (numbers[key] for key in ("torque_constant", "gear_ratio", "resistance", "inductance", "voltage_limit"))
    J = 0.5 + numbers["rotor_inertia"] * n * n
    exact = solve_ivp(lambda t, y: [(U - R * y[0] - K * n * y[1]) / L, n * K * y[0] / J], (0, 0.1), [0, 0], rtol=1e-10, atol=1e-12,
                      dense_output=True).sol
    errors = []
    for dt in (1e-3, 5e-4):
        sim = simulated(disc(), mbros.Motor("m", joint="hinge", **numbers), dt=dt)
        sim.command(effort={"hinge": 1e4})
        current, v = watched(sim, round(0.1 / dt), "m.current", "hinge.velocity")
        t = dt * np.arange(1, len(v) + 1)
        errors.append(max(abs(current - exact(t)[0]).max() / 20.0, abs(v - exact(t)[1]).max() / 5.0))
    assert errors[0] < 2e-3 and errors[1] < 0.3 * errors[0]       # of second order


def test_a_hot_motor_is_derated_and_cut_off():
    sim = simulated(disc(), mbros.Motor("m", joint="hinge", **dict(MAXON, derate_from=80.0, cut_off=100.0, ambient_temperature=90.0)))
    sim.model.joint("hinge").lock(sim.state)
    sim.command(effort={"hinge": 1e4})
    sim.step()
    assert sim.signals["m.current"].value == pytest.approx(5.0, rel=1e-3)
    sim = simulated(disc(), mbros.Motor("m", joint="hinge", **dict(MAXON, derate_from=80.0, cut_off=90.0, ambient_temperature=90.0)))
    sim.command(effort={"hinge": 1e4})
    sim.advance_to(0.1)
    assert sim.state.v[0] == 0.0
