"""The bench of a node: its devices on the plant, what its joints take, and where its readings stand.

`bench` is the path or name of a bench file; `servo`: a position servo in every joint, with gains from the inertia that it moves; `none`; or
empty: what the robot's description carries.
"""
from __future__ import annotations

from collections.abc import Iterable

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from mbros.errors import UnknownNameError
from mbros.bench.device_numbers import places

from mbros.ros.errors import ParameterError
from mbros.ros.wire.messages import EFFORT, POSITION, VELOCITY, RobotMap, Sensed

if TYPE_CHECKING:
    from mbros.ros.wire.device_parameters import DeviceParameters
    from mbros import Model
    from mbros.bench.layout import Layout
    from mbros.describe.devices.bench import Bench
    from mbros.model.joints.joint import Joint
    from mbros_core import Plant
    from mbros_core.plant._commanded import CommandedPlant
    from mbros_core.plant._devices import Devices

D = TypeVar("D")
BITS = {"position": POSITION, "velocity": VELOCITY, "effort": EFFORT}


@dataclass(eq=False)
class NodeBench:
    """A bench on the node's plant. layout: which signals there are (mbros.bench.bench)."""

    bench: Bench
    layout: Layout
    plant: CommandedPlant
    devices: Devices

    @cached_property
    def parameters(self) -> DeviceParameters:
        """The numbers of its devices, live."""
        from mbros.ros.wire.device_parameters import DeviceParameters      # start-up time: without a bench nobody pays

        return DeviceParameters(self.layout, self.devices)

    @property
    def memory(self) -> np.ndarray:
        """Everything the devices know, (n,), live."""
        block: np.ndarray = self.devices.block
        return block

    @cached_property
    def tables(self) -> dict[str, Any]:
        """What the devices were made from."""
        return self.layout.tables()

    @property
    def summary(self) -> str:
        """What is there, in a sentence."""
        b, layout = self.bench, self.layout
        counts = [(len(layout.actuators), "actuator"), (len(layout.sensors), "sensor"), (len(b.channels), "channel")]
        return f"bench: {', '.join(f'{n} {word}' + 's' * (n != 1) for n, word in counts)}, seed {b.seed}"

    @cached_property
    def of_sources(self) -> list[int]:
        """Where the sources' memory stands."""
        return [row.memory + k for row in self.layout.sources for k in range(len(row.start))]

    def value_at(self, signal: int) -> int:
        """Where a signal's numbers stand in the memory, as they came through its channels."""
        return int(self.tables["places"][1]) + int(self.layout.rows[signal].at)

    def since_at(self, signal: int) -> int:
        """Where the step stands in which they came; NaN: not yet."""
        return int(self.tables["places"][3]) + signal

    def numbers_at(self, device: str, names: tuple[str, ...]) -> dict[str, tuple[int, int]]:
        """{number: where it begins in the memory, how many it is} of these numbers of a device."""
        start = int(self.tables["places"][4])
        for part, numbers in zip(self.layout.parts, self.layout.numbers):
            if part.name == device and part.row.readings:
                return {number.name: (start + at, size) for number, at, size in places(part) if number.name in names}
            start += len(numbers)
        raise KeyError(device)

    def places(self, where: RobotMap) -> tuple[list[int], int, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Where each coordinate's position stands in a snapshot, -1: nowhere; where the velocities begin; the memory, and where what is
        commanded stands in it; bounds of each coordinate, (nv, 4), and whether it turns on and on, (nv,)."""
        found, limits, turns = [-1] * where.nv, np.array([[-np.inf, np.inf] * 2] * where.nv), np.zeros(where.nv, bool)
        for k, name in enumerate(where.joints):
            slot = where.commandable[name]
            if slot >= 0:
                found[slot], limits[slot], turns[slot] = where.position + k, where.bounds.get(name, limits[slot]), name in where.turns
        return found, self.plant.layout["v"][0], self.memory, self.plant.said, limits, turns

    def signals(self, device: str) -> dict[str, int]:
        """{reading: signal} of a device."""
        return {row.name.rpartition(".")[2]: k for k, row in enumerate(self.layout.rows)
                if row.name.rpartition(".")[0] == device and k >= self.layout.commands}


def make_bench(given: str, model: Model, plant: Plant, dt: float) -> NodeBench | None:
    """The bench that parameter `bench` names on a plant, or None. Errors are those of bench files, made for users."""
    own = model._description.bench
    if given == "none" or (not given and own is None):
        return None
    from mbros_core.plant._commanded import CommandedPlant

    from mbros.build.benches import bench_of
    from mbros.bench import devices as simulated
    from mbros.bench.bench import layout

    try:
        bench = bench_of("parameter bench", given or True, own, model)
        assert bench is not None                # it is named, or carried
    except UnknownNameError as error:
        raise ParameterError(f"{error.args[0]} Or say servo, for a position servo in every joint, or none") from None
    where = layout(model, bench, dt)
    devices = simulated.devices_of(plant, where)
    devices._drive(True)
    return NodeBench(bench, where, CommandedPlant(plant), devices)


def devices_of(bench: NodeBench, model: Model, devices: Iterable[D]) -> list[tuple[D, str, Joint | None]]:
    """(device, its name, its joint or None), several for a pattern."""
    from mbros.bench.bench import _on_joints
    from mbros.bench.layout import Layout

    joints = {joint.name: joint for joint in model.joints if joint.nv == 1 and joint.nq == 1 and not joint.follows}
    return [(device, name, joint) for name, device, joint in _on_joints(Layout(bench.layout.dt), model, devices, joints)]


def taken(bench: NodeBench, model: Model) -> dict[str, int]:
    """What the joints with an actuator take."""
    found: dict[str, int] = {}
    for device, _, joint in devices_of(bench, model, bench.bench.actuators):
        assert joint is not None
        found[joint.name] = found.get(joint.name, 0) | sum(BITS[word] for word in device.takes)
    return found


def bounds(model: Model) -> dict[str, tuple[float, float, float, float]]:
    """Lowest and highest position and velocity of joints with one coordinate."""
    found = {}
    for joint in model.joints:
        if joint.nv == 1 and joint.nq == 1:
            q, v = joint.limits.position, joint.limits.velocity
            found[joint.name] = float(q.lower[0]), float(q.upper[0]), float(v.lower[0]), float(v.upper[0])
    return found


def turning(model: Model) -> frozenset[str]:
    """Joints that turn on and on."""
    return frozenset(joint.name for joint in model.joints if joint.kind == "continuous")


def sensed(bench: NodeBench, model: Model, where: RobotMap, snapshot: int) -> Sensed | None:
    """Where joint_states come from: encoders and torque sensors where a joint has them, else the truth. None: no joint has any."""
    columns = [[start + k for k in range(len(where.joints))] for start in (where.position, where.velocity, where.effort)]
    fallback = {}
    for _, name, joint in devices_of(bench, model, bench.bench.sensors):
        readings = bench.signals(name)
        if joint is None:
            continue
        at = where.joints.index(joint.name)
        for column, word in zip(columns, ("position", "velocity", "effort")):
            if word in readings and column[at] < snapshot:
                since, truth = snapshot + bench.since_at(readings[word]), column[at]
                column[at] = snapshot + bench.value_at(readings[word])
                fallback[column[at]] = (since, truth)
    if not fallback:
        return None
    return Sensed(tuple(columns[0]), tuple(columns[1]), tuple(columns[2]), fallback, bench.memory, snapshot + len(bench.memory))
