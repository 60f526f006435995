"""Exact derivatives of a joint's H, Hdot v, N and N+, from the engine over dual numbers. Those of joints that users write: custom_joints.

The last axis of each result is the coordinate differentiated by. Of a quaternion's four coordinates these are the derivatives off
the unit sphere too: the engine takes quaternions of any length.
"""
from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np

import mbros_core
from mbros.diff import custom_joints

if TYPE_CHECKING:
    from mbros_core.engine._engine import Duals
    from mbros_core.typing import Array, ArrayLike


def subspace(kinematics: Any, q: Array, in_M: bool = False) -> np.ndarray:
    """dH/dq (6, nv, nq), H in F axes, or in M axes."""
    if kinematics.law is not None:
        dH = custom_joints.subspace(kinematics, q)
    else:
        columns = [_by_q(kinematics, "frame_velocity", q, v=e) for e in np.eye(kinematics.nv)]
        dH = _turned(kinematics, np.stack(columns, axis=1) if columns else np.zeros((6, 0, kinematics.nq)))
    return _turned_to_M(kinematics, q, kinematics.subspace(q), dH) if in_M else dH


def bias(kinematics: Any, q: Array, v: Array, in_M: bool = False) -> tuple[Array, Array]:
    """d(Hdot v)/dq (6, nq) and d(Hdot v)/dv (6, nv); in M axes of what subspace_bias gives there."""
    if kinematics.law is not None:
        dq, dv = custom_joints.bias(kinematics, q, v)
    else:
        dq = _turned(kinematics, _by_q(kinematics, "frame_acceleration", q, v))
        dv = _turned(kinematics, _derivative(kinematics, "frame_acceleration", "v", q, v))
    return _relative_bias(kinematics, q, v, dq, dv) if in_M else (dq, dv)


def qdot_matrix(kinematics: Any, q: Array) -> np.ndarray:
    """dN/dq (nq, nv, nq)."""
    if kinematics.law is not None:
        return custom_joints.qdot_matrix(kinematics, q)
    return _columns(kinematics, "velocity_to_qdot", q, kinematics.nv, kinematics.nq)


def velocity_matrix(kinematics: Any, q: Array) -> np.ndarray:
    """dN+/dq (nv, nq, nq), of N+ = (N^T N)^-1 N^T."""
    if kinematics.law is not None:
        return custom_joints.velocity_matrix(kinematics, q)
    return _columns(kinematics, "qdot_to_velocity", q, kinematics.nq, kinematics.nv)


# ------------------------------------------------------------------------------------------------ from the dual engine

def _columns(kinematics: Any, what: str, q: Array, n: int, rows: int) -> np.ndarray:
    """(rows, n, nq): derivatives of a matrix by q, whose columns are what the engine makes of the n unit vectors."""
    columns = [_by_q(kinematics, what, q, given=e) for e in np.eye(n)]
    return np.stack(columns, axis=1) if columns else np.zeros((rows, 0, kinematics.nq))


def _by_q(kinematics: Any, what: str, q: Array, v: ArrayLike = 0.0, given: Array | None = None) -> np.ndarray:
    return _derivative(kinematics, what, "q", q, v, given)


def _derivative(kinematics: Any, what: str, by: str, q: Array, v: ArrayLike = 0.0, given: Array | None = None) -> np.ndarray:
    """(n, nq) or (n, nv): derivatives of an algorithm of the joint's own model by each of its q, or of its v."""
    duals, inputs = _workspace(kinematics)
    size = {"q": kinematics.nq, "v": kinematics.nv}[by]
    duals.state._inputs[:], duals.given[:] = 0.0, 0.0
    duals.state._inputs[:, 0] = kinematics.at(q, v)._inputs
    if given is not None:
        duals.given[:len(given), 0] = given
    return duals.sweep(what, [(inputs[by], np.eye(size))], size, 1)[1]


def _workspace(kinematics: Any) -> tuple[Duals, dict[str, Array]]:
    """(Duals, {"q", "v": arrays (numbers, 1 + partials) on its memory}) of the joint's own model: this thread's."""
    made = kinematics.__dict__.setdefault("_duals", threading.local())
    if not hasattr(made, "workspace"):
        module = mbros_core.dual()
        duals = module.Duals(module.Model(kinematics.model.spec))
        made.workspace = duals, {name: duals.state.field(name).reshape(-1, 1 + duals.partials) for name in ("q", "v")}
    return made.workspace


# ---------------------------------------------------------------------------------------------------------------- axes

def _turned(kinematics: Any, x: Array) -> Array:
    """From the axes of the engine's joint to those of the user's F."""
    A = kinematics.A
    return x if A is None else np.concatenate([np.tensordot(A, x[:3], 1), np.tensordot(A, x[3:], 1)])


def _turned_to_M(kinematics: Any, q: Array, x: Array, dx: Array) -> Array:
    """d(R^T x)/dq of both halves of x (6, ...): R^T (dx - w_k x x), with w_k = H_w N+ e_k."""
    R, W = kinematics.pose(q)[0], kinematics.subspace(q)[:3] @ kinematics.velocity_matrix(q)
    out = np.empty_like(dx)
    for half in (slice(0, 3), slice(3, 6)):
        for k in range(kinematics.nq):
            out[half, ..., k] = np.tensordot(R.T, dx[half, ..., k] - np.cross(W[:, k], x[half], axisb=0, axisc=0), 1)
    return out


def _relative_bias(kinematics: Any, q: Array, v: Array, dq: Array, dv: Array) -> tuple[Array, Array]:
    """From the derivatives of Hdot v in F axes to those of what M sees of it, in M axes: R^T (Hdot v - [0; V_w x V_v])."""
    H = kinematics.subspace(q)
    V, dV_dq = H @ v, np.einsum("ijk,j->ik", subspace(kinematics, q), v)
    relative = kinematics.bias(q, v) - _crossed(V, V)
    dq = _turned_to_M(kinematics, q, relative, dq - _crossed(dV_dq, V[:, None]) - _crossed(V[:, None], dV_dq))
    R = kinematics.pose(q)[0]
    dv = dv - _crossed(H, V[:, None]) - _crossed(V[:, None], H)
    return dq, np.concatenate([R.T @ dv[:3], R.T @ dv[3:]])


def _crossed(A: Array, B: Array) -> Array:
    """[0; A_w x B_v], columns by columns."""
    a, b = np.broadcast_arrays(A[:3], B[3:])
    linear = np.cross(a, b, axis=0)
    return np.concatenate([np.zeros_like(linear), linear])
