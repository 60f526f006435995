"""Can the equations of motion be solved, and how heavy is each joint? Asked once, when a robot is compiled.

Both questions are about the joint-space inertia M(q) (mass matrix), which the engine forms.
"""
from __future__ import annotations

import numpy as np

from mbros.checks import error_class, problem
from mbros.joints.kinds import row_of
from mbros.joints.limits import HELD_WITHIN
from mbros.joints.mobility import mobility

DENSE = 600                 # beyond this many velocities the dense matrix is not formed; see the two functions
SMALLEST_PIVOT = 1e-12      # of a joint's articulated inertia against its composite inertia
# Default stops: a spring just stiff enough to hold the joint's whole effort limit within HELD_WITHIN, with its angular
# frequency sqrt(k / I) kept between these two for the joint's effective inertia I, and a damper of STOP_DAMPING_RATIO.
# Semi-implicit Euler takes stops implicitly and is stable at any step; for RK4 the upper bound means steps up to 1 ms.
STOP_FREQUENCY = (100.0, 1000.0)                    # rad/s
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
        row = row_of(joint.kind)
        if not row.velocities_are_rates:
            continue
        limited = np.isfinite(joint.lower) | np.isfinite(joint.upper)
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
            within = np.array([HELD_WITHIN.get(unit, 0.01) for unit in row_of(joint.kind).position_units])
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
    """M(q), (nv, nv), rotors included."""
    import mbros_core

    model = mbros_core.Model(spec)
    state = model.new_state()
    state.q[:] = q
    return model.mass_matrix(state)


def _tensors(rows):
    xx, yy, zz, xy, xz, yz = rows[:, 4:].T
    return np.stack([xx, xy, xz, xy, yy, yz, xz, yz, zz], 1).reshape(-1, 3, 3)


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
    import mbros_core

    q = spec.q_default + np.random.default_rng(20).uniform(-0.7, 0.7, tree.nq)
    return mbros_core.Model(spec).normalize(q)


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
    """(nv,) of each carried body about its own centre of mass, at the joint's neutral position."""
    central = _central(spec.inertia)
    own = np.zeros(tree.nv)
    for i in range(1, tree.nb):
        joint, iv = tree.joints[tree.carrier[i]], tree.start[tree.carrier[i], 1]
        row = row_of(joint.kind)
        if row.nv:
            H = mobility(joint.kind, joint.parameters).subspace(np.array(row.neutral))
            turn, slide = H[:3], H[3:]
            mine = np.einsum("ik,ij,jk->k", turn, central[i], turn) + spec.inertia[i, 0] * (slide * slide).sum(0)
            own[iv:iv + row.nv] += spec.ratio[i] ** 2 * mine
    return np.maximum(own + spec.rotor_inertia, 1e-9)
