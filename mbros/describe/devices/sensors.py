"""More sensors that users write: wrenches, contact switches, odometry, true poses. Their numbers are rows of
mbros_core.plant.sensors.registry, and a table in docs/bench.md."""
from __future__ import annotations

from typing import Any

from mbros_core.plant.sensors.registry import BY_NAME as SENSORS

from mbros.arguments import refuse
from mbros.describe.devices.classes import Encoder, Imu, Sensor, TorqueSensor
from mbros.describe.devices.device import name_of


class ForceTorque(Sensor):
    """Wrench that a joint exerts on the body beyond it, about the origin of a frame there and along its axes: of `joint`, of any kind, a
    weld too, by default the moving one that carries `frame`; `frame` is by default the body's own. With cross-talk (matrix, 6 by 6, of
    force and torque), a lag (time_constant) or a resonance, and the noise of an Allan deviation plot."""

    row, type = SENSORS["force_torque"], "force_torque"

    def __init__(self, name: str, *, frame: Any = None, joint: Any = None, **numbers: Any) -> None:
        super().__init__(name, **numbers)
        if frame is None and joint is None:
            refuse(self._label, "it has neither frame nor joint", "Give a frame, a joint, or a joint and a frame on the body beyond it.")
        self.frame = None if frame is None else name_of(self._label, "frame", frame, "a frame or body")
        self.load = None if joint is None else name_of(self._label, "joint", joint, "a joint")


class ContactSwitch(Sensor):
    """Closed while contacts press on a shape, or on all shapes of a body, with more than `threshold` (N); opens at `release`."""

    row, type = SENSORS["contact_switch"], "contact_switch"

    def __init__(self, name: str, *, body: Any = None, shape: Any = None, **numbers: Any) -> None:
        super().__init__(name, **numbers)
        if (body is None) == (shape is None):
            refuse(self._label, "it has neither a body nor a shape" if body is None else "it has a body and a shape", "Give one of them.")
        self.body = None if body is None else name_of(self._label, "body", body, "a body")
        self.shape = None if shape is None else name_of(self._label, "shape", shape, "a shape")


class WheelOdometry(Sensor):
    """Pose and velocity of a base from the counts of a left and a right wheel, as it believes in its radius and separation (m)."""

    row, type = SENSORS["odometry"], "wheel_odometry"

    def __init__(self, name: str, *, left: Any, right: Any, radius: float, separation: float, **numbers: Any) -> None:
        super().__init__(name, radius=radius, separation=separation, **numbers)
        if self.values["radius"][0] == 0.0:
            refuse(self._label, "radius is 0", "Give the radius of the wheels.")
        self.left = name_of(self._label, "left", left, "the joint of the left wheel")
        self.right = name_of(self._label, "right", right, "the joint of the right wheel")


class GroundTruthPose(Sensor):
    """True pose of a frame in the world, and its velocities along its own axes."""

    row, type = SENSORS["pose"], "ground_truth_pose"

    def __init__(self, name: str, *, frame: Any, **numbers: Any) -> None:
        super().__init__(name, **numbers)
        self.frame = name_of(self._label, "frame", frame, "a frame or body")


SENSOR_CLASSES = (Encoder, TorqueSensor, Imu, ForceTorque, ContactSwitch, WheelOdometry, GroundTruthPose)
