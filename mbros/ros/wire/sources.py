"""Sources of joints in the node: hardware's states into the loop, ~/set_source, what the joints' motions take, and what is said of it."""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from mbros.arguments import choice
from mbros.names import plural
from mbros.bench.source import MODES, SourceMemory, judged, not_real, places, tripped

from mbros.ros.wire.bench import NodeBench
from mbros.ros.wire.chosen import chosen
from mbros.ros.wire.commands import REASONS, shown as shown_of
from mbros.ros.wire.diagnostics import ERROR, OK, WARN, Report
from mbros.ros.errors import RequestError
from mbros.ros.wire.messages import set_time

if TYPE_CHECKING:
    from mbros.bench.bench_sources import SourceRow

    from mbros.ros.wire.parts import Part
    from mbros.ros.node import SimNode
    from mbros.ros.serve.typing import SetSourceRequest, SetSourceResponse
    from mbros.ros.typing import FillTopic
    from mbros_core import State

TOPIC = "hardware_states"
PERIOD = 0.05           # s between two looks at what happened


class SourceServices:
    """The sources of a SimNode. sim: that; offer: of its Services. The loop's thread takes samples and trips by itself."""

    def __init__(self, sim: SimNode, offer: Callable[..., object]):
        from mbros_msgs.srv import SetSource
        from rclpy.clock import Clock
        from rclpy.clock_type import ClockType

        self.sim = sim
        self._said: dict[str, tuple[float, float]] = {}
        self.follow(sim.robot.bench)
        offer(SetSource, "~/set_source", self.set_source, self.fill)
        sim.node.create_timer(PERIOD, self.look, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def follow(self, bench: NodeBench | None) -> None:
        """The sources are those of this bench; what was said of joints that stay is not said again."""
        self.bench = bench              # None: the world has none, and no sources
        self._block = np.empty(0) if bench is None else bench.memory
        self.rows = {} if bench is None else {row.joint: row for row in bench.layout.sources}
        self.memory = {} if bench is None else {name: SourceMemory(bench.memory, row) for name, row in self.rows.items()}
        self._said = {name: self._said.get(name, (0.0, 0.0)) for name in self.rows}

    def _each(self) -> list[tuple[str, SourceRow, SourceMemory]]:
        """For timers, which look on while the world becomes another one."""
        known = self.memory
        return [(name, row, known[name]) for name, row in self.rows.items() if name in known]

    # --- asked for

    def set_source(self, request: SetSourceRequest) -> str:
        joints, bench = self._chosen(list(request.joints)), self.bench
        if not request.mode:
            return f"{plural(len(self.rows), 'source')}: " + ", ".join(f"{name} {memory.held}" for name, memory in self.memory.items())
        mode, sim = MODES.index(choice("set_source", "mode", request.mode, MODES)), self.sim
        if sim.loop.state in ("fault", "stopped"):
            raise RequestError(f"set_source: {sim.loop.fault.text if sim.loop.fault else sim.loop.stop_reason}; call ~/reset first")
        locked = [name for name in joints if sim.live.values[f"locked.{name}"]]
        if locked:
            raise RequestError(f"set_source: joint '{locked[0]}' is locked by the parameter locked.{locked[0]}; set it free first")
        assert bench is not None
        with sim.loop.aside():
            if request.mode == "real":
                self._refuse_unfit(joints)
            places = [list(self.rows).index(name) for name in joints]
            with sim.recording.touched():
                for k in places:
                    bench.devices._become(k, mode)
        return f"{request.mode}: {', '.join(joints)}"

    def _chosen(self, patterns: list[str]) -> list[str]:
        return chosen(patterns, self.rows, "joint", "this bench with a source") if patterns else list(self.rows)

    def _refuse_unfit(self, chosen: list[str]) -> None:
        for name in chosen:
            wrong = not_real(self.sim.robot.model.joint(name), self.memory[name], self._age(name), f" on {self._topic(name)}")
            if wrong:
                raise RequestError(wrong + self._dropped(name))

    def _dropped(self, name: str) -> str:
        """What was dropped of what hardware says of this joint, before any source saw it."""
        plane, topic = self.sim.plane, self._plug(name)
        count = sum(n for reason, n in plane.counts().get(topic, {}).items() if reason != "accepted")
        problem = plane.problems().get(topic)
        if not count or problem is None:
            return ""
        reason, joint, value = problem
        how = shown_of(reason, (joint, value))
        return f"; {count} messages on it were dropped, the newest because {REASONS.get(reason, reason)}" + (f" ({how})" if how else "")

    def _plug(self, name: str) -> str:
        """The input that has what hardware says of this joint."""
        part = self.sim.robot.part_with(name)
        return TOPIC if part is None else part.topic(TOPIC)

    def _topic(self, name: str) -> str:
        """Where hardware says of this joint."""
        return str(self.sim.node.resolve_topic_name(self._plug(name)))

    def _age(self, name: str) -> float:
        return float(self.sim.loop.snapshot()[0].time - self.memory[name]["TIME"])

    def fill(self, response: SetSourceResponse) -> None:
        """How they are."""
        memory = list(self.memory.values())
        response.names, response.modes = list(self.rows), [m.held for m in memory]
        response.trips, response.reasons = [int(m["TRIPS"]) for m in memory], [m.reason for m in memory]
        response.ages = [self._age(name) for name in self.rows]
        response.efforts, response.residuals = ([float(self._block[row.signals[k]]) for row in self.rows.values()] for k in (0, 1))

    def free(self, state: State) -> None:
        """A state with parameters that are in force: what a source holds is not locked by them."""
        for name, row in self.rows.items():
            if self.memory[name]["HELD"]:
                state.field("lock")[row.place[1]] = 0.0

    # --- said

    def look(self) -> None:
        """Say in the log what fell into its safe state, and what the model and the hardware do not agree in."""
        for name, row, memory in self._each():
            trips, found = self._said.get(name, (0.0, 0.0))
            self._said[name] = memory["TRIPS"], memory["JUDGED"]
            if self.sim.ending:
                return
            if memory["TRIPS"] > trips:
                self.sim.log.error(tripped(row, memory))
            if memory["JUDGED"] > 0.0 and not 0.0 < found <= memory["JUDGED"]:
                self.sim.log.warning(judged(row, memory))

    def report(self) -> Report:
        """For /diagnostics."""
        values: dict[str, str] = {}
        worst, level = "", OK               # as in the log: a trip is an error
        for name, row, m in self._each():
            values.update({f"{name} source": m.held, f"{name} age of the newest sample (ms)": shown(1e3 * self._age(name)),
                           f"{name} interface effort": shown(float(self._block[row.signals[0]])),
                           f"{name} predicted less measured effort": shown(float(self._block[row.signals[1]])),
                           f"{name} predicted less measured position": shown(m["OFF_Q"]),
                           f"{name} samples": f"{m['FED']:.0f}", f"{name} samples ignored": f"{m['IGNORED']:.0f}",
                           f"{name} of these of the future": f"{m['AHEAD']:.0f}" + (f", by {m['AHEAD_BY']:.3g} s" if m["AHEAD"] else ""),
                           f"{name} trips": f"{m['TRIPS']:.0f}", f"{name} steps beyond its bound": f"{m['JUDGED']:.0f}"})
            if m["TRIPS"] and m.held != "real":
                worst, level = tripped(row, m), ERROR
            elif m["JUDGED"] and not worst:
                worst, level = judged(row, m), WARN
        modes = [memory.held for _, _, memory in self._each()]
        text = ", ".join(f"{modes.count(mode)} {mode}" for mode in MODES if mode in modes)
        return Report("sources", level, worst or text, values)


def shown(x: float) -> str:
    return "none" if math.isnan(x) else f"{x:.6g}"


def of_part(bench: NodeBench, part: Part) -> dict[int, str]:
    """{number of a source: its joint, as the robot itself has it} of a robot's sources."""
    start = f"{part.name}/" if part.name else ""
    return {k: row.joint.removeprefix(start) for k, row in enumerate(bench.layout.sources) if row.joint.startswith(start)}


def with_sources(bench: NodeBench, parts: list[Part]) -> list[Part]:
    """The robots that have any."""
    return [part for part in parts if of_part(bench, part)]


def source_topics(bench: NodeBench, part: Part, snapshot: int) -> list[tuple[str, FillTopic]]:
    """(topic, fill), of a robot, of what the motions of joints with a source take, and of what the model predicted less what was measured.

    interface_efforts: position, velocity and what its motion takes; interface_residuals: predicted less measured position and velocity at
    the newest sample, and effort. fill takes a snapshot with the devices' memory behind it."""
    from sensor_msgs.msg import JointState

    own, where = of_part(bench, part), part.map
    rows: list[SourceRow] = [bench.layout.sources[k] for k in own]
    names = list(own.values())
    at = [where.joints.index(name) for name in names]

    def signal(k: int) -> list[int]:
        sent, came = bench.tables["places"][:2]
        return [snapshot + row.signals[k] + came - sent for row in rows]

    def of(name: str) -> list[int]:
        return [snapshot + row.memory + places()[name] for row in rows]

    def topic(name: str, position: list[int], velocity: list[int], effort: list[int]) -> tuple[str, FillTopic]:
        def fill(x: np.ndarray, stamp: int) -> object:
            message = JointState(name=names, position=x[position].tolist(), velocity=x[velocity].tolist(), effort=x[effort].tolist())
            set_time(message.header.stamp, stamp)
            return message

        return part.topic(name), fill

    return [topic("interface_efforts", [where.position + k for k in at], [where.velocity + k for k in at], signal(0)),
            topic("interface_residuals", of("OFF_Q"), of("OFF_V"), signal(1))]
