"""A joint of a model: who it is, where it is in the tree, and that it does not change."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from mbros_core.support.shown import html_table

from mbros.arguments import reals
from mbros.describe.joints.abilities import can_rotate, can_translate
from mbros.describe.joints.joint import JointDescription
from mbros.describe.joints.kinds import row_of
from mbros.describe.joints.kinematics import kinematics
from mbros.describe.joints.limits import JointLimits, Limits
from mbros.describe.joints.names import JointNames
from mbros.errors import MbrosError
from mbros.model.cached import cached_property
from mbros.model.frozen import FrozenPart, frozen_placement
from mbros.model.joints.defaults import BuiltDefaults
from mbros.model.joints.driven import Driven
from mbros.model.joints.in_state import InState
from mbros.model.joints.mobilizer import Mobilizer
from mbros.model.joints.reading import Reading
from mbros.model.joints.topology import Topology
from mbros.model.tables import CompiledJoint
from mbros.spatial.placement import Placement
from mbros.spatial.vectors import Pose

if TYPE_CHECKING:
    from mbros import Body, Frame, Model
    from mbros.describe.joints.kinematics import Kinematics
    from mbros.spaces.base import Space
    from mbros_core.typing import ArrayLike

JOINT_TABLE = ("joint", "kind", "parent", "child", "positions", "limits", "follows")

# What a description has to be changed with, and a joint of a model has not.
EDITS = frozenset(name for name in vars(JointDescription) if name.startswith(("set_", "add_")))


class Joint(Reading, InState, Driven, FrozenPart):
    """A joint of a model. Facts of the model are attributes; what depends on the state takes the state.

    q_slice, v_slice: its coordinates in q and v (a follower's are its leader's). mimic: (leader, ratio, offset) or None. axis: in F, None
    for kinds without one. gear_ratio (nv,). kind: "revolute", "planar", ... robot: the group it came in with. Frame F is on the parent
    body, M on the child.

    What belongs together is in groups, each made once: limits, defaults, names, topology (where it is in the tree), mobilizer (H, N and
    their derivatives), space (its configuration space).

    What was set on the description can be read here, and not changed: a model does not change once it is built.
    """

    _LIST = "joints"

    def __init__(self, model: Model, row: CompiledJoint) -> None:
        self._check_row(row, CompiledJoint)
        self._made_of(
            model=model, _row=row, name=row.name, kind=str(row.kind), index=row.index, robot=row.robot, nq=row.nq, nv=row.nv,
            q_slice=slice(row.q_start, row.q_start + row.nq), v_slice=slice(row.v_start, row.v_start + row.nv),
            _q_start=row.q_start, _v_start=row.v_start, mimic=row.mimic, follows=row.mimic is not None, axis=row.axis,
            gear_ratio=row.gear_ratio, _frame_index=row.frame_M)

    # ------------------------------------------------------------------------------------------------------ who it is

    @property
    def _label(self) -> str:
        """How messages name it."""
        return f"joint {self.name!r}"

    @property
    def _exact_kind(self) -> str:
        """The kind; of users' joints with the law."""
        return self._row.kind

    @cached_property
    def _kinematics(self) -> Kinematics:
        """Its mathematics without a state: mbros.describe.joints.kinematics."""
        return kinematics(self._row.kind, self._row.parameters, self.axis)

    @property
    def is_floating(self) -> bool:
        """Whether it leaves its child free: six degrees of freedom."""
        return self.nv == 6

    @property
    def can_rotate(self) -> bool:
        """Whether M can turn in F."""
        return can_rotate(self._exact_kind)

    @property
    def can_translate(self) -> bool:
        """Whether Mo can move in F."""
        return can_translate(self._exact_kind)

    @property
    def parent(self) -> Body:
        """The parent Body."""
        return self.model.bodies[self._row.parent_body]

    @property
    def child(self) -> Body:
        """The Body it carries."""
        return self.model.bodies[self._row.child_body]

    @property
    def parent_frame(self) -> Frame:
        """Frame F, on the parent."""
        return self.model.frames[self._row.frame_F]

    @property
    def child_frame(self) -> Frame:
        """Frame M, on the child."""
        return self.model.frames[self._row.frame_M]

    @property
    def placement(self) -> Placement:
        """Where F is on the frame M of the joint that carries the parent body (on the parent body itself where there is none)."""
        above = self.topology.parent
        return frozen_placement(self._row.X_PF if above is None else above._row.X_BM.inverse() @ self._row.X_PF)

    @property
    def link_frame(self) -> Pose:
        """X_MB: the carried body's frame in M."""
        X = self._row.X_BM.inverse()
        return Pose._made(X.R, X.p, self.child.name, self.child_frame.name)

    def of(self, array: ArrayLike) -> np.ndarray:
        """This joint's part of an array whose last axis is the model's q (nq) or v, vdot or tau (nv): a view, batches too."""
        given = reals(self._label, "array", array, f"{self.model.nq} (nq) or {self.model.nv} (nv) numbers in the last axis")
        array = array if isinstance(array, np.ndarray) else given
        n = array.shape[-1] if array.ndim else -1
        if n == self.model.nv:
            return array[..., self.v_slice]
        if n == self.model.nq:
            return array[..., self.q_slice]
        raise MbrosError(f"{self._label}: expected {self.model.nq} (nq) or {self.model.nv} (nv) numbers in the last axis, got "
                         f"shape {array.shape}")

    # --------------------------------------------------------------------------------------------------------- groups

    @cached_property
    def limits(self) -> JointLimits:
        """.position (nq,), .velocity, .acceleration, .effort (nv,): each with .lower, .upper and .bounded, arrays; limits.position[0]
        is a pair of plain numbers."""
        row = self._row
        lower = -row.effort
        lower.setflags(write=False)
        return JointLimits(Limits(row.lower, row.upper), Limits(row.velocity_lower, row.velocity_upper),
                           Limits(row.acceleration_lower, row.acceleration_upper), Limits(lower, row.effort))

    @cached_property
    def defaults(self) -> BuiltDefaults:
        """Where new states start: .positions (nq,), .pose, .pose_pair, .damping (nv,), .random, .neutral; by kind .angle, .translation,
        .rotation."""
        return BuiltDefaults(self)

    @cached_property
    def names(self) -> JointNames:
        """Of its coordinates: .positions, .velocities, .position_suffixes, .velocity_suffixes; .parameters of its tunable numbers."""
        from mbros.model.parameters import of_joint      # start-up time: who does not use it does not pay

        return JointNames(self, self._exact_kind, of_joint(self))

    @cached_property
    def topology(self) -> Topology:
        """Its place in the tree: .parent, .children, .subtree(), .level; .neutral_pose, .pose_from_parent(q, X_parent)."""
        return Topology(self)

    @cached_property
    def mobilizer(self) -> Mobilizer:
        """H and Hdot v, N and N+, with exact derivatives; forces projected on it; bounds of its velocities."""
        return Mobilizer(self)

    @cached_property
    def space(self) -> Space:
        """Its configuration space: mbros.spaces.joint_space(joint); the "parent" increments of HPP are there too."""
        from mbros.spaces import joint_space      # start-up time: who does not use it does not pay

        return joint_space(self)

    def __getattr__(self, name: str) -> Any:
        if name in EDITS:
            return self._refused(name)
        raise AttributeError(name if name.startswith("_") else f"{self._label} ({self.kind}) has no attribute {name!r}")

    def __dir__(self) -> list[str]:
        """Without the name that is only there for who knows it from before."""
        return [name for name in super().__dir__() if name != "unlock"]

    def __repr__(self) -> str:
        mimic = f", follows {self.mimic[0]!r}" if self.mimic is not None else ""
        return f"<Joint {self.name!r}: {self.kind}, {self.parent.name!r} to {self.child.name!r}{mimic}>"

    def _repr_html_(self) -> str:
        """What it is, as a row of a model's table, for notebooks."""
        return html_table(f"joint {self.name!r} of {self.model.name!r}", JOINT_TABLE, [self._html_row()])

    def _html_row(self) -> tuple[str, ...]:
        """The cells of JOINT_TABLE."""
        follows = "" if self.mimic is None else f"{self.mimic[1]:g} {self.mimic[0]} + {self.mimic[2]:g}"
        row = row_of(self._exact_kind)
        bounds = [f"{low:.4g} ... {high:.4g} {unit}".rstrip() for low, high, unit in
                  zip(*self.limits.position, [*row.position_units, *[""] * self.nq]) if np.isfinite(low) or np.isfinite(high)]
        return self.name, self.kind, self.parent.name, self.child.name, ", ".join(self.names.position_suffixes), "; ".join(bounds), follows
