"""Saves of random benches, of every actuator, with sensors, channels, faults and sources in the middle of something, to the bit.

MBROS_CASES (4): how many benches; each is saved once, and gone on from with random commands by what was restored, pickled and copied.
"""
import copy
import os
import pickle

import mbros
import numpy as np
import pytest

CASES = int(os.environ.get("MBROS_CASES", "4"))
WINDING = dict(gear_ratio=100.0, voltage_limit=48.0)
MOTOR = dict(resistance=0.6, inductance=1e-4, torque_constant=0.03, rotor_inertia=3e-6, current_limit=10.0, derate_from=60.0, cut_off=120.0,
             **WINDING)
DRIVES = [
    lambda name, on: mbros.PositionServo(name, joint=on, kp=400.0, kd=20.0, ki=3.0),
    lambda name, on: mbros.VelocityServo(name, joint=on, kd=30.0, ki=2.0),
    lambda name, on: mbros.EffortActuator(name, joint=on, time_constant=0.01, stall_effort=30.0, no_load_speed=8.0),
    lambda name, on: mbros.EffortActuator(name, joint=on, time_constant=0.01, torque_speed_curve=[[0, 9], [0.3, 8], [0.8, 2], [2, 1]]),
    lambda name, on: mbros.ImpedanceServo(name, joint=on, kp=200.0, kd=10.0),
    lambda name, on: mbros.Motor(name, joint=on, efficiency=0.8, **MOTOR),
    lambda name, on: mbros.Motor(name, joint=on, stiffness=3000.0, damping=1.0, backlash=0.002, **MOTOR),
    lambda name, on: mbros.BrushlessMotor(name, joint=on, line_resistance=0.6, line_inductance=1e-4, torque_constant_rms=0.03, pole_pairs=7,
                                          current_limit_rms=10.0, **WINDING),
    lambda name, on: mbros.SeriesElastic(name, joint=on, stiffness=300.0, damping=1.0, motor_inertia=0.2, kp=4000.0, kd=60.0,
                                         backlash=0.004)]


def random_bench(rng, model):
    """A drive in every joint, and of all else about a half."""
    joints, tip = [joint.name for joint in model.joints if joint.nv == 1], model.bodies[-1].name
    bench = mbros.Bench(seed=int(rng.integers(1000)))
    for name in joints:
        bench.add(DRIVES[rng.integers(len(DRIVES))](f"{name}.drive", name))
        bench.add(mbros.Encoder(f"{name}.encoder", joint=name, counts=4096, rate=float(rng.choice([1000, 500, 333])),
                                latency=float(rng.choice([0.0, 0.0031]))))
    bench.add(mbros.Brake("brake", joint=joints[0], holding_effort=5.0, release_delay=0.01, engaged=int(rng.integers(2))))
    bench.add(mbros.CommandLimits("limits", joint=joints[1], margin=0.05, k_position=20.0, effort_rate=500.0, position_rate=2.0))
    bench.add(mbros.Imu("imu", frame=tip, rate=200.0, gyro_noise_density=1e-3, gyro_bias_instability=1e-3, accel_random_walk=1e-3))
    bench.add(mbros.ForceTorque("wrist", frame=tip, rate=333.0, force_noise_density=0.1, resonance=200.0, damping_ratio=0.1))
    bench.add(mbros.Channel("bus", signal="*.command.*", delay=2e-3, jitter=2e-3, loss=0.05, burst=3, reordering=bool(rng.integers(2)),
                            duplication=0.1))
    bench.add(mbros.Channel("line", signal="*.encoder.*", delay=1e-3, noise=1e-3, walk=1e-3, quantum=1e-4, hold_rate=300.0))
    for kind, words in [
            ("frozen", dict(signal=f"{joints[0]}.encoder.*", at=0.02, duration=0.05)),
            ("burst_loss", dict(signal="imu.*", loss=0.3, burst=3, at=0)),
            ("lost", dict(signal="*.command.*", when=f"abs({joints[1]}.position) > 0.01", held=0.003, duration=0.02)),
            ("late", dict(signal=f"{joints[1]}.encoder.*", delay=0.004, jitter=0.003, at=0.01, until=0.15)),
            ("stuck", dict(joint=joints[2], at=0.05, duration=0.03)), ("jammed_brake", dict(joint=joints[3], effort=3.0, at=0.03)),
            ("friction", dict(joint=joints[4], coulomb=1.0, viscous=1.0, at=0.02, until=0.1)), ("free", dict(joint=joints[0])),
            ("load", dict(frame=tip, mass=0.5, at=0.04, duration=0.05)), ("noise", dict(signal="wrist.*", noise=0.1, walk=0.1, at=0))]:
        if rng.random() < 0.6:
            bench.add(mbros.Fault(kind, kind, **words))
    for name in joints[:2]:
        bench.add(mbros.JointSource(name, joint=name, timeout=0.02, safe=str(rng.choice(["hold", "sim", "lock"]))))
    return bench


def happens(sim, seed):
    """Something at random, the same for one seed. What was refused, or ""."""
    rng, joints = np.random.default_rng(seed), [joint.name for joint in sim.model.joints if joint.nv == 1]
    name, other, tip = joints[rng.integers(len(joints))], joints[rng.integers(2)], sim.model.bodies[-1].name
    faults, x = list(sim.faults), float(rng.normal())
    try:
        match rng.integers(8):
            case 0 | 1:
                sim.command(effort={name: x})
            case 2:
                sim.command(position={name: 0.3 * x})
            case 3 if faults:
                getattr(sim.faults[faults[rng.integers(len(faults))]], "start" if x > 0.0 else "stop")()
            case 4:
                sim.feed(position={other: 0.05 * x})
            case 5:
                sim.sources[other] = str(rng.choice(["real", "sim", "locked", "prescribed"]))
            case 6:
                sim.disturbances.apply_wrench(tip, force=5.0 * rng.normal(size=3), duration=0.01)
            case 7:
                sim.disturbances.attach_payload(tip, mass=0.3)
    except mbros.MbrosError as refused:
        return str(refused)
    return ""


@pytest.mark.filterwarnings("ignore::mbros.bench.source.SourceWarning")
@pytest.mark.parametrize("case", range(CASES))
def test_a_random_bench_goes_on_to_the_bit(case):
    rng = np.random.default_rng(case)
    model = mbros.load("quadruped", ground=True) if case % 4 == 3 else mbros.load("arm7")
    sim = mbros.Simulator(model, integrator=("midpoint", "semi_implicit_euler")[case % 2], bench=random_bench(rng, model))
    for _ in range(rng.integers(1, 40)):
        happens(sim, int(rng.integers(2**31)))
        sim.advance_to(sim.time + 1e-3 * int(rng.integers(1, 8)))
    restored = copy.copy(sim)
    restored.reset()
    restored.restore(sim.save())
    others = [restored, pickle.loads(pickle.dumps(sim)), copy.deepcopy(sim)]
    for _ in range(12):
        seed, steps = int(rng.integers(2**31)), int(rng.integers(1, 20))
        refused = happens(sim, seed)
        sim.advance_to(sim.time + 1e-3 * steps)
        for other in others:
            assert happens(other, seed) == refused
            for _ in range(steps):
                other.step()
            assert other.state.q.tobytes() == sim.state.q.tobytes() and other.state.v.tobytes() == sim.state.v.tobytes()
            assert other.plant.devices.block.tobytes() == sim.plant.devices.block.tobytes()
