"""A bench on a robot: its devices, one by one, laid out as signals, numbers and memory (bench_layout.py)."""
from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from mbros_core.plant.actuators.registry import BY_NAME as ACTUATORS, COMMANDS as COMMANDED
from mbros_core.support.available import Room
from mbros_core.plant.channels.registry import BY_NAME as CHANNELS, memory, slots
from mbros_core.plant.keys import stream_key
from mbros_core.plant.rows import DeviceKind
from mbros_core.spec import joint_coordinates

from mbros.describe.devices.channel import Channel, first_in_message
from mbros.describe.devices.gains import stable_below
from mbros.errors import ModelError, Problem, unknown
from mbros.names import meant, one_document
from mbros.bench.bench_faults import add_faults
from mbros.bench.layout import HEAD, DevicePart, Layout, Tuned
from mbros.bench.places import placed
from mbros.bench.bench_sources import add_sources, place_sources
from mbros.bench.covariances import covariances
from mbros.bench.joint_loads import joint_loads

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbros import Joint, Model
    from mbros.describe.devices.bench import Bench
    from mbros.describe.devices.device import Device
    from mbros.describe.devices.source import JointSource

COMMANDS = ("position", "velocity", "effort")
COPIES = 4              # of the memory of channels, that simulators and their saves have
LIMITS = ACTUATORS["limits"]
OF_JOINTS = {"joint position": ("rad", "m"), "joint velocity": ("rad/s", "m/s"), "joint effort": ("N m", "N"),
             "joint effort/sqrt(Hz)": ("N m/sqrt(Hz)", "N/sqrt(Hz)"), "joint stiffness": ("N m/rad", "N/m"),
             "joint damping": ("N m s/rad", "N s/m")}


@one_document
def layout(model: Model, bench: Bench, dt: float) -> Layout:
    """The bench on this robot, for steps of dt. Raises ModelError with every problem."""
    out = Layout(dt, bench=bench.copied())
    joints = {joint.name: joint for joint in model.joints if joint.nv == 1 and joint.nq == 1 and not joint.follows}
    actuators = sorted(_on_joints(out, model, bench.actuators, joints), key=lambda each: each[1].row is not LIMITS)
    commands = _commands(out, actuators)
    rows = joint_coordinates(model.spec)
    coordinates = {joint.name: rows[joint_row(model, joint)][:2] for joint in joints.values()}
    for joint in joints.values():
        first = [out.signal(f"{joint.name}.{word}", _unit(f"joint {word}", joint), 1, "true, at the end of the step" if word != "effort"
                            else "of actuators and from outside, in the last step", joint.name) for word in COMMANDS][0]
        out.joints.append((*coordinates[joint.name], first))
    limiters: dict[str, int] = {}
    for k, (name, device, joint) in enumerate(actuators):
        _actuator(out, model, name, device, joint, coordinates[joint.name], commands[joint.name], limiters.get(joint.name, -1))
        if device.row is LIMITS:
            limiters[joint.name] = k
    latencies = []
    for name, device, joint in _on_joints(out, model, bench.sensors, joints):
        latencies += _sensor(out, model, bench, name, device, joint, coordinates)
    for name, source, of_joint in add_sources(out, bench.sources, joints, coordinates, HEAD):
        out.add_numbers(DevicePart(name, source, source.row, of_joint), finite(source, of_joint))
    _check_names(out)
    add_faults(out, model, bench.faults, bench.seed, joints, coordinates)
    _channels(out, bench, [*latencies, *((channel, None) for channel in bench.channels)])
    if out.problems:
        raise ModelError(out.problems)
    place_sources(out, HEAD)
    return out


def _commands(out: Layout, actuators: list[tuple[str, Any, Any]]) -> dict[str, dict[str, int]]:
    """Adds the commands of every joint with actuators: those that some of them takes. {joint: {command: place among the numbers}}."""
    taken: dict[str, tuple[Any, list[str]]] = {}
    there: dict[tuple[str, str], Any] = {}
    for _, device, joint in actuators:
        role = "drive" if device.row.drives else device.row.name
        if (joint.name, role) in there:
            out.refuse(device, f"joint {joint.name!r} has {there[joint.name, role]} already",
                       "One actuator acts on a joint; a brake and limits of commands stand beside it, one each.")
        there.setdefault((joint.name, role), device._label)
        taken.setdefault(joint.name, (joint, []))[1].extend(device.row.commands)
    places = {}
    for name, (joint, words) in taken.items():
        at = [(word, out.signal(f"{name}.command.{word}", _unit(unit, joint), 1, f"command of {name}", name))
              for word, unit in COMMANDED.items() if word in words]
        places[name] = {word: out.rows[k].at for word, k in at}
    out.commands = len(out.rows)
    return places


def joint_row(model: Model, joint: Joint) -> int:
    """Where a joint is among the rows of joint_coordinates."""
    return model._compiled.joints[joint.index].compiled_index


def _on_joints(out: Layout, model: Model, devices: Any, joints: dict[str, Joint]) -> Iterator[tuple[str, Any, Any]]:
    """(name, device, joint) of every device, several for a pattern; joint None for those on frames."""
    for device in devices:
        if device.joint is None:
            yield device.name, device, None
            continue
        found = [joints[name] for name in meant(device.joint, joints)]
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
    return [out.signal(f"{name}.{r.name}", _unit(r.unit, joint), r.size, f"{row.name}: {r.doc}",
                       "" if joint is None else joint.name) for r in row.readings][0]


def _start(row: DeviceKind, device: Device) -> np.ndarray:
    memory = np.zeros(row.memory)
    for at, number in row.start:
        memory[at] = device.values[number][0]
    return memory


def _actuator(out: Layout, model: Model, name: str, device: Any, joint: Joint, place: tuple[int, int],
              commands: dict[str, int], limiter: int) -> None:
    device = tuned(out, model, name, device, joint)
    of_joint = {"effort_limit": float(model.spec.effort_limit[place[1]])}
    if device.row is LIMITS:
        ends, speed = joint.limits.position, joint.limits.velocity
        of_joint = dict(lower=float(ends.lower[0]), upper=float(ends.upper[0]), velocity=float(speed.upper[0]),
                        effort=of_joint["effort_limit"])
    numbers = finite(device, of_joint)
    if device.row is LIMITS and not device.has_room(numbers):
        out.refuse(device, f"nothing is left between the ends {numbers[0]:g} and {numbers[1]:g} of joint {joint.name!r}",
                   "Give a smaller margin.")
    at = [commands[word] if word in device.row.commands else -1 for word in COMMANDED]
    out.actuators.append([device.row.number, *place, *at, limiter, _readings(out, name, device.row, joint)])
    out.memories.append(_start(device.row, device))
    out.add_numbers(DevicePart(name, device, device.row, of_joint), numbers)


def tuned(out: Layout, model: Model, name: str, device: Any, joint: Joint) -> Any:
    """A servo with the gains of its bandwidth, for what its joint moves and holds; others as they are."""
    if getattr(device, "bandwidth", None) is None:
        return device
    load = joint_loads(model)[joint.v_slice.start]
    gains = device.gains(load)
    out.tuned.append(Tuned(name, joint, device, device.tuned(gains), load, gains))
    servo = out.tuned[-1].tuned
    if device.gain == "kp" and "ki" in servo.values:
        kd, ki = float(servo.values["kd"][0]), float(servo.values["ki"][0])
        most = stable_below(load, gains.kp, kd)
        if ki > 0.0 and ki >= most:
            out.refuse(device, f"joint {joint.name!r} would swing up: its ki of {ki:g} is not below kp (kd + damping) / inertia, "
                       f"{most:g}, with the kp of its bandwidth, {gains.kp:g}, and a kd of {kd:g}",
                       f"Give a ki below {most:g}, or kp, kd and ki without a bandwidth." if most > 0.0 else "Give a kd, or ki=0.0.")
    return servo


def finite(device: Device | JointSource, instead: Mapping[str, ArrayLike]) -> np.ndarray:
    """All numbers of a device. instead: what stands for numbers that are not given; infinite ones are as large as can be."""
    numbers, at = device.numbers(), 0
    for number in device.row.numbers:
        if number.name in instead:
            own = numbers[at:at + number.size]
            own[:] = np.where(own == np.asarray(number.default), instead[number.name], own)
        at += number.size
    return np.clip(numbers, -1e300, 1e300)


def _sensor(out: Layout, model: Model, bench: Bench, name: str, device: Any, joint: Any,
            coordinates: dict[str, tuple[int, int]]) -> list[tuple[Channel, int]]:
    """Adds a sensor; returns the channels of its latency."""
    found = placed(out, model, device, joint, coordinates)
    if found is None:
        return []
    place, pose = found
    if device.row.name == "imu":
        out.accelerates, out.recent = True, 2 * len(model.spec.damping)
    first = _readings(out, name, device.row, joint)
    count = len(device.row.readings)
    out.sensors.append([device.row.number, *place, first, count, out.rows[first].at, _drive(out, device, joint)])
    out.sensor_rates.append(grid(device.rate, out.dt))
    out.sensor_poses.append(pose)
    out.sensor_keys.append(stream_key(bench.seed, name))
    out.memories.append(_start(device.row, device))
    instead = covariances(device, out.dt)
    out.add_numbers(DevicePart(name, device, device.row, instead), finite(device, instead))
    if not device.latency > 0.0:
        return []
    later = Channel(f"{name}, latency", signal=name, delay=device.latency)
    return [(later, first + k) for k in range(count)]


def _drive(out: Layout, device: Any, joint: Any) -> int:
    """Where the drive of an encoder on the motor's side says its position, among the numbers of all signals; -1 of other sensors."""
    if getattr(device, "side", "joint") == "joint":
        return -1
    found = [row.at for row in out.rows if row.joint == joint.name and row.name.endswith(".motor_position")]
    if not found:
        out.refuse(device, f"joint {joint.name!r} has no drive behind a spring, whose motor moves otherwise than the joint",
                   "Give the joint a SeriesElastic, or a Motor with stiffness; or leave side out.")
    return found[0] if found else -1


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
    signals: dict[int, list[str]] = {}
    for channel, only in channels:
        at = [k for k, row in enumerate(out.rows) if (k == only if only is not None else row.name == channel.signal
                                                      or fnmatchcase(row.name, channel.signal))]
        if not at:
            out.refuse(channel, str(unknown("signal", channel.signal, "this bench", [row.name for row in out.rows]).args[0]),
                       "`mbros signals ROBOT --bench FILE` lists them.")
        signals[id(channel)] = [out.rows[k].name for k in at]
        found += [(k, channel, stage) for k in at for stage in range(len(channel.stages))]
    total = 0
    for k, channel, stage in sorted(found, key=lambda each: each[0]):
        kind, numbers = channel.stages[stage]
        row = CHANNELS[kind]
        out.channels.append([row.number, k, slots(numbers, out.dt) if kind == "delay" else 0])
        out.channel_rates.append(grid(numbers["hold_rate"], out.dt) if kind == "hold" else (1, 1))
        seed = bench.seed if channel.seed is None else channel.seed
        name = out.rows[k].name
        first = first_in_message(channel.message, name, signals[id(channel)]) if kind in ("delay", "loss") else name
        out.channel_keys.append(stream_key(seed, f"{channel.name}/{first}/{kind}"))
        size = memory(row, numbers, out.rows[k].size, out.dt)
        total += size
        with Room(f"bench: {kind} of {out.rows[k].name}, in steps of {out.dt:g} s", COPIES * total):
            out.memories.append(np.zeros(size))
        out.add_numbers(DevicePart(channel.name, channel, row, room=out.channels[-1][2]), channel.row(kind, numbers, out.dt))
