"""Numbers of devices that are points of a curve, as a torque-speed curve is: (speed, effort), speeds ascending from 0, efforts not rising.

The engine has them row by row in a fixed room with zeros behind them; users give and read points (n, 2), or files and nodes row by row.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from mbros_core.support.numbers import short

from mbros.arguments import floats, refuse

if TYPE_CHECKING:
    from mbros_core.plant.rows import Number

CLOSEST = 1e-6              # of the last speed: steeper pieces are lost in the rounding of a speed


def points_of(label: str, number: Number, given: Any) -> np.ndarray:
    """Points (n, 2), or row by row (2 n,), checked; as the engine has them, (size,). () where they may be left out: zeros."""
    if given is number.default:
        return np.zeros(number.size)
    array, most = floats(given), number.size // 2
    of = f"Give 2 to {most} points [speed, effort], such as {number.name}=[[0, 10], [20, 10], [60, 2]]."
    if array is None or array.size % 2 or array.ndim not in (1, 2) or array.ndim == 2 and array.shape[1] != 2:
        refuse(label, f"{number.name} is {short(given)}", of)
    points = array.reshape(-1, 2)
    if not 2 <= len(points) <= most:
        refuse(label, f"{number.name} has {len(points)} point{'s' * (len(points) != 1)}", of)
    for x in array.flat:
        wrong = number.refused(float(x))
        if wrong is not None:
            refuse(label, wrong, of)
    speed, effort = points.T
    if speed[0] != 0.0:
        refuse(label, f"{number.name} begins at the speed {speed[0]:g}", "Give the first point at rest: [0, effort].")
    if effort[0] == 0.0:
        refuse(label, f"{number.name} has no effort at rest", "Give the first point an effort above 0.")
    for k in range(1, len(points)):
        if not speed[k] - speed[k - 1] > CLOSEST * speed[-1]:
            refuse(label, f"{number.name} has the speed {speed[k]:g} after {speed[k - 1]:g}",
                   f"Give speeds that ascend, by more than {CLOSEST:g} of the last one.")
        if effort[k] > effort[k - 1]:
            refuse(label, f"{number.name} rises, from the effort {effort[k - 1]:g} to {effort[k]:g} at the speed {speed[k]:g}",
                   "Give efforts that do not rise with the speed.")
    return np.concatenate([points.ravel(), np.zeros(number.size - points.size)])


def points_in(x: np.ndarray) -> np.ndarray:
    """The points (n, 2) that stand in x (size,)."""
    points = x.reshape(-1, 2)
    return points[:1 + int(np.count_nonzero(points[1:, 0]))].copy()
