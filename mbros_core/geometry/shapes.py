"""The shapes of the engine: what they are made of. Lengths in metres, conventions as in `mbros.shapes`.

    sphere(0.1), capsule(0.05, 0.3), box((0.4, 0.2, 0.1)), cylinder(0.05, 0.3), convex(vertices), half_space(),
    height_field(heights, (10, 10))
"""
from __future__ import annotations

from typing import TYPE_CHECKING

from ._geometry import Shape
from .given import length, numbers

if TYPE_CHECKING:
    from mbros_core.typing import ArrayLike


def half_space() -> Shape:
    """Solid below z = 0 of its frame."""
    return Shape("half_space")


def height_field(heights: ArrayLike, size: ArrayLike) -> Shape:
    """heights (nx, ny) over a rectangle of the full lengths size (2,) along x and y, centred on the origin; solid below, without a
    floor."""
    return Shape("height_field", numbers("height_field", "size", size, (2,)), heights)


def sphere(radius: float) -> Shape:
    return Shape("sphere", (length("sphere", "radius", radius),))


def capsule(radius: float, length: float) -> Shape:
    """length: of the segment along z; the half-spheres at its ends come on top."""
    return _round("capsule", radius, length)


def cylinder(radius: float, length: float) -> Shape:
    """Along z."""
    return _round("cylinder", radius, length)


def box(size: ArrayLike) -> Shape:
    """size (3,): full edge lengths along x, y and z."""
    return Shape("box", numbers("box", "size", size, (3,)))


def convex(vertices: ArrayLike) -> Shape:
    """The convex hull of points (n, 3), at least four that do not lie in one plane."""
    return Shape("convex", (), vertices)


def _round(kind: str, radius: float, along: float) -> Shape:
    return Shape(kind, (length(kind, "radius", radius), length(kind, "length", along)))
