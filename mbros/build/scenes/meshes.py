"""Meshes of the robots of a scene: each is found from its own robot's file, which the scene's is not."""
from __future__ import annotations

from typing import TYPE_CHECKING

from mbros.describe.urdf.packages import resolve
from mbros.errors import MbrosError

if TYPE_CHECKING:
    from mbros.describe.robot import RobotDescription


def within_reach(description: RobotDescription) -> None:
    """Names of meshes that can be found become paths, and their folders package_dirs; the others stay, and are missed where needed."""
    found: dict[str, None] = {}
    for body in (description.world, *description.bodies):
        for shape in (*body.visuals, *body.collisions):
            geometry = shape.geometry
            if geometry.kind != "mesh":
                continue
            try:
                path = resolve(geometry.filename, description.file, description.package_dirs)
            except MbrosError:
                continue
            geometry.filename = str(path)
            found[str(path.parent)] = None
    description.package_dirs = tuple(dict.fromkeys((*description.package_dirs, *found)))
