"""Ten arms in one process: memory, time to come up, share of a core, and the rate at which each robot's joint_states reach another process:
`python -m benchmarks.scene`.

Goal: at most 300 MB, up within 5 s, at most 40 % of one core, 990 Hz or more of each. The share is measured while nobody listens, and while
this process hears all of them.
"""
from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

GOALS = {"memory": 300.0, "start": 5.0, "share": 40.0}


def scene_file(folder: str, robot: str, count: int) -> Path:
    """A scene of `count` robots, 2 m apart."""
    path = Path(folder) / "arms.yaml"
    rows = [f"  r{k}: {{robot: {robot}, p: [{2.0 * k}, 0, 0]}}" for k in range(count)]
    path.write_text("\n".join(["robots:", *rows]) + "\n", encoding="utf-8")
    return path


def memory(pid: int) -> float:
    """MB that a process has in memory."""
    text = Path(f"/proc/{pid}/status").read_text()
    return next(int(line.split()[1]) for line in text.splitlines() if line.startswith("VmRSS")) / 1024.0


def used(pid: int) -> float:
    """s of processors that a process has had."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def share(pid: int, seconds: float) -> float:
    """Percent of a core over so long."""
    before, begun = used(pid), time.monotonic()
    time.sleep(seconds)
    return 100.0 * (used(pid) - before) / (time.monotonic() - begun)


def take(subscription: Any, kind: type) -> int:
    """How many messages were there: taken as they came, without an executor, which would be what is measured."""
    n = 0
    while subscription.handle.take_message(kind, True) is not None:
        n += 1
    return n


def listen(node: Any, names: list[str], seconds: float, pid: int) -> tuple[list[float], float]:
    """(Hz of each robot, percent of a core of the node) while this process takes every message."""
    from rclpy.qos import QoSProfile
    from sensor_msgs.msg import JointState

    qos = QoSProfile(depth=1000)
    subscriptions = [node.create_subscription(JointState, f"/{name}/joint_states", print, qos, raw=True) for name in names]
    patience = time.monotonic() + 30.0
    while not all(take(one, JointState) for one in subscriptions):
        time.sleep(0.2)
        if time.monotonic() > patience:
            raise SystemExit("not every robot publishes")
    counts, before, begun = [0] * len(names), used(pid), time.monotonic()
    while time.monotonic() < begun + seconds:
        time.sleep(5e-3)
        counts = [n + take(one, JointState) for n, one in zip(counts, subscriptions)]
    took = time.monotonic() - begun
    return [n / took for n in counts], 100.0 * (used(pid) - before) / took


def main() -> int:
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--robot", default="arm7")
    p.add_argument("--count", type=int, default=10)
    p.add_argument("--seconds", type=float, default=10.0)
    p.add_argument("--rate", type=float, default=1000.0)
    a = p.parse_args()
    os.environ.setdefault("ROS_DOMAIN_ID", str(1 + os.getpid() % 100))
    os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    import rclpy

    rclpy.init()
    node = rclpy.create_node("scene_benchmark")
    with tempfile.TemporaryDirectory() as folder:
        names, begun = [f"r{k}" for k in range(a.count)], time.monotonic()
        log = Path(folder) / "log"
        with log.open("w") as out:
            command = [sys.executable, "-m", "mbros.ros", str(scene_file(folder, a.robot, a.count)), "--rate", str(a.rate)]
            process = subprocess.Popen(command, stdout=out, stderr=out)
        try:
            while "simulating" not in log.read_text():
                time.sleep(0.01)
                if process.poll() is not None or time.monotonic() > begun + 60.0:
                    raise SystemExit(f"the node does not come up:\n{log.read_text()}")
            start = time.monotonic() - begun
            time.sleep(2.0)                                     # what comes later than the first step: services of the standard
            alone = share(process.pid, a.seconds)
            rates, heard = listen(node, names, a.seconds, process.pid)
            size = memory(process.pid)
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(timeout=20)
    node.destroy_node()
    rclpy.try_shutdown()
    print(f"{a.count} x {a.robot} at {a.rate:g} Hz in one process")
    print(f"memory {size:.0f} MB; up after {start:.2f} s; {alone:.1f} % of a core with nobody listening, {heard:.1f} % with all "
          f"joint_states heard; joint_states {min(rates):.1f} to {max(rates):.1f} Hz")
    good = size <= GOALS["memory"] and start <= GOALS["start"] and max(alone, heard) <= GOALS["share"] and min(rates) >= 0.99 * a.rate
    print("goal reached" if good else "goal missed")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
