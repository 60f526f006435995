"""The data plane in plain rclpy: subscriptions served by the executor, a thread that publishes what the loop shows.

Slower, and subject to the interpreter lock, but made of ordinary parts only; the tests compare the native plane with it.
"""
from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from mbros_core.realtime import RESET, STEPPED, SnapshotHeader

from mbros.ros.wire import commands
from mbros.ros.wire.bench import NodeBench
from mbros.ros.wire.commands import REASONS, About, CommandRules
from mbros.ros.wire.messages import RobotMap, Stamps
from mbros.ros.wire.parts import Part
from mbros.ros.wire.topics import Outgoing, command_topics, subscription

if TYPE_CHECKING:
    from mbros.ros.typing import Publisher, Topics
    from mbros.ros.wire._dataplane import CommandInput, Output
    from mbros.ros.wire.typing import Float64MultiArray, JointState
    from mbros_core.realtime import Loop
    from mbros_core.typing import Array, HasCapsule


class PythonPlane:
    """The same face as `native_plane.NativePlane`; its plugs are empty. See `topics`."""

    kind = "python"
    gate = None             # no lockstep

    def __init__(self, node: Topics, robot: RobotMap, parts: list[Part], topics: list[Outgoing], snapshot_size: int, dt: float,
                 simulated: bool, rules: CommandRules, bench: NodeBench | None = None, stamps: Stamps | None = None):
        from rclpy.callback_groups import MutuallyExclusiveCallbackGroup

        self.stamps = Stamps(round(dt * 1e9), simulated, max_age=round(rules.max_age * 1e9)) if stamps is None else stamps
        self.inputs: list[CommandInput] = []
        self.outputs: list[Output] = []
        self.robot, self.topics, self.rules, self.dt = robot, topics, rules, dt
        self._share = {topic.name: 1.0 for topic in topics}
        self._newest = dict.fromkeys(self._share, 0)        # stamps of sensors
        self.bench = bench
        self._sampled = dict.fromkeys(self._share, -1.0)
        inputs = [(part.map, row) for part in parts for row in command_topics(part) if row[1] != "trajectory"]
        self._counts = {row[0]: dict.fromkeys(REASONS, 0) for _, row in inputs}
        self._beside = {row[0]: 0 for _, row in inputs if row[1] == "joint_state"}      # the messages that have room for more than efforts
        self._followers = dict.fromkeys(self._beside, 0)
        self._problems: dict[str, tuple[str, str, float] | None] = dict.fromkeys(self._counts)
        self._loop: Loop | None = None
        self._stamping = threading.Lock()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._publish, name="mbros-publisher")
        group = MutuallyExclusiveCallbackGroup()
        for of, (name, kind, message, _, what) in inputs:
            subscription(node, message, name, self._states(of, name) if kind == "joint_state" else self._arrays(of, name, what), group)

    def start(self, loop: Loop) -> None:
        self._loop = loop
        self._thread.start()

    def stop(self) -> None:
        """End the publishing thread; call it after the loop has stopped."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()

    def clock_of(self, header: SnapshotHeader, x: Array) -> int:
        """The time on /clock of a snapshot, ns. The publishing thread may not have seen it yet."""
        with self._stamping:
            self.stamps.stamp(header.step, header.time, header.wall_ns, header.flags, x)
            return self.stamps.clock_ns

    def close(self) -> None:
        self.stop()

    def serve_clock(self, publisher: Publisher) -> None:
        """Publish the time there from now on, while it is simulated."""
        self.topics[0] = replace(self.topics[0], publisher=publisher)

    def set_share(self, rate: str, share: float) -> None:
        """Of every topic that has its rate from this parameter."""
        self._share.update((topic.name, share) for topic in self.topics if topic.rate == rate)

    def beside_topics(self, plug: HasCapsule) -> HasCapsule:
        """There are no trajectories here."""
        return plug

    def release(self, coordinates: Iterable[int]) -> None:
        """These coordinates will be commanded otherwise than by a topic: nothing to do, the newest command wins."""

    def counts(self) -> dict[str, dict[str, int]]:
        return {name: dict(counts) for name, counts in self._counts.items()}

    def beside(self) -> dict[str, int]:
        return dict(self._beside)

    def followers(self) -> dict[str, int]:
        return dict(self._followers)

    def beyond(self) -> tuple[int, str, float]:
        """Of shared memory, which is not looked at here."""
        return 0, "", 0.0

    def problems(self) -> dict[str, tuple[str, str, float] | None]:
        return dict(self._problems)

    # --- in

    def _states(self, of: RobotMap, topic: str) -> Callable[[JointState], None]:
        def take(message: JointState) -> None:
            reason, command, about = commands.command_from_joint_state(of, message, self.rules, self.stamps, time.time_ns(), self._now())
            self._beside[topic] += reason == "accepted" and commands.carries_more(of, message)
            self._followers[topic] += reason == "accepted" and commands.follows(of, message)
            self._take(topic, reason, command, about)

        return take

    def _arrays(self, of: RobotMap, topic: str, what: int) -> Callable[[Float64MultiArray], None]:
        return lambda message: self._take(topic, *commands.command_from_array(of, message, self.rules, what, self._now()))

    def _now(self) -> Array | None:
        """The newest snapshot; None before the loop is there."""
        return None if self._loop is None else self._loop.snapshot()[1]

    def _take(self, topic: str, reason: str, command: Array | None, about: About) -> None:
        self._counts[topic][reason] += 1
        if command is None:
            self._problems[topic] = (reason, *about)
        elif self._loop is not None:
            try:
                self._loop.command(command)
            except RuntimeError:
                pass                    # in fault: the loop takes no commands until a reset, and diagnostics say so

    # --- out

    def _publish(self) -> None:
        """Look at the newest snapshot once a step and publish what is due."""
        due = dict.fromkeys(self._share, 1.0)
        seen, x, loop = None, None, self._loop
        assert loop is not None
        while not self._stop.is_set():
            header, x = loop.snapshot(x)
            key = (header.step, header.wall_ns)
            if key != seen:
                seen = key
                with self._stamping:
                    stamp = self.stamps.stamp(header.step, header.time, header.wall_ns, header.flags, x)
                    for topic in self.topics:
                        self._publish_one(topic, due, header.flags, x, stamp)
            time.sleep(min(self.dt, 0.01) / 2)

    def _publish_one(self, topic: Outgoing, due: dict[str, float], flags: int, x: Array, stamp: int) -> None:
        share = self._share[topic.name]
        if share == 0.0 or (topic.only_simulated and not self.stamps.simulated):
            return
        if topic.since:
            self._publish_sensor(topic, x, stamp)
            return
        soon = 1.0 - 0.5 * share
        due[topic.name] = due[topic.name] + share if due[topic.name] < soon else 1.0
        now = due[topic.name] >= soon or bool(flags & (STEPPED | RESET))
        if topic.only_simulated:
            stamp = self.stamps.clock_ns
        if self.stamps.still:
            now = self.stamps.changed or (now and (self.stamps.tick if topic.only_simulated else self.stamps.beat))
        if not now:
            return
        due[topic.name] = due[topic.name] - 1.0 if due[topic.name] >= soon else 0.0
        self._send(topic, x, stamp)

    def _publish_sensor(self, topic: Outgoing, x: Array, stamp: int) -> None:
        """Where a reading has come since the newest that was published."""
        assert self.bench is not None                   # or there were no sensors
        memory = self.bench.memory.copy()
        newest = max((memory[k] for k in topic.since if memory[k] == memory[k]), default=-1.0)
        if newest != self._sampled[topic.name]:
            self._sampled[topic.name] = newest
            if newest >= 0.0:
                late = round((memory[0] - newest) * self.dt * 1e9) + round(topic.late * 1e9)
                self._newest[topic.name] = max(self._newest[topic.name], stamp - late)
                self._send(topic, np.concatenate([x, memory]), self._newest[topic.name])

    def _send(self, topic: Outgoing, x: Array, stamp: int) -> None:
        if topic.of_memory and self.bench is not None:
            x = np.concatenate([x, self.bench.memory])
        if topic.publisher is None:             # of /clock, in the moment before there is one
            return
        try:
            if topic.publisher.get_subscription_count():        # a message that nobody takes is not made
                topic.publisher.publish(topic.fill(x, stamp))
        except Exception:
            if not self._stop.is_set():         # the context may go down before this thread
                raise
