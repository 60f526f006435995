"""The data plane in plain rclpy: subscriptions served by the executor, a thread that publishes what the loop shows.

Slower, and subject to the interpreter lock, but made of ordinary parts only: the oracle of `mbros.ros.wire.native_plane`. Tests start
nodes with it: `simulate(..., plane="python")`, which runs this file instead of `python -m mbros.ros`, and in their own process
`with in_use("python"):`.
"""
from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any
from unittest import mock

import numpy as np
from mbros.ros.wire.bench import NodeBench
from mbros.ros.wire.commands import REASONS, About, CommandRules
from mbros.ros.wire.messages import START_NS, RobotMap
from mbros.ros.wire.parts import Part
from mbros.ros.wire.topics import Outgoing, command_topics, subscription
from mbros_core.realtime import PAUSED, RESET, STEPPED, SnapshotHeader
from python_commands import carries_more, command_from_array, command_from_joint_state, follows

BEAT_NS = 100_000_000       # between two tellings of a robot that stands still, wall time
MARKS_OF_AGE = 32           # of what the stamp was when, in the age that a command may have


class PythonPlane:
    """The same face as `native_plane.NativePlane`; its plugs are empty."""

    gate = None             # no lockstep

    def __init__(self, node: Any, robot: RobotMap, parts: list[Part], topics: list[Outgoing], snapshot_size: int, dt: float,
                 simulated: bool, rules: CommandRules, bench: NodeBench | None = None, lockstep: Any = (),
                 stamps: Stamps | None = None):
        from rclpy.callback_groups import MutuallyExclusiveCallbackGroup

        self.stamps = Stamps(round(dt * 1e9), simulated, max_age=round(rules.max_age * 1e9)) if stamps is None else stamps
        self.inputs: list[Any] = []
        self.outputs: list[Any] = []
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
        self._loop: Any = None
        self._stamping = threading.Lock()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._publish, name="mbros-publisher")
        group = MutuallyExclusiveCallbackGroup()
        for of, (name, kind, message, _, what) in inputs:
            subscription(node, message, name, self._states(of, name) if kind == "joint_state" else self._arrays(of, name, what), group)

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

    def serve_clock(self, publisher: Any) -> None:
        """Publish the time there from now on, while it is simulated."""
        self.topics[0] = replace(self.topics[0], publisher=publisher)

    def set_share(self, rate: str, share: float) -> None:
        """Of every topic that has its rate from this parameter."""
        self._share.update((topic.name, share) for topic in self.topics if topic.rate == rate)

    def beside_topics(self, plug: Any) -> Any:
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

    def _states(self, of: RobotMap, topic: str) -> Callable[[Any], None]:
        def take(message: Any) -> None:
            reason, command, about = command_from_joint_state(of, message, self.rules, self.stamps, time.time_ns(), self._now())
            self._beside[topic] += reason == "accepted" and carries_more(of, message)
            self._followers[topic] += reason == "accepted" and follows(of, message)
            self._take(topic, reason, command, about)

        return take

    def _arrays(self, of: RobotMap, topic: str, what: int) -> Callable[[Any], None]:
        return lambda message: self._take(topic, *command_from_array(of, message, self.rules, what, self._now()))

    def _now(self) -> Any:
        """The newest snapshot; None before the loop is there."""
        return None if self._loop is None else self._loop.snapshot()[1]

    def _take(self, topic: str, reason: str, command: Any, about: About) -> None:
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
        seen, x = None, None
        while not self._stop.is_set():
            header, x = self._loop.snapshot(x)
            if (header.step, header.wall_ns) != seen:
                with self._one_moment(), self._stamping:
                    header, x = self._loop.snapshot(x)
                    seen = (header.step, header.wall_ns)
                    stamp = self.stamps.stamp(header.step, header.time, header.wall_ns, header.flags, x)
                    for topic in self.topics:
                        self._publish_one(topic, due, header.flags, x, stamp)
            time.sleep(min(self.dt, 0.01) / 2)

    def _one_moment(self) -> Any:
        """No step is taken meanwhile, where messages are of the devices' memory too: that is the loop's, and a step writes it."""
        return nullcontext() if self.bench is None else self._loop.aside()

    def _publish_one(self, topic: Outgoing, due: dict[str, float], flags: int, x: Any, stamp: int) -> None:
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

    def _publish_sensor(self, topic: Outgoing, x: Any, stamp: int) -> None:
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

    def _send(self, topic: Outgoing, x: Any, stamp: int) -> None:
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


# --- stamps: the oracle of `_dataplane.StampClock`


@dataclass
class Stamps:
    """What the stamps of messages say (see `stamps.pxd`): system time, or simulated time while time is simulated."""

    period_ns: int
    always: bool = False                # simulated from the start: stamps count from START_NS
    scaled: bool = False                # the real-time factor is not 1
    simulated: bool = False             # once they are, all that follow are
    max_age: int = 0                    # ns, that a command may have
    not_before: int = 0
    begun: int = 0                      # stamp of the newest reset
    fresh_from: int = 0                 # the stamp of max_age ago, wall time
    stamp_ns: int = 0
    clock_ns: int = 0                   # the same without the nanoseconds of a standstill
    still: bool = False                 # simulated time is what it was in the snapshot before
    changed: bool = False               # the robot was put elsewhere meanwhile
    beat: bool = False                  # it is time to publish the same again
    tick: bool = False                  # the same of /clock
    _origin: int = 0
    _nudge: int = 0                     # nanoseconds since time stands still: one for each publication
    _published: int = 0                      # wall time of the newest publication
    _content: bytes | None = field(default=None, repr=False)
    _last: tuple[int, int, float] | None = field(default=None, repr=False)     # step, wall_ns, time
    _renewed: bool = False
    _marks: deque[tuple[int, int]] = field(default_factory=deque, repr=False)   # wall_ns, stamp

    @property
    def origin_ns(self) -> int:
        """The stamp of simulated time 0, where time is simulated; another one after a reset."""
        return self._origin

    def stamp(self, step: int, time: float, wall_ns: int, flags: int, x: Any = ()) -> int:
        """Stamp of a snapshot in ns; the same for everyone who asks about the same snapshot."""
        if self._last is not None and self._last[:2] == (step, wall_ns):
            return self.stamp_ns
        now = _nanoseconds(time)
        simulated = self.always or self.simulated or self.scaled or bool(flags & (PAUSED | STEPPED))
        renewed, self._renewed = self._renewed and self._last is not None, False
        before = self._last is not None and (renewed or time < self._last[2])
        content = np.asarray(x, float).tobytes() if simulated else None
        self.still = simulated and self._last is not None and time == self._last[2] and not renewed
        if self.still:
            self._stand_still(wall_ns, flags, content)
        else:
            self._nudge, self._published = 0, wall_ns
        stamp = wall_ns
        if simulated:
            if self._last is None:
                self._origin = START_NS if self.always else wall_ns - now
            elif before:                                            # a reset: go on after the last stamp
                self._origin = self.clock_ns + self.period_ns - now
            elif not self.simulated:                                # from wall time: simulated time goes on from it
                self._origin = self.clock_ns - _nanoseconds(self._last[2])
            stamp = self._origin + now
            self._mark(wall_ns, stamp)
        elif self._last is not None and stamp <= self.clock_ns:     # the system's clock was set back
            stamp = self.clock_ns + max(self.period_ns // 2, 1)
        if flags & RESET or before:
            self.begun = stamp
        self.simulated, self.clock_ns, self._last, self._content = simulated, stamp, (step, wall_ns, time), content
        self.stamp_ns = stamp + self._nudge
        return self.stamp_ns

    def _stand_still(self, wall_ns: int, flags: int, content: bytes | None) -> None:
        """Is this snapshot, of the same simulated time as the one before, to be published?"""
        self.changed = (self._content is not None and content != self._content) or bool(flags & RESET)
        self.beat = not 0 <= wall_ns - self._published < BEAT_NS
        self.tick = self.changed or self.beat or not self.simulated
        if self.changed or self.beat:
            self._published = wall_ns
            self._nudge += 2 * self._nudge < self.period_ns

    def _mark(self, wall_ns: int, stamp: int) -> None:
        """Remember what the stamp is now, and what it was max_age ago."""
        marks = self._marks
        if marks and 0 <= wall_ns - marks[-1][0] < self.max_age // MARKS_OF_AGE:
            return
        if len(marks) == 2 * MARKS_OF_AGE:
            marks.popleft()
        marks.append((wall_ns, stamp))
        while len(marks) > 1 and marks[1][0] <= wall_ns - self.max_age:
            marks.popleft()
        self.fresh_from = marks[0][1]

    def go_on(self) -> None:
        """Another state was restored: the next stamp comes a step after the newest one."""
        self._renewed = True

    def set_scaled(self, scaled: bool) -> None:
        self.scaled = bool(scaled)

    def refuse_before(self, stamp_ns: int) -> None:
        self.not_before = stamp_ns


def _nanoseconds(seconds: float) -> int:
    """Rounded as C's llround does: halves away from zero."""
    x = seconds * 1e9
    return int(math.floor(x + 0.5)) if x >= 0 else -int(math.floor(0.5 - x))


# --- nodes with it


@contextmanager
def in_use(plane: str) -> Iterator[None]:
    """Nodes that are made meanwhile, and worlds that they go on with, have this data plane: "native", or "python"."""
    if plane == "native":
        yield
        return
    with (mock.patch("mbros.ros.wire.native_plane.NativePlane", PythonPlane),
          mock.patch("mbros.ros.serve.steps.Steps.serve_directly", lambda self, service: None),
          mock.patch("mbros.ros.serve.steps.Steps._read", read_request)):
        yield


def read_request(steps: Any, message: Any) -> Any:
    """The command of a request of ~/step, as `Steps._read` reads it."""
    if not (message.name or message.position or message.velocity or message.effort):
        return None
    sim, values = steps.sim, steps.sim.live.values
    return command_from_joint_state(sim.robot.map, message, CommandRules(values["max_command"], values["command_max_age"]),
                                    sim.plane.stamps, time.time_ns(), sim.loop.snapshot()[1])


if __name__ == "__main__":
    from mbros.ros.process.ending import Ending, leave

    ending = Ending()
    from mbros.ros.process.main import main

    with in_use("python"):
        print("through tests/ros/python_plane.py", flush=True)
        leave(main(ending=ending))
