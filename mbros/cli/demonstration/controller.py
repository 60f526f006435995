"""The controller as a ROS 2 node of its own process: joint_states in, efforts on joint_commands out.

    python -m mbros.cli.demonstration.controller arm7                # against `mbros node arm7`, or any robot that speaks the same topics

It takes the newest state at a fixed rate instead of waking for each message: at 1 kHz an rclpy executor alone would use
a third of a processor. Its clock is the stamp of the states, so it also follows a simulation that is slower or faster
than real time.
"""
from __future__ import annotations

import argparse
import json
import signal
import sys
import threading
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from mbros.cli.demonstration.sequence import PoseSequence
from mbros.cli.values import add_package_dir, xacro_argument
from mbros.ros.process.strangers import bare_node, rclpy_executor

SILENCE = 2.0       # s without a state after which the robot counts as gone


def parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(prog="python -m mbros.cli.demonstration.controller", description=(__doc__ or "").partition("\n\n")[0])
    p.add_argument("robot", help="the same robot as the node's")
    p.add_argument("--xacro-arg", metavar="NAME:=VALUE", type=xacro_argument, action="append", default=[], help="as of the node")
    add_package_dir(p)
    p.add_argument("--duration", type=float, default=10.0, help="seconds of motion (default: 10)")
    p.add_argument("--rate", type=float, default=500.0, help="commands per second (default: 500)")
    p.add_argument("--node", default="/mbros", help="name of the simulation's node, whose ~/reset is called (default: /mbros)")
    p.add_argument("--json", action="store_true", help="report as JSON lines, ten a second, for the demonstration's table")
    p.add_argument("--wait", action="store_true", help="hold the default pose until a line comes on standard input")
    return p


def main(argv: Sequence[str] | None = None) -> int:
    """Exit code: 0 when every pose was reached, 1 otherwise."""
    argv = list(sys.argv[1:] if argv is None else argv)
    import rclpy
    from rclpy.utilities import remove_ros_args

    import mbros
    from mbros.ros.process import middleware

    arguments = parser().parse_args(remove_ros_args(["controller", *argv])[1:])
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    model = mbros.load(arguments.robot, base="fixed", xacro_args=dict(arguments.xacro_arg), package_dirs=arguments.package_dir)
    sequence = PoseSequence(model)
    middleware.init(argv)
    try:
        controller = Controller(sequence, arguments.rate)
        go = threading.Thread(target=sys.stdin.readline if arguments.wait else bool, daemon=True)
        go.start()
        return controller.run(arguments.duration, arguments.node, go, stop, json_report if arguments.json else TextReport())
    finally:
        rclpy.try_shutdown()


class Controller:
    """Publisher, subscription, and the loop between them."""

    def __init__(self, sequence: PoseSequence, rate: float) -> None:
        from rclpy.qos import QoSProfile, ReliabilityPolicy
        from sensor_msgs.msg import JointState

        newest = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
        self.node = bare_node("mbros_controller")
        self.states = self.node.create_subscription(JointState, "joint_states", lambda message: None, newest)
        self.commands = self.node.create_publisher(JointState, "joint_commands", newest)
        self.sequence, self.period, self.kind = sequence, 1.0 / rate, JointState
        self.message = JointState(name=[joint.name for joint in sequence.joints])
        self.places: list[int] | None = None
        self.stamp = 0.0
        self.q, self.v = sequence.desired.copy(), np.zeros_like(sequence.desired)

    def take(self) -> bool:
        """Take the newest state, if there is a new one."""
        with self.states.handle:
            taken = self.states.handle.take_message(self.kind, False)
        if taken is None:
            return False
        state = taken[0]
        if self.places is None:             # where our joints stand in the robot's message: the order is the robot's own
            self.places = [state.name.index(name) for name in self.message.name]
        self.q, self.v = np.array(state.position)[self.places], np.array(state.velocity)[self.places]
        self.stamp = state.header.stamp.sec + 1e-9 * state.header.stamp.nanosec
        return True

    def command(self) -> None:
        """Publish the efforts for the newest state."""
        self.message.effort = self.sequence.efforts(self.stamp, self.q, self.v).tolist()
        seconds, nanoseconds = divmod(time.time_ns(), 10**9)
        self.message.header.stamp.sec, self.message.header.stamp.nanosec = seconds, nanoseconds
        self.commands.publish(self.message)

    def run(self, seconds: float, simulation: str, go: threading.Thread, stop: threading.Event, report: Any) -> int:
        """Hold, have the robot reset, wait for `go` to end, go through the poses; returns the exit code."""
        reset = threading.Thread(target=self.reset, args=(simulation,))
        next_time = heard = reported = time.monotonic()
        while not (stop.is_set() or self.sequence.done):
            if self.take():
                heard = time.monotonic()
                if reset.ident is None:
                    reset.start()           # commands are on their way by then, so it is held from the first moment
                elif not (self.sequence.moves or reset.is_alive() or go.is_alive()):
                    self.sequence.begin(self.stamp, self.q, seconds)
            elif self.places is not None and time.monotonic() > heard + SILENCE:
                print("mbros: controller: the robot stopped publishing joint_states", file=sys.stderr)
                break
            if self.places is not None:
                self.command()
            if time.monotonic() > reported + 0.1:
                reported = time.monotonic()
                report(self.sequence)
            next_time = wait_for_slot(next_time, self.period)
        if reset.ident is not None:
            reset.join()
        report(self.sequence)
        return 0 if self.sequence.succeeded else 1

    def reset(self, simulation: str) -> None:
        """Ask the simulation to start again from its initial positions; a robot without that service is taken as it stands."""
        from std_srvs.srv import Trigger

        helper, executor = bare_node("mbros_controller_setup"), rclpy_executor()
        executor.add_node(helper)
        try:
            client: Any = helper.create_client(Trigger, simulation + "/reset")
            if client.wait_for_service(timeout_sec=2.0):
                executor.spin_until_future_complete(client.call_async(Trigger.Request()), timeout_sec=2.0)
        finally:
            executor.shutdown()
            helper.destroy_node()


def wait_for_slot(slot: float, period: float) -> float:
    """Sleep until the slot after `slot` on a grid of `period` s; returns it. Slots that have passed are left out."""
    slot += period
    late = time.monotonic() - slot
    if late < 0.0:
        time.sleep(-late)
        return slot
    return slot + late // period * period


def as_dict(sequence: PoseSequence) -> dict[str, Any]:
    """What the table shows of the controller."""
    return {"poses": len(sequence.moves), "pose": sequence.pose, "done": sequence.done, "succeeded": sequence.succeeded,
            "names": [joint.name for joint in sequence.joints], "units": sequence.units,
            "desired": sequence.desired.tolist(), "error": sequence.error.tolist(), "effort": sequence.tau.tolist(),
            "results": [result._asdict() for result in sequence.results]}


def json_report(sequence: PoseSequence) -> None:
    print(json.dumps(as_dict(sequence)), flush=True)


class TextReport:
    """A line for every pose that was due, once."""

    def __init__(self) -> None:
        self.reported = 0

    def __call__(self, sequence: PoseSequence) -> None:
        for joint, error, unit, ok in sequence.results[self.reported:]:
            self.reported += 1
            print(f"pose {self.reported} of {len(sequence.moves)} {'reached' if ok else 'not reached'}: largest error "
                  f"{1e3 * error:+.2f} m{unit} at {joint}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
