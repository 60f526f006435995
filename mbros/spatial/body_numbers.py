"""Mass, centre of mass and inertia of a body, as parameters of a state: rows (m, m c, Ixx Iyy Izz Ixy Ixz Iyz about Bo) of its inertias.

The engine has them in axes C of its own, whose z is along the joint's axis; `own` and `compiled` go from there to the body's frame B and
back.

    mass.<body>      kg; the moments follow in proportion
    com.<body>       c (3,), m, in axes of the body; the inertia about the centre of mass stays
    inertia.<body>   I about the centre of mass (6,): Ixx Iyy Izz Ixy Ixz Iyz, kg m^2, in axes of the body

All take many rows at once, (n, 10), in axes of B. What is too large for doubles comes out as inf or NaN, without a warning, for the
caller to refuse.

A row has I about a point d from the centre of mass, m d^2 larger than the I about the centre that is given and read, and rounded to
eps m d^2. That is what the inertia can be wrong by when it is read: `lost` says where it is more than a millionth of it.

A body is possible when its pseudo-inertia,
[[S + m c c^T, m c], [m c^T, m]] with S = tr(I) / 2 1 - I, the second moment of its mass about c, has no negative
eigenvalue (Wensing, Kim and Slotine 2018), which is so when m and S have none.
"""
from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from mbros.arguments import finite
from mbros.spatial.inertia import SMALLEST_RADIUS
from mbros.spatial.lie import length

if TYPE_CHECKING:
    from mbros import Model
    from mbros_core.typing import Array

Function = TypeVar("Function", bound=Callable[..., Any])
NO_MASS = 1e-100        # kg: below it the moments have lost digits, and in the end all of them
SIZES = {"mass": 1, "com": 3, "inertia": 6}
ROUNDING = 1e-9         # of the largest eigenvalue of S: a rod, a plate or a point is possible, whatever its numbers were rounded to
KEPT = 1e-6             # of an inertia about the centre of mass: what rounding may take of it
SMALL = 1e-3            # m: a body of a smaller radius of gyration may be as far out as one of this
EPS = float(np.finfo(float).eps)
ROW, COLUMN = np.array([0, 1, 2, 0, 0, 1]), np.array([0, 1, 2, 1, 2, 2])


def _quiet(function: Function) -> Function:
    """The function, without NumPy's warnings. An errstate of every call's own: as a decorator NumPy 1 has one for all threads."""
    @wraps(function)
    def run(*given: Any) -> Any:
        with np.errstate(over="ignore", invalid="ignore"):
            return function(*given)
    return cast("Function", run)


@_quiet
def parallel(rows: Array) -> Array:
    """m (c.c 1 - c c^T), (n, 6): what is added to I about the centre of mass for that about Bo."""
    exponent = np.frexp(rows[:, :1])[1]                 # of the mass, taken out, so that squares of m c do not overflow before c does
    h, m = np.ldexp(rows[:, 1:4], -exponent), np.ldexp(rows[:, :1], -exponent)
    squares = np.where(ROW == COLUMN, (h * h).sum(axis=1, keepdims=True), 0.0)
    return np.ldexp((squares - h[:, ROW] * h[:, COLUMN]) / m, exponent)


@_quiet
def read(rows: Array, what: str) -> Array:
    """Masses (n, 1), centres of mass (n, 3) or inertias about them (n, 6) of rows (n, 10). An inertia that is nothing but rounding is that
    of a point: zero."""
    if what == "mass":
        return rows[:, :1]
    if what == "com":
        return rows[:, 1:4] / rows[:, :1]
    added = parallel(rows)
    six = rows[:, 4:] - added
    rounding = np.abs(six).max(axis=1, keepdims=True) <= 4.0 * EPS * np.abs(added).max(axis=1, keepdims=True)
    return np.where(rounding, 0.0, six) if rounding.any() else six


@_quiet
def written(rows: Array, what: str, values: Array) -> Array:
    """Rows (n, 10) with other masses, centres of mass or inertias."""
    if what == "mass":
        return values * (rows / rows[:, :1])            # in this order the mass is what was given, to the bit
    out = rows.copy()
    if what == "com":
        own = read(rows, "inertia")
        out[:, 1:4] = rows[:, :1] * values
        out[:, 4:] = own + parallel(out)
    else:
        out[:, 4:] = values + parallel(rows)
    return out


def lost(six: Array, *rows: Array) -> tuple[int, str] | None:
    """(which, why) of the first of n bodies that would not keep its inertia about the centre of mass (n, 6) in these rows (n, 10), which
    have it about one point or another; None where all do.

    eps m d^2 is to be within KEPT of m k^2, the largest moment: d up to 6.7e4 k, and up to 67 m for bodies of k below SMALL. A point has
    nothing to lose; smaller than SMALLEST_RADIUS is one.
    """
    m = rows[0][:, 0]
    with np.errstate(all="ignore"):
        k = np.sqrt(np.abs(six).max(axis=1) / m)
        d = np.max([length(read(each, "com")) for each in rows], axis=0)
    far = np.sqrt(KEPT / EPS) * np.maximum(k, SMALL)
    bad = np.flatnonzero((k > SMALLEST_RADIUS) & (far < d) & (d < np.inf))
    if not len(bad):
        return None
    b = int(bad[0])
    return b, (f"the centre of mass is {d[b]:.6g} m away from the body's frame or its joint's, where rounding of m d^2 takes more than "
               f"{KEPT:g} of the inertia about it, {np.abs(six[b]).max():.6g} kg m^2; expected at most {far[b]:.6g} m for a body of this "
               "mass and inertia")


def unheld(who: str, rows: Array, X_CB: Array, inertia: Array | None) -> tuple[int, str] | None:
    """(which, why) of the first of a body's rows (n, 10) that would not keep this inertia about the centre of mass (n, 6), None: that was
    not changed. NonFiniteError where something is not finite, or would not be when it is read."""
    of_body = own(rows, X_CB)
    found = None if inertia is None else lost(inertia, of_body, rows)
    if found is None:
        finite(who, "inertia", rows[0] if len(rows) == 1 else rows)
        for what in ("com", "inertia"):
            finite(who, what, read(of_body, what))
    return found


def place(model: Model, body: str) -> Array:
    """X_CB (12,): R row by row and p of the body's frame in the engine's."""
    return np.asarray(model.spec.X_BF[model.body(body)._frame_index])


@_quiet
def own(rows: Array, X_CB: Array) -> Array:
    """Rows (n, 10) about Bo in axes of B, of those about Co in axes of C."""
    R, p = X_CB[:9].reshape(3, 3), X_CB[9:]
    return _turned(_shifted(rows, -p), R.T)


@_quiet
def compiled(rows: Array, X_CB: Array) -> Array:
    """The inverse of `own`."""
    R, p = X_CB[:9].reshape(3, 3), X_CB[9:]
    return _shifted(_turned(rows, R), p)


def weights(what: str, X_CB: Array) -> Array:
    """(k, 6): how com or inertia in axes of C move with each of the k numbers in axes of B."""
    R, out = X_CB[:9].reshape(3, 3), np.zeros((SIZES[what], 6))
    if what == "com":
        out[:, :3] = R.T
    if what == "inertia":
        out[:] = (R @ matrices(np.eye(6)) @ R.T)[:, ROW, COLUMN]
    return out


def _turned(rows: Array, R: Array) -> Array:
    return np.concatenate([rows[:, :1], rows[:, 1:4] @ R.T, (R @ matrices(rows[:, 4:]) @ R.T)[:, ROW, COLUMN]], axis=1)


def _shifted(rows: Array, p: Array) -> Array:
    """About a point from which the former one is seen at p."""
    if not p.any():
        return rows
    out = rows.copy()
    out[:, 1:4] += rows[:, :1] * p
    out[:, 4:] += parallel(out) - parallel(rows)
    return out


@_quiet
def unchanged(rows: Array, what: str, values: Array) -> Array:
    """(n,): where that is what the rows have, to the bit; writing it would change no more than the last digit of something."""
    same = (read(rows, what) == values).all(axis=1)
    return same | (rows[:, 1:4] == rows[:, :1] * values).all(axis=1) if what == "com" else same


def matrices(six: Array) -> Array:
    """Symmetric (n, 3, 3) of (n, 6)."""
    out = np.empty((*six.shape[:-1], 3, 3))
    out[..., ROW, COLUMN] = out[..., COLUMN, ROW] = six
    return out


def second_moments(six: Array) -> Array:
    """S = tr(I) / 2 1 - I, (n, 3, 3), of inertias about centres of mass (n, 6)."""
    inertia = matrices(six)
    return 0.5 * np.trace(inertia, axis1=-2, axis2=-1)[..., None, None] * np.eye(3) - inertia


def impossible(six: Array) -> str | None:
    """Why no body has this inertia about its centre of mass (6,): the eigenvalue that is negative, and along what; None where one can."""
    beyond = max(int(np.frexp(np.abs(six).max())[1]) - 1000, 0)         # powers of two taken out near the largest double
    eigenvalues, axes = np.linalg.eigh(second_moments(np.ldexp(six, -beyond)))
    if eigenvalues[0] >= -ROUNDING * max(abs(eigenvalues[-1]), 1e-300):
        return None
    with np.errstate(over="ignore"):
        lowest = max(float(np.ldexp(eigenvalues[0], beyond)), -float(np.finfo(float).max))
    along = ", ".join(f"{x:.3g}" for x in axes[:, 0])
    return (f"its pseudo-inertia has the eigenvalue {lowest:.6g} kg m^2, the second moment of mass tr(I)/2 - I along "
            f"({along}), which must not be negative: no principal moment may exceed the sum of the other two")
