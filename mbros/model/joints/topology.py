"""Where a joint is in the tree: `joint.topology`."""
from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mbros.model.cached import cached_property
from mbros.model.joints import hpp
from mbros.model.joints.reading import own_or_models
from mbros.spatial.given import pose_of
from mbros.spatial.placement import Placement
from mbros.spatial.vectors import Pose

if TYPE_CHECKING:
    from mbros import Joint
    from mbros.names import PoseLike
    from mbros_core.typing import ArrayLike


class Topology:
    """parent, children, subtree() and level, and where its frame M is along the way from the world. Made once for a joint."""

    def __init__(self, joint: Joint) -> None:
        self._joint = joint

    @property
    def parent(self) -> Joint | None:
        """The joint that carries its parent body, None at the world."""
        return self._joint.model.tree.parent(self._joint)

    @property
    def children(self) -> list[Joint]:
        """The joints on the body it carries, in the author's order."""
        return self._joint.model.tree.children(self._joint)

    def subtree(self) -> Iterator[Joint]:
        """This joint and every joint below it, depth first."""
        return self._joint.model.tree.subtree(self._joint)

    @property
    def level(self) -> int:
        """1 for joints on the world, one more for each joint between."""
        return self._joint.model.tree.level(self._joint)

    @property
    def neutral_pose(self) -> Pose:
        """X_WM with every joint at its neutral position."""
        model = self._joint.model
        state = model.default_state()
        state.q[:] = model.neutral_configuration()
        return model.pose(state, self._joint)

    def pose_from_parent(self, q: ArrayLike, X_parent: PoseLike) -> Pose:
        """X_parent placement X_FM(q): where M is when the parent joint's M is at X_parent (a (4, 4) matrix, or with .R and .p).
        q: of the joint (nq,), or of the model; where the sizes are the same, a follower takes the model's."""
        joint = self._joint
        q, of_model = own_or_models(joint, q, "q", joint.nq, joint.model.nq)
        if of_model:
            q = q[joint.q_slice]
            q = joint.mimic[1] * q + joint.mimic[2] if joint.mimic is not None else q
        X = pose_of(joint._called, X_parent) @ joint.placement @ Placement(*joint._kinematics.pose(q))
        return Pose._made(X.R, X.p, joint.child_frame.name)

    @cached_property
    def max_distance_to_parent(self) -> float:
        """The largest distance of Mo from the parent joint's Mo within the position limits, m; inf without them."""
        joint = self._joint
        return hpp.longest_reach(joint.placement, joint._kinematics, *joint.limits.position)

    def __repr__(self) -> str:
        parent, children = self.parent, ", ".join(child.name for child in self.children)
        return f"<topology of joint {self._joint.name!r}: level {self.level}, on {'the world' if parent is None else parent.name}" \
               + (f", carries {children}>" if children else ">")
