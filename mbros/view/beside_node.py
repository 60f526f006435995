"""A page beside the ROS 2 node of this process: it looks at the node's loop itself, and asks the node for everything else."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mbros.errors import MbrosError
from mbros.model.contacts import contact_part
from mbros.view.bench import PlantBench
from mbros.view.lateness import Lateness
from mbros.view.motion import Connection, Motion, Sample
from mbros.view.page import Page


class NodeBench(PlantBench):
    """Of the node's bench: commands come from its topics; a fault by hand is in its recording, too, and a number is its parameter."""

    can = frozenset(("fault", "numbers"))

    def __init__(self, sim: Any, set_parameter: Callable[[str, Any], None]):
        super().__init__(sim.robot.model, sim.robot.plant, lambda: sim.robot.bench.layout)
        self._sim, self._set_parameter = sim, set_parameter

    def fault(self, name: str, start: bool) -> None:
        with self._sim.recording.touched():
            super().fault(name, start)

    def set_number(self, name: str, value: Any) -> None:
        self._set_parameter(name if name.startswith("fault.") else f"device.{name}", value)


class NodeMotion(Motion):
    """Of an mbros.ros.node.SimNode. Commands come from its topics; what changes goes through its parameters and services' actions,
    so that all who use the node see the same."""

    can = frozenset(("play", "step", "reset", "parameters", "place"))

    def __init__(self, sim: Any):
        self.sim, self.model, self.plant = sim, sim.robot.model, sim.robot.plant
        self._lateness = Lateness(sim.loop)
        if sim.robot.bench is not None:
            self.bench = NodeBench(sim, self.set_parameter)

    def connection(self) -> Connection:
        return Connection(f"beside the node {self.sim.node.get_fully_qualified_name()}")

    def sample(self) -> Sample:
        header, x = self.sim.loop.snapshot()
        q, v, effort, clamped = (x[at:at + n] for at, n in map(self.plant.layout.get, ("q", "v", "effort", "clamped")))
        fault = self.sim.loop.fault.text if self.sim.loop.fault_code else ""
        return Sample(header.time, q, v, effort, int(clamped[0]), self.sim.loop.state == "running", fault, self._lateness.p99,
                      contact_part(self.plant, x), None if self.bench is None else self.bench.values())

    def count_late(self) -> None:
        self._lateness.look()

    def play(self) -> None:
        self.sim.services.resume()

    def pause(self) -> None:
        self.sim.pause()

    def step(self, n: int = 1) -> None:
        self.sim.loop.step_once(n)

    def reset(self) -> None:
        with self.sim.turn:
            self.sim.services.reset(None)

    def place(self, q: np.ndarray) -> None:
        self.sim.loop.set_state(self.model.normalize(q), np.zeros(self.model.nv))

    def parameter(self, name: str) -> Any:
        return self.sim.live.values[name]

    def set_parameter(self, name: str, value: Any) -> None:
        from rclpy.parameter import Parameter       # optional package: ROS 2

        if isinstance(value, (list, tuple)):
            value = [float(x) for x in value]
        elif isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        result = self.sim.node.set_parameters_atomically([Parameter(name, value=value)])
        if not result.successful:
            raise MbrosError(f"{name}: {result.reason}")


def open_beside(sim: Any) -> Page:
    """The page of a node; its URL is printed."""
    sim.fixed = "a page in the node's own process looks at this world; start the viewer apart: mbros view --ros"
    page = Page(NodeMotion(sim))
    print(f"{page.model.name}: {page.url}", flush=True)
    return page
