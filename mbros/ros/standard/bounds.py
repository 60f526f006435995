"""Boxes around what a robot's links are made of, along the axes of any frame, and what they overlap. Lengths in m."""
from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from simulation_interfaces.msg import Bounds

from mbros.describe.meshes import read_mesh
from mbros.describe.robot import Geometry, Shape
from mbros.describe.shapes import GROUNDS, Convex
from mbros.errors import MbrosError
from mbros.spatial.vectors import Pose

from mbros.ros.wire.messages import fill_xyz
from .refusal import Refusal, unsupported

if TYPE_CHECKING:
    from mbros.describe.robot import BodyDescription, RobotDescription
    from mbros.ros.standard.typing import BoundsMessage


class Box(NamedTuple):
    """From the corner `low` to the corner `high`."""

    low: np.ndarray
    high: np.ndarray


class Extents:
    """Of the shapes of one robot: those for collision, of a link that has none the visual ones. Meshes are read once."""

    def __init__(self, description: RobotDescription):
        self._description = description
        self._points: dict[str, np.ndarray | str] = {}          # or why a mesh cannot be read

    def box(self, links: Iterable[tuple[str, Pose]]) -> Box | None:
        """The smallest box along the axes of F around the bodies named, each at X_FB; None where none has a shape."""
        bodies = {body.name: body for body in (self._description.world, *self._description.bodies)}
        boxes = [self._of(shape, X_FB) for name, X_FB in links for shape in self._shapes(bodies[name])]
        return Box(np.min([b.low for b in boxes], 0), np.max([b.high for b in boxes], 0)) if boxes else None

    def unread(self, links: Iterable[str]) -> list[Geometry]:
        """The meshes that box() would read first, of these bodies."""
        wanted = set(links)
        found = {shape.geometry.filename: shape.geometry for body in (self._description.world, *self._description.bodies)
                 if body.name in wanted for shape in self._shapes(body) if shape.geometry.kind == "mesh"}
        return [geometry for name, geometry in found.items() if name not in self._points]

    def read(self, meshes: Iterable[Geometry]) -> None:
        """Read these, in any thread; what is wrong with one is said by box()."""
        for geometry in meshes:
            with suppress(Refusal):
                self._vertices(geometry)

    @staticmethod
    def _shapes(body: BodyDescription) -> list[Shape]:
        return [shape for shape in body.collisions or body.visuals if shape.geometry.kind not in GROUNDS]

    def _of(self, shape: Shape, X_FB: Pose) -> Box:
        R = X_FB.R @ np.asarray(shape.X_BG.R)
        p = X_FB.R @ np.asarray(shape.X_BG.p) + X_FB.p
        g = shape.geometry
        if g.kind in ("mesh", "convex"):
            points = self._vertices(g) @ R.T + p
            return Box(points.min(0), points.max(0))
        reach = _reach(g, R)
        return Box(p - reach, p + reach)

    def _vertices(self, geometry: Geometry) -> np.ndarray:
        if isinstance(geometry, Convex):
            return np.asarray(geometry.vertices)
        if geometry.filename not in self._points:
            try:
                parts = read_mesh(geometry.filename, self._description.file, self._description.package_dirs)
                self._points[geometry.filename] = np.concatenate([part.vertices for part in parts])
            except MbrosError as e:
                self._points[geometry.filename] = str(e)
        found = self._points[geometry.filename]
        if isinstance(found, str):
            raise Refusal(found)
        return found * np.asarray(geometry.scale)


def _reach(geometry: Geometry, R: np.ndarray) -> np.ndarray:
    """How far a shape that is the same on both sides of its centre reaches along each axis, turned by R."""
    if geometry.kind == "box":
        return np.abs(R) @ (0.5 * np.asarray(geometry.size))
    if geometry.kind == "sphere":
        return np.full(3, geometry.radius)
    along = np.abs(R[:, 2]) * 0.5 * geometry.length
    if geometry.kind == "capsule":
        return along + geometry.radius
    return along + geometry.radius * np.sqrt(np.maximum(0.0, 1.0 - R[:, 2] ** 2))


def fill_bounds(message: BoundsMessage, box: Box, vector: type) -> None:
    """simulation_interfaces/Bounds: the upper right corner first, as the standard has it. vector: geometry_msgs/Vector3."""
    message.type = Bounds.TYPE_BOX
    message.points = [vector(), vector()]
    fill_xyz(message.points[0], box.high)
    fill_xyz(message.points[1], box.low)


class Region:
    """The bounds of a filter, in the world: a sphere or a box, or nothing, which everything is in."""

    def __init__(self, message: BoundsMessage):
        kind, points = message.type, np.array([(p.x, p.y, p.z) for p in message.points], float).reshape(-1, 3)
        self._sphere = kind == Bounds.TYPE_SPHERE
        self.everywhere = kind == Bounds.TYPE_EMPTY
        if self.everywhere:
            return
        if kind not in (Bounds.TYPE_SPHERE, Bounds.TYPE_BOX):
            raise unsupported(f"bounds of type {kind} are not supported; expected {Bounds.TYPE_BOX} (box) or {Bounds.TYPE_SPHERE} (sphere)")
        if self._sphere and len(points) == 2:
            points[1, 1:] = 0.0                     # the standard does not look at them
        if len(points) != 2 or not np.isfinite(points).all() or self._sphere and points[1, 0] < 0.0:
            raise Refusal(f"bounds of type {kind}: expected two points of finite numbers, of a sphere its centre and (radius, 0, 0), got "
                          f"{points.tolist()}")
        self._points = points

    def overlaps(self, box: Box) -> bool:
        """Whether it and the box have a point in common."""
        if self.everywhere:
            return True
        if self._sphere:
            nearest = np.clip(self._points[0], box.low, box.high)
            return bool(np.linalg.norm(nearest - self._points[0]) <= self._points[1, 0])
        return bool((self._points.min(0) <= box.high).all() and (self._points.max(0) >= box.low).all())
