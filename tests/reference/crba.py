"""The mass matrix by the composite-rigid-body algorithm (RBDA table 6.2, in body coordinates)."""
import numpy as np


def crba(tree, q):
    """M (nv, nv), rotor inertias on its diagonal: T = v^T M v / 2."""
    _, X = tree.joint_transforms(q)
    S = [None if i == 0 else tree.kind[i].subspace(tree.joint_q(i, q)) for i in range(tree.nb)]
    at = tree.tree_v
    M = _square(tree.nv_tree, X, tree.inertia)

    # inertia of everything a joint carries
    Ic = list(tree.inertia)
    for i in tree.children_first():
        if tree.parent[i] > 0:
            Ic[tree.parent[i]] = Ic[tree.parent[i]] + X[i].T @ Ic[i] @ X[i]

    # the force of a unit acceleration of joint i, felt at each joint j between it and the root
    for i in tree.parents_first():
        F = Ic[i] @ S[i]
        M[at[i], at[i]] = S[i].T @ F
        j = i
        while tree.parent[j] > 0:
            F = X[j].T @ F
            j = tree.parent[j]
            M[at[i], at[j]] = F.T @ S[j]
            M[at[j], at[i]] = M[at[i], at[j]].T
    if tree.has_followers:
        M = tree.G.T @ M @ tree.G
    return M + np.diag(tree.rotor_inertia)


def _square(n, *samples):
    """Zeros (n, n) of a kind that holds every number of `samples` (lists of arrays)."""
    arrays = [a for sample in samples for a in sample if a is not None]
    return np.zeros((n, n), dtype=np.result_type(float, *arrays) if arrays else float)
