"""One joint's coordinates as each library has them: a row per (library, kind); kinds without a row are the same there.

A row maps positions both ways and gives T with v_theirs = T(q) v_ours (so efforts go with T^-T, Jacobian columns with T^-1)
and the drift Tdot v, which accelerations need: vdot_theirs = T vdot + Tdot v. q and v are ours, batches in front.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mbros.describe.joints.kinds import unit_parts
from mbros.spaces.rpy import quaternion_from_rpy, rates_gradient, rates_matrix, rpy_from_quaternion, velocity_matrix
from mbros.spatial import lie

if TYPE_CHECKING:
    from mbros_core.typing import Array


@dataclass(frozen=True)
class Map:
    """size: of their q. text: their q and v. T None: the identity. inverse None: T is orthogonal. drift None: T is constant.
    unit: the run of their q that is a quaternion or (cos, sin). turned: what T is, of a rotating joint whose q are ours in
    another order."""

    text: str
    size: int
    to: Callable[[Array], Array]
    back: Callable[[Array], Array]
    T: Callable[[Array], Array] | None = None
    inverse: Callable[[Array], Array] | None = None
    drift: Callable[[Array, Array], Array] | None = None
    unit: slice | None = None
    turned: Turned | None = None


def _columns(*order: int) -> Callable[[Array], Array]:
    """q with its columns in another order."""
    columns = np.array(order)
    return lambda q: q[..., columns]


def _angle(q: Array) -> Array:
    return np.arctan2(q[..., 1:], q[..., :1])


def _pair(q: Array) -> Array:
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


class Turned(NamedTuple):
    """How their v of a rotating joint is made of ours: which part stands first, and which are in the parent's axes; R turns those there."""

    linear_first: bool
    angular: bool
    linear: bool

    def T(self, q: Array) -> Array:
        R = _R(q) if self.angular or self.linear else None
        at = 3 * self.linear_first
        return _blocks(q.shape[:-1], 6, (at, 0, R if self.angular else None), (3 - at, 3, R if self.linear else None))

    def drift(self, q: Array, v: Array) -> Array:
        """R (w x v): what the turning of the frame adds to the linear acceleration."""
        out = np.zeros(v.shape)
        out[..., slice(0, 3) if self.linear_first else slice(3, 6)] = lie.apply(_R(q), _w_cross_v(q, v))
        return out


SAME = Turned(False, False, False)
SWAPPED = Turned(True, False, False)


def _same(q: Array) -> Array:
    return q.copy()


class Columns(NamedTuple):
    """Their q of a rotating joint, which is ours in another order."""

    text: str
    size: int
    to: Callable[[Array], Array]
    back: Callable[[Array], Array]


_p_xyzw = Columns("q = [p; x y z w]", 7, _columns(0, 1, 2, 4, 5, 6, 3), _columns(0, 1, 2, 6, 3, 4, 5))
_p_wxyz = Columns("q = [p; w x y z]", 7, _same, _same)
_wxyz_p = Columns("q = [w x y z; p]", 7, _columns(3, 4, 5, 6, 0, 1, 2), _columns(4, 5, 6, 0, 1, 2, 3))
_xyzw = Columns("q = x y z w", 4, _columns(1, 2, 3, 0), _columns(3, 0, 1, 2))
_wxyz = Columns("q = w x y z", 4, _same, _same)


def _floating(q_row: Columns, v_text: str, turned: Turned) -> Map:
    return Map(f"{q_row.text}, v = {v_text}", *q_row[1:], turned.T, None, turned.drift if turned.linear else None,
               slice(0, 4) if q_row is _wxyz_p else slice(3, 7), turned)


def _ball(q_row: Columns, v_text: str, turned: Turned) -> Map:
    return Map(f"{q_row.text}, v = {v_text}", *q_row[1:], _R if turned.angular else None, unit=slice(0, 4), turned=turned)


FLOATING = {
    "drake": _floating(_wxyz_p, "[w; v] in the parent frame", Turned(False, True, True)),
    "pinocchio": _floating(_p_xyzw, "[v; w] in the child frame", SWAPPED),
    "mujoco": _floating(_p_wxyz, "[v in the parent frame; w in the child frame]", Turned(True, False, True)),
    "hpp": _floating(_p_wxyz, "[v; w] in the parent frame", Turned(True, True, True)),
    "ros": _floating(_p_xyzw, "[v; w] in the child frame (nav_msgs/Odometry)", SWAPPED),
}
BALL = {
    "drake": Map("q = (roll, pitch, yaw), v = w in the parent frame", 3, rpy_from_quaternion, quaternion_from_rpy, _R),
    "pinocchio": _ball(_xyzw, "w in the child frame", SAME),
    "hpp": _ball(_wxyz, "w in the parent frame", Turned(False, True, False)),
    "ros": _ball(_xyzw, "w in the child frame", SAME),
}

# --------------------------------------------------------------------------------------------------- one angle, planar

_PAIR = Map("q = (cos, sin), v = rate of the angle", 2, _pair, _angle, unit=slice(0, 2))
_ANGLE = Map("q = angle, v = its rate", 1, _angle, _pair)
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
                           lambda q: np.concatenate([q[..., :2], _pair(q[..., 2:])], -1),
                           lambda q: np.concatenate([q[..., :2], _angle(q[..., 2:])], -1), _turn_back, None, _planar_drift, slice(2, 4))}

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


_zyx = Map("q = (yaw, pitch, roll), v = their rates", 3, _columns(2, 1, 0), _columns(2, 1, 0), _zyx_rates, _from_zyx_rates, _zyx_drift)
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
    "hpp": Map("q = [p; w x y z], v = [v; w] in the parent frame", 7, lambda q: _pose_of(q, False), lambda q: _rpy_of(q, False), SWAPPED.T,
                unit=slice(3, 7)),
    "ros": Map("q = [p; x y z w], v = [v; w] in the child frame", 7, lambda q: _pose_of(q, True), lambda q: _rpy_of(q, True),
               _free_in_child, None, _free_in_child_drift, slice(3, 7)),
}

MAPS = {"floating": FLOATING, "ball": BALL, "planar": PLANAR, "continuous": CONTINUOUS, "circular": CIRCULAR,
        "ball_rpy": BALL_RPY, "floating_rpy": FLOATING_RPY}


def map_of(convention: str, kind: str) -> Map | None:
    """The row, or None where q and v are the same."""
    return MAPS.get(kind, {}).get(convention)


# --------------------------------------------------------------------------------- of a whole model, for mbros_core._small

PLAIN, TO_PAIR, TO_ANGLE, ROTATING = range(4)


def table(convention: str, joints: Iterable[Any]) -> tuple[np.ndarray, int] | None:
    """(rows, how many q they have) of joints in their order, for to_theirs and from_theirs of mbros_core._small; None where a joint's map
    is of another sort.

    A row: what, first of our q and v, first of their q and v, how many q, how many v; or of a rotating joint linear first, w turned,
    v turned, and where each of their q is in ours.
    """
    rows, at_q, at_v = [], 0, 0
    for joint in joints:
        row = map_of(convention, joint.kind)
        head = [joint.q_slice.start, joint.v_slice.start, at_q, at_v, joint.nq]
        turned = SAME if row is None else row.turned
        if joint.kind in ("floating", "ball") and turned is not None:
            columns = np.arange(joint.nq) if row is None else row.to(np.arange(joint.nq))
            rows.append([ROTATING, *head, *turned, *columns, *[0] * (7 - joint.nq)])
        elif row is None and not unit_parts(getattr(joint, "_exact_kind", joint.kind)):
            rows.append([PLAIN, *head, joint.nv, *[0] * 9])
        elif row is _PAIR or row is _ANGLE:
            rows.append([TO_PAIR if row is _PAIR else TO_ANGLE, *head, joint.nv, *[0] * 9])
        else:
            return None
        at_q, at_v = at_q + (joint.nq if row is None else row.size), at_v + joint.nv
    return np.array(rows, np.intc).reshape(-1, 16), at_q
