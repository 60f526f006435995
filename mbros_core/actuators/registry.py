"""The actuators: one row per kind. Classes, bench files, documentation and tests iterate this table.

The mathematics of a kind is in the .pxd file of its name; the numbers here must be those of the enum in dispatch.pxd, the order of its
numbers and readings those of the file.
"""
from __future__ import annotations

from math import inf

from mbros_core.devices.rows import DeviceKind, Number, Reading

EFFORT_LIMIT = Number("effort_limit", "joint effort", "largest effort; by default the joint's own limit", inf, 0.0)
EFFORT = Reading("effort", "joint effort", "what acted on the joint, mean over the step")
POWER = Reading("power", "W", "what the joint received, mean over the step")

ROWS = (
    DeviceKind("effort", 0, "effort as commanded, with a lag and a torque-speed line", (
        EFFORT_LIMIT,
        Number("time_constant", "s", "of the lag of first order; 0: none", 0.0, 0.0),
        Number("stall_effort", "joint effort", "of the torque-speed line, at rest", 0.0, 0.0),
        Number("no_load_speed", "joint velocity", "of the torque-speed line, without effort; 0: no line", 0.0, 0.0),
    ), (EFFORT, POWER), memory=4),
    DeviceKind("servo", 1, "position, velocity and effort, implicit: stable with any gain", (
        Number("kp", "joint stiffness", "effort per position", 0.0, 0.0),
        Number("kd", "joint damping", "effort per velocity", 0.0, 0.0),
        Number("ki", "per second", "of the integral, of the position error or, of a velocity servo, of the velocity error", 0.0, 0.0),
        EFFORT_LIMIT,
        Number("of_velocity", "", "1 of a velocity servo", 0.0, 0.0, 1.0),
    ), (EFFORT, POWER, Reading("saturated", "", "1 or -1 at the upper or lower limit")), memory=5),
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
    ), (EFFORT, Reading("current", "A", "at the end of the step"), Reading("voltage", "V", "mean over the step"),
        Reading("temperature", "degC", "of the winding"), Reading("case_temperature", "degC", "of the case"),
        Reading("electrical_power", "W", "from the drive, mean over the step"), Reading("power", "W", "what the joint received"),
        Reading("heat", "W", "of winding and gear"), Reading("stored_power", "W", "what rotor and inductance took up")),
        memory=6, start=((3, "ambient_temperature"), (4, "ambient_temperature"))),
)

BY_NAME = {row.name: row for row in ROWS}
