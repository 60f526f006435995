"""What may be written into a state of a joint: positions of unit length, within its limits, and not of a follower."""
from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numpy as np

from mbros.describe.joints import limits
from mbros.describe.joints.kinds import unit_parts
from mbros.errors import MbrosError

if TYPE_CHECKING:
    from mbros.model.joints.joint import Joint
    from mbros_core.typing import Array

LARGEST = sys.float_info.max


def reach(joint: Joint) -> tuple[list[float], list[float]] | None:
    """mbros.describe.joints.limits.reach as lists, None where there are no limits."""
    low, high = limits.reach(joint)
    return (low.tolist(), high.tolist()) if np.isfinite(low).any() or np.isfinite(high).any() else None


def range_of_one(joint: Joint) -> tuple[float, float] | None:
    """The finite numbers within the reach of a joint with one coordinate of its own; None for others."""
    if joint.nq != 1 or joint.follows or joint._has_law:
        return None
    (low,), (high,) = limits.reach(joint)
    return max(float(low), -LARGEST), min(float(high), LARGEST)


def unit(joint: Joint, q: Array) -> np.ndarray:
    """q (nq,) with its quaternion or (cos, sin) at unit length, to the bit where it was; the engine does it."""
    parts = unit_parts(joint._exact_kind)
    if not joint._has_law and all(abs(float(q[part] @ q[part]) - 1.0) < 1e-15 for part in parts):
        return q                            # the engine would leave it
    try:
        return np.array(joint._kinematics.at(joint.defaults.neutral).set_q(q).q)
    except ValueError:
        runs = ", ".join(f"q[{part.start}:{part.stop}] = {q[part].tolist()}" for part in parts)
        raise MbrosError(f"joint {joint.name!r} ({joint.kind}): position: {runs or q.tolist()} cannot be brought to unit length; "
                         f"the neutral position is {joint.defaults.neutral.tolist()}") from None


def part_of_forces(joint: Joint, forces: Array) -> Array:
    """The joint's part of forces (nv of the model,), a view to add to."""
    refuse_follower(joint, "forces")
    if not isinstance(forces, np.ndarray) or forces.dtype != np.float64 or forces.shape != (joint.model.nv,):
        raise MbrosError(f"joint {joint.name!r}: forces: expected a float64 array of {joint.model.nv} numbers to add to, got "
                         f"{getattr(forces, 'dtype', type(forces).__name__)} {getattr(forces, 'shape', '')}")
    if not forces.flags.writeable:
        raise MbrosError(f"joint {joint.name!r}: forces: expected a writable float64 array to add to, got a read-only one")
    return forces[joint.v_slice]


def refuse_follower(joint: Joint, what: str) -> None:
    if joint.mimic is not None:
        raise MbrosError(f"joint {joint.name!r} follows {joint.mimic[0]!r}: set the {what} of {joint.mimic[0]!r}")
