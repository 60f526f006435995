"""Constraints of a model: how far they are from being kept in a state, and what they carry.

    c = model.constraints["loop"]
    c.gap(state), c.jacobian(state), c.reaction(state)
"""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from mbros_core.constraints.kinds import BY_NAME
from mbros_core.constraints.opening import lengths_of
from mbros_core.constraints.touches import EFFORT, WRENCH

from mbros.arguments import check_state
from mbros.errors import MbrosError, StateError
from mbros.model.frozen import FrozenPart
from mbros.model.tables import CompiledConstraint
from mbros.spatial.vectors import SpatialForce

if TYPE_CHECKING:
    from mbros import Frame, Joint, Model
    from mbros.names import FrameLike
    from mbros_core.engine._engine import State
    from mbros_core.typing import Array


class BuiltConstraint(FrozenPart):
    """A constraint of a model. kind: one of mbros_core.constraints.kinds, such as "ball". index: where it is in model.constraints. robot:
    the group it came in with. frame_a, frame_b, or joint_a, joint_b: what it holds together; the others are None.

    units: of its rows, "m" or "rad". length (m), rope: of a distance.
    """

    _LIST = "constraints"
    model: Model
    index: int
    name: str
    kind: str
    robot: str
    frame_a: Frame | None
    frame_b: Frame | None
    joint_a: Joint | None
    joint_b: Joint | None
    units: tuple[str, ...]
    _rows: slice

    def __init__(self, model: Model, row: CompiledConstraint, rows_of: slice) -> None:
        self._check_row(row, CompiledConstraint)
        spec, lengths, rows = model.spec, lengths_of(model.spec, row.index), BY_NAME[row.kind].rows
        ends = [None if at < 0 else model.frames[at] for at in (row.frame_a, row.frame_b)]
        joints = [None if name is None else model.joints[name] for name in (row.joint_a, row.joint_b)]
        self._made_of(model=model, index=row.index, name=row.name, kind=row.kind, robot=row.robot, frame_a=ends[0], frame_b=ends[1],
                      joint_a=joints[0], joint_b=joints[1], units=("m",) * lengths + ("rad",) * (rows - lengths),
                      _rows=rows_of)
        if row.kind == "distance":
            length, rope = spec.constraint_parameters[row.index, :2].tolist()
            self._made_of(length=length, rope=rope == 1.0)

    @property
    def _label(self) -> str:
        """How messages name it."""
        return f"constraint {self.name!r} ({self.kind})"

    def gap(self, state: State) -> Array:
        """How far it is from being kept (n,), in its units: along the axes of frame A, the angles as a rotation vector; zero where it is
        kept. Of a rope, by how much it is too long."""
        check_state(self._label, self.model, state)
        return self.model._constraint_gaps(state)[self._rows]

    def jacobian(self, state: State) -> Array:
        """J (n, nv) with d gap/dt = J v where the gap is zero: the velocity of frame B's origin and the angular velocity of B, in A. Locked
        joints have columns of zeros."""
        check_state(self._label, self.model, state)
        return self.model._constraint_jacobian(state)[self._rows]

    def reaction(self, state: State, frame: FrameLike | None = None) -> SpatialForce:
        """What it exerted on the body of frame_b in the step that led to this state, about that frame's origin, in world axes: torque, N m,
        and force, N; with `frame`, about its origin and in its axes. On the body of frame_a it is the opposite, at the same point. Raises
        StateError where no step led here."""
        from mbros.model.reactions import about, carried, pose_then      # start-up time: who does not use it does not pay

        if self.frame_b is None:
            raise MbrosError(f"{self._label}: it acts on coordinates and has no force on a body: use effort(state)")
        wrench = self._carried(state)[WRENCH].copy()
        if frame is None:
            return SpatialForce(wrench, self.frame_b.name, "world")
        X_WB = carried(self._label, self.model, state).X_WB
        _, p = pose_then(self.model, X_WB, self.frame_b.index)
        return about(self.model, wrench, p, X_WB, self.frame_b, frame)

    def effort(self, state: State) -> Array:
        """The same along its rows (n,), N or N m: J^T effort are its generalized forces."""
        return self._as_effort(self._carried(state)[EFFORT])

    def _as_effort(self, f: Array) -> Array:
        """Of the engine's numbers (..., 6), those of its rows (..., n); a rope's row there is how slack it is."""
        f = f[..., :self._rows.stop - self._rows.start].copy()
        return -f if self.kind == "distance" and self.__dict__["rope"] else f

    def _carried(self, state: State) -> Array:
        check_state(self._label, self.model, state)
        rows = self.model._constraint_efforts(state)
        if rows is None:
            raise StateError(f"{self._label}: no step of a simulation led to this state, so nothing is known of what it carries; simulate "
                             "a step (a force follows from the motion, not from where the robot is)")
        return np.asarray(rows)[self.index]

    def where(self) -> str:
        """What it holds together."""
        ends = (self.joint_a, self.joint_b) if self.frame_a is None else (self.frame_a, self.frame_b)
        return " and ".join(repr(end.name) for end in ends if end is not None)

    def __repr__(self) -> str:
        return f"<constraint {self.name!r}: {self.kind}, {self.where()}>"
