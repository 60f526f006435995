"""<dcmotor>: a Motor of the bench, commanded by its voltage.

    torque = gear K i,  L di/dt = voltage - R i - K gear qdot
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbros.describe.devices.classes import Motor
from mbros.describe.mjcf.values import limited, number, several

if TYPE_CHECKING:
    from mbros.describe.mjcf.reading import MjcfReading
    from mbros.describe.robot import JointDescription
    from mbros.describe.urdf.xml import XmlElement

LEFT = ("cogging", "lugre", "thermal", "controller")
NO_LIMIT = 1e6              # V, A: where the file has none


def dc_motor(reading: MjcfReading, element: XmlElement, joint: JointDescription, gear: float, name: str, label: str) -> Any:
    """The device, its command and how that is made of MuJoCo's input; None, with a problem or a note."""
    context = reading.context
    Kt, Ke = several(context, element, "motorconst", label, (0.0, 0.0))
    R = number(context, element, "resistance", label, 0.0)
    volts, stall, no_load = several(context, element, "nominal", label, (0.0, 0.0, 0.0))
    K = (Kt * Ke) ** 0.5 if Kt > 0.0 and Ke > 0.0 else max(Kt, Ke)
    if K <= 0.0 and no_load > 0.0:
        K = volts / no_load
    if R <= 0.0 and stall > 0.0:
        R = K * volts / stall
    if not (K > 0.0 and R > 0.0):
        context.problem(element.line, label, "it has no motor constant or no resistance",
                        'Write motorconst="..." (N m/A) and resistance="..." (ohm), or nominal="voltage stall_torque no_load_speed".')
        return None
    if element.attributes.get("input", "voltage") != "voltage":
        reading.note(("dcmotor", "input"), element, label, "not used: its input is not its voltage", "warning")
        return None
    for word in LEFT:
        if any(several(context, element, word, label, (0.0,) * 6)):
            reading.note(("dcmotor", word), element, label, f"{word} is not used", "warning")
    L, time_constant = several(context, element, "inductance", label, (0.0, 0.0))
    torque, current, _ = several(context, element, "saturation", label, (0.0, 0.0, 0.0))
    inputs = limited(context, element, "ctrllimited", "ctrlrange", label, reading.settings.autolimits)
    most = NO_LIMIT if inputs is None else max(abs(inputs[0]), abs(inputs[1]))
    if inputs is not None and inputs[0] != -inputs[1]:
        reading.note(("dcmotor", "ctrlrange"), element, label, "ctrlrange is not the same both ways: the larger number bounds the voltage",
                     "warning")
    motor = Motor(name, joint=joint.name, resistance=R, torque_constant=K, inductance=L if L > 0.0 else time_constant * R,
                  gear_ratio=abs(gear), resistance_coefficient=0.0, voltage_limit=most,
                  current_limit=torque / K if torque > 0.0 else current if current > 0.0 else NO_LIMIT)
    return motor, "voltage", 1.0 if gear > 0.0 else -1.0, 0.0
