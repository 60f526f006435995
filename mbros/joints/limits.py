"""Limits of a joint: pairs of vectors, lower and upper, -inf and inf where there is none."""
from __future__ import annotations

import numpy as np

from mbros_core.joints.registry import row_of

from mbros.errors import MbrosError, ModelError, Problem


class LimitWarning(UserWarning):
    """A joint stands beyond its position limits, where its stop will push it back as hard as it is deep."""


def _fixed(self, name, value):
    raise MbrosError(f"{name} of {type(self).__name__} cannot be set, and would change no joint. Use set_position_limits(lower, upper), "
                     "set_velocity_limits or set_acceleration_limits of a joint's description, or make other JointLimits")


class Limits:
    """`lower` and `upper` (n,). Unpacks: low, high = limits. `bounded` (n,): where both are finite."""

    __slots__ = ("lower", "upper")

    def __init__(self, lower, upper):
        object.__setattr__(self, "lower", lower)
        object.__setattr__(self, "upper", upper)

    __setattr__ = _fixed

    def __reduce__(self):
        return Limits, (self.lower, self.upper)

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
        for name, given in (("position", position), ("velocity", velocity), ("acceleration", acceleration)):
            object.__setattr__(self, name, given)

    __setattr__ = _fixed

    def __reduce__(self):
        return JointLimits, (self.position, self.velocity, self.acceleration)

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
    found = wrong(low, high)
    if found is not None:
        i, reason, remedy = found
        raise ModelError(Problem(f"{element}, limit", f"lower {what} limit {low[i]:g} of coordinate {i} {reason}", remedy))
    return low, high


def wrong(low, high) -> tuple[int, str, str] | None:
    """Why (low, high) are no limits: (coordinate, what is wrong with its lower limit, remedy). None when they are."""
    for i, (a, b) in enumerate(zip(low.tolist(), high.tolist())):
        if a <= b and a < np.inf and b > -np.inf:
            continue
        if a != a or b != b:
            return i, f"and upper limit {b:g} are not both numbers", "NaN is not a limit; -inf and inf are none."
        if a > b:
            return i, f"is above its upper limit {b:g}", "Swap them."
        return i, f"and upper limit {b:g} leave no position", "No limit is -inf below and inf above."
    return None


def outside(model, state) -> dict[str, str]:
    """{joint: sentence} of the joints that a stop will push back from where they are in a state."""
    found = {}
    spec, k = model.spec, 0
    for i, leader in enumerate(spec.leader):
        row = row_of(spec, i)
        if leader >= 0:
            continue
        for q in range(k, k + row.nq if row.velocities_are_rates else k):
            if state.q[q] < spec.q_lower[q] or state.q[q] > spec.q_upper[q]:
                found.setdefault(spec.joint_names[i], outside_sentence(model.position_names[q], state.q[q], spec.q_lower[q], spec.q_upper[q]))
        k += row.nq
    return found


def outside_sentence(name: str, q: float, lower: float, upper: float) -> str:
    """What becomes of a coordinate that is put beyond its limits."""
    return f"joint {name!r} starts at {q:g}, outside its limits {lower:g} to {upper:g}: its stop will push it back"
