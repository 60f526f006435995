"""What a world has beside its models: gravity, and grounds."""
from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from mbros.describe.contacts import FLOOR
from mbros.describe.robot import GRAVITY, Collision, Geometry
from mbros.describe.sdf.files import Library
from mbros.describe.sdf.values import numbers
from mbros.describe.shapes import GROUNDS
from mbros.spatial.placement import Placement

if TYPE_CHECKING:
    from mbros_core.typing import Array

    from mbros.describe.robot import RobotDescription
    from mbros.describe.sdf.robots import Parts
    from mbros.describe.urdf.context import Context
    from mbros.describe.urdf.xml import XmlElement


def read_gravity(context: Context, worlds: list[XmlElement]) -> Array:
    """(3,) m/s^2 of a world; that of mbros where none is said."""
    found = numbers(context, worlds[0], "gravity", 3, "<world>", None) if worlds else None
    return np.array(GRAVITY if found is None else found)


def add_grounds(library: Library, description: RobotDescription, parts: Parts) -> None:
    """Planes become shapes of the world: those of static models, and Gazebo's own ground where it was asked for and nobody has it. A plane
    of a link that moves is left out. Of a static model of one link that has nothing else, the link is left out."""
    context = library.context
    links = Counter(id(model) for model, _ in parts.links.values())
    with_frames = {id(frame.body) for frame in description.frames}
    gone: set[int] = set()
    for body in description.bodies:
        model, _ = parts.links[id(body)]
        planes = [shape for shape in body.collisions if shape.geometry.kind in GROUNDS]
        if not planes:
            continue
        body.collisions = [shape for shape in body.collisions if shape not in planes]
        if not model.static:
            context.notes.add("plane moves", body.source.line, f"link {body.name!r}", "its plane is not used: it has no end, and moves; "
                              "make the model static, or write a <box>", "warning")
            continue
        for shape in planes:
            shape.X_BG = parts.X_WL[id(body)] @ shape.X_BG
            shape.name = body.name if len(planes) == 1 else f"{body.name}/{shape.name}"
            description.world.collisions.append(shape)
        if not body.collisions and not body.visuals and links[id(model)] == 1 and id(body) not in with_frames:
            gone.add(id(body))
    description.bodies = [body for body in description.bodies if id(body) not in gone]
    description.joints = [joint for joint in description.joints if id(joint.child) not in gone]
    for element in library.grounds[:1]:
        if not any(shape.geometry.kind in GROUNDS for shape in description.world.collisions):
            description.world.collisions.append(Collision(Geometry("half_space"), Placement(), FLOOR, source=context.source(element)))
