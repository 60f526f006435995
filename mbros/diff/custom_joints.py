"""Derivatives of joints that users write: exact where the law gives them, by differences where it does not.

A law (a JointLaw, or the object with the capsule) may have

    subspace_gradient(q)        dH/dq (6, nv, nq), H in F axes
    bias_gradient(q, v)         (d/dq (6, nq), d/dv (6, nv)) of Hdot v in F axes
    qdot_gradient(q)            dN/dq (nq, nv, nq)          both only where v is not qdot
    velocity_gradient(q)        dN+/dq (nv, nq, nq)

Without them: central differences, extrapolated to step zero (Richardson 1911; table and choice of step: Ridders, Advances in
Engineering Software 4, 1982). Relative to the largest entry they are good to about 1e-10 where the law is smooth within 0.1
rad or m of q, and the step shrinks where the law ends sooner. Two derivatives need neither: Hdot v is quadratic in v, and
dR_FM/dq = [H_w N+]x R_FM takes results from F to M. The last axis of each result is the coordinate differentiated by; of
a quaternion's four they are the law's own off the unit sphere too.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from mbros_core.errors import NonFiniteError

from mbros.errors import MbrosError

if TYPE_CHECKING:
    from mbros_core.typing import Array, ArrayLike

LARGEST_STEP = 0.1
HALVINGS = 16
WORSE = 4.0                 # an error estimate that grows by this factor is rounding: smaller steps make it larger


def differences(f: Callable[[Array], Array], x: ArrayLike) -> np.ndarray:
    """(..., n): derivatives of f by each component of x (n,)."""
    x = np.asarray(x, float)
    with np.errstate(all="ignore"):
        columns = [_slope(partial(_along, f, x, e)) for e in np.eye(len(x))]
    return np.stack(columns, axis=-1)


def _along(f: Callable[[Array], Array], x: Array, e: Array, t: float) -> Array:
    return f(x + t * e)


def _slope(g: Callable[[float], Array]) -> np.ndarray:
    """g'(0), from the row of Richardson's table with the least error estimate."""
    best, least, h = None, np.inf, 2.0 * LARGEST_STEP
    above: list[Array] = []
    for _ in range(HALVINGS):
        h *= 0.5
        try:
            row = [(g(h) - g(-h)) / (2.0 * h)]
        except NonFiniteError:                      # beyond where the law is defined
            above = []
            continue
        for k, coarse in enumerate(above):
            row.append(row[k] + (row[k] - coarse) / (4.0 ** (k + 1) - 1.0))
        if above:
            error = max(np.abs(row[-1] - row[-2]).max(), np.abs(row[-1] - above[-1]).max())
            if error > WORSE * least:
                break
            if error <= least:
                best, least = row[-1], error
        above = row
    if best is None:
        raise MbrosError(f"no derivative: the joint's law is not finite within {LARGEST_STEP} of this position")
    return best


def subspace(kinematics: Any, q: Array) -> np.ndarray:
    """dH/dq (6, nv, nq), H in F axes."""
    given = _given(kinematics, "subspace_gradient", (q,), (6, kinematics.nv, kinematics.nq))
    return differences(kinematics.subspace, q) if given is None else given[0]


def bias(kinematics: Any, q: Array, v: Array) -> tuple[Array, Array]:
    """d(Hdot v)/dq (6, nq) and d(Hdot v)/dv (6, nv), in F axes."""
    given = _given(kinematics, "bias_gradient", (q, v), (6, kinematics.nq), (6, kinematics.nv))
    return given or (differences(lambda x: kinematics.bias(x, v), q), _of_a_quadratic_form(lambda u: kinematics.bias(q, u), v))


def qdot_matrix(kinematics: Any, q: Array) -> np.ndarray:
    """dN/dq (nq, nv, nq)."""
    return _of_map(kinematics, q, "qdot_gradient", (kinematics.nq, kinematics.nv, kinematics.nq), kinematics.qdot_matrix)


def velocity_matrix(kinematics: Any, q: Array) -> np.ndarray:
    """dN+/dq (nv, nq, nq)."""
    return _of_map(kinematics, q, "velocity_gradient", (kinematics.nv, kinematics.nq, kinematics.nq), kinematics.velocity_matrix)


def _of_map(kinematics: Any, q: Array, name: str, shape: tuple[int, ...], matrix: Callable[[Array], Array]) -> Array:
    if kinematics.row.velocities_are_rates:
        return np.zeros(shape)
    given = _given(kinematics, name, (q,), shape)
    return differences(matrix, q) if given is None else given[0]


def _of_a_quadratic_form(f: Callable[[Array], Array], v: ArrayLike) -> Array:
    """(..., n): f(v + s e) - f(v - s e) = 2 s df/dv e for every s."""
    v = np.asarray(v, float)
    s = max(1.0, float(np.abs(v).max()))
    return np.stack([(f(v + s * e) - f(v - s * e)) / (2.0 * s) for e in np.eye(len(v))], axis=-1)


def _given(kinematics: Any, name: str, arguments: Sequence[ArrayLike], *shapes: tuple[int, ...]) -> Any:
    """The arrays that the law's own function gives, checked; None where it has none."""
    function = getattr(kinematics.law, name, None)
    if function is None:
        return None
    values = function(*(np.array(x, float) for x in arguments))
    arrays = [np.asarray(x, float) for x in ((values,) if len(shapes) == 1 else values)]
    if [a.shape for a in arrays] != list(shapes) or not all(np.isfinite(a).all() for a in arrays):
        raise MbrosError(f"{type(kinematics.law).__name__}.{name}() gave {' and '.join(str(a.tolist()) for a in arrays):.120}; expected "
                         f"finite numbers of shape {' and '.join(str(shape) for shape in shapes)}")
    return arrays
