"""What a body looks like: its visual elements, else its collision elements, else a shape made from its inertia."""
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mbros.describe.meshes import Triangles, load_trimesh, read_mesh
from mbros.describe.robot import BodyDescription, Geometry, Shape
from mbros.describe.shapes import GROUNDS, HeightField
from mbros.describe.urdf.numbers import shorten
from mbros.errors import MbrosError
from mbros.spatial.placement import Placement, align_z
from mbros.view.shading import creased

# For shapes without a colour of their own: body after body, of one family, so that neighbours differ and nothing shouts.
PALETTE = ((0.36, 0.52, 0.72), (0.80, 0.82, 0.85), (0.93, 0.60, 0.32), (0.55, 0.60, 0.66), (0.42, 0.65, 0.62), (0.72, 0.74, 0.78))
GROUND = (0.86, 0.88, 0.90)
SECTIONS = 40                   # of round shapes
FARTHEST = 1e6                  # m: what reaches further is a mistake in a scale or a file, and nothing else could be seen beside it


class Drawn(NamedTuple):
    """A piece of a body, in its axes, in one colour (0 to 1). name: of its element, to be read."""

    vertices: np.ndarray
    faces: np.ndarray
    rgba: tuple[float, ...]
    name: str


class Look(NamedTuple):
    """pieces: what is drawn of a body. problems: sentences about what could not be."""

    pieces: list[Drawn]
    problems: list[str]


class Looks:
    """The looks of the bodies of one robot. Files are read once, however often they are used."""

    def __init__(self, model_file: str | None = None, package_dirs: tuple[str, ...] = ()):
        self._where = model_file, package_dirs
        self._files: dict[str, list[Triangles] | MbrosError] = {}

    def of(self, body: BodyDescription, number: int) -> Look:
        """The body's visuals; where it has none, or none can be read, a box of the same inertia. number: chooses the colour."""
        own = PALETTE[number % len(PALETTE)]
        look = self.shapes(body.visuals or [shape for shape in body.collisions if shape.geometry.kind not in GROUNDS], own)
        ground = self.shapes([shape for shape in body.collisions if shape.geometry.kind in GROUNDS], GROUND)
        look = Look(look.pieces + ground.pieces, look.problems + ground.problems)
        if not look.pieces and body.mass > 0.0:
            return Look([_solid("inertia", *inertia_box(body.mass, body.com, body.inertia), (*own, 1.0))], look.problems)
        return look

    def shapes(self, shapes: list[Shape], own: tuple[float, ...]) -> Look:
        """These shapes; of a colour of their own, their file's, or `own`."""
        pieces: list[Drawn] = []
        problems: list[str] = []
        for shape in shapes:
            try:
                with np.errstate(all="ignore"):             # what is not finite is refused
                    pieces += [Drawn(*creased(_placed(part.vertices, shape), part.faces), _rgba(shape, part, own), shape.name)
                               for part in self._triangles(shape.geometry)]
            except MbrosError as error:
                problems.append(str(error))
        return Look([piece for piece in pieces if len(piece.faces)], problems)

    def _triangles(self, geometry: Geometry) -> list[Triangles]:
        if geometry.kind == "half_space":
            return []                                       # the scene has a grid where it ends
        if geometry.kind != "mesh":
            return [primitive(geometry)]
        if geometry.filename not in self._files:
            try:
                self._files[geometry.filename] = read_mesh(geometry.filename, *self._where)
            except MbrosError as error:
                self._files[geometry.filename] = error
        found = self._files[geometry.filename]
        if isinstance(found, MbrosError):
            raise found
        scale = np.array(geometry.scale, float)
        turned = -1 if np.prod(scale) < 0.0 else 1          # a mirrored mesh shows its inside
        return [Triangles(part.vertices * scale, part.faces[:, ::turned], part.rgba) for part in found]


def primitive(geometry: Geometry) -> Triangles:
    """A box, cylinder, capsule, sphere, convex hull or height field about its own centre."""
    if isinstance(geometry, HeightField):
        return _field(geometry)
    make = load_trimesh().creation
    if geometry.kind == "box":
        mesh = make.box(geometry.size)
    elif geometry.kind == "cylinder":
        mesh = make.cylinder(geometry.radius, geometry.length, sections=SECTIONS)
    elif geometry.kind == "capsule":
        mesh = make.capsule(geometry.length, geometry.radius, count=[SECTIONS, SECTIONS])
        mesh.apply_translation(-0.5 * mesh.bounds.sum(axis=0))          # trimesh begins it at its lower half-sphere
    elif geometry.kind == "sphere":
        mesh = make.icosphere(3, geometry.radius)
    elif geometry.kind == "convex":
        mesh = _hull(geometry)
    else:
        raise MbrosError(f"a shape of kind {geometry.kind!r} cannot be drawn")
    return Triangles(np.asarray(mesh.vertices), np.asarray(mesh.faces))


def _hull(geometry: Any) -> Any:
    try:
        return load_trimesh().PointCloud(geometry.vertices).convex_hull
    except Exception as error:              # without scipy trimesh has no hull; a cloud of points says where it is
        raise MbrosError(f"the convex hull of {len(geometry.vertices)} points cannot be drawn: {error}") from error


def _field(geometry: HeightField) -> Triangles:
    """The surface of a height field: two triangles a cell, cut from grid point (i, j) to (i + 1, j + 1), as the engine has them."""
    assert geometry.heights is not None
    nx, ny = geometry.heights.shape
    x, y = (np.linspace(-0.5 * length, 0.5 * length, count) for length, count in zip(geometry.size, (nx, ny)))
    vertices = np.stack([*np.meshgrid(x, y, indexing="ij"), geometry.heights], axis=-1).reshape(-1, 3)
    a = (np.arange(nx - 1)[:, None] * ny + np.arange(ny - 1)).ravel()
    return Triangles(vertices, np.concatenate([np.stack([a, a + ny, a + ny + 1], 1), np.stack([a, a + ny + 1, a + 1], 1)]))


def inertia_box(mass: float, com: np.ndarray, inertia: np.ndarray) -> tuple[Triangles, Placement]:
    """The solid box of this mass and inertia, about its centre of mass: I = m/12 diag(b^2 + c^2, a^2 + c^2, a^2 + b^2).

    Point masses and thin rods have boxes without a volume: edges are at least 1/20 of the longest, and 1 mm.
    """
    moments, R = principal(inertia)
    edges2 = 12.0 / mass * (0.5 * moments.sum() - moments)
    edges = np.sqrt(np.maximum(edges2, 0.0))
    edges = np.maximum(edges, max(0.05 * edges.max(), 1e-3))
    return primitive(Geometry("box", size=tuple(edges))), Placement(R, np.asarray(com, float))


def inertia_ellipsoid(mass: float, com: np.ndarray, inertia: np.ndarray) -> tuple[Triangles, Placement]:
    """The solid ellipsoid of this mass and inertia, about its centre of mass: I = m/5 diag(b^2 + c^2, ...)."""
    moments, R = principal(inertia)
    axes = np.sqrt(np.maximum(5.0 / mass * (0.5 * moments.sum() - moments), 0.0))
    axes = np.maximum(axes, max(0.05 * axes.max(), 1e-3))
    ball = primitive(Geometry("sphere", radius=1.0))
    return Triangles(ball.vertices * axes, ball.faces), Placement(R, np.asarray(com, float))


def principal(inertia: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Principal moments (3,) and a rotation with the axes as columns."""
    moments, R = np.linalg.eigh(np.asarray(inertia, float))
    return moments, R * np.sign(np.linalg.det(R))


def arrow(axis: np.ndarray, length: float) -> Triangles:
    """An arrow from the origin along `axis`, for joint axes."""
    make = load_trimesh().creation
    shaft = make.cylinder(0.02 * length, 0.8 * length, sections=16)
    shaft.apply_translation([0.0, 0.0, 0.4 * length])
    head = make.cone(0.06 * length, 0.2 * length, sections=16)
    head.apply_translation([0.0, 0.0, 0.8 * length])
    vertices = np.vstack([shaft.vertices, head.vertices]) @ align_z(axis).T
    return Triangles(vertices, np.vstack([shaft.faces, head.faces + len(shaft.vertices)]))


def _solid(name: str, part: Triangles, X: Placement, rgba: tuple[float, ...]) -> Drawn:
    return Drawn(*creased(part.vertices @ X.R.T + X.p, part.faces), rgba, name)


def _placed(vertices: np.ndarray, shape: Shape) -> np.ndarray:
    """In the body's axes."""
    placed = vertices @ shape.X_BG.R.T + shape.X_BG.p
    reach = float(np.abs(placed).max(initial=0.0))
    if not reach <= FARTHEST:
        what = f"mesh {shorten(shape.geometry.filename, 200)}" if shape.geometry.filename else f"a shape of kind {shape.geometry.kind!r}"
        raise MbrosError(f"{what}: it reaches {reach:g} m from its body, expected {FARTHEST:g} m at most. Look at its scale and its units.")
    return placed


def _rgba(shape: Shape, part: Triangles, own: tuple[float, ...]) -> tuple[float, ...]:
    """The colours of a mesh file, else the material in the URDF, as in RViz; else the body's own."""
    rgba = part.rgba if part.rgba is not None else shape.rgba if shape.rgba is not None else (*own, 1.0)
    return tuple(float(x) for x in rgba)
