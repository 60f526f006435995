"""A graph in one time: `python -m tests.soak.one_time --seconds 60`.

Two simulators, a controller with use_sim_time that commands by a timer of its own clock, and a recorder of every topic of both that has
stamps. One of the simulators is paused, resumed, stepped, sped up, slowed down, reset, saved and restored, in an order drawn from a seed;
the other goes on in wall time. What is asked: no stamp of any topic goes back, none is of the future (the first /clock that was published
after a message says at least its stamp; the system's clock, as long as there is no /clock), and the controller lives after everything.
"""
from __future__ import annotations

import argparse
import os
import random
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 60.0             # s
MOST_AHEAD = 100_000        # ns: what stands still is told again, a nanosecond later each time
COMMANDED = "joint_commands"
RATES = {"joint_states_rate": 200.0, "tf_rate": 100.0, "odom_rate": 100.0, "diagnostics_rate": 10.0}


@dataclass
class Topic:
    """What was heard of one topic: messages, and those whose stamps went back or lay in the future."""

    messages: int = 0
    newest: int = 0
    back: list[tuple[int, int]] = field(default_factory=list)
    ahead: list[tuple[int, int]] = field(default_factory=list)


@dataclass
class Report:
    topics: dict[str, Topic]
    acts: Counter[str]
    commands: int               # of the controller
    dead: list[str]             # after what it did not live
    accepted: int
    dropped: int
    said: str                   # by the simulators

    @property
    def good(self) -> bool:
        """A command that is under way in a reset is of the time before it, and dropped."""
        renewed = sum(n for name, n in self.acts.items() if "reset" in name or "restore" in name)
        return not self.dead and self.dropped <= renewed and not any(topic.back or topic.ahead for topic in self.topics.values())

    def __str__(self) -> str:
        rows = [f"{name:28} {t.messages:8} messages, {len(t.back)} back, {len(t.ahead)} from the future"
                for name, t in self.topics.items()]
        acts = ", ".join(f"{name} {n}" for name, n in sorted(self.acts.items()))
        commands = f"commands: {self.commands} sent, {self.accepted} accepted, {self.dropped} dropped"
        return "\n".join([*rows, f"what was done: {acts}", commands,
                          f"the controller did not live after {', '.join(self.dead) or 'nothing'}"])


def stamp_at(message: bytes, at: int) -> int:
    sec, nanosec = struct.unpack_from("<iI", message, at)
    return int(sec) * 10**9 + int(nanosec)


class Recorder:
    """Subscribes to raw messages, and looks at their stamps."""

    def __init__(self, node: Any, clock: str):
        self.node, self.clock, self.topics = node, clock, {}
        self._open: list[tuple[int, int, str]] = []         # (time of publication, stamp, topic) that no later /clock was heard of

    def hear(self, name: str, kind: Any, in_an_array: bool = False, wall: bool = False) -> None:
        """wall: of a simulator that follows the wall clock."""
        from rclpy.qos import QoSProfile

        topic, at = self.topics.setdefault(name, Topic()), 8 if in_an_array else 4

        def take(message: bytes, info: Any) -> None:
            if in_an_array and message[4:8] == bytes(4):
                return
            stamp, published = stamp_at(message, at), info["source_timestamp"]
            topic.messages += 1
            if stamp < topic.newest:
                topic.back.append((topic.newest, stamp))
            topic.newest = max(topic.newest, stamp)
            if name == self.clock:
                self._look(published, stamp)
            elif wall or not self.topics[self.clock].messages:
                if stamp > published + MOST_AHEAD:
                    topic.ahead.append((stamp, published))
            else:
                self._open.append((published, stamp, name))

        self.node.create_subscription(kind, name, take, QoSProfile(depth=2000), raw=True)

    def _look(self, published: int, clock: int) -> None:
        """A tick that was published then: whatever was published before it is of no later time."""
        left = []
        for row in self._open:
            if row[0] >= published:
                left.append(row)
            elif row[1] > clock + MOST_AHEAD:
                self.topics[row[2]].ahead.append((row[1], clock))
        self._open = left


def start(where: Path, robot: str, namespace: str, **parameters: Any) -> tuple[Any, Path]:
    """A simulator, and what it prints."""
    given = [word for name, value in {**RATES, **parameters}.items() for word in ("-p", f"{name}:={value}")]
    log = where / f"{namespace.strip('/')}.txt"
    with log.open("w") as out:
        return subprocess.Popen([sys.executable, "-m", "mbros.ros", robot, "--ros-args", "-r", f"__ns:={namespace}", *given], stdout=out,
                                stderr=out, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}), log


class Graph:
    """The simulators, the controller and the recorder; in a context of rclpy that is there."""

    def __init__(self, folder: Path):
        import rclpy
        from rclpy.executors import SingleThreadedExecutor
        from rclpy.parameter import Parameter
        from sensor_msgs.msg import JointState

        self.executor = SingleThreadedExecutor()
        self.node = rclpy.create_node("recorder")
        self.controller = rclpy.create_node("controller", namespace="/left", parameter_overrides=[Parameter("use_sim_time", value=True)])
        self.commands, self.counts, self.kind = 0, {}, JointState
        self.processes = [start(folder, "quadruped", "/left", ground="true", bench="quadruped_servo", watchdog_timeout=0.0, folder=folder),
                          start(folder, "arm7", "/right")]
        self.out = self.controller.create_publisher(JointState, COMMANDED, 1)
        self.controller.create_timer(0.01, self._command)
        for node in (self.node, self.controller):
            self.executor.add_node(node)
        self.recorder = Recorder(self.node, "/clock")
        self._hear()

    def _command(self) -> None:
        """A timer of the controller's clock: it stands still in a pause, and must go on after it."""
        self.commands += 1
        message = self.kind(name=[self.joint], effort=[0.01])
        message.header.stamp = self.controller.get_clock().now().to_msg()
        self.out.publish(message)

    def _hear(self) -> None:
        from diagnostic_msgs.msg import DiagnosticArray
        from mbros_msgs.msg import Contacts
        from nav_msgs.msg import Odometry
        from rosgraph_msgs.msg import Clock
        from sensor_msgs.msg import Imu
        from tf2_msgs.msg import TFMessage
        from visualization_msgs.msg import MarkerArray

        hear = self.recorder.hear
        hear("/clock", Clock)
        for name, kind in (("joint_states", self.kind), ("odom", Odometry), ("mbros/contacts", Contacts), ("trunk/imu", Imu)):
            hear(f"/left/{name}", kind)
        hear("/left/mbros/contact_markers", MarkerArray, True)
        hear("/right/joint_states", self.kind, wall=True)
        self._tf = {}
        self.node.create_subscription(DiagnosticArray, "/diagnostics", self._diagnostics, 10)
        self.node.create_subscription(TFMessage, "/tf", self._transforms, 100)
        self.node.create_subscription(self.kind, "/left/joint_states", self._joints, 1)
        self.joint = "none"

    def _joints(self, message: Any) -> None:
        self.joint = message.name[0]

    def _follow(self, name: str, time_: Any) -> None:
        """Topics that both simulators publish on."""
        topic, stamp = self.recorder.topics.setdefault(name, Topic()), time_.sec * 10**9 + time_.nanosec
        topic.messages += 1
        if stamp < topic.newest:
            topic.back.append((topic.newest, stamp))
        topic.newest = max(topic.newest, stamp)

    def _transforms(self, message: Any) -> None:
        first = message.transforms[0]
        whose = "right" if first.child_frame_id.startswith("link") else "left"
        self._follow(f"/tf of {whose}", first.header.stamp)

    def _diagnostics(self, message: Any) -> None:
        whose = message.status[0].name.split("/")[1]
        self._follow(f"/diagnostics of {whose}", message.header.stamp)
        for status in message.status:
            if status.name == "/left/mbros: commands":
                self.counts = {pair.key: pair.value for pair in status.values}

    # --- acting

    def spin(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.executor.spin_once(timeout_sec=0.02)

    def until(self, true: Callable[[], Any], what: str) -> None:
        end = time.monotonic() + PATIENCE
        while not true():
            self.executor.spin_once(timeout_sec=0.02)
            if time.monotonic() > end:
                raise RuntimeError(f"waited in vain for {what}; the simulators said: {self.said}")

    @property
    def said(self) -> str:
        return "\n".join(log.read_text(errors="replace") for _, log in self.processes)

    def call(self, kind: Any, service: str, request: Any) -> Any:
        client = self.node.create_client(kind, f"/left/mbros/{service}")
        self.until(client.service_is_ready, service)
        future = client.call_async(request)
        self.until(future.done, f"an answer of {service}")
        self.node.destroy_client(client)
        answer = future.result()
        assert getattr(answer, "success", True), f"{service}: {answer.message}"
        return answer

    def factor(self, value: float) -> None:
        from rcl_interfaces.srv import SetParametersAtomically
        from rclpy.parameter import Parameter

        request = SetParametersAtomically.Request(parameters=[Parameter("real_time_factor", value=value).to_parameter_msg()])
        answer = self.call(SetParametersAtomically, "set_parameters_atomically", request)
        assert answer.result.successful, answer.result.reason

    def pause(self, yes: bool) -> None:
        from std_srvs.srv import SetBool

        self.call(SetBool, "pause", SetBool.Request(data=yes))

    def reset(self) -> None:
        from std_srvs.srv import Trigger

        self.call(Trigger, "reset", Trigger.Request())

    def acts(self) -> dict[str, Callable[[], None]]:
        """Each leaves it running."""
        from mbros_msgs.srv import RestoreState, SaveState, Step

        def paused(*more: Callable[[], Any]) -> Callable[[], None]:
            def act() -> None:
                self.pause(True)
                for what in more:
                    what()
                self.spin(0.25)
                self.pause(False)

            return act

        def pace(value: float) -> Callable[[], None]:
            def act() -> None:
                self.factor(value)
                self.spin(0.4)
                self.factor(1.0)

            return act

        def saved() -> None:
            data = self.call(SaveState, "save_state", SaveState.Request()).data
            self.spin(0.3)
            self.call(RestoreState, "restore_state", RestoreState.Request(data=data))

        step = lambda: self.call(Step, "step", Step.Request(steps=700))     # noqa: E731
        return {"pause": paused(), "steps": paused(step), "reset": self.reset, "reset in a pause": paused(self.reset),
                "factor 5": pace(5.0), "factor 0.5": pace(0.5), "save and restore": saved, "save and restore in a pause": paused(saved)}

    def close(self) -> None:
        for process, _ in self.processes:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
        for process, _ in self.processes:
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        for node in (self.node, self.controller):
            self.executor.remove_node(node)
            node.destroy_node()
        self.executor.shutdown()


def soak(seconds: float, folder: Path, seed: int = 0, say: Callable[[str], None] = lambda text: None) -> Report:
    """All of it, for so long."""
    graph, draw, done, dead = Graph(folder), random.Random(seed), Counter[str](), list[str]()
    try:
        topics = graph.recorder.topics
        graph.until(lambda: topics["/left/joint_states"].messages and topics["/right/joint_states"].messages and graph.joint != "none",
                    "the robots")
        graph.until(lambda: graph.out.get_subscription_count() and graph.counts, "the simulator to hear")
        acts, end, order = graph.acts(), time.monotonic() + seconds, list[str]()
        while time.monotonic() < end or len(done) < len(acts):
            if not order:
                order = draw.sample(sorted(acts), len(acts))
                if not done:                                # the first pause is what makes time simulated
                    order.append("pause")
            name = order.pop()
            say(name)
            acts[name]()
            done[name] += 1
            before, until = graph.commands, time.monotonic() + 5.0
            while graph.commands < before + 5 and time.monotonic() < until:
                graph.spin(0.02)
            if graph.commands < before + 5:
                dead.append(name)
        graph.spin(0.5)
        counts = graph.counts
        return Report(dict(topics), done, graph.commands, dead, int(counts[f"{COMMANDED} accepted"]), int(counts[f"{COMMANDED} dropped"]),
                      graph.said)
    finally:
        graph.close()


def main() -> int:
    import rclpy

    from mbros.ros.interfaces import prepare

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    prepare(log=print)
    os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    rclpy.init()
    with tempfile.TemporaryDirectory() as folder:
        report = soak(arguments.seconds, Path(folder), arguments.seed)
    rclpy.try_shutdown()
    print(report)
    return 0 if report.good else 1


if __name__ == "__main__":
    sys.exit(main())
