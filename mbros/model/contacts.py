"""What touches what, where, and with what force (docs/contact.md).

    for c in model.contacts(state):
        c.body_a, c.body_b, c.point, c.normal, c.depth, c.force, c.slip_velocity
"""
from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from mbros_core.constraints import touches

if TYPE_CHECKING:
    from mbros import Model
    from mbros_core._engine import State
    from mbros_core.typing import Array


class Contact(NamedTuple):
    """A contact point of two shapes. Vectors are (3,), in world axes."""

    body_a: str
    body_b: str
    shape_a: str
    shape_b: str
    point: Array
    """Midway between the two surfaces, m."""
    normal: Array
    """Unit vector from a to b."""
    depth: float
    """How far the shapes are in each other along the normal, m; negative: they are about to touch."""
    force: Array
    """On body_b at the point, N; body_a feels the opposite."""
    slip_velocity: Array
    """Velocity of b's point against a's, across the normal, m/s."""
    sticks: bool
    """Friction holds the point: the slip velocity is the creep of a point that stands."""

    @property
    def normal_force(self) -> float:
        """N, not negative."""
        return max(0.0, float(self.force @ self.normal))

    @property
    def friction_force(self) -> Array:
        """The part of the force across the normal (3,), N."""
        return self.force - self.normal_force * self.normal


def contacts(model: Model, state: State) -> list[Contact]:
    """Those of the step that led to the state; where none did, those of its positions, with normal forces alone."""
    shapes = model.shapes
    found = []
    for row in model._contact_rows(state):
        a, b = (shapes[k] for k in divmod(int(row[touches.PAIR]), len(shapes)))
        found.append(Contact(a.body.name, b.body.name, a.name, b.name, row[touches.POINT], row[touches.NORMAL], float(row[touches.DEPTH]),
                             row[touches.FORCE], row[touches.SLIP], bool(row[touches.STUCK])))
    return found
