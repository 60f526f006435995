"""The controller as a ROS 2 node of its own process: joint_states in, efforts on joint_commands out.

    python -m mbros.cli.demonstration.controller arm7                # against `mbros node arm7`, or any robot that speaks the same topics

It takes the newest state at a fixed rate instead of waiting for each message: at 1 kHz an rclpy executor alone would use a third of a
processor. Its clock is the stamp of the states, so it also follows a simulation that is slower or faster than real time.
"""
from __future__ import annotations

import argparse
import json
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from mbros.cli.demonstration.poses import PoseSequence
from mbros.cli.values import add_package_dir, xacro_argument

SILENCE = 2.0       # s without a state after which the robot counts as gone


def parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(prog="python -m mbros.cli.demonstration.controller", description=(__doc__ or "").partition("\n\n")[0])
    p.add_argument("robot", help="the same robot as the node's")
    p.add_argument("--xacro-arg", metavar="NAME:=VALUE", type=xacro_argument, action="append", default=[], help="as of the node")
    add_package_dir(p)
    p.add_argument("--duration", type=float, default=10.0, help="seconds of motion (default: 10)")
    p.add_argument("--rate", type=float, default=500.0, help="commands per second (default: 500)")
    p.add_argument("--json", action="store_true", help="report as JSON lines, ten a second, for the demonstration's table")
    return p


def main() -> int:
    """Exit code: 0 when every pose was reached, 1 otherwise."""
    import mbros
    from mbros.ros.process import middleware
    from mbros.ros.process.strangers import bare_node
    from rclpy.qos import QoSProfile, ReliabilityPolicy
    from rclpy.utilities import remove_ros_args
    from sensor_msgs.msg import JointState

    given = parser().parse_args(remove_ros_args(sys.argv)[1:])
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    sequence = PoseSequence(mbros.load(given.robot, base="fixed", xacro_args=dict(given.xacro_arg), package_dirs=given.package_dir))
    middleware.init(sys.argv[1:])
    node, message = bare_node("mbros_controller"), JointState(name=sequence.names)
    newest = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
    states = node.create_subscription(JointState, "joint_states", lambda message: None, newest)
    commands = node.create_publisher(JointState, "joint_commands", newest)

    def take() -> tuple[float, Any, Any] | None:
        with states.handle:
            taken = states.handle.take_message(JointState, False)
        if taken is None:
            return None
        state, stamp = taken[0], taken[0].header.stamp
        places = [state.name.index(name) for name in sequence.names]            # the order is the robot's own
        return stamp.sec + 1e-9 * stamp.nanosec, np.array(state.position)[places], np.array(state.velocity)[places]

    def send(tau: Any) -> None:
        message.effort, stamp = tau.tolist(), message.header.stamp
        stamp.sec, stamp.nanosec = divmod(time.time_ns(), 10**9)
        commands.publish(message)

    drive(sequence, take, send, given.duration, given.rate, stop.is_set,
          lambda: print(json.dumps(sequence.report()), flush=True) if given.json else None)
    print(f"{sum(ok for *_, ok in sequence.results)} of {len(sequence.moves)} poses reached", file=sys.stderr)
    return 0 if sequence.report()["succeeded"] else 1


def drive(sequence: PoseSequence, take: Callable[[], Any], send: Callable[[Any], None], seconds: float, rate: float,
          stop: Callable[[], bool], report: Callable[[], Any]) -> None:
    """Take the robot through its poses, report ten times a second; it ends early where the robot is gone. take(): (time, q, v) of the
    newest state, None: there is no new one; send(tau) commands it."""
    slot = heard = reported = time.monotonic()
    seen = None
    while not (stop() or sequence.done):
        now = time.monotonic()
        if (state := take()) is not None:
            seen, heard = state, now
            if not sequence.moves:
                sequence.begin(state[0], state[1], seconds)
        elif seen and now > heard + SILENCE:
            print("mbros: controller: the robot stopped publishing joint_states", file=sys.stderr)
            break
        if seen:
            send(sequence.efforts(*seen))
        if now > reported + 0.1:
            reported = now
            report()
        slot += max(1.0, (time.monotonic() - slot) * rate // 1.0) / rate       # slots that have passed are left out
        time.sleep(max(slot - time.monotonic(), 0.0))
    report()


if __name__ == "__main__":
    sys.exit(main())
