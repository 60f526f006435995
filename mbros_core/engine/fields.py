"""THE table of a State's memory: every array, in order, with its shape, stage, frame and unit.

One aligned allocation holds them all, of a size in proportion to the robot's; the one dense matrix, Work.L, has memory of its own where
it is needed. The order here is the order of the pointers in the struct `Work` of state.pxd (agreement.pxi compares the two, name by name,
when a module is imported); allocation, copying, poisoning, views, printing and the documentation read this table and nothing else.

Shapes are in reals: "nb" bodies with the world, "nq", "nv", "nc" motion-subspace columns, "ne" force elements, "ns" collision shapes, "nk"
constraints, "nt" rows of the memory of contacts and constraints. Stage: the earliest stage at which the array is valid ("input" arrays
belong to the user, "parameter" arrays too, and are copied from the model).
"""
from __future__ import annotations

from typing import NamedTuple


class Field(NamedTuple):
    name: str
    rows: str
    columns: int
    stage: str
    frame: str
    unit: str
    doc: str


FIELDS = (
    # ---- what the user sets
    Field("time", "1", 1, "input", "", "s", "time"),
    Field("clock", "1", 2, "input", "", "s, 1", "since when steps are counted, and how many: time = clock[0] + clock[1] dt"),
    Field("q", "nq", 1, "input", "", "m, rad", "positions"),
    Field("v", "nv", 1, "input", "", "m/s, rad/s", "velocities"),
    Field("a_prev", "nv", 1, "input", "", "m/s^2, rad/s^2", "(v+ - v) / h of the last midpoint step; zero where there was none"),
    Field("contact_memory", "nt", 21, "input", "", "", "contacts and constraints of the last step (constraints/touch.pxd)"),
    Field("last_step", "1", 2, "input", "", "s, 1", "the step that led here: its length, 1 + the integrator; zero: there was none"),
    Field("effort", "nv", 1, "input", "", "N m, N", "efforts applied in it"),
    Field("q_before", "nq", 1, "input", "", "m, rad", "where it began: q, v, a_prev, side by side as those above"),
    Field("v_before", "nv", 1, "input", "", "m/s, rad/s", ""),
    Field("a_before", "nv", 1, "input", "", "m/s^2, rad/s^2", ""),
    Field("a_given", "nv", 1, "input", "", "m/s^2, rad/s^2", "accelerations of prescribed coordinates now (integrators/prescribed.pxd); of "
          "locked ones the impulse, N m s or N s, that stopped them (impulses.pxi)"),
    Field("motion_q", "nq", 1, "input", "", "m, rad", "motion of prescribed coordinates: where it is at its time 0"),
    Field("motion", "nv", 5, "input", "", "s, m/s^k, rad/s^k", "its time 0, velocity, acceleration, and two more coefficients"),
    Field("external_force", "nb", 6, "input", "W", "N m, N", "F_Bo_W: wrench applied on each body, [torque; force] about Bo"),
    # ---- tunable parameters: copied from the model, changed freely afterwards
    Field("gravity", "1", 3, "parameter", "W", "m/s^2", "gravity vector"),
    Field("inertia", "nb", 10, "parameter", "B", "kg, kg m, kg m^2", "m, m c, Ixx Iyy Izz Ixy Ixz Iyz about Bo"),
    Field("damping", "nv", 1, "parameter", "", "N m s/rad, N s/m", "viscous damping"),
    Field("friction", "nv", 1, "parameter", "", "N m, N", "Coulomb friction"),
    Field("rotor_inertia", "nv", 1, "parameter", "", "kg m^2, kg", "reflected rotor inertia"),
    Field("stop_stiffness", "nv", 1, "parameter", "", "N m/rad, N/m", "stiffness of the stops at the position limits"),
    Field("stop_damping", "nv", 1, "parameter", "", "N m s/rad, N s/m", "damping of the stops"),
    Field("lock", "nv", 1, "parameter", "", "", "1 where a joint is locked: its velocity is held at zero; 2 where it is prescribed"),
    Field("force_parameters", "ne", 16, "parameter", "", "", "tunable numbers of the force elements (forces.registry)"),
    Field("contact_parameters", "ns", 6, "parameter", "", "", "numbers of the shapes in contact (constraints.registry)"),
    Field("constraint_parameters", "nk", 4, "parameter", "", "", "numbers of the constraints (constraints.kinds)"),
    # ---- position stage
    Field("q_seen", "nq", 1, "position", "", "m, rad", "the q for which the position stage holds"),
    Field("X_WB", "nb", 12, "position", "W", "1, m", "pose of each body: R row-major, then p"),
    Field("p_PB_W", "nb", 3, "position", "W", "m", "from the parent's origin to the body's"),
    Field("S", "nc", 6, "position", "W", "1, m", "columns of H_FM, [w; v] about Bo"),
    # ---- velocity stage
    Field("v_seen", "nv", 1, "velocity", "", "m/s, rad/s", "the v for which the velocity stage holds"),
    Field("V_WB", "nb", 6, "velocity", "W", "rad/s, m/s", "spatial velocity about Bo"),
    Field("Ab_WB", "nb", 6, "velocity", "W", "rad/s^2, m/s^2", "what is left of A_WB - shifted A_WP when vdot = 0"),
    # ---- force stage
    Field("passive", "nv", 1, "force", "", "N m, N", "damping, friction and stops"),
    Field("D0", "nv", 1, "force", "", "kg m^2, kg", "inertia on the diagonal: rotors, and what an implicit step adds"),
    Field("sticking", "nv", 1, "force", "", "kg m^2, kg", "what friction that holds adds to the diagonal in a step; zero: it slides"),
    Field("stiff", "nv", 3, "force", "", "kg m^2, kg; N m, N", "of a midpoint step: the diagonal where stiff, h^2 K and h K v of springs"),
    Field("applied", "nb", 6, "force", "W", "N m, N", "external wrenches and those of the force elements, about Bo"),
    # ---- acceleration stage
    Field("vdot", "nv", 1, "acceleration", "", "m/s^2, rad/s^2", "accelerations"),
    Field("tau", "nv", 1, "acceleration", "", "N m, N", "generalized forces"),
    Field("A_WB", "nb", 6, "acceleration", "W", "rad/s^2, m/s^2", "spatial acceleration about Bo, less gravity in the dynamics"),
    # ---- scratch of single algorithms
    Field("M_W", "nb", 10, "scratch", "W", "kg, kg m, kg m^2", "body or composite inertia about Bo"),
    Field("F", "nb", 6, "scratch", "W", "N m, N", "force through the joint, or articulated bias force, about Bo"),
    Field("P", "nb", 21, "scratch", "W", "kg m^2, kg m, kg", "articulated-body inertia about Bo"),
    Field("U", "nc", 6, "scratch", "W", "", "P S"),
    Field("D_inverse", "nc", 1, "scratch", "", "", "1 / (S . U + D0)"),
    Field("u", "nc", 1, "scratch", "", "N m, N", "tau - S . Z"),
    Field("stage_q", "nq", 1, "scratch", "", "", "integrator stages"),
    Field("stage_v", "nv", 6, "scratch", "", "", "integrator stages"),
    Field("stage_qdot", "nq", 4, "scratch", "", "", "integrator stages"),
)


def sizes(nb: int, nq: int, nv: int, nc: int, ne: int, ns: int, nk: int, nt: int) -> list[tuple[int, int, int]]:
    """(rows, columns, reals) of each field; reals padded to a whole number of 8 so that every array starts on a cache line."""
    counts = {"1": 1, "nb": nb, "nq": nq, "nv": nv, "nc": nc, "ne": ne, "ns": ns, "nk": nk, "nt": nt}
    out = []
    for row in FIELDS:
        rows, columns = (counts[row.rows], row.columns) if row.rows != "1" else (row.columns, 1)
        out.append((rows, columns, (rows * columns + 8) // 8 * 8))    # at least one spare real: a pointer into an empty array is readable
    return out
