"""Parameters from a recording of a robot under servos: the fit of mbros.study.identify.fitting through a bench.

Devices carry no derivatives, so those of the motion are central differences of whole runs,

    dx/dp_i = (x(p + h_i e_i) - x(p - h_i e_i)) / 2 h_i

and by the second-order forward difference where p - h would be below what the parameter can be; those by the start are of first order.
h is 1 % of the number: a step in which an actuator comes to its limit is taken again, and makes the motion jump by little, which a small h
would take for a slope. Random numbers of the bench are the same in every run. Servos keep a motion where it was commanded, so that the
whole recording is one window, with one unknown start; the bench begins as it is switched on.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from mbros.model.parameters import put_all
from mbros.study.replay.compare_bench import BenchTrial
from mbros.study.identify.fitting import Fit, Fitting

if TYPE_CHECKING:
    from mbros.study.replay.trial import Trial
    from mbros_core.typing import Array

RELATIVE, OF_ZERO = 1e-2, 1e-3          # h: of the largest number of a parameter; in SI units where the model has 0
DELAY_STEP, START_STEP = 1e-2, 1e-4     # h: of a delay, in steps; of the start, rad or m and per second


class BenchFitting(Fitting):
    """A fit whose commands go through a bench."""

    def take(self, run: Trial) -> None:
        self.now = self.p.copy()

    def differences(self) -> Array:
        """h of every number of p and of the start."""
        sizes = []
        for name, now in self.split(self.now).items():
            largest = max(float(np.abs(self.before[name]).max()), float(np.abs(now).max()))
            h = max(RELATIVE * largest, 0.0 if np.any(self.before[name]) else OF_ZERO)
            sizes.append(DELAY_STEP * self.h if name == "delay" else h)
        return np.concatenate([np.repeat(sizes, self.sizes), np.full(2 * len(self.trial.names), START_STEP)])

    def run(self) -> Fit:
        found = super().run()
        found.limited = cast(BenchTrial, self.trial).devices.repeated
        return found

    def put(self, p: Array) -> None:
        """p into the model that is simulated; window() takes its differences around it."""
        put_all(self.model, self.trial.plant.state, {name: x for name, x in self.split(p).items() if name != "delay"})
        self.now = p.copy()

    def motion(self, p: Array, start: Array, delay: float) -> Array:
        """(samples, 2 k): positions and velocities at the measured times, from this start."""
        put_all(self.model, self.trial.plant.state, {name: x for name, x in self.split(p).items() if name != "delay"})
        q, v, _ = cast(BenchTrial, self.trial).simulated(float(p[-1]) if self.with_delay else delay, start)
        return np.concatenate([q + self.late[:, None] * v, v], axis=1)         # states are of times between two steps

    def window(self, part: slice, start: Array, delay: float) -> tuple[Array, Array]:
        """(e (samples, measured numbers), their differences by p and the start)."""
        x, m = np.concatenate([self.now, start]), len(self.now)
        least = np.concatenate([self.least, np.full(len(start), -np.inf)])

        def at(k: int, s: float) -> Array:
            moved = x.copy()
            moved[k] += s
            return self.motion(moved[:m], moved[m:], delay)[:, self.use]

        here = at(0, 0.0)
        J = np.empty((*here.shape, len(x)))
        for k, h in enumerate(self.differences()):
            if k >= m:
                J[:, :, k] = (at(k, h) - here) / h              # servos make little of where it began
            elif x[k] - h >= least[k]:
                J[:, :, k] = (at(k, h) - at(k, -h)) / (2.0 * h)
            else:
                J[:, :, k] = (4.0 * at(k, h) - at(k, 2.0 * h) - 3.0 * here) / (2.0 * h)
        self.put(self.now)
        return here - self.measured[:, self.use], J
