"""The joint kinds that people name: those of the engine's registry, and "continuous", a revolute joint without limits.

Nothing is listed here: sizes, names and units come from mbros_core.joints.registry, and whether a kind takes an axis is asked
of the engine. A kind added there is known here.
"""
from __future__ import annotations

from functools import cache

from mbros_core.joints.registry import BY_NAME, ROWS, user_row

ALIASES = {"continuous": "revolute"}        # the user's word: the engine's
KINDS = {**{row.name: (row.nq, row.nv) for row in ROWS}, **{name: (BY_NAME[of].nq, BY_NAME[of].nv) for name, of in ALIASES.items()}}

# Every joint with one position and one velocity coordinate: those that can follow another (URDF mimic), or lead.
ONE_AXIS = tuple(kind for kind, sizes in KINDS.items() if sizes == (1, 1))


class UserKind(str):
    """The kind of a joint with a law of its own: reads "user", and is equal to itself only."""

    def __new__(cls, law):
        self = str.__new__(cls, "user")
        self.law = law
        return self

    def __eq__(self, other):
        return isinstance(other, UserKind) and other.law is self.law

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return id(self.law)

    def __reduce__(self):
        return UserKind, (self.law,)


def engine_kind(kind: str) -> str:
    """The engine's name of a kind."""
    return "user" if isinstance(kind, UserKind) else ALIASES.get(kind, kind)


def row_of(kind: str):
    """The registry row of a kind."""
    return user_row(kind.law) if isinstance(kind, UserKind) else BY_NAME[ALIASES.get(kind, kind)]


def sizes(kind: str) -> tuple[int, int]:
    """(nq, nv) of a kind."""
    return (kind.law.nq, kind.law.nv) if isinstance(kind, UserKind) else KINDS[kind]


@cache
def has_axis(kind: str) -> bool:
    """Whether the kind moves about or along one axis of F only; the user may then point that axis anywhere."""
    import numpy as np

    from mbros.joints.mobility import mobility

    row = row_of(kind)
    if not row.nv or row.name == "user":
        return False
    H = mobility(kind, (1.0,) * len(row.parameters)).subspace(np.array(row.neutral))
    return bool((H[[0, 1, 3, 4]] == 0.0).all())


@cache
def unit_parts(kind: str) -> tuple[slice, ...]:
    """Runs of position coordinates that have length one together: quaternions and (cos, sin) pairs."""
    if kind not in KINDS:           # a user's
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


@cache
def can_rotate(kind: str) -> bool:
    """Whether M can turn in F."""
    return _moves(kind, slice(0, 3))


@cache
def can_translate(kind: str) -> bool:
    """Whether Mo can move in F."""
    return _moves(kind, slice(3, 6))


def _moves(kind, rows) -> bool:
    import numpy as np

    from mbros.joints.mobility import mobility

    row = row_of(kind)
    H = mobility(kind, (1.0,) * len(row.parameters)).subspace(np.array(row.neutral))
    return bool((H[rows] != 0.0).any())
