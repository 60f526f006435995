"""Exponential and logarithm of SO(3) and SE(3), as users call them: SO3.exp(w), SO3.log(R), SE3.exp(xi), SE3.log(X).

Twists are xi = [w; v], angular part first (Pinocchio and Lynch's textbook have one each way round: Pinocchio's exp6 takes [v; w]). A
twist is seen from the moving frame, so a frame at X that moves for unit time with the constant body twist xi comes to X @ exp(xi), and
X_AB = exp(xi) has the twist V_AB = xi all the way.

Accuracy: a few units in the last place of the result at every angle, 0 and pi included: rotations go through quaternions, whose logarithm
is an atan2, and coefficients through series where their formulas cancel. At an angle of pi exactly two rotation vectors are right, and
log gives one of them.
"""
from __future__ import annotations

from typing import Any

import numpy as np
from mbros_core.engine._small import ROTATION_TOLERANCE

from mbros.arguments import counted, finite, reals
from mbros.errors import MbrosError
from mbros.spatial import lie
from mbros.spatial.given import are_rotations, off_rotation
from mbros.spatial.vectors import Pose


def so3_exp(w: Any) -> np.ndarray:
    """The rotation matrix R (..., 3, 3) = exp([w]) of the rotation vector w (..., 3), rad: a turn by |w| about w / |w|."""
    return lie.matrix(lie.exp(_rows("SO3.exp", "w", w, 3)))


def so3_log(R: Any) -> np.ndarray:
    """The rotation vector w (..., 3), rad, with exp(w) = R and |w| <= pi, of rotation matrices R (..., 3, 3).

    MbrosError where R is no rotation to 1e-9.
    """
    return lie.log(lie.from_matrix(_rotations("SO3.log", R)))


def se3_exp(xi: Any) -> Pose | np.ndarray:
    """X = exp(xi) of the twist xi = [w; v] (6,), rad and m: a Pose. Of twists (..., 6): homogeneous matrices (..., 4, 4).

    R = exp(w), p = V(w) v with V(w) = 1 + (1 - cos a) / a^2 [w] + (a - sin a) / a^3 [w]^2, a = |w|: a screw motion.
    """
    xi = _rows("SE3.exp", "xi", xi, 6)
    w, v = xi[..., :3], xi[..., 3:]
    R, p = lie.matrix(lie.exp(w)), lie.se3_translation(w, v)
    finite("SE3.exp", "translation of exp(xi)", p)
    if xi.ndim == 1:
        return Pose._made(R, p)
    X = np.zeros((*xi.shape[:-1], 4, 4))
    X[..., :3, :3], X[..., :3, 3], X[..., 3, 3] = R, p, 1.0
    return X


def se3_log(X: Any) -> np.ndarray:
    """The twist xi = [w; v] (..., 6), rad and m, with exp(xi) = X and |w| <= pi, of a Pose or of homogeneous matrices (..., 4, 4).

    MbrosError where the rotation is none to 1e-9, or the last row is not 0 0 0 1.
    """
    X = X.matrix if isinstance(X, Pose) else reals("SE3.log", "X", X, "a Pose or homogeneous matrices (..., 4, 4)")
    if X.shape[-2:] != (4, 4) or (np.abs(X[..., 3, :] - (0.0, 0.0, 0.0, 1.0)) > 1e-9).any():
        raise MbrosError(f"SE3.log: X: expected a Pose or matrices (..., 4, 4) with the last row 0 0 0 1, got shape {X.shape}"
                         + (f" with {X[..., 3, :].tolist()!r:.80}" if X.shape[-2:] == (4, 4) else ""))
    w = lie.log(lie.from_matrix(_rotations("SE3.log", X[..., :3, :3])))
    v = lie.se3_translation_inverse(w, finite("SE3.log", "X", X[..., :3, 3]))
    return np.concatenate([w, finite("SE3.log", "linear part of log(X)", v)], -1)


def _rows(who: str, what: str, given: Any, n: int) -> np.ndarray:
    x = reals(who, what, given, f"{counted(n)} in the last axis")
    if x.ndim == 0 or x.shape[-1] != n:
        raise MbrosError(f"{who}: {what}: expected {counted(n)} in the last axis, got shape {x.shape}")
    return finite(who, what, x)


def _rotations(who: str, given: Any) -> np.ndarray:
    R = reals(who, "R", given, "rotation matrices (..., 3, 3)")
    if R.shape[-2:] != (3, 3):
        raise MbrosError(f"{who}: R: expected rotation matrices (..., 3, 3), got shape {R.shape}")
    finite(who, "R", R)
    bad = np.argwhere(~are_rotations(R))
    if len(bad):
        at = tuple(int(k) for k in bad[0])
        raise MbrosError(f"{who}: R{list(at) if at else ''} is no rotation matrix: {off_rotation(R[at])}; expected orthogonal unit "
                         f"columns, right-handed, to {ROTATION_TOLERANCE:g}")
    return R
