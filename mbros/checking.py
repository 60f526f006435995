"""Checks of what users write, where they write it: numbers, rotations, axes. A refusal is a ModelError naming the element."""
from __future__ import annotations

import numpy as np

from mbros.errors import ModelError, Problem
from mbros.placement import Placement, rotation_from_quat_wxyz, rotation_from_rpy

AXIS_TOLERANCE = 1e-6       # how far from 1 the length of an axis may be (RevoluteMobilizer's rule)


def refuse(element, reason, remedy=""):
    raise ModelError(Problem(element, reason, remedy))


def numbers(element, what, value, size, finite=True, broadcast=False) -> np.ndarray:
    """`value` as a float64 array of shape (size,) or `size` (a tuple); NaN is always refused, inf if `finite`."""
    shape = size if isinstance(size, tuple) else (size,)
    try:
        given = np.asarray("None" if value is None else value, dtype=float)       # NumPy takes None for NaN
    except (TypeError, ValueError):
        refuse(element, f"{what} is {value!r}", f"Give {_count(shape)}.")
    if broadcast and given.ndim == 0:
        given = np.full(shape, float(given))
    if given.shape != shape:
        if given.size == 1 and shape == (1,):
            given = given.reshape(1)
        else:
            refuse(element, f"{what} has shape {given.shape}, expected {shape}", f"Give {_count(shape)}.")
    bad = ~np.isfinite(given) if finite else np.isnan(given)
    if bad.any():
        k = tuple(int(i[0]) for i in np.nonzero(bad))
        where = f"[{', '.join(map(str, k))}]" if given.size > 1 else ""
        refuse(element, f"{what}{where} is {given[k]:g}", "Give finite numbers." if finite else "NaN is not a limit.")
    return np.array(given)


def not_negative(element, what, values) -> np.ndarray:
    """`values`, none of them negative."""
    bad = np.flatnonzero(~(values >= 0.0))
    if bad.size:
        i = int(bad[0])
        where = f" of coordinate {i}" if len(values) > 1 else ""
        refuse(element, f"{what}{where} is {values[i]:g}", f"{what} must be zero or positive.")
    return values


def _count(shape) -> str:
    return "one number" if shape == (1,) else f"{shape[0]} numbers" if len(shape) == 1 else f"a {shape[0]} x {shape[1]} matrix"


def rotation_matrix(element, R) -> np.ndarray:
    """R (3, 3), checked to be a rotation."""
    R = numbers(element, "R", R, (3, 3))
    if np.abs(R @ R.T - np.eye(3)).max() > 1e-9 or np.linalg.det(R) < 0:
        refuse(element, f"R {R.tolist()} is not a rotation matrix",
               "Its columns must be orthogonal unit vectors, right-handed, to 1e-9.")
    return R


def unit_quaternion(element, what, quat_wxyz) -> np.ndarray:
    """quat_wxyz (4,), of length 1 to 1e-6, as given."""
    quat = numbers(element, what, quat_wxyz, 4)
    if not abs(np.linalg.norm(quat) - 1.0) < 1e-6:
        refuse(element, f"{what} {quat.tolist()} has length {np.linalg.norm(quat):.9g}", "Give a unit quaternion, w first.")
    return quat


def placement(element, xyz=None, rpy=None, quat_wxyz=None, R=None, pose=None) -> Placement:
    """X from a position and one kind of rotation, or from `pose`: a (4, 4) matrix or anything with .R and .p."""
    if pose is not None:
        if xyz is not None or rpy is not None or quat_wxyz is not None or R is not None:
            refuse(element, "both a pose and parts of one were given", "Give either pose, or xyz with one rotation.")
        if hasattr(pose, "R") and hasattr(pose, "p"):
            R, xyz = pose.R, pose.p
        else:
            X = numbers(element, "pose", pose, (4, 4))
            R, xyz = X[:3, :3], X[:3, 3]
    if sum(x is not None for x in (rpy, quat_wxyz, R)) > 1:
        refuse(element, "more than one rotation was given", "Give one of rpy, quat_wxyz and R.")
    p = numbers(element, "xyz", (0, 0, 0) if xyz is None else xyz, 3)
    if rpy is not None:
        return Placement(rotation_from_rpy(numbers(element, "rpy", rpy, 3)), p)
    if quat_wxyz is not None:
        return Placement(rotation_from_quat_wxyz(unit_quaternion(element, "quat_wxyz", quat_wxyz)), p)
    return Placement(None if R is None else rotation_matrix(element, R), p)


def unit_axis(element, axis, tolerance=AXIS_TOLERANCE, normalize=False) -> np.ndarray:
    """`axis` with length 1 to the last place; exact along x, y and z. Its length must be 1 within `tolerance`, or with
    `normalize` anything but zero."""
    axis = numbers(element, "axis", axis, 3)
    largest = np.abs(axis).max()
    if largest == 0.0:
        refuse(element, "axis is (0, 0, 0), which has no direction", "Give a non-zero vector such as (0, 0, 1).")
    exponent = int(np.frexp(largest)[1])
    unit = np.ldexp(axis, -exponent)            # so that neither tiny nor huge vectors lose digits in the norm
    length = float(np.ldexp(np.linalg.norm(unit), exponent))
    if not normalize and not abs(length - 1.0) <= tolerance:
        refuse(element, f"axis {axis.tolist()} has length {length:.9g}, expected 1 within {tolerance:g}",
               "Give a unit vector, or normalize_axis=True.")
    return _polished(unit / np.linalg.norm(unit)) + 0.0


def _polished(u):
    """Once more, where that brings |u| nearer to 1."""
    again = u / np.linalg.norm(u)
    return min((u, again), key=lambda x: abs(float(x @ x) - 1.0))
