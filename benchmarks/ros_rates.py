"""How many joint_states and /tf messages of a 1 kHz node reach another process: `python benchmarks/ros_rates.py`.

Goal: 990 Hz or more of both for 30 s. The subscriber is plain rclpy with raw (serialised) messages.
"""
from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import time


class Count:
    """Messages of one topic and the longest silence between two."""

    def __init__(self) -> None:
        self.messages, self.last, self.gap = 0, 0.0, 0.0

    def __call__(self, message: bytes) -> None:
        now = time.monotonic()
        if self.messages:
            self.gap = max(self.gap, now - self.last)
        self.messages, self.last = self.messages + 1, now


def measure(seconds: float) -> dict[str, tuple[float, float]]:
    """Rate (Hz) and longest gap (s) of both topics over `seconds`, once both have begun."""
    import rclpy
    from rclpy.executors import SingleThreadedExecutor
    from rclpy.qos import QoSProfile
    from sensor_msgs.msg import JointState
    from tf2_msgs.msg import TFMessage

    rclpy.init()
    node = rclpy.create_node("ros_rates")
    counts = {"joint_states": Count(), "/tf": Count()}
    node.create_subscription(JointState, "joint_states", counts["joint_states"], QoSProfile(depth=100), raw=True)
    node.create_subscription(TFMessage, "/tf", counts["/tf"], QoSProfile(depth=100), raw=True)
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    patience = time.monotonic() + 20.0
    while not all(c.messages for c in counts.values()):
        executor.spin_once(timeout_sec=0.1)
        if time.monotonic() > patience:
            raise SystemExit("the node publishes nothing")
    warm = time.monotonic() + 1.0
    while time.monotonic() < warm:
        executor.spin_once(timeout_sec=0.1)
    for c in counts.values():
        c.messages, c.gap = 0, 0.0
    start = time.monotonic()
    while time.monotonic() - start < seconds:
        executor.spin_once(timeout_sec=0.1)
    took = time.monotonic() - start
    executor.shutdown()
    rclpy.try_shutdown()
    return {topic: (c.messages / took, c.gap) for topic, c in counts.items()}


def main() -> int:
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("robot", nargs="?", default="arm7")
    p.add_argument("--seconds", type=float, default=30.0)
    p.add_argument("--rate", type=float, default=1000.0)
    a = p.parse_args()
    os.environ.setdefault("ROS_DOMAIN_ID", str(1 + os.getpid() % 100))
    os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    node = subprocess.Popen([sys.executable, "-m", "mbros.ros", a.robot, "--rate", str(a.rate)])
    try:
        results = measure(a.seconds)
    finally:
        node.send_signal(signal.SIGINT)
        code = node.wait(timeout=10)
    for topic, (rate, gap) in results.items():
        print(f"{topic:14s} {rate:8.1f} Hz   longest gap {1e3 * gap:6.1f} ms   over {a.seconds:g} s")
    good = code == 0 and all(rate >= 0.99 * a.rate for rate, _ in results.values())
    print("goal reached" if good else f"goal missed: {0.99 * a.rate:g} Hz of both wanted, node ended with {code}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
