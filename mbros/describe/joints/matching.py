"""The configuration of a joint whose X_FM(q) is nearest to a given pose.

Nearest: least of  1/2 |R_FM(q) - R|^2 + 1/2 |p_FM(q) - p|^2  (Frobenius norm; lengths in m, so 1 m counts as a rotation's
unit). Where the joint can reach the pose, that pose is the answer. Quaternions and roll-pitch-yaw are read off; every other kind
is found by Newton's method on the joint's own H and bias, from several starts, because turning has more than one minimum.
"""
from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from mbros_core.errors import NonFiniteError

from mbros.spatial.placement import rpy_from_rotation
from mbros.spatial.vectors import Pose

if TYPE_CHECKING:
    from mbros_core.typing import Array

TURN = 2.0 * np.pi / 3.0            # three starts per turning coordinate
LONGEST_TURN = 1.5                  # rad in one step
TURNS = range(-4, 5)                # of coordinates that turn and slide at once (screws), about where the sliding fits


def best_match(kinematics: Any, R: Array, p: Array) -> np.ndarray:
    """q (nq,) of the least distance to (R (3, 3), p (3,)), both in F."""
    group = kinematics.row.group
    if group in ("SO(3)", "SE(3)"):
        quat = Pose._made(R, p).quat_wxyz
        return quat if group == "SO(3)" else np.concatenate([p, quat])
    if group in ("SO(3) as rpy", "SE(3) as rpy"):
        rpy = rpy_from_rotation(R)
        return rpy if group == "SO(3) as rpy" else np.concatenate([rpy, p])
    if kinematics.nv == 0:
        return np.zeros(0)
    with np.errstate(all="ignore"):                     # a user's law may end somewhere: see _distance
        found = [_descend(kinematics, R, p, q) for q in _starts(kinematics, p)]
    least = min(value for value, _ in found)
    good = [q for value, q in found if value <= least + 1e-9 * (1.0 + least)]
    return min(good, key=lambda q: float(np.linalg.norm(q - kinematics.neutral)))


def _starts(kinematics: Any, p: Array) -> Iterator[Array]:
    turning, H = kinematics.subspace(kinematics.neutral)[:3].any(axis=0), kinematics.subspace(kinematics.neutral)[3:]
    if kinematics.law is not None:                        # it may move anyhow: neighbours of neutral too
        yield from (kinematics.model.integrate(kinematics.neutral, dv) for dv in (*np.eye(kinematics.nv), *-np.eye(kinematics.nv)))
    choices = []
    for i, turns in enumerate(turning):
        if turns and not H[:, i].any():
            choices.append([0.0, TURN, -TURN])
        else:
            middle = float(H[:, i] @ p) / max(float(H[:, i] @ H[:, i]), 1e-12)
            choices.append([middle + k * TURN for k in TURNS] if turns else [middle])
    for dv in product(*choices):
        yield kinematics.model.integrate(kinematics.neutral, np.array(dv))


def _descend(kinematics: Any, R: Array, p: Array, q: Array, most: int = 100) -> tuple[float, Array]:
    """(value, q): Newton with |eigenvalues| and halved steps."""
    value = _distance(kinematics, R, p, q)
    for _ in range(most if np.isfinite(value) else 0):
        gradient, hessian, H = _slopes(kinematics, R, p, q)
        w, V = np.linalg.eigh(hessian)
        step = -V @ ((V.T @ gradient) / np.maximum(np.abs(w), 1e-9 * max(1.0, np.abs(w).max())))
        step /= max(1.0, float(np.linalg.norm(H[:3] @ step)) / LONGEST_TURN)
        if np.linalg.norm(step) < 1e-15 * (1.0 + np.linalg.norm(q)):
            break
        for _ in range(30):
            trial = kinematics.model.integrate(q, step)
            there = _distance(kinematics, R, p, trial)
            if there <= value:
                break
            step = 0.5 * step
        else:
            break
        closed = value - there <= 1e-16 * value and np.linalg.norm(step) < 1e-13 * (1.0 + np.linalg.norm(q))
        value, q = there, trial
        if closed:
            break
    return value, q


def _distance(kinematics: Any, R: Array, p: Array, q: Array) -> float:
    """inf where a user's law is not defined."""
    try:
        Rq, pq = kinematics.pose(q)
    except NonFiniteError:
        return np.inf
    return 0.5 * float(((Rq - R) ** 2).sum()) + 0.5 * float(((pq - p) ** 2).sum())


def _slopes(kinematics: Any, R: Array, p: Array, q: Array) -> tuple[Array, Array, Array]:
    """Gradient and Hessian of _distance, and H, in the joint's velocity coordinates.

    With M = R_q R^T and m = (M32 - M23, M13 - M31, M21 - M12):  g = Hw^T m + Hv^T (p_q - p),
    second derivative along v:  w . (tr(M) - M) w + |Hv v|^2 + (Hdot v) . [m; p_q - p].
    """
    Rq, pq = kinematics.pose(q)
    H = kinematics.subspace(q)
    M, e = Rq @ R.T, pq - p
    m = np.array([M[2, 1] - M[1, 2], M[0, 2] - M[2, 0], M[1, 0] - M[0, 1]])
    pull = np.concatenate([m, e])
    K = np.trace(M) * np.eye(3) - 0.5 * (M + M.T)
    hessian = H[:3].T @ K @ H[:3] + H[3:].T @ H[3:]
    n = kinematics.nv
    unit = np.eye(n)
    own = [pull @ kinematics.bias(q, unit[i]) for i in range(n)]
    for i in range(n):
        hessian[i, i] += own[i]
        for j in range(i):
            both = 0.5 * (pull @ kinematics.bias(q, unit[i] + unit[j]) - own[i] - own[j])
            hessian[i, j] += both
            hessian[j, i] += both
    return H.T @ pull, hessian, H
