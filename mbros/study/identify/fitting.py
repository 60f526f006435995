"""Parameters of a model from a recording of the robot's motion: those with which the simulation goes where the robot went.

Gauss-Newton with the sensitivities of the simulation (sensitivity). A recording is cut into windows; the state at which each begins is not
what was measured there, which has noise, but unknown, too, and taken out of the equations window by window:

    min  sum over windows, samples, joints of ((x(t; p, x_0) - measured) / sigma)^2 over p and every x_0

sigma, of positions and velocities of each joint, is what is left, and what is left says how uncertain p is.
"""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from mbros.errors import MbrosError
from mbros.model.parameters import limits, put_all
from mbros.study.replay.held_commands import Commands
from mbros.study.identify.base import triangle
from mbros.study.identify.result import Found
from mbros.study.identify.sensitivity import rollout

if TYPE_CHECKING:
    from mbros import Model
    from mbros.study.replay.trial import Trial
    from mbros_core.typing import Array

STEPS, ROUNDS, ENOUGH, SETTLED = 40, 6, 1e-7, 0.02
SHORTEST = 1e-5             # of a step
MOST_CONDITION = 1e14       # of the normal matrix of parameters in units of their own
DELAY_LIMIT = 0.5           # s
SMALLEST = 1e-12            # of the largest measured number: less is no noise


@dataclass
class Fit(Found):
    """What a recorded motion says of parameters. residual: root mean square of what is left, {joint: (rad or m, per second)}; noise free
    velocities that were not measured are NaN. samples: states used; windows: of how many parts; iterations: of Gauss-Newton.
    bench: whether commands went through one; limited: steps of the last run in which an actuator came to a limit."""

    residual: dict[str, tuple[float, float]] = field(default_factory=dict)
    samples: int = 0
    windows: int = 0
    iterations: int = 0
    bench: bool = False
    limited: int = 0

    @property
    def delay(self) -> float | None:
        """Of the commands, s, where it was fitted."""
        return self.values.get("delay")

    def __str__(self) -> str:
        left = ", ".join(f"{joint} {q:.3g}" for joint, (q, _) in self.residual.items())
        return "\n".join([f"{self.samples} states in {self.windows} windows, {self.iterations} iterations"
                          f"{self.bench * ', through the bench'}; left of positions: {left}",
                          *([f"{self.limited} steps with an actuator at its limit, where motions jump: uncertainties may be too small; "
                             "move within the limits"] if self.limited else []), *self.table()])


class Fitting:
    """A fit in progress: parameters p, a start (2 k,) for each window, and the noise of every measured number."""

    def __init__(self, who: str, model: Model, run: Trial, names: list[str], delay: float) -> None:
        self.who, self.model, self.trial, self.h = who, model, run, run.dt
        self.with_delay = "delay" in names
        self.names = tuple(name for name in names if name != "delay")
        self.delay, self.state = delay, model.default_state()
        self.before = {name: model.parameter(self.state, name) for name in self.names} | ({"delay": delay} if self.with_delay else {})
        self.order = [*self.names, *(["delay"] if self.with_delay else [])]
        self.sizes = [np.size(self.before[name]) for name in self.order]
        self.p = np.concatenate([np.ravel(self.before[name]) for name in self.order]).astype(float)
        least = [-DELAY_LIMIT if name == "delay" else limits(model, name)[0] for name in self.order]
        self.least = np.repeat([-np.inf if x is None else x for x in least], self.sizes)
        self.at_q, self.at_v = np.array(run.at_q), np.array(run.at_v)
        self.steps = run.steps
        self.late = run.times - self.steps * self.h
        self.take(run)
        begins = [0]
        for k, time in enumerate(run.times):
            if not self.trial.through_bench and time - run.times[begins[-1]] >= run.window:
                begins.append(k)
        self.parts = [slice(a, b) for a, b in zip(begins, [*begins[1:], len(run.times)]) if b - a >= 3]
        self.starts = [np.concatenate([run.q[part.start], run.v[part.start]]) for part in self.parts]
        self.measured = np.concatenate([run.q, run.v], axis=1)
        self.use = np.arange(2 * len(run.names) if run.has_velocities else len(run.names))
        self.used = sum(part.stop - part.start for part in self.parts)
        unknown = len(self.p) + 2 * len(run.names) * len(self.parts)
        self.freedom = self.used * len(self.use) - unknown
        if self.freedom <= 0:
            raise MbrosError(f"{who}: {self.used * len(self.use)} measured numbers are fewer than {unknown} unknowns, {len(self.p)} "
                             f"parameters and the start of {len(self.parts)} windows; record longer, or take a longer window=")

    def take(self, run: Trial) -> None:
        """The efforts that are commanded, clamped as where commands enter a simulation."""
        limit = np.asarray(self.model.spec.effort_limit)[self.at_v]
        self.commands = Commands(run.command_times, np.clip(run.tau, -limit, limit))

    def run(self) -> Fit:
        sigma, iterations = self.roughness(), 0
        for _ in range(ROUNDS):                         # with noise as the round before leaves it
            _, left, n = self.minimized(sigma)
            iterations += n
            before, sigma = sigma, self.above(np.sqrt(left / self.used * (self.used * len(self.use) / self.freedom)))
            if np.abs(np.log(sigma / before)).max() < SETTLED:
                break
        H, left, *_ = self.normal(sigma, self.p, self.starts, self.delay_of(self.p))
        sd = np.sqrt(np.diag(np.linalg.inv(H)))
        values, deviations = self.split(self.p), self.split(sd)
        rms = np.full(2 * len(self.trial.names), np.nan)
        rms[self.use] = np.sqrt(left / self.used)
        k = len(self.trial.names)
        residual = {name: (float(rms[j]), float(rms[k + j])) for j, name in enumerate(self.trial.names)}
        return Fit(self.model, values, deviations, self.before, residual, self.used, len(self.parts), iterations,
                   self.trial.through_bench)

    def above(self, sigma: Array) -> Array:
        return np.maximum(sigma, SMALLEST * max(float(np.abs(self.measured).max()), 1.0))

    def roughness(self) -> Array:
        """What the third differences of the measured numbers say of their noise, which it is where motion is smooth from sample to sample:
        1.48 times their median is the standard deviation of a normal distribution, times sqrt(20)."""
        third = np.abs(np.diff(self.measured[:, self.use], 3, axis=0))
        return self.above(1.4826 * np.median(third, axis=0) / np.sqrt(20.0))

    def split(self, p: Array) -> dict[str, Any]:
        """{name: number or (k,)}."""
        parts = np.split(p, np.cumsum(self.sizes)[:-1])
        return {name: part.copy() if np.ndim(self.before[name]) else float(part[0]) for name, part in zip(self.order, parts)}

    def delay_of(self, p: Array) -> float:
        return float(p[-1]) if self.with_delay else self.delay

    def put(self, p: Array) -> None:
        put_all(self.model, self.state, {name: value for name, value in self.split(p).items() if name != "delay"})

    def minimized(self, sigma: Array) -> tuple[Array, Array, int]:
        """Gauss-Newton, with steps that are shortened until they lead down; (normal matrix of p, what is left (sums of squares of the
        measured numbers), iterations)."""
        H, left, g, back = self.normal(sigma, self.p, self.starts, self.delay_of(self.p))
        now, part = float((left / sigma**2).sum()), 1.0
        for k in range(STEPS):
            self.refuse_blind(H)
            whole = self.step(H, g)
            moves = [of(whole) for of in back]
            while True:
                p, starts = self.p + part * whole, [start + part * move for start, move in zip(self.starts, moves)]
                try:
                    self.put(p)
                    then = self.normal(sigma, p, starts, self.delay_of(p))
                    cost = float((then[1] / sigma**2).sum())
                except MbrosError:                      # an impossible body, or a motion that ran away
                    cost = np.inf
                if cost <= now or part < SHORTEST:
                    break
                part /= 4.0
            if not cost <= now:
                self.put(self.p)
                return H, left, k
            small = part == 1.0 and now - cost <= ENOUGH * now
            self.p, self.starts, part = p, starts, min(4.0 * part, 1.0)
            (H, left, g, back), now = then, cost
            if small:
                break
        return H, left, k + 1

    def refuse_blind(self, H: Array) -> None:
        """MbrosError for parameters that leave no trace in this motion."""
        scale = np.diag(H)
        blind = [name for name, size in self.split(scale).items() if not (np.asarray(size) > 0.0).all()]
        if blind or np.linalg.cond(H / np.sqrt(np.outer(scale, scale))) > MOST_CONDITION:
            raise MbrosError(f"{self.who}: this motion says nothing of {', '.join(blind) or 'some combination of these parameters'}; fit "
                             "fewer, or move otherwise")

    def step(self, H: Array, g: Array) -> Array:
        """-H^-1 g with p kept above its least: what would go below it stays there."""
        step, held = np.zeros(len(g)), np.zeros(len(g), bool)
        for _ in range(len(g) + 1):
            free = ~held
            step[held] = (self.least - self.p)[held]
            step[free] = -np.linalg.solve(H[np.ix_(free, free)], g[free] + H[np.ix_(free, held)] @ step[held]) if free.any() else 0.0
            below = free & (self.p + step < self.least)
            if not below.any():
                break
            held |= below
        return step

    def normal(self, sigma: Array, p: Array, starts: list[Array], delay: float) -> tuple[Array, Array, Array, list[Any]]:
        """(H, sums of squares, gradient g, [window's start's step of a step of p]): starts taken out, window by window."""
        m = len(p)
        H, g, left, back = np.zeros((m, m)), np.zeros(m), np.zeros(len(self.use)), []
        for part, start in zip(self.parts, starts):
            e, J = self.window(part, start, delay)
            left += (e**2).sum(axis=0)
            e, J = (e / sigma).ravel(), (J / sigma[:, None]).reshape(e.size, -1)
            n = J.shape[1] - m
            R = triangle(np.concatenate([J[:, m:], J[:, :m], e[:, None]], axis=1))
            H += R[n:, n:n + m].T @ R[n:, n:n + m]
            g += R[n:, n:n + m].T @ R[n:, n + m]
            back.append(self.back(R[:n], n, m))
        return H, left, g, back

    @staticmethod
    def back(R: Array, n: int, m: int) -> Any:
        return lambda dp: -np.linalg.solve(R[:, :n], R[:, n + m] + R[:, n:n + m] @ dp)

    def window(self, part: slice, start: Array, delay: float) -> tuple[Array, Array]:
        """(e (samples, measured numbers), their derivatives by p and the start)."""
        k, first = len(self.at_q), int(self.steps[part.start])
        self.state.q[:], self.state.v[:] = self.model.default_state().q, 0.0
        self.state.q[self.at_q], self.state.v[self.at_v] = start[:k], start[k:]
        n = int(self.steps[part.stop - 1]) - first
        tau, slopes = np.zeros((n, self.model.nv)), np.zeros((n, self.model.nv))
        tau[:, self.at_v], slopes[:, self.at_v] = self.commands.steps(first, n, self.h, delay)
        x, J = rollout(self.model, self.state, tau, slopes if self.with_delay else None, self.names, self.at_q, self.at_v,
                       self.steps[part] - first, self.h)
        late = self.late[part]
        x[:, :k] += late[:, None] * x[:, k:]                # states are of times between two steps
        J[:, :k] += late[:, None, None] * J[:, k:]
        return (x - self.measured[part])[:, self.use], J[:, self.use]
