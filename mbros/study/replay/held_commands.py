"""Commands of a recording over the steps of a simulation: each holds until the next one, and a delay may be no whole number of steps."""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from mbros_core.typing import Array

SIDE = 1e-9             # s: two times that are so near are one


class Commands:
    """Numbers that are held, each until the next one: tau (n, k) from times (n,), s, on, zero before."""

    def __init__(self, times: Array, tau: Array) -> None:
        self.times, self.tau = times, np.concatenate([np.zeros((1, tau.shape[1])), tau])
        impulses = np.cumsum(np.diff(times)[:, None] * tau[:-1], axis=0)
        self.impulse = np.concatenate([np.zeros((1, tau.shape[1])), impulses]) if len(times) else impulses

    def steps(self, first: int, n: int, h: float, delay: float) -> tuple[Array, Array]:
        """(tau (n, k), its derivative by the delay (n, k)) of steps first .. first + n of length h: their mean over each step, which moves
        smoothly with a delay that is no whole number of steps; to the bit what is held, where that is one row in the whole step."""
        ends = (first + np.arange(n + 1)) * h - delay
        before, after = (np.searchsorted(self.times, ends + side, "right") for side in (-SIDE, SIDE))
        row = np.maximum(after - 1, 0)
        impulse = self.impulse[row] + (ends - self.times[row])[:, None] * self.tau[after] * (after > 0)[:, None]
        here = 0.5 * (self.tau[before] + self.tau[after])
        mean = np.where((after[:-1] == before[1:])[:, None], self.tau[after[:-1]], np.diff(impulse, axis=0) / h)
        return mean, -np.diff(here, axis=0) / h


class JointCommands:
    """Commands as joints get them. given (n, 3, k): positions, velocities and efforts from times (n,), s, on; NaN: not commanded.

    What a message says of a joint is all that is commanded of it from then on; a joint of which it says nothing keeps what it had.
    """

    def __init__(self, times: Array, given: Array) -> None:
        said = np.isfinite(given).any(axis=1)
        last = np.maximum.accumulate(np.where(said, np.arange(len(given))[:, None], -1))[:, None]
        held = np.where(last >= 0, np.take_along_axis(given, np.maximum(last, 0), axis=0), np.nan)
        self.shape, there = held.shape[1:], np.isfinite(held)
        both = np.concatenate([np.where(there, held, 0.0), there], axis=1)
        self.commands = Commands(times, both.reshape(len(given), -1))

    def steps(self, first: int, n: int, h: float, delay: float) -> Array:
        """(n, 3, k) of steps first .. first + n of length h: the mean over each step of what is commanded in it, and NaN where that is for
        half of the step or less."""
        both = self.commands.steps(first, n, h, delay)[0].reshape(n, 2, *self.shape)
        share = both[:, 1]
        return np.where(share > 0.5, both[:, 0] / np.maximum(share, 0.5), np.nan)
