"""Base parameters: the combinations of a robot's parameters that its torques show, and what they do not show (Gautier 1991).

Of the columns of a regressor, each divided by its norm, a QR factorisation with pivoting finds r independent ones, W = W_1 [1 K]; then
tau = W_1 beta with beta = pi_1 + K pi_2. A column that is zero everywhere belongs to a parameter that no motion shows.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mbros.diff.regressor import regressor, regressor_names

if TYPE_CHECKING:
    from mbros import Model
    from mbros_core.typing import Array, IntArray

RANK = 1e-9             # columns shorter than this, of the longest, and remainders of unit columns, are zero
POINTS = 60             # random ones, for each column, divided by nv: many times more rows than columns
PRINTED = 1e-6          # factors below it are not printed


@dataclass(frozen=True)
class BaseParameters:
    """kept (r,): the independent columns; factors (r, p): beta = factors pi; unseen: names that no motion shows; names (r,): how each
    is composed, such as "Izz.link2 + 0.3 m.link3"."""

    columns: tuple[str, ...]
    kept: IntArray
    factors: Array
    unseen: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._name(row, k) for row, k in zip(self.factors, self.kept))

    def _name(self, row: Array, own: int) -> str:
        words = [self.columns[own]]
        for k in np.flatnonzero(np.abs(row) > PRINTED):
            if k != own:
                size = abs(row[k])
                words.append(f"{'-' if row[k] < 0 else '+'} {'' if abs(size - 1) < PRINTED else f'{size:.4g} '}{self.columns[k]}")
        return " ".join(words)

    def __len__(self) -> int:
        return len(self.kept)

    def __str__(self) -> str:
        lines = [f"{len(self)} base parameters of {len(self.columns)} parameters", *self.names]
        return "\n".join(lines + [f"no motion shows: {', '.join(self.unseen)}"] * bool(self.unseen))


def base_parameters(model: Model, *, seed: int = 0) -> BaseParameters:
    """Those of all parameters of the joint-torque regressor (mbros.diff.regressor), found at random configurations, velocities and
    accelerations of this seed. Cost: a QR factorisation of p columns, milliseconds for an arm."""
    return grouped(random_rows(model, np.random.default_rng(seed)), regressor_names(model))


def random_rows(model: Model, rng: np.random.Generator) -> Array:
    """(rows, p) of the regressor at random points, with velocities and accelerations of order 1."""
    n = max(20, POINTS * (10 * len(model.bodies) + 3 * model.nv) // max(model.nv, 1) // 10)
    q = np.array([model.random_configuration(rng) for _ in range(n)])
    Y = regressor(model, q, rng.normal(size=(n, model.nv)), rng.normal(size=(n, model.nv)))
    return Y.reshape(-1, Y.shape[-1])


def grouped(W: Array, columns: tuple[str, ...]) -> BaseParameters:
    """The base parameters of the columns of W (rows, p)."""
    R = triangle(W)
    norms = np.linalg.norm(R, axis=0)
    seen = norms > RANK * max(norms.max(initial=0.0), 1e-300)
    at = np.flatnonzero(seen)
    order, rank, rows = pivoted(R[:, at] / norms[at])
    kept, others = at[order[:rank]], at[order[rank:]]
    factors = np.zeros((rank, W.shape[1]))
    factors[np.arange(rank), kept] = 1.0
    if len(others):
        K = np.linalg.solve(rows[:, :rank], rows[:, rank:])
        factors[:, others] = K * (norms[others] / norms[kept][:, None])
        factors[np.abs(factors) < RANK * np.abs(factors).max()] = 0.0
    ranks = np.argsort(kept)
    return BaseParameters(columns, kept[ranks], factors[ranks], tuple(columns[k] for k in np.flatnonzero(~seen)))


def triangle(A: Array) -> Array:
    """R of A = Q R."""
    return np.asarray(np.linalg.qr(A, mode="r"))


def pivoted(A: Array) -> tuple[IntArray, int, Array]:
    """(order (n,), rank, R (rank, n) of A[:, order]): QR by Householder reflections, the longest remaining column next."""
    A, n = A.copy(), A.shape[1]
    order, rank = np.arange(n), 0
    for k in range(min(A.shape)):
        lengths = np.linalg.norm(A[k:, k:], axis=0)
        # of equally long ones the first: names of groups do not hang on rounding
        best = k + int(np.flatnonzero(lengths >= (1.0 - 1e-6) * lengths.max())[0])
        if lengths.max() < 1e3 * RANK:
            break
        A[:, [k, best]], order[[k, best]] = A[:, [best, k]], order[[best, k]]
        u = A[k:, k].copy()
        u[0] += np.copysign(np.linalg.norm(u), u[0])
        u /= np.linalg.norm(u)
        A[k:, k:] -= 2.0 * np.outer(u, u @ A[k:, k:])
        rank = k + 1
    return order, rank, A[:rank]
