"""The algorithms that are computed for many points in one call, over lanes and over dual numbers: one row each.

model.batch, the outputs of mbros.rollout and mbros.diff take their lists from this table. What a row computes is in jobs.pxi, whose enum
has the same names in the same order (the compiled modules compare the two, name by name, when they are imported).
"""
from __future__ import annotations

from typing import NamedTuple


class Algorithm(NamedTuple):
    """reads: "q" where positions alone matter, else "v". given: the vector given with it, "" for none. of: what it is asked of, "frame" or
    "force element", "" for the whole robot. lanes: whether batches have it; duals: whether it is computed over dual numbers."""

    name: str
    reads: str
    given: str = ""
    of: str = ""
    lanes: bool = True
    duals: bool = True


ROWS = (
    Algorithm("mass_matrix", "q"),
    Algorithm("gravity_torques", "q"),
    Algorithm("center_of_mass", "q"),
    Algorithm("com_jacobian", "q"),
    Algorithm("frame_pose", "q", of="frame"),
    Algorithm("frame_jacobian", "q", of="frame"),
    Algorithm("bias_torques", "v"),
    Algorithm("coriolis_torques", "v"),
    Algorithm("passive_torques", "v"),
    Algorithm("kinetic_energy", "v"),
    Algorithm("potential_energy", "v"),
    Algorithm("centroidal_momentum", "v"),
    Algorithm("frame_velocity", "v", of="frame"),
    Algorithm("forward_dynamics", "v", "tau"),
    Algorithm("inverse_dynamics", "v", "vdot"),
    Algorithm("frame_acceleration", "v", "vdot", "frame"),
    Algorithm("force_element", "v", of="force element", lanes=False),
    Algorithm("velocity_to_qdot", "q", "u", lanes=False),
    Algorithm("qdot_to_velocity", "q", "qdot", lanes=False),
    Algorithm("step", "v", "tau", lanes=False),
    Algorithm("forward_dynamics_derivatives", "v", "tau", duals=False),
    Algorithm("inverse_dynamics_derivatives", "v", "vdot"),
)

OF_DUALS = {row.name: row for row in ROWS if row.duals}
OF_LANES = {row.name: row for row in ROWS if row.lanes}
NUMBER = {row.name: number for number, row in enumerate(ROWS)}
