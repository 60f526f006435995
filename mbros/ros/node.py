"""The node: a robot in the real-time loop, and everything around it that may take its time.

Three threads of interest: the loop's own (commands in, step, results out, no interpreter lock), the executor's (parameters,
services, diagnostics), and one that answers `~/step`. The node holds no physics and no array arithmetic.
"""
from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from rclpy.clock import Clock
from rclpy.clock_type import ClockType

# Half of a node's start-up is importing. What the parts below import when they need it is imported here, in one go, while
# nothing has begun yet and a signal still ends the process at once (ending.py).
import diagnostic_msgs.msg  # noqa: F401
import mbros.build.load  # noqa: F401
import nav_msgs.msg  # noqa: F401
import rosgraph_msgs.msg  # noqa: F401
import sensor_msgs.msg  # noqa: F401
import std_srvs.srv  # noqa: F401
from mbros.names import plural
from mbros_core.realtime import Loop

from mbros.errors import MbrosError
from mbros.ros.wire import diagnostics, messages
from mbros.ros.wire.actuator_messages import actuator_topics
from mbros.ros.serve.another_world import Changes
from mbros.ros.wire.commands import CommandRules
from mbros.ros.wire.contacts import ContactTopics, contact_counts
from .errors import ParameterError
from mbros.ros.wire.kept_topics import KeptTopics
from .live import Live
from mbros.ros.wire.lockstep import Watch, consumers
from mbros.ros.process.log import Log
from mbros.ros.wire.one_clock import OneClock
from .parameters import TABLE, declare
from mbros.ros.serve.prompt import Prompt
from mbros.ros.serve.recording import Recording, beside
from .robot import Robot, check_one_robot, load_robot
from mbros.ros.serve.saves import Saves
from mbros.ros.wire.sensor_messages import sensor_topics
from mbros.ros.serve.services import Services
from mbros.ros.serve.shared import report as report_of_door, shared_memory
from mbros.ros.wire.sources import source_topics, with_sources
from mbros.ros.process.strangers import check_type_hashes, follow_no_clock, rclpy_node, takes_clocks_for_its_own
from mbros.ros.serve.strays import strays
from .standard import Offer
from mbros.ros.wire.topics import make_outgoing, publisher
from mbros.ros.serve.turn import Turn

if TYPE_CHECKING:
    from mbros.ros.typing import Parameter, Publisher, Values
    from mbros.ros.wire.native_plane import NativePlane
    from mbros.simulate.shared import SharedMemory
    from mbros_core.typing import HasCapsule


class SimNode:
    """The simulated robot on an rclpy node, `self.node`: `start()`, spin it, `close()`.

    `check(what comes next)` is called between the pieces of the start, and may end it by raising. argv: the program's (strays.py).
    """

    def __init__(self, overrides: Sequence[Parameter] = (), *, check: Callable[[str], None] = lambda doing: None,
                 argv: Sequence[str] = (), **options: Any):
        self.door: SharedMemory | None = None
        self.fixed = ""                 # why the world has to stay as it is: what else looks at this robot's model
        self.of_worlds: list[Callable[[], None]] = []       # called where it goes on with another one
        self.changes = Changes(self)
        self.turn = Turn()              # held by whatever acts on the loop in more than one call: services, parameters, goals
        self.quit: Callable[[], None] | None = None     # ends the program that serves this node
        self.ending = False             # nothing is said any more, and nothing started
        self.node = rclpy_node("mbros", parameter_overrides=list(overrides), **options)
        follow_no_clock(self.node)
        takes_clocks_for_its_own(self.node)
        check_type_hashes(self.node)
        try:
            self._build(check)
            self.strays = strays(self.node, argv, self.robot.members)
        except BaseException:
            self.close()
            raise

    # --- making

    def _build(self, check: Callable[[str], None]) -> None:
        self.log = Log(self.node)
        self.prompt = Prompt(self.node, self.log.error)
        self.topics = KeptTopics(self.node)
        self.clock = OneClock(self)
        rows = [row for row in TABLE if row.default is not None]
        check("declaring its parameters")
        values = declare(self.node, rows)
        check_one_robot(getattr(self.node, "_parameter_overrides", {}), values)
        check("loading the robot")
        self.robot = load_robot(values)
        own = self.robot.rows()
        check("declaring the robot's parameters")
        values.update(declare(self.node, own))
        self.live = Live([*rows, *own], values, self.robot)
        _, reason = self.live.checked(values)
        if reason:
            raise ParameterError(f"parameter {reason}")
        values.update(self.live.following(self.node, getattr(self.node, "_parameter_overrides", {})))
        self.dt = 1.0 / values["rate"]
        self.consumers = consumers(values["lockstep"])
        self.door = shared_memory(values, self.robot.plant, self.dt)
        self.in_lockstep = bool(self.consumers) or (self.door is not None and self.door.gate is not None)
        check("creating its topics")
        self.plane = self._data_plane(self.robot, values)
        check("making the loop")
        self.loop = self._make_loop(self.robot, self.plane, values, values["start_paused"])
        self.live.take_time = self.clock.take
        self.live.start(self.loop, self.plane, ContactTopics(self), self.door)
        check("creating its services")
        self._descriptions: dict[str, Publisher] = {}
        self.latch()
        self.saves, self.recording = Saves(self), Recording(self)
        self.live.recording = self.recording
        self.services = Services(self)
        self.standard = Offer(self)
        self.live.serve(self.node, self.turn, self.log.warning)
        self.watch = Watch(self, self.consumers) if self.consumers else None
        if self.watch is not None:
            self.node.create_timer(Watch.PERIOD, self.watch.look, clock=Clock(clock_type=ClockType.STEADY_TIME))
        self._once, self._trips = diagnostics.Once(), diagnostics.Trips()
        self.begin_diagnostics()
        self._diagnostics = self._publisher_of_diagnostics()
        self.node.create_timer(1.0 / values["diagnostics_rate"], self._report, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def _data_plane(self, robot: Robot, values: Values, stamps: Any = None) -> NativePlane:
        """What carries messages in and out in the loop's own thread; MbrosError where this ROS does not let it. stamps: of the plane
        before, whose time goes on."""
        try:
            from mbros.ros.wire.native_plane import NativePlane
        except ImportError as e:
            raise MbrosError(f"the data plane, which carries messages in and out, cannot be imported ({e}). Build mbros again: pip install "
                             ".") from e
        size = sum(n for _, n in robot.plant.layout.values())
        bench = robot.bench
        sensors = [] if bench is None else sensor_topics(bench, robot, values["frame_prefix"], size)
        where, parts = robot.map, robot.parts
        simulated = values["simulated_time"] or self.in_lockstep or values["start_paused"] or values["real_time_factor"] != 1.0
        of_sources = [] if bench is None else [row for part in with_sources(bench, parts) for row in source_topics(bench, part, size)]
        of_actuators = [] if bench is None else actuator_topics(bench, robot.model, size, self.log.info)
        self.clock.wanted = simulated
        outgoing = make_outgoing(self.topics, where, parts, sensors, of_sources, of_actuators, self.clock.publisher)
        return NativePlane(self.topics, where, parts, outgoing, size, self.dt, simulated,
                           CommandRules(values["max_command"], values["command_max_age"]), bench, self.consumers, stamps)

    def _make_loop(self, robot: Robot, plane: NativePlane, values: Values, paused: bool) -> Loop:
        plant = robot.plant
        plant.reset(*robot.initial_state(values))
        timeout, action, gain = self.live.watchdog()
        room = round(values["record_buffer"] * values["rate"])
        inputs: list[HasCapsule] = [*plane.inputs]
        outputs: list[HasCapsule] = [*plane.outputs]
        gate = plane.gate
        if self.door is not None:           # first: its clients have each state before messages are made of it
            inputs, outputs, gate = [plane.beside_topics(self.door.input), *inputs], [self.door.output, *outputs], gate or self.door.gate
        loop = Loop(plant, self.dt, inputs, outputs, overrun=values["overrun_policy"],
                    real_time_factor=values["real_time_factor"], paused=paused, watchdog_timeout=timeout,
                    watchdog_action=action, damp_gain=gain, rt="auto" if values["priority"] else "off",
                    priority=max(values["priority"], 1), cpu=values["cpu"] if values["cpu"] >= 0 else None,
                    count_allocations=values["count_allocations"], gate=gate, record=room,
                    record_also=beside(robot) if room else None, watchdogs=robot.watchdogs)
        if room:
            loop.recording = False
        return loop

    def latch(self) -> None:
        """robot_description of each robot, and /tf_static: said once, kept for those who come later."""
        from geometry_msgs.msg import TransformStamped
        from std_msgs.msg import String
        from tf2_msgs.msg import TFMessage

        before, self._descriptions = self._descriptions, {}
        for part in self.robot.parts:
            if part.urdf is not None:
                self._descriptions[part.name] = said = publisher(self.topics, String, part.topic("robot_description"), 1, latched=True)
                if before.get(part.name) is not said:
                    said.publish(String(data=part.urdf))
        if self.robot.map.static:
            self._static = publisher(self.topics, TFMessage, "/tf_static", 1, latched=True)
            self._static.publish(messages.fill_static_transforms(TFMessage(), self.robot.map, self.stamp_ns(), TransformStamped))

    def _publisher_of_diagnostics(self) -> Publisher:
        from diagnostic_msgs.msg import DiagnosticArray

        return publisher(self.node, DiagnosticArray, "/diagnostics", 10)

    def stamp_ns(self) -> int:
        """Of what is published beside the loop, ns: that of its newest snapshot; the first one's, before there is one."""
        stamps = self.plane.stamps
        newest = stamps.clock_ns
        if not newest:
            return messages.START_NS if self.clock.wanted else time.time_ns()
        stopped = not stamps.simulated and self.loop.state == "stopped"
        return max(newest, time.time_ns()) if stopped else newest

    # --- running

    def pause(self) -> None:
        """Time is simulated from then on. RequestError where another node says what time it is."""
        self.clock.take()
        self.loop.pause()

    def start(self) -> None:
        """Start the loop; says what runs, and which privileges it lacks."""
        v, where = self.live.values, self.robot.map
        self.clock.begin()
        for remark in self.robot.remarks:
            self.log.info(remark)
        for warning in [*self.robot.warnings, *self.strays.text]:
            self.log.warning(warning)
        if v["record"]:
            self.log.info(self.recording.start(v["record"]))
        self.loop.start()
        self.plane.start(self.loop)
        self.prompt.start()
        moving = f", {where.base.kind} base" if where.base else f", {self.robot.summary}" if self.robot.is_scene else ""
        self.log.info(
            f"simulating '{self.robot.model.name}' ({plural(len(where.joints), 'joint')}{moving}) at {v['rate']:g} Hz"
            f"{', paused' if v['start_paused'] else ''}")
        if self.robot.bench is not None:
            self.log.info(self.robot.bench.summary)
            if not any(topic.rpartition("/")[2] == "joint_trajectory" for topic in self.plane.counts()):
                self.log.warning("no topic joint_trajectory: it needs the package trajectory_msgs (Debian and "
                                 "Ubuntu: ros-<distro>-trajectory-msgs; PyPI: ros-trajectory-msgs)")
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
        made = vars(self)               # the start may have ended in between
        if "loop" in made:
            self.loop.ask_to_stop()
        self.changes.close()
        if "prompt" in made:
            self.prompt.close()
        if "services" in made:
            self.services.steps.close()
        if "loop" in made:
            self.loop.stop()
        if self.door is not None:
            self.door.close()
        if "recording" in made:
            self.recording.close()
        if "plane" in made:
            self.plane.close()
        if "standard" in made:
            self.standard.close()
        self.node.destroy_node()

    # --- diagnostics

    def begin_diagnostics(self) -> None:
        """Of this loop, from now on."""
        self._seen = self._said = self._look()

    def _look(self) -> diagnostics.Seen:
        header, x = self.loop.snapshot()
        at = {name: start for name, (start, _) in self.robot.plant.layout.items()}
        counts = self.plane.counts()
        fault = self.loop.fault
        trouble = fault.text if fault else self.loop.stop_reason or ""
        return diagnostics.Seen(
            time.monotonic(), self.loop.statistics(), header, (x[at["energy"]], x[at["energy"] + 1]), x[at["clamped"]],
            self.loop.state, trouble, counts, self.plane.beside(), self.plane.followers(),
            {topic: self._publishers(topic) for topic in counts},
            {topic: self._publishers(topic) for topic in (part.topic("joint_states") for part in self.robot.parts)},
            contact_counts(self.robot, x), self.services.steps.unheard,
            tuple(part.name for part, acts in zip(self.robot.parts, self.loop.silent) if acts), self.plane.beyond(),
            self.recording.left_out)

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
        for remark in [*self._once.remarks(now, before), *self._trips.remarks(now, before, self.live.watchdog())]:
            self.log.warning(remark)
        for remark in self.clock.look():
            (self.log.error if self.clock.publisher is not None else self.log.warning)(remark)
        if now.time - (said := self._said).time >= 1.0:
            problems, stamps = self.plane.problems(), self.plane.stamps
            behind = 1e-9 * (time.time_ns() - stamps.stamp_ns) if stamps.simulated else 0.0
            for topic in now.counts:
                line = diagnostics.complaint(topic, now.counts[topic], said.counts[topic], problems[topic], behind, self.robot.map.bounds)
                if line:
                    self.log.warning(line)
                    self._said = now
        rate = self.live.values["rate"] * self.live.values["real_time_factor"]
        self._publish([*diagnostics.reports(now, before, rate, list(self.loop.privileges.sentences)),
                       self.clock.report(), *self.strays.reports(), *([self.watch.report()] if self.watch is not None else []),
                       *([report_of_door(self.door, now.beyond)] if self.door is not None else []),
                       *([self.services.sources.report()] if self.services.sources is not None else [])])

    def _publish(self, reports: list[diagnostics.Report]) -> None:
        from diagnostic_msgs.msg import DiagnosticArray

        self._diagnostics.publish(diagnostics.filled(DiagnosticArray(), reports, self.node.get_fully_qualified_name(),
                                                     self.robot.model.name, self.stamp_ns()))


__all__ = ["SimNode"]
