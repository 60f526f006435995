"""Inverse dynamics by the recursive Newton-Euler algorithm (RBDA table 5.1, in body coordinates)."""
import numpy as np

from .kinematics import wrenches_in_bodies
from .scalars import zeros
from .spatial import cross_force, cross_motion


def rnea(tree, q, v, vdot, wrenches=None, gravity=None):
    """tau (nv,), N m or N: what the joints must deliver so that the tree accelerates with vdot.

    q (nq,), v (nv,), vdot (nv,). wrenches (nb, 6): external [torque; force] on each body about its origin, in world
    axes. gravity (3,) m/s^2 in world axes, the spec's own by default; it enters as an acceleration of the base.
    Joint damping, friction and stops are not part of this equation. The inertia of rotors is.
    """
    g = tree.gravity if gravity is None else gravity
    v_tree, a_tree = tree.expand(v), tree.expand(vdot)
    X_PB, X = tree.joint_transforms(q)
    V, A, F = [zeros(6)], [np.concatenate([zeros(3), -np.asarray(g)])], [None]
    f_ext = wrenches_in_bodies(tree, X_PB, wrenches)

    for i in tree.parents_first():
        kind, parent, qi, vi = tree.kind[i], tree.parent[i], tree.joint_q(i, q), v_tree[tree.tree_v[i]]
        S = kind.subspace(qi)
        vJ = S @ vi
        V.append(X[i] @ V[parent] + vJ)
        A.append(X[i] @ A[parent] + S @ a_tree[tree.tree_v[i]] + kind.bias(qi, vi) + cross_motion(V[i]) @ vJ)
        I = tree.inertia[i]
        F.append(I @ A[i] + cross_force(V[i]) @ (I @ V[i]) - f_ext[i])

    tau = [None] * tree.nb
    for i in tree.children_first():
        tau[i] = tree.kind[i].subspace(tree.joint_q(i, q)).T @ F[i]
        if tree.parent[i] > 0:
            F[tree.parent[i]] = F[tree.parent[i]] + X[i].T @ F[i]
    tau_tree = np.concatenate([zeros(0)] + tau[1:])
    return tree.project(tau_tree) + tree.rotor_inertia * vdot


def bias_torques(tree, q, v, wrenches=None):
    """C(q, v) v + gravity (RBDA section 6.1): inverse dynamics at rest acceleration."""
    return rnea(tree, q, v, zeros(tree.nv), wrenches)


def gravity_torques(tree, q):
    """What holds the tree still against gravity."""
    return rnea(tree, q, zeros(tree.nv), zeros(tree.nv))


def coriolis_torques(tree, q, v):
    """Centrifugal and Coriolis terms alone."""
    return rnea(tree, q, v, zeros(tree.nv), gravity=zeros(3))
