"""The sensors: one row per kind. Classes, bench files, documentation and tests iterate this table.

The mathematics of a kind is in the .pxd file of its name; the numbers here must be those of the enum in dispatch.pxd, the order of its
numbers and readings those of the file.
"""
from __future__ import annotations

from math import inf, pi

from mbros_core.devices.rows import DeviceKind, Number, Reading


def noise(prefix: str, unit: str, density: str) -> tuple[Number, ...]:
    """The numbers of noise.pxd."""
    return (Number(f"{prefix}noise_density", density, "of the white noise", 0.0, 0.0),
            Number(f"{prefix}bias_instability", unit, "the flat part of the Allan deviation is 0.664 of it", 0.0, 0.0),
            Number(f"{prefix}correlation_time", "s", "of that bias", 100.0, 0.0, above=True),
            Number(f"{prefix}random_walk", f"{unit}/sqrt(s)", "of another bias", 0.0, 0.0),
            Number(f"{prefix}bias", unit, "constant", 0.0),
            Number(f"{prefix}range", unit, "where the reading ends, both ways", inf, 0.0, above=True))


ONE = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
RATE = Number("rate", "Hz", "of its samples; by default every step", inf, 0.0, above=True)
LATENCY = Number("latency", "s", "from a sample to its reading", 0.0, 0.0, 100.0)

ROWS = (
    DeviceKind("encoder", 0, "position and velocity of a joint in whole counts", (
        Number("counts", "1", "per range; 0: as fine as numbers are", 0.0, 0.0),
        Number("range", "joint position", "one turn, or the length of a period", 2.0 * pi, 0.0, above=True),
        Number("offset", "joint position", "of the joint where it reads zero", 0.0),
        Number("incremental", "", "1: counts from where the joint was when it was switched on", 0.0, 0.0, 1.0),
        Number("bandwidth", "rad/s", "of the observer of the velocity; 0: by difference", 0.0, 0.0),
    ), (Reading("position", "joint position", "of whole counts"), Reading("velocity", "joint velocity", "by difference or observer"),
        Reading("index", "", "1 in a sample in which the index was passed")), memory=7),
    DeviceKind("torque", 1, "effort in a joint", (
        Number("scale", "1", "reading per effort", 1.0), *noise("", "joint effort", "joint effort/sqrt(Hz)"),
    ), (Reading("effort", "joint effort", "of the last step"),), memory=3),
    DeviceKind("imu", 2, "angular velocity, and acceleration less gravity, of a frame", (
        Number("gyro_matrix", "1", "scale on its diagonal, misalignment beside it, row-major", ONE, size=9),
        *noise("gyro_", "rad/s", "rad/s/sqrt(Hz)"),
        Number("accel_matrix", "1", "scale on its diagonal, misalignment beside it, row-major", ONE, size=9),
        *noise("accel_", "m/s^2", "m/s^2/sqrt(Hz)"),
    ), (Reading("angular_velocity", "rad/s", "along the axes of the frame", 3),
        Reading("linear_acceleration", "m/s^2", "less gravity, along the axes of the frame", 3)), memory=13),
)

BY_NAME = {row.name: row for row in ROWS}
