"""Covariances of a sensor's message that it is not given: those that follow from its own noise.

White noise of density N, sampled at a rate f, has the variance N^2 f; a bias wanders by its instability B, and N^2 f + B^2 stands on the
diagonal. Whole counts of d rad are off by d^2 / 12, of both wheels alike. Random walks grow without bound, and are not in them.
"""
from __future__ import annotations

from math import pi
from typing import Any

import numpy as np

UNKNOWN = 1e6           # variance of what is not measured


def covariances(sensor: Any, dt: float) -> dict[str, np.ndarray]:
    """{number: its values} of a sensor (mbros.describe.devices) in steps of dt; none of those whose messages have no covariance."""
    rate = min(sensor.rate, 1.0 / dt)
    if sensor.row.name == "imu":
        return {"static_covariance_orientation": np.diag(sensor.values["orientation_noise"]**2).ravel(),
                "static_covariance_angular_velocity": (_of_noise(sensor.values, "gyro_", rate) * np.eye(3)).ravel(),
                "static_covariance_linear_acceleration": (_of_noise(sensor.values, "accel_", rate) * np.eye(3)).ravel()}
    if sensor.row.name == "odometry":
        return _of_counts(sensor.values, rate)
    if sensor.row.name == "pose":
        return {"pose_covariance_diagonal": np.zeros(6), "twist_covariance_diagonal": np.zeros(6)}
    return {}


def _of_noise(values: dict[str, np.ndarray], prefix: str, rate: float) -> float:
    density, instability = (float(values[prefix + name][0]) for name in ("noise_density", "bias_instability"))
    return density**2 * rate + instability**2


def _of_counts(values: dict[str, np.ndarray], rate: float) -> dict[str, np.ndarray]:
    """Of wheel odometry: of way and heading, from the mean and the difference of two wheels; a velocity has two samples in it."""
    radius, separation, counts = (float(values[name][0]) for name in ("radius", "separation", "counts"))
    of_wheel = (radius * 2.0 * pi / counts)**2 / 12.0 if counts > 0.0 else 0.0          # m^2
    way, heading = of_wheel / 2.0, 2.0 * of_wheel / separation**2
    return {"pose_covariance_diagonal": np.array([way, way, UNKNOWN, UNKNOWN, UNKNOWN, heading]),
            "twist_covariance_diagonal": np.array([2.0 * way * rate**2, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, 2.0 * heading * rate**2])}
