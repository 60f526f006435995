"""What a bushing measures: its angles, its half-way frame and its displacement, which the engine computes and does not hand out.

Plain NumPy, for users and tests; simulation never runs it.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mbros.spatial.placement import rotation_from_quat_wxyz
from mbros.spatial.vectors import Pose

if TYPE_CHECKING:
    from mbros_core.engine._engine import State
    from mbros_core.typing import Array


@dataclass(frozen=True, eq=False)
class BushingMeasure:
    """What a bushing measures, and what it exerts, in one state. Frame B is half-way between A and C.

    angles q (3,): roll, pitch, yaw of C in A, rad; of the quaternion law, twice the vector part of the quaternion. angle_rates
    qdot (3,): rad/s. gimbal_torques tau (3,): N m, one scalar per angle, not a vector. torque (3,): t = N^T tau on C, in A axes, N m.
    X_AB: pose of B in A. displacement [x y z] (3,): p_AoCo in B, m. displacement_rate (3,): its derivative in B as the law has it, m/s.
    force (3,): on C through Bo, in B, N.
    """

    angles: np.ndarray
    angle_rates: np.ndarray
    gimbal_torques: np.ndarray
    torque: np.ndarray
    X_AB: Pose
    displacement: np.ndarray
    displacement_rate: np.ndarray
    force: np.ndarray


def measure(part: Any, state: State) -> BushingMeasure:
    """Of a bushing of a model."""
    part.potential_energy(state)                         # raises at gimbal lock
    R, p, w, v = relative_motion(part, state)
    k, d, kx, dx = (part.get(state, name) for name in ("torque_stiffness", "torque_damping", "force_stiffness", "force_damping"))
    q, N = (quaternion_angles if part.law == "quaternion" else rpy_angles)(R)
    qdot = N @ w
    tau = -(k * q + d * qdot)
    R_AB = half_rotation(R)
    w_AB = 0.5 * w if part.law == "drake" else np.linalg.solve(np.eye(3) + R_AB, w)
    x, xdot = R_AB.T @ p, R_AB.T @ (v - np.cross(w_AB, p))
    return BushingMeasure(q, qdot, tau, N.T @ tau, Pose._made(R_AB, 0.5 * p, "B", part.frame_a.name), x, xdot, -(kx * x + dx * xdot))


def relative_motion(part: Any, state: State) -> tuple[Array, Array, Array, Array]:
    """R_AC, p_AoCo, w_AC, v_ACo of a pair element's frames, all in A axes."""
    model = part.model
    X = model.pose(state, part.frame_c, part.frame_a)
    X_WA, V_A, V_C = model.pose(state, part.frame_a), model.velocity(state, part.frame_a), model.velocity(state, part.frame_c)
    p_W = X_WA.R @ X.p
    w = V_C.angular - V_A.angular
    v = V_C.linear - V_A.linear - np.cross(V_A.angular, p_W)
    return X.R, X.p, X_WA.R.T @ w, X_WA.R.T @ v


def rpy_angles(R: Array) -> tuple[Array, Array]:
    """(roll, pitch, yaw), N."""
    q = np.array([np.arctan2(R[2, 1], R[2, 2]), np.arctan2(-R[2, 0], np.hypot(R[0, 0], R[1, 0])), np.arctan2(R[1, 0], R[0, 0])])
    return q, rates_matrix(q)


def quaternion_angles(R: Array) -> tuple[Array, Array]:
    """(q, N) of q = 2 eps: qdot = eta w - eps x w."""
    eta, x, y, z = Pose._made(R, np.zeros(3)).quat_wxyz
    return 2.0 * np.array([x, y, z]), np.array([[eta, z, -y], [-z, eta, x], [y, -x, eta]])


def rates_matrix(q: Array) -> np.ndarray:
    """N(q) (3, 3): rates of roll, pitch, yaw = N w_AC, w in A axes."""
    (s1, s2), (c1, c2) = np.sin(q[1:]), np.cos(q[1:])
    return np.array([[c2 / c1, s2 / c1, 0.0], [-s2, c2, 0.0], [c2 * s1 / c1, s2 * s1 / c1, 1.0]])


def half_rotation(R: Array) -> np.ndarray:
    """The rotation about the axis of R by half its angle."""
    w, *xyz = Pose._made(R, np.zeros(3)).quat_wxyz
    return rotation_from_quat_wxyz(np.array([1.0 + w, *xyz]))
