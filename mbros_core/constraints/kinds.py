"""The kinds of constraints: numbers and words of each. The engine's order is that of constraints/dispatch.pxd."""
from __future__ import annotations

from typing import NamedTuple


class ConstraintKind(NamedTuple):
    """rows: how many residuals it has; lengths: how many of them are lengths, m, the others are angles, rad (-1: as its coordinates are).
    acts_on: "frames" or "coordinates". parameters: the names of its numbers, in the order of ModelSpec.constraint_parameters."""

    number: int
    name: str
    rows: int
    lengths: int
    acts_on: str
    parameters: tuple[str, ...]
    doc: str


ROWS = (
    ConstraintKind(0, "ball", 3, 3, "frames", (), "the origins of both frames stay together"),
    ConstraintKind(1, "weld", 6, 3, "frames", (), "both frames stay together"),
    ConstraintKind(2, "hinge", 5, 3, "frames", (), "the origins and the z axes of both frames stay together"),
    ConstraintKind(3, "distance", 1, 1, "frames", ("length", "rope"), "the origins stay a length apart (rod), or no further (rope: 1)"),
    ConstraintKind(4, "coupler", 1, -1, "coordinates", ("of_a", "of_b", "constant", "lengths"),
                   "of_a q_a + of_b q_b + constant = 0; lengths: 1 where that is in m"),
)
BY_NAME = {row.name: row for row in ROWS}
