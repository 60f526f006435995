"""A controller in a process of its own, on ROS 2, in step with a simulation that waits for it.

It subscribes to `joint_states` (sensor_msgs/JointState) and publishes on `joint_commands` (sensor_msgs/JointState): one answer to each
message, with the same header.stamp. position, velocity and effort are commands; NaN, or an empty array, is not commanded. Nothing else
decides what happens, so that the same controller moves the robot through the same bits every time.
"""
from __future__ import annotations

import math
import os
import subprocess
import tempfile
from time import monotonic
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mbros_core.support.processes import end_with

from mbros.errors import MbrosError, optional
from mbros.names import printable

from mbros.ros.process import middleware
from mbros.ros.process.strangers import bare_node

if TYPE_CHECKING:
    from mbros import Simulator
    from mbros.bench.layout import SignalRow
    from mbros.ros.wire.typing import JointState

AGAIN = 2.0         # s without an answer, after which the first state is sent again: discovery may have lost it
WORDS = ("position", "velocity", "effort")


class LockstepController:
    """Starts the command and answers with what it commands. joints: {name: (signals of position, velocity, effort)} of joint_states.
    The controller is asked to end (SIGTERM) when the thread that makes this ends."""

    def __init__(self, command: Sequence[str], folder: str, joints: dict[str, tuple[str, str, str]], timeout: float) -> None:
        self.rclpy = optional("rclpy", "controllers on ROS 2", "ros")
        from rosgraph_msgs.msg import Clock
        from sensor_msgs.msg import JointState

        self.command, self.joints, self.timeout = list(command), joints, timeout
        self.JointState, self.Clock = JointState, Clock
        self.answer: JointState | None = None
        self.wanted: tuple[int, int] | None = None
        self.strangers = 0
        self.log = tempfile.TemporaryFile()
        self.context = self.rclpy.Context()
        middleware.init([], context=self.context)
        self.node = bare_node("mbros_faults", context=self.context)
        self.executor = self.rclpy.executors.SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.node)
        self.states = self.node.create_publisher(JointState, "joint_states", 10)
        self.clock = self.node.create_publisher(Clock, "/clock", 10)
        self.node.create_subscription(JointState, "joint_commands", self._take, 10)
        try:
            self.process = subprocess.Popen(self.command, cwd=folder, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
                                            preexec_fn=end_with(os.getpid()))
        except OSError as error:
            self._end_node()
            raise MbrosError(f"controller: {self.command[0]!r} cannot be started: {error.strerror or error}") from None

    def update(self, time: float, sim: Simulator) -> None:
        """Sends the state of this time, waits for its answer, gives its commands."""
        now, ns = time, round(time * 1e9)
        self.wanted, self.answer = (ns // 10**9, ns % 10**9), None
        state = self._state(sim)
        if now == 0.0:
            self._await(lambda: self.states.get_subscription_count() > 0 and self.node.count_publishers("joint_commands") > 0, now)
            self._alone()
        self._send(state)
        sent = monotonic()

        def answered() -> bool:
            nonlocal sent
            if self.answer is None and now == 0.0 and monotonic() - sent > AGAIN:
                self._send(state)
                sent = monotonic()
            return self.answer is not None

        self._await(answered, now)
        assert self.answer is not None
        self._give(sim, self.answer)

    def close(self) -> None:
        """Ends the controller, politely first."""
        self.process.terminate()
        try:
            self.process.wait(5.0)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._end_node()

    def _end_node(self) -> None:
        self.executor.shutdown()
        self.node.destroy_node()
        self.rclpy.try_shutdown(context=self.context)
        self.log.close()

    def _take(self, message: JointState) -> None:
        if (message.header.stamp.sec, message.header.stamp.nanosec) == self.wanted:
            if self.answer is None:
                self.answer = message
        else:
            self.strangers += 1

    def _state(self, sim: Simulator) -> JointState:
        message: JointState = self.JointState(name=list(self.joints))
        assert self.wanted is not None
        message.header.stamp.sec, message.header.stamp.nanosec = self.wanted
        message.position, message.velocity, message.effort = (
            [sim.signals[signals[k]].value for signals in self.joints.values()] for k in range(3))
        return message

    def _send(self, state: JointState) -> None:
        self.clock.publish(self.Clock(clock=state.header.stamp))
        self.states.publish(state)

    def _await(self, done: Callable[[], bool], now: float) -> None:
        end = monotonic() + self.timeout
        while not done():
            if self.process.poll() is not None:
                raise MbrosError(f"controller: {' '.join(self.command)} ended with code {self.process.returncode} at {now:g} s"
                                 f"{self._said()}")
            if monotonic() > end:
                others = f"; {self.strangers} commands came with other stamps" if self.strangers else ""
                raise MbrosError(f"controller: no answer to the joint_states of {now:g} s within {self.timeout:g} s{others}; expected one "
                                 f"message on joint_commands with the same header.stamp{self._said()}")
            self.executor.spin_once(timeout_sec=0.1)

    def _said(self) -> str:
        """The last line it wrote."""
        self.log.seek(0)
        lines = self.log.read().decode(errors="replace").strip().splitlines()
        return f"; it said: {printable(lines[-1])}" if lines else ""

    def _alone(self) -> None:
        n = self.node.count_publishers("joint_states")
        if n > 1:
            raise MbrosError(f"controller: {n} nodes publish joint_states in this ROS domain; end the others, or set another ROS_DOMAIN_ID")

    def _give(self, sim: Simulator, message: JointState) -> None:
        given: dict[str, dict[str, float]] = {}
        for word in WORDS:
            values = getattr(message, word)
            if len(values) not in (0, len(message.name)):
                raise MbrosError(f"controller: joint_commands has {len(values)} numbers of {word} for {len(message.name)} names; expected "
                                 "as many, or none")
            given[word] = {name: float(x) for name, x in zip(message.name, values) if not math.isnan(x)}
        sim.command(**given)


def measured(rows: Sequence[SignalRow], joints: Sequence[str]) -> dict[str, tuple[str, str, str]]:
    """{joint: the signals that a controller reads}: of its first sensor that has them, else what is true."""
    names = [row.name for row in rows if row.joint]
    found = {}
    for joint in joints:
        of = [row for row in rows if row.joint == joint and ".command." not in row.name]
        found[joint] = tuple(next((row.name for row in of if row.what.startswith(kind) and row.name.endswith(f".{word}")),
                                  f"{joint}.{word}")
                             for word, kind in zip(WORDS, ("encoder:", "encoder:", "torque:")))
    assert all(signal in names for signals in found.values() for signal in signals)
    return found       # type: ignore[return-value]


def folder_of(file: str) -> str:
    """Where commands of a script run."""
    return str(Path(file).resolve().parent)
