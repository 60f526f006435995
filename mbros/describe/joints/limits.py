"""Limits of a joint: pairs of vectors, lower and upper, -inf and inf where there is none; and what is said of a position beyond them."""
from __future__ import annotations

from collections.abc import Iterator
from math import radians, tau
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from mbros_core.support.numbers import short

from mbros.arguments import is_whole, numbers, refuse
from mbros.describe.joints.kinds import row_of
from mbros.errors import CoordinateIndexError, MbrosError, ModelError, PositionLimitWarning, Problem, warn

if TYPE_CHECKING:
    from mbros_core.typing import Array, ArrayLike

HELD_WITHIN = {"rad": 0.01, "m": 0.001}         # a default stop holds a joint's full effort within this distance


def _fixed(self: object, name: str, value: object) -> NoReturn:
    raise MbrosError(f"{name} of {type(self).__name__} cannot be set, and would change no joint. Use set_position_limits(lower, upper), "
                     "set_velocity_limits or set_acceleration_limits of a joint's description, or make other JointLimits")


class Limits:
    """`lower` and `upper` (n,). Unpacks: low, high = limits. `bounded` (n,): where both are finite."""

    __slots__ = ("lower", "upper")

    lower: Array
    upper: Array

    def __init__(self, lower: Array, upper: Array) -> None:
        object.__setattr__(self, "lower", lower)
        object.__setattr__(self, "upper", upper)

    __setattr__ = _fixed

    def __reduce__(self) -> tuple[Any, ...]:
        return Limits, (self.lower, self.upper)

    @property
    def bounded(self) -> np.ndarray:
        return np.isfinite(self.lower) & np.isfinite(self.upper)

    def __iter__(self) -> Iterator[Array]:
        return iter((self.lower, self.upper))

    def __getitem__(self, i: int) -> tuple[float, float]:
        """(lower, upper) of component i, plain numbers."""
        if not (is_whole(i) and -len(self) <= i < len(self)):
            raise CoordinateIndexError(f"limits: there is no component {short(i)}; there are {len(self)}, counted from 0")
        return float(self.lower[i]), float(self.upper[i])

    def __len__(self) -> int:
        return len(self.lower)

    def __repr__(self) -> str:
        return f"Limits({self.lower.tolist()}, {self.upper.tolist()})"


class JointLimits:
    """Limits of position (nq,), velocity, acceleration and effort (nv,): each a Limits, or when given by a user a pair
    (lower, upper), one number meaning all components; None: no limits.

    A model holds position limits with stops, and clamps commands to effort limits, which are symmetric; velocity limits are for
    sampling, checks and batches; acceleration limits are kept for planners.
    """

    __slots__ = ("position", "velocity", "acceleration", "effort")

    position: Limits            # of a model; what a user gave may be a pair
    velocity: Limits
    acceleration: Limits
    effort: Limits

    def __init__(self, position: Any = None, velocity: Any = None, acceleration: Any = None, effort: Any = None) -> None:
        for name, given in zip(self.__slots__, (position, velocity, acceleration, effort)):
            object.__setattr__(self, name, given)

    __setattr__ = _fixed

    def __reduce__(self) -> tuple[Any, ...]:
        return JointLimits, (self.position, self.velocity, self.acceleration, self.effort)

    def __repr__(self) -> str:
        return f"JointLimits({', '.join(f'{name}={getattr(self, name)}' for name in self.__slots__)})"


def pair(element: str, what: str, given: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    """(lower, upper), each (n,), of what a user gave for `what` limits. Raises ModelError, a ValueError."""
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


def wrong(low: Array, high: Array) -> tuple[int, str, str] | None:
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


# -------------------------------------------------------------------------------------- positions of a state, beyond their limits

def reach(joint: Any) -> tuple[np.ndarray, np.ndarray]:
    """(lower, upper), each (nq,): the limits of a model's joint, and as far beyond them as a stop under load gives way."""
    give = np.array([HELD_WITHIN.get(unit, 0.01) for unit in row_of(joint._exact_kind).position_units])
    return joint.limits.position.lower - give, joint.limits.position.upper + give


def reaches(model: Any) -> tuple[np.ndarray, np.ndarray]:
    """(lower, upper), each (nq,): those of all joints of a model, which keeps them; without bounds where a joint follows another."""
    found = model.__dict__.get("_reaches")
    if found is None:
        found = np.full(model.nq, -np.inf), np.full(model.nq, np.inf)
        for joint in model.joints:
            if joint.nq and not joint.follows:
                found[0][joint.q_slice], found[1][joint.q_slice] = reach(joint)
        model.__dict__["_reaches"] = found
    return found


def beyond(joint: Any, q: ArrayLike) -> str:
    """The sentence about the first of a model's joint's positions q (nq,) that is out of its reach; "" when none is."""
    for i, (x, low, high) in enumerate(zip(np.asarray(q, float).tolist(), *(side.tolist() for side in reach(joint)))):
        if not low <= x <= high:
            return _sentence(joint, i, x)
    return ""


def beyond_in(state: Any) -> list[str]:
    """Those sentences about every joint of a state."""
    return [text for joint in state.model.joints if joint.nq and not joint.follows and (text := beyond(joint, state.q[joint.q_slice]))]


def warn_beyond(*sentences: str) -> None:
    """A PositionLimitWarning for each sentence that is there."""
    for sentence in filter(None, sentences):
        warn(sentence, PositionLimitWarning)


def _sentence(joint: Any, i: int, x: float) -> str:
    unit = row_of(joint._exact_kind).position_units[i]
    low, high = joint.limits.position[i]
    side, limit = ("lower", low) if x < low else ("upper", high)
    name = f" {joint.names.position_suffixes[i]}" if joint.nq > 1 else ""
    text = f"{joint._label}: its position{name} of {x:g} {unit}".rstrip() + f" is beyond its {side} limit {limit:g}"
    if row_of(joint._exact_kind).velocities_are_rates and joint.model.spec.stop_stiffness[joint.v_slice.start + i] > 0.0:
        text += ", and its stop will throw it back"
    if unit == "rad" and abs(x) > tau and low <= radians(x) <= high:         # more than a turn, and likely as degrees
        text += f" (angles are in rad: {x:g} degrees are {radians(x):.4g})"
    return text
