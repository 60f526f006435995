"""The bench of what is on a page, as panels see it: what is commanded, what is read, which faults act, and the numbers of its devices."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from mbros.errors import MbrosError
from mbros.view.motion import Sample

FREE = {"rad": np.pi, "m": 1.0, "rad/s": 2.0 * np.pi, "m/s": 1.0, "N m": 100.0, "N": 100.0}     # of commands without limits


class Command(NamedTuple):
    """A number that an actuator takes. word: position, velocity, effort, stiffness, damping, brake; low, high: of its slider."""

    joint: str
    word: str
    unit: str
    low: float
    high: float


class Reading(NamedTuple):
    """A signal of a sensor or an actuator. at: where its numbers begin in what `values` returns."""

    name: str
    unit: str
    size: int
    at: int


class FaultState(NamedTuple):
    """about: what it is of. since: s, when it began to act; NaN where that is not known. begun: how often."""

    name: str
    about: str
    active: bool
    since: float
    begun: int


class LiveBench:
    """can: what there is of "command", "fault" and "numbers"; panels show nothing that is not in it."""

    can: frozenset[str] = frozenset()
    commands: list[Command]
    readings: list[Reading]

    def values(self) -> np.ndarray:
        """What came through the channels of all readings last, a copy; NaN: nothing yet."""
        return np.zeros(0)

    def commanded(self) -> np.ndarray:
        """What is commanded now, by the order of `commands`; NaN: nothing."""
        return np.full(len(self.commands), np.nan)

    def command(self, values: Mapping[int, float]) -> None:
        """Command these, {which of `commands`: number}; NaN withdraws one."""

    def faults(self) -> list[FaultState]:
        return []

    def fault(self, name: str, start: bool) -> None:
        """Start a fault, or end it, by hand."""

    def number_names(self) -> list[str]:
        """Of the numbers that can be set: "joint2.servo.kp", and those of faults."""
        return []

    def number(self, name: str) -> Any:
        """One of them."""

    def set_number(self, name: str, value: Any) -> None:
        """Another value, from the next step on."""

    def about(self, name: str) -> str:
        """What a number is, and its unit."""
        return ""


class PlantBench(LiveBench):
    """Of a plant with devices, stepped or running. layout: asked each time, as a fault that is injected makes it another one. A command is
    one number in the devices' memory, as is a fault by hand: the loop's thread finds it in its next step."""

    can = frozenset(("command", "fault", "numbers"))

    def __init__(self, model: Any, plant: Any, layout: Callable[[], Any]):
        from mbros.bench.layout import HEAD
        from mbros.bench.device_numbers import LiveDevices
        from mbros.bench.faults import Faults

        self._plant, self._layout, self._head, self._tables = plant, layout, HEAD, (LiveDevices, Faults)
        rows = layout().rows
        taken = taken_rows(layout())
        self._given = HEAD + np.array([row.at for row in taken], int)
        self.commands = [command_of(model, row) for row in taken]
        self.readings = readings_of(rows[layout().commands:])

    def values(self) -> np.ndarray:
        first = self._head + self._layout().size
        return np.array(self._plant.devices.block[first:first + self._layout().size])

    def commanded(self) -> np.ndarray:
        return np.array(self._plant.devices.block[self._given])

    def command(self, values: Mapping[int, float]) -> None:
        block = self._plant.devices.block
        for k, value in values.items():
            if np.isinf(value):
                raise MbrosError(f"{self.commands[k].joint}: {self.commands[k].word} is {value:g}; expected a finite number")
            block[self._given[k]] = value

    def _faults(self) -> Any:
        return self._tables[1](self._layout(), self._plant.devices)

    def faults(self) -> list[FaultState]:
        return [FaultState(name, fault_words(fault.kind, fault.signals or fault.joints or (fault._row.fault.target,)), fault.active,
                           fault.began, fault.count) for name, fault in self._faults().items()]

    def fault(self, name: str, start: bool) -> None:
        fault = self._faults()[name]
        (fault.start if start else fault.stop)()

    def _table(self, name: str) -> tuple[Any, str]:
        """Where a number is, and its name there."""
        devices = self._tables[0](self._layout(), self._plant.devices)
        return (self._faults(), name.removeprefix("fault.")) if name.startswith("fault.") else (devices, name)

    def number_names(self) -> list[str]:
        return [*self._table("")[0].parameter_names, *(f"fault.{name}" for name in self._faults().parameter_names)]

    def number(self, name: str) -> Any:
        table, own = self._table(name)
        return table.parameter(own)

    def set_number(self, name: str, value: Any) -> None:
        table, own = self._table(name)
        table.set_parameter(own, value)

    def about(self, name: str) -> str:
        table, own = self._table(name)
        of, _, number = own.rpartition(".")
        row = table.numbers(of).rows()[number]
        return f"{row.doc}{f' ({row.unit})' if row.unit else ''}"


class PlayedBench(LiveBench):
    """Of a log: what its bench said then. Samples have the values."""

    def __init__(self, log: Any):
        names, at = log.signals, 0
        self.commands, self.readings = [], []
        columns: list[np.ndarray] = []
        for name in names:
            x = np.asarray(names[name]).reshape(len(log), -1)
            self.readings.append(Reading(name, names.units[name], x.shape[1], at))
            columns.append(x)
            at += x.shape[1]
        self.table = np.hstack(columns) if columns else np.zeros((len(log), 0))


def taken_rows(layout: Any) -> list[Any]:
    """The signals of commands that an actuator makes something of: a velocity servo has a place for positions, and takes none."""
    from mbros_core.plant.actuators.registry import COMMANDS

    found: set[int] = set()
    for k, actuator in enumerate(layout.actuators):             # kind, coordinate, velocity, then where each command stands
        device = layout.parts[k].device
        found.update(at for word, at in zip(COMMANDS, actuator[3:3 + len(COMMANDS)])
                     if at >= 0 and (word in device.takes or word not in ("position", "velocity", "effort")))
    return [row for row in layout.rows[:layout.commands] if row.at in found]


def readings_of(rows: Any) -> list[Reading]:
    """Of sensors and actuators; what is true of joints is not among them."""
    return [Reading(row.name, row.unit, row.size, row.at) for row in rows
            if row.name not in (f"{row.joint}.position", f"{row.joint}.velocity", f"{row.joint}.effort")]


def command_of(model: Any, row: Any) -> Command:
    """Of a signal <joint>.command.<word>."""
    joint, _, word = row.name.rpartition(".command.")
    of, low, high = model.joint(joint), -FREE.get(row.unit, 1.0), FREE.get(row.unit, 1.0)
    at = of.v_slice.start
    if word == "position":
        ends = of.limits.position
        low, high = (float(x[0]) if np.isfinite(x[0]) else end for x, end in ((ends.lower, low), (ends.upper, high)))
    elif word == "velocity" and np.isfinite(of.limits.velocity.upper[0]):
        low, high = -float(of.limits.velocity.upper[0]), float(of.limits.velocity.upper[0])
    elif word == "effort" and np.isfinite(model.spec.effort_limit[at]) and model.spec.effort_limit[at] > 0.0:
        low, high = -float(model.spec.effort_limit[at]), float(model.spec.effort_limit[at])
    elif word in ("stiffness", "damping"):
        low, high = 0.0, 1000.0 if word == "stiffness" else 100.0
    elif word == "brake":
        low, high = 0.0, 1.0
    return Command(joint, word, row.unit, low, high if high > low else low + 1.0)


def hold_here(model: Any, commands: list[Command], sample: Sample) -> dict[int, float]:
    """The commands under which nothing moves: positions where they are; no velocity where a joint takes no position; nothing else."""
    moved = {command.joint for command in commands if command.word == "position"}
    found = {}
    for k, command in enumerate(commands):
        joint = model.joint(command.joint)
        found[k] = (float(sample.q[joint.q_slice.start]) if command.word == "position" else
                    0.0 if command.word == "velocity" and command.joint not in moved else np.nan)
    return found


def fault_words(kind: str, of: Any) -> str:
    """"frozen: joint2.encoder.position and 2 more"."""
    of = list(of)
    more = f" and {len(of) - 1} more" if len(of) > 1 else ""
    return f"{kind.replace('_', ' ')}{f': {of[0]}{more}' if of else ''}"
