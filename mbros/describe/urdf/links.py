"""<link>: mass, centre of mass, inertia, and shapes for viewers."""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbros.describe.robot import BodyDescription, Collision, Geometry, Shape
from mbros.describe.urdf.contacts import read_contact
from mbros.describe.urdf.numbers import shorten
from mbros.spatial.inertia import rotate, rotational_inertia

if TYPE_CHECKING:
    from mbros.describe.urdf.context import Context
    from mbros.describe.urdf.xml import XmlElement

def read_link(context: Context, element: XmlElement, materials: dict[str, tuple[float, float, float, float]]) -> BodyDescription | None:
    name = context.name(element, "link")
    label = f"link {shorten(name)}" if name else "link without a name"
    mass, com, inertia = _inertial(context, element, label)
    with context.looks():
        visuals = [_shape(context, e, label, materials) for e in element.all("visual")]
    collisions = [_collision(context, e, label, materials) for e in element.all("collision")]
    if name is None:
        return None
    return BodyDescription(name, mass, com, inertia, [s for s in visuals if s], [s for s in collisions if s], context.source(element))


def _inertial(context: Context, link: XmlElement, label: str) -> tuple[float, np.ndarray, np.ndarray]:
    """mass, com, inertia about it in link axes: R_LI I_I R_LI^T."""
    nothing = 0.0, np.zeros(3), np.zeros((3, 3))
    element = context.one(link, "inertial", label)
    if element is None:
        return nothing
    X_LI = context.origin(element, label)
    mass_element = context.one(element, "mass", label, required=True)
    tensor_element = context.one(element, "inertia", label, required=True)
    mass = None if mass_element is None else context.scalar(mass_element, "value", label, least=0.0)
    if tensor_element is None:
        return nothing
    moments = [context.scalar(tensor_element, key, label) for key in ("ixx", "iyy", "izz")]
    products = [context.scalar(tensor_element, key, label, 0.0) for key in ("ixy", "ixz", "iyz")]
    if mass is None or None in moments or None in products:
        return nothing
    return mass, X_LI.p, rotate(rotational_inertia(*moments, *products), X_LI.R)


def read_material(context: Context, element: XmlElement, label: str = "material") -> tuple[float, float, float, float] | None:
    """rgba of a <material>, or None."""
    with context.looks():
        color = context.one(element, "color", label)
        return None if color is None else context.vector(color, "rgba", 4, label)


def _shape(context: Context, element: XmlElement, label: str, materials: dict[str, tuple[float, float, float, float]]) -> Shape | None:
    X_BG = context.origin(element, label)
    holder = context.one(element, "geometry", label, required=True)
    geometry = None if holder is None else _geometry(context, holder, label)
    material, rgba = "", None
    with context.looks():
        material_element = context.one(element, "material", label)
    if material_element is not None:
        material = material_element.attributes.get("name", "")
        rgba = read_material(context, material_element, label)
        if rgba is None:
            rgba = materials.get(material)
        elif material:
            materials.setdefault(material, rgba)        # from here on the name says this colour, in other links too
    if geometry is None:
        return None
    return Shape(geometry, X_BG, element.attributes.get("name", ""), material, rgba)


def _collision(context: Context, element: XmlElement, label: str,
               materials: dict[str, tuple[float, float, float, float]]) -> Collision | None:
    found = _shape(context, element, label, materials)
    shape = Collision(Geometry("")) if found is None else Collision(**vars(found), source=context.source(element))
    read_contact(context, element, shape, label)
    return None if found is None else shape


def _geometry(context: Context, holder: XmlElement, label: str) -> Geometry | None:
    shapes = [child for child in holder.children if child.tag in _READERS]
    if len(shapes) != 1:
        given = ", ".join(f"<{child.tag}>" for child in holder.children[:4]) or "nothing"
        context.problem(holder.line, f"{label}, <geometry>", f"it holds {given}, expected one shape",
                        "Shapes: " + ", ".join(f"<{tag}>" for tag in _READERS) + ".")
        return None
    return _READERS[shapes[0].tag](context, shapes[0], label)


def _box(context: Context, element: XmlElement, label: str) -> Geometry | None:
    size = context.vector(element, "size", 3, label, least=0.0)
    return size and Geometry("box", size=size)


def _round(context: Context, element: XmlElement, label: str) -> Geometry | None:
    radius = context.scalar(element, "radius", label, least=0.0)
    length = 0.0 if element.tag == "sphere" else context.scalar(element, "length", label, least=0.0)
    return None if radius is None or length is None else Geometry(element.tag.removeprefix("drake:"), radius=radius, length=length)


def _mesh(context: Context, element: XmlElement, label: str) -> Geometry | None:
    filename = context.name(element, f"{label}, <mesh>", "filename")
    scale = context.vector(element, "scale", 3, label, (1.0, 1.0, 1.0))
    return None if filename is None or scale is None else Geometry("mesh", filename=filename, scale=scale)


_READERS = {"box": _box, "cylinder": _round, "capsule": _round, "drake:capsule": _round, "sphere": _round, "mesh": _mesh}
