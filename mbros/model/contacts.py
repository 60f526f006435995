"""What touches what, where, and with what force (docs/contact.md).

    for c in model.contacts(state):
        c.body_a, c.body_b, c.point, c.normal, c.depth, c.force, c.slip_velocity
"""
from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from mbros_core.constraints import touches

if TYPE_CHECKING:
    from mbros import Model
    from mbros_core.engine._engine import Plant, State
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
    torque: Array = np.zeros(3)
    """On body_b about the point, of torsional and rolling resistance, N m; body_a feels the opposite."""

    @property
    def normal_force(self) -> float:
        """N, not negative."""
        return max(0.0, float(self.force @ self.normal))

    @property
    def friction_force(self) -> Array:
        """The part of the force across the normal (3,), N."""
        return self.force - self.normal_force * self.normal


class ContactCounts(NamedTuple):
    """What a plant's snapshot says of contact beside the points."""

    points: int
    """Contact points of the last step; a snapshot has the first 32."""
    iterations: int
    """Of the last step's contact problem."""
    unsolved: int
    """Steps since the reset that ended at the bound on iterations."""
    lost: int
    """Contact points since the reset for which there was no room."""


def contacts(model: Model, state: State) -> list[Contact]:
    """Those of the step that led to the state; where none did, those of its positions, with normal forces alone."""
    return _named(model, model._contact_rows(state))


def contact_part(plant: Plant, x: Array) -> Array | None:
    """The part `contacts` of a plant's snapshot; None where the model has no collision shapes."""
    at, size = plant.layout.get("contacts", (0, 0))
    return x[at:at + size] if size and plant.model.spec.shape_names else None


def contacts_in(model: Model, part: Array) -> list[Contact]:
    """Those of the last step, from that part of a snapshot, or from the memory of a state in one row."""
    rows = part.reshape(-1, touches.COLUMNS)
    return _named(model, touches.points_in(rows, len(model.shapes)))


def counts_in(part: Array) -> ContactCounts:
    """The counts of the same."""
    return ContactCounts(*(int(part[k]) for k in (touches.COUNT, touches.ITERATIONS, touches.UNSOLVED, touches.LOST)))


def metres_per_newton(model: Model) -> float:
    """A length for arrows of force: half a metre for the weight of everything that moves; without a mass, for that of 1 kg."""
    mass = sum(body.mass for body in model.description.bodies)
    return 0.5 / (9.81 * (mass if mass > 0.0 else 1.0))


def _named(model: Model, rows: Array) -> list[Contact]:
    parts = model.__dict__.get("_shape_names")
    if parts is None:
        parts = model.__dict__["_shape_names"] = [(shape.body.name, shape.name) for shape in model.shapes]
    found: list[Contact] = model._named_contacts(rows, parts, Contact)
    return found
