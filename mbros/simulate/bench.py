"""A bench on a robot: which signals there are, and the tables and memory that the engine's devices work on."""
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from fractions import Fraction
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np
from mbros_core.channels.registry import BY_NAME as CHANNELS, memory, slots
from mbros_core.devices.keys import stream_key
from mbros_core.devices.rows import DeviceKind
from mbros_core.spec import joint_coordinates

from mbros.describe.devices.channel import Channel
from mbros.errors import ModelError, Problem, unknown

if TYPE_CHECKING:
    from mbros import Joint, Model
    from mbros.describe.devices.bench import Bench
    from mbros.describe.devices.device import Device

COMMANDS = ("position", "velocity", "effort")
HEAD = 2                    # step count, steps taken again (mbros_core/devices/device.pxd)
OF_JOINTS = {"joint position": ("rad", "m"), "joint velocity": ("rad/s", "m/s"), "joint effort": ("N m", "N"),
             "joint effort/sqrt(Hz)": ("N m/sqrt(Hz)", "N/sqrt(Hz)")}


@dataclass(frozen=True)
class SignalRow:
    """A signal of a bench on a robot. at: where its numbers stand among those of all signals."""

    name: str
    unit: str
    size: int
    at: int
    what: str


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
    channels: list[list[int]] = field(default_factory=list)
    channel_rates: list[tuple[int, int]] = field(default_factory=list)
    channel_keys: list[tuple[int, int]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    memories: list[np.ndarray] = field(default_factory=list)
    numbers: list[np.ndarray] = field(default_factory=list)

    def signal(self, name: str, unit: str, size: int, what: str) -> int:
        """Adds a signal; returns its index."""
        at = self.rows[-1].at + self.rows[-1].size if self.rows else 0
        self.rows.append(SignalRow(name, unit, size, at, what))
        return len(self.rows) - 1

    def refuse(self, part: Any, reason: str, remedy: str) -> None:
        self.problems.append(Problem(part._label, reason, remedy, part.source.file, part.source.line))

    @property
    def size(self) -> int:
        """Numbers of all signals."""
        return self.rows[-1].at + self.rows[-1].size if self.rows else 0

    def tables(self) -> dict[str, Any]:
        """For mbros_core.devices."""
        n, size = len(self.rows), self.size
        given = HEAD
        value, fresh = given + size, given + 2 * size
        sampled = fresh + n
        memories = sampled + n
        numbers = memories + sum(map(len, self.memories))
        start = np.concatenate([np.zeros(HEAD), np.full(2 * size, np.nan), np.zeros(n), np.full(n, np.nan), *self.memories, *self.numbers])
        mem = iter(memories + np.cumsum([0, *map(len, self.memories)]))
        par = iter(numbers + np.cumsum([0, *map(len, self.numbers)]))
        actuators = [[*row[:3], next(par), next(mem), *row[3:]] for row in self.actuators]
        sensors = [[*row[:4], next(par), next(mem), *row[4:]] for row in self.sensors]
        channels = [[*row[:2], next(par), next(mem), row[2]] for row in self.channels]
        count = np.bincount([row[1] for row in channels], minlength=n) if channels else np.zeros(n, int)
        first = np.concatenate([[0], np.cumsum(count)])
        signals = [[row.at, row.size, first[k], count[k]] for k, row in enumerate(self.rows)]
        return dict(start=start, places=(given, value, fresh, sampled, numbers), commands=self.commands, signals=signals,
                    joints=self.joints, actuators=actuators, sensors=sensors, sensor_rates=self.sensor_rates,
                    sensor_poses=self.sensor_poses, sensor_keys=self.sensor_keys, channels=channels, channel_rates=self.channel_rates,
                    channel_keys=self.channel_keys)


def layout(model: Model, bench: Bench, dt: float) -> Layout:
    """The bench on this robot, for steps of dt. Raises ModelError with every problem."""
    out = Layout(dt)
    joints = {joint.name: joint for joint in model.joints if joint.nv == 1 and joint.nq == 1 and not joint.follows}
    actuators = list(_on_joints(out, model, bench.actuators, joints))
    driven: dict[str, Any] = {}
    for _, device, joint in actuators:
        if joint.name in driven:
            out.refuse(device, f"joint {joint.name!r} has {driven[joint.name]} already", "One actuator acts on a joint.")
        driven.setdefault(joint.name, device._label)
        for word in COMMANDS:
            out.signal(f"{joint.name}.command.{word}", _unit(f"joint {word}", joint), 1, f"command of {joint.name}")
    out.commands = len(out.rows)
    rows = joint_coordinates(model.spec)
    coordinates = {joint.name: rows[joint_row(model, joint)][:2] for joint in joints.values()}
    for joint in joints.values():
        first = [out.signal(f"{joint.name}.{word}", _unit(f"joint {word}", joint), 1, "true, at the end of the step" if word != "effort"
                            else "of actuators and from outside, in the last step") for word in COMMANDS][0]
        out.joints.append((*coordinates[joint.name], first))
    for k, (name, device, joint) in enumerate(actuators):
        _actuator(out, model, name, device, joint, coordinates[joint.name], 3 * k)
    latencies = []
    for name, device, joint in _on_joints(out, model, bench.sensors, joints):
        latencies += _sensor(out, model, bench, name, device, joint, (-1, -1) if joint is None else coordinates[joint.name])
    _check_names(out)
    _channels(out, bench, [*latencies, *((channel, None) for channel in bench.channels)])
    if out.problems:
        raise ModelError(out.problems)
    return out


def joint_row(model: Model, joint: Joint) -> int:
    """Where a joint is among the rows of joint_coordinates."""
    return model._compiled.joints[joint.index].compiled_index


def _on_joints(out: Layout, model: Model, devices: Any, joints: dict[str, Joint]) -> Iterator[tuple[str, Any, Any]]:
    """(name, device, joint) of every device, several for a pattern; joint None for those on frames."""
    for device in devices:
        if device.joint is None:
            yield device.name, device, None
            continue
        found = [joint for name, joint in joints.items() if name == device.joint or fnmatchcase(name, device.joint)]
        if not found:
            here = [joint.name for joint in model.joints]
            reason = (f"joint {device.joint!r} has not one coordinate of its own" if device.joint in here
                      else str(unknown("joint", device.joint, f"model {model.name!r}", here).args[0]))
            out.refuse(device, reason, f"Joints that can have one: {', '.join(list(joints)[:20])}.")
        if len(found) > 1 and "*" not in device.name:
            out.refuse(device, f"{len(found)} joints are {device.joint!r}", "Put a * into its name, which stands for the joint's.")
            continue
        yield from ((device.name.replace("*", joint.name), device, joint) for joint in found)


def _unit(unit: str, joint: Joint | None) -> str:
    return unit if unit not in OF_JOINTS or joint is None else OF_JOINTS[unit][0 if joint.can_rotate else 1]


def _readings(out: Layout, name: str, row: DeviceKind, joint: Any) -> int:
    """Adds the signals of a device; returns the first one's index."""
    return [out.signal(f"{name}.{r.name}", _unit(r.unit, joint), r.size, f"{row.name}: {r.doc}") for r in row.readings][0]


def _start(row: DeviceKind, device: Device) -> np.ndarray:
    memory = np.zeros(row.memory)
    for at, number in row.start:
        memory[at] = device.values[number][0]
    return memory


def _actuator(out: Layout, model: Model, name: str, device: Any, joint: Joint, place: tuple[int, int], command: int) -> None:
    numbers = device.numbers()
    names = [number.name for number in device.row.numbers]
    if "effort_limit" in names and numbers[names.index("effort_limit")] == inf:
        numbers[names.index("effort_limit")] = min(float(model.spec.effort_limit[place[1]]), 1e300)
    commands = [out.rows[command + k].at for k in range(3)]
    out.actuators.append([device.row.number, *place, *commands, _readings(out, name, device.row, joint)])
    out.memories.append(_start(device.row, device))
    out.numbers.append(numbers)


def _sensor(out: Layout, model: Model, bench: Bench, name: str, device: Any, joint: Any,
            place: tuple[int, int]) -> list[tuple[Channel, int]]:
    """Adds a sensor; returns the channels of its latency."""
    body, pose = -1, np.zeros(12)
    if device.frame is not None:
        if device.frame not in [*model.spec.frame_names]:
            out.refuse(device, str(unknown("frame", device.frame, f"model {model.name!r}", model.spec.frame_names).args[0]),
                       "Give a frame or body of the robot.")
            return []
        k = model._frame_index(device.frame)
        body, pose = int(model.spec.frame_body[k]), np.array(model.spec.X_BF[k])
    first = _readings(out, name, device.row, joint)
    count = len(device.row.readings)
    out.sensors.append([device.row.number, *place, body, first, count, out.rows[first].at])
    out.sensor_rates.append(grid(device.rate, out.dt))
    out.sensor_poses.append(pose)
    out.sensor_keys.append(stream_key(bench.seed, name))
    out.memories.append(_start(device.row, device))
    out.numbers.append(np.minimum(device.numbers(), 1e300))
    if not device.latency > 0.0:
        return []
    later = Channel(f"{name}, latency", signal=name, delay=device.latency)
    return [(later, first + k) for k in range(count)]


def grid(rate: float, dt: float) -> tuple[int, int]:
    """Samples a step as a ratio of whole numbers, 1 at most: of 400 Hz in steps of 1 ms, 2 / 5."""
    ratio = Fraction(1) if rate * dt >= 1.0 else Fraction(rate * dt).limit_denominator(10**6)
    ratio = max(ratio, Fraction(1, 10**9))
    return ratio.numerator, ratio.denominator


def _check_names(out: Layout) -> None:
    seen: set[str] = set()
    for row in out.rows:
        if row.name in seen:
            out.problems.append(Problem("bench", f"two signals are called {row.name!r}", "Give every device a name of its own."))
        seen.add(row.name)


def _channels(out: Layout, bench: Bench, channels: list[tuple[Channel, int | None]]) -> None:
    """The stages of the channels, signal by signal, each with the random stream of its name and place."""
    found: list[tuple[int, Channel, int]] = []
    for channel, only in channels:
        at = [k for k, row in enumerate(out.rows) if (k == only if only is not None else row.name == channel.signal
                                                      or fnmatchcase(row.name, channel.signal))]
        if not at:
            out.refuse(channel, str(unknown("signal", channel.signal, "this bench", [row.name for row in out.rows]).args[0]),
                       "`mbros signals ROBOT --bench FILE` lists them.")
        found += [(k, channel, stage) for k in at for stage in range(len(channel.stages))]
    for k, channel, stage in sorted(found, key=lambda each: each[0]):
        kind, numbers = channel.stages[stage]
        row = CHANNELS[kind]
        out.channels.append([row.number, k, slots(numbers, out.dt) if kind == "delay" else 0])
        out.channel_rates.append(grid(numbers["hold_rate"], out.dt) if kind == "hold" else (1, 1))
        seed = bench.seed if channel.seed is None else channel.seed
        out.channel_keys.append(stream_key(seed, f"{channel.name}/{out.rows[k].name}/{kind}"))
        out.memories.append(np.zeros(memory(row, numbers, out.rows[k].size, out.dt)))
        out.numbers.append(channel.row(kind, numbers, out.dt))
