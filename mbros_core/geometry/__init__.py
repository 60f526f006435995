"""Shapes, the points at which two of them touch, and which of many can touch at all (docs/geometry.md).

    from mbros_core.geometry import box, contacts, half_space
    contacts(half_space(), (0, 0, 0), box((0.4, 0.2, 0.1)), (0, 0, 0.049)).depths       # four corners, 1 mm deep

Nothing here knows of bodies or of forces.
"""
from __future__ import annotations

from ._geometry import Shape, broad_phase, contacts, contacts_of_many
from .results import BroadPairs, Contacts, ManyContacts
from .shapes import box, capsule, convex, cylinder, half_space, height_field, sphere

__all__ = ["BroadPairs", "Contacts", "ManyContacts", "Shape", "box", "broad_phase", "capsule", "contacts", "contacts_of_many", "convex",
           "cylinder", "half_space", "height_field", "sphere"]
