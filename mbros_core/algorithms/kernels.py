"""THE table of what is compiled for one robot (mbros.specialize): algorithms as functions without a branch on the robot.

Their order is that of the slots in a model (kernels.pxd). A kernel reads `inputs` (fields of State) and what is given, tau or vdot, and
writes nv numbers, a block of rows of nv, or fields of State.
"""
from __future__ import annotations

from typing import NamedTuple

GIVEN = 1 << 40                 # inputs of an expression graph from here on: the vector given
STEP = 1 << 41                  # the length of a step


class Kernel(NamedTuple):
    name: str
    inputs: tuple[str, ...]
    given: str                  # tau or vdot, "" where nothing is given
    numbers: int                # of the result: 1 for nv, 2 for nv * nv, 3 for (1 + 3 nv) nv, 0 where it writes fields
    fields: tuple[str, ...]
    doc: str

    @property
    def derivatives(self) -> bool:
        """Whether it is a value and derivatives, which not every model has."""
        return self.numbers == 3

    def size(self, nv: int) -> int:
        """Numbers of the result for a robot of nv velocities."""
        return (0, nv, nv * nv, (1 + 3 * nv) * nv)[self.numbers]


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
