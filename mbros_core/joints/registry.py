"""The joint kinds: one row each. Builders, readers, documentation and tests iterate this table.

The mathematics of a kind is in the .pxd file of its name; the numbers here must be those of the enum in dispatch.pxd
(the compiled modules compare the two when they are imported).
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbros_core.support.records import record

if TYPE_CHECKING:
    from mbros_core.spec import ModelSpec


@record(eq=False, frozen=True)
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
    parameters: tuple[str, ...] = ()

    @property
    def velocities_are_rates(self) -> bool:
        """Whether v = qdot, coordinate by coordinate (then stops and limits act on the pairs)."""
        return self.group.startswith("R^")


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
    JointKind("ball", 5, 4, 3, "any rotation; q = quaternion wxyz, v = w in the child frame",
              ("qw", "qx", "qy", "qz"), ("wx", "wy", "wz"), ("", "", "", ""), ("rad/s",) * 3,
              "SO(3)", (1.0, 0.0, 0.0, 0.0), (1, 1, 1)),
    JointKind("universal", 6, 2, 2, "rotation about Fx, then about My", ("qx", "qy"), ("wx", "wy"), ("rad",) * 2,
              ("rad/s",) * 2, "R^2", (0.0, 0.0), (1, 1)),
    JointKind("screw", 7, 1, 1, "rotation about Fz with a translation of pitch * q along it", ("q",), ("w",), ("rad",),
              ("rad/s",), "R^1", (0.0,), (0,), ("pitch_m_per_rad",)),
    JointKind("cylindrical", 8, 2, 2, "rotation about and translation along Fz", ("q", "z"), ("w", "v"), ("rad", "m"),
              ("rad/s", "m/s"), "R^2", (0.0, 0.0), (1, 2)),
    JointKind("translation2", 9, 2, 2, "translation in the xy plane of F", ("x", "y"), ("vx", "vy"), ("m",) * 2,
              ("m/s",) * 2, "R^2", (0.0, 0.0), (2, 2)),
    JointKind("translation3", 10, 3, 3, "translation", ("x", "y", "z"), ("vx", "vy", "vz"), ("m",) * 3, ("m/s",) * 3,
              "R^3", (0.0, 0.0, 0.0), (2, 2, 2)),
    JointKind("circular", 11, 2, 1, "rotation about Fz; q = (cos, sin)", ("cos", "sin"), ("w",), ("", ""), ("rad/s",),
              "SO(2)", (1.0, 0.0), (1,)),
    JointKind("ball_rpy", 12, 3, 3, "any rotation but pitch = +-90 deg; q = roll, pitch, yaw, v = w in F",
              ("qx", "qy", "qz"), ("wx", "wy", "wz"), ("rad",) * 3, ("rad/s",) * 3, "SO(3) as rpy", (0.0,) * 3, (1, 1, 1)),
    JointKind("floating_rpy", 13, 6, 6, "free motion but pitch = +-90 deg; q = [rpy; p], v = [w; v] in F",
              ("qx", "qy", "qz", "x", "y", "z"), ("wx", "wy", "wz", "vx", "vy", "vz"), ("rad",) * 3 + ("m",) * 3,
              ("rad/s",) * 3 + ("m/s",) * 3, "SE(3) as rpy", (0.0,) * 6, (1, 1, 1, 2, 2, 2)),
)

BY_NAME = {row.name: row for row in ROWS}
USER_NUMBER = len(ROWS)      # joints written outside mbros (user.hpp): every one brings its own row


def user_row(joint: Any) -> JointKind:
    """The row of a user's joint, an object with nq, nv and perhaps neutral, velocities_are_rates, and names and units of q and v."""
    nq, nv = joint.nq, joint.nv
    rates = getattr(joint, "velocities_are_rates", nq == nv)
    return JointKind(
        "user", USER_NUMBER, nq, nv, getattr(joint, "doc", "") or type(joint).__name__,
        tuple(getattr(joint, "position_names", [f"q{i}" for i in range(nq)])),
        tuple(getattr(joint, "velocity_names", [f"v{i}" for i in range(nv)])),
        tuple(getattr(joint, "position_units", ("",) * nq)), tuple(getattr(joint, "velocity_units", ("",) * nv)),
        f"R^{nq}" if rates else "user",
        tuple(getattr(joint, "neutral", (0.0,) * nq)), (0,) * nv)


def row_of(spec: ModelSpec, i: int) -> JointKind:
    """The row of the joint that carries body i of a ModelSpec; of a model's, as it was when the model was built."""
    if spec.joint_kind[i] != "user":
        return BY_NAME[spec.joint_kind[i]]
    return spec.user_rows[i] if spec.built else user_row(spec.user_joints[i])
