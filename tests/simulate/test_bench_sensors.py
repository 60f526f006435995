"""Sensors against formulas: without noise to rounding, with it by their Allan deviation."""
import numpy as np
import pytest
from bench_rigs import bench, disc, rotating_arm

import mbros


def imu_of(sim):
    return sim.signals["imu.angular_velocity"].value, sim.signals["imu.linear_acceleration"].value


def test_an_imu_at_rest_and_on_a_rotating_arm():
    arm, w = 0.7, 3.0
    for spin in (0.0, w):
        sim = mbros.Simulator(rotating_arm(arm), bench=bench(mbros.Imu("imu", frame="tip")))
        sim.state.v[:] = spin
        sim.advance_to(0.25)
        gyro, accel = imu_of(sim)
        assert gyro == pytest.approx([0, 0, spin], abs=1e-12)
        inward = -spin**2 * arm                                    # along x of the link; the frame is turned by 30 degrees about z
        assert accel == pytest.approx([inward * np.cos(np.pi / 6), -inward * np.sin(np.pi / 6), 9.81], abs=1e-12)


@pytest.mark.parametrize("integrator", ["midpoint", "semi_implicit_euler"])
def test_an_imu_on_an_accelerated_arm_and_in_free_fall(integrator):
    arm, tau = 0.7, 0.4
    model = rotating_arm(arm)
    inertia = 0.1 + 2.0 * 0.2**2
    sim = mbros.Simulator(model, integrator=integrator, bench=bench(mbros.Imu("imu", frame="tip")))
    sim.advance_to(0.5, tau=[tau])
    gyro, accel = imu_of(sim)
    w, alpha = tau / inertia * 0.5, tau / inertia
    link = np.array([-w * w * arm, alpha * arm])
    turn = np.array([[np.cos(np.pi / 6), np.sin(np.pi / 6)], [-np.sin(np.pi / 6), np.cos(np.pi / 6)]])
    assert gyro == pytest.approx([0, 0, w], abs=1e-12)
    assert accel == pytest.approx([*(turn @ link), 9.81], abs=1e-11)
    dog = mbros.load("quadruped")
    sim = mbros.Simulator(dog, integrator=integrator, bench=bench(mbros.Imu("imu", frame=dog.bodies[1].name)))
    sim.advance_to(0.05)
    assert imu_of(sim)[1] == pytest.approx([0, 0, 0], abs=1e-9)


def test_scale_misalignment_bias_and_range_of_an_imu():
    matrix = [1.01, 0.002, 0.0, 0.0, 0.99, 0.0, 0.03, 0.0, 1.02]
    sim = mbros.Simulator(rotating_arm(), bench=bench(mbros.Imu("imu", frame="tip", accel_matrix=matrix, accel_bias=0.1, gyro_range=2.0)))
    sim.state.v[:] = 5.0
    sim.advance_to(0.01)
    ideal = mbros.Simulator(rotating_arm(), bench=bench(mbros.Imu("imu", frame="tip")))
    ideal.state.v[:] = 5.0
    ideal.advance_to(0.01)
    assert imu_of(sim)[1] == pytest.approx(np.reshape(matrix, (3, 3)) @ imu_of(ideal)[1] + 0.1, abs=1e-12)
    assert imu_of(sim)[0] == pytest.approx([0, 0, 2.0], abs=1e-12)


def allan(x, rate, times):
    """Overlapping Allan deviation of rates x at averaging times."""
    s = np.concatenate([[0.0], np.cumsum(x)]) / rate
    out = []
    for T in times:
        n = max(1, round(T * rate))
        d = s[2 * n:] - 2.0 * s[n:-n] + s[:-2 * n]
        out.append(np.sqrt(np.mean(d**2) / 2.0) / (n / rate))
    return np.array(out)


def noise_of(rate, steps, **numbers):
    """Readings of 12 gyros at rest, (12, steps)."""
    model = rotating_arm(gravity=(0, 0, 0))
    sim = mbros.Simulator(model, dt=1.0 / rate, bench=bench(*(mbros.Imu(f"imu{k}", frame="tip", **numbers) for k in range(4)), seed=5))
    at = [sim.plant.devices.block[2:][row.at + sim._bench.size:][:3] for row in sim._bench.rows if row.name.endswith("angular_velocity")]
    out = np.empty((12, steps))
    step = sim.plant.step
    for k in range(steps):
        step()
        out[:, k] = np.concatenate(at)
    return out


def mean_allan(x, rate, times):
    return np.sqrt(np.mean([allan(row, rate, times)**2 for row in x], axis=0))


def test_allan_deviation_of_white_noise_over_three_decades():
    x = noise_of(100.0, 200_000, gyro_noise_density=1e-3)
    times = np.array([0.01, 0.1, 1.0, 10.0])
    assert mean_allan(x, 100.0, times) == pytest.approx(1e-3 / np.sqrt(times), rel=0.05)


def test_allan_deviation_of_a_random_walk_and_of_bias_instability():
    times = np.array([1.0, 3.0, 10.0, 30.0, 100.0])
    x = noise_of(10.0, 100_000, gyro_random_walk=1e-4)
    assert mean_allan(x, 10.0, times[:4]) == pytest.approx(1e-4 * np.sqrt(times[:4] / 3.0), rel=0.05)
    B, Tc = 2e-3, 20.0
    x = noise_of(10.0, 100_000, gyro_bias_instability=B, gyro_correlation_time=Tc)[:, 5000:]
    density = 0.6642824702679600 * B / (0.4365424710738057 * np.sqrt(Tc))
    r = times / Tc
    exact = density * np.sqrt(Tc / r * (1.0 - (3.0 - 4.0 * np.exp(-r) + np.exp(-2.0 * r)) / (2.0 * r)))
    found = mean_allan(x, 10.0, times)
    assert found == pytest.approx(exact, rel=0.05)
    assert mean_allan(x, 10.0, [1.892618 * Tc]) == pytest.approx(0.664 * B, rel=0.05)


def test_an_encoder_counts():
    sim = mbros.Simulator(disc(), bench=bench(
        mbros.Encoder("fine", joint="hinge"), mbros.Encoder("absolute", joint="hinge", counts=1000, offset=0.1),
        mbros.Encoder("incremental", joint="hinge", counts=1000, incremental=1), mbros.Encoder("slow", joint="hinge", rate=100.0)))
    sim.state.q[:], sim.state.v[:] = 0.5, 2.0
    value = lambda name: sim.signals[name].value                  # noqa: E731
    step = 2.0 * np.pi / 1000
    start = 0.5 + 2.0 * 1e-3                                      # the first sample
    turns = 0
    for k in range(1, 5001):
        sim.step()
        q = sim.state.q[0]
        assert value("fine.position") == pytest.approx(q, abs=1e-12)
        assert value("absolute.position") == pytest.approx(np.floor((q - 0.1) / step) * step, abs=1e-12)
        assert 0.0 <= q - start - value("incremental.position") < step + 1e-12
        assert k == 1 or value("fine.velocity") == pytest.approx(2.0, abs=1e-9)
        turns += value("fine.index")
        if k % 10 == 0:
            assert value("slow.position") == pytest.approx(q, abs=1e-12) and (k == 10 or value("slow.velocity") == pytest.approx(2.0))
    assert turns == np.floor(sim.state.q[0] / (2 * np.pi)) and abs(value("absolute.velocity") - 2.0) <= step / 1e-3


def test_an_observer_of_the_velocity():
    """No error in the steady state, the bandwidth it says in between."""
    dt, w = 1e-3, 50.0
    sim = mbros.Simulator(disc(), bench=bench(mbros.Encoder("e", joint="hinge", bandwidth=w)))
    sim.state.v[:] = 2.0
    seen = []
    for _ in range(1000):
        sim.step()
        seen.append(sim.signals["e.velocity"].value)
    t = dt * np.arange(1000)
    assert np.array(seen) == pytest.approx(2.0 * (1.0 - np.exp(-w * t) * (1.0 + w * t)), abs=0.06)
    assert seen[-1] == pytest.approx(2.0, abs=1e-9)


def test_rates_are_on_the_exact_grid_and_latency_is_counted():
    """7 of 16 steps, without drift; a reading of 12 ms ago."""
    dt = 1.0 / 1600.0
    sim = mbros.Simulator(disc(), dt=dt, bench=bench(mbros.Encoder("e", joint="hinge", rate=700.0),
                                                     mbros.Encoder("late", joint="hinge", latency=0.012, rate=400.0)))
    sim.state.v[:] = 1.0
    samples, ages = 0, []
    for k in range(1, 16001):
        sim.step()
        samples += sim.signals["e.position"].time == pytest.approx(k * dt, abs=1e-9)
        if k > 100:
            ages.append(sim.time - sim.signals["late.position"].value)
    assert samples == 7000
    # sampled every 4 steps, 20 steps later read (19.2, rounded up)
    assert min(ages) == pytest.approx(20 * dt, abs=1e-9) and max(ages) == pytest.approx(23 * dt, abs=1e-9)


def test_a_torque_sensor():
    servo = mbros.PositionServo("s", joint="hinge", kp=200.0, kd=20.0)
    sim = mbros.Simulator(disc(), bench=bench(servo, mbros.TorqueSensor("t", joint="hinge", scale=1.1, bias=0.3, range=4.0)))
    sim.command(position={"hinge": 0.01})
    for _ in range(100):
        sim.step()
        assert sim.signals["t.effort"].value == pytest.approx(min(4.0, 1.1 * sim.signals["s.effort"].value + 0.3), abs=1e-12)
    sim.advance_to(3.0, tau=[-8.0])
    assert sim.signals["t.effort"].value == pytest.approx(0.3, abs=1e-6)       # what is held from outside is not in the joint
