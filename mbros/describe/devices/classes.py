"""The actuators and sensors that users write. Their numbers, with units and bounds, are rows of mbros_core.plant.actuators.registry and
mbros_core.plant.sensors.registry, and tables in docs/bench.md."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import inf
from typing import Any

import numpy as np
from mbros_core.plant.actuators.registry import BY_NAME as ACTUATORS, CURVE
from mbros_core.plant.rows import Number
from mbros_core.plant.sensors.registry import BY_NAME as SENSORS, LATENCY, RATE

from mbros.arguments import choice, refuse
from mbros.describe.devices.device import Device, joint_name, name_of, value_of
from mbros.describe.devices.gains import Gains, JointLoad, position_gains, velocity_gains

BANDWIDTH = Number("bandwidth", "Hz", "of a servo that takes its gains from what its joint moves", None, 0.0, 1e6, above=True)
STATIC_ERROR = Number("static_error", "of what is commanded", "by which such a servo gives way to weight and friction", None, 0.0, 1e6,
                      above=True)


class Actuator(Device):
    """Acts on a joint of one degree of freedom. Its commands are <joint>.command.position, .velocity and .effort."""

    family = "actuator"
    short = ""                          # of "*.motor", the name of those that a pattern makes in a bench file

    def __init__(self, name: str, *, joint: Any, **numbers: Any) -> None:
        super().__init__(name, **numbers)
        self.joint = joint_name(self._label, joint)

    @property
    def takes(self) -> tuple[str, ...]:
        """The commands that it follows."""
        return self.row.takes


class EffortActuator(Actuator):
    """Effort as commanded: effort_limit, a lag (time_constant), and what is left of it at speed: a torque-speed line (stall_effort,
    no_load_speed) or a torque_speed_curve of 2 to 8 points (speed, effort), such as [[0, 10], [20, 10], [60, 2]]."""

    row, type, short = ACTUATORS["effort"], "effort_actuator", "drive"

    @classmethod
    def taken(cls) -> tuple[Number, ...]:
        return (*ACTUATORS["effort"].numbers, replace(CURVE, default=()))

    def __init__(self, name: str, *, joint: Any, **numbers: Any) -> None:
        super().__init__(name, joint=joint, **numbers)
        if self.values[CURVE.name].any():
            both = " and ".join(word for word in ("stall_effort", "no_load_speed") if self._given.get(word) is not None)
            if both:
                refuse(self._label, f"it has a {CURVE.name} and {both}", "Give the curve, or stall_effort and no_load_speed of a line.")
            self.row = ACTUATORS["effort_curve"]
        elif self.values["no_load_speed"] > 0.0 and not self.values["stall_effort"] > 0.0:
            refuse(self._label, "it has a no_load_speed and no stall_effort", "Give both for a torque-speed line.")


class Servo(Actuator):
    """What servos share: gains, or a bandwidth (Hz) and perhaps a static_error, which gains.py makes gains of when the robot is known."""

    gain = "kp"
    design: Callable[..., Gains] = staticmethod(position_gains)
    bandwidth: float | None = None
    static_error: float | None = None

    def __init__(self, name: str, *, joint: Any, bandwidth: float | None = None, static_error: float | None = None, **numbers: Any) -> None:
        given = numbers.get(self.gain) is not None
        super().__init__(name, joint=joint, **{self.gain: 0.0, **{word: x for word, x in numbers.items() if x is not None}})
        if given and bandwidth is not None:
            refuse(self._label, f"it has a {self.gain} and a bandwidth", f"Give {self.gain}=..., or bandwidth=... (Hz).")
        if not given and bandwidth is None and not self.may_be_limp():
            refuse(self._label, f"it has no {self.gain} and no bandwidth", f"Give {self.gain}=..., or bandwidth=... (Hz).")
        if static_error is not None and bandwidth is None:
            refuse(self._label, "it has a static_error and no bandwidth", f"Give bandwidth=... (Hz) instead of {self.gain}.")
        if bandwidth is not None:
            self.bandwidth = float(value_of(self._label, BANDWIDTH, bandwidth)[0])
        if static_error is not None:
            self.static_error = float(value_of(self._label, STATIC_ERROR, static_error)[0])

    def may_be_limp(self) -> bool:
        """Whether it may have neither gains nor a bandwidth."""
        return False

    def gains(self, load: JointLoad) -> Gains:
        """Those of its bandwidth, for a joint with that load, beside a damping that was given."""
        assert self.bandwidth is not None           # who asks has looked
        beside = {"kd": float(self.values["kd"][0])} if self.gain == "kp" and self._given.get("kd") is not None else {}
        return self.design(load, self.bandwidth, self.static_error, **beside)

    def tuned(self, gains: Gains) -> Any:
        """The same with these gains, but for those that were given."""
        own = {number.name for number in self.taken()}
        return self.changed(bandwidth=None, static_error=None, **{word: getattr(gains, word) for word in ("kp", "kd", "ki")
                                                                  if word in own and self._given.get(word) is None})


class PositionServo(Servo):
    """effort = kp (position - q) + kd (velocity - v) + ki integral + effort, of the commands; any gain is stable. With small gains and an
    effort command it is an impedance controller.

    bandwidth (Hz) instead of kp: with w = 2 pi bandwidth, the inertia J that the joint moves, its damping d and the load L that it holds,
    kp = max(J w^2, d w, L / static_error), kd = 2 kp / w - d, ki = kp w / 32; docs/drives.md says what J and L are. Without a static_error
    (rad, m) the load does not count, and ki = kp w / 8. A kd or ki that is given stays; beside a smaller kd, ki is smaller in
    proportion, and a ki beyond kp (kd + d) / J, with which it would swing up, is refused.
    """

    row, type, short = ACTUATORS["servo"], "position_servo", "servo"

    @classmethod
    def taken(cls) -> tuple[Number, ...]:
        return tuple(number for number in cls.row.numbers if number.name != "of_velocity")

    def numbers(self) -> Any:
        self.values["of_velocity"] = value_of(self._label, self.row.numbers[4], 0.0)
        return super().numbers()


class VelocityServo(Servo):
    """effort = kd (velocity - v) + ki integral + effort, of the commands; any gain is stable.

    bandwidth (Hz) instead of kd: kd = max(J w, 100 d, L / static_error), ki = kd w / 16, as of a PositionServo; static_error in rad/s, m/s.
    """

    row, type, short = ACTUATORS["servo"], "velocity_servo", "servo"
    gain, design = "kd", staticmethod(velocity_gains)

    @property
    def takes(self) -> tuple[str, ...]:
        return ("velocity", "effort")

    @classmethod
    def taken(cls) -> tuple[Number, ...]:
        return tuple(number for number in cls.row.numbers if number.name not in ("of_velocity", "kp"))

    def numbers(self) -> Any:
        self.values["kp"] = value_of(self._label, self.row.numbers[0], 0.0)
        self.values["of_velocity"] = value_of(self._label, self.row.numbers[4], 1.0)
        return super().numbers()


def _spring_or_none(device: Any, rigid: str, elastic: str, *inertias: str) -> None:
    """The kind of an actuator, with a spring where it has a stiffness; a drive behind a spring has an inertia of its own."""
    if device.values["stiffness"][0] == inf:
        for name in ("damping", "backlash", "motor_inertia", "motor_damping"):
            if device.values[name][0] != 0.0:
                refuse(device._label, f"it has {name} and no stiffness", "Give the stiffness of the spring, or of the teeth of the gear.")
        device.row = ACTUATORS[rigid]
        return
    device.row = ACTUATORS[elastic]
    if not any(device.values[name][0] > 0.0 for name in inertias):
        refuse(device._label, "its drive has no inertia", f"Give {' or '.join(inertias)}: what is behind the spring moves by itself.")


SPRING = tuple(number if number.name != "stiffness" else Number("stiffness", number.unit, number.doc, inf, 0.0, above=True)
               for number in ACTUATORS["elastic_motor"].numbers[:5])


class Motor(Actuator):
    """DC motor, or a brushless one by its equivalent numbers, with gear, rotor, winding and heat. An effort command is the current that
    would make it. With a stiffness, the gear is elastic, and perhaps has backlash: the joint is then driven by what its teeth carry."""

    row, type, short = ACTUATORS["motor"], "motor", "motor"

    @classmethod
    def taken(cls) -> tuple[Number, ...]:
        return ACTUATORS["motor"].numbers + SPRING

    def __init__(self, name: str, *, joint: Any, resistance: float, torque_constant: float, voltage_limit: float, current_limit: float,
                 **numbers: Any) -> None:
        super().__init__(name, joint=joint, resistance=resistance, torque_constant=torque_constant, voltage_limit=voltage_limit,
                         current_limit=current_limit, **numbers)
        if not self.values["cut_off"] > self.values["derate_from"]:
            refuse(self._label, f"cut_off {self.values['cut_off'][0]:g} is not above derate_from {self.values['derate_from'][0]:g}",
                   "The current limit falls from derate_from to nothing at cut_off.")
        _spring_or_none(self, "motor", "elastic_motor", "rotor_inertia", "motor_inertia")


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
    """Position and velocity of a joint in whole counts. side: "joint", or "motor", of a drive behind a spring: what its rotor did, counted
    behind the gear, so that the range of one that turns with the rotor is 2 pi / gear_ratio."""

    row, type, short = SENSORS["encoder"], "encoder", "encoder"

    def __init__(self, name: str, *, joint: Any, side: str = "joint", **numbers: Any) -> None:
        super().__init__(name, **numbers)
        self.joint = joint_name(self._label, joint)
        self.side = choice(self._label, "side", side, ("joint", "motor"))


class TorqueSensor(Sensor):
    """Effort in a joint, with the noise of an Allan deviation plot."""

    row, type, short = SENSORS["torque"], "torque", "torque"

    def __init__(self, name: str, *, joint: Any, **numbers: Any) -> None:
        super().__init__(name, **numbers)
        self.joint = joint_name(self._label, joint)


class Imu(Sensor):
    """Angular velocity and acceleration less gravity of a frame along its own axes, rad/s and m/s^2, and its orientation in the world, a
    quaternion x y z w, with the noise of an Allan deviation plot and of an attitude filter.

    All three are those of the end of the step in which it samples, which is the stamp of its message. Acceleration is sampled, not
    averaged over the time between samples, and comes from velocities before and after the last three steps: to second order in the step
    where motion is smooth, and in a blow the change of velocity over the step's length. static_covariance_*: 9 numbers, row-major, that
    the ROS message carries; one of orientation that begins with -1 says that it has none (REP 145).
    """

    row, type = SENSORS["imu"], "imu"

    def __init__(self, name: str, *, frame: Any, **numbers: Any) -> None:
        super().__init__(name, **numbers)
        self.frame = name_of(self._label, "frame", frame, "a frame or body")
        for word in ("orientation", "angular_velocity", "linear_acceleration"):
            number = f"static_covariance_{word}"
            C = self.values[number].reshape(3, 3)
            if np.isinf(C).all() or (word == "orientation" and C[0, 0] == -1.0 and not C.ravel()[1:].any()):
                continue
            if not (np.isfinite(C).all() and (C == C.T).all() and np.linalg.eigvalsh(C)[0] >= -1e-9 * abs(C).max()):
                refuse(self._label, f"{number} is {C.ravel().tolist()}, and no covariance",
                       "Give 9 numbers row by row, symmetric and positive semidefinite, such as [1e-4, 0, 0, 0, 1e-4, 0, 0, 0, 1e-4].")
