"""Where things are and how they move: poses, velocities, accelerations and Jacobians of frames.

Inside, velocities are spatial velocities in body coordinates (RBDA section 4.1). What is handed out is what people ask
for: [angular velocity; velocity of the frame's origin], in world axes, and its plain time derivative.
"""
import numpy as np

from .scalars import zeros
from .spatial import compose, cross_motion, motion_transform, rotate6


def poses(tree, q):
    """X_WB of every body: list of (R, p), m."""
    X_PB, _ = tree.joint_transforms(q)
    return _in_world(tree, X_PB)


def _in_world(tree, X_PB):
    X_WB = [(np.eye(3, dtype=int), zeros(3))]
    for i in tree.parents_first():
        X_WB.append(compose(X_WB[tree.parent[i]], X_PB[i]))
    return X_WB


def spatial_velocities(tree, q, v):
    """V_B of every body in its own coordinates: V_i = X V_parent + S v (RBDA eq. 5.14)."""
    _, X = tree.joint_transforms(q)
    v_tree = tree.expand(v)
    V = [zeros(6)]
    for i in tree.parents_first():
        V.append(X[i] @ V[tree.parent[i]] + tree.kind[i].subspace(tree.joint_q(i, q)) @ v_tree[tree.tree_v[i]])
    return V


def spatial_accelerations(tree, q, v, vdot):
    """A_B of every body in its own coordinates, gravity not included (RBDA eq. 5.15)."""
    _, X = tree.joint_transforms(q)
    v_tree, a_tree = tree.expand(v), tree.expand(vdot)
    V, A = spatial_velocities(tree, q, v), [zeros(6)]
    for i in tree.parents_first():
        kind, qi, vi = tree.kind[i], tree.joint_q(i, q), v_tree[tree.tree_v[i]]
        S = kind.subspace(qi)
        A.append(X[i] @ A[tree.parent[i]] + S @ a_tree[tree.tree_v[i]] + kind.bias(qi, vi)
                 + cross_motion(V[i]) @ (S @ vi))
    return A


def body_jacobians(tree, q):
    """J_B (6, nv) of every body in its own coordinates: V_B = J_B v."""
    _, X = tree.joint_transforms(q)
    J = [zeros(6, tree.nv_tree).astype(float)]
    for i in tree.parents_first():
        Ji = X[i] @ J[tree.parent[i]]
        Ji[:, tree.tree_v[i]] = tree.kind[i].subspace(tree.joint_q(i, q))
        J.append(Ji)
    return [Ji @ tree.G for Ji in J]


def frame_constants(tree, k):
    """Body of frame k and X_BF."""
    x = np.asarray(tree.spec.X_BF[k], dtype=float)
    return int(tree.spec.frame_body[k]), (x[:9].reshape(3, 3), x[9:])


def frame_pose(tree, q, k):
    """X_WF of frame k of the spec's table."""
    body, X_BF = frame_constants(tree, k)
    return compose(poses(tree, q)[body], X_BF)


def frame_velocity(tree, q, v, k):
    """[w; v] (6,) of frame k: angular velocity, velocity of its origin; rad/s, m/s, in world axes."""
    body, X_BF = frame_constants(tree, k)
    R_WF, _ = frame_pose(tree, q, k)
    return rotate6(R_WF, motion_transform(X_BF) @ spatial_velocities(tree, q, v)[body])


def frame_acceleration(tree, q, v, vdot, k):
    """Time derivative in the world of `frame_velocity`: the spatial acceleration plus [0; w x v] (RBDA section 2.11)."""
    body, X_BF = frame_constants(tree, k)
    R_WF, _ = frame_pose(tree, q, k)
    X = motion_transform(X_BF)
    V, A = X @ spatial_velocities(tree, q, v)[body], X @ spatial_accelerations(tree, q, v, vdot)[body]
    return rotate6(R_WF, A + np.concatenate([zeros(3), np.cross(V[:3], V[3:])]))


def frame_jacobian(tree, q, k):
    """J (6, nv) with frame_velocity = J v, in world axes, rows [angular; linear]."""
    body, X_BF = frame_constants(tree, k)
    R_WF, _ = frame_pose(tree, q, k)
    J = motion_transform(X_BF) @ body_jacobians(tree, q)[body]
    return np.concatenate([R_WF @ J[:3], R_WF @ J[3:]])


def qdot_from_velocity(tree, q, v):
    """qdot (nq,) = N(q) v, joint by joint."""
    rates = [zeros(0)]
    for i in tree.parents_first():
        if tree.leader[i] < 0:
            kind, start = tree.kind[i], tree.v_start[i]
            rates.append(kind.rate(tree.joint_q(i, q), v[start:start + kind.nv]))
    return np.concatenate(rates)


def wrenches_in_bodies(tree, X_PB, wrenches):
    """External [torque; force] about each body's origin, from world axes into body coordinates."""
    if wrenches is None:
        return [zeros(6)] * tree.nb
    return [rotate6(R.T, w) for (R, _), w in zip(_in_world(tree, X_PB), np.asarray(wrenches))]
