"""A joint as it is described, before a model is built from it: everything can still be changed here.

Once a model is built its joints answer the same questions, and refuse to be changed (FrozenModelError).
"""
from __future__ import annotations

import numpy as np

from mbros.arguments import is_whole, not_negative, numbers, refuse
from mbros.spatial.given import pose_of
from mbros.errors import NOWHERE, no_model
from mbros.describe.joints import limits
from mbros.describe.joints.names import CoordinateNames
from mbros.describe.joints.defaults import DescribedDefaults
from mbros.describe.joints.kinds import six_from_pair, sizes
from mbros.describe.joints.kinematics import mobility
from mbros.describe.joints.random import RandomPositions
from mbros.spatial.placement import Placement


class JointDescription(CoordinateNames, DescribedDefaults):
    """Connects `child` to `parent`: X_PB = X_PF X_FM(q) X_BM^-1.

    kind: a key of mbros.describe.joints.kinds.KINDS. axis: unit vector in F (the same in M), None for kinds without one. parameters: as
    the kind's registry row names them (a screw's pitch in m/rad).
    lower, upper, default: (nq,). velocity_lower, velocity_upper, acceleration_lower, acceleration_upper, effort, damping,
    friction, rotor_inertia, gear_ratio: (nv,). stop_stiffness, stop_damping: (nv,), or None for the defaults of
    `mbros.build.compile.tree`. default None: see `default_positions`. random: what initial positions are drawn from. locked: whether
    states start with the joint locked. owner: the ModelBuilder it was added to.
    Units: rad, m, N m, N and what follows from them; rotor_inertia is the rotor's own (kg m^2, or kg), and the joint
    feels gear_ratio^2 times it.
    """

    __slots__ = ("name", "kind", "parent", "child", "X_PF", "X_BM", "axis", "parameters", "lower", "upper", "velocity_lower",
                 "velocity_upper", "acceleration_lower", "acceleration_upper", "effort", "damping", "friction", "rotor_inertia",
                 "gear_ratio", "default", "stop_stiffness", "stop_damping", "mimic", "source", "random", "locked", "owner",
                 "robot")

    def __init__(self, name, kind, parent, child, X_PF=None, X_BM=None, axis=None, source=None, parameters=()):
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

    def attributes(self) -> dict:
        """Of a copy, which belongs to no builder; those that a user's own class of joints adds, too."""
        slots = {name: getattr(self, name) for of in type(self).__mro__ for name in getattr(of, "__slots__", ()) if hasattr(self, name)}
        return slots | getattr(self, "__dict__", {}) | {"owner": None}

    def __getstate__(self):
        return None, self.attributes()          # what copy, deepcopy and pickle set one by one

    # ------------------------------------------------------------------------------------------------- sizes and names

    @property
    def nq(self) -> int:
        return sizes(self.kind)[0]

    @property
    def nv(self) -> int:
        return sizes(self.kind)[1]

    @property
    def type_name(self) -> str:
        """The kind's name: "planar", "revolute", ..."""
        return str(self.kind)

    @property
    def element(self) -> str:
        """How messages name it."""
        return f"joint {self.name!r}"

    @property
    def exact_kind(self):
        """The kind; of users' joints with the law."""
        return self.kind

    @property
    def mobility(self):
        """Its mathematics: mbros.describe.joints.kinematics."""
        return mobility(self.kind, self.parameters, self.axis)

    @property
    def model(self):
        """The model that owns it: there is none yet."""
        raise no_model("joint", self.name)

    # ------------------------------------------------------------------------------------------------- limits, damping

    @property
    def velocity(self) -> np.ndarray:
        """(nv,) the largest speed the velocity limits allow. Setting it sets both: -velocity and velocity."""
        return np.maximum(np.abs(self.velocity_lower), np.abs(self.velocity_upper))

    @velocity.setter
    def velocity(self, value):
        self.velocity_upper = numbers(self.element, "velocity", value, self.nv, finite=False, broadcast=True)
        self.velocity_lower = -self.velocity_upper

    @property
    def limits(self):
        """JointLimits of position (nq,), velocity, acceleration and effort (nv,)."""
        return limits.JointLimits(limits.Limits(self.lower, self.upper), limits.Limits(self.velocity_lower, self.velocity_upper),
                                  limits.Limits(self.acceleration_lower, self.acceleration_upper),
                                  limits.Limits(-self.effort, self.effort))

    def set_position_limits(self, lower, upper):
        """lower <= upper, (nq,) each or one number for all. Default positions that were set stay, also outside the limits; without
        them the joint starts at its neutral position, or midway between limits that exclude it. Returns the joint."""
        self.lower, self.upper = limits.pair(self.element, "position", (lower, upper), self.nq)
        return self

    def set_velocity_limits(self, lower, upper):
        """lower <= upper, (nv,) each. Returns the joint."""
        self.velocity_lower, self.velocity_upper = limits.pair(self.element, "velocity", (lower, upper), self.nv)
        return self

    def set_acceleration_limits(self, lower, upper):
        """lower <= upper, (nv,) each. Returns the joint."""
        self.acceleration_lower, self.acceleration_upper = limits.pair(self.element, "acceleration", (lower, upper), self.nv)
        return self

    @property
    def bounds(self):
        """Limits of each position component: bounds[i] = (lower, upper)."""
        return limits.Limits(self.lower, self.upper)

    @property
    def bounded(self) -> np.ndarray:
        """(nq,) whether each position component has two bounds."""
        return self.bounds.bounded

    def set_bounds(self, i, lower=-np.inf, upper=np.inf):
        """Bounds of position component i; without numbers, none. Returns the joint."""
        if not (is_whole(i) and 0 <= i < self.nq):
            refuse(self.element, f"position component {i!r} does not exist", f"There are {self.nq}, from 0.")
        low, high = self.lower.copy(), self.upper.copy()
        low[i], high[i] = (numbers(self.element, f"{side} bound of position {i}", x, 1, finite=False)[0]
                           for side, x in (("lower", lower), ("upper", upper)))
        return self.set_position_limits(low, high)

    @property
    def default_damping(self) -> np.ndarray:
        """Damping (nv,) of new states, N m s/rad or N s/m. Floating joints also take (angular, translational)."""
        return self.damping.copy()

    @default_damping.setter
    def default_damping(self, value):
        value = six_from_pair(self.kind, value)
        self.damping = not_negative(self.element, "damping", numbers(self.element, "damping", value, self.nv))

    # ---------------------------------------------------------------------------------------------------- random poses

    def set_random_pose(self, **by_name):
        """Draw initial positions from these expressions (model.random_state): x=Uniform(-1, 1), theta=Normal(0, 0.1),
        rotation=UniformRotation(). Coordinates not named keep their default. Returns the joint."""
        self.random = RandomPositions.by_name(self.element, self.kind, by_name)
        return self

    # ------------------------------------------------------------------------------------------------------- placement

    @property
    def placement(self) -> Placement:
        """Where F is on the frame M of the joint that carries the parent body (on the parent body itself where none does)."""
        carrier = self._parent_joint()
        return self.X_PF if carrier is None else carrier.X_BM.inverse() @ self.X_PF

    @placement.setter
    def placement(self, X):
        carrier = self._parent_joint()
        X = pose_of(self.element, X)
        self.X_PF = X if carrier is None else carrier.X_BM @ X

    def _parent_joint(self):
        if self.owner is None or self.parent is None:
            return None
        return next((j for j in self.owner.description.joints if j.child is self.parent), None)

    def add_child(self, joint, keep_placement=False):
        """Hang `joint` on this joint's child body. A joint made with parent=None stands at its pose in the world in the
        neutral configuration, and keeps it; with keep_placement its pose is taken as its placement in this joint's frame M.
        Returns the child joint."""
        if self.owner is None:
            child = f"joint {joint.name!r}" if isinstance(joint, JointDescription) else f"{joint!r:.80}"
            refuse(self.element, f"it belongs to no model, so {child} cannot be added to it",
                   "Add it to a ModelBuilder first: b.add_joint(...).")
        return self.owner.add_child(self, joint, keep_placement)

    def __repr__(self) -> str:
        parent = "nothing yet" if self.parent is None else repr(self.parent.name)
        return f"<{self.kind} joint {self.name!r}: {parent} to {self.child.name!r}>"
