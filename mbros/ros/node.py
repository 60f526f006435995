"""The node: a robot in the real-time loop, and everything around it that may take its time.

Two threads of interest: the loop's own (commands in, step, results out, no interpreter lock) and the executor's
(parameters, services, diagnostics). The node holds no physics and no array arithmetic.
"""
from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.node import Node
from rclpy.parameter import Parameter

# Half of a node's start-up is importing. What the parts below import when they need it is imported here, in one go, while
# nothing has begun yet and a signal still ends the process at once (ending.py).
import diagnostic_msgs.msg  # noqa: F401
import mbros.build.load  # noqa: F401
import nav_msgs.msg  # noqa: F401
import rosgraph_msgs.msg  # noqa: F401
import sensor_msgs.msg  # noqa: F401
import std_srvs.srv  # noqa: F401
from mbros.names import printable
from mbros_core.realtime import Loop

from . import diagnostics, messages
from .contacts import ContactTopics, contact_counts
from .errors import ParameterError
from .live import Live
from .messages import CommandRules
from .parameters import TABLE, declare, unused
from .robot import load_robot
from .services import Services
from .topics import make_outgoing, publisher


class Log:
    """The node's log. Every entry is one line: whatever a name in it holds, it shows and does nothing else."""

    def __init__(self, node: Node):
        self._logger = node.get_logger()

    def info(self, text: str) -> None:
        self._logger.info(printable(text))

    def warning(self, text: str) -> None:
        self._logger.warning(printable(text))

    def error(self, text: str) -> None:
        self._logger.error(printable(text))


class SimNode:
    """The simulated robot on an rclpy node, `self.node`: `start()`, spin it, `close()`.

    `check(what comes next)` is called between the pieces of the start, and may end it by raising.
    """

    def __init__(self, overrides: Sequence[Parameter[Any]] = (), *, check: Callable[[str], None] = lambda doing: None, **options: Any):
        self.loop: Any = None
        self.plane: Any = None
        self.ending = False             # nothing is said any more, and nothing started
        self.node = Node("mbros", parameter_overrides=list(overrides), **options)
        try:
            self._build(check)
        except BaseException:
            self.close()
            raise

    # --- making

    def _build(self, check: Callable[[str], None]) -> None:
        self.log = Log(self.node)
        rows = [row for row in TABLE if row.default is not None]
        check("declaring its parameters")
        values = declare(self.node, rows)
        check("loading the robot")
        self.robot = load_robot(values)
        own = self.robot.rows()
        check("declaring the robot's parameters")
        values.update(declare(self.node, own))
        self.live = Live([*rows, *own], values, self.robot)
        _, reason = self.live.checked(values)
        if reason:
            raise ParameterError(f"parameter {reason}")
        self.dt = 1.0 / values["rate"]
        simulated = values["simulated_time"] or values["start_paused"] or values["real_time_factor"] != 1.0
        check("creating its topics")
        self.plane = self._data_plane(values, simulated)
        check("making the loop")
        self.loop = self._make_loop(values)
        self.live.start(self.loop, self.plane, ContactTopics(self))
        check("creating its services")
        self._latched()
        self.services = Services(self)
        self.live.serve(self.node)
        self._once = diagnostics.Once()
        self._seen = self._said = self._look()
        self._diagnostics = self._publisher_of_diagnostics()
        self.node.create_timer(1.0 / values["diagnostics_rate"], self._report, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def _data_plane(self, values: dict[str, Any], simulated: bool) -> Any:
        """The native plane; the Python one where it was asked for, or, said aloud, where the native one cannot be had."""
        from .python_plane import PythonPlane

        size = sum(n for _, n in self.robot.plant.layout.values())
        arguments = (self.node, self.robot.map, make_outgoing(self.node, self.robot.map), size, self.dt, simulated,
                     CommandRules(values["max_command"], values["command_max_age"]))
        if values["data_plane"] == "python":
            return PythonPlane(*arguments)
        try:
            from .native_plane import NativePlane
            return NativePlane(*arguments)
        except (ImportError, RuntimeError) as e:
            if values["data_plane"] == "native":
                raise
            self.log.warning(f"the native data plane cannot be used, messages go through Python: {e}")
            return PythonPlane(*arguments)

    def _make_loop(self, values: dict[str, Any]) -> Loop:
        plant = self.robot.plant
        plant.reset(*self.robot.initial_state(values))
        timeout, action, gain = self.live.watchdog()
        return Loop(plant, self.dt, self.plane.inputs, self.plane.outputs, overrun=values["overrun_policy"],
                    real_time_factor=values["real_time_factor"], paused=values["start_paused"], watchdog_timeout=timeout,
                    watchdog_action=action, damp_gain=gain, rt="auto" if values["priority"] else "off",
                    priority=max(values["priority"], 1), cpu=values["cpu"] if values["cpu"] >= 0 else None,
                    count_allocations=values["count_allocations"])

    def _latched(self) -> None:
        """robot_description and /tf_static: said once, kept for those who come later."""
        from geometry_msgs.msg import TransformStamped
        from std_msgs.msg import String
        from tf2_msgs.msg import TFMessage

        if self.robot.urdf is not None:
            self._description = publisher(self.node, String, "robot_description", 1, latched=True)
            self._description.publish(String(data=self.robot.urdf))
        if self.robot.map.static:
            self._static = publisher(self.node, TFMessage, "/tf_static", 1, latched=True)
            self._static.publish(messages.fill_static_transforms(TFMessage(), self.robot.map, time.time_ns(), TransformStamped))

    def _publisher_of_diagnostics(self) -> Any:
        from diagnostic_msgs.msg import DiagnosticArray

        return publisher(self.node, DiagnosticArray, "/diagnostics", 10)

    # --- running

    def start(self) -> None:
        """Start the loop; says what runs, and which privileges it lacks."""
        v, where = self.live.values, self.robot.map
        for remark in self.robot.remarks:
            self.log.info(remark)
        for warning in [*self.robot.warnings, *unused(self.node)]:
            self.log.warning(warning)
        self.loop.start()
        self.plane.start(self.loop)
        moving = f", {where.base.kind} base" if where.base else ""
        self.log.info(
            f"simulating '{self.robot.model.name}' ({len(where.joints)} joints{moving}) at {v['rate']:g} Hz, "
            f"data plane {self.plane.kind}{', paused' if v['start_paused'] else ''}")
        for sentence in self.loop.privileges.sentences:
            self.log.info(sentence)

    def end(self) -> None:
        """Ask the loop to end, and no more: a callback that waits for it is set free. `close()` follows when no callback
        runs any more, so that there is one thread at a time that waits for the loop."""
        self.ending = True              # before the loop: what is seen of it from now on is our own doing
        self.loop.ask_to_stop()

    def close(self) -> None:
        """Stop the loop, then let go of what it used, then of the node."""
        self.ending = True
        if self.loop is not None:
            self.loop.stop()
        if self.plane is not None:
            self.plane.close()
        self.node.destroy_node()

    # --- diagnostics

    def _look(self) -> diagnostics.Seen:
        header, x = self.loop.snapshot()
        at = {name: start for name, (start, _) in self.robot.plant.layout.items()}
        counts = self.plane.counts()
        fault = self.loop.fault
        trouble = fault.text if fault else self.loop.stop_reason or ""
        return diagnostics.Seen(
            time.monotonic(), self.loop.statistics(), header, (x[at["energy"]], x[at["energy"] + 1]), x[at["clamped"]],
            self.loop.state, trouble, counts, self.plane.beside(), {topic: self._publishers(topic) for topic in counts},
            self._publishers("joint_states"), contact_counts(self.robot, x))

    def _publishers(self, topic: str) -> list[str]:
        """The full names of the nodes that publish on a topic, one for each publisher; "" where the graph does not know yet."""
        found = []
        for info in self.node.get_publishers_info_by_topic(self.node.resolve_topic_name(topic)):
            known = "UNKNOWN" not in info.node_name
            found.append(f"{info.node_namespace.rstrip('/')}/{info.node_name}" if known else "")
        return sorted(found)

    def _report(self) -> None:
        """Publish /diagnostics; complain in the log, at most once a second."""
        before, now = self._seen, self._look()
        if self.ending:
            return
        self._seen = now
        if now.fault and now.fault != before.fault:
            self.log.error(f"{now.fault}; call ~/reset to go on")
        for remark in self._once.remarks(now, before):
            self.log.warning(remark)
        if now.time - self._said.time >= 1.0:
            problems = self.plane.problems()
            for topic in now.counts:
                line = diagnostics.complaint(topic, now.counts[topic], self._said.counts[topic], problems[topic])
                if line:
                    self.log.warning(line)
                    self._said = now
        rate = self.live.values["rate"] * self.live.values["real_time_factor"]
        self._publish(diagnostics.reports(now, before, rate, self.plane.kind, list(self.loop.privileges.sentences)))

    def _publish(self, reports: list[diagnostics.Report]) -> None:
        from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue

        array = DiagnosticArray()
        messages.set_time(array.header.stamp, time.time_ns())
        name = self.node.get_fully_qualified_name()
        for r in reports:
            array.status.append(DiagnosticStatus(
                level=bytes([r.level]), name=f"{name}: {r.name}", message=r.message, hardware_id=self.robot.model.name,
                values=[KeyValue(key=k, value=v) for k, v in r.values.items()]))
        self._diagnostics.publish(array)


__all__ = ["SimNode"]
