"""The shapes: one row per kind. Factories, documentation and tests iterate this table.

The mathematics of a kind is in the .pxd file of its name; the numbers here must be those of the enum in shape.pxd (the compiled module
compares
the two when it is imported).
"""
from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ShapeKind:
    """`sizes` name its numbers in order, in metres. points: what else it is made of, with the number of its axes, or "".
    solid: it has a surface all around; half-spaces and height fields have not, and do not touch each other."""

    name: str
    number: int
    doc: str
    sizes: tuple[str, ...] = ()
    points: str = ""
    solid: bool = True


ROWS = (
    ShapeKind("half_space", 0, "solid below z = 0", solid=False),
    ShapeKind("height_field", 1, "solid below heights over a grid in x and y", ("size[0]", "size[1]"), "heights", solid=False),
    ShapeKind("sphere", 2, "all points within a radius of the origin", ("radius",)),
    ShapeKind("capsule", 3, "all points within a radius of a segment along z", ("radius", "length")),
    ShapeKind("box", 4, "full edge lengths along x, y and z", ("size[0]", "size[1]", "size[2]")),
    ShapeKind("cylinder", 5, "round about z, with flat ends", ("radius", "length")),
    ShapeKind("convex", 6, "the convex hull of points", points="vertices"),
)

BY_NAME = {row.name: row for row in ROWS}
SMALLEST, LARGEST = 1e-9, 1e9       # of sizes and coordinates, m
