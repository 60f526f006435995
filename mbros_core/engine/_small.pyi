from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbros_core.typing import Array

ROTATION_TOLERANCE: float

def numbers(given: object, n: int, /) -> Array | None:
    """A new array (n,) of n plain finite numbers; None of anything else."""
def is_finite(array: object, /) -> bool:
    """Whether it is a C-contiguous float64 array of NumPy's own class with nothing but finite numbers in it."""
def put(given: tuple[Any, ...], places: tuple[dict[str, int], ...], out: Array, nan: bool, /) -> bool:
    """out[places[name]] = value for the {name: value} of each dict given (None: none) and the {name: index} that belongs to it, where all
    of them are known names with a finite number, or NaN where `nan` allows it; whether that was so. Where not, nothing is written."""
def is_rotation(given: object, /) -> bool:
    """Whether it is a plain array (3, 3) of finite numbers that is a rotation."""
def rotation(given: object, /) -> Array | None:
    """A copy of a plain array (3, 3) that is a rotation; None of anything else."""
def rotation_of_quaternion(given: object, w_last: bool, /) -> Array | None:
    """R (3, 3) of a quaternion of length 1 to 1e-6, plain numbers w x y z, or with w last; None of anything else."""
def rotation_of_rpy(given: object, /) -> Array | None:
    """R (3, 3) = Rz(yaw) Ry(pitch) Rx(roll) of plain numbers (roll, pitch, yaw), rad; None of anything else."""
def quaternion(given: object, w_last: bool, /) -> Array | None:
    """The unit quaternion w x y z with w >= 0, or with w last, of a plain array (3, 3) that is a rotation, from its largest component
    (Shepperd 1978); None of what is no such array."""
def composed(R: Array, p: Array, S: Array, r: Array, /) -> tuple[Array, Array]:
    """(R S, R r + p): the pose X_AC of X_AB (R, p) and X_BC (S, r)."""
def conjugated(A: Array, X: Array, /) -> tuple[Array, Array]:
    """(A R A^T, A p): a pose as a row X (12,), R and p, with both its frames turned by A."""
def inverted(R: Array, p: Array, /) -> tuple[Array, Array]:
    """(R^T, -R^T p): the pose X_BA of X_AB (R, p)."""
def point_in(R: Array, p: Array, given: object, /) -> Array | None:
    """R x + p of one point, three plain numbers; None of anything else."""
def turned(R: Array, V: Array, /) -> Array:
    """[R w; R v] of six numbers [w; v]."""
def arm(X_WA: Array, X_WB: Array, R: Array | None, /) -> Array:
    """R^T (Bo - Ao) (3,) of two poses as rows of 12 numbers and R (3, 3); R None: of world axes."""
def shifted(V: Array, p: Array, force: bool, w: Array | None, /) -> Array:
    """Six numbers about a point that is p away: [w; v + w x p] of a motion, [t - p x f; f] of a force; with an angular velocity w of an
    acceleration, [a; b + a x p + w x (w x p)]."""
def reweighed(table: Array, b: int, given: object, /) -> bool:
    """Row b of a table of (mass, moments, inertia), (n, 10), in proportion to a new mass; whether it was a plain one. Masses of 1e-50 kg on
    and numbers up to 1e50, of which none is not finite about whatever point."""
def within(array: object, tol: float, /) -> bool:
    """Whether it is a C-contiguous float64 array of NumPy's own class with no number in it that is larger than tol."""
def rows(given: object, columns: int, most: float, n: int | None, copied: bool, /) -> Array | None:
    """A plain array as rows (n, columns), n None: as many as there are: a row for all, or rows as they are; copied: of their own. None of
    anything else, of a number that is larger than `most` (or is none), and of more than a million numbers."""
def between(array: object, low: Array, high: Array, /) -> bool:
    """Whether every row of a C-contiguous float64 array (n, k) of NumPy's own class is within low (k,) and high (k,)."""
def first_counted(counts: NDArray[np.int64], /) -> int:
    """The first place of an int64 array (n,) with a number that is not negative; -1: none has."""
def wrench(torque: object, force: object, most: float, /) -> Array | None:
    """[torque; force] (6,) of three plain numbers each, none larger than `most`; None of anything else."""
def push(forces: Array, bodies: NDArray[np.int32], X_BF: Array, k: int, X_WF: Array, F: Array, /) -> None:
    """Adds a wrench F (6,) about frame k's origin, in W axes, to the row of its body in `forces` (nb, 6), which are about their bodies'
    origins. Frames: bodies (nf,) that they are on and where, X_BF (nf, 12); X_WF (12,): where this one is."""
