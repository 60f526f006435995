"""python -m benchmarks.devices: what a bench adds to a step of arm7, in the compiled core."""
import time

import mbros
from benchmarks._timing import quiet, table

GOAL = 2.0                  # us: 7 servos, 7 encoders, IMU, force-torque and 20 channels or more, in every step
SERVOS = [mbros.PositionServo("*.servo", joint="joint*", kp=400.0, kd=20.0)]
ENCODERS = [mbros.Encoder("*.encoder", joint="joint*", counts=4096)]
IMU = [mbros.Imu("imu", frame="flange", rate=200.0, gyro_noise_density=1e-4)]
WRIST = [mbros.ForceTorque("wrist", frame="flange")]
DELAYS = [mbros.Channel("bus", signal="joint*.command.*", delay=2e-3)]
LOSSES = [mbros.Channel("bus", signal="joint*.command.*", delay=2e-3, jitter=5e-4, loss=0.01)]
BENCHES = {
    "no bench": None,
    "an empty one": [],
    "7 servos": SERVOS,
    "+ 7 encoders": SERVOS + ENCODERS,
    "+ IMU, 200 Hz": SERVOS + ENCODERS + IMU,
    "+ 21 channels, delay": SERVOS + ENCODERS + IMU + DELAYS,
    "+ force-torque, 1 kHz": SERVOS + ENCODERS + IMU + DELAYS + WRIST,
    "the same, delay, jitter and loss on all channels": SERVOS + ENCODERS + IMU + LOSSES + WRIST,
}


def simulators():
    model = mbros.load("arm7")
    for name, devices in BENCHES.items():
        bench = None if devices is None else mbros.Bench(seed=3)
        for device in devices or ():
            bench.add(device)
        yield name, mbros.Simulator(model, bench=bench)


def measure(rounds=30, steps=1000):
    """[(bench, us of a step, us more than without)], the best of interleaved rounds."""
    sims = dict(simulators())
    best = dict.fromkeys(sims, float("inf"))
    for _ in range(rounds):
        for name, sim in sims.items():
            sim.reset()
            start = time.perf_counter()
            sim.advance_to(steps * sim.dt)
            best[name] = min(best[name], (time.perf_counter() - start) / steps * 1e6)
    return [(name, us, us - best["no bench"]) for name, us in best.items()]


def main():
    with quiet():
        rows = measure()
    table("arm7, midpoint, steps of 1 ms", ["bench", "step, us", "more, us"],
          [(name, f"{us:.2f}", f"{more:+.2f}") for name, us, more in rows])
    more = rows[-2][2]
    print(f"7 servos, 7 encoders, IMU, force-torque and 21 channels add {more:.2f} us to a step; goal {GOAL:g} us: "
          f"{'reached' if more <= GOAL else 'missed'}")


if __name__ == "__main__":
    main()
