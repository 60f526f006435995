"""The integrators by name, in the order of the enum in steps.pxd (the compiled modules compare the two when they are imported), the one
that is taken where none is named, and the one whose steps are as long as errors allow (dormand_prince.pxd): for one robot at a time,
offline."""
from __future__ import annotations

NAMES = ("midpoint", "semi_implicit_euler", "rk4")
DEFAULT = "midpoint"
BY_ERROR = "dormand_prince"
TOLERANCES = (1e-10, 1e-12)         # of it: relative, and absolute, rad, m and their rates
