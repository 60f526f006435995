"""Poses, vectors and inertia, as NumPy arrays that say what they are. Knows nothing of robots."""
from __future__ import annotations
