"""What a scene consists of: robots and objects, by name. Their elements are those of the description whose `robot` is that name."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from os import PathLike

ROBOT, OBJECT = "robot", "object"


@dataclass(frozen=True)
class Member:
    """kind: ROBOT or OBJECT. text, file, package_dirs: of a robot the URDF it came from, as of a RobotDescription."""

    name: str
    kind: str
    text: str | None = field(default=None, repr=False)
    file: str | None = None
    package_dirs: tuple[str | PathLike[str], ...] = ()
    on_ground: bool = False             # how high it starts is left to the ground
