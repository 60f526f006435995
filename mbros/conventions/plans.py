"""How the engine converts single vectors (mbros_core/engine/conventions.pxi): rows of (move, place among ours, place of the quaternion in
q), in the order of the other library's numbers. Robots with joints whose maps are no such rows have no plan, and go the way of batches."""
from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mbros.conventions.maps import Reordered, Halves, Map, angle_of, map_of, pair_of

if TYPE_CHECKING:
    from mbros import Joint
    from mbros_core.typing import IntArray

COPY, PAIR, ANGLE, TURN = range(4)
Row = tuple[int, int, int]


class Plan(NamedTuple):
    """positions, velocities: rows. size: of their q."""

    positions: IntArray
    velocities: IntArray
    size: int


def plan_of(name: str, joints: Iterable[Joint]) -> Plan | None:
    """Of a convention, for joints in its order."""
    positions: list[Row] = []
    velocities: list[Row] = []
    size = 0
    for joint in joints:
        row = map_of(name, joint.kind)
        there, along = _positions(row, joint), _velocities(row, joint)
        if there is None or along is None:
            return None
        positions += there
        velocities += along
        size += joint.nq if row is None else row.size
    return Plan(np.array(positions, np.int64).reshape(-1, 3), np.array(velocities, np.int64).reshape(-1, 3), size)


def _positions(row: Map | None, joint: Any) -> list[Row] | None:
    at = joint.q_slice.start
    if row is None:
        return [(COPY, at + k, 0) for k in range(joint.nq)]
    if isinstance(row.to, Reordered):
        return [(COPY, at + k, 0) for k in row.to.order]
    if row.to is pair_of or row.to is angle_of:
        return [(PAIR if row.to is pair_of else ANGLE, at, 0)]
    return None


def _velocities(row: Map | None, joint: Any) -> list[Row] | None:
    at, quaternion = joint.v_slice.start, joint.q_slice.stop - 4
    if row is None or row.T is None:
        return [(COPY, at + k, 0) for k in range(joint.nv)]
    if not isinstance(row.T, Halves):
        return None
    rows: list[Row] = []
    for _, column, turned in row.T.blocks:
        rows += [(TURN, at + column, quaternion)] if turned else [(COPY, at + column + k, 0) for k in range(3)]
    return rows
