"""What a state says about a joint of its model, checked: positions, velocities, and vectors of the joint or of the whole model.

6-vectors are [angular; linear], about Mo, measured in F, in F axes. q, v, vdot: the joint's own (nq,), (nv,), or the model's. A
follower takes the model's where the sizes are the same: its own rates are its leader's times the ratio.
"""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from mbros_core.engine._small import is_finite

from mbros.arguments import counted, finite, reals
from mbros.errors import MbrosError, NonFiniteError
from mbros.names import with_article
from mbros.spatial.vectors import SpatialForce, SpatialVelocity, in_axes_of

if TYPE_CHECKING:
    from mbros.model.joints.joint import Joint
    from mbros_core.engine._engine import State
    from mbros_core.typing import Array, ArrayLike


def own_or_models(joint: Joint, given: ArrayLike, what: str, n: int, n_model: int) -> tuple[Array, bool]:
    """(numbers, whether they are the model's) of a vector of the joint (n,) or of the whole model (n_model,); all finite."""
    expected = f"{counted(n)} of the joint or {n_model} of the model"
    array = np.atleast_1d(reals(joint._called, what, given, expected))
    if array.shape not in ((n,), (n_model,)):
        raise MbrosError(f"{joint._called}: {what}: expected {expected}, got shape {array.shape}")
    return finite(joint._called, what, array), array.shape == (n_model,) and (joint.follows or n != n_model)


def rates(joint: Joint, given: ArrayLike, what: str) -> np.ndarray:
    """(nv,) of this joint, from its own numbers or from a vector of the whole model."""
    array, of_model = own_or_models(joint, given, what, joint.nv, joint.model.nv)
    return joint._of_leader(array[joint.v_slice]) if of_model else array


def finite_velocity(joint: Joint, state: State, v: ArrayLike | None) -> Array:
    """The v given, or the state's, every number finite."""
    if v is not None:
        return rates(joint, v, "v")
    return finite(joint._called, "v", joint.velocity(state))


def finite_position(joint: Joint, state: State) -> Array:
    """The state's q, every number finite and no quaternion zero."""
    q = joint.position(state)
    if not is_finite(q):
        finite(joint._called, "q", q)
    for part in joint._unit_parts:
        if np.abs(q[part]).max() < 1e-150:
            raise NonFiniteError(f"{joint._called}: q[{part.start}:{part.stop}] is {q[part].tolist()}, which has no direction, so "
                                 "it is no rotation; joint.set_zero(state) fixes it")
    return q


def force_on(joint: Joint, wrench: object) -> np.ndarray:
    """The six finite numbers [torque; force] of a wrench on M about Mo, in F axes."""
    F = _numbers(joint, wrench) if isinstance(wrench, SpatialForce | SpatialVelocity) else wrench
    F = reals(joint._called, "wrench", F, "6 numbers [torque; force]")
    if F.shape != (6,):
        raise MbrosError(f"{joint._called}: wrench: expected 6 numbers [torque; force], got shape {F.shape}")
    return finite(joint._called, "wrench", F)


def _numbers(joint: Joint, given: object) -> np.ndarray:
    """Those of a SpatialForce about Mo, in F axes; of another point or in other axes it is refused."""
    F, M = joint.parent_frame.name, joint.child_frame.name
    if not isinstance(given, SpatialForce):
        raise MbrosError(f"{joint._called}: wrench: expected a SpatialForce or 6 numbers, got {with_article(type(given).__name__)}")
    values = in_axes_of(f"{joint._called}: wrench", given, F)
    at_M = given.frame in ("", M) or given.frame == joint.child.name and not joint._row.X_BM.p.any()
    if not at_M:
        raise MbrosError(f"{joint._called}: wrench: it is about the origin of {given.frame!r}, expected that of {M!r}; its method "
                         f"moved_to(state, {M!r}) gives it there")
    return values
