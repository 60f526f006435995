"""<link>: mass, centre of mass and inertia, what touches and what is seen."""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbros.describe.robot import BodyDescription, Collision, Shape
from mbros.describe.sdf.files import Library
from mbros.describe.sdf.frames import pose_in
from mbros.describe.sdf.geometry import read_geometry
from mbros.describe.sdf.surfaces import read_surface
from mbros.describe.sdf.values import flag_of, number, numbers, pose
from mbros.describe.solids import mass_and_inertia
from mbros.describe.urdf.numbers import shorten
from mbros.errors import MbrosError
from mbros.spatial.inertia import compose, rotate, rotational_inertia

if TYPE_CHECKING:
    from mbros.describe.robot import Geometry
    from mbros.describe.sdf.scopes import Scope
    from mbros.describe.urdf.context import Context
    from mbros.describe.urdf.xml import XmlElement
    from mbros.spatial.placement import Placement

DENSITY = 1000.0            # kg/m^3, of SDF
MOMENTS = {"ixx": 1.0, "iyy": 1.0, "izz": 1.0, "ixy": 0.0, "ixz": 0.0, "iyz": 0.0}        # kg m^2, with the defaults of SDF


def read_link(library: Library, scope: Scope, key: str, name: str, static: bool) -> BodyDescription:
    """The link `key` of a scope, as a body called `name`. static: whether it never moves."""
    element, context = scope.entries[key].element, library.context
    label, body = f"link {shorten(name)}", BodyDescription(name, source=context.source(element))
    densities: list[tuple[XmlElement, Geometry, Placement]] = []
    for each in element.all("collision"):
        found = _shape(library, scope, key, each, f"{label}, collision")
        if found is None:
            continue
        shape = Collision(found.geometry, found.X_BG, found.name, source=context.source(each))
        densities.append((each, shape.geometry, shape.X_BG))
        if read_surface(context, each, shape, f"{label}, collision {shorten(shape.name)}"):
            body.collisions.append(shape)
    with context.looks():
        seen = [_visual(library, scope, key, each, label) for each in element.all("visual")]
    body.visuals = [each for each in seen if each is not None]
    if not static or element.all("inertial"):
        body.mass, body.com, body.inertia = _inertial(context, element, label, densities)
    return body


def in_link(context: Context, scope: Scope, key: str, element: XmlElement, label: str) -> Placement:
    """X_LE of an element of a link L: its <pose> is on the link, or on another frame of the model."""
    X, relative_to = pose(context, element, label)
    if not relative_to or relative_to == key:
        return X
    return pose_in(context, scope, key, element).inverse() @ pose_in(context, scope, relative_to, element) @ X


def _inertial(context: Context, link: XmlElement, label: str, solids: list[tuple[XmlElement, Geometry, Placement]]
              ) -> tuple[float, np.ndarray, np.ndarray]:
    """(mass, com, inertia about it in the axes of the link)."""
    element = context.one(link, "inertial", label)
    if element is None:
        context.notes.add("no inertial", link.line, label, "it has no <inertial>: 1 kg, and 1 kg m^2 about each axis, as SDF has it")
        return 1.0, np.zeros(3), np.eye(3)
    if flag_of(context, element, "auto", label):
        return _auto(context, element, label, solids)
    X, _ = pose(context, element, label)
    mass = number(context, element, "mass", label, 1.0, 0.0)
    holder = context.one(element, "inertia", label)
    if mass is None:
        return 0.0, np.zeros(3), np.zeros((3, 3))
    if holder is None or not element.all("mass"):
        lacks, taken = ("inertia", "1 kg m^2 about each axis") if holder is None else ("mass", "1 kg")
        context.notes.add("inertial default", element.line, f"{label}, <inertial>", f"it has no <{lacks}>: {taken}, as SDF has it")
    moments = {tag: value if holder is None else number(context, holder, tag, label, value) for tag, value in MOMENTS.items()}
    if None in moments.values():
        return 0.0, np.zeros(3), np.zeros((3, 3))
    return mass, X.p, rotate(rotational_inertia(**moments), X.R)


def _auto(context: Context, element: XmlElement, label: str, solids: list[tuple[XmlElement, Geometry, Placement]]
          ) -> tuple[float, np.ndarray, np.ndarray]:
    """Of auto="true": what the collisions weigh at their density; with a <mass>, scaled to it."""
    part, parts = f'{label}, <inertial auto="true">', []
    usual = number(context, element, "density", label, DENSITY, 0.0)
    for each, geometry, X in solids:
        density = number(context, each, "density", label, usual, 0.0)
        try:
            mass, com, inertia = mass_and_inertia(geometry, 0.0 if density is None else density)
        except MbrosError:
            context.problem(each.line, part, f"a {geometry.kind} has no mass by its density here",
                            "Write <mass> and <inertia> instead of auto, or give the link solids to collide with.")
            return 0.0, np.zeros(3), np.zeros((3, 3))
        parts.append((mass, X.R @ com + X.p, rotate(inertia, X.R)))
    if not parts:
        context.problem(element.line, part, "the link has no collision", "Write <mass> and <inertia> instead of auto.")
        return 0.0, np.zeros(3), np.zeros((3, 3))
    mass, com, inertia = compose(parts)
    if element.all("mass"):
        given = number(context, element, "mass", label, None, 0.0)
        if given is not None and mass > 0.0:
            mass, inertia = given, inertia * (given / mass)
    for tag in ("pose", "inertia"):
        if element.all(tag):
            context.notes.add(("auto", tag), element.line, part, f"<{tag}> is not used: it follows from the collisions")
    return mass, com, inertia


def _shape(library: Library, scope: Scope, key: str, element: XmlElement, label: str) -> Shape | None:
    """What a <collision> and a <visual> share."""
    found = read_geometry(library, element, label)
    X = in_link(library.context, scope, key, element, label)
    return None if found is None else Shape(found[0], X @ found[1], element.attributes.get("name", ""))


def _visual(library: Library, scope: Scope, key: str, element: XmlElement, label: str) -> Shape | None:
    """A shape with its colour: the diffuse one."""
    context = library.context
    shape = _shape(library, scope, key, element, f"{label}, visual")
    if shape is not None and shape.geometry.kind == "half_space":
        context.notes.add("plane seen", element.line, f"{label}, visual", "a plane is not shown: the viewer has a grid of its own")
        return None
    material = context.one(element, "material", label)
    if shape is None or material is None:
        return shape
    holder = context.one(material, "diffuse", label)
    if holder is not None:
        count = min(max(len(holder.text.split()), 3), 4)
        rgba = numbers(context, material, "diffuse", count, label)
        shape.rgba = None if rgba is None else (rgba[0], rgba[1], rgba[2], rgba[3] if count == 4 else 1.0)
    transparency = number(context, element, "transparency", label, 0.0, 0.0)
    if shape.rgba is not None and transparency:
        shape.rgba = (*shape.rgba[:3], shape.rgba[3] * max(0.0, 1.0 - transparency))
    return shape
