"""Coordinates, vectors and Jacobians as other libraries have them: exact, both ways."""
from __future__ import annotations
