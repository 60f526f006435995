"""The tree of a model's joints: parents, children, levels, look-ups by coordinate; as text for Graphviz."""
from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from mbros_core.support.numbers import short

from mbros.arguments import is_whole
from mbros.errors import CoordinateIndexError
from mbros.model.body import NamedList
from mbros.model.cached import cached_property
from mbros.model.robots import RobotView, robot_views

if TYPE_CHECKING:
    from mbros import Joint, Model
    from mbros.names import JointLike
    from mbros_core.engine._engine import State


class JointTree:
    """Made once per model. Joints are in depth-first order, so a subtree is a run of them."""

    def __init__(self, model: Model) -> None:
        self.model = model
        carrier = {joint.child.name: joint for joint in model.joints}
        self._children: dict[str, list[Joint]] = {}
        self._level: list[int] = []
        self._parent: list[Joint | None] = []
        for joint in model.joints:
            above = carrier.get(joint.parent.name)
            self._parent.append(above)
            self._level.append(1 if above is None else self._level[above.index] + 1)
            self._children.setdefault(joint.parent.name, []).append(joint)
        owners = [joint for joint in model.joints if joint.nv and not joint.follows]
        self._at_q = [joint for joint in owners for _ in range(joint.nq)]
        self._at_v = [joint for joint in owners for _ in range(joint.nv)]

    def subtree_mass(self, state: State, joint: JointLike) -> float:
        """Mass of the joint's body and everything it carries, kg, in this state."""
        from mbros.model.masses import subtree_mass      # start-up time: who does not use it does not pay

        return subtree_mass(self.model, state, joint)

    def plot(self, path: Any = None) -> Any:
        """The tree as a picture, with kinds, coordinates, ranges of motion, limits and masses: a matplotlib Figure, written to `path`
        (.png, .svg, .pdf) where there is one. Raises MissingPackageError without matplotlib."""
        from mbros.model.plot_tree import plot_tree       # start-up time: only who draws pays

        return plot_tree(self.model, path)

    def parent(self, joint: JointLike) -> Joint | None:
        """The joint that carries the joint's parent body, or None."""
        return self._parent[self._index(joint)]

    @cached_property
    def robots(self) -> NamedList[RobotView]:
        """The robots and objects of a scene, in order, each with the names of its own: robots["left"].joint("joint2"). Of a model that was
        not put together of robots: empty."""
        return NamedList("robot", self.model.name, robot_views(self.model))

    def children(self, joint: JointLike) -> list[Joint]:
        """The joints on the body it carries."""
        return list(self._children.get(self.model.joints[self._index(joint)].child.name, ()))

    def roots(self) -> list[Joint]:
        """The joints on the world."""
        return list(self._children.get(self.model.bodies[0].name, ()))

    def level(self, joint: JointLike) -> int:
        """1 for joints on the world, one more for each joint between."""
        return self._level[self._index(joint)]

    def subtree(self, joint: JointLike) -> Iterator[Joint]:
        """Iterator: the joint and all below it, depth first, parents before children."""
        first = self._index(joint)
        below = itertools.takewhile(lambda other: self._level[other.index] > self._level[first], self.model.joints[first + 1:])
        return itertools.chain((self.model.joints[first],), below)

    def _index(self, joint: JointLike) -> int:
        """The index of a joint of this model, given by name, by index or as the joint itself."""
        return self.model.joint(joint).index

    def at_q(self, i: int) -> Joint:
        """The joint that position coordinate i belongs to."""
        return self._at(self._at_q, i, "position")

    def at_v(self, i: int) -> Joint:
        """The joint that velocity coordinate i belongs to."""
        return self._at(self._at_v, i, "velocity")

    def _at(self, table: Sequence[Joint], i: int, what: str) -> Joint:
        if is_whole(i) and 0 <= i < len(table):
            return table[i]
        raise CoordinateIndexError(f"model {self.model.name!r}: {what} coordinate {short(i)} does not exist; there are {len(table)}, "
                                   "counted from 0")

    # ------------------------------------------------------------------------------------------------- to be looked at

    def dot(self, state: State | None = None) -> str:
        """The tree as text for Graphviz, `dot -Tsvg`; with a state, with poses."""
        from mbros.model.dot import to_dot      # start-up time: who does not use it does not pay

        return to_dot(self.model, state)
