"""What a joint of a kind can do, asked of the engine: whether it has one axis, whether it turns, whether it moves along."""
from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from mbros.describe.joints.kinds import UserKind, row_of
from mbros.describe.joints.kinematics import kinematics


@cache
def has_axis(kind: str) -> bool:
    """Whether the kind moves about or along one axis of F only; the user may then point that axis anywhere."""
    row = row_of(kind)
    if not row.nv or row.name == "user":
        return False
    H = kinematics(kind, (1.0,) * len(row.parameters)).subspace(np.array(row.neutral))
    return bool((H[[0, 1, 3, 4]] == 0.0).all())


@cache
def can_rotate(kind: str) -> bool:
    """Whether M can turn in F."""
    return _moves(kind, slice(0, 3))


@cache
def can_translate(kind: str) -> bool:
    """Whether Mo can move in F."""
    return _moves(kind, slice(3, 6))


def roams(joint: Any) -> bool:
    """Whether a joint lets its body go in two directions or more: then it keeps nothing together. Of descriptions and of models."""
    law = joint._kinematics
    return bool(np.linalg.matrix_rank(law.subspace(law.neutral)[3:]) > 1)


def _moves(kind: str, rows: slice) -> bool:
    """At the neutral position; a user's joint may rest there (a cam at its dead centre), so it is asked around it too."""
    m = kinematics(kind, (1.0,) * len(row_of(kind).parameters))
    if isinstance(kind, UserKind):
        return any(bool((abs(H[rows]) > 1e-12 * abs(H).max()).any()) for H in map(m.subspace, m.around_neutral()))
    return bool((m.subspace(m.neutral)[rows] != 0.0).any())
