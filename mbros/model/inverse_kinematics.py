"""Inverse kinematics: configurations that put frames of a model where they are wanted.

    found = model.inverse_kinematics({"flange": mbros.Pose.make((0.4, 0.1, 0.5), rpy=(3.14, 0, 0))}, state)
    found.q, found.solved, found.error, found.iterations

Levenberg-Marquardt steps on the model's configuration space with exact Jacobians, within the position limits, from the state's
configuration and, where that ends in a minimum that is no solution, from others: see mbros_core/engine/inverse_kinematics.pxi for the
equations. The loop is compiled and runs without the interpreter lock; batches are shared between threads, and neither their number nor
what else is in a batch changes a result.
"""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import mbros_core
import numpy as np
from mbros_core import NonFiniteError
from mbros_core.support.available import Room
from mbros_core.errors import explain_not_finite
from mbros_core.support.numbers import short
from mbros_core.support.threads import shares, side_by_side

from mbros.arguments import count, entries, finite, floats, number, reals, rows
from mbros.errors import MbrosError
from mbros.spatial.given import are_rotations, pose_of
from mbros.spatial.placement import Placement
from mbros.spatial.vectors import Pose

if TYPE_CHECKING:
    from mbros import Model

ALONE = 16          # targets that are not worth another thread
MOST = 1000000      # iterations, and restarts: these are chosen before the first is tried
ONES = np.ones(6)


@dataclass(frozen=True, eq=False, repr=False)
class Solution:
    """What inverse_kinematics found; for a batch of n, arrays with n rows.

    q (nq,): the configuration, within the limits; where nothing reaches the targets, the one with the least weighted error.
    solved: whether every error is within the tolerance. error (2,): the largest distance (m) and angle (rad) of a target, along the
    axes that have a weight. iterations: steps taken, of all starts together.
    """

    q: np.ndarray
    solved: bool | np.ndarray
    error: np.ndarray
    iterations: int | np.ndarray

    def __repr__(self) -> str:
        solved, error = np.atleast_1d(self.solved), np.atleast_2d(self.error).max(0, initial=0.0)
        what = f"{solved.sum()} of {len(solved)} solved" if self.error.ndim > 1 else "solved" if self.solved else "not solved"
        return f"<Solution: {what}, error at most {error[0]:.3g} m and {error[1]:.3g} rad, {np.sum(self.iterations)} iterations>"


def inverse_kinematics(model: Model, targets: Mapping[Any, Any] | Iterable[Mapping[Any, Any]], state: mbros_core.State | None = None, *,
                       q0: Any = None, posture: Any = None, tolerance: float = 1e-6, iterations: int = 100, restarts: int = 50,
                       seed: int = 0, threads: int | None = None) -> Solution:
    """See Model.inverse_kinematics."""
    who = f"inverse_kinematics of model {model.name!r}"
    state = model.default_state() if state is None else state
    model._check_state(state)
    if len(model.constraints):
        raise MbrosError(f"{who}: it does not know constraints, and the model has {', '.join(map(repr, model.constraints.names[:4]))}: use "
                         "model.assemble(state, reach={frame: pose})")
    tolerance = number(who, "tolerance", tolerance, 0.0)
    count(who, "iterations", iterations, least=1, most=MOST)
    count(who, "restarts", restarts, most=MOST)
    count(who, "seed", seed, most=None)
    if threads is not None:
        count(who, "threads", threads, least=1)
    single = isinstance(targets, Mapping)
    frames, X, weights = read_targets(model, who, [targets] if single else targets)
    with Room(who):
        q = _configurations(model, who, "q0", state.q if q0 is None else q0)
        single = single and q.ndim == 1
        q, X = _together(who, q, X)
        preferred = None if posture is None else _configurations(model, who, "posture", posture)
        preferred = preferred if preferred is None else _together(who, preferred, X, "posture")[0]
    errors, solved, steps = np.empty((len(q), 2)), np.zeros(len(q), np.int8), np.zeros(len(q), np.int32)
    lower, upper = _limits(model)
    starts = _starts(model, seed, restarts)
    given = q.copy()

    def run(solver: mbros_core.InverseKinematics, part: slice) -> None:
        solver.solve(q[part], X[part], starts, None if preferred is None else preferred[part], tolerance, iterations, errors[part],
                     solved[part], steps[part])

    parts = shares(len(q), threads, 1, ALONE)
    side_by_side(run, [mbros_core.InverseKinematics(model, state, frames, weights, lower, upper) for _ in parts], parts)
    bad = np.flatnonzero(~(np.isfinite(errors).all(1) & np.isfinite(q).all(1)))
    if bad.size:
        raise NonFiniteError(explain_not_finite(model, "inverse_kinematics", {"q": given[bad[0]]}))
    if single:
        return Solution(q[0], bool(solved[0]), errors[0], int(steps[0]))
    return Solution(q, solved.astype(bool), errors, steps)


# ------------------------------------------------------------------------------------------------------ targets


def read_targets(model: Model, who: str, targets: Any) -> tuple[list[int], np.ndarray, np.ndarray]:
    """(frame indices (k,), X_WT (n, k, 12), weights (k, 6)) of one dict or more, all of the same frames and weights."""
    given = entries(targets)
    if not given or not all(isinstance(row, Mapping) and row for row in given):
        raise MbrosError(f"{who}: targets: expected {{frame: pose}} with a frame or more, or a list of such dicts, got {short(targets)}")
    frames = [model._frame_index(frame) for frame in given[0]]
    if len(set(frames)) < len(frames):
        raise MbrosError(f"{who}: targets: a frame is there twice: {', '.join(model.frames[k].name for k in frames)}")
    X, weights = np.empty((len(given), len(frames), 12)), np.empty((len(frames), 6))
    for i, row in enumerate(given):
        if i and row.keys() != given[0].keys():
            raise MbrosError(f"{who}: targets: every dict of a list has the same frames; the first has {list(given[0])}, number {i} has "
                             f"{list(row)}")
        for k, frame in enumerate(given[0]):
            weight = _target(model, who, frames[k], row[frame], X[i, k])
            if i == 0:
                weights[k] = weight
            elif weight is not ONES and (weights[k] != weight).any():
                raise MbrosError(f"{who}: target of {model.frames[frames[k]].name!r}: weights are those of the first dict of the list, "
                                 f"{weights[k].tolist()}; number {i} has {weight.tolist()}")
    R = X[..., :9].reshape(-1, 3, 3)
    good = np.isfinite(X).all(2).ravel() & are_rotations(R)
    if not good.all():
        bad = int(np.flatnonzero(~good)[0])
        i, k = divmod(bad, len(frames))
        pose_of(f"{who}: target of {model.frames[frames[k]].name!r}", Placement(R[bad], X[i, k, 9:]))       # which says what is wrong
    return frames, X, weights


def _target(model: Model, who: str, frame: int, wanted: Any, out: np.ndarray) -> np.ndarray:
    """Writes X_WT (12,) of a pose, a point, or a pair of one of them and weights; returns the weights (6,)."""
    what, weight = wanted if isinstance(wanted, tuple) and len(wanted) == 2 else (wanted, None)
    if type(what) is Pose and what.relative_to in ("", model.frames[0].name):
        out[:9], out[9:] = what.R.ravel(), what.p
        return ONES if weight is None else _weights(f"{who}: target of {model.frames[frame].name!r}", weight, 6)
    element = f"{who}: target of {model.frames[frame].name!r}"
    if isinstance(what, Pose):
        raise MbrosError(f"{element}: the pose is relative to {what.relative_to!r}; expected one in the world, which is "
                         f"model.pose(state, {what.relative_to!r}) @ pose")
    given = floats(what) if not hasattr(what, "R") else None
    if given is not None and given.shape == (3,):
        out[:9], out[9:] = np.eye(3).ravel(), finite(element, "point", given)
        return np.concatenate([np.zeros(3), _weights(element, 1.0 if weight is None else weight, 3)])
    if not (hasattr(what, "R") or given is not None and given.shape == (4, 4)):
        raise MbrosError(f"{element}: expected a Pose, a (4, 4) matrix, a point (3,), or (one of these, weights), got {short(wanted)}")
    X = pose_of(element, what)
    out[:9], out[9:] = X.R.ravel(), X.p
    return _weights(element, 1.0 if weight is None else weight, 6)


def _weights(element: str, given: Any, n: int) -> np.ndarray:
    """(n,) from a number, n numbers, or of a pose (rotation, position)."""
    weight = finite(element, "weights", reals(element, "weights", given), 0.0)
    weight = np.repeat(weight, 3) if n == 6 and weight.shape == (2,) else weight
    if weight.shape not in ((), (n,)) or not weight.any():
        kinds = "a number, 2 (rotation, position) or 6" if n == 6 else "a number or 3"
        raise MbrosError(f"{element}: weights: expected {kinds}, zero or more and not all zero, got {short(given)}")
    return np.broadcast_to(weight, n)


# ----------------------------------------------------------------------------------------------- configurations


def _configurations(model: Model, who: str, what: str, given: Any) -> np.ndarray:
    """(nq,) or (n, nq) finite numbers with unit quaternions; kept to the bit where they have them."""
    q = finite(who, what, rows(who, what, given, model.nq))
    unit = model.normalize(q)
    return np.where(np.abs(unit - q) < 1e-12, q, unit)


def _together(who: str, q: np.ndarray, X: np.ndarray, what: str = "q0") -> tuple[np.ndarray, np.ndarray]:
    """As many rows of one as of the other, each a copy that is contiguous; one of one is repeated."""
    q = np.atleast_2d(q)
    n = max(len(q), len(X)) if min(len(q), len(X)) == 1 else len(q)
    if len(q) not in (1, n) or len(X) not in (1, n):
        raise MbrosError(f"{who}: {what} has {len(q)} rows and there are {len(X)} targets; expected as many, or one of either")
    return np.array(np.broadcast_to(q, (n, q.shape[1])), order="C"), np.ascontiguousarray(np.broadcast_to(X, (n, *X.shape[1:])))


def _limits(model: Model) -> tuple[np.ndarray, np.ndarray]:
    """Of every position coordinate (nq,), tighter where a follower's own limits allow its leader less."""
    kept = model.__dict__.get("_reach_limits")
    if kept is None:
        lower, upper = np.array(model.spec.q_lower, float), np.array(model.spec.q_upper, float)
        for joint in model.joints:
            if joint.mimic is not None and joint.mimic[1]:
                ends = np.sort((np.array([*joint.limits.position]) - joint.mimic[2]) / joint.mimic[1], axis=0)
                low, high = np.maximum(lower[joint.q_slice], ends[0]), np.minimum(upper[joint.q_slice], ends[1])
                if (low > high).any():
                    raise MbrosError(f"model {model.name!r}: joint {joint.name!r} follows {joint.mimic[0]!r}, and no position of that is "
                                     "within the limits of both")
                lower[joint.q_slice], upper[joint.q_slice] = low, high
        kept = model.__dict__["_reach_limits"] = lower, upper
    return kept


def _starts(model: Model, seed: int, restarts: int) -> np.ndarray:
    """(restarts, nq) random configurations of a seed, the same for every target; the last ones asked for are kept."""
    kept = model.__dict__.get("_reach_starts")
    if kept is None or kept[0] != (seed, restarts):
        starts = np.ascontiguousarray(model.random_configuration(np.random.default_rng(seed), restarts), float)
        kept = model.__dict__["_reach_starts"] = (seed, restarts), starts
    return kept[1]
