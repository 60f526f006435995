"""The joint kinds: one row each. Builders, readers, documentation and tests iterate this table.

The mathematics of a kind is in the .pxd file of its name; the numbers here must be those of the enum in dispatch.pxd
(the compiled modules compare the two when they are imported).
"""
from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class JointKind:
    """`position_names` and `velocity_names` are suffixes, one per coordinate, as in Drake; units beside them.

    `columns` says of each motion-subspace column whether it is a pure rotation (1), a pure translation (2) or neither (0).
    """

    name: str
    number: int
    nq: int
    nv: int
    doc: str
    position_names: tuple[str, ...] = ()
    velocity_names: tuple[str, ...] = ()
    position_units: tuple[str, ...] = ()
    velocity_units: tuple[str, ...] = ()
    group: str = "R^n"
    neutral: tuple[float, ...] = ()
    columns: tuple[int, ...] = ()


ROWS = (
    JointKind("weld", 0, 0, 0, "no motion"),
    JointKind("revolute", 1, 1, 1, "rotation about Fz", ("q",), ("w",), ("rad",), ("rad/s",), "R^1", (0.0,), (1,)),
    JointKind("prismatic", 2, 1, 1, "translation along Fz", ("x",), ("v",), ("m",), ("m/s",), "R^1", (0.0,), (2,)),
    JointKind("planar", 3, 3, 3, "translation in the xy plane of F, rotation about Fz",
              ("x", "y", "qz"), ("vx", "vy", "wz"), ("m", "m", "rad"), ("m/s", "m/s", "rad/s"), "R^3", (0.0, 0.0, 0.0), (2, 2, 1)),
    JointKind("floating", 4, 7, 6, "free motion; q = [p; quaternion wxyz], v = [w; v] in the child frame",
              ("x", "y", "z", "qw", "qx", "qy", "qz"), ("wx", "wy", "wz", "vx", "vy", "vz"),
              ("m", "m", "m", "", "", "", ""), ("rad/s", "rad/s", "rad/s", "m/s", "m/s", "m/s"),
              "SE(3)", (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0), (1, 1, 1, 2, 2, 2)),
)

BY_NAME = {row.name: row for row in ROWS}
BY_NUMBER = {row.number: row for row in ROWS}
