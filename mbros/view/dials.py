"""The coordinates of a robot as users turn them: one number each, with limits. Quaternions are turned by roll, pitch and yaw."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from mbros.describe.joints.kinds import row_of, unit_parts
from mbros.spatial.placement import rotation_from_quat_wxyz, rotation_from_rpy, rpy_from_rotation
from mbros.view.poses import wxyz


class Dial(NamedTuple):
    """get(q) reads it from a configuration (nq,), put(q, value) turns it there, in place."""

    joint: str
    label: str
    unit: str
    low: float
    high: float
    get: Callable[[np.ndarray], float]
    put: Callable[[np.ndarray, float], None]


def dials(model: Any, reach: float) -> list[Dial]:
    """Of every joint with coordinates of its own. reach: m, where a length has no limits."""
    found: list[Dial] = []
    for joint in model.joints:
        if not joint.follows:
            found += _of_joint(joint, reach)
    return found


def _of_joint(joint: Any, reach: float) -> list[Dial]:
    row, start = row_of(joint._exact_kind), joint.q_slice.start
    units, parts = row.position_units or ("rad",) * joint.nq, unit_parts(joint._exact_kind)
    found = []
    for i in range(joint.nq):
        part = next((part for part in parts if part.start <= i < part.stop), None)
        if part is None:
            label = joint.name if joint.nq == 1 else f"{joint.name}.{row.position_names[i]}"
            low, high = joint.limits.position[i]
            found.append(Dial(joint.name, label, units[i], *_span(low, high, units[i], reach), *_number(start + i)))
        elif part.start == i:
            at = slice(start + part.start, start + part.stop)
            if part.stop - part.start == 4:
                for k, name in enumerate(("roll", "pitch", "yaw")):
                    most = 0.5 * np.pi if name == "pitch" else np.pi
                    found.append(Dial(joint.name, f"{joint.name}.{name}", "rad", -most, most, *_angle_of_three(at, k)))
            else:
                found.append(Dial(joint.name, joint.name if joint.nv == 1 else f"{joint.name}.angle", "rad", -np.pi, np.pi,
                                  *_angle_of_pair(at)))
    return found


def _span(low: float, high: float, unit: str, reach: float) -> tuple[float, float]:
    """Limits as they are; a turn, or the reach, where there are none."""
    most = np.pi if unit == "rad" else reach
    lower, upper = (float(low) if np.isfinite(low) else None), (float(high) if np.isfinite(high) else None)
    low = lower if lower is not None else (min(-most, upper - most) if upper is not None else -most)
    return low, (upper if upper is not None else max(most, low + most))


def _number(k: int) -> tuple[Callable[[np.ndarray], float], Callable[[np.ndarray, float], None]]:
    def put(q: np.ndarray, value: float) -> None:
        q[k] = value

    return lambda q: float(q[k]), put


def _angle_of_pair(at: slice) -> tuple[Callable[[np.ndarray], float], Callable[[np.ndarray, float], None]]:
    """(cos, sin)."""
    def put(q: np.ndarray, value: float) -> None:
        q[at] = np.cos(value), np.sin(value)

    return lambda q: float(np.arctan2(q[at][1], q[at][0])), put


def _angle_of_three(at: slice, k: int) -> tuple[Callable[[np.ndarray], float], Callable[[np.ndarray, float], None]]:
    """One of roll, pitch, yaw of a quaternion wxyz."""
    def angles(q: np.ndarray) -> np.ndarray:
        return rpy_from_rotation(rotation_from_quat_wxyz(q[at]))

    def put(q: np.ndarray, value: float) -> None:
        rpy = angles(q)
        rpy[k] = value
        q[at] = wxyz(rotation_from_rpy(rpy))

    return lambda q: float(angles(q)[k]), put
