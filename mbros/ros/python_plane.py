"""The data plane in plain rclpy: subscriptions served by the executor, a thread that publishes what the loop shows.

Slower, and subject to the interpreter lock, but made of ordinary parts only; the tests compare the native plane with it.
"""
from __future__ import annotations

import math
import threading
import time
from typing import Any

from mbros_core.realtime import RESET, STEPPED, SnapshotHeader

from . import messages
from .messages import REASONS, CommandRules, RobotMap, Stamps
from .topics import Outgoing, subscription


class PythonPlane:
    """The same face as `native_plane.NativePlane`; its plugs are empty. See `topics`."""

    kind = "python"

    def __init__(self, node: Any, robot: RobotMap, topics: list[Outgoing], snapshot_size: int, dt: float,
                 simulated: bool, rules: CommandRules):
        from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
        from sensor_msgs.msg import JointState
        from std_msgs.msg import Float64MultiArray

        self.stamps = Stamps(round(dt * 1e9), simulated)
        self.inputs: list[Any] = []
        self.outputs: list[Any] = []
        self.robot, self.topics, self.rules, self.dt = robot, topics, rules, dt
        self._every = {topic.name: 1 for topic in topics}
        self._counts = {name: dict.fromkeys(REASONS, 0) for name in ("joint_commands", "effort_commands")}
        self._beside = {"joint_commands": 0}        # the messages that have room for more than efforts
        self._problems: dict[str, tuple[str, str, float] | None] = dict.fromkeys(self._counts)
        self._loop: Any = None
        self._stamping = threading.Lock()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._publish, name="mbros-publisher")
        group = MutuallyExclusiveCallbackGroup()
        subscription(node, JointState, "joint_commands", self._joint_commands, group)
        subscription(node, Float64MultiArray, "effort_commands", self._effort_commands, group)

    def start(self, loop: Any) -> None:
        self._loop = loop
        self._thread.start()

    def stop(self) -> None:
        """End the publishing thread; call it after the loop has stopped."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()

    def clock_of(self, header: SnapshotHeader, x: Any) -> int:
        """The time on /clock of a snapshot, ns. The publishing thread may not have seen it yet."""
        with self._stamping:
            self.stamps.stamp(header.step, header.time, header.wall_ns, header.flags, x)
            return self.stamps.clock_ns

    def close(self) -> None:
        self.stop()

    def set_every(self, topic: str, steps: int) -> None:
        self._every[topic] = steps

    def counts(self) -> dict[str, dict[str, int]]:
        return {name: dict(counts) for name, counts in self._counts.items()}

    def beside(self) -> dict[str, int]:
        return dict(self._beside)

    def problems(self) -> dict[str, tuple[str, str, float] | None]:
        return dict(self._problems)

    # --- in

    def _joint_commands(self, message: Any) -> None:
        reason, command = messages.command_from_joint_state(self.robot, message, self.rules, self.stamps, time.time_ns())
        self._beside["joint_commands"] += reason == "accepted" and messages.carries_more(message)
        self._take("joint_commands", reason, command)

    def _effort_commands(self, message: Any) -> None:
        self._take("effort_commands", *messages.command_from_array(self.robot, message, self.rules))

    def _take(self, topic: str, reason: str, command: Any) -> None:
        self._counts[topic][reason] += 1
        if command is None:
            self._problems[topic] = (reason, "", math.nan)
        elif self._loop is not None:
            try:
                self._loop.command(command)
            except RuntimeError:
                pass                    # in fault: the loop takes no commands until a reset, and diagnostics say so

    # --- out

    def _publish(self) -> None:
        """Look at the newest snapshot once a step and publish what is due."""
        due = dict.fromkeys(self._every, 0)
        seen, x = None, None
        while not self._stop.is_set():
            header, x = self._loop.snapshot(x)
            key = (header.step, header.wall_ns)
            if key != seen:
                seen = key
                with self._stamping:
                    stamp = self.stamps.stamp(header.step, header.time, header.wall_ns, header.flags, x)
                    for topic in self.topics:
                        self._publish_one(topic, due, header.flags, x, stamp)
            time.sleep(min(self.dt, 0.01) / 2)

    def _publish_one(self, topic: Outgoing, due: dict[str, int], flags: int, x: Any, stamp: int) -> None:
        steps = self._every[topic.name]
        if steps == 0 or (topic.only_simulated and not self.stamps.simulated):
            return
        due[topic.name] = max(due[topic.name] - 1, 0)
        now = not 0 < due[topic.name] < steps or bool(flags & (STEPPED | RESET))
        if topic.only_simulated:
            stamp = self.stamps.clock_ns
        elif self.stamps.still:
            now = self.stamps.changed or (self.stamps.beat and now)
        if not now:
            return
        due[topic.name] = steps
        try:
            topic.publisher.publish(topic.fill(x, stamp))
        except Exception:
            if not self._stop.is_set():         # the context may go down before this thread
                raise
