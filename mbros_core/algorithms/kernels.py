"""THE table of what is compiled for one robot: algorithms as functions without a branch on the robot.

ROWS are those of mbros.specialize; their order is that of the slots in a model (kernels.pxd). OF_PLACES are written out too, as expressions
and as C, where a model's own calls are quick enough. A kernel reads `inputs` (fields of State) and what is given, tau or vdot, and
writes nv numbers, a block of rows of nv, or fields of State.
"""
from __future__ import annotations

import math
import re
from typing import NamedTuple

GIVEN = 1 << 40                 # inputs of an expression graph from here on: the vector given
STEP = 1 << 41                  # the length of a step


class Kernel(NamedTuple):
    name: str
    inputs: tuple[str, ...]
    given: str                  # tau or vdot, "" where nothing is given
    numbers: int                # of the result: a number of shape(), 0 where it writes fields
    fields: tuple[str, ...]
    doc: str
    frame: str = ""             # of whose pose or Jacobian it is

    @property
    def derivatives(self) -> bool:
        """Whether it is a value and derivatives, which not every model has."""
        return self.numbers == 3

    @property
    def full_name(self) -> str:
        return f"{self.name}.{self.frame}" if self.frame else self.name

    @property
    def identifier(self) -> str:
        """full_name as a name in C."""
        return re.sub(r"\W", "_", self.full_name, flags=re.ASCII)

    def shape(self, nv: int) -> tuple[int, ...]:
        """Of the result for a robot of nv velocities."""
        return ((0,), (nv,), (nv, nv), (1 + 3 * nv, nv), (12,), (6, nv), (3,), (3, nv))[self.numbers]

    def size(self, nv: int) -> int:
        """Numbers of the result for a robot of nv velocities."""
        return math.prod(self.shape(nv))


ROWS = (
    Kernel("forward_dynamics", ("q", "v"), "tau", 1, (), "accelerations under generalized forces"),
    Kernel("inverse_dynamics", ("q", "v"), "vdot", 1, (), "generalized forces for accelerations"),
    Kernel("mass_matrix", ("q",), "", 2, (), "M(q), row by row"),
    Kernel("kinematics", ("q", "v"), "", 0, ("X_WB", "p_PB_W", "S", "V_WB", "Ab_WB"), "poses and velocities of all bodies"),
    Kernel("midpoint", ("q", "v", "a_prev"), "tau", 0, ("q", "v", "a_prev"), "a step of the integrator midpoint"),
    Kernel("semi_implicit_euler", ("q", "v", "a_prev"), "tau", 0, ("q", "v", "a_prev"), "a step of semi_implicit_euler"),
    Kernel("rk4", ("q", "v", "a_prev"), "tau", 0, ("q", "v", "a_prev"), "a step of rk4"),
    Kernel("forward_dynamics_derivatives", ("q", "v"), "tau", 3, (), "accelerations, and below them their derivatives by q, v and tau"),
    Kernel("inverse_dynamics_derivatives", ("q", "v"), "vdot", 3, (),
           "generalized forces, and below them their derivatives by q, v and vdot"),
)
BY_NAME = {row.name: row for row in ROWS}
OF_PLACES = (
    Kernel("pose", ("q",), "", 4, (), "X_WF of a frame, its rotation row by row, then its position"),
    Kernel("jacobian", ("q",), "", 5, (), "rows of w and v of a frame's origin, in world axes, by v"),
    Kernel("center_of_mass", ("q",), "", 6, (), "p_WC of the robot"),
    Kernel("com_jacobian", ("q",), "", 7, (), "velocity of the centre of mass by v, row by row"),
)
OF_FRAMES = ("pose", "jacobian")
NAMES = (*BY_NAME, *(f"{row.name}.<frame>" if row.name in OF_FRAMES else row.name for row in OF_PLACES))


def find(name: str) -> Kernel | None:
    """The kernel of that name; of a frame "pose.<frame>"."""
    first, dot, frame = name.partition(".")
    row = BY_NAME.get(name) or next((row for row in OF_PLACES if row.name == first), None)
    if row is None or (row.name in OF_FRAMES) != bool(frame) or (dot and not frame):
        return None
    return row._replace(frame=frame)
