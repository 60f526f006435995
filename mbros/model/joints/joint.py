"""A joint of a model: who it is, where it is in the tree, and that it does not change."""
from __future__ import annotations

from typing import NamedTuple

from mbros.spatial.given import pose_of
from mbros.model.tables import CompiledJoint
from mbros.model.frozen import Frozen, frozen_placement
from mbros.model.joints.facts import Facts
from mbros.model.joints.in_state import InState
from mbros.model.joints.mobilizer import Mobilizer
from mbros.spatial.placement import Placement
from mbros.spatial.vectors import Pose


class Topology(NamedTuple):
    """Where a joint is in the tree: its index, its parent joint's (-1 for none), its level (1 at the world), its coordinates."""

    index: int
    parent: int
    level: int
    q_start: int
    nq: int
    v_start: int
    nv: int


class Joint(Mobilizer, Facts, InState, Frozen):
    """A joint of a model. Facts of the model are attributes; what depends on the state takes the state.

    q_slice, v_slice: its coordinates in q and v (a follower's are its leader's). lower, upper (nq,), velocity_limit,
    effort_limit, gear_ratio (nv,). mimic: (leader, ratio, offset) or None. Frame F is on the parent body, M on the child.
    What was set on the description can be read here, and not changed: a model does not change once it is built.
    """

    LIST = "joints"

    def __init__(self, model, row):
        self._check_row(row, CompiledJoint)
        self._made_of(
            model=model, row=row, name=row.name, kind=str(row.kind), index=row.index, parent_body=row.parent_body,
            child_body=row.child_body, robot=row.robot, nq=row.nq, nv=row.nv, q_start=row.q_start, v_start=row.v_start,
            q_slice=slice(row.q_start, row.q_start + row.nq), v_slice=slice(row.v_start, row.v_start + row.nv), mimic=row.mimic,
            axis=row.axis, parameters=row.parameters, lower=row.lower, upper=row.upper, velocity_limit=row.velocity,
            effort_limit=row.effort, gear_ratio=row.gear_ratio, frame_F=row.frame_F, frame_M=row.frame_M)

    @property
    def label(self) -> str:
        """How messages name it."""
        return f"joint {self.name!r}"

    # ------------------------------------------------------------------------------------------------------ who it is

    @property
    def frame_index(self) -> int:
        return self.frame_M

    @property
    def follows(self) -> bool:
        """Whether it has no coordinates of its own (URDF mimic)."""
        return self.mimic is not None

    @property
    def type_name(self) -> str:
        """The kind's name: "planar", "revolute", ..."""
        return self.kind

    TYPE = type_name

    @property
    def ordinal(self) -> int:
        """Its place among the model's joints: its index, since joints are never removed."""
        return self.index

    @property
    def is_floating(self) -> bool:
        """Whether it leaves its child free: six degrees of freedom."""
        return self.nv == 6

    @property
    def parent(self):
        """The parent Body."""
        return self.model.bodies[self.parent_body]

    @property
    def child(self):
        """The Body it carries."""
        return self.model.bodies[self.child_body]

    body = child
    link_name = property(lambda self: self.child_body, doc="Name of the body it carries.")

    @property
    def parent_frame(self):
        """Frame F, on the parent."""
        return self.model.frames[self.frame_F]

    @property
    def child_frame(self):
        """Frame M, on the child."""
        return self.model.frames[self.frame_M]

    # -------------------------------------------------------------------------------------------------- in the tree

    @property
    def parent_joint(self):
        """The joint that carries its parent body, None at the world."""
        return self.model.tree.parent(self)

    @property
    def children(self) -> list:
        """The joints on the body it carries, in the author's order."""
        return self.model.tree.children(self)

    def subtree(self):
        """This joint and every joint below it, depth first."""
        return self.model.tree.subtree(self)

    @property
    def topology(self) -> Topology:
        above = self.parent_joint
        return Topology(self.index, -1 if above is None else above.index, self.model.tree.level(self), self.q_start, self.nq,
                        self.v_start, self.nv)

    @property
    def placement(self) -> Placement:
        """Where F is on the frame M of parent_joint (on the parent body where there is none)."""
        above = self.parent_joint
        return frozen_placement(self.row.X_PF if above is None else above.row.X_BM.inverse() @ self.row.X_PF)

    @property
    def link_frame(self) -> Pose:
        """X_MB: the carried body's frame in M."""
        X = self.row.X_BM.inverse()
        return Pose(X.R, X.p, self.child_body, self.child_frame.name)

    @property
    def neutral_pose(self) -> Pose:
        """X_WM with every joint at its neutral position."""
        state = self.model.new_state()
        state.q[:] = self.model.neutral_configuration()
        return self.model.pose(state, self)

    def pose_from_parent(self, q, X_parent) -> Pose:
        """X_parent placement X_FM(q): where M is when the parent joint's M is at X_parent (a (4, 4) matrix, or with .R and .p).
        q: of the joint (nq,), or of the model; where the sizes are the same, a follower takes the model's."""
        q, of_model = self._own_or_models(q, "q", self.nq, self.model.nq)
        if of_model:
            q = q[self.q_slice]
            q = self.mimic[1] * q + self.mimic[2] if self.follows else q
        X = pose_of(self._called, X_parent) @ self.placement @ Placement(*self.mobility.pose(q))
        return Pose(X.R, X.p, self.child_frame.name)

    def __repr__(self):
        mimic = f", follows {self.mimic[0]!r}" if self.follows else ""
        return f"<Joint {self.name!r}: {self.kind}, {self.parent_body!r} to {self.child_body!r}{mimic}>"


EDITS = ("set_position_limits", "set_velocity_limits", "set_acceleration_limits", "set_bounds", "set_default_pose",
         "set_default_pose_pair", "set_default_planar_pose", "set_random_pose", "add_child")


def _refused(what):
    def refuse(self, *_, **__):
        raise self._refusal(what)

    refuse.__name__ = what
    refuse.__doc__ = "Belongs to descriptions: raises FrozenModelError, because this model is built."
    return refuse


for _name in EDITS:
    setattr(Joint, _name, _refused(_name))
