"""<geometry>: the shapes of collisions and visuals. What mbros has no exact kind for is the convex hull of points on its surface."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from mbros_core.support.records import record

from mbros.describe.robot import Geometry
from mbros.describe.sdf.files import Library, file_of, find
from mbros.describe.sdf.values import number, numbers, text
from mbros.describe.shapes import Convex
from mbros.describe.urdf.numbers import shorten
from mbros.errors import MbrosError
from mbros.spatial.placement import Placement, align_z

if TYPE_CHECKING:
    from mbros.describe.urdf.xml import XmlElement

KINDS = ("box", "sphere", "cylinder", "capsule", "ellipsoid", "cone", "plane", "mesh")
NOT_READ = {"heightmap": "a height field of an image file is not read; write mbros.shapes.height_field(heights, size)",
            "polyline": "an extruded polyline is not read; export it as a mesh", "image": "an extruded image is not read",
            "empty": "it is empty"}
MOST_HULLS = 5000               # ellipsoids and cones of a file: each is some 10 kB
AROUND, ALONG = 32, 16          # points of a hull around z, and from pole to pole


@record(eq=False)
class Solid(Convex):
    """The hull of an ellipsoid (size: its half axes) or a cone (radius, length), which has the inertia of what it stands for."""

    of: str = ""


def read_geometry(library: Library, parent: XmlElement, label: str) -> tuple[Geometry, Placement] | None:
    """(shape, X of it in its element) of the <geometry> of a collision or visual; None where it is noted or a problem."""
    context = library.context
    holder = context.one(parent, "geometry", label)
    if holder is None:
        context.notes.add(("no geometry", parent.tag), parent.line, label, "not used: it has no <geometry>", "warning")
        return None
    found = [child for child in holder.children if child.tag.removeprefix("drake:") in KINDS or child.tag in NOT_READ]
    if len(found) != 1 and not (found and all(child.tag == "polyline" for child in found)):
        given = ", ".join(f"<{child.tag}>" for child in holder.children[:4]) or "nothing"
        context.problem(holder.line, f"{label}, <geometry>", f"it holds {given}, expected one shape", "Shapes: " +
                        ", ".join(f"<{tag}>" for tag in KINDS) + ".")
        return None
    element, part = found[0], f"{label}, <{found[0].tag}>"
    if element.tag in NOT_READ:
        context.notes.add(("geometry", element.tag, parent.tag), element.line, part, f"not used: {NOT_READ[element.tag]}",
                          "note" if element.tag == "empty" else "warning")
        return None
    if element.tag == "mesh":
        geometry = _mesh(library, element, part)
        return None if geometry is None else (geometry, Placement())
    if element.tag == "plane":
        return _plane(library, element, part)
    geometry = _solid(library, element, part)
    return None if geometry is None else (geometry, Placement())


def _solid(library: Library, element: XmlElement, label: str) -> Geometry | None:
    """A box or a round shape. What is not given is 1 m, a capsule's radius 0.5 m, as SDF has it."""
    context, kind = library.context, element.tag.removeprefix("drake:")
    wanted = {"box": ("size",), "sphere": ("radius",), "ellipsoid": ("radii",)}.get(kind, ("radius", "length"))
    drakes = element.tag == "drake:ellipsoid"                   # it has half axes a, b and c
    missing = [tag for tag in wanted if not element.all(tag) and not drakes]
    if missing:
        context.notes.add(("size", kind, *missing), element.line, label, f"it has no <{missing[0]}>: taken as SDF has it, "
                          f"{0.5 if kind == 'capsule' and missing[0] == 'radius' else 1} m", "warning")
    if kind in ("box", "ellipsoid"):
        tags = "abc" if drakes else ()
        sizes: Any = tuple(number(context, element, tag, label, least=0.0) for tag in tags) or numbers(
            context, element, wanted[0], 3, label, (1.0, 1.0, 1.0), 0.0)
        if sizes is None or None in sizes:
            return None
        return Geometry("box", size=sizes) if kind == "box" else _hulled(library, element, label, kind, ellipsoid_points(sizes), size=sizes)
    radius = number(context, element, "radius", label, 0.5 if kind == "capsule" else 1.0, 0.0)
    length = 0.0 if kind == "sphere" else number(context, element, "length", label, 1.0, 0.0)
    if radius is None or length is None:
        return None
    if kind == "cone":
        return _hulled(library, element, label, "cone", cone_points(radius, length), radius=radius, length=length)
    return Geometry(kind, radius=radius, length=length)


def _hulled(library: Library, element: XmlElement, label: str, kind: str, points: np.ndarray, **sizes: Any) -> Geometry | None:
    if np.ptp(points, axis=0).min() <= 0.0:
        library.context.problem(element.line, label, "it is flat", "Give it sizes above zero.")
        return None
    library.hulls += 1
    if library.hulls > MOST_HULLS:
        if library.hulls == MOST_HULLS + 1:
            library.context.problem(element.line, label, f"there are more than {MOST_HULLS} ellipsoids and cones",
                                    "Take spheres or capsules.")
        return None
    library.context.notes.add(("hull", kind), element.line, label, f"it is touched and shown as the hull of {len(points)} points on it")
    return Solid("convex", vertices=points, of=kind, **sizes)


def ellipsoid_points(radii: tuple[float, ...]) -> np.ndarray:
    """(n, 3) on an ellipsoid with these half axes: both poles and rings between them."""
    polar = np.linspace(0.0, np.pi, ALONG + 1)[1:-1, None]
    around = np.linspace(0.0, 2.0 * np.pi, AROUND, endpoint=False)[None, :]
    rings = [np.sin(polar) * np.cos(around), np.sin(polar) * np.sin(around), np.cos(polar) * np.ones_like(around)]
    unit = np.concatenate([[[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]], np.stack(rings, -1).reshape(-1, 3)])
    return np.asarray(unit * radii)


def cone_points(radius: float, length: float) -> np.ndarray:
    """(n, 3) of a cone about z, centred, its tip up."""
    around = np.linspace(0.0, 2.0 * np.pi, AROUND, endpoint=False)
    base = np.stack([radius * np.cos(around), radius * np.sin(around), np.full(AROUND, -0.5 * length)], -1)
    return np.concatenate([base, [[0.0, 0.0, 0.5 * length]]])


def _plane(library: Library, element: XmlElement, label: str) -> tuple[Geometry, Placement] | None:
    """A half-space below the plane. Its size is that of a picture: physics engines have no end of it either."""
    normal = numbers(library.context, element, "normal", 3, label, (0.0, 0.0, 1.0))
    if normal is None:
        return None
    size = float(np.linalg.norm(normal))
    if not size > 1e-9:
        library.context.problem(element.line, label, f"its normal {normal} has no direction", "Write <normal>0 0 1</normal>.")
        return None
    numbers(library.context, element, "size", 2, label, (1.0, 1.0))
    return Geometry("half_space"), Placement(align_z(np.array(normal) / size))


def _mesh(library: Library, element: XmlElement, label: str) -> Geometry | None:
    """The path of a mesh that is there; the uri of one that is not, which is missed where it is needed."""
    context = library.context
    uri, scale = text(context, element, "uri", label), numbers(context, element, "scale", 3, label, (1.0, 1.0, 1.0))
    if not uri:
        context.problem(element.line, label, "it has no <uri>", "Write <uri>model://name/meshes/part.stl</uri>.")
        return None
    if scale is None:
        return None
    if element.all("submesh"):
        context.notes.add("submesh", element.line, label, "<submesh> is not used: the whole file is taken", "warning")
    try:
        path = find(uri, file_of(context, element), library.package_dirs)
        library.folders[str(path.parent)] = None
        return Geometry("mesh", filename=str(path), scale=scale)
    except MbrosError as error:
        context.notes.add(("mesh", uri), element.line, label, f"the mesh is not there: {shorten(str(error), 400)[1:-1]}", "warning")
        return Geometry("mesh", filename=uri, scale=scale)


__all__ = ["Solid", "read_geometry"]
