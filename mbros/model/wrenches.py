"""Wrenches from outside on the bodies of a state."""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from mbros_core.engine._small import push, turned, wrench
from mbros_core.engine.checks import LARGEST

from mbros.arguments import bounded

if TYPE_CHECKING:
    from mbros import Model
    from mbros.names import FrameLike
    from mbros_core.engine._engine import State
    from mbros_core.typing import ArrayLike


def apply_wrench(model: Model, state: State, frame: FrameLike, torque: ArrayLike, force: ArrayLike, expressed_in: FrameLike) -> None:
    """See Model.apply_wrench."""
    k = model._frame_index(frame)
    model._check_state(state)
    F = wrench(torque, force, LARGEST)
    if F is None:
        who = f"model {model.name!r}: wrench on {model.frames[k].name!r}"
        F = np.concatenate([bounded(who, "torque", torque, (3,), LARGEST), bounded(who, "force", force, (3,), LARGEST)])
    if not (isinstance(expressed_in, str) and expressed_in == "world"):
        F = turned(model.pose(state, expressed_in).R, F)
    push(state.external_force, model.spec.frame_body, model.spec.X_BF, k, model._frame_pose(state, k), F)
