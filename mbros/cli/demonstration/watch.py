"""Looking at a running simulation over ROS: rates, diagnostics, positions. Never in the way of what it looks at."""
from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING, Any

from mbros.cli.demonstration.table import View
from mbros.ros.process.strangers import bare_node

if TYPE_CHECKING:
    from mbros.record.recorder import Recorder

WINDOW = 2.0        # s over which rates are measured


class Rate:
    """Events per second, from running totals that are read now and then."""

    def __init__(self) -> None:
        self.first: tuple[float, float] | None = None
        self.marks: deque[tuple[float, float]] = deque()

    def mark(self, total: float, now: float | None = None) -> None:
        """There have been `total` events; nothing counts before the first."""
        now = time.monotonic() if now is None else now
        if total:
            self.marks.append((now, total))
            self.first = self.first or self.marks[0]
        while len(self.marks) > 2 and now - self.marks[0][0] > WINDOW:
            self.marks.popleft()

    def begin(self) -> None:
        """From here on `mean` counts."""
        self.first = self.marks[-1] if self.marks else None

    @property
    def hertz(self) -> float | None:
        """Over the last WINDOW seconds; None before there is half a second to judge from."""
        return slope(self.marks[0], self.marks[-1]) if self.marks else None

    @property
    def mean(self) -> float | None:
        """Since `begin`."""
        return slope(self.first, self.marks[-1]) if self.marks and self.first else None


def slope(a: Any, b: Any) -> float | None:
    """Events per second between two marks."""
    return (b[1] - a[1]) / (b[0] - a[0]) if b[0] - a[0] >= 0.5 else None


class Watch:
    """Subscribes and polls. `look(view)` takes what has arrived and fills the view; call it every 20 ms or so.

    Messages are counted as bytes; only the newest state is decoded (all of them where they are recorded).
    """

    def __init__(self, recorder: Recorder | None = None) -> None:
        from diagnostic_msgs.msg import DiagnosticArray
        from rclpy.qos import QoSProfile, ReliabilityPolicy
        from sensor_msgs.msg import JointState
        from tf2_msgs.msg import TFMessage

        deep = QoSProfile(depth=1000, reliability=ReliabilityPolicy.BEST_EFFORT)
        self.node = bare_node("mbros_watch")
        self.states, self.transforms, self.diagnostics = (
            self.node.create_subscription(kind, topic, lambda message: None, deep)
            for kind, topic in ((JointState, "joint_states"), (TFMessage, "/tf"), (DiagnosticArray, "/diagnostics")))
        self.rates = {"states": Rate(), "transforms": Rate(), "commands": Rate()}
        self.counts = {"states": 0, "transforms": 0}
        self.recorder, self.first, self.newest, self.places = recorder, None, None, None

    def look(self, view: View) -> None:
        """Take everything that has arrived."""
        from rclpy.serialization import deserialize_message

        states = take_all(self.states)
        self.count("states", len(states))
        self.count("transforms", len(take_all(self.transforms)))
        view.state_rate, view.tf_rate = self.rates["states"].hertz, self.rates["transforms"].hertz
        if states:
            self.newest = deserialize_message(states[-1], self.states.msg_type)
            if self.recorder is not None:
                self.record([deserialize_message(state, self.states.msg_type) for state in states])
        if self.newest is not None and view.report:
            position = dict(zip(self.newest.name, self.newest.position))
            view.q = [position[name] for name in view.report["names"]]
        for data in take_all(self.diagnostics):
            self.diagnose(deserialize_message(data, self.diagnostics.msg_type), view)

    def count(self, name: str, messages: int) -> None:
        self.counts[name] += messages
        self.rates[name].mark(self.counts[name])

    def begin(self) -> None:
        """The motion begins: `sum_up` counts from here."""
        for rate in self.rates.values():
            rate.begin()

    def sum_up(self, view: View) -> None:
        """Rates over the whole motion, for the summary."""
        view.state_rate, view.tf_rate = self.rates["states"].mean, self.rates["transforms"].mean
        view.command_rate = self.rates["commands"].mean

    def diagnose(self, array: Any, view: View) -> None:
        """What the node says of itself, once a second."""
        said = {}
        for status in array.status:
            part = status.name.rpartition(": ")[2]
            said.update({(part, value.key): value.value for value in status.values})
        late: list[Any] = [number(said.get(("real time", f"lateness {p} (ms)"))) for p in ("p50", "p99")]
        if None not in late:
            view.lateness = (1e-3 * late[0], 1e-3 * late[1])
            view.late_steps = int(said.get(("real time", "overruns"), 0)) + int(said.get(("real time", "missed"), 0))
        age = number(said.get(("commands", "age (ms)")))
        view.command_age = None if age is None else 1e-3 * age
        view.plane = said.get(("real time", "data plane"), view.plane)
        accepted = number(said.get(("commands", "joint_commands accepted")))
        now = array.header.stamp.sec + 1e-9 * array.header.stamp.nanosec
        if accepted is not None:
            self.rates["commands"].mark(accepted, now)
            view.command_rate = self.rates["commands"].hertz

    def record(self, states: Any) -> None:
        """Write the states to the recorder, time counting from the first."""
        rows = []
        for state in states:
            stamp = state.header.stamp.sec * 10**9 + state.header.stamp.nanosec
            self.first = stamp if self.first is None else self.first
            rows.append([1e-9 * (stamp - self.first), *(x for row in zip(state.position, state.velocity, state.effort) for x in row)])
        assert self.recorder is not None
        self.recorder.write(rows)

    def close(self) -> None:
        self.node.destroy_node()


def take_all(subscription: Any) -> list[bytes]:
    """Every message that waits, as bytes."""
    found = []
    with subscription.handle:
        while (taken := subscription.handle.take_message(subscription.msg_type, True)) is not None:
            found.append(taken[0])
    return found


def number(text: str | None) -> float | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return None
