"""What the second trial found of sources, buses and motors, each against a closed form or an independent integration."""
import re

import mbros
import numpy as np
import pytest
from bench_rigs import bench, disc
from mbros.bench.source import SourceWarning
from scipy.integrate import solve_ivp
from source_rigs import H, follow, real, rig, sample, swing

# ------------------------------------------------------------------------------------------------ H6: stamps of the future


def test_trial_H6_samples_of_the_future_are_counted_and_said():
    sim = rig()
    for _ in range(7):
        q, v, _ = swing(sim.time)
        sim.feed(position={"cart": q}, velocity={"cart": v}, time=sim.time + 1.0)
        sim.step()
    source = sim.sources["cart"]
    assert (source.ahead, source.ignored) == (7, 7) and source.ahead_by == pytest.approx(1.0) and np.isnan(source.age)
    with pytest.raises(mbros.MbrosError, match="7 samples were not used: their stamps are ahead of the simulation's time, the newest by 1 "
                                               "s; it has had no sample beside them"):
        sim.sources["cart"] = "real"
    sample(sim)
    sim.sources["cart"] = "real"
    assert sim.sources["cart"].mode == "real"
    sim.reset()
    assert sim.sources["cart"].ahead == 0 and np.isnan(sim.sources["cart"].ahead_by)


def test_trial_H6_samples_that_are_only_old_are_not_of_the_future():
    sim = rig()
    sim.advance_to(0.1)
    for t in (0.09, 0.08):
        sim.feed(position={"cart": 0.0}, time=t)
    assert (sim.sources["cart"].ahead, sim.sources["cart"].ignored) == (0, 1)


# ------------------------------------------------------------------------------------------------ H7: speed and signs

def slow_disc(limit=1.7):
    b = mbros.ModelBuilder("slow", gravity=(0, 0, 0))
    body = b.add_body("disc", 1.0, (0, 0, 0), (0.5, 0.5, 0.5))
    b.add_joint(mbros.RevoluteJoint("hinge", b.world, body, axis=(0, 0, 1), velocity=limit))
    return b.build()


def fed(period, law, until=0.5, limit=1.7, **words):
    """A simulator whose real joint follows law(t) = q, v (None: by difference), a sample every `period`."""
    sim = mbros.Simulator(slow_disc(limit), H, bench=bench(mbros.JointSource("s", joint="hinge", **words)))
    sim.state.q[0] = law(0.0)[0]
    for k in range(round(until / H)):
        if k % round(period / H) == 0:
            q, v = law(sim.time)
            sim.feed(position={"hinge": q}, velocity=None if v is None else {"hinge": v}, time=sim.time)
        if k == 0:
            sim.sources["hinge"] = "real"
        sim.step()
    return sim


@pytest.mark.parametrize("period", [0.001, 0.002, 0.01, 0.02])
@pytest.mark.parametrize("measured", [True, False])
def test_trial_H7_what_a_joint_can_do_never_jumps_and_what_it_cannot_does(period, measured):
    """At its largest speed, turning back at once, it is exactly at the bound; 0.09 rad in a millisecond were let through."""
    def back_and_forth(t):
        up = t % 0.4 < 0.2
        return (1.7 * (t % 0.4) if up else 1.7 * (0.4 - t % 0.4)), (1.7 if up else -1.7) if measured else None

    assert fed(period, back_and_forth).sources["hinge"].trips == 0
    with pytest.warns(SourceWarning, match="jumped farther than its joint can go: it was 0.09 rad from the last one"):
        sim = fed(period, lambda t: (0.09 if t > 0.2 else 0.0, 0.0 if measured else None))
    assert sim.sources["hinge"].trips == 1
    assert sim.sources["hinge"]._memory["JUMPED_MOST"] == pytest.approx(2 * 1.7 * period)


def test_trial_H7_a_jump_that_is_given_is_the_bound_and_without_a_speed_it_is_a_tenth():
    step = lambda t: (0.09 if t > 0.2 else 0.0, 0.0)                # noqa: E731
    assert fed(0.001, step, jump=0.1).sources["hinge"].trips == 0
    assert fed(0.001, step, speed=50.0).sources["hinge"].trips == 0
    free = fed(0.001, step, limit=float("inf"))
    assert free.sources["hinge"].trips == 0 and free.sources["hinge"].numbers.jump == 0.1
    own = fed(0.001, lambda t: (0.0, 0.0)).sources["hinge"].numbers
    assert own.speed == 1.7 and own.jump == float("inf")
    own.speed = 2.0
    assert own.speed == 2.0


def test_trial_H7_velocities_of_the_wrong_sign_are_seen():
    def wrong(t):
        q, v, _ = swing(t)
        return q, -v

    sim = rig()
    for _ in range(100):
        q, v = wrong(sim.time)
        sim.feed(position={"cart": q}, velocity={"cart": v})
        sim.step()
    with pytest.raises(mbros.MbrosError, match=r"its positions went \+0.01\d* m, and its velocities say -0.01\d* m. Look at the sign"):
        sim.sources["cart"] = "real"
    sim = real()
    with pytest.warns(SourceWarning, match="its velocities contradict its positions: its positions went"):
        for k in range(200):
            q, v = wrong(sim.time) if k > 100 else swing(sim.time)[:2]
            sim.feed(position={"cart": q}, velocity={"cart": v})
            sim.step()
    assert sim.sources["cart"].trips == 1 and "contradict" in sim.sources["cart"].reason


@pytest.mark.parametrize("noise, lag", [(0.0, 0.0), (1e-4, 0.0), (0.0, 0.05)])
def test_trial_H7_right_velocities_are_not_refused(noise, lag):
    """With noise of a coarse encoder, or behind a filter of a twentieth of a second."""
    rng = np.random.default_rng(0)
    sim = real(velocity_jump=1e9, jump=0.5)
    for _ in range(3000):
        q, _, _ = swing(sim.time)
        _, v, _ = swing(max(sim.time - lag, 0.0))
        sim.feed(position={"cart": q + noise * rng.normal()}, velocity={"cart": v + 300 * noise * rng.normal()})
        sim.step()
    assert sim.sources["cart"].trips == 0 and sim.sources["cart"].mode == "real"


# ------------------------------------------------------------------------------------------------ H8: the residual

def shadowed(observer, friction=6.0, steps=3000):
    """(steps,) of the residual of joint2 of an arm7 in the shadow of one with 19-bit encoders; dry friction from 1.5 s on."""
    names = [f"joint{k}" for k in range(1, 8)]
    robot = mbros.Simulator(mbros.load("arm7"), H, bench=bench(
        mbros.PositionServo("*.servo", joint="joint*", kp=1000, kd=60), mbros.Encoder("*.encoder", joint="joint*", counts=2**19),
        mbros.Fault("dry", "friction", joint="joint2", coulomb=friction, at=1.5)))
    shadow = mbros.Simulator(mbros.load("arm7"), H, bench=bench(mbros.JointSource("*.source", joint="joint*", observer=observer, jump=1.0)))
    reads = [[robot.signals[f"{name}.{word}"] for name in names] for word in ("encoder.position", "encoder.velocity", "servo.effort")]
    out = np.empty(steps)
    for k in range(steps):
        robot.command(position={name: 0.3 * np.sin(1.5 * robot.time + j + 1) for j, name in enumerate(names)})
        robot.step()
        q, v, tau = ({name: signal.value for name, signal in zip(names, row)} for row in reads)
        shadow.feed(position=q, velocity=v, effort=tau, time=shadow.time)
        for name in names if k == 5 else ():
            shadow.sources[name] = "real"
        shadow.step()
        out[k] = shadow.sources["joint2"].residual
    return out


def test_trial_H8_friction_of_six_newton_metres_is_seen_through_quantisation():
    raw, seen = shadowed(0.0), shadowed(0.05)
    rms = lambda x: float(np.sqrt(np.mean(x**2)))                   # noqa: E731
    assert rms(raw[500:1500]) > 30.0 and abs(rms(raw[1800:]) / rms(raw[500:1500]) - 1.0) < 0.15     # drowned
    assert rms(seen[500:1500]) < 1.5 and 5.5 < np.abs(seen[1800:]).mean() < 6.5
    assert np.abs(seen[500:1500]).max() < 3.0 and (np.abs(seen[1800:]) > 3.0).mean() > 0.9     # one bound tells them apart


def test_trial_H8_the_observer_is_the_lag_of_a_momentum_observer():
    """Of an effort that is measured wrong by a step, 1 - exp(-t / T), whatever the noise; and the mean of what there was before."""
    T = 0.05
    sim = real(observer=T, blend=0.01, filter=0.0)
    out = []
    for k in range(400):
        q, v, a = swing(sim.time)
        sim.feed(position={"cart": q}, velocity={"cart": v}, effort={"cart": 0.0 if k < 200 else -10.0})
        sim.step()
        out.append((sim.sources["cart"].residual, sim.sources["cart"].effort))
    residual, effort = np.array(out).T
    expected, r, begun = [], None, 0
    for k in range(400):                                            # its recursion, from the efforts
        x = effort[k] - (0.0 if k < 200 else -10.0)
        if np.isnan(residual[k]):
            expected.append(np.nan)
            continue
        r, begun = (x, k) if r is None else (r + H / (min(T, (k - begun) * H) + H) * (x - r), begun)
        expected.append(r)
    assert np.nanmax(np.abs(residual - expected)) < 1e-9 and np.isnan(residual).sum() < 15
    assert follow(real(observer=0.0), 0.05).shape == (50, 2)


# ------------------------------------------------------------------------------------------------ H10: messages of a bus

def lost_together(kind, message, n=3000):
    """Steps in which no message of position, of velocity, and of another joint's position came (3, n)."""
    words = {"burst_loss": dict(loss=0.1, at=0.0), "channel": dict(loss=0.1)}[kind]
    pattern = "joint*.encoder.*"
    worse = (mbros.Channel("bus", signal=pattern, message=message, **words) if kind == "channel" else
             mbros.Fault("bus", kind, signal=pattern, message=message, **words))
    sim = mbros.Simulator(mbros.load("arm7"), H, bench=bench(mbros.Encoder("*.encoder", joint="joint*", counts=4096), worse, seed=3))
    reads = [sim.signals[f"joint2.encoder.{word}"] for word in ("position", "velocity")] + [sim.signals["joint3.encoder.position"]]
    out = np.empty((n, 3), bool)
    for k in range(n):
        sim.step()
        out[k] = [not abs(read.time - sim.time) < 0.5 * H for read in reads]
    return out.T


@pytest.mark.parametrize("kind", ["burst_loss", "channel"])
def test_trial_H10_what_travels_in_one_message_is_lost_together(kind):
    position, velocity, other = lost_together(kind, "device")
    assert (position == velocity).all() and 0.07 < position.mean() < 0.13
    assert 0.15 < (position ^ other).mean() < 0.21                  # of two that are independent 2 p (1 - p)
    alone = lost_together(kind, "signal")
    assert (alone[0] == position).all() and 0.15 < (alone[0] ^ alone[1]).mean() < 0.21       # the first one's bits are the same
    everything = lost_together(kind, "all")
    assert (everything[0] == everything).all() and 0.07 < everything[0].mean() < 0.13


@pytest.mark.parametrize("message", ["device", "signal"])
def test_trial_H10_what_travels_in_one_message_is_late_together(message):
    sim = mbros.Simulator(mbros.load("arm7"), H, bench=bench(
        mbros.PositionServo("*.servo", joint="joint*", kp=400, kd=20),
        mbros.Channel("bus", signal="joint2.command.*", delay=0.01, jitter=0.008, distribution="uniform", message=message)))
    came = []
    for k in range(300):
        sim.command(position={"joint2": float(k)}, velocity={"joint2": float(k)})
        sim.step()
        came.append([sim.signals[f"joint2.command.{word}"].value for word in ("position", "velocity")])
    position, velocity = np.array(came[50:]).T
    assert (position == velocity).all() == (message == "device") and len(set(np.diff(position))) > 2


@pytest.mark.parametrize("make, said", [
    (lambda: mbros.Fault("x", "frozen", signal="a.b", message="all"), "Kinds of a bus have one: lost, burst_loss, late"),
    (lambda: mbros.Fault("x", "lost", signal="a.b", message="frame"), "message"),
    (lambda: mbros.Channel(signal="a.b", loss=0.1, message="joint"), "message")])
def test_trial_H10_a_message_that_is_none_is_refused(make, said):
    with pytest.raises(mbros.MbrosError, match=re.escape(said)):
        make()


# ------------------------------------------------------------------------------------------------ H12: voltages, and the motor's side

DATA = dict(resistance=0.611, torque_constant=25.9e-3, gear_ratio=50.0, efficiency=1.0, rotor_inertia=3.33e-5, voltage_limit=24.0,
            current_limit=1e3, case_to_ambient=1e9, resistance_coefficient=0.0)
I = 0.5


def driven(U, T, dt=1e-3, inertia=I, **changed):
    sim = mbros.Simulator(disc(inertia), dt, bench=bench(mbros.Motor("m", joint="hinge", **{**DATA, **changed})))
    sim.command(voltage={"hinge": U})
    rows = []
    for _ in range(round(T / dt)):
        sim.step()
        rows.append([sim.state.v[0], *(sim.signals[f"m.{name}"].value for name in (
            "current", "voltage", "electrical_power", "power", "heat", "stored_power"))])
    return np.array(rows).T


def test_trial_H12_a_voltage_turns_a_motor_as_its_equations_say():
    """Without inductance: w = U / (k n) (1 - exp(-t / tau)), tau = (I + J n^2) R / (k n)^2."""
    k, n, R, J = DATA["torque_constant"], DATA["gear_ratio"], DATA["resistance"], DATA["rotor_inertia"]
    tau = (I + J * n * n) * R / (k * n) ** 2
    errors = []
    for dt in (2e-3, 1e-3, 5e-4):
        v, current, voltage, *powers = driven(12.0, 0.4, dt)
        t = dt * np.arange(1, len(v) + 1)
        errors.append(np.abs(v - 12.0 / (k * n) * (1.0 - np.exp(-t / tau))).max())
        assert (voltage == 12.0).all() and powers[0] == pytest.approx(powers[1] + powers[2] + powers[3], abs=1e-9)
    assert errors[1] < 1e-4 and errors[1] < 0.3 * errors[0] and errors[2] < 0.3 * errors[1]


def test_trial_H12_with_inductance_against_an_independent_integration():
    L, k, n, R, J = 5e-3, DATA["torque_constant"], DATA["gear_ratio"], DATA["resistance"], DATA["rotor_inertia"]
    exact = solve_ivp(lambda t, y: [(12.0 - R * y[0] - k * n * y[1]) / L, k * n * y[0] / (I + J * n * n)], (0.0, 0.2), [0.0, 0.0],
                      rtol=1e-11, atol=1e-13).y[:, -1]
    errors = [np.abs(np.array(driven(12.0, 0.2, dt, inductance=L)[:2])[::-1, -1] - exact).max() for dt in (1e-3, 5e-4, 2.5e-4)]
    assert errors[0] < 0.02 and errors[1] < 0.6 * errors[0] and errors[2] < 0.6 * errors[1]


def test_trial_H12_voltage_and_current_keep_their_limits():
    assert set(driven(100.0, 0.05)[2]) == {24.0} and set(driven(-100.0, 0.05)[2]) == {-24.0}
    v, current, voltage, *powers = driven(8.0, 1.0, current_limit=5.0)
    k, n, J = DATA["torque_constant"], DATA["gear_ratio"], DATA["rotor_inertia"]
    assert current.max() == 5.0 and current[0] == 5.0 and voltage[0] < 8.0 and voltage[-1] == 8.0
    assert v[0] == pytest.approx(5.0 * k * n / (I + J * n * n) * 1e-3, rel=1e-9) and current[-1] < 4.9
    assert powers[0] == pytest.approx(powers[1] + powers[2] + powers[3], abs=1e-9)


def test_trial_H12_a_voltage_comes_before_an_effort_until_it_is_withdrawn():
    sim = mbros.Simulator(disc(I), bench=bench(mbros.Motor("m", joint="hinge", **DATA)))
    sim.command(effort={"hinge": 2.0}, voltage={"hinge": 0.0})
    sim.step()
    assert sim.signals["m.voltage"].value == 0.0 and sim.signals["m.effort"].value == 0.0
    sim.command(voltage={"hinge": float("nan")})
    sim.step()
    assert sim.signals["m.effort"].value == pytest.approx(2.0, rel=0.5) and sim.signals["hinge.command.voltage"].unit == "V"
    servo = mbros.Simulator(disc(I), bench=bench(mbros.PositionServo("s", joint="hinge", kp=1.0)))
    with pytest.raises(mbros.MbrosError, match="no actuator of joint 'hinge' takes a command of voltage"):
        servo.command(voltage={"hinge": 1.0})


@pytest.mark.parametrize("bandwidth", [0.0, 300.0])
def test_trial_H12_an_encoder_on_the_motors_side_has_a_velocity(bandwidth):
    counts, n = 4096, DATA["gear_ratio"]
    sim = mbros.Simulator(disc(I), bench=bench(
        mbros.Motor("m", joint="hinge", stiffness=200.0, damping=0.1, motor_inertia=0.0, **DATA),
        mbros.Encoder("motor", joint="hinge", side="motor", counts=counts, range=2 * np.pi / n, bandwidth=bandwidth),
        mbros.Encoder("joint", joint="hinge", counts=counts, bandwidth=bandwidth)))
    out = []
    for _ in range(500):
        sim.command(voltage={"hinge": 4.0 * np.sin(20.0 * sim.time)})
        sim.step()
        out.append([sim.signals[name].value for name in ("motor.position", "m.motor_position", "motor.velocity", "m.motor_velocity",
                                                         "joint.velocity", "hinge.velocity")])
    position, theta, velocity, w, _, v = np.array(out)[100:].T
    quantum = 2 * np.pi / n / counts
    assert (position == np.floor(theta / quantum) * quantum).all() or np.abs(position - np.floor(theta / quantum) * quantum).max() < 1e-12
    lag = {0.0: 0.02, 300.0: 0.2}[bandwidth] * np.abs(w).max() + quantum / H
    assert np.abs(velocity - w).max() < lag < np.abs(v - w).max()      # it is the motor's, and not the joint's
    words = mbros.Encoder("e", joint="hinge", side="motor")
    assert words.changed(name="f").side == "motor" and words.with_numbers("e", {}).side == "motor"


def test_trial_H12_a_motors_side_that_is_not_there_is_refused():
    with pytest.raises(mbros.ModelError, match="has no drive behind a spring"):
        mbros.Simulator(disc(), bench=bench(mbros.Motor("m", joint="hinge", **DATA), mbros.Encoder("e", joint="hinge", side="motor")))
    with pytest.raises(mbros.MbrosError, match="side"):
        mbros.Encoder("e", joint="hinge", side="output")
