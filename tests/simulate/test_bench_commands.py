"""What comes before the actuators of a joint, and commands beyond position, velocity and effort; brushless motors from data sheets."""
import numpy as np
import pytest
from bench_rigs import bench, disc

import mbros


def joint(**limits):
    b = mbros.ModelBuilder("disc", gravity=(0, 0, 0))
    body = b.add_body("disc", 1.0, (0, 0, 0), (0.5, 0.5, 0.5))
    b.add_joint(mbros.RevoluteJoint("hinge", b.world, body, axis=(0, 0, 1), **limits))
    return b.build()


def watched(sim, n, *names):
    rows = []
    for _ in range(n):
        sim.step()
        rows.append([sim.signals[name].value for name in names])
    return np.array(rows).T


# ---- limits of commands

def test_commands_are_clamped_to_the_joints_limits_or_to_others():
    model = joint(lower=-1.0, upper=2.0, velocity=3.0, effort=4.0)
    narrow = dict(lower=0.5, upper=0.6, velocity=1.0, effort=2.0)
    for words, ends, speed, effort in (({}, (-1.0, 2.0), 3.0, 4.0), (narrow, (0.5, 0.6), 1.0, 2.0)):
        sim = mbros.Simulator(model, bench=bench(mbros.EffortActuator("e", joint="hinge"),
                                                mbros.CommandLimits("l", joint="hinge", **words)))
        for side in (-1.0, 1.0):
            sim.command(position={"hinge": 9.0 * side}, velocity={"hinge": 9.0 * side}, effort={"hinge": 9.0 * side})
            passed, = watched(sim, 1, "l.position")
            assert passed[0] == ends[side > 0.0] and sim.signals["l.velocity"].value == side * speed
            assert sim.signals["l.effort"].value == sim.signals["e.effort"].value == side * effort
            assert sim.signals["hinge.command.effort"].value == 9.0 * side     # what came stays to be seen
    sim.command(position={"hinge": float("nan")})
    sim.step()
    assert np.isnan(sim.signals["l.position"].value)


def test_rates_of_commands():
    sim = mbros.Simulator(disc(), bench=bench(mbros.PositionServo("s", joint="hinge", kp=1e7, kd=1e4), mbros.CommandLimits(
        "l", joint="hinge", position_rate=2.0, velocity_rate=5.0, effort_rate=100.0)))
    sim.state.q[:] = 0.3
    sim.command(position={"hinge": 1.3}, velocity={"hinge": 0.0}, effort={"hinge": 10.0})
    position, effort = watched(sim, 600, "l.position", "l.effort")
    t = 1e-3 * np.arange(1, 601)
    assert position == pytest.approx(np.minimum(0.3 + 2.0 * t, 1.3), abs=1e-12)
    assert effort == pytest.approx(np.minimum(100.0 * t, 10.0), abs=1e-12)
    sim.command(velocity={"hinge": -1.0})
    velocity, = watched(sim, 300, "l.velocity")
    assert velocity == pytest.approx(np.maximum(-5.0 * t[:300], -1.0), abs=1e-12)


def test_soft_limits_bound_the_velocity_near_the_ends():
    """A velocity command towards an end: the joint comes to rest at the soft limit, exponentially, and does not pass it."""
    model = joint(lower=-1.0, upper=1.0, velocity=2.0)
    limits = mbros.CommandLimits("l", joint="hinge", margin=0.1, k_position=10.0)
    sim = mbros.Simulator(model, bench=bench(mbros.VelocityServo("s", joint="hinge", kd=1e4), limits))
    sim.command(velocity={"hinge": 2.0})
    q, v = watched(sim, 3000, "hinge.position", "l.velocity")
    assert q.max() <= 0.9 + 1e-9 and q[-1] == pytest.approx(0.9, abs=1e-6)
    near = (q > 0.75) & (q < 0.89)
    assert v[1:][near[:-1]] == pytest.approx(10.0 * (0.9 - q[:-1][near[:-1]]), abs=1e-9)
    sim.state.q[:] = 0.95                                         # beyond it: it is led back, whatever is commanded
    v, = watched(sim, 1, "l.velocity")
    assert v[0] == pytest.approx(-0.5, abs=1e-9)


def test_soft_limits_bound_the_effort():
    model = joint(lower=-1.0, upper=1.0, velocity=2.0, effort=20.0)
    sim = mbros.Simulator(model, bench=bench(mbros.EffortActuator("e", joint="hinge"), mbros.CommandLimits(
        "l", joint="hinge", margin=0.1, k_position=5.0, k_velocity=30.0)))
    sim.command(effort={"hinge": 20.0})
    q, v = watched(sim, 6000, "hinge.position", "hinge.velocity")
    assert q.max() < 0.95 and v.max() < 2.0 + 1e-9 and q[-1] == pytest.approx(0.9, abs=1e-3)


def test_limits_stand_before_the_actuator_in_any_order_of_definition():
    model = joint(lower=-1.0, upper=1.0)
    devices = [mbros.PositionServo("s", joint="hinge", kp=100.0, kd=10.0), mbros.CommandLimits("l", joint="hinge", position_rate=1.0)]
    ends = []
    for order in (devices, devices[::-1]):
        sim = mbros.Simulator(model, bench=bench(*order))
        sim.command(position={"hinge": 5.0})
        sim.advance_to(0.5)
        ends.append(sim.state.q[0])
    assert ends[0] == ends[1] and 0.2 < ends[0] < 0.5


def test_limits_alone_exert_nothing_and_are_refused_where_nothing_is_left():
    sim = mbros.Simulator(disc(), bench=bench(mbros.CommandLimits("l", joint="hinge")))
    sim.command(effort={"hinge": 5.0})
    sim.advance_to(0.1)
    assert sim.state.v[0] == 0.0
    with pytest.raises(mbros.MbrosError, match="nothing is left between"):
        mbros.CommandLimits("l", joint="hinge", lower=0.0, upper=1.0, margin=0.6)
    with pytest.raises(mbros.ModelError, match="nothing is left"):
        mbros.Simulator(joint(lower=-0.1, upper=0.1), bench=bench(mbros.CommandLimits("l", joint="hinge", margin=0.2)))


# ---- stiffness and damping as commands

def test_an_impedance_servo_follows_its_five_commands():
    sim = mbros.Simulator(disc(), bench=bench(mbros.ImpedanceServo("s", joint="hinge", kp=50.0, kd=5.0)))
    sim.command(position={"hinge": 0.3}, velocity={"hinge": 0.0})
    sim.advance_to(5.0, [-1.0])
    assert sim.state.q[0] == pytest.approx(0.3 - 1.0 / 50.0, abs=1e-9)      # its own numbers
    sim.command(stiffness={"hinge": 200.0}, damping={"hinge": 20.0}, effort={"hinge": 2.0})
    sim.advance_to(10.0, [-1.0])
    assert sim.state.q[0] == pytest.approx(0.3 + 1.0 / 200.0, abs=1e-9)
    sim.command(stiffness={"hinge": float("nan")})
    sim.advance_to(11.0, [-1.0])
    assert sim.state.q[0] == pytest.approx(0.3 + 1.0 / 200.0, abs=1e-9)     # withdrawn: the last one
    sim.command(stiffness={"hinge": 0.0}, damping={"hinge": -3.0}, effort={"hinge": 1.0})
    v = sim.state.v[0]
    sim.advance_to(12.0, [-1.0])
    assert sim.state.v[0] == pytest.approx(v, abs=1e-12)          # free
    sim.command(stiffness={"hinge": 1e12}, damping={"hinge": 0.0}, effort={"hinge": 0.0}, position={"hinge": -0.2})
    sim.advance_to(14.0)
    assert sim.state.q[0] == pytest.approx(-0.2, abs=1e-9)        # any gain is stable


def test_an_impedance_servo_that_is_given_its_gains_is_a_position_servo():
    sims = [mbros.Simulator(disc(limit=6.0), bench=bench(device)) for device in (
        mbros.PositionServo("s", joint="hinge", kp=70.0, kd=7.0), mbros.ImpedanceServo("s", joint="hinge"))]
    sims[1].command(stiffness={"hinge": 70.0}, damping={"hinge": 7.0})
    for sim in sims:
        for k in range(2000):
            sim.command(position={"hinge": np.sin(0.01 * k)}, velocity={"hinge": 10.0 * np.cos(0.01 * k)}, effort={"hinge": 0.3})
            sim.step()
    assert sims[0].state.q[0] == sims[1].state.q[0] and sims[0].plant.devices.repeated == sims[1].plant.devices.repeated > 0


# ---- brushless motors

SERVO = dict(line_resistance=0.8, line_inductance=2e-3, pole_pairs=4, voltage_limit=48.0, current_limit_rms=15.0, gear_ratio=50.0)


def test_a_brushless_motor_has_the_losses_and_the_torque_of_three_windings():
    """Between two lines it is a DC motor: torque, copper losses and back electromotive force by the formulas of three windings."""
    rms = 10.0
    motor = mbros.BrushlessMotor("m", joint="hinge", torque_constant_rms=0.11, resistance_coefficient=0.0, **SERVO)
    sim = mbros.Simulator(disc(), bench=bench(motor))
    sim.model.joint("hinge").lock(sim.state)
    sim.command(effort={"hinge": 50.0 * 0.11 * rms})
    sim.advance_to(0.1)
    assert sim.signals["m.effort"].value == pytest.approx(50.0 * 0.11 * rms, rel=1e-9)
    assert sim.signals["m.heat"].value == pytest.approx(3.0 * rms**2 * 0.4, rel=1e-9)              # 3 I^2 R of a phase
    kinds = dict(torque_constant_rms=0.11, torque_constant_peak=0.11 / np.sqrt(2.0),
                 voltage_constant=0.11 / np.sqrt(3.0) * 1000.0 * np.pi / 30.0, speed_constant=30.0 / np.pi / (0.11 / np.sqrt(1.5)))
    for word, value in kinds.items():
        other = mbros.BrushlessMotor("m", joint="hinge", **{word: value}, **SERVO)
        assert other.values["torque_constant"] == pytest.approx(motor.values["torque_constant"], rel=1e-12), word
    assert motor.values["current_limit"] == pytest.approx(15.0 * np.sqrt(1.5))


def test_the_speed_of_a_brushless_motor_and_the_voltage_across_its_inductance():
    """Without load the bus voltage is the peak of the electromotive force between lines; under load, U^2 = (R i + k w)^2 + (p w L i)^2."""
    load, n = 20.0, 50.0
    words = dict(SERVO, resistance_coefficient=0.0)
    for pole_pairs in (0, 4):
        motor = mbros.BrushlessMotor("m", joint="hinge", speed_constant=120.0, **dict(words, pole_pairs=pole_pairs))
        sim = mbros.Simulator(disc(), bench=bench(motor))
        k = 30.0 / np.pi / 120.0
        sim.command(effort={"hinge": 1e3})
        sim.advance_to(10.0)
        assert sim.state.v[0] * n == pytest.approx(48.0 / k, rel=1e-6)
        sim.advance_to(20.0, [-load])
        i, w = sim.signals["m.current"].value, sim.state.v[0] * n
        assert i == pytest.approx(load / (n * k), rel=1e-6)
        assert (0.8 * i + k * w)**2 + (pole_pairs * w * 2e-3 * i)**2 == pytest.approx(48.0**2, rel=1e-6)


@pytest.mark.parametrize("words, text", [
    ({}, "it has no torque constant"),
    (dict(speed_constant=100.0, torque_constant_rms=1.0), "it has torque_constant_rms and speed_constant"),
    (dict(speed_constant=0.0), "speed_constant is 0"), (dict(speed_constant=9.0, resistance=2.0), "resistance")])
def test_refusals_of_brushless_motors(words, text):
    with pytest.raises((mbros.MbrosError, TypeError), match=text):
        mbros.BrushlessMotor("m", joint="hinge", **words, **SERVO)
