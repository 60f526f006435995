"""Where things are: pos and one of quat (w x y z), axisangle, euler, xyaxes, zaxis."""
from __future__ import annotations

from math import atan2
from typing import TYPE_CHECKING, Any

import numpy as np

from mbros.describe.mjcf.defaults import ORIENTATIONS
from mbros.describe.mjcf.values import vector
from mbros.spatial.placement import Placement, rotation_from_quat_wxyz

if TYPE_CHECKING:
    from mbros.describe.mjcf.settings import Settings
    from mbros.describe.urdf.context import Context
    from mbros.describe.urdf.xml import XmlElement

SMALLEST = 1e-14        # length of an axis or a quaternion that has a direction


def read_pose(context: Context, element: XmlElement, settings: Settings, label: str) -> Placement:
    return Placement(read_rotation(context, element, settings, label), np.array(vector(context, element, "pos", label, (0.0, 0.0, 0.0))))


def read_rotation(context: Context, element: XmlElement, settings: Settings, label: str) -> Any:
    """The one orientation that is given; None for none."""
    given = [name for name in ORIENTATIONS if name in element.attributes]
    if not given:
        return None
    if len(given) > 1:
        context.problem(element.line, f"{label}, <{element.tag}>", f"it has {' and '.join(given)}", "Give one of them.")
        return None
    kind = given[0]
    values = np.array(vector(context, element, kind, label, {"quat": (1.0, 0.0, 0.0, 0.0), "axisangle": (1.0, 0.0, 0.0, 0.0), "euler": (0.0,
        ) * 3,
                                                             "zaxis": (0.0, 0.0, 1.0), "xyaxes": (1.0, 0.0, 0.0, 0.0, 1.0, 0.0)}[kind]))
    R = _ROTATIONS[kind](values, settings)
    if R is None or not np.isfinite(R).all():
        context.problem(element.line, f"{label}, <{element.tag}>", f"{kind}={element.attributes[kind][:80]!r} has no direction",
                        "Give vectors that are not zero" + (" and not parallel." if kind == "xyaxes" else "."))
        return None
    return R


def about(axis: Any, angle: float) -> np.ndarray:
    """The rotation about a unit vector."""
    half = 0.5 * angle
    return rotation_from_quat_wxyz([np.cos(half), *(np.sin(half) * np.asarray(axis))])


def to_z(direction: Any) -> np.ndarray:
    """The smallest rotation that takes z to a unit vector."""
    axis = np.array([-direction[1], direction[0], 0.0])
    length = float(np.linalg.norm(axis))
    axis = np.array([1.0, 0.0, 0.0]) if length < 1e-10 else axis / length
    return about(axis, atan2(length, direction[2]))


def unit(vector: Any) -> Any:
    """None for what has no direction."""
    length = float(np.linalg.norm(vector))
    return vector / length if length > SMALLEST and np.isfinite(length) else None


def _quat(values: Any, settings: Settings) -> Any:
    found = unit(values)
    return None if found is None else rotation_from_quat_wxyz(found)


def _axisangle(values: Any, settings: Settings) -> Any:
    axis = unit(values[:3])
    return None if axis is None else about(axis, values[3] * settings.angle)


def turned(values: Any, settings: Settings) -> Any:
    """Lower case turns about the axes as they have turned, upper case about the fixed ones."""
    R = np.eye(3)
    for letter, angle in zip(settings.eulerseq, values):
        turn = about(np.eye(3)["xyz".index(letter.lower())], angle * settings.angle)
        R = R @ turn if letter.islower() else turn @ R
    return R


def _xyaxes(values: Any, settings: Settings) -> Any:
    x = unit(values[:3])
    if x is None:
        return None
    y = unit(values[3:] - x * (x @ values[3:]))
    return None if y is None else np.column_stack([x, y, np.cross(x, y)])


def _zaxis(values: Any, settings: Settings) -> Any:
    z = unit(values)
    return None if z is None else to_z(z)


_ROTATIONS: dict[str, Any] = {"quat": _quat, "axisangle": _axisangle, "euler": turned, "xyaxes": _xyaxes, "zaxis": _zaxis}
