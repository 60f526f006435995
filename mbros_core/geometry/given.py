"""What users give: sizes, points and poses, checked, as the arrays that the engine reads."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mbros_core.errors import MbrosError
from mbros_core.support.given import bounded
from mbros_core.support.numbers import floats, short

from .registry import BY_NAME, LARGEST, SMALLEST, ShapeKind

if TYPE_CHECKING:
    from mbros_core.typing import Array, NDArray

MOST_POINTS = 1_000_000         # of one shape
ROTATION = 1e-9                 # how far R R^T may be from the identity


def numbers(who: str, what: str, value: object, shape: Sequence[int | None]) -> Array:
    """`value` as finite float64 of this shape (None: any length), none beyond LARGEST."""
    return bounded(who, what, value, shape, LARGEST)


def length(who: str, what: str, value: object) -> float:
    """`value` as a length that a shape can have, m."""
    found = float(numbers(who, what, value, ()))
    if not SMALLEST <= found <= LARGEST:
        raise MbrosError(f"{who}: {what} is {found:g} m; expected {SMALLEST:g} to {LARGEST:g} m")
    return found


def kind_of(name: object) -> ShapeKind:
    """The row of a kind by its name."""
    if not isinstance(name, str) or name not in BY_NAME:
        raise MbrosError(f"shape: kind is {short(name)}; expected one of {', '.join(BY_NAME)}")
    return BY_NAME[name]


def sizes_of(row: ShapeKind, sizes: object) -> tuple[float, ...]:
    """The sizes of a kind, in the order of its row."""
    given = numbers(row.name, "sizes", sizes, (len(row.sizes),)).tolist()
    return tuple(length(row.name, what, x) for what, x in zip(row.sizes, given))


def points_of(row: ShapeKind, points: object) -> Array | None:
    """Vertices (n, 3) or heights (nx, ny) as a read-only array of its own; None for kinds that have neither."""
    if not row.points:
        if points is not None:
            raise MbrosError(f"{row.name}: expected no points, got {short(points)}")
        return None
    array = numbers(row.name, row.points, points, (None, 3) if row.points == "vertices" else (None, None))
    if array.size > MOST_POINTS:
        raise MbrosError(f"{row.name}: {row.points} are {array.size} numbers; expected at most {MOST_POINTS}")
    if row.points == "heights" and min(array.shape) < 2:
        raise MbrosError(f"{row.name}: heights: expected at least 2 in x and in y, got shape {array.shape}")
    kept = np.array(array, dtype=np.float64, order="C")
    kept.setflags(write=False)
    return kept


def margin_of(who: str, margin: object) -> float:
    found = float(numbers(who, "margin", margin, ()))
    if found < 0.0:
        raise MbrosError(f"{who}: margin is {found:g} m; expected zero or more")
    return found


def poses(who: str, what: str, given: Any, many: bool = False) -> Array:
    """Poses as (n, 12): R row-major, then p. given: (4, 4), a position (3,), or an object with R and p; many: (n, 4, 4) as well."""
    if hasattr(given, "R") and hasattr(given, "p"):
        R, p = numbers(who, f"{what}.R", given.R, (3, 3))[None], numbers(who, f"{what}.p", given.p, (3,))[None]
    else:
        array = floats(given)
        if array is not None and array.shape == (3,):
            R, p = np.eye(3)[None], numbers(who, what, array, (3,))[None]
        else:
            array = numbers(who, what, given, (None, 4, 4) if many and array is not None and array.ndim == 3 else (4, 4)).reshape(-1, 4, 4)
            R, p = array[:, :3, :3], array[:, :3, 3]
            if not (array[:, 3] == (0.0, 0.0, 0.0, 1.0)).all():
                raise MbrosError(f"{who}: {what}: expected (0, 0, 0, 1) in the last row of a pose, got {array[:, 3].tolist()[:1]}")
    off = np.abs(np.einsum("nik,njk->nij", R, R) - np.eye(3)).max(initial=0.0)
    if not off <= ROTATION or not (np.linalg.det(R) > 0.0).all():
        raise MbrosError(f"{who}: {what}: its R is no rotation: R R^T is {off:.3g} away from the identity; "
                         f"expected orthogonal unit vectors, right-handed, to {ROTATION:g}")
    return np.ascontiguousarray(np.concatenate([R.reshape(-1, 9), p], axis=1))


def permutation(who: str, order: object, count: int) -> NDArray[np.intc]:
    """`order`, an intc array that is a permutation of range(count), itself."""
    if not isinstance(order, np.ndarray) or order.dtype != np.intc or order.shape != (count,) or not order.flags.c_contiguous \
            or not order.flags.writeable or not (np.sort(order) == np.arange(count)).all():
        raise MbrosError(f"{who}: order: expected a writeable numpy.intc array with a permutation of 0 to {count - 1}, got {short(order)}")
    return order


def group_numbers(who: str, groups: object, count: int) -> NDArray[np.intc]:
    """`groups`, `count` whole numbers of any size, as an intc array that tells the same ones apart."""
    given = np.asarray(groups)
    if given.shape != (count,) or given.dtype.kind not in "iu":
        raise MbrosError(f"{who}: groups: expected {count} whole numbers, got {short(groups)}")
    return np.unique(np.append(given, 0), return_inverse=True)[1].astype(np.intc)
