"""<geom>: shapes to touch and to look at, and the masses they have."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from mbros_core.support.records import record

from mbros.describe import solids
from mbros.describe.mjcf.assets import height_field, mesh_geometry, mesh_of, mesh_solid
from mbros.describe.mjcf.poses import read_pose, to_z, unit
from mbros.describe.mjcf.reading import MOST_SHAPES
from mbros.describe.mjcf.touch import contact_numbers_of
from mbros.describe.mjcf.values import number, several, truth, vector, word
from mbros.describe.robot import Collision, Geometry, Shape
from mbros.describe.shapes import Convex
from mbros.describe.urdf.numbers import shorten
from mbros.errors import MbrosError, Source
from mbros.spatial.inertia import rotate
from mbros.spatial.placement import Placement

if TYPE_CHECKING:
    from mbros.describe.mjcf.reading import MjcfReading
    from mbros.describe.robot import BodyDescription
    from mbros.describe.solids import Solid
    from mbros.describe.urdf.xml import XmlElement

SIZES = {"plane": 0, "hfield": 0, "sphere": 1, "capsule": 2, "ellipsoid": 3, "cylinder": 2, "box": 3, "mesh": 0, "sdf": 0}
FROMTO = ("capsule", "cylinder", "ellipsoid", "box")
SHOWN = 2                   # groups up to this one are shown by MuJoCo's viewer
DENSITY = 1000.0            # kg/m^3


@record(eq=False)
class GeomMass:
    """What a geom adds to its body: mass, centre of mass and inertia about it, in the axes of the body."""

    mass: float
    com: np.ndarray
    inertia: np.ndarray
    group: float


def read_geom(reading: MjcfReading, body: BodyDescription, element: XmlElement, X_frame: Placement, childclass: str, suffix: str,
              usual: str) -> GeomMass | None:
    """The shapes of a geom, into its body; what it weighs."""
    context = reading.context
    given = element.attributes.get("name", "")
    label = f"geom {shorten(given + suffix)}" if given else usual
    reading.shapes += 1
    if reading.shapes > MOST_SHAPES:
        if reading.shapes == MOST_SHAPES + 1:
            context.problem(element.line, "<geom>", f"there are more than {MOST_SHAPES} geoms", "Leave some out.")
        return None
    element = reading.defaults.filled(element, childclass)
    kind = word(context, element, "type", label, tuple(SIZES), "sphere")
    fits = "mesh" in element.attributes and kind not in ("mesh", "sdf")
    if fits or kind == "sdf":
        reading.note(("geom", kind, fits), element, label, f"it is a {kind} fitted to a mesh: the mesh itself is taken" if fits else
                     "signed distance fields are not read: the mesh itself is taken", "warning")
        kind = "mesh"
    before = context.found
    X_BG, size = _placed(reading, element, kind, label)
    if context.found > before:
        return None
    X_BG = X_frame @ X_BG
    if kind in FROMTO + ("sphere",) and not min(size[:SIZES[kind]]) > 0.0:
        context.problem(element.line, label, f"its size is {element.attributes.get('size', 'missing')[:80]!r}",
                        f"A {kind} needs {SIZES[kind]} positive number{'s' * (SIZES[kind] > 1)}: half lengths, radii.")
        return None
    asset = mesh_of(reading, element, label) if kind == "mesh" else None
    if kind == "mesh" and asset is None:
        return None
    made, X_GM = _geometry(reading, element, kind, size, label, asset)
    group = number(context, element, "group", label, 0.0)
    solid = None if body is reading.description.world else _solid(reading, element, kind, size, label, asset, group)
    if made is not None:
        _shapes(reading, body, element, made, X_BG @ X_GM, given + suffix if given else "", label, group)
    if solid is None:
        return None
    mass, com, inertia = solid
    return GeomMass(mass, X_BG.R @ com + X_BG.p, rotate(inertia, X_BG.R), group)


def _placed(reading: MjcfReading, element: XmlElement, kind: str, label: str) -> tuple[Placement, tuple[float, ...]]:
    """X_FG in the frame around it, and its size."""
    context = reading.context
    size = several(context, element, "size", label, (0.0, 0.0, 0.0), 0 if kind in ("plane", "hfield", "mesh") else 1)
    if "fromto" not in element.attributes:
        return read_pose(context, element, reading.settings, label), size
    ends = np.array(vector(context, element, "fromto", label, (0.0, 0.0, 1.0, 0.0, 0.0, 0.0)))
    direction = unit(ends[:3] - ends[3:])
    if kind not in FROMTO or direction is None or any(vector(context, element, "pos", label, (0.0, 0.0, 0.0))):
        context.problem(element.line, label, f"fromto is {element.attributes['fromto'][:80]!r}", f"It is for {', '.join(FROMTO)} without "
                        "pos, and its ends are apart.")
        return Placement(), (1.0, 1.0, 1.0)
    half = float(np.linalg.norm(ends[:3] - ends[3:])) / 2.0
    return (Placement(to_z(direction), (ends[:3] + ends[3:]) / 2.0),
            (size[0], half, 0.0) if kind in ("capsule", "cylinder") else (size[0], size[0], half))


def _geometry(reading: MjcfReading, element: XmlElement, kind: str, size: tuple[float, ...], label: str,
              asset: Any) -> tuple[Geometry | None, Placement]:
    """What the engine has for it, and where that is in the frame of the geom."""
    if kind == "mesh":
        return mesh_geometry(reading, asset)
    if kind == "plane":
        return Geometry("half_space"), Placement()
    if kind == "hfield":
        found = height_field(reading, element, label)
        return (None if found is None else found[0]), Placement()
    if kind == "ellipsoid":
        if len(set(size)) == 1:
            return Geometry("sphere", radius=size[0]), Placement()
        reading.note("ellipsoid", element, label, "an ellipsoid is touched as a polyhedron with 162 corners on it")
        return Convex("convex", vertices=solids.ellipsoid_points(size)), Placement()
    return _plain(kind, size), Placement()


def _plain(kind: str, size: tuple[float, ...]) -> Geometry:
    if kind == "box":
        return Geometry("box", size=(2.0 * size[0], 2.0 * size[1], 2.0 * size[2]))
    return Geometry(kind, radius=size[0], length=0.0 if kind == "sphere" else 2.0 * size[1])


def _solid(reading: MjcfReading, element: XmlElement, kind: str, size: tuple[float, ...], label: str, asset: Any,
           group: float) -> Solid | None:
    """Mass, centre of mass and inertia in the frame of the geom; None where it has no part in its body's."""
    context, settings = reading.context, reading.settings
    low, high = settings.group_range
    mass = number(context, element, "mass", label, -1.0) if "mass" in element.attributes else None
    density = number(context, element, "density", label, DENSITY)
    if reading.explicit or settings.inertiafromgeom == "false" or kind == "plane" or not low <= group <= high:
        return None
    if mass == 0.0 or mass is None and density == 0.0:
        return None
    if (density if mass is None else mass) < 0.0:
        context.problem(element.line, label, f"its {'density' if mass is None else 'mass'} is negative", "It must be zero or more.")
        return None
    shell = truth(context, element, "shellinertia", label, False)
    try:
        found = _of_density_one(reading, element, kind, size, label, asset, shell)
    except MbrosError as error:
        context.problem(element.line, label, f"its mass cannot be computed: {error}",
                        "Give the body an <inertial>, or the geom mass=\"0\".")
        return None
    if found is None or not found[0] > 0.0:
        return None
    factor = density if mass is None else mass / found[0]
    return factor * found[0], found[1], factor * found[2]


def _of_density_one(reading: MjcfReading, element: XmlElement, kind: str, size: tuple[float, ...], label: str, asset: Any,
                    shell: bool) -> Any:
    if kind == "mesh":
        return mesh_solid(reading, asset)
    if kind == "ellipsoid":
        return solids.ellipsoid(size, 1.0, shell)
    if kind == "hfield":
        field = height_field(reading, element, label)
        if field is None:
            return None
        x, y, z, base = field[1]
        size, kind = (x, y, 0.25 * z + 0.5 * base), "box"           # as MuJoCo weighs it
    return (solids.shell_mass_and_inertia if shell else solids.mass_and_inertia)(_plain(kind, size), 1.0)


def _shapes(reading: MjcfReading, body: BodyDescription, element: XmlElement, geometry: Geometry, X_BG: Placement, name: str, label: str,
            group: float) -> None:
    """The shape that is touched, the one that is seen, or both."""
    context = reading.context
    with context.looks():
        rgba = _colour(reading, element, label)
    contype, conaffinity = (int(number(context, element, which, label, 1.0)) for which in ("contype", "conaffinity"))
    touches = bool(contype or conaffinity) or name in reading.paired
    if group <= SHOWN and geometry.kind != "half_space" and not (reading.settings.discardvisual and not touches):
        body.visuals.append(Shape(geometry, X_BG, name, element.attributes.get("material", ""), rgba))
    if not touches:
        return
    shape = Collision(geometry, X_BG, name, rgba=rgba, source=context.source(element))
    for number_, value in contact_numbers_of(reading, element, label).items():
        setattr(shape, number_, value)
    if geometry.kind == "mesh":
        shape.source = Source(context.file)                     # its file is found from the model's folder, not from an included file's
        shape.source.line = element.line
    body.collisions.append(shape)
    reading.collisions.append((body, shape, element))
    if name:
        if name in reading.geoms:
            context.problem(element.line, label, "this name is already taken by another geom", "Give every geom a name of its own.")
        reading.geoms[name] = shape


def _colour(reading: MjcfReading, element: XmlElement, label: str) -> Any:
    if "rgba" in element.attributes:
        return several(reading.context, element, "rgba", label, (0.5, 0.5, 0.5, 1.0))
    return reading.colours.get(element.attributes.get("material", ""))
