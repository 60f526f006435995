"""ModelSpec: a robot as the engine takes it, numbers only.

`mbros` (builder, URDF) makes it; `mbros_core.Model(spec)` compiles it. It is the only door into the engine, and the
same spec is compiled once per scalar (double, lanes).

The tree is already reduced: body 0 is the world, parents come before children, bodies joined by welds are one body,
and each body frame B is the frame M of the joint that carries it (X_MB = 1), so that a joint is
`X_PB = X_PF X_FM(q)` with X_PF constant. Joints with one axis act along the z axis of F. What users call bodies and
joint frames are rows of the frame table.
"""
from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from .errors import FrozenSpecError, MbrosError
from .joints.registry import JointKind, row_of, user_row
from mbros_core.support.numbers import floats, is_whole, short
from mbros_core.support.records import record

if TYPE_CHECKING:
    from mbros_core.typing import JointRow


@record()
class ModelSpec:
    """All arrays are float64 or int32, C-contiguous; SI units. nb bodies with the world, nq positions, nv velocities."""

    name: str
    gravity: np.ndarray            # (3,) m/s^2, in W

    # --- one row per body; row 0 is the world (kind "weld", parent -1)
    body_names: list[str]
    joint_names: list[str]         # the joint that carries the body
    joint_kind: list[str]          # "weld", "revolute", "prismatic", "planar", "floating", ... (mbros_core.joints.registry)
    parent: np.ndarray             # (nb,) int32, parent[i] < i
    X_PF: np.ndarray               # (nb, 12) R_PF row-major, then p_PoFo_P in m
    joint_parameters: np.ndarray   # (nb, 4) meaning given by the joint kind's registry row
    leader: np.ndarray             # (nb,) int32: the body whose joint this one follows, or -1 for coordinates of its own
    ratio: np.ndarray              # (nb,) q = ratio * q_leader + offset
    offset: np.ndarray             # (nb,)
    inertia: np.ndarray            # (nb, 10) m, m*c (3, kg m), then Ixx Iyy Izz Ixy Ixz Iyz about Bo in B (kg m^2)

    # --- one row per position coordinate
    q_default: np.ndarray          # (nq,)
    q_lower: np.ndarray            # (nq,) -inf where free
    q_upper: np.ndarray            # (nq,) +inf where free

    # --- one row per velocity coordinate
    velocity_limit: np.ndarray     # (nv,) +inf where free
    effort_limit: np.ndarray       # (nv,) +inf where free
    damping: np.ndarray            # (nv,) N m s/rad or N s/m
    friction: np.ndarray           # (nv,) Coulomb friction, N m or N
    rotor_inertia: np.ndarray      # (nv,) reflected: gear_ratio^2 * J_rotor, kg m^2 or kg
    stop_stiffness: np.ndarray     # (nv,) of the stop at q_lower and q_upper; N m/rad or N/m; 0: no stop
    stop_damping: np.ndarray       # (nv,)

    lock: np.ndarray | None = None # (nv,) 1 where states start with the joint locked; None: nowhere

    # --- frames fixed on bodies
    frame_names: list[str] = field(default_factory=list)
    frame_body: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int32))    # (nf,) int32
    X_BF: np.ndarray = field(default_factory=lambda: np.zeros((0, 12)))             # (nf, 12)

    # --- one row per force element (mbros_core.forces.registry); -1 where a kind has no such side
    force_names: list[str] = field(default_factory=list)
    force_kind: list[str] = field(default_factory=list)
    force_body: np.ndarray = field(default_factory=lambda: np.zeros((0, 2), np.int32))         # (ne, 2) of A and C
    force_X: np.ndarray = field(default_factory=lambda: np.zeros((0, 2, 12)))                  # (ne, 2, 12) frames A and C on them
    force_coordinate: np.ndarray = field(default_factory=lambda: np.zeros((0, 2), np.int32))   # (ne, 2) position, velocity
    force_parameters: np.ndarray = field(default_factory=lambda: np.zeros((0, 16)))            # (ne, 16)

    # --- one row per collision shape (mbros_core.geometry); the columns of its numbers are mbros_core.constraints.registry's
    shape_names: list[str] = field(default_factory=list)
    shape_geometry: list[Any] = field(default_factory=list)                                    # of mbros_core.geometry.Shape
    shape_body: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int32))              # (ns,) int32, 0: the world
    shape_X: np.ndarray = field(default_factory=lambda: np.zeros((0, 12)))                     # (ns, 12) X_BS
    shape_parameters: np.ndarray = field(default_factory=lambda: np.zeros((0, 6)))             # (ns, 6)
    shape_excluded: np.ndarray = field(default_factory=lambda: np.zeros((0, 2), np.int32))     # (k, 2) rows that never touch, a < b

    # --- one row per constraint (mbros_core.constraints.kinds); -1 where a kind has no such side
    constraint_names: list[str] = field(default_factory=list)
    constraint_kind: list[str] = field(default_factory=list)
    constraint_body: np.ndarray = field(default_factory=lambda: np.zeros((0, 2), np.int32))           # (nk, 2) of A and B
    constraint_X: np.ndarray = field(default_factory=lambda: np.zeros((0, 2, 12)))                    # (nk, 2, 12) frames A and B on them
    constraint_coordinate: np.ndarray = field(default_factory=lambda: np.zeros((0, 2, 2), np.int32))  # (nk, 2, 2) of a and b: in q, in v
    constraint_parameters: np.ndarray = field(default_factory=lambda: np.zeros((0, 4)))               # (nk, 4)

    # --- joints and force elements written outside mbros (user.hpp), of kind "user": objects with a `capsule`
    user_joints: dict[int, Any] = field(default_factory=dict)       # by body index; also with nq, nv
    user_forces: dict[int, Any] = field(default_factory=dict)       # by element index

    # --- of a frozen spec
    built: ClassVar[bool] = False                               # whether it is one
    user_rows: ClassVar[dict[int, Any]] = {}      # the registry rows of its user_joints

    def frozen(self) -> ModelSpec:
        """This spec as it is now, for good: what a model keeps. Its arrays are the model's own, of the types said above, and cannot be
        made writable; nothing that happens to this spec, or to the joints in it, reaches them. A frozen spec gives itself."""
        if self.built and all(isinstance(root(value), bytes) for value in vars(self).values() if isinstance(value, np.ndarray)):
            return self                     # copies and pickles of one come with arrays of their own
        if not isinstance(self.name, str) or not isinstance(self.user_joints, dict) or not isinstance(self.user_forces, dict):
            raise MbrosError("ModelSpec: expected a text as name, and dicts as user_joints and user_forces, got "
                             f"{short(self.name)}, {short(self.user_joints)}, {short(self.user_forces)}")
        other = object.__new__(ModelSpec)
        for name in self.__dataclass_fields__:
            value = getattr(self, name)
            if name in NUMBERS and not (name == "lock" and value is None):
                value = constant(self.name, name, value)
            elif isinstance(value, (list, dict)):
                value = value.copy()
            vars(other)[name] = value
        vars(other).update(built=True, user_rows={i: sized_row(joint) for i, joint in other.user_joints.items()})
        return other

    def __setattr__(self, name: str, value: Any) -> None:
        if self.built:
            raise FrozenSpecError(f"{name} of the spec of model {self.name!r} cannot be set: the model is built. "
                                  f"dataclasses.replace(spec, {name}=...) makes another spec")
        object.__setattr__(self, name, value)


# int32; all other arrays are float64
WHOLE = ("parent", "leader", "frame_body", "force_body", "force_coordinate", "shape_body", "shape_excluded", "constraint_body",
         "constraint_coordinate")
NUMBERS = tuple(name for name, kind in ModelSpec.__annotations__.items() if kind.startswith("np.ndarray"))


def constant(who: str, name: str, values: object) -> np.ndarray:
    """The numbers of an array of a spec in memory that cannot be written to. MbrosError for what are none."""
    array = whole(values) if name in WHOLE else floats(values)
    if array is None:
        raise MbrosError(f"ModelSpec.{name} of {who!r}: expected {'whole ' * (name in WHOLE)}numbers, got {short(values)}")
    return np.ndarray(array.shape, array.dtype, array.tobytes())


def whole(values: object) -> np.ndarray | None:
    """The numbers as int32, when they are whole and not too large for it."""
    array = floats(values)
    if array is None or not (np.abs(array) < 2.0**31).all() or not (array == np.floor(array)).all():
        return None
    return array.astype(np.int32)


def sized_row(joint: object) -> JointKind | None:
    """The registry row of a user's joint; None for what cannot be one."""
    try:
        row = user_row(joint)
    except (AttributeError, TypeError, ValueError):
        return None
    sizes = is_whole(row.nq) and is_whole(row.nv) and 1 <= row.nv <= 6 and row.nv <= row.nq <= 7
    names = (row.position_names, row.position_units, row.neutral), (row.velocity_names, row.velocity_units)
    fits = sizes and all(len(x) == n for rows, n in zip(names, (row.nq, row.nv)) for x in rows)
    return row if fits and (row.nq == row.nv or not row.velocities_are_rates) else None


def joint_coordinates(spec: ModelSpec) -> list[JointRow]:
    """(iq, iv, ratio, offset, drives) of the joint that carries each body: where its coordinates start in q and v, and its positions as
    ratio * q + offset. A follower's coordinates are its leader's, which drives it."""
    starts, iq, iv = [], 0, 0
    for i, leader in enumerate(spec.leader):
        starts.append((iq, iv))
        if leader < 0:
            row = row_of(spec, i)
            iq, iv = iq + row.nq, iv + row.nv
    return [(*starts[i], 1.0, 0.0, True) if leader < 0 else (*starts[leader], float(spec.ratio[i]), float(spec.offset[i]), False)
            for i, leader in enumerate(spec.leader)]


def one_axis_joints(spec: ModelSpec) -> list[JointRow]:
    """Those of every joint with one degree of freedom, in order."""
    return [row for i, row in enumerate(joint_coordinates(spec)) if row_of(spec, i).nv == 1]


def root(array: Any) -> Any:
    """What owns the memory of an array."""
    while isinstance(array, np.ndarray) and array.base is not None:
        array = array.base
    return array
