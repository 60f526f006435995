"""Exact derivatives of a joint's H, bias, N and N+, by complex step through the textbook in reference. Joints that users
write have theirs in law_gradients.py.

f(q + i h) = f(q) + i h f'(q) + O(h^2): with h = 1e-100 nothing is subtracted, and the derivative has full precision. The
last axis of each result is the coordinate differentiated by.
"""
from __future__ import annotations

import numpy as np

from mbros.diff import custom_joints as law_gradients

STEP = 1e-100


def _steps(f, x):
    """(..., n): derivatives of f by each component of x (n,)."""
    x = np.asarray(x, float)
    columns = [np.imag(np.asarray(f(x + 1j * STEP * e), complex)) / STEP for e in np.eye(len(x))]
    if columns:                                     # nq or nv of zero: no columns
        return np.stack(columns, axis=-1)
    return np.zeros(np.shape(f(x)) + (0,))


def _textbook(mobility):
    from reference import KINDS               # a fifth of mbros' import, needed here only

    parameters = tuple(mobility.parameters) + (0.0,) * (4 - len(mobility.parameters))
    return KINDS[mobility.row.name](parameters)


def _halves(R, x):
    return np.concatenate([R @ x[:3], R @ x[3:]])


def _frame(mobility, kind, q, in_M):
    """Takes components in M of the engine's joint to F (or M) of the user's."""
    A = np.eye(3) if mobility.A is None else mobility.A
    return A if in_M else A @ kind.pose(q)[0]


def subspace(mobility, q, in_M=False) -> np.ndarray:
    """dH/dq (6, nv, nq), H in F axes, or in M axes."""
    if mobility.law is not None:
        return law_gradients.subspace(mobility, q, in_M)
    kind = _textbook(mobility)
    return _steps(lambda x: _halves(_frame(mobility, kind, x, in_M), kind.subspace(x)), q)


def bias(mobility, q, v, in_M=False):
    """d(Hdot v)/dq (6, nq) and d(Hdot v)/dv (6, nv)."""
    if mobility.law is not None:
        return law_gradients.bias(mobility, q, v, in_M)
    kind = _textbook(mobility)

    def value(x, u):
        c = kind.bias(x, u) + np.zeros(6)
        if not in_M:
            V = kind.subspace(x) @ u
            # components in F change with M's turning too: R ([w] (S v) + cJ)
            c = c + np.concatenate([np.zeros(3), _cross(V[:3], V[3:])])
        return _halves(_frame(mobility, kind, x, in_M), c)

    q, v = np.asarray(q, float), np.asarray(v, float)
    return _steps(lambda x: value(x, v), q), _steps(lambda u: value(q, u), v)


def _cross(a, b):
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def qdot_matrix(mobility, q) -> np.ndarray:
    """dN/dq (nq, nv, nq)."""
    if mobility.law is not None:
        return law_gradients.qdot_matrix(mobility, q)
    kind = _textbook(mobility)
    return _steps(lambda x: _N(kind, x), q)


def velocity_matrix(mobility, q) -> np.ndarray:
    """dN+/dq (nv, nq, nq), of N+ = (N^T N)^-1 N^T."""
    if mobility.law is not None:
        return law_gradients.velocity_matrix(mobility, q)
    q = np.asarray(q, float)
    N, dN = _N(_textbook(mobility), q), qdot_matrix(mobility, q)
    G = np.linalg.inv(N.T @ N)
    dG = np.einsum("aik,aj->ijk", dN, N) + np.einsum("ai,ajk->ijk", N, dN)
    return np.einsum("ij,ajk->iak", G, dN) - np.einsum("ij,jlk,la->iak", G, dG, G @ N.T)


def _N(kind, q):
    return np.array([kind.rate(q, e) for e in np.eye(kind.nv)]).reshape(kind.nv, kind.nq).T
