"""The node: a robot in the real-time loop, and everything around it that may take its time.

Two threads of interest: the loop's own (commands in, step, results out, no interpreter lock) and the executor's
(parameters, services, diagnostics). The node holds no physics and no array arithmetic.
"""
from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.node import Node
from rclpy.parameter import Parameter

from mbros_core.realtime import Loop

from . import diagnostics, messages
from .live import Live
from .messages import CommandRules
from .parameters import TABLE, declare, unused
from .robot import load_robot
from .services import Services
from .topics import make_outgoing, publisher


class SimNode:
    """The simulated robot on an rclpy node, `self.node`: `start()`, spin it, `close()`."""

    def __init__(self, overrides: Sequence[Parameter] = (), **options: Any):
        self.node = Node("mbros", parameter_overrides=list(overrides), **options)
        rows = [row for row in TABLE if row.default is not None]
        values = declare(self.node, rows)
        self.robot = load_robot(values)
        own = self.robot.rows()
        values.update(declare(self.node, own))
        self.live = Live([*rows, *own], values, self.robot)
        _, reason = self.live.checked(values)
        if reason:
            raise ValueError(f"parameter {reason}")
        self.dt = 1.0 / values["rate"]
        simulated = values["simulated_time"] or values["start_paused"] or values["real_time_factor"] != 1.0
        self.plane = self._data_plane(values, simulated)
        self.loop = self._make_loop(values)
        self.live.start(self.loop, self.plane)
        self.node.add_on_set_parameters_callback(self._on_parameters)
        self._latched()
        self.services = Services(self)
        self._seen = self._said = self._look()
        self._diagnostics = self._publisher_of_diagnostics()
        self.node.create_timer(1.0 / values["diagnostics_rate"], self._report, clock=Clock(clock_type=ClockType.STEADY_TIME))

    # --- making

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
            self.node.get_logger().warning(f"the native data plane cannot be used, messages go through Python: {e}")
            return PythonPlane(*arguments)

    def _make_loop(self, values: dict[str, Any]) -> Loop:
        plant = self.robot.plant
        plant.reset(*self.robot.initial_state(values))
        timeout, action, gain = self.live.watchdog()
        loop = Loop(plant, self.dt, self.plane.inputs, self.plane.outputs, overrun=values["overrun_policy"],
                    real_time_factor=values["real_time_factor"], paused=values["start_paused"], watchdog_timeout=timeout,
                    watchdog_action=action, damp_gain=gain, rt="auto" if values["priority"] else "off",
                    priority=max(values["priority"], 1), cpu=values["cpu"] if values["cpu"] >= 0 else None)
        loop.set_parameters(self.robot.parameter_block(values))
        return loop

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
        for note in [*self.robot.notes, *unused(self.node)]:
            self.node.get_logger().warning(note)
        self.loop.start()
        self.plane.start(self.loop)
        moving = f", {where.base.kind} base" if where.base else ""
        self.node.get_logger().info(
            f"simulating '{self.robot.model.name}' ({len(where.joints)} joints{moving}) at {v['rate']:g} Hz, "
            f"data plane {self.plane.kind}{', paused' if v['start_paused'] else ''}")
        for sentence in self.loop.privileges.sentences:
            self.node.get_logger().info(sentence)

    def close(self) -> None:
        """Stop the loop, then let go of what it used, then of the node."""
        self.loop.stop()
        self.plane.close()
        self.node.destroy_node()

    # --- parameters

    def _on_parameters(self, parameters: list[Parameter]) -> Any:
        from rcl_interfaces.msg import SetParametersResult

        reason = self.live.change({p.name: p.value for p in parameters})
        return SetParametersResult(successful=not reason, reason=reason)

    # --- diagnostics

    def _look(self) -> diagnostics.Seen:
        header, x = self.loop.snapshot()
        at = {name: start for name, (start, _) in self.robot.plant.layout.items()}
        counts = self.plane.counts()
        fault = self.loop.fault
        trouble = fault.text if fault else self.loop.stop_reason or ""
        return diagnostics.Seen(
            time.monotonic(), self.loop.statistics(), header, (x[at["energy"]], x[at["energy"] + 1]), x[at["clamped"]],
            self.loop.state, trouble, counts,
            {topic: self.node.count_publishers(self.node.resolve_topic_name(topic)) for topic in counts})

    def _report(self) -> None:
        """Publish /diagnostics; complain in the log, at most once a second."""
        before, self._seen = self._seen, self._look()
        now = self._seen
        if now.fault and now.fault != before.fault:
            self.node.get_logger().error(f"{now.fault}; call ~/reset to go on")
        if now.time - self._said.time >= 1.0:
            problems = self.plane.problems()
            for topic in now.counts:
                line = diagnostics.complaint(topic, now.counts[topic], self._said.counts[topic], problems[topic])
                if line:
                    self.node.get_logger().warning(line)
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
