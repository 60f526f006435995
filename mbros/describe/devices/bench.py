"""Bench: everything that stands between commands and the mechanics of a robot."""
from __future__ import annotations

from copy import copy
from os import PathLike
from typing import TYPE_CHECKING, Any

from mbros_core.support.numbers import short

from mbros.arguments import count, refuse
from mbros.describe.devices.channel import Channel
from mbros.describe.devices.classes import Actuator, Sensor
from mbros.describe.devices.fault import Fault
from mbros.describe.devices.source import JointSource
from mbros.errors import OwnAttributes, WrongTypeError

if TYPE_CHECKING:
    from typing import TypeAlias, TypeVar

    BenchLike: TypeAlias = "Bench | str | PathLike[str] | bool | None"
    Part = TypeVar("Part", Actuator, Sensor, Channel, Fault, JointSource)

EXAMPLES = {Actuator: "an actuator such as mbros.PositionServo(name, joint=..., kp=...)", Sensor: "a sensor such as mbros.Encoder(name, "
            "joint=...)", Channel: "a channel such as mbros.Channel(signal=..., delay=...)",
            Fault: "a fault such as mbros.Fault(name, kind=...)", JointSource: "a source such as mbros.JointSource(name, joint=...)"}


class Bench(OwnAttributes):
    """Actuators, sensors, channels, faults and sources, for any robot that has their joints and frames. seed: of all random numbers.

        bench = mbros.Bench(seed=7)
        bench.add(mbros.PositionServo("servo2", joint="joint2", kp=400.0, kd=20.0))
        sim = mbros.Simulator(model, bench=bench)

    Bench.load(path) reads a bench file. A simulator takes a bench as it is when the simulator is made.
    """

    seed: int
    actuators: list[Actuator]
    sensors: list[Sensor]
    channels: list[Channel]
    faults: list[Fault]
    sources: list[JointSource]

    def __init__(self, seed: int = 0) -> None:
        self.seed = count("bench", "seed", seed, most=None)
        self.actuators, self.sensors, self.channels, self.faults, self.sources = [], [], [], [], []

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Bench:
        """Of a bench file (YAML). Raises ModelError with every problem of it, by line."""
        from mbros.describe.devices.file import read      # start-up time: who does not use it does not pay

        return read(cls, path)

    def add(self, device: Part) -> Part:
        """Adds an actuator, a sensor, a channel, a fault or a source. Returns it."""
        return self._add("bench: add", device, *EXAMPLES)

    def _add_read(self, device: Any, taken: dict[int, set[Any]]) -> Any:
        """Of a file."""
        return self._add("bench: add", device, *EXAMPLES, taken=taken)

    def _add(self, caller: str, device: Any, *kinds: type[Any], taken: dict[int, set[Any]] | None = None) -> Any:
        """taken: {id of a list: its names}, kept by who adds many and nothing else meanwhile."""
        if not isinstance(device, kinds):
            raise WrongTypeError(f"{caller}() was given {short(device)}; expected {' or '.join(EXAMPLES[kind] for kind in kinds)}")
        place: Any = next(parts for kind, parts in ((Actuator, self.actuators), (Sensor, self.sensors), (Channel, self.channels),
                                                    (Fault, self.faults), (JointSource, self.sources)) if isinstance(device, kind))
        def named(part: Any) -> Any:        # "*.servo" on joint1 and "*.servo" on joint2 are two names
            return part.name, tuple(getattr(part, "places_of", dict)().items()) if "*" in part.name else None

        names = None if taken is None else taken.get(id(place))
        if names is None:
            names = {named(other) for other in place}
        if named(device) in names:
            refuse(device._label, "this name is already taken", "Give every device, channel, fault and source a name of its own: name=...")
        names.add(named(device))
        if taken is not None:
            taken[id(place)] = names
        place.append(device)
        return device

    def copied(self) -> Bench:
        """A bench of its own, with the same devices."""
        other = copy(self)
        other.__dict__.update((name, list(value)) for name, value in self.__dict__.items() if isinstance(value, list))
        return other

    def __repr__(self) -> str:
        return (f"<Bench: {len(self.actuators)} actuators, {len(self.sensors)} sensors, {len(self.channels)} channels, "
                f"{len(self.faults)} faults, {len(self.sources)} sources, seed {self.seed}>")
