"""Can the equations of motion be solved, and how heavy is each joint? Asked once, when a robot is compiled.

Both questions are about the joint-space inertia M(q) (mass matrix). It is formed here in the plainest way, in world axes:
motion subspaces S_j and composite inertias Ic_j about one common point, M_ij = S_i . Ic_j S_j for i an ancestor of j
(Featherstone 2008, section 6.2), rotor inertias on the diagonal.
"""
from __future__ import annotations

import numpy as np

from mbros.checks import error_class, problem

DENSE = 600                 # beyond this many velocities the dense matrix is not formed; see the two functions
SMALLEST_PIVOT = 1e-12      # of a joint's articulated inertia against its composite inertia
# Default stops: a spring just stiff enough to hold the joint's whole effort limit within HELD_WITHIN, with its angular
# frequency sqrt(k / I) kept between these two for the joint's effective inertia I, and a damper of STOP_DAMPING_RATIO.
# Semi-implicit Euler takes stops implicitly and is stable at any step; for RK4 the upper bound means steps up to 1 ms.
STOP_FREQUENCY = (100.0, 1000.0)                    # rad/s
HELD_WITHIN = {"revolute": 0.01, "prismatic": 1e-3}  # rad, m
STOP_DAMPING_RATIO = 0.5                            # of critical damping: c = 2 ratio sqrt(k I)


def check_regular(description, tree, spec) -> None:
    """Raises ModelError when some joint moves nothing that has inertia, whatever the configuration.

    Bodies with mass and positive principal moments make M positive definite, so robots made of those need no more. Any
    other body is checked by factorising M at a generic configuration. (Above DENSE velocities only bodies without any
    inertia at the ends of the tree are looked for.)
    """
    suspects = ~_definite(spec.inertia[1:])
    suspects &= np.array([kind != "weld" for kind in spec.joint_kind[1:]], dtype=bool)
    if not suspects.any():
        return
    if tree.nv > DENSE:
        joint = _empty_end(tree, spec)
    else:
        joint = _first_zero_pivot(tree, spec)
    if joint is None:
        return
    body = joint.child
    reason = f"it moves body {body.name!r}, whose mass and inertia leave the joint without inertia of its own: " \
             "any torque would accelerate it without bound"
    if body.mass == 0.0:
        reason = f"it moves body {body.name!r}, which has no mass, and nothing massive behind it"
    remedy = "Give the body a mass and an inertia, give the joint a rotor_inertia, or make the joint fixed."
    if description.text is not None:
        reason, remedy = reason.replace("body", "link"), remedy.replace("the body", "the link")
    raise error_class(description)([problem(joint, reason, remedy)])


def default_stops(tree, spec) -> None:
    """Fills stop_stiffness and stop_damping: the user's values, else defaults scaled with the joint's effective inertia."""
    undecided = []
    for i in tree.owners:
        joint = tree.joints[i]
        _, v = tree.start[i]
        rows = slice(v, v + joint.nv)
        limited = np.isfinite(joint.lower) | np.isfinite(joint.upper) if joint.kind != "floating" else np.zeros(6, bool)
        if joint.stop_stiffness is not None:
            spec.stop_stiffness[rows] = np.where(limited, joint.stop_stiffness, 0.0)
        if joint.stop_damping is not None:
            spec.stop_damping[rows] = np.where(limited, joint.stop_damping, 0.0)
        if limited.any() and (joint.stop_stiffness is None or joint.stop_damping is None):
            undecided.append((joint, rows, limited))
    if not undecided:
        return
    inertia = effective_inertia(tree, spec)
    for joint, rows, limited in undecided:
        heavy = inertia[rows]
        if joint.stop_stiffness is None:
            within = np.array([1e-3, 1e-3, 0.01]) if joint.kind == "planar" else HELD_WITHIN[joint.kind]
            effort = np.where(np.isfinite(joint.effort), joint.effort, 0.0)
            low, high = (w**2 * heavy for w in STOP_FREQUENCY)
            spec.stop_stiffness[rows] = np.where(limited, np.clip(effort / within, low, high), 0.0)
        if joint.stop_damping is None:
            spec.stop_damping[rows] = 2.0 * STOP_DAMPING_RATIO * np.sqrt(spec.stop_stiffness[rows] * heavy)


def effective_inertia(tree, spec) -> np.ndarray:
    """(nv,) inertia that each coordinate's own force feels at the default configuration, all others free: 1 / (M^-1)_ii.

    Above DENSE velocities, and where the default configuration is singular (its neighbours are not): the carried body's
    own inertia (rotations about its centre of mass) with its rotor's.
    """
    if tree.nv > DENSE:
        return _own_inertia(tree, spec)
    M = mass_matrix(tree, spec, spec.q_default)
    if not (np.diag(M) > 0.0).all():
        return _own_inertia(tree, spec)
    scale = 1.0 / np.sqrt(np.diag(M))
    normal = M * np.outer(scale, scale)
    if np.linalg.eigvalsh(normal)[0] < SMALLEST_PIVOT:
        return _own_inertia(tree, spec)
    return 1.0 / (np.diag(np.linalg.inv(normal)) * scale**2)


def mass_matrix(tree, spec, q) -> np.ndarray:
    """M(q), (nv, nv), by composite inertias in world axes."""
    R, p, H, owner, column = _motion_subspace(tree, spec, q)
    Ic = _composite(spec, R, p)
    F = np.einsum("cij,jc->ic", Ic[owner], H)           # Ic_j S_j
    U = _ancestors(spec)[np.ix_(owner, owner)] * (H.T @ F)                   # rows: ancestors i, columns: j
    M = U + np.where(owner[:, None] == owner[None, :], 0.0, U.T)
    G = np.zeros((len(owner), tree.nv))
    G[np.arange(len(owner)), column] = spec.ratio[owner]
    return G.T @ M @ G + np.diag(spec.rotor_inertia)


def _motion_subspace(tree, spec, q):
    """World poses of all compiled bodies, and H (6, columns), [angular; linear] about one point, of all joints, with the
    body and the velocity coordinate of each column. The point is the first body's origin, so that a robot far from the
    world's origin loses no digits; positions are from there."""
    nb = tree.nb
    R, p = np.zeros((nb, 3, 3)), np.zeros((nb, 3))
    R[0] = np.eye(3)
    columns, owner, column = [], [], []
    for i in range(1, nb):
        P = spec.parent[i]
        R_WF = R[P] @ spec.X_PF[i, :9].reshape(3, 3)
        p_WF = p[P] + R[P] @ spec.X_PF[i, 9:]
        iq, iv = tree.start[tree.carrier[i]]
        R[i], p[i], mine = _move(spec.joint_kind[i], R_WF, p_WF, q, iq, spec.ratio[i], spec.offset[i])
        columns += mine
        owner += [i] * len(mine)
        column += range(iv, iv + len(mine))
    p -= p[min(1, nb - 1)].copy()
    owner, column = np.array(owner, dtype=int), np.array(column, dtype=int)
    wv = np.array(columns).reshape(-1, 6)
    w, v = wv[:, :3], wv[:, 3:]
    return R, p, np.concatenate([w, v + np.cross(p[owner], w)], 1).T, owner, column


def _move(kind, R, p, q, iq, ratio, offset):
    """Pose of M in W, and the joint's columns [angular; linear] at Mo in world axes."""
    if kind == "weld":
        return R, p, []
    if kind == "revolute":
        return R @ _rz(ratio * q[iq] + offset), p, [_turn(R[:, 2])]
    if kind == "prismatic":
        return R, p + R[:, 2] * (ratio * q[iq] + offset), [_slide(R[:, 2])]
    if kind == "planar":
        p = p + R[:, 0] * q[iq] + R[:, 1] * q[iq + 1]
        return R @ _rz(q[iq + 2]), p, [_slide(R[:, 0]), _slide(R[:, 1]), _turn(R[:, 2])]
    from mbros.description import rotation_from_quat_wxyz

    p = p + R @ q[iq:iq + 3]
    R = R @ rotation_from_quat_wxyz(q[iq + 3:iq + 7])
    return R, p, [_turn(R[:, k]) for k in range(3)] + [_slide(R[:, k]) for k in range(3)]


def _turn(w):
    return np.concatenate([w, np.zeros(3)])


def _slide(v):
    return np.concatenate([np.zeros(3), v])


def _rz(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def _composite(spec, R, p):
    """(nb, 6, 6) inertias of whole subtrees about the point from which p are measured."""
    m, h, I = spec.inertia[:, 0], spec.inertia[:, 1:4], _tensors(spec.inertia)
    hW = np.einsum("nij,nj->ni", R, h)                 # m c in world axes, from the body origin
    c0 = hW + m[:, None] * p                           # m times the centre of mass from that point
    # the parallel-axis theorem between two points neither of which is the centre of mass
    ph, pp = np.einsum("ni,ni->n", p, hW), np.einsum("ni,ni->n", p, p)
    shift = ((2.0 * ph + m * pp)[:, None, None] * np.eye(3) - p[:, :, None] * hW[:, None, :]
             - hW[:, :, None] * p[:, None, :] - m[:, None, None] * p[:, :, None] * p[:, None, :])
    Ic = np.zeros((len(m), 6, 6))
    Ic[:, :3, :3] = R @ I @ np.swapaxes(R, 1, 2) + shift
    Ic[:, :3, 3:] = _cross(c0)
    Ic[:, 3:, :3] = -Ic[:, :3, 3:]
    Ic[:, 3:, 3:] = m[:, None, None] * np.eye(3)
    for i in range(len(m) - 1, 0, -1):
        Ic[spec.parent[i]] += Ic[i]
    return Ic


def _ancestors(spec):
    """(nb, nb) 1.0 where row is an ancestor of column, or the same body."""
    A = np.eye(len(spec.parent))
    for i in range(1, len(spec.parent)):
        A[:, i] += A[:, spec.parent[i]]
    return A


def _tensors(rows):
    xx, yy, zz, xy, xz, yz = rows[:, 4:].T
    return np.stack([xx, xy, xz, xy, yy, yz, xz, yz, zz], 1).reshape(-1, 3, 3)


def _cross(v):
    x, y, z = v.T
    o = np.zeros_like(x)
    return np.stack([o, -z, y, z, o, -x, -y, x, o], 1).reshape(-1, 3, 3)


def _central(rows):
    """Inertias about the centres of mass, (n, 3, 3)."""
    m = np.where(rows[:, 0] > 0.0, rows[:, 0], 1.0)
    c = rows[:, 1:4] / m[:, None]
    square = np.einsum("ni,ni->n", c, c)
    return _tensors(rows) - rows[:, 0, None, None] * (square[:, None, None] * np.eye(3) - c[:, :, None] * c[:, None, :])


def _definite(rows):
    """Where the spatial inertia is positive definite with room to spare: mass and all principal moments."""
    central = _central(rows)
    size = np.abs(_tensors(rows)).reshape(-1, 9).max(1) if len(rows) else np.zeros(0)
    return (rows[:, 0] > 0.0) & (np.linalg.eigvalsh(central)[:, 0] > 1e-10 * size)


def _generic(tree, spec):
    """A configuration at which nothing lines up by accident, the same every time."""
    rng = np.random.default_rng(20)
    q = spec.q_default + rng.uniform(-0.7, 0.7, tree.nq)
    for i in tree.owners:
        if tree.joints[i].kind == "floating":
            k = tree.start[i, 0] + 3
            q[k:k + 4] /= np.linalg.norm(q[k:k + 4])
    return q


def _first_zero_pivot(tree, spec):
    """The joint at which M = L^T D L (Featherstone 2008, table 6.3) meets a pivot that is not positive, or None."""
    M = mass_matrix(tree, spec, _generic(tree, spec))
    diagonal = np.diag(M).copy()
    for k in range(tree.nv - 1, -1, -1):
        if not M[k, k] > SMALLEST_PIVOT * diagonal[k] or diagonal[k] < 1e-300:
            return next(tree.joints[i] for i in reversed(tree.owners) if tree.start[i, 1] <= k)
        row = M[k, :k]
        M[:k, :k] -= np.outer(row, row) / M[k, k]
    return None


def _empty_end(tree, spec):
    empty = (np.abs(spec.inertia) == 0.0).all(1)
    for i in range(tree.nb - 1, 0, -1):
        joint = tree.joints[tree.carrier[i]]
        if empty[i] and joint.kind != "weld":
            if joint.name not in tree.mimic and not spec.rotor_inertia[tree.start[tree.carrier[i], 1]] > 0.0:
                return joint
        empty[spec.parent[i]] &= empty[i]
    return None


def _own_inertia(tree, spec):
    central = _central(spec.inertia)
    own = np.zeros(tree.nv)
    for i in range(1, tree.nb):
        iv = tree.start[tree.carrier[i], 1]
        kind, m = spec.joint_kind[i], spec.inertia[i, 0]
        if kind == "revolute":
            own[iv] += spec.ratio[i] ** 2 * central[i, 2, 2]
        elif kind == "prismatic":
            own[iv] += spec.ratio[i] ** 2 * m
        elif kind == "planar":
            own[iv:iv + 3] += m, m, central[i, 2, 2]
        elif kind == "floating":
            own[iv:iv + 6] += [*np.diag(central[i]), m, m, m]
    return np.maximum(own + spec.rotor_inertia, 1e-9)
