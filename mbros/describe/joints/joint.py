"""A joint as it is described, before a model is built from it: everything can still be changed here.

Once a model is built its joints answer the same questions, and refuse to be changed (FrozenModelError).
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from mbros_core.support.numbers import short

from mbros.arguments import is_whole, numbers, refuse
from mbros.describe.joints import limits
from mbros.describe.joints.abilities import can_rotate, can_translate
from mbros.describe.joints.defaults import DescribedDefaults
from mbros.describe.joints.kinds import sizes
from mbros.describe.joints.kinematics import kinematics
from mbros.describe.joints.names import JointNames
from mbros.errors import NOWHERE, no_model
from mbros.spatial.given import pose_of
from mbros.spatial.placement import Placement

if TYPE_CHECKING:
    from mbros import ModelBuilder
    from mbros.describe.joints.kinematics import Kinematics
    from mbros.describe.joints.random import RandomPositions
    from mbros.describe.robot import BodyDescription, Mimic
    from mbros.errors import Source
    from mbros.names import PoseLike
    from mbros_core.typing import Array, ArrayLike
    from typing_extensions import Self


class JointDescription:
    """Connects `child` to `parent`: X_PB = X_PF X_FM(q) X_BM^-1.

    kind: a key of mbros.describe.joints.kinds.KINDS. axis: unit vector in F (the same in M), None for kinds without one. parameters: as
    the kind's registry row names them (a screw's pitch in m/rad).
    lower, upper, default: (nq,). velocity_lower, velocity_upper, acceleration_lower, acceleration_upper, effort, damping,
    friction, rotor_inertia, gear_ratio: (nv,). stop_stiffness, stop_damping: (nv,), or None for the defaults of
    `mbros.build.compile.tree`. default None: see `defaults.positions`. random: what initial positions are drawn from. locked: whether
    states start with the joint locked. owner: the ModelBuilder it was added to.
    Units: rad, m, N m, N and what follows from them; rotor_inertia is the rotor's own (kg m^2, or kg), and the joint
    feels gear_ratio^2 times it.
    """

    __slots__ = ("name", "kind", "parent", "child", "X_PF", "X_BM", "axis", "parameters", "lower", "upper", "velocity_lower",
                 "velocity_upper", "acceleration_lower", "acceleration_upper", "effort", "damping", "friction", "rotor_inertia",
                 "gear_ratio", "default", "stop_stiffness", "stop_damping", "mimic", "source", "random", "locked", "owner",
                 "robot")

    name: str
    kind: str
    parent: Any                     # a BodyDescription; None until the joint is attached to one
    child: BodyDescription
    X_PF: Placement
    X_BM: Placement
    axis: Array | None
    parameters: tuple[float, ...]
    lower: Array
    upper: Array
    velocity_lower: Array
    velocity_upper: Array
    acceleration_lower: Array
    acceleration_upper: Array
    effort: Array
    damping: Array
    friction: Array
    rotor_inertia: Array
    gear_ratio: Array
    default: Array | None
    stop_stiffness: Array | None
    stop_damping: Array | None
    mimic: Mimic | None
    source: Source
    random: RandomPositions | None
    locked: bool
    owner: ModelBuilder | None
    robot: str

    def __init__(self, name: str, kind: str, parent: BodyDescription | None, child: BodyDescription, X_PF: Placement | None = None,
                 X_BM: Placement | None = None, axis: Array | None = None, source: Source | None = None,
                 parameters: Sequence[float] = ()) -> None:
        nq, nv = sizes(kind)
        self.name, self.kind, self.parent, self.child, self.axis = name, kind, parent, child, axis
        self.source = NOWHERE if source is None else source
        self.parameters = tuple(parameters)
        self.X_PF = Placement() if X_PF is None else X_PF
        self.X_BM = Placement() if X_BM is None else X_BM
        self.lower, self.upper = np.full(nq, -np.inf), np.full(nq, np.inf)
        self.velocity_lower, self.velocity_upper = np.full(nv, -np.inf), np.full(nv, np.inf)
        self.acceleration_lower, self.acceleration_upper = np.full(nv, -np.inf), np.full(nv, np.inf)
        self.effort = np.full(nv, np.inf)
        self.damping, self.friction, self.rotor_inertia = np.zeros(nv), np.zeros(nv), np.zeros(nv)
        self.gear_ratio = np.ones(nv)
        self.default = self.stop_stiffness = self.stop_damping = self.mimic = self.random = self.owner = None
        self.locked, self.robot = False, ""

    def attributes(self) -> dict[str, Any]:
        """Of a copy, which belongs to no builder; those that a user's own class of joints adds, too."""
        slots = {name: getattr(self, name) for of in type(self).__mro__ for name in getattr(of, "__slots__", ()) if hasattr(self, name)}
        return slots | getattr(self, "__dict__", {}) | {"owner": None}

    def __getstate__(self) -> Any:
        return None, self.attributes()          # what copy, deepcopy and pickle set one by one

    # ------------------------------------------------------------------------------------------------- sizes and names

    @property
    def nq(self) -> int:
        return sizes(self.kind)[0]

    @property
    def nv(self) -> int:
        return sizes(self.kind)[1]

    @property
    def names(self) -> JointNames:
        """Names of its coordinates: .positions, .velocities, .position_suffixes, .velocity_suffixes."""
        return JointNames(self, self.kind)

    @property
    def can_rotate(self) -> bool:
        """Whether M can turn in F."""
        return can_rotate(self.kind)

    @property
    def can_translate(self) -> bool:
        """Whether Mo can move in F."""
        return can_translate(self.kind)

    @property
    def _label(self) -> str:
        """How messages name it."""
        return f"joint {self.name!r}"

    @property
    def _exact_kind(self) -> str:
        """The kind; of users' joints with the law."""
        return self.kind

    @property
    def _kinematics(self) -> Kinematics:
        """Its mathematics: mbros.describe.joints.kinematics."""
        return kinematics(self.kind, self.parameters, self.axis)

    @property
    def model(self) -> NoReturn:
        """The model that owns it: there is none yet."""
        raise no_model("joint", self.name)

    # ------------------------------------------------------------------------------------------------- limits, damping

    @property
    def velocity(self) -> np.ndarray:
        """(nv,) the largest speed the velocity limits allow. Setting it sets both: -velocity and velocity."""
        return np.maximum(np.abs(self.velocity_lower), np.abs(self.velocity_upper))

    @velocity.setter
    def velocity(self, value: Any) -> None:
        self.velocity_upper = numbers(self._label, "velocity", value, self.nv, finite=False, broadcast=True)
        self.velocity_lower = -self.velocity_upper

    @property
    def limits(self) -> limits.JointLimits:
        """JointLimits of position (nq,), velocity, acceleration and effort (nv,)."""
        return limits.JointLimits(limits.Limits(self.lower, self.upper), limits.Limits(self.velocity_lower, self.velocity_upper),
                                  limits.Limits(self.acceleration_lower, self.acceleration_upper),
                                  limits.Limits(-self.effort, self.effort))

    def set_position_limits(self, lower: ArrayLike, upper: ArrayLike) -> Self:
        """lower <= upper, (nq,) each or one number for all. Default positions that were set stay, also outside the limits; without
        them the joint starts at its neutral position, or midway between limits that exclude it. Returns the joint."""
        self.lower, self.upper = limits.pair(self._label, "position", (lower, upper), self.nq)
        return self

    def set_velocity_limits(self, lower: ArrayLike, upper: ArrayLike) -> Self:
        """lower <= upper, (nv,) each. Returns the joint."""
        self.velocity_lower, self.velocity_upper = limits.pair(self._label, "velocity", (lower, upper), self.nv)
        return self

    def set_acceleration_limits(self, lower: ArrayLike, upper: ArrayLike) -> Self:
        """lower <= upper, (nv,) each. Returns the joint."""
        self.acceleration_lower, self.acceleration_upper = limits.pair(self._label, "acceleration", (lower, upper), self.nv)
        return self

    def set_bounds(self, i: int, lower: ArrayLike = -np.inf, upper: ArrayLike = np.inf) -> Self:
        """Bounds of position component i; without numbers, none. Returns the joint."""
        if not (is_whole(i) and 0 <= i < self.nq):
            refuse(self._label, f"position component {i!r} does not exist", f"There are {self.nq}, from 0.")
        low, high = self.lower.copy(), self.upper.copy()
        low[i], high[i] = (numbers(self._label, f"{side} bound of position {i}", x, 1, finite=False)[0]
                           for side, x in (("lower", lower), ("upper", upper)))
        return self.set_position_limits(low, high)

    @property
    def defaults(self) -> DescribedDefaults:
        """Where new states start: .positions, .pose, .angle, .damping, ..., all of which can be set; set_pose, set_random."""
        return DescribedDefaults(self)

    @defaults.setter
    def defaults(self, value: Any) -> None:
        refuse(self._label, f"defaults is {short(value)}", "Set one of them: joint.defaults.positions = (...), .angle, .damping.")

    # ------------------------------------------------------------------------------------------------------- placement

    @property
    def placement(self) -> Placement:
        """Where F is on the frame M of the joint that carries the parent body (on the parent body itself where none does)."""
        carrier = self._parent_joint()
        return self.X_PF if carrier is None else carrier.X_BM.inverse() @ self.X_PF

    @placement.setter
    def placement(self, X: PoseLike) -> None:
        carrier = self._parent_joint()
        X_MF = pose_of(self._label, X)
        self.X_PF = X_MF if carrier is None else carrier.X_BM @ X_MF

    def _parent_joint(self) -> JointDescription | None:
        if self.owner is None or self.parent is None:
            return None
        return next((j for j in self.owner.description.joints if j.child is self.parent), None)

    def add_child(self, joint: JointDescription, keep_placement: bool = False) -> JointDescription:
        """Attach `joint` to this joint's child body. A joint made with parent=None stands at its pose in the world in the
        neutral configuration, and keeps it; with keep_placement its pose is taken as its placement in this joint's frame M.
        Returns the child joint."""
        if self.owner is None:
            child = f"joint {joint.name!r}" if isinstance(joint, JointDescription) else f"{short(joint)}"
            refuse(self._label, f"it belongs to no model, so {child} cannot be added to it",
                   "Add it to a ModelBuilder first: b.add_joint(...).")
        return self.owner.add_child(self, joint, keep_placement)

    def __repr__(self) -> str:
        parent = "nothing yet" if self.parent is None else repr(self.parent.name)
        return f"<{self.kind} joint {self.name!r}: {parent} to {self.child.name!r}>"
