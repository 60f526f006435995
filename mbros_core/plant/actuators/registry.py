"""The actuators: one row per kind. Classes, bench files, documentation and tests iterate this table.

The mathematics of a kind is in the .pxd file of its name; the numbers here must be those of the enum in dispatch.pxd, the order of its
numbers and readings those of the file.
"""
from __future__ import annotations

from dataclasses import replace
from math import inf

from mbros_core.plant.rows import DeviceKind, Number, Reading

EFFORT_LIMIT = Number("effort_limit", "joint effort", "largest effort; by default the joint's own limit", inf, 0.0)
MOST_POINTS = 8             # of a torque-speed curve
CURVE = Number("torque_speed_curve", "joint velocity, joint effort", "2 to 8 points (speed, effort), straight between them: speeds "
               "ascend from 0, efforts do not rise", None, 0.0, size=2 * MOST_POINTS, points=True)
EFFORT = Reading("effort", "joint effort", "what acted on the joint, mean over the step")
POWER = Reading("power", "W", "what the joint received, mean over the step")

# What a joint can be commanded, in the order of actuator.pxd, with units.
COMMANDS = {"position": "joint position", "velocity": "joint velocity", "effort": "joint effort", "stiffness": "joint stiffness",
            "damping": "joint damping", "brake": "1", "voltage": "V"}

RIGID = (
    DeviceKind("effort", 0, "effort as commanded, with a lag and a torque-speed line", (
        EFFORT_LIMIT,
        Number("time_constant", "s", "of the lag of first order; 0: none", 0.0, 0.0),
        Number("stall_effort", "joint effort", "of the torque-speed line, at rest", 0.0, 0.0),
        Number("no_load_speed", "joint velocity", "of the torque-speed line, without effort; 0: no line", 0.0, 0.0),
    ), (EFFORT, POWER), memory=4, equation="time_constant dy/dt = command - y, |effort| <= effort_limit; driving: "
        "|effort| <= stall_effort (1 - |v| / no_load_speed)"),
    DeviceKind("servo", 1, "position, velocity and effort, implicit: stable with any gain", (
        Number("kp", "joint stiffness", "effort per position", 0.0, 0.0),
        Number("kd", "joint damping", "effort per velocity", 0.0, 0.0),
        Number("ki", "per second", "of the integral, of the position error or, of a velocity servo, of the velocity error", 0.0, 0.0),
        EFFORT_LIMIT,
        Number("of_velocity", "", "1 of a velocity servo", 0.0, 0.0, 1.0),
    ), (EFFORT, POWER, Reading("saturated", "", "1 or -1 at the upper or lower limit")), memory=5,
        takes=("position", "velocity", "effort"), equation="effort = kp (r - q) + kd (rdot - v) + I + feed-forward, dI/dt = ki (r - q), "
        "of a velocity servo ki (rdot - v); |effort| <= effort_limit"),
    DeviceKind("motor", 2, "DC or brushless motor with gear, rotor, winding and heat", (
        Number("resistance", "ohm", "of the winding at 25 degC, between the terminals", None, 0.0, above=True),
        Number("inductance", "H", "of the winding", 0.0, 0.0),
        Number("torque_constant", "N m/A", "and V s/rad of the back electromotive force", None, 0.0, above=True),
        Number("gear_ratio", "", "turns of the rotor per turn of the joint (rad per m of a sliding one)", 1.0, 0.0, above=True),
        Number("efficiency", "", "of the gear, both ways", 1.0, 0.0, 1.0, above=True),
        Number("rotor_inertia", "kg m^2", "of the rotor, before the gear", 0.0, 0.0),
        Number("voltage_limit", "V", "of the drive", None, 0.0, above=True),
        Number("current_limit", "A", "of the drive", None, 0.0),
        Number("resistance_coefficient", "1/K", "of the winding; copper has 0.00393", 0.00393, 0.0),
        Number("winding_heat_capacity", "J/K", "", 10.0, 0.0, above=True),
        Number("winding_to_case", "K/W", "thermal resistance", 1.0, 0.0, above=True),
        Number("case_heat_capacity", "J/K", "", 100.0, 0.0, above=True),
        Number("case_to_ambient", "K/W", "thermal resistance", 5.0, 0.0, above=True),
        Number("ambient_temperature", "degC", "of the surroundings", 25.0, -273.15),
        Number("derate_from", "degC", "of the winding, from which the current limit falls", 1e9, -273.15),
        Number("cut_off", "degC", "of the winding, where nothing is left of it", 2e9, -273.15),
        Number("pole_pairs", "", "of a brushless motor: the voltage across its inductance at speed; 0: not regarded", 0.0, 0.0),
    ), (EFFORT, Reading("current", "A", "at the end of the step"), Reading("voltage", "V", "mean over the step"),
        Reading("temperature", "degC", "of the winding"), Reading("case_temperature", "degC", "of the case"),
        Reading("electrical_power", "W", "from the drive, mean over the step"), Reading("power", "W", "what the joint received"),
        Reading("heat", "W", "of winding and gear"), Reading("stored_power", "W", "what rotor and inductance took up")),
        memory=6, start=((3, "ambient_temperature"), (4, "ambient_temperature")), commands=("position", "velocity", "effort", "voltage"),
        equation="inductance di/dt = U - R i - torque_constant gear_ratio v, effort = efficiency^s gear_ratio (torque_constant i - "
                 "rotor_inertia gear_ratio vdot), R = resistance (1 + resistance_coefficient (T - 25)), winding_heat_capacity dT/dt = "
                 "R i^2 - (T - T_c) / winding_to_case, case_heat_capacity dT_c/dt = (T - T_c) / winding_to_case - "
                 "(T_c - ambient_temperature) / case_to_ambient; s: 1 driving, -1 driven"),
)

IMPEDANCE = DeviceKind("impedance", 3, "servo whose stiffness and damping are commands", (
    Number("kp", "joint stiffness", "stiffness that is not commanded", 0.0, 0.0),
    Number("kd", "joint damping", "damping that is not commanded", 0.0, 0.0),
    EFFORT_LIMIT,
), RIGID[1].readings, memory=8, commands=("position", "velocity", "effort", "stiffness", "damping"),
    takes=("position", "velocity", "effort"), equation="effort = stiffness (r - q) + damping (rdot - v) + feed-forward; "
    "|effort| <= effort_limit")

BRAKE = DeviceKind("brake", 4, "holds a joint still, or lets it slip under an effort", (
    Number("holding_effort", "joint effort", "most that it holds", None, 0.0, 1e9, above=True),
    Number("slip_effort", "joint effort", "while it slips; by default the holding effort", inf, 0.0, above=True),
    Number("engage_delay", "s", "from a command to its effect", 0.0, 0.0, 100.0),
    Number("release_delay", "s", "from a command to its effect", 0.0, 0.0, 100.0),
    Number("engaged", "", "1: holds where nothing is commanded, as brakes closed by a spring", 1.0, 0.0, 1.0, whole=True),
), (EFFORT, POWER, Reading("heat", "W", "of friction, mean over the step"), Reading("engaged", "", "1 where it is"),
    Reading("holding", "", "1 where the joint stands still by it")), memory=8, commands=("brake",), takes=(), drives=False,
    equation="holds: v = 0 while |effort| <= holding_effort; slips: effort = -slip_effort sign(v)")

LIMITS = DeviceKind("limits", 5, "limits of commands, before the actuators of a joint", (
    Number("lower", "joint position", "least position; by default the joint's", -inf),
    Number("upper", "joint position", "largest position; by default the joint's", inf),
    Number("velocity", "joint velocity", "largest velocity; by default the joint's", inf, 0.0),
    Number("effort", "joint effort", "largest effort; by default the joint's", inf, 0.0),
    Number("position_rate", "joint velocity", "by how much a position changes in a second", inf, 0.0, above=True),
    Number("velocity_rate", "joint acceleration", "by how much a velocity changes in a second", inf, 0.0, above=True),
    Number("effort_rate", "joint effort/s", "by how much an effort changes in a second", inf, 0.0, above=True),
    Number("margin", "joint position", "between the ends and the soft limits", 0.0, 0.0),
    Number("k_position", "1/s", "velocity bound per distance to a soft limit; 0: none", 0.0, 0.0),
    Number("k_velocity", "joint damping", "effort bound per distance to a velocity bound; 0: none", 0.0, 0.0),
), (Reading("position", "joint position", "what is left of the command"),
    Reading("velocity", "joint velocity", "what is left of the command"),
    Reading("effort", "joint effort", "what is left of the command")), memory=8, takes=(), drives=False,
    equation="lower + margin <= r <= upper - margin, k_position (lower + margin - q) <= rdot <= k_position (upper - margin - q), "
             "|rdot| <= velocity, k_velocity (least rdot - v) <= command <= k_velocity (most rdot - v), |command| <= effort")

SPRING = (
    Number("stiffness", "joint stiffness", "of the spring between drive and joint, or of the gear's teeth", None, 0.0, above=True),
    Number("damping", "joint damping", "beside the spring", 0.0, 0.0),
    Number("backlash", "joint position", "the whole gap", 0.0, 0.0),
    Number("motor_inertia", "joint inertia", "of the drive, behind its gear", 0.0, 0.0),
    Number("motor_damping", "joint damping", "of the drive's bearings", 0.0, 0.0),
)
ELASTIC_MEMORY = 5


def elastic(number: int, drive: DeviceKind, doc: str) -> DeviceKind:
    """A drive behind the spring of elastic.pxd. Its own readings of effort, power, heat and store are those of the motor_...."""
    readings = (EFFORT, POWER, Reading("deflection", "joint position", "of drive and joint, at the end of the step"),
                Reading("motor_position", "joint position", "of the drive, behind its gear"),
                Reading("motor_velocity", "joint velocity", "of it"),
                Reading("heat", "W", "of all parts"), Reading("stored_power", "W", "what inertias, spring and inductance took up"))
    own = tuple(replace(r, name=f"motor_{r.name}") if r.name in ("effort", "power", "heat", "stored_power") else r for r in drive.readings)
    return DeviceKind(f"elastic_{drive.name}", number, doc, SPRING + drive.numbers, readings + own, memory=ELASTIC_MEMORY + drive.memory,
                      start=tuple((ELASTIC_MEMORY + at, name) for at, name in drive.start), takes=drive.takes, commands=drive.commands,
                      equation="effort = stiffness (theta - q - side backlash / 2) + damping (w - v), side: -1, 0 or 1; "
                               "motor_inertia dw/dt = motor_effort - motor_damping w - effort")


EFFORT_CURVE = DeviceKind("effort_curve", 6, "effort as commanded, with a lag and a torque-speed curve", (
    *RIGID[0].numbers[:2],
    CURVE,
), RIGID[0].readings, memory=6, equation="time_constant dy/dt = command - y, |effort| <= effort_limit; driving: "
    "|effort| <= torque_speed_curve(|v|)")

ROWS = (*RIGID, IMPEDANCE, BRAKE, LIMITS, EFFORT_CURVE, elastic(7, RIGID[1], "servo behind a spring, with backlash: series elastic"),
        elastic(8, RIGID[2], "motor behind a spring, with backlash"))

BY_NAME = {row.name: row for row in ROWS}
