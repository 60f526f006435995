"""The joint kinds that users name: those of the engine's registry, and "continuous", a revolute joint without limits.

Nothing is listed here: sizes, names and units come from mbros_core.joints.registry, and whether a kind takes an axis is asked
of the engine. A kind added there is known here.
"""
from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from mbros_core.joints.registry import BY_NAME, ROWS, user_row
from mbros_core.support.numbers import floats


if TYPE_CHECKING:
    from mbros_core.joints.registry import JointKind
    from typing_extensions import Self

ALIASES = {"continuous": "revolute"}        # the user's word: the engine's
KINDS = {**{row.name: (row.nq, row.nv) for row in ROWS}, **{name: (BY_NAME[of].nq, BY_NAME[of].nv) for name, of in ALIASES.items()}}

# Where words of users are in the positions: default_angle, default_translation.
TURNING = ("revolute", "continuous", "screw", "cylindrical")         # the angle comes first; "circular" has it as (cos, sin)
TRANSLATION = {"prismatic": slice(0, None), "translation2": slice(0, None), "translation3": slice(0, None),
               "cylindrical": slice(1, None), "planar": slice(0, 2)}

# Every joint with one position and one velocity coordinate: those that can follow another (URDF mimic), or lead.
ONE_AXIS = tuple(kind for kind, sizes in KINDS.items() if sizes == (1, 1))


class UserKind(str):
    """The kind of a joint with a law of its own: reads "user", and is equal to itself only."""

    law: Any

    def __new__(cls, law: Any) -> Self:
        self = str.__new__(cls, "user")
        self.law = law
        return self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UserKind) and other.law is self.law

    def __ne__(self, other: Any) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return id(self.law)

    def __reduce__(self) -> tuple[Any, ...]:
        return UserKind, (self.law,)


def engine_kind(kind: str) -> str:
    """The engine's name of a kind."""
    return "user" if isinstance(kind, UserKind) else ALIASES.get(kind, kind)


def row_of(kind: str) -> JointKind:
    """The registry row of a kind."""
    return user_row(kind.law) if isinstance(kind, UserKind) else BY_NAME[ALIASES.get(kind, kind)]


def sizes(kind: str) -> tuple[int, int]:
    """(nq, nv) of a kind."""
    return (kind.law.nq, kind.law.nv) if isinstance(kind, UserKind) else KINDS[kind]


def six_from_pair(kind: str, value: Any) -> Any:
    """Damping of a floating joint given as (angular, translational): one number for each of the six. Anything else as it is."""
    pair = floats(value) if kind in ("floating", "floating_rpy") else None
    return np.repeat(pair, 3) if pair is not None and pair.shape == (2,) else value


@cache
def unit_parts(kind: str) -> tuple[slice, ...]:
    """Runs of position coordinates that have length one together: quaternions and (cos, sin) pairs. They are those without a
    unit; a user's joint has some only where v is not qdot and its law gives position_units."""
    if isinstance(kind, UserKind) and (row_of(kind).velocities_are_rates or not hasattr(kind.law, "position_units")):
        return ()
    units = row_of(kind).position_units
    parts, start = [], None
    for k, unit in enumerate([*units, "end"]):
        if unit == "" and start is None:
            start = k
        elif unit != "" and start is not None:
            parts.append(slice(start, k))
            start = None
    return tuple(parts)
