"""Forward dynamics: the articulated-body algorithm (RBDA table 7.1), and a dense way where a joint follows another."""
import numpy as np

from mbros.errors import MbrosError

from .crba import crba
from .kinematics import wrenches_in_bodies
from .rnea import bias_torques
from .scalars import solve, zeros
from .spatial import cross_force, cross_motion


def aba(tree, q, v, tau, wrenches=None):
    """vdot (nv,) under the joint efforts tau (nv,); arguments as in `rnea`. For trees without follower joints."""
    if tree.has_followers:
        raise MbrosError("aba: a joint of this tree follows another; use forward_dynamics")
    X_PB, X = tree.joint_transforms(q)
    at, q_of = tree.tree_v, lambda i: tree.joint_q(i, q)
    V, c, S, IA, pA = [zeros(6)], [None], [None], [None], [None]
    f_ext = wrenches_in_bodies(tree, X_PB, wrenches)

    # pass 1: velocities, bias accelerations, rigid-body bias forces
    for i in tree.parents_first():
        S.append(tree.kind[i].subspace(q_of(i)))
        vJ = S[i] @ v[at[i]]
        V.append(X[i] @ V[tree.parent[i]] + vJ)
        c.append(tree.kind[i].bias(q_of(i), v[at[i]]) + cross_motion(V[i]) @ vJ)
        IA.append(tree.inertia[i])
        pA.append(cross_force(V[i]) @ (tree.inertia[i] @ V[i]) - f_ext[i])

    # pass 2: articulated-body inertias, from the tips to the root
    U, D, u = [None] * tree.nb, [None] * tree.nb, [None] * tree.nb
    for i in tree.children_first():
        U[i] = IA[i] @ S[i]
        D[i] = S[i].T @ U[i] + np.diag(tree.rotor_inertia[at[i]])
        u[i] = tau[at[i]] - S[i].T @ pA[i]
        if tree.parent[i] > 0:
            Ia = IA[i] - U[i] @ solve(D[i], U[i].T)
            pa = pA[i] + Ia @ c[i] + U[i] @ solve(D[i], u[i])
            IA[tree.parent[i]] = IA[tree.parent[i]] + X[i].T @ Ia @ X[i]
            pA[tree.parent[i]] = pA[tree.parent[i]] + X[i].T @ pa

    # pass 3: accelerations, from the root to the tips
    A = [np.concatenate([zeros(3), -tree.gravity])]
    vdot = [zeros(0)]
    for i in tree.parents_first():
        a = X[i] @ A[tree.parent[i]] + c[i]
        vdot.append(solve(D[i], u[i] - U[i].T @ a))
        A.append(a + S[i] @ vdot[i])
    return np.concatenate(vdot)


def forward_dynamics(tree, q, v, tau, wrenches=None):
    """vdot for any tree: `aba`, or M \\ (tau - bias) where joints follow others (RBDA section 6.1)."""
    if not tree.has_followers:
        return aba(tree, q, v, tau, wrenches)
    return solve(crba(tree, q), tau - bias_torques(tree, q, v, wrenches))
