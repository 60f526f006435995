"""The drives of joints of which a <ros2_control> says the commands alone: servos of BANDWIDTH that give way by STATIC_ERROR, with integral
action. Their gains are chosen when the robot is known (gains.py)."""
from __future__ import annotations

from typing import Any

from mbros.describe.devices.actuators import ImpedanceServo
from mbros.describe.devices.classes import PositionServo, Servo, VelocityServo

BANDWIDTH = 10.0                                # Hz
STATIC_ERROR = {PositionServo: (1e-3, 1e-4), ImpedanceServo: (1e-3, 1e-4), VelocityServo: (5e-3, 5e-4)}      # rad, m; rad/s, m/s


def drive(cls: type[Servo], name: str, joint: str, rotates: bool, **numbers: Any) -> Servo:
    """A servo of that class; numbers that are given stay."""
    if numbers.get(cls.gain) is not None:
        return cls(name, joint=joint, **numbers)
    return cls(name, joint=joint, bandwidth=BANDWIDTH, static_error=STATIC_ERROR[cls][0 if rotates else 1], **numbers)
