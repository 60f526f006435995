"""An arm whose bench has faults, and what its signals said."""
import mbros
import numpy as np
from bench_rigs import bench

H = 1e-3
BEGIN, END = 200, 300                   # steps before the fault, and until its end
TIMES = dict(at=0.2, duration=0.1)
READING = "joint2.encoder.position"
DEVICES = (
    mbros.PositionServo("*.servo", joint="joint*", kp=400.0, kd=20.0),
    mbros.Encoder("*.encoder", joint="joint*", counts=4096),
    mbros.Imu("wrist.imu", frame="flange", gyro_noise_density=1e-4),
)


def arm(*faults, **options):
    sim = mbros.Simulator(mbros.load("arm7"), bench=bench(*DEVICES, *faults, seed=3), **options)
    sim.command(position={"joint2": 0.3, "joint4": -0.4})
    return sim


def record(sim, *names, n=400):
    """(n, ...) of what came through after each step, of each signal."""
    rows = {name: [] for name in names}
    for _ in range(n):
        sim.step()
        for name in names:
            rows[name].append(sim.signals[name].value)
    return [np.array(rows[name]) for name in names]
