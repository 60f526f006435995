"""Bench: everything that stands between commands and the mechanics of a robot."""
from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any

from mbros.arguments import count, refuse
from mbros.describe.devices.channel import Channel
from mbros.describe.devices.classes import Actuator, Sensor
from mbros.errors import WrongTypeError

if TYPE_CHECKING:
    from typing import TypeVar

    Part = TypeVar("Part", Actuator, Sensor, Channel)


class Bench:
    """Actuators, sensors and channels, for any robot that has their joints and frames. seed: of all random numbers.

        bench = mbros.Bench(seed=7)
        bench.add(mbros.PositionServo("servo2", joint="joint2", kp=400.0, kd=20.0))
        sim = mbros.Simulator(model, bench=bench)

    Bench.load(path) reads a bench file. A simulator takes a bench as it is when the simulator is made.
    """

    def __init__(self, seed: int = 0) -> None:
        self.seed = count("bench", "seed", seed, most=None)
        self.actuators: list[Actuator] = []
        self.sensors: list[Sensor] = []
        self.channels: list[Channel] = []

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Bench:
        """Of a bench file (YAML). Raises ModelError with every problem of it, by line."""
        from mbros.describe.devices.file import read      # start-up time: who does not use it does not pay

        return read(cls, path)

    def add(self, device: Part) -> Part:
        """Adds an actuator, a sensor or a channel. Returns it."""
        if not isinstance(device, (Actuator, Sensor, Channel)):
            raise WrongTypeError(f"bench: add() was given {device!r:.80}; expected an actuator, a sensor or a channel such as "
                                 "mbros.PositionServo(name, joint=..., kp=...)")
        place: Any = self.actuators if isinstance(device, Actuator) else self.sensors if isinstance(device, Sensor) else self.channels
        if any(other.name == device.name for other in place):
            refuse(device._label, "this name is already taken", "Give every device and every channel a name of its own: name=...")
        place.append(device)
        return device

    def __repr__(self) -> str:
        return f"<Bench: {len(self.actuators)} actuators, {len(self.sensors)} sensors, {len(self.channels)} channels, seed {self.seed}>"
