"""The bench that a description carries: what is asked of it before the robot is built, and where it goes when robots are put together."""
from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mbros.describe.devices.bench import Bench
from mbros.describe.devices.channel import Channel
from mbros.describe.devices.classes import Actuator, Sensor
from mbros.describe.devices.fault import Fault
from mbros.describe.devices.source import JointSource
from mbros.errors import Problem
from mbros.names import hint, meant, one_document

if TYPE_CHECKING:
    from mbros.describe.robot import RobotDescription


KINDS: dict[str, type[Any]] = {"add_actuator": Actuator, "add_sensor": Sensor, "add_channel": Channel, "add_fault": Fault,
                               "add_source": JointSource}


def add(description: RobotDescription, part: Any, caller: str) -> Any:
    """ModelBuilder.add_actuator, .add_sensor, .add_channel, .add_fault and .add_source."""
    bench = Bench() if description.bench is None else description.bench
    bench._add(f"model {description.name!r}: {caller}", part, KINDS[caller])
    description.bench = bench
    return part


@one_document
def check_bench(description: RobotDescription) -> list[Problem]:
    """A problem for everything on a joint or a frame that the robot has not. The rest is asked when a simulator is made."""
    if description.bench is None:
        return []
    joints = dict.fromkeys(joint.name for joint in description.joints)
    bodies: list[Any] = [description.world, *description.bodies, *description.frames]
    frames = dict.fromkeys([*(body.name for body in bodies), *(f"{joint}.{end}" for joint in joints for end in "FM")])
    found = []
    bench = description.bench
    on: list[tuple[Any, str, str]] = [(device, device.places[place], name) for device in (*bench.actuators, *bench.sensors)
                                      for place, name in device.places_of().items()]
    on += [(fault, fault.row.target, fault.target) for fault in bench.faults]
    on += [(source, "joint", source.joint) for source in bench.sources]
    for part, what, name in on:
        known = {"joint": joints, "frame": frames}.get(what)            # what shapes are called is known when they are compiled
        if known is not None and not meant(name, known):
            found.append(Problem(part._label, f"there is no {what} {name!r}{hint(name, known)}",
                                 f"Add the {what}, or correct the name; a * stands for any letters.",
                                 part.source.file, part.source.line))
    return found


def graft_bench(theirs: RobotDescription, mine: RobotDescription, name: str) -> None:
    """Take over the devices of `theirs`, whose elements have been renamed and moved over to `mine`."""
    if theirs.bench is None:
        return
    mine.bench = Bench(theirs.bench.seed) if mine.bench is None else mine.bench
    mine.bench.actuators += [moved(device, name) for device in theirs.bench.actuators]
    mine.bench.sensors += [moved(device, name) for device in theirs.bench.sensors]
    mine.bench.channels += [channel.changed(f"{name}/{channel.name}", signal=f"{name}/{channel.signal}")
                            for channel in theirs.bench.channels]
    mine.bench.faults += [_renamed(fault, name, "target") for fault in theirs.bench.faults]
    mine.bench.sources += [_renamed(source, name, "joint") for source in theirs.bench.sources]


def _renamed(part: Any, name: str, of: str) -> Any:
    """A fault or a source on the robot `name` of a scene: what it is of, and the signal of its condition, are that robot's."""
    other = copy(part)
    other.name = f"{name}/{part.name}"
    setattr(other, of, f"{name}/{getattr(part, of)}")
    if getattr(part, "when", None) is not None:
        other.when = replace(part.when, signal=f"{name}/{part.when.signal}")
    return other


def moved(device: Any, name: str) -> Any:
    """A device on the robot `name` of a scene. A * in its name stands for the joint's, which has the robot's before it already."""
    places = {place: f"{name}/{given}" for place, given in device.places_of().items()}
    return device.changed(device.name if "*" in device.name else f"{name}/{device.name}", **places)
