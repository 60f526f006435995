"""Limits of a joint: pairs of vectors, lower and upper, -inf and inf where there is none."""
from __future__ import annotations

import numpy as np

from mbros.errors import ModelError, Problem


class Limits:
    """`lower` and `upper` (n,). Unpacks: low, high = limits. `bounded` (n,): where both are finite."""

    __slots__ = ("lower", "upper")

    def __init__(self, lower, upper):
        self.lower, self.upper = lower, upper

    @property
    def bounded(self) -> np.ndarray:
        return np.isfinite(self.lower) & np.isfinite(self.upper)

    def __iter__(self):
        return iter((self.lower, self.upper))

    def __getitem__(self, i):
        """(lower, upper) of component i."""
        return float(self.lower[i]), float(self.upper[i])

    def __len__(self):
        return len(self.lower)

    def __repr__(self):
        return f"Limits({self.lower.tolist()}, {self.upper.tolist()})"


class JointLimits:
    """Limits of position (nq,), velocity (nv,) and acceleration (nv,): each a Limits, or when given by a user a pair
    (lower, upper), one number meaning all components; None: no limits.

    A model holds position limits with stops; velocity limits are for sampling, checks and batches; acceleration limits are
    kept for planners.
    """

    __slots__ = ("position", "velocity", "acceleration")

    def __init__(self, position=None, velocity=None, acceleration=None):
        self.position, self.velocity, self.acceleration = position, velocity, acceleration

    def __repr__(self):
        return f"JointLimits(position={self.position}, velocity={self.velocity}, acceleration={self.acceleration})"


def pair(element: str, what: str, given, n: int) -> tuple[np.ndarray, np.ndarray]:
    """(lower, upper), each (n,), of what a user gave for `what` limits. Raises ModelError, a ValueError."""
    from mbros.checking import numbers, refuse

    try:
        lower, upper = given
    except (TypeError, ValueError):
        refuse(element, f"{what} limits are {given!r}", "Give a pair (lower, upper).")
    low = numbers(element, f"lower {what} limit", lower, n, finite=False, broadcast=True)
    high = numbers(element, f"upper {what} limit", upper, n, finite=False, broadcast=True)
    crossed = np.flatnonzero(~(low <= high))
    if crossed.size:
        i = int(crossed[0])
        raise ModelError(Problem(f"{element}, limit", f"lower {what} limit {low[i]:g} of coordinate {i} is above its upper limit "
                                 f"{high[i]:g}", "Swap them."))
    return low, high
