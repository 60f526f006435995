"""The actuators and sensors that users write. Their numbers, with units and bounds, are rows of mbros_core.actuators.registry and
mbros_core.sensors.registry, and tables in docs/bench.md."""
from __future__ import annotations

from typing import Any

from mbros_core.actuators.registry import BY_NAME as ACTUATORS
from mbros_core.devices.rows import Number
from mbros_core.sensors.registry import BY_NAME as SENSORS, LATENCY, RATE

from mbros.arguments import refuse
from mbros.describe.devices.device import Device, joint_name, value_of


class Actuator(Device):
    """Acts on a joint of one degree of freedom. Its commands are <joint>.command.position, .velocity and .effort."""

    family = "actuator"
    short = ""                          # of "*.motor", the name of those that a pattern makes in a bench file

    def __init__(self, name: str, *, joint: Any, **numbers: Any) -> None:
        super().__init__(name, **numbers)
        self.joint = joint_name(self._label, joint)


class EffortActuator(Actuator):
    """Effort as commanded: effort_limit, a lag (time_constant), a torque-speed line (stall_effort, no_load_speed)."""

    row, type, short = ACTUATORS["effort"], "effort_actuator", "drive"

    def __init__(self, name: str, *, joint: Any, **numbers: Any) -> None:
        super().__init__(name, joint=joint, **numbers)
        if self.values["no_load_speed"] > 0.0 and not self.values["stall_effort"] > 0.0:
            refuse(self._label, "it has a no_load_speed and no stall_effort", "Give both for a torque-speed line.")


class PositionServo(Actuator):
    """effort = kp (position - q) + kd (velocity - v) + ki integral + effort, of the commands; any gain is stable. With small gains and an
    effort command it is an impedance controller."""

    row, type, short = ACTUATORS["servo"], "position_servo", "servo"

    def __init__(self, name: str, *, joint: Any, kp: float, **numbers: Any) -> None:
        super().__init__(name, joint=joint, kp=kp, **numbers)

    @classmethod
    def taken(cls) -> tuple[Number, ...]:
        return tuple(number for number in cls.row.numbers if number.name != "of_velocity")

    def numbers(self) -> Any:
        self.values["of_velocity"] = value_of(self._label, self.row.numbers[4], 0.0)
        return super().numbers()


class VelocityServo(Actuator):
    """effort = kd (velocity - v) + ki integral + effort, of the commands; any gain is stable."""

    row, type, short = ACTUATORS["servo"], "velocity_servo", "servo"

    def __init__(self, name: str, *, joint: Any, kd: float, **numbers: Any) -> None:
        super().__init__(name, joint=joint, kd=kd, **numbers)

    @classmethod
    def taken(cls) -> tuple[Number, ...]:
        return tuple(number for number in cls.row.numbers if number.name not in ("of_velocity", "kp"))

    def numbers(self) -> Any:
        self.values["kp"] = value_of(self._label, self.row.numbers[0], 0.0)
        self.values["of_velocity"] = value_of(self._label, self.row.numbers[4], 1.0)
        return super().numbers()


class Motor(Actuator):
    """DC motor, or a brushless one by its equivalent numbers, with gear, rotor, winding and heat. An effort command is the current that
    would make it."""

    row, type, short = ACTUATORS["motor"], "motor", "motor"

    def __init__(self, name: str, *, joint: Any, resistance: float, torque_constant: float, voltage_limit: float, current_limit: float,
                 **numbers: Any) -> None:
        super().__init__(name, joint=joint, resistance=resistance, torque_constant=torque_constant, voltage_limit=voltage_limit,
                         current_limit=current_limit, **numbers)
        if not self.values["cut_off"] > self.values["derate_from"]:
            refuse(self._label, f"cut_off {self.values['cut_off'][0]:g} is not above derate_from {self.values['derate_from'][0]:g}",
                   "The current limit falls from derate_from to nothing at cut_off.")


class Sensor(Device):
    """Samples at a rate of its own (Hz; by default in every step), read after a latency (s)."""

    family = "sensor"
    short = ""
    joint: str | None = None
    frame: str | None = None

    def __init__(self, name: str, *, rate: float | None = None, latency: float | None = None, **numbers: Any) -> None:
        super().__init__(name, **numbers)
        self.rate = float(value_of(self._label, RATE, rate)[0])
        self.latency = float(value_of(self._label, LATENCY, latency)[0])


class Encoder(Sensor):
    """Position and velocity of a joint in whole counts."""

    row, type, short = SENSORS["encoder"], "encoder", "encoder"

    def __init__(self, name: str, *, joint: Any, **numbers: Any) -> None:
        super().__init__(name, **numbers)
        self.joint = joint_name(self._label, joint)


class TorqueSensor(Sensor):
    """Effort in a joint, with the noise of an Allan deviation plot."""

    row, type, short = SENSORS["torque"], "torque", "torque"

    def __init__(self, name: str, *, joint: Any, **numbers: Any) -> None:
        super().__init__(name, **numbers)
        self.joint = joint_name(self._label, joint)


class Imu(Sensor):
    """Angular velocity, and acceleration less gravity, of a frame along its own axes, with the noise of an Allan deviation plot."""

    row, type = SENSORS["imu"], "imu"

    def __init__(self, name: str, *, frame: Any, **numbers: Any) -> None:
        super().__init__(name, **numbers)
        self.frame = getattr(frame, "name", frame)
        if not isinstance(self.frame, str) or not self.frame:
            refuse(self._label, f"frame is {frame!r:.80}", "Give a frame or body, or its name.")


ACTUATOR_CLASSES = (EffortActuator, PositionServo, VelocityServo, Motor)
SENSOR_CLASSES = (Encoder, TorqueSensor, Imu)
