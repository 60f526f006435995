"""The possible bodies, frictions and rotor inertias that fit torques best: Levenberg-Marquardt over parameters that cannot leave what is
possible (consistent), with what the model says as a weak prior for what torques do not show."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbros.spatial.body_numbers import COLUMN, ROW, read
from mbros.study.identify import consistent
from mbros.study.identify.base import triangle

if TYPE_CHECKING:
    from mbros.study.identify.linear import Problem
    from mbros_core.typing import Array

STEPS, ENOUGH = 300, 1e-9
LONGEST = 1.0               # of a step in any of theta
FARTHEST = 6.0              # of logarithms: a mass 160,000 times as large or as small, a radius 400 times; beyond it digits are lost
SMALL = 1e-3                # where a square begins that is zero: at zero it has no slope


def possible(problem: Problem, R: Array, z: Array) -> tuple[dict[str, Any], dict[str, Any]]:
    """(values, standard deviations) by name, of min |R (x - x0) - z|^2 + |prior|^2."""
    ten, x0 = 10 * len(problem.whole), problem.x0
    bodies = [slice(10 * k, 10 * k + 10) for k in range(len(problem.whole))]
    start = np.concatenate([np.zeros(0), *(consistent.to_theta(x0[at]) for at in bodies), np.sqrt(np.maximum(x0[ten:], SMALL**2))])
    sizes = np.concatenate([np.zeros(0), *(consistent.spread(start[at]) for at in bodies), 3.0 * np.maximum(start[ten:], 1.0)])
    diagonal = np.arange(ten, len(x0))

    def unknowns(theta: Array) -> tuple[Array, Array]:
        x, slopes = np.empty(len(theta)), np.zeros((len(theta), len(theta)))
        for at in bodies:
            x[at], slopes[at, at] = consistent.of_theta(theta[at])
        x[ten:], slopes[diagonal, diagonal] = theta[ten:] ** 2, 2.0 * theta[ten:]
        return x, slopes

    def cost(theta: Array) -> tuple[float, Array, Array]:
        x, slopes = unknowns(theta)
        e = np.concatenate([R @ (x - x0) - z, (theta - start) / sizes])
        return float(e @ e), e, np.concatenate([R @ slopes, np.diag(1.0 / sizes)])

    reach = np.full(len(start), np.inf)
    for at in bodies:
        reach[at.start:at.start + 4] = FARTHEST
    theta = minimum(cost, start, reach)
    x, slopes = unknowns(theta)
    slopes[diagonal, diagonal] = 1.0                    # of squares themselves, which have an uncertainty at zero, too
    sizes[ten:] *= 2.0 * np.maximum(theta[ten:], 1.0)
    root = np.linalg.inv(triangle(np.concatenate([R @ slopes, np.diag(1.0 / sizes)])))
    return named(problem, x, slopes @ root)


def minimum(cost: Any, start: Array, reach: Array) -> Array:
    """Levenberg-Marquardt of cost(theta) = (|e|^2, e, de/dtheta), no farther from the start than `reach`."""
    theta = start
    now, e, J = cost(theta)
    damping = 1e-3
    for _ in range(STEPS):
        A = J.T @ J
        step = np.clip(-np.linalg.solve(A + damping * np.diag(np.diag(A)), J.T @ e), -LONGEST, LONGEST)
        there = np.clip(theta + step, start - reach, start + reach)
        then = cost(there)
        if then[0] <= now:
            done = now - then[0] <= ENOUGH * now
            theta, damping, (now, e, J) = there, max(damping / 5.0, 1e-12), then
            if done:
                break
        else:
            damping *= 4.0
            if damping > 1e12:
                break
    return theta


def named(problem: Problem, x: Array, root: Array) -> tuple[dict[str, Any], dict[str, Any]]:
    """Values and deviations of each parameter from unknowns x of covariance root root^T."""
    values: dict[str, Any] = {}
    deviations: dict[str, Any] = {}
    place = {name: k for k, name in enumerate(problem.columns)}
    for name in problem.names:
        kind, _, of = name.partition(".")
        if of in problem.whole and kind in ("mass", "com", "inertia"):
            at = slice(10 * problem.whole.index(of), 10 * problem.whole.index(of) + 10)
            value, slopes = read(x[at][None], kind)[0], own_slopes(x[at], kind) @ root[at]
        elif kind == "mass":
            value, slopes = x[place[name]:][:1], root[place[name]:][:1]
        else:
            first = place[problem.first_column(name)]
            size = len(problem.of_joint(name))
            value, slopes = x[first:first + size], root[first:first + size]
        sd = np.linalg.norm(slopes, axis=1)
        values[name], deviations[name] = (float(value[0]), float(sd[0])) if len(value) == 1 else (value.copy(), sd)
    return values, deviations


def own_slopes(row: Array, kind: str) -> Array:
    """d (mass, com or inertia about it) / d row."""
    m, h = row[0], row[1:4]
    if kind == "mass":
        return np.eye(10)[:1]
    if kind == "com":
        return np.concatenate([-h[:, None] / m**2, np.eye(3) / m, np.zeros((3, 6))], axis=1)
    out = np.concatenate([np.zeros((6, 4)), np.eye(6)], axis=1)
    out[:, 0] = (row[4:] - read(row[None], "inertia")[0]) / m
    for k in range(3):
        e = np.eye(3)[k]
        shift = 2.0 * h[k] * np.eye(3) - np.outer(e, h) - np.outer(h, e)
        out[:, 1 + k] = -shift[ROW, COLUMN] / m
    return out
