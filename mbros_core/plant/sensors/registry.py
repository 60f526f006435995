"""The sensors: one row per kind. Classes, bench files, documentation and tests iterate this table.

The mathematics of a kind is in the .pxd file of its name; the numbers here must be those of the enum in dispatch.pxd, the order of its
numbers and readings those of the file.
"""
from __future__ import annotations

from math import inf, pi

from mbros_core.plant.rows import DeviceKind, Number, Reading


def noise(prefix: str, unit: str, density: str) -> tuple[Number, ...]:
    """The numbers of noise.pxd."""
    return (Number(f"{prefix}noise_density", density, "of the white noise", 0.0, 0.0),
            Number(f"{prefix}bias_instability", unit, "the flat part of the Allan deviation is 0.664 of it", 0.0, 0.0),
            Number(f"{prefix}correlation_time", "s", "of that bias", 100.0, 0.0, above=True),
            Number(f"{prefix}random_walk", f"{unit}/sqrt(s)", "of another bias", 0.0, 0.0),
            Number(f"{prefix}bias", unit, "constant", 0.0),
            Number(f"{prefix}range", unit, "where the reading ends, both ways", inf, 0.0, above=True))


def identity(n: int) -> tuple[float, ...]:
    """Row-major."""
    return tuple(1.0 if i == k else 0.0 for i in range(n) for k in range(n))


def covariance(of: str, unit: str) -> Number:
    """Of an Imu message; the word is that of ros2_control's imu_sensor_broadcaster."""
    return Number(f"static_covariance_{of}", unit, "of the message, row-major; by default what follows from the noise", (inf,) * 9, size=9)


def diagonals(pose: str = "", twist: str = "") -> tuple[Number, ...]:
    """Of an Odometry message; the words are those of diff_drive_controller."""
    text = "variances of the message, of x, y, z and about x, y, z; by default "
    return (Number("pose_covariance_diagonal", "m^2, rad^2", text + pose, (inf,) * 6, 0.0, size=6),
            Number("twist_covariance_diagonal", "(m/s)^2, (rad/s)^2", text + twist, (inf,) * 6, 0.0, size=6))


RATE = Number("rate", "Hz", "of its samples; by default every step", inf, 0.0, above=True)
LATENCY = Number("latency", "s", "from a sample to its reading", 0.0, 0.0, 100.0)

ROWS = (
    DeviceKind("encoder", 0, "position and velocity of a joint in whole counts", (
        Number("counts", "1", "per range; 0: as fine as numbers are", 0.0, 0.0, whole=True),
        Number("range", "joint position", "one turn, or the length of a period", 2.0 * pi, 0.0, above=True),
        Number("offset", "joint position", "of the joint where it reads zero", 0.0),
        Number("incremental", "", "1: counts from where the joint was when it was switched on", 0.0, 0.0, 1.0, whole=True),
        Number("bandwidth", "rad/s", "of the observer of the velocity; 0: by difference", 0.0, 0.0),
    ), (Reading("position", "joint position", "of whole counts"), Reading("velocity", "joint velocity", "by difference or observer"),
        Reading("index", "", "1 in a sample in which the index was passed")), memory=7,
        equation="position = floor((q - offset) counts / range) range / counts; velocity = change of position / T, or "
                 "x' = velocity + 2 bandwidth e, velocity' = bandwidth^2 e, e = position - x"),
    DeviceKind("torque", 1, "effort in a joint", (
        Number("scale", "1", "reading per effort", 1.0), *noise("", "joint effort", "joint effort/sqrt(Hz)"),
    ), (Reading("effort", "joint effort", "of the last step"),), memory=3, equation="effort = noise(scale tau)"),
    DeviceKind("imu", 2, "angular velocity, acceleration less gravity, and orientation, of a frame", (
        Number("gyro_matrix", "1", "scale on its diagonal, misalignment beside it, row-major", identity(3), size=9),
        *noise("gyro_", "rad/s", "rad/s/sqrt(Hz)"),
        Number("accel_matrix", "1", "scale on its diagonal, misalignment beside it, row-major", identity(3), size=9),
        *noise("accel_", "m/s^2", "m/s^2/sqrt(Hz)"),
        Number("orientation_noise", "rad", "standard deviation of a sample about the world's axes: two tilts, and the heading", (0.0,) * 3,
               0.0, size=3),
        Number("heading_random_walk", "rad/sqrt(s)", "by which the heading drifts", 0.0, 0.0),
        Number("static_covariance_orientation", "rad^2", "of the message, row-major; by default what follows from the noise; -1 and 8 "
               "zeros: it has no orientation", (inf,) * 9, size=9),
        covariance("angular_velocity", "(rad/s)^2"), covariance("linear_acceleration", "(m/s^2)^2"),
    ), (Reading("angular_velocity", "rad/s", "along the axes of the frame", 3),
        Reading("linear_acceleration", "m/s^2", "less gravity, along the axes of the frame", 3),
        Reading("orientation", "1", "quaternion x y z w in the world, without jumps of its sign", 4)), memory=18,
        equation="angular_velocity = noise(gyro_matrix R^T w), linear_acceleration = noise(accel_matrix R^T (a - g)), "
                 "orientation of exp(e) R, e = orientation_noise N(0, 1) + (0, 0, heading_random_walk W(t))"),
    DeviceKind("force_torque", 3, "wrench that a joint or a weld exerts on the body beyond it, at a frame there", (
        Number("matrix", "1, m, 1/m", "of force and torque: scale on its diagonal, cross-talk beside it, row-major", identity(6), size=36),
        *noise("force_", "N", "N/sqrt(Hz)"), *noise("torque_", "N m", "N m/sqrt(Hz)"),
        Number("time_constant", "s", "of the lag of first order; 0: none", 0.0, 0.0),
        Number("resonance", "Hz", "of the second order, without damping; 0: none", 0.0, 0.0, 1e9),
        Number("damping_ratio", "1", "of the resonance", 0.7, 0.0, 1e3),
        Number("noise", "N, N m", "standard deviation of each number of a sample, of the force and of the torque", (0.0,) * 6, 0.0, size=6),
    ), (Reading("force", "N", "along the axes of the frame", 3),
        Reading("torque", "N m", "about the origin of the frame, along its axes", 3)),
        memory=39, equation="(force, torque) = noise(matrix y), y = wrench, or time_constant dy/dt = wrench - y, or "
        "y'' + 2 damping_ratio w0 y' + w0^2 y = w0^2 wrench, w0 = 2 pi resonance"),
    DeviceKind("contact_switch", 4, "closed while contacts of a shape or body press on it", (
        Number("threshold", "N", "above which it closes", 0.0, 0.0),
        Number("release", "N", "to which the force falls before it opens; by default the threshold", inf, 0.0),
    ), (Reading("closed", "", "1 where it is"), Reading("force", "N", "of all its contacts along their normals")), memory=2,
        equation="closes: force > threshold; opens: force <= release"),
    DeviceKind("odometry", 5, "pose and velocity of a base from counts of two wheels", (
        Number("radius", "m", "of the wheels; negative: their joints turn the other way", None),
        Number("separation", "m", "of the wheels", None, 0.0, above=True),
        Number("counts", "1", "per turn of a wheel; 0: as fine as numbers are", 0.0, 0.0, whole=True),
        *diagonals("those of counts, and 1e6 where wheels say nothing", "those of counts, and 1e6 where wheels say nothing"),
    ), (Reading("position", "m", "x forwards and y to the left of where it was switched on", 2),
        Reading("yaw", "rad", "counted on, not wrapped"),
        Reading("velocity", "m/s", "forwards"), Reading("yaw_rate", "rad/s", "to the left")), memory=7,
        equation="ds = radius (dl + dr) / 2, dyaw = radius (dr - dl) / separation, position along the arc of both"),
    DeviceKind("pose", 6, "true pose and velocity of a frame", diagonals("0", "0"), (
        Reading("position", "m", "of its origin in the world", 3),
        Reading("orientation", "1", "quaternion x y z w, without jumps of its sign", 4),
        Reading("linear_velocity", "m/s", "of its origin, along its axes", 3),
        Reading("angular_velocity", "rad/s", "along its axes", 3)), memory=5,
        equation="position = p_WF, orientation of R_WF, linear_velocity = R_WF^T v_WF, angular_velocity = R_WF^T w_WF"),
)

BY_NAME = {row.name: row for row in ROWS}
