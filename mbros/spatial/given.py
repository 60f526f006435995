"""Rotations, quaternions, axes and poses as users write them: checked, and refused with the element's name."""
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from mbros_core.engine._small import ROTATION_TOLERANCE, numbers as plain_numbers, rotation, rotation_of_quaternion, rotation_of_rpy
from mbros_core.support.numbers import floats, short

from mbros.arguments import numbers, refuse
from mbros.errors import MbrosError, UnknownArgumentError, warn
from mbros.spatial.placement import Placement, rotation_from_quat_wxyz, rotation_from_rpy

if TYPE_CHECKING:
    from mbros_core.typing import Array, BoolArray

AXIS_TOLERANCE = 1e-6       # how far from 1 the length of an axis may be (RevoluteMobilizer's rule)

BARE = ("orientation", "q", "rotation")     # words for a quaternion that do not say its order, as every one with "quat" in it


def rotation_matrix(element: object, R: Any) -> np.ndarray:
    """R (3, 3), checked to be a rotation."""
    plain = rotation(R)
    if plain is not None:
        return plain
    R = numbers(element, "R", R, (3, 3))
    check_rotation(element, R)
    return R


def check_rotation(element: object, R: Array) -> None:
    """ModelError unless these finite numbers (3, 3) are a rotation."""
    if not are_rotations(R):
        refuse(element, f"R {R.tolist()} is not a rotation matrix: {off_rotation(R)}",
               f"Its columns must be orthogonal unit vectors, right-handed, to {ROTATION_TOLERANCE:g}.")


def are_rotations(R: Array) -> BoolArray:
    """Which of (..., 3, 3) are rotation matrices, (...,)."""
    with np.errstate(over="ignore", invalid="ignore"):
        off = np.abs(R @ np.swapaxes(R, -1, -2) - np.eye(3)).max((-1, -2))
        return np.asarray((off <= ROTATION_TOLERANCE) & (np.linalg.det(R) > 0.0))


def off_rotation(R: Array) -> str:
    """How far finite numbers (3, 3) are from a rotation matrix."""
    if np.abs(R).max() > 1e100:         # squares and determinants beyond doubles
        return f"it has the number {R.flat[np.abs(R).argmax()]:.6g}"
    return f"R R^T is {np.abs(R @ R.T - np.eye(3)).max():.3g} away from the identity, and its determinant is {np.linalg.det(R):.6g}"


def quaternion(*unnamed: object, quat_wxyz: Any = None, quat_xyzw: Any = None, **others: object) -> np.ndarray:
    """The quaternion as (w, x, y, z) (..., 4), from an argument that names its order: quat_wxyz or quat_xyzw.

    Whatever takes a quaternion can take **quat and pass it here: a bare quaternion is refused, by whatever name it comes.
    """
    if unnamed or others:
        given = ", ".join(others) if others else "a bare quaternion"
        raise MbrosError(f"a quaternion must say its order: got {given}; write quat_wxyz=(w, x, y, z) (mbros, Drake, MuJoCo, HPP) "
                         "or quat_xyzw=(x, y, z, w) (ROS, Pinocchio)")
    if (quat_wxyz is None) == (quat_xyzw is None):
        raise MbrosError("a quaternion: expected one of quat_wxyz= and quat_xyzw=, got " + ("neither" if quat_wxyz is None else "both"))
    name, value = ("quat_wxyz", quat_wxyz) if quat_xyzw is None else ("quat_xyzw", quat_xyzw)
    quat = floats(value)
    if quat is None or quat.ndim == 0 or quat.shape[-1] != 4 or not np.isfinite(quat).all() or not quat.any(-1).all():
        raise MbrosError(f"{name}: expected 4 finite numbers that are not all zero, got {short(value)}")
    return quat.copy() if quat_xyzw is None else np.roll(quat, 1, -1)


def says_quaternion(word: str) -> bool:
    """Whether a keyword is meant to be a quaternion."""
    return "quat" in word or word in BARE


def named_quaternion(element: object, quat: Mapping[str, Any]) -> np.ndarray | None:
    """quat_wxyz (4,), of length 1 to 1e-6, from the keywords **quat of a call; None from none (or from None)."""
    for word in quat:
        if not says_quaternion(word):
            raise UnknownArgumentError(f"{element}: got an unexpected keyword argument {short(word)}; a rotation is given by quat_wxyz=, "
                                       "quat_xyzw= or rpy=")
    quat = {word: value for word, value in quat.items() if value is not None}
    if not quat:
        return None
    try:
        wxyz = quaternion(**quat)
    except MbrosError as error:
        refuse(element, str(error))
    return unit_quaternion(element, next(iter(quat)), wxyz)


def unit_quaternion(element: object, what: str, quat_wxyz: Any) -> np.ndarray:
    """quat_wxyz (4,), of length 1 to 1e-6, as given; `what`: the name it was given by."""
    quat = numbers(element, what, quat_wxyz, 4)
    if not abs(np.linalg.norm(quat) - 1.0) < 1e-6:
        w, given = ("last", np.roll(quat, -1)) if what == "quat_xyzw" else ("first", quat)
        refuse(element, f"{what} {given.tolist()} has length {np.linalg.norm(quat):.9g}", f"Give a unit quaternion, w {w}.")
    return quat


def pose_of(element: object, pose: Any) -> Placement:
    """X of a pose: a homogeneous (4, 4) matrix, or anything with .R and .p. There must be one."""
    if pose is None:
        refuse(element, "pose is None", "Give a (4, 4) matrix, or a Pose with .R and .p.")
    if hasattr(pose, "R") and hasattr(pose, "p"):
        return Placement(rotation_matrix(element, pose.R), numbers(element, "p", pose.p, 3))
    X = numbers(element, "pose", pose, (4, 4))
    if np.abs(X[3] - (0, 0, 0, 1)).max() > 1e-9:
        refuse(element, f"the last row of the pose is {X[3].tolist()}", "It must be 0 0 0 1.")
    return Placement(rotation_matrix(element, X[:3, :3]), X[:3, 3])


def pose_of_any_length(p: Any, quat_wxyz: Any) -> Placement | None:
    """X of a position and a quaternion w x y z that is about of length 1 (0.5 to 2), as others send them: brought to length 1. None where
    it is not, or a number is not finite."""
    p, quat = np.array(p, float), np.array(quat_wxyz, float)
    length = np.linalg.norm(quat)
    if not np.isfinite(p).all() or not 0.5 < length < 2.0:
        return None
    return Placement(rotation_from_quat_wxyz(quat / length), p)


def placement(element: object, p: Any = None, rpy: Any = None, R: Any = None, pose: Any = None, **quat: Any) -> Placement:
    """X from a position p and one kind of rotation (rpy, R, quat_wxyz or quat_xyzw), or from `pose`: see `pose_of`."""
    plain = None if pose is not None else plain_placement(p, rpy, R, **quat)
    return _placement(element, p, rpy, R, pose, quat) if plain is None else plain


def plain_placement(p: Any = None, rpy: Any = None, R: Any = None, quat_wxyz: Any = None, quat_xyzw: Any = None,
                     **others: Any) -> Placement | None:
    """The same of a position and one rotation in plain numbers (mbros_core.engine._small); None of what is to be looked at."""
    if others or (rpy is None) + (R is None) + (quat_wxyz is None) + (quat_xyzw is None) < 3:
        return None
    at = np.zeros(3) if p is None else plain_numbers(p, 3)
    if at is None:
        return None
    if quat_wxyz is not None:
        turned = rotation_of_quaternion(quat_wxyz, False)
    elif quat_xyzw is not None:
        turned = rotation_of_quaternion(quat_xyzw, True)
    elif rpy is not None:
        turned = rotation_of_rpy(rpy)
    elif R is not None:
        turned = rotation(R)
    else:
        return Placement(None, at)
    return None if turned is None else Placement(turned, at)


def _placement(element: object, p: Any, rpy: Any, R: Any, pose: Any, quat: dict[str, Any]) -> Placement:
    p = _old_name(element, p, quat)
    quat_wxyz = named_quaternion(element, quat)
    given = [x for x in (rpy, R, quat_wxyz) if x is not None]
    if pose is not None:
        if p is not None or given:
            refuse(element, "both a pose and parts of one were given", "Give either pose, or p with one rotation.")
        return pose_of(element, pose)
    if len(given) > 1:
        refuse(element, "more than one rotation was given", "Give one of rpy, quat_wxyz, quat_xyzw and R.")
    p = numbers(element, "p", (0, 0, 0) if p is None else p, 3)
    if rpy is not None:
        return Placement(rotation_from_rpy(numbers(element, "rpy", rpy, 3)), p)
    if quat_wxyz is not None:
        return Placement(rotation_from_quat_wxyz(quat_wxyz), p)
    return Placement(None if R is None else rotation_matrix(element, R), p)


def _old_name(element: object, p: Any, keywords: dict[str, Any]) -> Any:
    """p, also when it came by the name it had in 0.1: the position of a pose is p wherever it is given or read."""
    if "xyz" not in keywords:
        return p
    if p is not None:
        refuse(element, "both p and xyz were given", "Give p; xyz is what it was called in mbros 0.1.")
    warn(f"{element}: a position is given as p=, as it is read (pose.p); xyz= is its name in mbros 0.1, and goes with 0.3", FutureWarning)
    return keywords.pop("xyz")


def unit_axis(element: object, axis: Any, tolerance: float = AXIS_TOLERANCE, normalize: bool | None = False) -> np.ndarray:
    """`axis` with length 1 to the last place; exact along x, y and z. Its length must be 1 within `tolerance`, or with
    `normalize` anything but zero; None: its owner has no such choice."""
    axis = numbers(element, "axis", axis, 3)
    largest = np.abs(axis).max()
    if largest == 0.0:
        refuse(element, "axis is (0, 0, 0), which has no direction", "Give a non-zero vector such as (0, 0, 1).")
    exponent = int(np.frexp(largest)[1])
    unit = np.ldexp(axis, -exponent)            # so that neither tiny nor huge vectors lose digits in the norm
    length = float(np.ldexp(np.linalg.norm(unit), exponent))
    if not normalize and not abs(length - 1.0) <= tolerance:
        refuse(element, f"axis {axis.tolist()} has length {length:.9g}, expected 1 within {tolerance:g}",
               "Give a unit vector." if normalize is None else "Give a unit vector, or normalize_axis=True.")
    return _polished(unit / np.linalg.norm(unit)) + 0.0


def _polished(u: Array) -> Array:
    """Once more, where that brings |u| nearer to 1."""
    again = u / np.linalg.norm(u)
    return min((u, again), key=lambda x: abs(float(x @ x) - 1.0))
