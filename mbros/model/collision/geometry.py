"""Shapes as the library coal (pip install "mbros[collision]") has them, and the distance of two of them."""
from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from mbros.arguments import refuse
from mbros.describe import shapes
from mbros.describe.urdf.numbers import shorten
from mbros.describe.urdf.packages import resolve
from mbros.errors import MbrosError, optional
from mbros.names import hint

if TYPE_CHECKING:
    from mbros.describe.robot import Geometry
    from mbros.spatial.placement import Placement
    from mbros_core.typing import Array, ArrayLike
    from os import PathLike

KINDS = ("box", "sphere", "cylinder", "capsule", "convex", "mesh")
MESH_FILES = (".stl", ".obj")


def load_coal() -> Any:
    """The module coal."""
    return optional("coal", "collision and distance pairs", "collision")


class Placed:
    """A shape of coal's at X_BG on its body, or in the world for obstacles. kind: as in KINDS."""

    __slots__ = ("kind", "geometry", "X_BG", "radius", "length")

    def __init__(self, kind: str, geometry: Any, X_BG: Placement, radius: float = 0.0, length: float = 0.0) -> None:
        self.kind, self.geometry, self.X_BG, self.radius, self.length = kind, geometry, X_BG, radius, length


def place(element: str, geometry: Any, X_BG: Placement, model_file: str | PathLike[str] | None = None,
          package_dirs: Iterable[str | PathLike[str]] = ()) -> Placed:
    """A `Geometry` at X_BG. element: how errors call it."""
    kind = getattr(geometry, "kind", None)
    if kind not in KINDS:
        refuse(element, f"its shape is {geometry!r}{hint(kind, KINDS) if isinstance(kind, str) else ''}",
               "Give a shape of mbros.shapes: " + ", ".join(KINDS) + ".")
    if kind in ("convex", "mesh"):
        points = geometry.vertices if kind == "convex" else _mesh_points(element, geometry, model_file, package_dirs)
        return Placed(kind, _hull(element, points), X_BG)
    sizes = [*geometry.size] if kind == "box" else [geometry.radius] + [geometry.length] * (kind != "sphere")
    if len(sizes) != {"box": 3, "sphere": 1}.get(kind, 2) or not all(0.0 < x < np.inf for x in sizes):
        refuse(element, f"its {kind} has the sizes {sizes}", "Sizes must be positive.")
    maker = getattr(load_coal(), kind.capitalize())
    return Placed(kind, maker(*map(float, sizes)), X_BG, geometry.radius, geometry.length)


def _hull(element: str, vertices: ArrayLike) -> Any:
    coal = load_coal()
    points = coal.StdVec_Vec3s()
    for vertex in shapes.hull_points(element, vertices):
        points.append(vertex)
    try:
        return coal.Convex.convexHull(points, False, "")
    except Exception as error:          # coal throws std::runtime_error and std::logic_error alike
        raise MbrosError(f"{element}: coal finds no convex hull of its {len(points)} vertices: {_first_line(error)}") from error


def _mesh_points(element: str, geometry: Geometry, model_file: str | PathLike[str] | None,
                 package_dirs: Iterable[str | PathLike[str]]) -> np.ndarray:
    """Vertices of a mesh file that lies inside a package; any other is not opened."""
    try:
        file = resolve(geometry.filename, model_file, package_dirs)
    except MbrosError as error:
        raise MbrosError(f"{element}: mesh {error}") from error
    if file.suffix.lower() not in MESH_FILES:
        refuse(element, f"its mesh {shorten(geometry.filename, 200)} is no STL or OBJ file",
               "Convert it to STL, or leave the body out and give it other shapes: pairs.add_shape(body, shape).")
    try:
        mesh = load_coal().MeshLoader().load(str(file), np.array(geometry.scale, float))
        points = np.array([mesh.vertex(i) for i in range(mesh.num_vertices)])
    except Exception as error:
        raise MbrosError(f"{element}: its mesh {shorten(geometry.filename, 200)} cannot be read: {_first_line(error)}. "
                         "Is the file complete?") from error
    return points


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


# ------------------------------------------------------------------------------------------------ two placed shapes
# X_WA, X_WB: mbros.spatial.placement.Placement of the shapes themselves in the world.


def overlap(coal: Any, a: Placed, X_WA: Placement, b: Placed, X_WB: Placement) -> bool:
    """Whether they have a point in common."""
    result = coal.CollisionResult()
    coal.collide(a.geometry, _transform(coal, X_WA), b.geometry, _transform(coal, X_WB), coal.CollisionRequest(), result)
    return bool(result.isCollision())


def separation(coal: Any, a: Placed, X_WA: Placement, b: Placed, X_WB: Placement) -> tuple[float, Array, Array]:
    """(distance, point of a, point of b) in the world, m. Where they penetrate: minus the shortest translation that separates them, and
    the points that touch last along it."""
    if a.kind == "cylinder" and b.kind == "sphere":
        return _cylinder_sphere(a, X_WA, b, X_WB)
    if a.kind == "sphere" and b.kind == "cylinder":
        distance, on_b, on_a = _cylinder_sphere(b, X_WB, a, X_WA)
        return distance, on_a, on_b
    request, result = coal.DistanceRequest(), coal.DistanceResult()
    request.enable_signed_distance = True
    request.gjk_tolerance, request.gjk_max_iterations = 1e-10, 256      # coal's own 1e-6 is 3e-5 m for two cylinders
    coal.distance(a.geometry, _transform(coal, X_WA), b.geometry, _transform(coal, X_WB), request, result)
    distance = float(result.min_distance)
    if not abs(distance) < 1e300:
        raise MbrosError(f"coal finds no distance between a {a.kind} at {X_WA.p.tolist()} and a {b.kind} at {X_WB.p.tolist()}")
    return distance, np.array(result.getNearestPoint1()).ravel(), np.array(result.getNearestPoint2()).ravel()


def _cylinder_sphere(a: Placed, X_WA: Placement, b: Placed, X_WB: Placement) -> tuple[float, Array, Array]:
    """In closed form: coal 3.0.3 pushes a sphere whose centre is inside a cylinder out of the farther face at times."""
    c = X_WA.R.T @ (X_WB.p - X_WA.p)            # centre of the sphere, in the cylinder's axes
    rho, half = float(np.hypot(c[0], c[1])), 0.5 * a.length
    radial = np.array([c[0] / rho, c[1] / rho, 0.0]) if rho > 0.0 else np.array([1.0, 0.0, 0.0])
    top = np.array([0.0, 0.0, 1.0 if c[2] >= 0.0 else -1.0])
    beyond_side, beyond_end = rho - a.radius, abs(float(c[2])) - half
    if beyond_side <= 0.0 and beyond_end <= 0.0:
        depth, n = (beyond_side, radial) if beyond_side >= beyond_end else (beyond_end, top)
        surface = c - depth * n
    else:
        surface = min(rho, a.radius) * radial + min(abs(float(c[2])), half) * top
        depth = float(np.linalg.norm(c - surface))
        n = (c - surface) / depth
    return depth - b.radius, X_WA.R @ surface + X_WA.p, X_WA.R @ (c - b.radius * n) + X_WA.p


def _transform(coal: Any, X: Placement) -> Any:
    return coal.Transform3s(np.ascontiguousarray(X.R), X.p)
