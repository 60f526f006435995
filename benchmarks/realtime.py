"""The real-time loop beside the machine's own timer: `python benchmarks/realtime.py [--seconds 60]`.

Runs a robot at 1 kHz while two Python threads compute for all they are worth, and measures before and after it how late
a bare sleeping thread wakes on the same machine under the same load. Prints both histograms and ends with code 0 if no
simulated time was lost, nothing was allocated and 99 % of the steps were run within 1 ms of their slot.
"""
from __future__ import annotations

import argparse
import sys
import threading
import time
from pathlib import Path

from mbros_core.realtime import Loop, timer_jitter


def arguments():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--seconds", type=float, default=60.0, help="of the loop (default 60)")
    p.add_argument("--probe", type=float, default=10.0, help="seconds of each timer measurement (default 10)")
    p.add_argument("--dt", type=float, default=1e-3, help="step in seconds (default 0.001)")
    p.add_argument("--robot", default="arm7", help="model to simulate (default arm7)")
    p.add_argument("--ground", action="store_true", help="let it stand and fall on the ground z = 0")
    p.add_argument("--bench", action="store_true", help="arm7 with servos, encoders, IMU, force-torque, jitter and loss on all channels, a "
                   "fault and a source")
    p.add_argument("--busy", type=int, default=2, help="busy Python threads (default 2)")
    p.add_argument("--rt", choices=("auto", "off", "require"), default="auto", help="real-time privileges")
    p.add_argument("--priority", type=int, default=80, help="of SCHED_FIFO (default 80)")
    p.add_argument("--cpu", type=int, default=None, help="processor to pin the loop to")
    return p.parse_args()


def plant_of(robot, dt, ground=False):
    """The robot as a plant of its own, at its default state, with its links' poses in the snapshots."""
    import mbros
    from mbros_core import Plant
    model = mbros.load(robot, ground=True) if ground else mbros.load(robot)
    frames = [k for k in range(1, len(model.spec.frame_body))]
    return Plant(model, dt=dt, transform_pairs=[(0, k) for k in frames])


def benched(dt):
    """arm7 whose bench has all that there is, as a plant: the devices of benchmarks.devices, jitter and loss on every channel, a fault that
    comes and goes, and a joint that a source leads."""
    import mbros
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from benchmarks.devices import ENCODERS, IMU, LOSSES, SERVOS, WRIST

    bench = mbros.Bench(seed=3)
    for device in (*SERVOS, *ENCODERS, *IMU, *LOSSES, *WRIST):
        bench.add(device)
    bench.add(mbros.Fault("late encoder", "late", signal="joint3.encoder.*", delay=2e-3, jitter=1e-3, when="joint2.position > 0.1",
                          held=0.01, duration=0.05))
    bench.add(mbros.JointSource("led", joint="joint7"))
    sim = mbros.Simulator(mbros.load("arm7"), dt, bench=bench)
    sim.command(position={"joint2": 0.3})
    sim.sources["joint7"] = "prescribed"
    return sim.plant


def keep_busy(stop):
    """Pure Python work that never gives up the interpreter lock by itself."""
    x = 1
    while not stop.is_set():
        for _ in range(1000):
            x = x * 48271 % 2147483647


def bare_timer(a):
    """Lateness of a sleeping thread with the privileges the loop asks for, or an ordinary one where they are refused."""
    if a.rt != "off":
        try:
            return timer_jitter(a.probe, a.dt, priority=a.priority, cpu=a.cpu)
        except PermissionError:
            pass
    return timer_jitter(a.probe, a.dt)


def report(s, seconds, before, after, dt):
    wanted = round(seconds / dt)
    # Strict: a slot that was run in place of ones slept through counts as late, and so do those.
    within = s.on_time * s.lateness.fraction_within(1e-3)
    print(before.text("bare timer before"))
    print(after.text("bare timer after "))
    print(s.lateness.text("loop lateness    "))
    print(s.work.text("slot work        "))
    print(s.plant.text("plant step       "))
    print(f"steps {s.steps} of {wanted}, overruns {s.overruns}, missed {s.missed}, made up {s.made_up}, lost {s.lost}")
    print(f"simulated time lost: {s.lost_time:.3f} s; steps within 1 ms of their slot: {100 * within:.3f} %")
    print(f"after warm-up: allocations {'not counted' if s.allocations is None else s.allocations}, "
          f"page faults {s.minor_faults} minor, {s.major_faults} major")
    return s.lost == 0 and not s.allocations and within >= 0.99


def main():
    a = arguments()
    plant = benched(a.dt) if a.bench else plant_of(a.robot, a.dt, a.ground)
    loop = Loop(plant, a.dt, rt=a.rt, priority=a.priority, cpu=a.cpu, watchdog_timeout=None, count_allocations=True)
    stop = threading.Event()
    threads = [threading.Thread(target=keep_busy, args=(stop,), daemon=True) for _ in range(a.busy)]
    for t in threads:
        t.start()
    try:
        before = bare_timer(a)
        with loop:
            print(f"{a.robot} at {1 / a.dt:g} Hz, {a.busy} busy Python threads; {loop.privileges}")
            end = time.monotonic() + a.seconds
            while (left := end - time.monotonic()) > 0:
                time.sleep(min(left, 1.0))
                print(f"\r{loop.snapshot()[0].time:8.3f} s simulated", end="", file=sys.stderr, flush=True)
        print(file=sys.stderr)
        after = bare_timer(a)
    finally:
        stop.set()
    ok = report(loop.statistics(), a.seconds, before, after, a.dt)
    print("met" if ok else "NOT met: no simulated time lost, nothing allocated, 99 % within 1 ms")
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
