"""One joint's coordinates as each library has them: a row per (library, kind); kinds without a row are the same there.

A row maps positions both ways and gives T with v_theirs = T(q) v_ours (so efforts go with T^-T, Jacobian columns with T^-1)
and the drift Tdot v, which accelerations need: vdot_theirs = T vdot + Tdot v. q and v are ours, batches in front.
"""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mbros.spaces.rpy import quaternion_from_rpy, rates_gradient, rates_matrix, rpy_from_quaternion, velocity_matrix
from mbros.spatial import lie

if TYPE_CHECKING:
    from mbros_core.typing import Array


@dataclass(frozen=True)
class Map:
    """size: of their q. text: their q and v. T None: the identity. inverse None: T is orthogonal. drift None: T is constant.
    unit: the run of their q that is a quaternion or (cos, sin)."""

    text: str
    size: int
    to: Callable[[Array], Array]
    back: Callable[[Array], Array]
    T: Callable[[Array], Array] | None = None
    inverse: Callable[[Array], Array] | None = None
    drift: Callable[[Array, Array], Array] | None = None
    unit: slice | None = None


class Reordered:
    """q with its columns in another order."""

    def __init__(self, *order: int) -> None:
        self.order, self._columns = order, np.array(order)

    def __call__(self, q: Array) -> Array:
        return q[..., self._columns]


def angle_of(q: Array) -> Array:
    return np.arctan2(q[..., 1:], q[..., :1])


def pair_of(q: Array) -> Array:
    return np.concatenate([np.cos(q), np.sin(q)], -1)


def _blocks(n: tuple[int, ...], size: int, *blocks: tuple[int, int, Array | None]) -> Array:
    """T (..., size, size) of `blocks`: (row, column, matrix or None for the identity); n: leading axes."""
    T = np.zeros(n + (size, size))
    for row, column, block in blocks:
        T[..., row:row + 3, column:column + 3] = np.eye(3) if block is None else block
    return T


# ---------------------------------------------------------------------------------- floating and ball: rotations of v

def _R(q: Array) -> Array:
    """R_FM of a floating or ball q: its last four numbers."""
    return lie.matrix(q[..., -4:])


def _w_cross_v(q: Array, v: Array) -> Array:
    return lie.cross(v[..., :3], v[..., 3:])


class Halves:
    """T (..., size, size) of blocks (row, column, R): R_FM in it, or the identity."""

    def __init__(self, size: int, *blocks: tuple[int, int, bool]) -> None:
        self.size, self.blocks = size, blocks

    def __call__(self, q: Array) -> Array:
        R = _R(q) if any(turned for _, _, turned in self.blocks) else None
        return _blocks(q.shape[:-1], self.size, *((row, column, R if turned else None) for row, column, turned in self.blocks))


_swapped = Halves(6, (0, 3, False), (3, 0, False))
_both_in_parent = Halves(6, (0, 0, True), (3, 3, True))
_both_in_parent_linear_first = Halves(6, (0, 3, True), (3, 0, True))
_linear_in_parent_first = Halves(6, (0, 3, True), (3, 0, False))
_in_parent = Halves(3, (0, 0, True))


def _drift(linear_first: bool) -> Callable[[Array, Array], Array]:
    """R (w x v): what the turning of the frame adds to the linear acceleration."""
    def drift(q: Array, v: Array) -> Array:
        out = np.zeros(v.shape)
        out[..., slice(0, 3) if linear_first else slice(3, 6)] = lie.apply(_R(q), _w_cross_v(q, v))
        return out
    return drift


_p_xyzw = ("q = [p; x y z w]", 7, Reordered(0, 1, 2, 4, 5, 6, 3), Reordered(0, 1, 2, 6, 3, 4, 5))
_p_wxyz = ("q = [p; w x y z]", 7, Reordered(*range(7)), Reordered(*range(7)))
_xyzw = ("q = x y z w", 4, Reordered(1, 2, 3, 0), Reordered(3, 0, 1, 2))


def _map(q_row: tuple[str, int, Callable[[Array], Array], Callable[[Array], Array]], v_text: str,
         T: Callable[[Array], Array] | None = None, inverse: Callable[[Array], Array] | None = None,
         drift: Callable[[Array, Array], Array] | None = None) -> Map:
    text, size, to, back = q_row
    return Map(f"{text}, v = {v_text}", size, to, back, T, inverse, drift, slice(size - 4, size))


FLOATING = {
    "drake": Map("q = [w x y z; p], v = [w; v] in the parent frame", 7, Reordered(3, 4, 5, 6, 0, 1, 2), Reordered(4, 5, 6, 0, 1, 2, 3),
                 _both_in_parent, None, _drift(linear_first=False), slice(0, 4)),
    "pinocchio": _map(_p_xyzw, "[v; w] in the child frame", _swapped),
    "mujoco": _map(_p_wxyz, "[v in the parent frame; w in the child frame]", _linear_in_parent_first, None, _drift(True)),
    "hpp": _map(_p_wxyz, "[v; w] in the parent frame", _both_in_parent_linear_first, None, _drift(True)),
    "ros": _map(_p_xyzw, "[v; w] in the child frame (nav_msgs/Odometry)", _swapped),
}
BALL = {
    "drake": Map("q = (roll, pitch, yaw), v = w in the parent frame", 3, rpy_from_quaternion, quaternion_from_rpy, _in_parent),
    "pinocchio": _map(_xyzw, "w in the child frame"),
    "hpp": Map("q = w x y z, v = w in the parent frame", 4, Reordered(*range(4)), Reordered(*range(4)), _in_parent, unit=slice(0, 4)),
    "ros": _map(_xyzw, "w in the child frame"),
}

# --------------------------------------------------------------------------------------------------- one angle, planar

_PAIR = Map("q = (cos, sin), v = rate of the angle", 2, pair_of, angle_of, unit=slice(0, 2))
_ANGLE = Map("q = angle, v = its rate", 1, angle_of, pair_of)
CONTINUOUS = {"pinocchio": _PAIR, "hpp": _PAIR}
CIRCULAR = {"drake": _ANGLE, "mujoco": _ANGLE, "ros": _ANGLE}


def _turn_back(q: Array) -> Array:
    c, s = np.cos(q[..., 2]), np.sin(q[..., 2])
    T = np.zeros(q.shape + (3,))
    T[..., 0, 0] = T[..., 1, 1] = c
    T[..., 0, 1], T[..., 1, 0], T[..., 2, 2] = s, -s, 1.0
    return T


def _planar_drift(q: Array, v: Array) -> Array:
    moving = lie.apply(_turn_back(q), v)
    w = v[..., 2]
    return np.stack([w * moving[..., 1], -w * moving[..., 0], np.zeros_like(w)], -1)


PLANAR = {"pinocchio": Map("q = (x, y, cos, sin), v = (vx, vy, w) in the moving frame", 4,
                           lambda q: np.concatenate([q[..., :2], pair_of(q[..., 2:])], -1),
                           lambda q: np.concatenate([q[..., :2], angle_of(q[..., 2:])], -1), _turn_back, None, _planar_drift, slice(2, 4))}

# ------------------------------------------------------------------------------------------------- roll, pitch, yaw

_REVERSED = np.array([2, 1, 0])
_FREE_ZYX = np.array([3, 4, 5, 2, 1, 0])        # (roll, pitch, yaw, x, y, z) as (x, y, z, yaw, pitch, roll), and back:
_FREE_RPY = np.argsort(_FREE_ZYX)


def _zyx_rates(q: Array) -> Array:
    """(yaw, pitch, roll) rates of w in F."""
    return rates_matrix(q[..., :3])[..., _REVERSED, :]


def _from_zyx_rates(q: Array) -> Array:
    return velocity_matrix(q[..., :3])[..., _REVERSED]


def _zyx_drift(q: Array, v: Array) -> Array:
    rpy, w = q[..., :3], v[..., :3]
    return lie.apply(rates_gradient(rpy, w), lie.apply(rates_matrix(rpy), w))[..., _REVERSED]


def _free_drift(q: Array, v: Array) -> Array:
    return np.concatenate([np.zeros(v.shape[:-1] + (3,)), _zyx_drift(q, v)], -1)


def _rpy_R_back(q: Array) -> Array:
    """R_FM^T."""
    return np.swapaxes(lie.matrix(quaternion_from_rpy(q[..., :3])), -1, -2)


def _free_in_child(q: Array) -> Array:
    Rt = _rpy_R_back(q)
    return _blocks(q.shape[:-1], 6, (0, 3, Rt), (3, 0, Rt))


def _free_in_child_drift(q: Array, v: Array) -> Array:
    out = np.zeros(v.shape)
    out[..., :3] = -lie.apply(_rpy_R_back(q), _w_cross_v(q, v))
    return out


def _pose_of(rpy_first: Array, xyzw: bool) -> Array:
    """q of a free joint on rpy as [p; quaternion]."""
    quat = quaternion_from_rpy(rpy_first[..., :3])
    return np.concatenate([rpy_first[..., 3:], np.roll(quat, -1, -1) if xyzw else quat], -1)


def _rpy_of(pose: Array, xyzw: bool) -> Array:
    quat = pose[..., 3:]
    return np.concatenate([rpy_from_quaternion(np.roll(quat, 1, -1) if xyzw else quat), pose[..., :3]], -1)


_zyx = Map("q = (yaw, pitch, roll), v = their rates", 3, Reordered(2, 1, 0), Reordered(2, 1, 0), _zyx_rates, _from_zyx_rates, _zyx_drift)
_free_zyx = Map("q = (x, y, z, yaw, pitch, roll), v = their rates", 6, lambda q: q[..., _FREE_ZYX], lambda q: q[..., _FREE_RPY],
                lambda q: _blocks(q.shape[:-1], 6, (0, 3, None), (3, 0, _zyx_rates(q))),
                lambda q: _blocks(q.shape[:-1], 6, (3, 0, None), (0, 3, _from_zyx_rates(q))), _free_drift)

BALL_RPY = {
    "pinocchio": _zyx, "mujoco": _zyx,
    "hpp": Map("q = w x y z, v = w in the parent frame", 4, quaternion_from_rpy, rpy_from_quaternion, unit=slice(0, 4)),
    "ros": Map("q = x y z w, v = w in the child frame", 4, lambda q: np.roll(quaternion_from_rpy(q), -1, -1),
               lambda q: rpy_from_quaternion(np.roll(q, 1, -1)), _rpy_R_back, unit=slice(0, 4)),
}
FLOATING_RPY = {
    "pinocchio": _free_zyx, "mujoco": _free_zyx,
    "hpp": Map("q = [p; w x y z], v = [v; w] in the parent frame", 7, lambda q: _pose_of(q, False), lambda q: _rpy_of(q, False), _swapped,
                unit=slice(3, 7)),
    "ros": Map("q = [p; x y z w], v = [v; w] in the child frame", 7, lambda q: _pose_of(q, True), lambda q: _rpy_of(q, True),
               _free_in_child, None, _free_in_child_drift, slice(3, 7)),
}

MAPS = {"floating": FLOATING, "ball": BALL, "planar": PLANAR, "continuous": CONTINUOUS, "circular": CIRCULAR,
        "ball_rpy": BALL_RPY, "floating_rpy": FLOATING_RPY}


def map_of(convention: str, kind: str) -> Map | None:
    """The row, or None where q and v are the same."""
    return MAPS.get(kind, {}).get(convention)
