"""q and v as other libraries have them: exact converters, both ways, single states and batches (last axis).

mbros (and the seed's QuaternionFloatingJoint, "seed"): floating q = [p; quat wxyz], v = [w; v] in the child frame;
planar q = (x, y, theta), v = qdot; continuous joints are angles; joints depth first, siblings in the file's order.

| convention  | floating q    | floating v                                   | continuous | planar                            | order |
| ----------- | ------------- | -------------------------------------------- | ---------- | --------------------------------- | ----- |
| "drake"     | quat wxyz, p  | [w; v] in the parent frame                   | angle      | same                              | same  |
| "pinocchio" | p, quat xyzw  | [v; w] in the child frame                    | cos, sin   | x, y, cos, sin; v in the moving frame | siblings by joint name |
| "mujoco"    | p, quat wxyz  | [v in the parent frame; w in the child frame] | angle      | same                              | same  |
| "hpp"       | p, quat wxyz  | [v; w] in the parent frame                   | cos, sin   | same                              | same  |
| "ros"       | p, quat xyzw  | [v; w] in the child frame (nav_msgs/Odometry) | angle      | same                              | same  |
"""
from __future__ import annotations

import numpy as np

from mbros.errors import MbrosError
from mbros.names import hint

CONVENTIONS = ("seed", "drake", "pinocchio", "mujoco", "hpp", "ros")


def to_convention(model, q, v, convention: str):
    """(q, v) in the other library's order and frames, from mbros' q (..., nq) and v (..., nv)."""
    q, v = _arrays(model, q, model.nq, v, model.nv)
    positions, velocities = [], []
    for joint in _order(model, convention):
        a, b = _TO[convention](joint, q[..., joint.q_slice], v[..., joint.v_slice])
        positions.append(a)
        velocities.append(b)
    return _join(positions, q), _join(velocities, v)


def from_convention(model, convention: str, q, v):
    """mbros' (q, v) from the other library's."""
    order = _order(model, convention)
    sizes = [_position_size(joint, convention) for joint in order]
    q, v = _arrays(model, q, sum(sizes), v, model.nv)
    own_q, own_v = np.empty(q.shape[:-1] + (model.nq,)), np.empty_like(v)
    iq = iv = 0
    for joint, size in zip(order, sizes):
        own_q[..., joint.q_slice], own_v[..., joint.v_slice] = _FROM[convention](
            joint, q[..., iq:iq + size], v[..., iv:iv + joint.nv])
        iq, iv = iq + size, iv + joint.nv
    return own_q, own_v


def _arrays(model, q, nq, v, nv):
    out = []
    for name, x, n in (("q", q, nq), ("v", v, nv)):
        x = np.asarray(x, float)
        if x.ndim == 0 or x.shape[-1] != n:
            raise MbrosError(f"model {model.name!r}: {name}: expected {n} numbers in the last axis, got shape {x.shape}")
        out.append(x)
    return out


def _join(parts, like):
    return np.concatenate(parts, axis=-1) if parts else like.copy()


def _order(model, convention):
    """The joints with coordinates of their own, in the other library's order."""
    if convention not in CONVENTIONS:
        raise MbrosError(f"no convention {convention!r}{hint(convention, CONVENTIONS)}")
    if convention != "pinocchio":
        return [joint for joint in model.joints if joint.nv and not joint.follows]
    children = {}
    for joint in model.joints:
        children.setdefault(joint.parent_body, []).append(joint)
    order, stack = [], sorted(children.get("world", ()), key=lambda j: j.name, reverse=True)
    while stack:
        joint = stack.pop()
        order.append(joint)
        stack.extend(sorted(children.get(joint.child_body, ()), key=lambda j: j.name, reverse=True))
    return [joint for joint in order if joint.nv and not joint.follows]


def _position_size(joint, convention):
    if joint.kind == "continuous" and convention in ("pinocchio", "hpp"):
        return 2
    return 4 if joint.kind == "planar" and convention == "pinocchio" else joint.nq


# ------------------------------------------------------------------------------------------ one joint at a time

def _rotate(q, x, transpose=False):
    """R(quat wxyz of a floating q) x, on the last axis."""
    w, u = q[..., 3:4], q[..., 4:7]
    scale = 1.0 / (q[..., 3:7] ** 2).sum(-1, keepdims=True)
    if transpose:
        u = -u
    t = 2.0 * scale * np.cross(u, x)
    return x + w * t + np.cross(u, t)


def _turn(theta, x, sign):
    """Planar (vx, vy, w) with the linear part turned by sign * theta."""
    c, s = np.cos(theta), sign * np.sin(theta)
    return np.stack([c * x[..., 0] - s * x[..., 1], s * x[..., 0] + c * x[..., 1], x[..., 2]], axis=-1)


def _angle_to_pair(q):
    return np.concatenate([np.cos(q), np.sin(q)], axis=-1)


def _pair_to_angle(q):
    return np.arctan2(q[..., 1:2], q[..., 0:1])


def _same(joint, q, v):
    return q, v


def _to_drake(joint, q, v):
    if joint.kind != "floating":
        return q, v
    return (np.concatenate([q[..., 3:], q[..., :3]], -1),
            np.concatenate([_rotate(q, v[..., :3]), _rotate(q, v[..., 3:])], -1))


def _from_drake(joint, q, v):
    if joint.kind != "floating":
        return q, v
    own = np.concatenate([q[..., 4:], q[..., :4]], -1)
    return own, np.concatenate([_rotate(own, v[..., :3], True), _rotate(own, v[..., 3:], True)], -1)


def _to_ros(joint, q, v):
    if joint.kind != "floating":
        return q, v
    return np.concatenate([q[..., :3], q[..., 4:], q[..., 3:4]], -1), np.concatenate([v[..., 3:], v[..., :3]], -1)


def _from_ros(joint, q, v):
    if joint.kind != "floating":
        return q, v
    return np.concatenate([q[..., :3], q[..., 6:], q[..., 3:6]], -1), np.concatenate([v[..., 3:], v[..., :3]], -1)


def _to_pinocchio(joint, q, v):
    if joint.kind == "continuous":
        return _angle_to_pair(q), v
    if joint.kind == "planar":
        return np.concatenate([q[..., :2], _angle_to_pair(q[..., 2:])], -1), _turn(q[..., 2], v, -1.0)
    return _to_ros(joint, q, v)


def _from_pinocchio(joint, q, v):
    if joint.kind == "continuous":
        return _pair_to_angle(q), v
    if joint.kind == "planar":
        own = np.concatenate([q[..., :2], _pair_to_angle(q[..., 2:])], -1)
        return own, _turn(own[..., 2], v, 1.0)
    return _from_ros(joint, q, v)


def _to_mujoco(joint, q, v):
    if joint.kind != "floating":
        return q, v
    return q, np.concatenate([_rotate(q, v[..., 3:]), v[..., :3]], -1)


def _from_mujoco(joint, q, v):
    if joint.kind != "floating":
        return q, v
    return q, np.concatenate([v[..., 3:], _rotate(q, v[..., :3], True)], -1)


def _to_hpp(joint, q, v):
    if joint.kind == "continuous":
        return _angle_to_pair(q), v
    if joint.kind != "floating":
        return q, v
    return q, np.concatenate([_rotate(q, v[..., 3:]), _rotate(q, v[..., :3])], -1)


def _from_hpp(joint, q, v):
    if joint.kind == "continuous":
        return _pair_to_angle(q), v
    if joint.kind != "floating":
        return q, v
    return q, np.concatenate([_rotate(q, v[..., 3:], True), _rotate(q, v[..., :3], True)], -1)


_TO = {"seed": _same, "drake": _to_drake, "pinocchio": _to_pinocchio, "mujoco": _to_mujoco, "hpp": _to_hpp, "ros": _to_ros}
_FROM = {"seed": _same, "drake": _from_drake, "pinocchio": _from_pinocchio, "mujoco": _from_mujoco, "hpp": _from_hpp,
         "ros": _from_ros}
