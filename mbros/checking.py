"""Checks of what users write, where they write it: numbers, rotations, axes, states. A refusal is a MbrosError naming the
element; of what is part of a description, a ModelError.
"""
from __future__ import annotations

from math import isfinite
from os import PathLike

import mbros_core
import numpy as np
from mbros_core.errors import state_error
from mbros_core.numbers import floats, is_whole, short

from mbros.errors import MbrosError, ModelError, NonFiniteError, Problem, UnknownArgumentError, warn
from mbros.names import no_name
from mbros.placement import Placement, rotation_from_quat_wxyz, rotation_from_rpy

AXIS_TOLERANCE = 1e-6       # how far from 1 the length of an axis may be (RevoluteMobilizer's rule)
LENIENCE = ("check", "as_given")        # what is done about what is wrong, where a choice is given: refused, or taken with a warning
MOST = 2**40                # of anything that is counted
BARE = ("orientation", "q", "rotation")     # words for a quaternion that do not say its order, as every one with "quat" in it


def refuse(element, reason, remedy=""):
    raise ModelError(Problem(element, reason, remedy))


# --------------------------------------------------------------------------------------------------- numbers, states

def reals(who, what, value, expected="numbers") -> np.ndarray:
    """`value` as a float64 array of any shape, finite or not. MbrosError, beginning with `who`, for what is no number."""
    array = floats(value)
    if array is None:
        raise MbrosError(f"{who}: {what}: expected {expected}, got {short(value)}")
    return array


def finite(who, what, array, least=None, unit="") -> np.ndarray:
    """`array`, if every number of it is finite, and not below `least` where that is given. unit: for the message."""
    if least is None and array.size < 20 and all(map(isfinite, array.ravel().tolist())):
        return array                            # the same in a microsecond
    bad = np.argwhere(~np.isfinite(array) | (array < least if least is not None else False))
    if not len(bad):
        return array
    at = tuple(int(k) for k in bad[0])
    where = f"[{', '.join(map(str, at))}]" if at else ""
    need = "a finite number" + ("" if least is None else ", zero or more" if least == 0 else f", {least:g} or more")
    raise (MbrosError if np.isfinite(array[at]) else NonFiniteError)(
        f"{who}: {what}{where} is {array[at]:g}; expected {need}" + (f" ({unit})" if unit else ""))


def vector(who, what, value, n, least=None) -> np.ndarray:
    """`value` as (n,) finite numbers, none below `least`; for n = 1 also a bare number."""
    if least is None and type(value) is np.ndarray and value.dtype == np.float64 and value.shape == (n,):
        return finite(who, what, value)         # the same, for what most calls are
    expected = counted(n)
    array = np.atleast_1d(reals(who, what, value, expected))
    if array.shape != (n,):
        raise MbrosError(f"{who}: {what}: expected {expected}, got shape {np.shape(value)}")
    return finite(who, what, array, least)


def number(who, what, value, least=None) -> float:
    """`value` as one finite number, not below `least`."""
    array = reals(who, what, value, "1 number")
    if array.size != 1:
        raise MbrosError(f"{who}: {what}: expected 1 number, got shape {array.shape}")
    return float(finite(who, what, array.reshape(()), least))


def counted(n) -> str:
    """"1 number", "3 numbers"."""
    return f"{n} number{'s' * (n != 1)}"


def count(who, what, value, of="", least=0) -> int:
    """`value` as how many there are to be of something, `least` or more, and not so many that no memory could hold them."""
    if not is_whole(value) or not least <= value <= MOST:
        raise MbrosError(f"{who}: {what}: expected {of + ', ' if of else ''}a whole number, {least or 'zero'} or more, got {short(value)}")
    return int(value)


def folders(who, what, value) -> tuple:
    """`value` as a tuple of paths; one path alone is a list of it."""
    given = (value,) if isinstance(value, (str, PathLike)) else tuple(value) if isinstance(value, (list, tuple)) else (None,)
    if not all(isinstance(path, (str, PathLike)) for path in given):
        raise MbrosError(f"{who}: {what}: expected a list of folders, got {short(value)}")
    return given


def choice(who, what, value, allowed):
    """`value`, when it is one of the words `allowed`, or of True and False."""
    if not isinstance(value, (str, bool, np.bool_)) or value not in allowed:
        raise MbrosError(f"{who}: {what} is {short(value)}; expected {', '.join(map(repr, allowed[:-1]))} or {allowed[-1]!r}")
    return value


def generator(who, rng) -> np.random.Generator:
    """The random generator of `rng`: None, a seed, or a numpy.random.Generator."""
    try:
        if not isinstance(rng, (bool, np.bool_)):
            return np.random.default_rng(rng)
    except (TypeError, ValueError, OverflowError):
        pass
    raise MbrosError(f"{who}: rng: expected None, a seed (a whole number, zero or more) or a numpy.random.Generator, got {short(rng)}")


def check_model(who, model):
    """MbrosError unless `model` is a built model."""
    if not (hasattr(model, "joints") and hasattr(model, "nv")):
        raise MbrosError(f"{who}: expected a built model, got {short(model)}; mbros.load(...) and ModelBuilder.build() make one")


def time_step(who, dt, integrator) -> float:
    """dt, s, when it is a step of a simulation and `integrator` the name of one."""
    step = number(who, "dt", dt)
    if not 0.0 < step <= 10.0:
        raise MbrosError(f"{who}: dt is {step:g}; expected a step above 0 and up to 10 s")
    choice(who, "integrator", integrator, mbros_core.INTEGRATORS)
    return step


def check_state(who, model, state):
    """StateError (a TypeError) unless `state` is a State of this model; of any model, for None. BusyError while somebody has it."""
    owner = getattr(state, "model", None)
    if (model is None or owner is model) and isinstance(state, mbros_core.State):
        state.check_free()
        return
    raise state_error(who, model, state)


# ------------------------------------------------------------------------------------------- of parts of descriptions

def check_name(kind, name) -> None:
    """ModelError unless `name` can be the name of an element: one line of printable text, not empty and not endless."""
    wrong = no_name(name)
    if wrong is not None:
        refuse(kind, *wrong)


def numbers(element, what, value, size, finite=True, broadcast=False) -> np.ndarray:
    """`value` as a float64 array of shape (size,) or `size` (a tuple); NaN is always refused, inf if `finite`."""
    shape = size if isinstance(size, tuple) else (size,)
    given = floats(value)
    if given is None:
        refuse(element, f"{what} is {short(value)}", f"Give {_count(shape)}.")
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


def flag(element, what, value) -> bool:
    """True or False, and nothing that only looks like one."""
    if not isinstance(value, (bool, np.bool_)):
        refuse(element, f"{what} is {short(value)}", "Give True or False.")
    return bool(value)


def not_negative(element, what, values) -> np.ndarray:
    """`values`, none of them negative."""
    bad = np.flatnonzero(~(values >= 0.0))
    if bad.size:
        i = int(bad[0])
        where = f" of coordinate {i}" if len(values) > 1 else ""
        refuse(element, f"{what}{where} is {values[i]:g}", f"{what} must be zero or positive.")
    return values


def _count(shape) -> str:
    return counted(shape[0]) if len(shape) == 1 else f"a {shape[0]} x {shape[1]} matrix"


# --------------------------------------------------------------------------------------------------- rotations, poses

def rotation_matrix(element, R) -> np.ndarray:
    """R (3, 3), checked to be a rotation."""
    R = numbers(element, "R", R, (3, 3))
    off, det = np.abs(R @ R.T - np.eye(3)).max(), np.linalg.det(R)
    if off > 1e-9 or det < 0:
        refuse(element, f"R {R.tolist()} is not a rotation matrix: R R^T is {off:.3g} away from the identity, and its determinant "
               f"is {det:.6g}", "Its columns must be orthogonal unit vectors, right-handed, to 1e-9.")
    return R


def quaternion(*unnamed, quat_wxyz=None, quat_xyzw=None, **others) -> np.ndarray:
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


def says_quaternion(word) -> bool:
    """Whether a keyword is meant to be a quaternion."""
    return "quat" in word or word in BARE


def named_quaternion(element, quat) -> np.ndarray | None:
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
    return unit_quaternion(element, *quat, wxyz)


def unit_quaternion(element, what, quat_wxyz) -> np.ndarray:
    """quat_wxyz (4,), of length 1 to 1e-6, as given; `what`: the name it was given by."""
    quat = numbers(element, what, quat_wxyz, 4)
    if not abs(np.linalg.norm(quat) - 1.0) < 1e-6:
        w, given = ("last", np.roll(quat, -1)) if what == "quat_xyzw" else ("first", quat)
        refuse(element, f"{what} {given.tolist()} has length {np.linalg.norm(quat):.9g}", f"Give a unit quaternion, w {w}.")
    return quat


def pose_of(element, pose) -> Placement:
    """X of a pose: a homogeneous (4, 4) matrix, or anything with .R and .p. There must be one."""
    if pose is None:
        refuse(element, "pose is None", "Give a (4, 4) matrix, or a Pose with .R and .p.")
    if hasattr(pose, "R") and hasattr(pose, "p"):
        return Placement(rotation_matrix(element, pose.R), numbers(element, "p", pose.p, 3))
    X = numbers(element, "pose", pose, (4, 4))
    if np.abs(X[3] - (0, 0, 0, 1)).max() > 1e-9:
        refuse(element, f"the last row of the pose is {X[3].tolist()}", "It must be 0 0 0 1.")
    return Placement(rotation_matrix(element, X[:3, :3]), X[:3, 3])


def placement(element, p=None, rpy=None, R=None, pose=None, **quat) -> Placement:
    """X from a position p and one kind of rotation (rpy, R, quat_wxyz or quat_xyzw), or from `pose`: see `pose_of`."""
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


def _old_name(element, p, keywords):
    """p, also when it came by the name it had in 0.1: the position of a pose is p wherever it is given or read."""
    if "xyz" not in keywords:
        return p
    if p is not None:
        refuse(element, "both p and xyz were given", "Give p; xyz is what it was called in mbros 0.1.")
    warn(f"{element}: a position is given as p=, as it is read (pose.p); xyz= is its name in mbros 0.1, and goes with 0.3", FutureWarning)
    return keywords.pop("xyz")


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
