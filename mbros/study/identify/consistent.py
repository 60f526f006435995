"""Inertial parameters that a body can have, whatever numbers describe them: the log-Cholesky parameters (Rucker and Wensing 2022).

The pseudo-inertia of a body is J = U U^T with

    U = e^alpha [[e^d1, s12, s13, t1], [0, e^d2, s23, t2], [0, 0, e^d3, t3], [0, 0, 0, 1]],   theta = (alpha, d1 d2 d3, s12 s23 s13, t)

so that every theta in R^10 is a mass above zero, m = e^(2 alpha), a centre of mass t, and a second moment about it that is positive
definite: a search over theta cannot leave what is possible. Friction, damping and rotor inertias are s^2.
"""
from __future__ import annotations

import numpy as np
from mbros_core.typing import Array

from mbros.spatial.body_numbers import COLUMN, ROW, second_moments

THIN = 1e-6             # of the largest second moment: rods, plates and points are taken to be so thick
PLACES = ((0, 1), (1, 2), (0, 2))                   # of s12 s23 s13
FLIP = np.eye(4)[::-1]


def pseudo_inertia(row: Array) -> Array:
    """J (4, 4) of (m, m c, Ixx Iyy Izz Ixy Ixz Iyz about Bo)."""
    J = np.empty((4, 4))
    J[:3, :3] = second_moments(row[4:])
    J[:3, 3] = J[3, :3] = row[1:4]
    J[3, 3] = row[0]
    return J


def row_of(J: Array) -> Array:
    """The inverse of pseudo_inertia, linear in J (..., 4, 4): also of derivatives."""
    squares = J[..., [0, 1, 2], [0, 1, 2]].sum(axis=-1, keepdims=True) * (ROW == COLUMN)
    return np.concatenate([J[..., 3, 3:], J[..., :3, 3], squares - J[..., ROW, COLUMN]], axis=-1)


def to_theta(row: Array) -> Array:
    """theta (10,) of a body's row; of an impossible body, that of one near it."""
    m, c = max(row[0], 1e-9), row[1:4] / max(row[0], 1e-9)
    S = pseudo_inertia(row)[:3, :3] - m * np.outer(c, c)
    sizes, axes = np.linalg.eigh(0.5 * (S + S.T))
    sizes = np.maximum(sizes, max(THIN * sizes[-1], THIN * m * 1e-4))
    J = np.empty((4, 4))
    J[:3, :3] = (axes * sizes) @ axes.T + m * np.outer(c, c)
    J[:3, 3] = J[3, :3] = m * c
    J[3, 3] = m
    U = FLIP @ np.linalg.cholesky(FLIP @ J @ FLIP) @ FLIP
    V = U / U[3, 3]
    return np.concatenate([[np.log(U[3, 3])], np.log(np.diag(V)[:3]), [V[place] for place in PLACES], V[:3, 3]])


def of_theta(theta: Array) -> tuple[Array, Array]:
    """(row (10,), d row / d theta (10, 10))."""
    V = np.eye(4)
    V[[0, 1, 2], [0, 1, 2]] = np.exp(theta[1:4])
    for place, s in zip(PLACES, theta[4:7]):
        V[place] = s
    V[:3, 3] = theta[7:]
    U = np.exp(theta[0]) * V
    J = U @ U.T
    dU = np.zeros((10, 4, 4))
    dU[0] = U
    for k in range(1, 10):
        place = (k - 1, k - 1) if k < 4 else PLACES[k - 4] if k < 7 else (k - 7, 3)
        dU[k][place] = U[place] if k < 4 else np.exp(theta[0])
    half = dU @ U.T
    return row_of(J), row_of(half + np.swapaxes(half, 1, 2)).T


def spread(theta: Array) -> Array:
    """How much each of theta may be expected to differ from what a drawing says, (10,): a factor e of the mass and of the radii of
    gyration, and such a radius for lengths."""
    radius = max(float(np.exp(theta[1:4]).max()), 1e-3)
    return np.concatenate([np.ones(4), np.full(6, radius)])
