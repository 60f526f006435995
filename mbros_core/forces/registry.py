"""The force elements: one row per kind. Builders, readers, documentation and tests iterate this table.

The mathematics of a kind is in the .pxd file of its name; the numbers here must be those of the enum in dispatch.pxd (the
compiled modules compare the two when they are imported).
"""
from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from mbros_core.support.records import record

if TYPE_CHECKING:
    from mbros_core.spec import ModelSpec

PARAMETERS = 16      # as in element.pxd


@record(eq=False, frozen=True)
class ForceKind:
    """acts_on: "pair" (two frames), "coordinate" (one joint coordinate) or "body". `parameters` name the tunable numbers in
    order, `units` theirs; `least` is the smallest value each may have (None: any). `flags`: parameters that are 0 or 1.
    `rising`: pairs of parameters of which the second is never below the first."""

    name: str
    number: int
    acts_on: str
    doc: str
    parameters: tuple[str, ...]
    units: tuple[str, ...]
    least: tuple[float | None, ...]
    flags: tuple[str, ...] = ()
    rising: tuple[tuple[str, str], ...] = ()

    def refused(self, row: Iterable[float]) -> str | None:
        """Why these numbers, in the order of `parameters`, cannot be; None when they can. The one home of that rule."""
        x = dict(zip(self.parameters, row))
        for name, least in zip(self.parameters, self.least):
            if least is not None and not x[name] >= least:
                return f"{name} is {x[name]:g}; expected {least:g} or more"
        for name in self.flags:
            if x[name] not in (0.0, 1.0):
                return f"{name} is {x[name]:g}; expected 0 or 1"
        for low, high in self.rising:
            if not x[high] >= x[low]:
                return f"{high} {x[high]:g} is below {low} {x[low]:g}; expected {high} to be the larger"
        return None


def _bushing(name: str, number: int, doc: str) -> ForceKind:
    axes = [("torque_stiffness", "N m/rad"), ("torque_damping", "N m s/rad"), ("force_stiffness", "N/m"),
            ("force_damping", "N s/m")]
    return ForceKind(name, number, "pair", doc, tuple(f"{what}[{i}]" for what, _ in axes for i in range(3)),
                     tuple(unit for _, unit in axes for _ in range(3)), (0.0,) * 12)


TINY = 1e-9          # least width of a smoothed step: these parameters divide

ROWS = (
    _bushing("bushing", 0, "linear bushing on roll, pitch, yaw, Drake's law"),
    _bushing("bushing_energy_consistent", 1, "the same constants with the exact half-way rate: power is -d(energy)/dt"),
    ForceKind("spring_damper", 2, "pair", "linear spring and damper between two points",
              ("free_length", "stiffness", "damping"), ("m", "N/m", "N s/m"), (0.0, 0.0, 0.0)),
    ForceKind("joint_spring", 3, "coordinate", "spring and damper on one joint coordinate",
              ("position", "stiffness", "damping"), ("rad, m", "N m/rad, N/m", "N m s/rad, N s/m"), (None, 0.0, 0.0)),
    ForceKind("door_hinge", 4, "coordinate", "torsion spring, catch, dynamic, static and viscous friction",
              ("spring_position", "spring_stiffness", "catch_torque", "catch_width", "dynamic_friction", "static_friction",
               "viscous_friction", "motion_threshold"),
              ("rad", "N m/rad", "N m", "rad", "N m", "N m", "N m s/rad", "rad/s"),
              (None, 0.0, 0.0, TINY, 0.0, 0.0, 0.0, TINY)),
    ForceKind("stribeck", 5, "coordinate", "Coulomb, Stribeck and viscous friction",
              ("coulomb", "breakaway", "stribeck_speed", "smoothing_speed", "viscous"),
              ("N m, N", "N m, N", "rad/s, m/s", "rad/s, m/s", "N m s/rad, N s/m"), (0.0, 0.0, TINY, TINY, 0.0),
              rising=(("coulomb", "breakaway"),)),
    ForceKind("body_wrench", 6, "body", "constant wrench on a body, in world or body axes",
              ("torque[0]", "torque[1]", "torque[2]", "force[0]", "force[1]", "force[2]", "in_body"),
              ("N m",) * 3 + ("N",) * 3 + ("",), (None,) * 7, flags=("in_body",)),
    ForceKind("body_gravity", 7, "body", "gravity field of one body, beside the model's",
              ("mass", "com[0]", "com[1]", "com[2]", "gravity[0]", "gravity[1]", "gravity[2]"),
              ("kg", "m", "m", "m", "m/s^2", "m/s^2", "m/s^2"), (0.0,) + (None,) * 6),
    _bushing("bushing_quaternion", 8, "the same constants on twice the vector part of the quaternion: no gimbal lock"),
)

BY_NAME = {row.name: row for row in ROWS}
USER = ForceKind("user", len(ROWS), "pair", "written outside mbros (user.hpp)", (), (), ())


def spring_numbers(spec: ModelSpec) -> list[int]:
    """Which force elements are springs and dampers between two frames, whose laws the engine knows as such: those that may be stiff."""
    return [k for k, kind in enumerate(spec.force_kind) if kind != "user" and BY_NAME[kind].acts_on == "pair"]


def row_of(spec: ModelSpec, k: int) -> ForceKind:
    """The row of force element k of a ModelSpec."""
    return USER if spec.force_kind[k] == "user" else BY_NAME[spec.force_kind[k]]
