"""Assembly: a state near a given one in which every constraint is kept.

With g the gaps and J their Jacobian, |g|^2 becomes zero by Levenberg-Marquardt steps of the joints that may move,

    (J^T J + mu |g| 1) d = -J^T g,   q <- q (+) d,                                                   (1)

within their limits: least steps, so that what is closed stays near what was given. A start from which this ends in a minimum (a stretched
linkage) is left by small random motions, always the same ones. Velocities lose what would open the constraints, and no more.
"""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from mbros_core.constraints.opening import gap_text, row_slices
from mbros_core.support.numbers import short

from mbros.errors import MbrosError
from mbros.model.inverse_kinematics import read_targets
from mbros.spatial.lie import from_matrix, log

if TYPE_CHECKING:
    from mbros import Model
    from mbros.names import JointLike
    from mbros_core.engine._engine import State
    from mbros_core.typing import Array, BoolArray

CLOSED = 1e-12              # m and rad: far below what a start may have (mbros_core/engine/constraints.pxi), above rounding
STEPS, RESTARTS = 60, 30


class _Rows:
    """What is to become zero, as a function of q: gaps of all constraints, then errors of targets, [rotation; position] by weight."""

    def __init__(self, model: Model, state: State, targets: tuple[list[int], Array, Array] | None) -> None:
        self.model, self.probe, self.targets = model, state.copy(), targets

    def gaps(self, q: Array) -> Array:
        """(rows,) at q, where the Jacobian is asked for next."""
        self.probe.q[:] = q
        parts = [np.asarray(self.model._constraint_gaps(self.probe))]
        if self.targets is not None:
            for frame, X, weight in zip(self.targets[0], self.targets[1][0], self.targets[2]):
                R, pose = X[:9].reshape(3, 3), self.model._frame_pose(self.probe, frame)
                parts.append(weight * np.concatenate([log(from_matrix(R.T @ pose[:9].reshape(3, 3))), R.T @ (pose[9:] - X[9:])]))
        return np.concatenate(parts)

    def jacobian(self) -> Array:
        """(rows, nv): the rates of the gaps, where these are small."""
        parts = [np.asarray(self.model._constraint_jacobian(self.probe))]
        if self.targets is not None:
            for frame, X, weight in zip(self.targets[0], self.targets[1][0], self.targets[2]):
                R, J = X[:9].reshape(3, 3), self.model._frame_jacobian(self.probe, frame)
                parts.append(weight[:, None] * np.vstack([R.T @ J[:3], R.T @ J[3:]]))
        return np.vstack(parts)


def assemble(model: Model, state: State, keep: JointLike | Iterable[JointLike] = (), moved: dict[str, float] | None = None,
             reach: Mapping[Any, Any] | None = None) -> State:
    """See Model.assemble."""
    model._check_state(state)
    who = f"model {model.name!r}: assemble"
    if moved is not None and not isinstance(moved, dict):
        raise MbrosError(f"{who}: moved: expected a dict to be filled, or None, got {short(moved)}")
    names: Any = keep if isinstance(keep, Iterable) and not isinstance(keep, str) else [keep]
    kept = [model.joint(name) for name in names]
    free = np.asarray(state.field("lock")) == 0.0
    for joint in kept:
        free[joint.v_slice] = False
    out, v = state.copy(), np.array(state.v)
    q = _closed(_Rows(model, state, None if reach is None else read_targets(model, who, [reach])), np.array(state.q), free)
    if q is not None:
        out.q = q
    _report(model, state, out, moved)
    out.v = _tangent(model, out, v, free)
    return out


def _closed(rows: _Rows, start: Array, free: BoolArray) -> Array | None:
    """The q where everything is zero; None where it is. MbrosError where there is none within reach."""
    model, rng = rows.model, np.random.default_rng(0)
    best: tuple[float, Array] = (np.inf, start)
    for k in range(RESTARTS):
        q = start if k == 0 else model.integrate(start, np.where(free, rng.normal(scale=0.05 * k, size=model.nv), 0.0))
        found, gaps = _descend(rows, _within(model, q, start), free)
        size = float(np.abs(gaps).max(initial=0.0))
        if size <= CLOSED:
            return None if k == 0 and found is q else found
        if size < best[0]:
            best = size, gaps
        if not free.any():
            break
    raise MbrosError(_impossible(rows, best[1], free))


def _descend(rows: _Rows, q: Array, free: BoolArray) -> tuple[Array, Array]:
    """Equation (1) from q: where it ends, and the gaps there."""
    model, gaps, mu = rows.model, rows.gaps(q), 1e-3
    for _ in range(STEPS):
        size = float(np.linalg.norm(gaps))
        if np.abs(gaps).max(initial=0.0) <= CLOSED or mu > 1e8:
            break
        J = rows.jacobian()
        columns = _movable(model, q, free, J, gaps)
        if not columns.any():
            break
        A = J[:, columns]
        d = np.zeros(model.nv)
        damped = np.vstack([A, np.sqrt(mu * size) * np.eye(A.shape[1])])
        d[columns] = np.linalg.lstsq(damped, np.concatenate([-gaps, np.zeros(A.shape[1])]), rcond=None)[0]
        d *= min(1.0, 0.5 / np.abs(d).max(initial=1e-300))
        there = _within(model, model.integrate(q, d), q)
        now = rows.gaps(there)
        if np.linalg.norm(now) < size:
            q, gaps, mu = there, now, max(mu * 0.1, 1e-12)
        else:
            mu *= 10.0
            rows.gaps(q)
    return q, gaps


def _movable(model: Model, q: Array, free: BoolArray, J: Array, gaps: Array) -> BoolArray:
    """Free coordinates but those at a limit that the gaps would push on."""
    columns: BoolArray = np.logical_and(free, J.any(0))
    push = -J.T @ gaps
    for joint in model.joints:
        if joint.nv == joint.nq and joint.nv and not joint.follows:
            at, low, high = q[joint.q_slice], model.spec.q_lower[joint.q_slice], model.spec.q_upper[joint.q_slice]
            columns[joint.v_slice] &= ~((at <= low) & (push[joint.v_slice] < 0.0)) & ~((at >= high) & (push[joint.v_slice] > 0.0))
    return columns


def _within(model: Model, q: Array, before: Array) -> Array:
    """q within the limits; what was beyond them before may stay there."""
    low, high = np.minimum(model.spec.q_lower, before), np.maximum(model.spec.q_upper, before)
    return q if ((q >= low) & (q <= high)).all() else np.clip(q, low, high)


def _tangent(model: Model, state: State, v: Array, free: BoolArray) -> Array:
    """v without what would open a constraint: of the free joints, then, where these cannot, of all that are not locked."""
    J = np.asarray(model._constraint_jacobian(state))
    for columns in (free, np.asarray(state.field("lock")) == 0.0):
        rate = J @ v
        if np.abs(rate).max(initial=0.0) <= 1e-12 * (1.0 + np.abs(v).max(initial=0.0)):
            break
        v = v.copy()
        v[columns] -= np.linalg.lstsq(J[:, columns], rate, rcond=1e-12)[0]
    return v


def _report(model: Model, before: State, after: State, moved: dict[str, float] | None) -> None:
    if moved is None:
        return
    d = model.difference(np.array(before.q), np.array(after.q))
    moved.clear()
    for joint in model.joints:
        if joint.nv and not joint.follows and (size := float(np.linalg.norm(d[joint.v_slice]))) > 0.0:
            moved[joint.name] = size


def _impossible(rows: _Rows, gaps: Array, free: BoolArray) -> str:
    model, slices = rows.model, row_slices(rows.model.spec)
    left = [f"constraint {model.spec.constraint_names[k]!r} by {gap_text(model.spec, k, gaps[slices[k]])}"
            for k in range(len(slices)) if np.abs(gaps[slices[k]]).max() > CLOSED]
    at = slices[-1].stop if slices else 0
    for k, frame in enumerate(rows.targets[0] if rows.targets is not None else ()):
        e = gaps[at + 6 * k:at + 6 * k + 6]
        if np.abs(e).max() > CLOSED:
            left.append(f"the target of {model.frames[frame].name!r} by {np.linalg.norm(e[3:]):.3g} m and {np.linalg.norm(e[:3]):.3g} rad")
    still: list[Any] = [joint.name for joint in model.joints if joint.nv and not joint.follows and not free[joint.v_slice].any()]
    why = f"with {', '.join(repr(name) for name in still[:6])} kept or locked and " if still else ""
    return (f"model {model.name!r}: assemble: no position of the joints was found that closes {', '.join(left[:4])} ({why}within the "
            "position limits); start nearer to one, keep fewer joints, or look at the lengths")
