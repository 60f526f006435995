"""The integrators by name, in the order of the enum in steps.pxd (the compiled modules compare the two when they are imported), and the
one that is taken where none is named."""
from __future__ import annotations

NAMES = ("midpoint", "semi_implicit_euler", "rk4")
DEFAULT = "midpoint"
