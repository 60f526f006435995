"""What a bench on a robot consists of, and the tables and memory of it that the engine's devices work on."""
from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from mbros_core.plant.actuators.registry import COMMANDS
from mbros_core.plant.rows import DeviceKind
from mbros_core.plant.faults.registry import TRIGGER_MEMORY

from mbros.errors import Problem
from mbros.bench.bench_faults import FaultRow, fault_tables, of_signals
from mbros.bench.bench_sources import SourceRow, source_table

if TYPE_CHECKING:
    from mbros import Joint
    from mbros.describe.devices.bench import Bench
    from mbros.describe.devices.gains import Gains, JointLoad

HEAD = 2                    # step count, steps taken again (mbros_core/plant/device.pxd)


@dataclass(frozen=True)
class SignalRow:
    """A signal of a bench on a robot. at: where its numbers stand among those of all signals. joint: whose it is, or ""."""

    name: str
    unit: str
    size: int
    at: int
    what: str
    joint: str = ""


@dataclass(frozen=True)
class DevicePart:
    """A device on a robot, or a stage of a channel on a signal, whose numbers can be changed. instead: what stands for numbers that are
    not given. room: slots of a delay's line."""

    name: str
    device: Any
    row: DeviceKind
    instead: dict[str, Any] = field(default_factory=dict)
    room: int = 0


@dataclass(frozen=True)
class Tuned:
    """A servo whose gains were chosen, as it was described and as it is; and for what."""

    name: str
    joint: Joint
    device: Any
    tuned: Any
    load: JointLoad
    gains: Gains

    @property
    def of_velocity(self) -> bool:
        return "position" not in self.device.takes


@dataclass
class Layout:
    """What stands where. rows: all signals, the commands first."""

    dt: float
    rows: list[SignalRow] = field(default_factory=list)
    commands: int = 0
    joints: list[tuple[int, int, int]] = field(default_factory=list)
    actuators: list[list[int]] = field(default_factory=list)
    sensors: list[list[int]] = field(default_factory=list)
    sensor_rates: list[tuple[int, int]] = field(default_factory=list)
    sensor_poses: list[np.ndarray] = field(default_factory=list)
    sensor_keys: list[tuple[int, int]] = field(default_factory=list)
    accelerates: bool = False                                   # some sensor sees accelerations, which needs
    recent: int = 0                                             # so many doubles (device.pxd)
    cuts: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = field(default_factory=list)
    channels: list[list[int]] = field(default_factory=list)
    channel_rates: list[tuple[int, int]] = field(default_factory=list)
    channel_keys: list[tuple[int, int]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    memories: list[np.ndarray] = field(default_factory=list)
    numbers: list[np.ndarray] = field(default_factory=list)
    parts: list[DevicePart] = field(default_factory=list)             # whose numbers these are
    tuned: list[Tuned] = field(default_factory=list)            # the servos with a bandwidth
    faults: list[FaultRow] = field(default_factory=list)
    fault_triggers: list[tuple[np.ndarray, int]] = field(default_factory=list)
    signal_faults: list[tuple[int, int, int, int, bool]] = field(default_factory=list)
    fault_keys: list[tuple[int, int]] = field(default_factory=list)
    fault_memories: list[int] = field(default_factory=list)
    fault_numbers: list[np.ndarray] = field(default_factory=list)
    joint_faults: list[tuple[int, int, int, int]] = field(default_factory=list)
    joint_fault_numbers: list[np.ndarray] = field(default_factory=list)
    sources: list[SourceRow] = field(default_factory=list)
    bench: Bench | None = None                                  # what it was laid out from

    def signal(self, name: str, unit: str, size: int, what: str, joint: str = "") -> int:
        """Adds a signal; returns its index."""
        at = self.rows[-1].at + self.rows[-1].size if self.rows else 0
        self.rows.append(SignalRow(name, unit, size, at, what, joint))
        return len(self.rows) - 1

    def add_numbers(self, part: DevicePart, numbers: np.ndarray) -> None:
        self.parts.append(part)
        self.numbers.append(numbers)

    def refuse(self, part: Any, reason: str, remedy: str) -> None:
        self.problems.append(Problem(part._label, reason, remedy, part.source.file, part.source.line))

    @property
    def size(self) -> int:
        """Numbers of all signals."""
        return self.rows[-1].at + self.rows[-1].size if self.rows else 0

    @property
    def memory_at(self) -> int:
        """Where the memories of devices, channels and sources begin in the block."""
        return HEAD + 2 * self.size + 2 * len(self.rows) + self.recent

    def activity(self) -> dict[str, int]:
        """{fault.<name>.active: where it stands in the block}: 1 in the steps in which the fault acts, 0 in others."""
        return {f"fault.{row.name}.active": self.fault_memory(k) + TRIGGER_MEMORY.index("active") for k, row in enumerate(self.faults)}

    @cached_property
    def index(self) -> dict[str, int]:
        """Of each signal by name, once all are there."""
        return {row.name: k for k, row in enumerate(self.rows)}

    @cached_property
    def command_places(self) -> tuple[dict[str, int], ...]:
        """{joint: where its command stands in the block} of each of COMMANDS, as actuators take them, once all are there."""
        places: dict[str, dict[str, int]] = {word: {} for word in COMMANDS}
        for row in self.rows[:self.commands]:
            joint, _, word = row.name.rpartition(".command.")
            places.setdefault(word, {})[joint] = HEAD + row.at
        return tuple(places[word] for word in COMMANDS)

    def fault_memory(self, k: int) -> int:
        """Where the memory of a fault's trigger begins in the block."""
        return self.memory_at + sum(map(len, self.memories)) + len(TRIGGER_MEMORY) * k

    def tables(self) -> dict[str, Any]:
        """For mbros_core.plant."""
        n, size = len(self.rows), self.size
        given = HEAD
        value, fresh = given + size, given + 2 * size
        sampled = fresh + n
        recent, memories = sampled + n, self.memory_at
        fault_memories = memories + sum(map(len, self.memories))
        numbers = fault_memories + len(TRIGGER_MEMORY) * len(self.faults) + sum(self.fault_memories)
        faults, remembered, fault_numbers = fault_tables(self, fault_memories, numbers + sum(map(len, self.numbers)))
        start = np.concatenate([np.zeros(HEAD), np.full(2 * size, np.nan), np.zeros(n), np.full(n, np.nan), np.zeros(self.recent),
                                *self.memories, remembered, *self.numbers, fault_numbers])
        mem = iter(memories + np.cumsum([0, *map(len, self.memories)]))
        par = iter(numbers + np.cumsum([0, *map(len, self.numbers)]))
        actuators = [[*row[:3], next(par), next(mem), *row[3:]] for row in self.actuators]
        sensors = [[*row[:8], next(par), next(mem), *row[8:]] for row in self.sensors]
        sources = source_table(self, [next(par) for _ in self.sources])
        channels = [[*row[:2], next(par), next(mem), row[2]] for row in self.channels]
        count = np.bincount([row[1] for row in channels], minlength=n) if channels else np.zeros(n, int)
        first = np.concatenate([[0], np.cumsum(count)])
        signals = [[row.at, row.size, first[k], count[k], *of_faults]
                   for k, (row, of_faults) in enumerate(zip(self.rows, of_signals(self)))]
        places = given, value, fresh, sampled, numbers, recent if self.accelerates else 0
        return dict(start=start, places=places, commands=self.commands, signals=signals, joints=self.joints, actuators=actuators,
                    sensors=sensors, sensor_rates=self.sensor_rates, sensor_poses=self.sensor_poses, sensor_keys=self.sensor_keys,
                    cuts=self.cuts, channels=channels, channel_rates=self.channel_rates, channel_keys=self.channel_keys,
                    sources=sources, **faults)
