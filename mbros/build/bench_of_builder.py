"""What a ModelBuilder adds to the bench that its model carries."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any
from mbros.errors import OwnAttributes

if TYPE_CHECKING:
    from mbros.describe.robot import RobotDescription


class BenchOfBuilder(OwnAttributes):
    """The part of a ModelBuilder that is about its bench: a Simulator of the model has that bench."""

    description: RobotDescription

    def add_actuator(self, actuator: Any) -> Any:
        """Adds an actuator, such as mbros.PositionServo(name, joint=...), to the bench that the model carries: a Simulator of it has the
        bench. Returns it. ModelError where its name is taken."""
        return self._add_device(actuator, "add_actuator")

    def add_sensor(self, sensor: Any) -> Any:
        """Adds a sensor, such as mbros.Imu(name, frame=...), to the bench that the model carries. Returns it. ModelError where its name is
        taken."""
        return self._add_device(sensor, "add_sensor")

    def add_channel(self, channel: Any) -> Any:
        """Adds a channel, such as mbros.Channel(signal=..., delay=...), to the bench that the model carries. Returns it. ModelError where
        its name is taken."""
        return self._add_device(channel, "add_channel")

    def add_fault(self, fault: Any) -> Any:
        """Adds a fault, such as mbros.Fault(name, kind, joint=..., at=...), to the bench that the model carries. Returns it. ModelError
        where its name is taken."""
        return self._add_device(fault, "add_fault")

    def add_source(self, source: Any) -> Any:
        """Adds a source, such as mbros.JointSource(name, joint=...), to the bench that the model carries: that joint may be real,
        prescribed or locked while running. Returns it. ModelError where its name is taken."""
        return self._add_device(source, "add_source")

    def _add_device(self, part: Any, caller: str) -> Any:
        from mbros.describe.devices import carried      # start-up time: who does not use it does not pay

        return carried.add(self.description, part, caller)


__all__ = ["BenchOfBuilder"]
