"""The demonstration on ROS 2: a node and a controller in processes of their own, and this one, which looks at both."""
from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mbros_core.support.processes import end_with, python

from mbros.cli.demonstration.show import Screen, hertz, lateness

if TYPE_CHECKING:
    from mbros import Model

PATIENCE = 30.0         # s until it moves; importing ROS on a busy computer takes a while


def run(model: Model, robot: str, duration: float, rate: float, command_rate: float, csv: str | None, how: Sequence[str]) -> int:
    """Exit code: 0 when every pose was reached. model: of `robot`, on a fixed base. how: words that say how that is read."""
    from mbros.ros.interfaces import prepare
    from mbros.ros.process import middleware

    if "ROS_LOCALHOST_ONLY" not in os.environ:          # a domain of its own, on this computer only, unless the user has chosen
        os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    domain = os.environ.setdefault("ROS_DOMAIN_ID", str(10 + os.getpid() % 90))
    os.environ.setdefault("MBROS_GENERATE", "0")        # nothing here calls the services that would be waited for
    prepare(log=lambda text: print(f"mbros: {text}", file=sys.stderr))
    middleware.init([])
    children: list[Child] = []
    screen, failed = Screen(robot, f"{rate:g} Hz, ROS 2, domain {domain}", duration), "stopped by Ctrl-C"
    watch = Watch(screen, csv, model)
    try:
        controller = Child("controller", "mbros.cli.demonstration.controller", robot, "--duration", f"{duration:g}", "--rate",
                           f"{command_rate:g}", "--json", *how)
        children.append(controller)
        failed = follow(screen, watch, children, ("node", "mbros.cli", "node", robot, "--rate", f"{rate:g}", "--base", "fixed", *how))
    finally:
        for child in reversed(children):
            child.stop()
        watch.close()
        if not failed or screen.report.get("poses"):
            screen.end()
    if not failed and (code := children[1].process.poll()):
        failed = f"the node ended with exit code {code}: {children[1].words()}"
    if failed:
        print(f"mbros: {failed}", file=sys.stderr)
    return 0 if screen.report.get("succeeded") and not failed else 1


def follow(screen: Screen, watch: Watch, children: list[Child], node: tuple[str, ...]) -> str:
    """Show what goes on until the controller has done all; why it could not, or "". The node comes when the controller is there to hold the
    robot."""
    begun, moving = time.monotonic(), False
    while True:
        time.sleep(0.02)
        ended = [child for child in children if child.process.poll() is not None]       # asked before the last words are read
        screen.report = children[0].report() or screen.report
        if screen.report and len(children) == 1:
            children.append(Child(*node))
        if screen.report.get("poses") and not moving:
            moving = True
            watch.begin()
        if not screen.report.get("done"):
            watch.look()
        screen.show()
        if ended and screen.report.get("done"):
            return ""
        for child in ended:
            return f"the {child.name} ended early (exit code {child.process.poll()}): {child.words()}"
        if not moving and time.monotonic() > begun + PATIENCE:
            return (f"the robot did not start to move within {PATIENCE:g} s. `mbros doctor` looks at ROS and the network.\n"
                    + "\n".join(f"{child.name}: {child.words()}" for child in children))


class Child:
    """A Python module as a process of its own session, which ends with this one. What it prints goes to temporary files."""

    def __init__(self, name: str, module: str, *arguments: str) -> None:
        self.name, self.said, self.log, self._at = name, tempfile.TemporaryFile(), tempfile.TemporaryFile(), 0
        self.process = subprocess.Popen(python(module, *arguments), stdin=subprocess.DEVNULL, stdout=self.said, stderr=self.log,
                                        start_new_session=True, preexec_fn=end_with(os.getpid()))

    def report(self) -> dict[str, Any] | None:
        """The last whole JSON line that has arrived since the last call, or None."""
        *whole, rest = (data := os.pread(self.said.fileno(), 1 << 24, self._at)).split(b"\n")
        self._at += len(data) - len(rest)
        return json.loads(whole[-1]) if whole else None

    def words(self) -> str:
        """The end of what it said of itself."""
        said = [os.pread(file.fileno(), 1 << 20, 0).decode(errors="replace") for file in (self.log, self.said)]
        return "\n".join(line for line in "".join(said).splitlines()[-40:] if not line.startswith("{")) or "without a word"

    def stop(self) -> None:
        """SIGINT, as Ctrl-C would; SIGTERM and SIGKILL when that is not enough."""
        for number, patience in ((signal.SIGINT, 3.0), (signal.SIGTERM, 2.0), (signal.SIGKILL, 5.0)):
            if self.process.poll() is None:
                self.process.send_signal(number)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self.process.wait(patience)


class Watch:
    """What reaches this process, counted as bytes; states are decoded only where they are written to a file."""

    def __init__(self, screen: Screen, csv: str | None, model: Model) -> None:
        from diagnostic_msgs.msg import DiagnosticArray
        from mbros.record.recorder import CsvFile
        from mbros.ros.process.strangers import bare_node
        from rclpy.qos import QoSProfile, ReliabilityPolicy
        from sensor_msgs.msg import JointState
        from tf2_msgs.msg import TFMessage

        self.screen, self.node, deep = screen, bare_node("mbros_watch"), QoSProfile(depth=1000, reliability=ReliabilityPolicy.BEST_EFFORT)
        self.topics = {topic: self.node.create_subscription(kind, topic, lambda message: None, deep) for topic, kind in (
            ("joint_states", JointState), ("/tf", TFMessage), ("/diagnostics", DiagnosticArray))}
        columns = ["time", *(f"{name}/{part}" for name in model.joint_state_names for part in ("position", "velocity", "effort"))]
        self.file: Any = None if csv is None else CsvFile(csv, columns)
        self.first = 0.0
        screen.facts = dict.fromkeys(("joint_states", "/tf", "lateness", "commands"), "...")
        self.begin()

    def begin(self) -> None:
        """Rates are of what comes from now on."""
        self.counts, self.begun, self.accepted = dict.fromkeys(self.topics, 0), time.monotonic(), (0.0, 0.0)

    def look(self) -> None:
        from rclpy.serialization import deserialize_message

        for topic, of in self.topics.items():
            with of.handle:
                while (taken := of.handle.take_message(of.msg_type, True)) is not None:
                    self.counts[topic] += 1
                    if topic == "/diagnostics" or (topic == "joint_states" and self.file is not None):
                        message: Any = deserialize_message(taken[0], of.msg_type)
                        now = message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec
                        (self.diagnose if topic == "/diagnostics" else self.write)(now, message)
            if topic in self.screen.facts:
                self.screen.facts[topic] = hertz(self.counts[topic], time.monotonic() - self.begun)

    def write(self, now: float, state: Any) -> None:
        self.first = self.first or now
        self.file.write([[now - self.first, *(x for row in zip(state.position, state.velocity, state.effort) for x in row)]])

    def diagnose(self, now: float, array: Any) -> None:
        """What the node says of itself, once a second."""
        said = {}
        for value in (value for status in array.status for value in status.values):
            with contextlib.suppress(ValueError):
                said[value.key] = float(value.value)
        if "lateness p99 (ms)" in said:
            self.screen.facts["lateness"] = lateness(said["lateness p50 (ms)"], said["lateness p99 (ms)"],
                                                     said["overruns"] + said["missed"])
        count = said.get("joint_commands accepted", 0.0)
        self.accepted = self.accepted if self.accepted[0] else (now, count)
        age = f", the last one {said['age (ms)']:.1f} ms old" if said.get("age (ms)", -1.0) >= 0.0 else ""
        self.screen.facts["commands"] = hertz(count - self.accepted[1], now - self.accepted[0]) + age

    def close(self) -> None:
        import rclpy

        if self.file is not None:
            self.file.close()
        self.node.destroy_node()
        rclpy.try_shutdown()
