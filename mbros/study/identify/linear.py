"""The linear problem: which columns of the regressor are asked for, and all samples reduced to a triangle of them."""
from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from mbros.diff.regressor import OF_A_JOINT, regressor, regressor_names, regressor_parameters
from mbros.errors import MbrosError
from mbros.spatial.body_numbers import SIZES
from mbros.study.identify.base import BaseParameters, grouped, random_rows, triangle
from mbros.study.identify.samples import Samples

if TYPE_CHECKING:
    from mbros import Model
    from mbros_core.engine._engine import State
    from mbros_core.typing import Array, IntArray

BLOCK = 1 << 22             # numbers of a regressor that are in memory at a time


class Problem:
    """Which columns of the regressor are asked for, and what they are multiplied with: unknowns x, pi = pi_0 + columns x."""

    def __init__(self, who: str, model: Model, state: State, names: list[str]) -> None:
        self.who, self.model, self.state, self.names = who, model, state, names
        self.pi = regressor_parameters(model, state)
        parts: dict[str, set[str]] = {}
        for name in names:
            kind, _, of = name.partition(".")
            if kind in SIZES:
                parts.setdefault(of, set()).add(kind)
        for of, kinds in parts.items():
            if kinds != set(SIZES) and kinds != {"mass"}:
                raise MbrosError(f"{who}: parameters: of body {of!r} expected mass.{of}, com.{of} and inertia.{of} together, or the mass "
                                 f"alone, got {', '.join(f'{kind}.{of}' for kind in sorted(kinds))}: torques are linear in nothing else")
        self.whole = [of for of, kinds in parts.items() if len(kinds) > 1]          # bodies of which all ten are asked for: x begins so
        every, eye, bodies = regressor_names(model), np.eye(len(self.pi)), model.spec.body_names[1:]
        columns, self.columns = [], list[str]()
        for of in sorted(parts, key=lambda of: of not in self.whole):
            at = np.arange(10) + 10 * bodies.index(of)
            whole = of in self.whole
            columns.append(eye[:, at] if whole else eye[:, at] @ (self.pi[at] / self.pi[at[0]])[:, None])
            self.columns += [every[k] for k in at] if whole else [f"mass.{of}"]
        for name in names:
            at = self.of_joint(name)
            columns.append(eye[:, at])
            self.columns += [every[k] for k in at]
        self.map = np.concatenate(columns, axis=1)
        self.x0 = np.concatenate([self.pi[:0], *(self.pi[10 * bodies.index(of):][:10 if of in self.whole else 1]
                                                 for of in sorted(parts, key=lambda of: of not in self.whole)),
                                  *(self.pi[self.of_joint(name)] for name in names)])

    def of_joint(self, name: str) -> IntArray:
        """Where the numbers of a parameter of a joint are in pi; of others none."""
        kind, _, of = name.partition(".")
        if kind not in OF_A_JOINT:
            return np.arange(0)
        own = self.model.joint(of).v_slice
        first = len(self.pi) - (len(OF_A_JOINT) - OF_A_JOINT.index(kind)) * self.model.nv
        return first + np.arange(own.start, own.stop)

    def first_column(self, name: str) -> str:
        """The name of the first column of a parameter of a joint."""
        return regressor_names(self.model)[self.of_joint(name)[0]]

    def base(self) -> BaseParameters:
        """The base parameters of what is asked for."""
        return grouped(random_rows(self.model, np.random.default_rng(0)) @ self.map, tuple(self.columns))


def parts_of(problem: Problem, given: Samples) -> Iterator[tuple[Array, Array]]:
    """(Y (k, nv, p) over the unknowns, tau less what the model gives (k, nv)), some samples at a time."""
    model = problem.model
    size = max(len(problem.x0) // model.nv + 1, BLOCK // (model.nv * len(problem.pi)))
    for start in range(0, len(given), size):
        q, v, vdot, tau = (x[start:start + size] for x in (given.q, given.v, given.vdot, given.tau))
        known = model.batch(q, v, state=problem.state).inverse_dynamics(vdot)
        yield regressor(model, q, v, vdot, state=problem.state) @ problem.map, tau - known


def reduced(problem: Problem, given: Samples, weights: Array) -> tuple[Array, Array]:
    """(R (p, p), z (p,)): |R dx - z|^2 + a constant = |weights (Y dx - (tau - tau of the model))|^2, dx = x - x0."""
    p = len(problem.x0)
    stack = np.zeros((0, p + 1))
    for Y, left in parts_of(problem, given):
        rows = np.concatenate([Y, left[:, :, None]], axis=2) * weights[:, None]
        stack = triangle(np.concatenate([stack, rows.reshape(-1, p + 1)]))
    full = np.zeros((p + 1, p + 1))
    full[:len(stack)] = stack
    return full[:p, :p], full[:p, p]


def residual_rms(problem: Problem, given: Samples, x: Array) -> Array:
    """(nv,): root mean square of what is left of tau with these unknowns."""
    total = np.zeros(problem.model.nv)
    for Y, left in parts_of(problem, given):
        total += ((left - Y @ (x - problem.x0)) ** 2).sum(axis=0)
    return np.sqrt(total / len(given))
