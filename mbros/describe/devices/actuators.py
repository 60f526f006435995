"""More actuators that users write: an impedance servo, drives behind springs, brushless motors from data sheets, brakes, limits of
commands. Their numbers are rows of mbros_core.plant.actuators.registry, and a table in docs/bench.md."""
from __future__ import annotations

from math import inf, pi, sqrt
from typing import Any

import numpy as np
from mbros_core.plant.actuators.registry import BY_NAME as ACTUATORS
from mbros_core.plant.rows import Number

from mbros.arguments import refuse
from mbros.describe.devices.classes import Actuator, EffortActuator, Motor, PositionServo, Servo, VelocityServo
from mbros.describe.devices.device import value_of


class ImpedanceServo(Servo):
    """effort = stiffness (position - q) + damping (velocity - v) + effort, all five of them commands; kp and kd stand for a stiffness and a
    damping that are not commanded. Any gain is stable. bandwidth and static_error instead of kp are those of a
    PositionServo."""

    row, type, short = ACTUATORS["impedance"], "impedance_servo", "servo"

    def may_be_limp(self) -> bool:
        return True


class SeriesElastic(Actuator):
    """Drive behind a spring (stiffness) and a damper (damping), with an inertia (motor_inertia), friction (motor_damping) and perhaps a
    gap (backlash). With kp, kd, ki the drive is a servo of its own position; without, it exerts the effort that is commanded. Everything is
    counted at the joint, behind the gear. Stable for any stiffness."""

    row, type, short = ACTUATORS["elastic_servo"], "series_elastic", "sea"

    def __init__(self, name: str, *, joint: Any, stiffness: float, motor_inertia: float, **numbers: Any) -> None:
        super().__init__(name, joint=joint, stiffness=stiffness, motor_inertia=motor_inertia, **numbers)
        if not self.values["motor_inertia"][0] > 0.0:
            refuse(self._label, "motor_inertia is 0", "Give a positive one: what is behind the spring moves by itself.")

    @classmethod
    def taken(cls) -> tuple[Number, ...]:
        return tuple(number for number in cls.row.numbers if number.name != "of_velocity")

    def numbers(self) -> Any:
        self.values["of_velocity"] = np.zeros(1)
        return super().numbers()


class BrushlessMotor(Motor):
    """Brushless motor under sinusoidal currents, from a data sheet: line_resistance (ohm) and line_inductance (H), from line to line;
    one of torque_constant_rms (N m per A rms of a line), torque_constant_peak (N m per A of its peak), speed_constant (rpm/V, of peak volts
    from line to line, DC volts of a drive) and voltage_constant (V rms from line to line per 1000 rpm); pole_pairs; voltage_limit, the DC
    volts of the drive; current_limit_rms (A rms of a line). The rest is a Motor's.

    Between two lines it is a DC motor: with line_resistance, line_inductance, and sqrt(3/2) times the current in A rms, copper losses,
    back electromotive force (its peak from line to line), stored energy and torque are those of the three windings.
    """

    type = "brushless_motor"
    CONSTANTS = {"torque_constant_rms": lambda x: x / sqrt(1.5), "torque_constant_peak": lambda x: 2.0 * x / sqrt(3.0),
                 "speed_constant": lambda x: 30.0 / (pi * x), "voltage_constant": lambda x: x * sqrt(2.0) * 30.0 / (1000.0 * pi)}

    def __init__(self, name: str, *, joint: Any, line_resistance: float, voltage_limit: float, current_limit_rms: float,
                 pole_pairs: int, line_inductance: float = 0.0, **numbers: Any) -> None:
        label = f"brushless motor {name!r}"
        given = {word: numbers.pop(word) for word in self.CONSTANTS if word in numbers}
        if len(given) != 1:
            refuse(label, f"it has {' and '.join(given) or 'no torque constant'}", f"Give one of {', '.join(self.CONSTANTS)}.")
        (word, constant), = given.items()
        words = {"line_resistance": line_resistance, "line_inductance": line_inductance, word: constant,
                 "current_limit_rms": current_limit_rms}
        found = {w: float(value_of(label, Number(w, "", "", None, 0.0, above=w not in ("line_inductance", "current_limit_rms")), x)[0])
                 for w, x in words.items()}
        super().__init__(name, joint=joint, resistance=found["line_resistance"], inductance=found["line_inductance"],
                         torque_constant=self.CONSTANTS[word](found[word]), voltage_limit=voltage_limit,
                         current_limit=found["current_limit_rms"] * sqrt(1.5), pole_pairs=pole_pairs, **numbers)


class Brake(Actuator):
    """Holds a joint exactly still up to its holding_effort, beyond it slips under slip_effort. sim.command(brake={joint: 1.0}) engages it,
    0.0 releases it, after engage_delay and release_delay (s); without a command it holds, or does not with engaged=0. It stands beside the
    actuator that drives the joint."""

    row, type, short = ACTUATORS["brake"], "brake", "brake"

    def __init__(self, name: str, *, joint: Any, holding_effort: float, **numbers: Any) -> None:
        super().__init__(name, joint=joint, holding_effort=holding_effort, **numbers)
        holding, slip = self.values["holding_effort"], self.values["slip_effort"]
        if slip[0] == inf:
            self.values["slip_effort"] = holding.copy()
        elif slip[0] > holding[0]:
            refuse(self._label, f"slip_effort {slip[0]:g} is above holding_effort {holding[0]:g}",
                   "A brake that slips exerts no more than one that holds.")


class CommandLimits(Actuator):
    """Limits of what a joint's actuators are commanded: lower, upper, velocity, effort (by default the joint's own), the rates of these
    commands, and soft limits, margin before the ends, near which k_position bounds the velocity and k_velocity the effort, as
    <safety_controller> in a URDF does. Exerts nothing."""

    row, type, short = ACTUATORS["limits"], "command_limits", "limits"

    def __init__(self, name: str, *, joint: Any, **numbers: Any) -> None:
        super().__init__(name, joint=joint, **numbers)
        ends = self.numbers()
        if not self.has_room(ends):
            refuse(self._label, f"nothing is left between lower {ends[0]:g} and upper {ends[1]:g} with its margin",
                   "Give the larger one as upper, and a smaller margin.")

    def has_room(self, numbers: Any) -> bool:
        """Between the ends of its numbers, the margins taken off."""
        return bool(numbers[1] - numbers[0] >= 2.0 * self.values["margin"][0])


ACTUATOR_CLASSES = (EffortActuator, PositionServo, VelocityServo, ImpedanceServo, Motor, BrushlessMotor, SeriesElastic, Brake,
                    CommandLimits)
