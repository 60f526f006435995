"""A joint of a model: who it is, where it is in the tree, and that it does not change."""
from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

from mbros.checking import pose_of
from mbros.errors import FrozenModelError
from mbros.joints.facts import Facts
from mbros.joints.in_state import InState
from mbros.joints.kinds import can_rotate, can_translate
from mbros.joints.mobilizer import Mobilizer
from mbros.placement import Placement
from mbros.spatial import Pose


class Topology(NamedTuple):
    """Where a joint is in the tree: its index, its parent joint's (-1 for none), its level (1 at the world), its coordinates."""

    index: int
    parent: int
    level: int
    q_start: int
    nq: int
    v_start: int
    nv: int


class Joint(Mobilizer, Facts, InState):
    """A joint of a model. Facts of the model are attributes; what depends on the state takes the state.

    q_slice, v_slice: its coordinates in q and v (a follower's are its leader's). lower, upper (nq,), velocity_limit,
    effort_limit, gear_ratio (nv,). mimic: (leader, ratio, offset) or None. Frame F is on the parent body, M on the child.
    What was set on the description can be read here, and not changed: a model does not change once it is built.
    """

    def __init__(self, model, row):
        self.model, self.row, self.name, self.kind, self.index = model, row, row.name, str(row.kind), row.index
        self.parent_body, self.child_body, self.robot = row.parent_body, row.child_body, row.robot
        self.nq, self.nv, self.q_start, self.v_start = row.nq, row.nv, row.q_start, row.v_start
        self.q_slice = slice(row.q_start, row.q_start + row.nq)
        self.v_slice = slice(row.v_start, row.v_start + row.nv)
        self.mimic, self.axis, self.parameters = row.mimic, row.axis, row.parameters
        self.lower, self.upper = row.lower, row.upper
        self.velocity_limit, self.effort_limit, self.gear_ratio = row.velocity, row.effort, row.gear_ratio
        self.frame_F, self.frame_M = row.frame_F, row.frame_M

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
    def can_rotate(self) -> bool:
        return can_rotate(self.row.kind)

    @property
    def can_translate(self) -> bool:
        return can_translate(self.row.kind)

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

    @cached_property
    def placement(self) -> Placement:
        """Where F is on the frame M of parent_joint (on the parent body where there is none)."""
        above = self.parent_joint
        return self.row.X_PF if above is None else above.row.X_BM.inverse() @ self.row.X_PF

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

    def copy_subtree(self):
        """A ModelBuilder with this joint, everything below it, and nothing else; the joint hangs on its world."""
        from mbros.cloning import copy_subtree

        return copy_subtree(self)

    # --------------------------------------------------------------------------------------------------- as it was built

    def __setattr__(self, name, value):
        if name in FIXED and (hasattr(type(self), name) or name in self.__dict__):
            raise frozen(self, name)
        object.__setattr__(self, name, value)

    def __repr__(self):
        mimic = f", follows {self.mimic[0]!r}" if self.follows else ""
        return f"<Joint {self.name!r}: {self.kind}, {self.parent_body!r} to {self.child_body!r}{mimic}>"


def frozen(joint, what) -> FrozenModelError:
    return FrozenModelError(f"joint {joint.name!r}: {what} cannot change once model {joint.model.name!r} is built. "
                            f"b = model.to_builder(); change b.joint({joint.name!r}); then b.build() makes another model")


FIXED = ("default_damping", "default_positions", "default_pose", "default_translation", "default_rotation", "limits", "bounds",
         "bounded", "random", "placement", "axis", "parameters", "name")
EDITS = ("set_position_limits", "set_velocity_limits", "set_acceleration_limits", "set_bounds", "set_default_pose",
         "set_default_pose_pair", "set_default_planar_pose", "set_random_pose", "add_child")


def _refusal(what):
    def refuse(self, *_, **__):
        raise frozen(self, what)

    refuse.__name__ = what
    refuse.__doc__ = "Belongs to descriptions: raises FrozenModelError, because this model is built."
    return refuse


for _name in EDITS:
    setattr(Joint, _name, _refusal(_name))
