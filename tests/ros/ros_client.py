"""A ROS 2 client for the tests: one process-wide context, one node per simulated robot, spun by hand."""
from __future__ import annotations

import itertools
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from nursery import Nursery
from patience import PATIENCE

ROOT = Path(__file__).resolve().parents[2]
_numbers = itertools.count()


def own_clock(*words: str) -> list[str]:
    """cli_args of a node in this process, with words of its own: there is one /clock on a graph, and several nodes here."""
    return ["--ros-args", *words, "-r", f"/clock:=clock_{next(_numbers)}"]


class Process:
    """`python -m mbros.ros` with what it prints; nursery: forked from there, instead of started from nothing, or another program."""

    def __init__(self, folder: Path, *arguments: str, nursery: Nursery | None = None, program: Path | None = None):
        self.log = folder / f"node_{next(_numbers)}.txt"
        if nursery:
            self.process: Any = nursery.start(self.log, arguments, program)
            return
        with self.log.open("w") as out:
            self.process = subprocess.Popen([sys.executable, "-m", "mbros.ros", *arguments], stdout=out, stderr=out, cwd=ROOT)

    @property
    def text(self) -> str:
        return self.log.read_text(errors="replace")

    def send(self, number: int) -> None:
        self.process.send_signal(number)

    def wait(self) -> int:
        """The exit code; a process that does not end is killed and fails the test."""
        try:
            return self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            pytest.fail(f"the node did not end:\n{self.text}")

    def end(self) -> None:
        """SIGINT, and the promise that goes with it."""
        if self.process.poll() is None:
            self.send(signal.SIGINT)
        self.left_in_order()

    def left_in_order(self) -> None:
        """Once it has been asked to end."""
        code = self.wait()
        assert code == 0, f"the node ended with {code}:\n{self.text}"

    def kill(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


class Client:
    """What a user has around a node: publishers of commands, the newest states, services and parameters."""

    def __init__(self, executor, namespace: str, process: Process | None = None, node_name: str = "mbros"):
        import rclpy
        from diagnostic_msgs.msg import DiagnosticArray
        from rclpy.qos import QoSProfile, ReliabilityPolicy
        from sensor_msgs.msg import JointState
        from std_msgs.msg import Float64MultiArray

        self.executor, self.namespace, self.process = executor, namespace, process
        self.name = f"{namespace}/{node_name}"
        self.node = rclpy.create_node(f"client_{next(_numbers)}", namespace=namespace)
        executor.add_node(self.node)
        self.state = None
        self.states = 0
        self.status: dict[str, dict[str, str]] = {}
        self.levels: dict[str, int] = {}
        qos = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
        self.node.create_subscription(JointState, "joint_states", self._on_state, qos)
        self.node.create_subscription(DiagnosticArray, "/diagnostics", self._on_diagnostics, 10)
        self.joint_commands = self.node.create_publisher(JointState, "joint_commands", 1)
        self.effort_commands = self.node.create_publisher(Float64MultiArray, "effort_commands", 1)

    def close(self) -> None:
        self.executor.remove_node(self.node)
        self.node.destroy_node()

    def _on_state(self, message) -> None:
        self.state, self.states = message, self.states + 1

    def _on_diagnostics(self, message) -> None:
        for status in message.status:
            if status.name.startswith(self.name + ": "):
                part = status.name.removeprefix(self.name + ": ")
                self.status[part] = {"message": status.message, **{v.key: v.value for v in status.values}}
                self.levels[part] = status.level[0]

    # --- waiting

    def spin(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.executor.spin_once(timeout_sec=0.02)

    def until(self, true, what: str = "", every=None):
        """Spin until `true()` is; call `every()` about 50 times a second meanwhile."""
        end, turn = time.monotonic() + PATIENCE, 0.0
        while not true():
            if every is not None and time.monotonic() >= turn:
                turn = time.monotonic() + 0.02
                every()
            self.executor.spin_once(timeout_sec=0.01)
            gone = self.process is not None and self.process.process.poll() is not None
            if gone or time.monotonic() > end:
                said = self.process.text if self.process is not None else ""
                pytest.fail(f"waited in vain {what}; {'the node has ended; ' if gone else ''}newest state: {self.state}; "
                            f"diagnostics: {self.status}; the node said:\n{said}")
        return true()

    def ready(self):
        """States arrive, or the node says that its loop has ended, and the node hears us."""
        self.until(lambda: (self.states > 0 or self.levels.get("real time") == 2) and self.joint_commands.get_subscription_count() > 0
                   and self.effort_commands.get_subscription_count() > 0, "for the node to appear")
        return self

    def fresh(self):
        """A state that was sent after this call (two later, as one may be on its way)."""
        seen = self.states
        self.until(lambda: self.states > seen + 1, "for a joint state")
        return self.state

    def fresh_status(self, part: str) -> dict[str, str]:
        """A diagnostic status that was made after this call."""
        self.status.clear()
        self.until(lambda: part in self.status, f"for diagnostics '{part}'")
        self.status.clear()
        self.until(lambda: part in self.status, f"for diagnostics '{part}'")
        return self.status[part]

    # --- acting

    def send(self, names, efforts, position=(), velocity=(), stamp_ns: int = 0) -> None:
        from sensor_msgs.msg import JointState
        m = JointState(name=list(names), effort=[float(x) for x in efforts], position=list(position), velocity=list(velocity))
        m.header.stamp.sec, m.header.stamp.nanosec = divmod(stamp_ns, 10**9)
        self.joint_commands.publish(m)

    def send_array(self, efforts) -> None:
        from std_msgs.msg import Float64MultiArray
        self.effort_commands.publish(Float64MultiArray(data=[float(x) for x in efforts]))

    def effort(self, joint: str) -> float:
        return self.state.effort[self.state.name.index(joint)]

    def position(self, joint: str) -> float:
        return self.state.position[self.state.name.index(joint)]

    def call(self, kind, service: str, request=None):
        """The response of one of the node's services, such as "pause"."""
        client = self.node.create_client(kind, f"{self.name}/{service}")
        self.until(client.service_is_ready, f"for service {service}")
        # What only reads is asked again: on a busy machine the middleware drops an answer whose client it has not matched within 0.1 s.
        reads, asked = service.startswith(("get_", "list_", "describe_")), []

        def answer():
            if not asked or reads and time.monotonic() > asked[-1][0] + 15.0:
                asked.append((time.monotonic(), client.call_async(request or kind.Request())))
            return next((future for _, future in asked if future.done()), None)

        self.until(lambda: answer() is not None, f"for an answer of {service}")
        response = answer().result()
        self.node.destroy_client(client)
        return response

    def trigger(self, service: str):
        from std_srvs.srv import Trigger
        return self.call(Trigger, service)

    def take_steps(self, steps: int = 0, **command):
        """The response of ~/step; command: fields of a JointState."""
        from mbros_msgs.srv import Step
        from sensor_msgs.msg import JointState
        return self.call(Step, "step", Step.Request(steps=steps, command=JointState(**command)))

    def pause(self, yes: bool):
        from std_srvs.srv import SetBool
        return self.call(SetBool, "pause", SetBool.Request(data=yes))

    def set(self, **values):
        """Set parameters together (__ stands for a dot); returns "" or the reason why not."""
        from rcl_interfaces.srv import SetParametersAtomically
        from rclpy.parameter import Parameter
        request = SetParametersAtomically.Request(
            parameters=[Parameter(k.replace("__", "."), value=v).to_parameter_msg() for k, v in values.items()])
        result = self.call(SetParametersAtomically, "set_parameters_atomically", request).result
        assert result.successful == (not result.reason)
        return result.reason

    def get(self, name: str):
        from rcl_interfaces.srv import GetParameters
        from rclpy.parameter import parameter_value_to_python
        values = self.call(GetParameters, "get_parameters", GetParameters.Request(names=[name])).values
        return parameter_value_to_python(values[0])

    def collect(self, kind, topic: str, latched: bool = False):
        """A list that fills with the messages of a topic, and the subscription to destroy."""
        from rclpy.qos import DurabilityPolicy, QoSProfile
        qos = QoSProfile(depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE)
        messages: list = []
        return messages, self.node.create_subscription(kind, topic, messages.append, qos)
