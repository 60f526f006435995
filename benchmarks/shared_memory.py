"""A controller in another process on shared memory, beside a loop in real time and in lockstep.

    python -m benchmarks.shared_memory [--robot arm7] [--steps 5000] [--spin 100]

Written: how long after a slot of the loop has looked for commands the client has the state after the step (in that time lie the step, the
other process's waking, and reading), while it answers every state; its command's age; what of a core the two spin and the client computes;
lockstep steps a second; a step's cost to the loop. With --spin 0 both sides sleep instead.
"""
import argparse
import os
import subprocess
import sys
import time

import numpy as np

import mbros
from mbros.simulate.shared import SharedMemory
from mbros.simulate.simulator import make_plant
from mbros_core.realtime import Loop

CLIENT = """
import sys, time, numpy as np, mbros
name, count, spin = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
late, age = [], []
with mbros.connect(name, spin=spin) as arm:
    sent = {}
    begun, used = time.perf_counter(), time.process_time()
    for k in range(count):
        arm.wait(10.0)
        now = time.time_ns()
        head = arm._client.head()
        late.append(now - head[3] - head[7])
        if head[5] in sent:
            age.append(head[3] + head[7] - sent.pop(head[5]))
        sent[arm.command(-20.0 * arm.q - 2.0 * arm.v)] = time.time_ns()
    took, used = time.perf_counter() - begun, time.process_time() - used
    print(f"the client computes for {used / took:.1%} of a core, and spins for {arm.spun / took:.1%}")
for what, ns in (("from the look for commands to the state after", late), ("from a command to the look that takes it", age)):
    us = np.array(ns[count // 10:]) / 1e3
    if us.size:
        print(f"{what:48} p50 {np.median(us):7.1f} us   p99 {np.percentile(us, 99):7.1f} us")
"""


def client(name: str, count: int, spin: float) -> None:
    subprocess.run([sys.executable, "-c", CLIENT, name, str(count), str(spin)], check=True)


def loop_of(robot: str, name: str, **options) -> tuple:
    plant = make_plant(mbros.load(robot))
    lockstep = options.pop("lockstep", None)
    door = SharedMemory(name, plant, lockstep=lockstep, spin=options.pop("spin", 0.0))
    return door, Loop(plant, inputs=[door.input], outputs=[door.output], gate=door.gate, watchdog_timeout=None, **options)


def cost(robot: str, name: str) -> tuple[float, float]:
    """Seconds of a step of the loop as fast as it can be, without and with shared memory."""
    found = []
    for shared in (False, True):
        door, loop = loop_of(robot, name, rt="off", real_time_factor=0)
        if not shared:
            loop = Loop(loop._plant, rt="off", real_time_factor=0, watchdog_timeout=None)
        begun = time.perf_counter()
        loop.start(slots=300_000)
        loop.wait(600.0)
        found.append((time.perf_counter() - begun) / 300_000)
        door.close()
    return found[0], found[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--robot", default="arm7")
    parser.add_argument("--steps", type=int, default=5000)
    parser.add_argument("--spin", type=float, default=100.0, help="us")
    arguments = parser.parse_args()
    spin = 1e-6 * arguments.spin
    name = f"benchmark-{os.getpid()}"
    print(f"{arguments.robot} in real time, 1 kHz")
    door, loop = loop_of(arguments.robot, name)
    with door, loop:
        client(name, arguments.steps, spin)
    print(f"{arguments.robot} in lockstep, as fast as the two are")
    door, loop = loop_of(arguments.robot, name, rt="off", real_time_factor=0, lockstep=(1, 1), spin=spin)
    with door, loop:
        begun, first = time.perf_counter(), loop.snapshot()[0].step
        client(name, arguments.steps, spin)
        steps = loop.snapshot()[0].step - first
        print(f"{steps / (time.perf_counter() - begun):.0f} steps a second, the client's start included; the loop spun for "
              f"{door.spun:.3f} s")
    without, with_it = np.min([cost(arguments.robot, name) for _ in range(3)], axis=0)
    print(f"a step of the loop {1e6 * without:.2f} us, with shared memory {1e6 * with_it:.2f} us")


if __name__ == "__main__":
    main()
