"""Which velocities are driven, and the matrix B with tau = B u of those who optimise over what drives alone.

    mask, B = mbros.diff.actuated(model), mbros.diff.transmission(model)            # (nv,) of bool, (nv, nu)
    A_u = mbros.diff.forward_dynamics(model, state, B @ u)["tau"] @ B               # derivatives by u
"""
from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from mbros_core.support.numbers import short

from mbros.arguments import check_model, entries
from mbros.errors import MbrosError

if TYPE_CHECKING:
    from mbros import Joint, Model
    from mbros.names import JointLike
    from mbros_core.typing import Array, BoolArray


def actuated(model: Model, joints: Iterable[JointLike] | None = None) -> BoolArray:
    """(nv,) of bool: which velocities are driven: those of `joints`, or by default of

    * the joints of the actuators of the bench that a robot carries; where it has none,
    * the joints of one velocity with a finite effort limit other than zero; where there is none,
    * all joints of one velocity.

    Followers are no joints of their own here. MbrosError for joints that follow another, UnknownNameError for names of none.
    """
    check_model("actuated", model)
    own = [joint for joint in model.joints if joint.nv and not joint.follows]
    if joints is None:
        chosen = _by_default(model, [joint for joint in own if joint.nv == 1])
    else:
        given = None if isinstance(joints, str) else entries(joints)
        if given is None:
            raise MbrosError(f"actuated of model {model.name!r}: joints: expected a list of joints or their names, got {short(joints)}")
        chosen = [model.joint(joint) for joint in given]
    mask = np.zeros(model.nv, dtype=bool)
    for joint in chosen:
        if joint.mimic is not None:
            raise MbrosError(f"actuated of model {model.name!r}: joint {joint.name!r} follows {joint.mimic[0]!r}, and what drives it "
                             f"drives that: name {joint.mimic[0]!r}")
        mask[joint.v_slice] = True
    return mask


def transmission(model: Model, joints: Iterable[JointLike] | None = None) -> Array:
    """B (nv, nu), tau = B u: u are the efforts of the velocities that `actuated(model, joints)` names, in their order, at the joints,
    behind gears (N m, N). Its columns are those of the identity; B.T takes them out of a vector of velocities."""
    driven = actuated(model, joints)
    return np.eye(model.nv)[:, driven]


def _by_default(model: Model, single: list[Joint]) -> list[Joint]:
    bench: Any = model._description.bench
    driven = {actuator.joint for actuator in bench.actuators} if bench is not None else set()
    if driven:
        return [joint for joint in model.joints if joint.name in driven]
    limited = [joint for joint in single if any(np.isfinite(side).all() and np.any(side) for side in joint.limits.effort)]
    return limited or single
