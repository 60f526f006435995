"""Shapes for collision and distance: of obstacles, and of bodies whose description has none. Lengths in metres.

    mbros.shapes.box((0.4, 0.2, 0.1)), sphere(0.1), cylinder(0.05, 0.3), capsule(0.05, 0.3),
    convex(vertices), mesh("package://my_robot/meshes/hand.stl"), half_space(), height_field(heights, (10, 10))

Each gives a `mbros.describe.robot.Geometry`, centred on its frame's origin; cylinders and capsules lie along z. A capsule's
length is that of its cylinder, without the two half-spheres. A mesh counts as the convex hull of its vertices. Half-spaces and height
fields are grounds: solid below, without an end.
"""
from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from mbros_core.support.numbers import floats, short
from mbros_core.support.records import record

from mbros.arguments import numbers, refuse
from mbros.describe.robot import Geometry

if TYPE_CHECKING:
    from mbros_core.typing import ArrayLike

__all__ = ["Convex", "HeightField", "box", "capsule", "convex", "cylinder", "half_space", "height_field", "mesh", "sphere"]

GROUNDS = ("half_space", "height_field")        # kinds without a surface all around


@record(eq=False)
class Convex(Geometry):
    """The convex hull of `vertices` (n, 3)."""

    vertices: np.ndarray | None = None


@record(eq=False)
class HeightField(Geometry):
    """Solid below `heights` (nx, ny) over a rectangle of `size` along x and y, centred on the origin."""

    heights: np.ndarray | None = None


def box(size: ArrayLike) -> Geometry:
    """size: the three full edge lengths along x, y and z."""
    return Geometry("box", size=tuple(_positive("box", "size", size, 3)))


def sphere(radius: float) -> Geometry:
    return Geometry("sphere", radius=_positive("sphere", "radius", radius)[0])


def cylinder(radius: float, length: float) -> Geometry:
    return Geometry("cylinder", radius=_positive("cylinder", "radius", radius)[0],
                    length=_positive("cylinder", "length", length)[0])


def capsule(radius: float, length: float) -> Geometry:
    return Geometry("capsule", radius=_positive("capsule", "radius", radius)[0],
                    length=_positive("capsule", "length", length)[0])


def convex(vertices: ArrayLike) -> Convex:
    """The convex hull of points (n, 3); at least four that do not lie in one plane."""
    return Convex("convex", vertices=hull_points("convex", vertices))


def mesh(filename: str | PathLike[str], scale: ArrayLike = (1.0, 1.0, 1.0)) -> Geometry:
    """An STL or OBJ file, found as those of a URDF are: package://name/path, or a path inside a package folder."""
    if not isinstance(filename, (str, PathLike)):
        refuse("mesh", f"filename is {short(filename)}", "Give the path of an .stl or .obj file.")
    return Geometry("mesh", filename=str(filename), scale=tuple(numbers("mesh", "scale", scale, 3)))


def half_space() -> Geometry:
    """Solid below z = 0 of its frame, without an end."""
    return Geometry("half_space")


def height_field(heights: ArrayLike, size: ArrayLike) -> HeightField:
    """heights (nx, ny), m, over a rectangle of the full lengths size (2,) along x and y, centred on the origin; solid below them. Each cell
    is two triangles."""
    given = floats(heights)
    shape = given.shape if given is not None and given.ndim == 2 else (2, 2)
    grid = numbers("height_field", "heights", heights, shape)
    if min(shape) < 2:
        refuse("height_field", f"its heights have shape {shape}", "Give at least 2 in x and in y.")
    grid.setflags(write=False)
    return HeightField("height_field", size=tuple(_positive("height_field", "size", size, 2)), heights=grid)


def hull_points(element: str, vertices: ArrayLike) -> np.ndarray:
    """`vertices` as an array (n, 3), checked to span a volume."""
    given = floats(vertices)
    count = 0 if given is None or given.ndim == 0 else len(given)
    points = numbers(element, "vertices", vertices, (count, 3))
    spread = np.linalg.svd(points - points.mean(axis=0), compute_uv=False) if count > 3 else np.zeros(3)
    if not spread[2] > 1e-9 * spread[0]:
        refuse(element, f"its {count} vertices lie in one plane", "Give at least four that span a volume, or a thin box.")
    return points


def _positive(element: str, what: str, value: Any, size: int = 1) -> list[float]:
    values = numbers(element, what, value, size).tolist()
    if not min(values) > 0.0:
        refuse(element, f"{what} is {value!r}", f"{what} must be positive.")
    return values
