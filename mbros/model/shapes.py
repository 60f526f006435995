"""Collision shapes of a model: what a body is where it touches others, and how it feels there.

    foot = model.shapes["FL_foot"]
    foot.body, foot.kind, foot.geometry.sizes, foot.X_BG, foot.friction, foot.stiffness, foot.excluded
"""
from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from mbros.model.frozen import FrozenPart
from mbros.model.tables import CompiledShape
from mbros.spatial.vectors import Pose

if TYPE_CHECKING:
    from mbros import Body, Model
    from mbros_core.geometry import Shape


class BodyShape(FrozenPart):
    """A collision shape on a body of a model. geometry: mbros_core.geometry.Shape, with kind, sizes and points. X_BG: where it is in the
    body's axes. group: shapes of one group do not touch; "" is none. robot: the group it came in with. Numbers: docs/shapes.md."""

    _LIST = "shapes"
    model: Model
    name: str
    index: int
    body: Body
    kind: str
    geometry: Shape
    X_BG: Pose
    stiffness: float
    relaxation_time: float
    friction: float
    static_friction: float
    torsional_radius: float
    rolling_radius: float
    group: str
    robot: str
    _row: CompiledShape

    def __init__(self, model: Model, row: CompiledShape) -> None:
        self._check_row(row, CompiledShape)
        self._made_of(model=model, name=row.name, index=row.index, body=model.bodies[row.body], kind=row.geometry.kind,
                      geometry=row.geometry, X_BG=Pose._made(row.X_BG.R, row.X_BG.p, row.name, row.body), group=row.group, robot=row.robot,
                      _row=row, **row.numbers)

    @property
    def _label(self) -> str:
        """How messages name it."""
        return f"shape {self.name!r}"

    @property
    def excluded(self) -> Mapping[str, str]:
        """The shapes that it never touches, by name, and why: "joint", "group", "named", "overlap", "welded", or the reason that an SRDF
        gives (docs/shapes.md). Shapes of bodies that were merged never touch either; they are not listed."""
        names = self.model.shapes.names
        return MappingProxyType({names[k]: why for k, why in sorted(self._row.excluded.items())})

    def __repr__(self) -> str:
        return f"<BodyShape {self.name!r}: {self.kind} on {self.body.name!r}>"
