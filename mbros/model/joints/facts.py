"""What every part of a joint of a model can ask of the whole: its names in one place, for those who read and for type checkers."""
from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mbros import Body, Frame, Model
    from mbros.describe.joints.kinematics import Kinematics
    from mbros.describe.joints.limits import JointLimits
    from mbros.model.joints.defaults import BuiltDefaults
    from mbros.model.tables import CompiledJoint
    from mbros_core.typing import Array


class Facts:
    """Set once, when the model is built."""

    model: Model
    name: str
    kind: str
    index: int
    robot: str
    nq: int
    nv: int
    q_slice: slice
    v_slice: slice
    mimic: tuple[str, float, float] | None
    follows: bool
    axis: Array | None
    gear_ratio: Array
    _row: CompiledJoint
    _q_start: int
    _v_start: int
    _frame_index: int

    if TYPE_CHECKING:
        @property
        def child(self) -> Body: ...
        @property
        def parent_frame(self) -> Frame: ...
        @property
        def child_frame(self) -> Frame: ...
        @property
        def _label(self) -> str: ...
        @property
        def _exact_kind(self) -> str: ...
        @property
        def _called(self) -> str: ...
        @property
        def _kinematics(self) -> Kinematics: ...
        @property
        def limits(self) -> JointLimits: ...
        @property
        def defaults(self) -> BuiltDefaults: ...
