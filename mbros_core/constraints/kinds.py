"""The kinds of constraints: numbers and words of each. The engine's order is that of constraints/dispatch.pxd."""
from __future__ import annotations

from typing import NamedTuple


class ConstraintKind(NamedTuple):
    """rows: how many residuals it has; lengths: how many of them are lengths, m, the others are angles, rad (-1: as its coordinates are).
    acts_on: "frames" or "coordinates". parameters: the names of its numbers, in the order of ModelSpec.constraint_parameters; the first
    `tunable` of them may change while it moves (the field constraint_parameters of a State)."""

    number: int
    name: str
    rows: int
    lengths: int
    acts_on: str
    parameters: tuple[str, ...]
    doc: str
    tunable: int = 0


ROWS = (
    ConstraintKind(0, "ball", 3, 3, "frames", (), "the origins of both frames stay together"),
    ConstraintKind(1, "weld", 6, 3, "frames", (), "both frames stay together"),
    ConstraintKind(2, "hinge", 5, 3, "frames", (), "the origins and the z axes of both frames stay together"),
    ConstraintKind(3, "distance", 1, 1, "frames", ("length", "rope"), "the origins stay a length apart (rod), or no further (rope: 1)", 1),
    ConstraintKind(4, "coupler", 1, -1, "coordinates", ("ratio", "offset", "of_a", "lengths"),
                   "of_a (q_a - ratio q_b - offset) = 0; of_a: 1, or of a follower's leader; lengths: 1 where that is in m", 2),
    ConstraintKind(5, "universal", 4, 3, "frames", (), "the origins stay together; A's x and B's y axis stay at right angles"),
    ConstraintKind(6, "prismatic", 5, 2, "frames", (), "B slides along A's z axis and does not turn"),
    ConstraintKind(7, "cylindrical", 4, 2, "frames", (), "B slides along A's z axis and turns about it"),
    ConstraintKind(8, "planar", 3, 1, "frames", (), "B slides across A's z axis and turns about it"),
)
BY_NAME = {row.name: row for row in ROWS}


def tunable(kind: str) -> tuple[str, ...]:
    """The numbers of a kind that may change while it moves."""
    row = BY_NAME[kind]
    return row.parameters[:row.tunable]
