"""Can the equations of motion be solved, and how heavy is each joint? Asked once, when a robot is compiled.

Both questions are about the joint-space inertia M(q) (mass matrix) and its factors, which the engine forms.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbros_core.errors import NonFiniteError
from mbros_core.joints.registry import row_of as row_of_spec

from mbros.describe.joints.kinds import row_of
from mbros.describe.joints.kinematics import kinematics
from mbros.describe.joints.limits import HELD_WITHIN
from mbros.build.compile.scale import loads, stop_stiffness_for
from mbros.describe.problems import error_class, note, problem
from mbros.errors import Problem

if TYPE_CHECKING:
    from mbros.build.compile.tree import _Tree
    from mbros.describe.joints.joint import JointDescription
    from mbros.describe.robot import RobotDescription
    from mbros_core.engine._engine import State
    from mbros_core.spec import ModelSpec
    from mbros_core.typing import Array, BoolArray

DENSE = 600                 # beyond this many velocities the dense matrix is not formed; see effective_inertia and check_regular
SMALLEST_PIVOT = 1e-12      # of a joint's articulated inertia against its composite inertia
# An entry of S^T P S is a sum of products of 6-vectors, good to 6 eps of the sizes that went into it, and an eigenvalue of an
# n x n matrix moves by at most n times what its entries do.
ENTRY = 6.0 * np.finfo(float).eps
# Default stops: a spring just stiff enough to hold the joint's whole effort limit within HELD_WITHIN, with its angular
# frequency sqrt(k / I) kept between these two for the joint's effective inertia I, and a damper of STOP_DAMPING_RATIO.
# The midpoint step and semi-implicit Euler take stops implicitly and are stable at any step; for RK4 the upper bound means
# steps up to 1 ms. What is small or heavy for these: scale.py.
STOP_FREQUENCY = (100.0, 1000.0)                    # rad/s
STOP_DAMPING_RATIO = 0.5                            # of critical damping: c = 2 ratio sqrt(k I)


def check_regular(description: RobotDescription, tree: _Tree, spec: ModelSpec) -> None:
    """Raises ModelError when some joint moves nothing that has inertia, whatever the configuration.

    Bodies with mass and positive principal moments are felt by their joints, whatever else is. Any other body is checked at a generic
    configuration: by the articulated inertia in its joint (`_first_singular`), or, where joints follow others, by the whole mass matrix.
    (With followers, above DENSE velocities, only bodies without any inertia at the ends of the tree are looked for.)
    """
    suspects = ~_definite(spec.inertia)
    suspects &= np.array([kind != "weld" for kind in spec.joint_kind], dtype=bool)
    if not suspects.any():
        return
    joint = _singular_joint(tree, spec, suspects)
    while joint is not None and description.constraints:
        from mbros.build.compile.massless import stand_in      # start-up time: who has no loops does not pay

        if not stand_in(description, tree, spec, joint):
            break
        joint = _singular_joint(tree, spec, suspects)
    if joint is None:
        return
    body = joint.child
    reason = f"it moves body {body.name!r}, whose mass and inertia leave the joint without inertia of its own: " \
             "any torque would accelerate it without bound"
    if body.mass == 0.0:
        behind = "what is behind it gives the joint no inertia" if _mass_behind(tree, spec, joint) else "nothing massive behind it"
        reason = f"it moves body {body.name!r}, which has no mass, and {behind}"
    remedy = "Give the body a mass and an inertia, give the joint a rotor_inertia, or make the joint fixed."
    if description.text is not None:
        reason, remedy = reason.replace("body", "link"), remedy.replace("the body", "the link")
    raise error_class(description)([problem(joint, reason, remedy)])


def _singular_joint(tree: _Tree, spec: ModelSpec, suspects: BoolArray) -> JointDescription | None:
    """The outermost joint that moves nothing with inertia, or None."""
    if (spec.leader < 0).all():
        return _first_singular(tree, spec, suspects)
    return _first_singular_of_sharing(tree, spec) if tree.nv <= DENSE else _empty_end(tree, spec)


def default_stops(tree: _Tree, spec: ModelSpec) -> None:
    """Fills stop_stiffness and stop_damping: the user's values, else defaults scaled with the joint's effective inertia."""
    undecided, stiffer = [], list[Any]()
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
    load = loads(spec, np.array([0, *tree.start[tree.carrier[1:], 1]])) if tree.nv <= DENSE else np.zeros(tree.nv)
    for joint, rows, limited in undecided:
        heavy = inertia[rows]
        if joint.stop_stiffness is None:
            within = np.array([HELD_WITHIN.get(unit, 0.01) for unit in row_of(joint.kind).position_units])
            effort = np.where(np.isfinite(joint.effort), joint.effort, 0.0)
            low, high = (w**2 * heavy for w in STOP_FREQUENCY)
            usual = np.clip(effort / within, low, high)
            wanted = stop_stiffness_for(usual, load[rows], effort, joint.lower, joint.upper, within)
            spec.stop_stiffness[rows] = np.where(limited, wanted, 0.0)
            if (limited & (wanted > usual)).any():
                stiffer.append(joint)
        if joint.stop_damping is None:
            spec.stop_damping[rows] = 2.0 * STOP_DAMPING_RATIO * np.sqrt(spec.stop_stiffness[rows] * heavy)
    if stiffer:
        named = ", ".join(repr(joint.name) for joint in stiffer[:4]) + (f" and {len(stiffer) - 4} others" if len(stiffer) > 4 else "")
        note(tree.description, Problem("stops", f"those of {named} are stiffer than the usual, for what they carry over a small range "
                                       "(docs/forces.md)", "Give stop_stiffness for another.",
                                       stiffer[0].source.file or tree.description.file, stiffer[0].source.line, "note"))


def effective_inertia(tree: _Tree, spec: ModelSpec) -> np.ndarray:
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


def mass_matrix(tree: _Tree, spec: ModelSpec, q: Array) -> np.ndarray:
    """M(q), (nv, nv), rotors included."""
    model, state = _at(spec, q)
    return model.mass_matrix(state)


def _at(spec: ModelSpec, q: Array) -> tuple[Any, State]:
    """(model, state) of the engine at q, nothing locked."""
    import mbros_core

    model = mbros_core.Model(spec)
    state = model.default_state()
    state.q[:], state.field("lock")[:] = q, 0.0
    return model, state


def _tensors(rows: Array) -> Array:
    """Symmetric matrices (n, 3, 3) of xx, yy, zz, xy, xz, yz (n, 6)."""
    xx, yy, zz, xy, xz, yz = rows.T
    return np.stack([xx, xy, xz, xy, yy, yz, xz, yz, zz], 1).reshape(-1, 3, 3)


def _central(rows: Array) -> Array:
    """Inertias about the centres of mass, (n, 3, 3)."""
    m = np.where(rows[:, 0] > 0.0, rows[:, 0], 1.0)
    c = rows[:, 1:4] / m[:, None]
    square = np.einsum("ni,ni->n", c, c)
    return _tensors(rows[:, 4:]) - rows[:, 0, None, None] * (square[:, None, None] * np.eye(3) - c[:, :, None] * c[:, None, :])


def _definite(rows: Array) -> BoolArray:
    """Where the spatial inertia is positive definite with room to spare: mass and all principal moments."""
    central = _central(rows)
    size = np.abs(_tensors(rows[:, 4:])).reshape(-1, 9).max(1) if len(rows) else np.zeros(0)
    return (rows[:, 0] > 0.0) & (np.linalg.eigvalsh(central)[:, 0] > 1e-10 * size)


def _generic(tree: _Tree, spec: ModelSpec) -> Array:
    """A configuration at which nothing lines up by accident, the same every time."""
    import mbros_core

    q = spec.q_default + np.random.default_rng(20).uniform(-0.7, 0.7, tree.nq)
    return mbros_core.Model(spec).normalize(q)


def _first_singular(tree: _Tree, spec: ModelSpec, suspects: BoolArray) -> JointDescription | None:
    """The outermost joint whose articulated inertia S^T P S + rotors (Featherstone 2008, table 7.1) is singular, or None.

    Forward dynamics leave P of every body, what lies behind its joint, before the joint itself is taken out of it. The sizes that went
    into P are those of the body and of the P of its children: what is left of these may be nothing but their rounding.
    """
    model, state = _at(spec, _generic(tree, spec))
    try:
        model.forward_dynamics(state, np.zeros(model.nv))
    except NonFiniteError as error:                 # 1 / D of such a joint; or a user's law, which is another matter
        if error.__cause__ is not None or not np.isfinite(state.field("S")).all():
            raise
    P, sizes, S = _articulated(state.field("P")), _sizes(spec, state), state.field("S")
    nv = [row_of_spec(spec, i).nv for i in range(tree.nb)]
    end = np.cumsum(nv)
    for i in np.flatnonzero(suspects)[::-1]:
        H, rotors = S[end[i] - nv[i]:end[i]].T, state.field("D0")[end[i] - nv[i]:end[i]]
        if _singular(H.T @ P[i] @ H + np.diag(rotors), _felt(H, *sizes[i]) + rotors):
            return tree.joints[tree.carrier[i]]
    return None


def _singular(N: Array, size: Array) -> bool:
    """Whether a positive semidefinite matrix whose entries ij are good to ENTRY sqrt(size_i size_j) is singular as far as that goes."""
    if not (size > 0.0).all():
        return True
    scale = 1.0 / np.sqrt(size)
    return not np.linalg.eigvalsh(N * np.outer(scale, scale))[0] > len(N) * ENTRY


def _felt(H: Array, I: Any, h: Any, m: Any) -> Array:
    """(k,) upper bounds of the inertia that the columns [w; v] of H feel, for norms I, h, m of its blocks."""
    w, v = np.linalg.norm(H[:3], axis=0), np.linalg.norm(H[3:], axis=0)
    return w * w * I + 2.0 * w * v * h + v * v * m


def _articulated(rows: Array) -> Array:
    """P (n, 6, 6) of the engine's 21 numbers: I, H row by row, M."""
    I, H, M = _tensors(rows[:, :6]), rows[:, 6:15].reshape(-1, 3, 3), _tensors(rows[:, 15:])
    return np.block([[I, H], [np.swapaxes(H, 1, 2), M]])


def _sizes(spec: ModelSpec, state: State) -> np.ndarray:
    """(n, 3) norms of the blocks I, h, m of what was added up to P of every body: its own inertia and its children's P."""
    R, arm, P = state.field("X_WB")[:, :9].reshape(-1, 3, 3), _cross(state.field("p_PB_W")), _articulated(state.field("P"))
    own, h = R @ _tensors(spec.inertia[:, 4:]) @ np.swapaxes(R, 1, 2), _cross(np.einsum("nij,nj->ni", R, spec.inertia[:, 1:4]))
    total = np.block([[own, h], [-h, spec.inertia[:, 0, None, None] * np.eye(3)]])
    X = np.tile(np.eye(6), (len(R), 1, 1))
    X[:, 3:, :3] = -arm
    for i in range(len(R) - 1, 0, -1):              # through a weld come the sums themselves
        behind = total[i] if spec.joint_kind[i] == "weld" else P[i]
        total[spec.parent[i]] += X[i].T @ behind @ X[i]
    return np.array([[np.linalg.norm(x[:3, :3]), np.linalg.norm(x[:3, 3:]), np.linalg.norm(x[3:, 3:])] for x in total])


def _cross(p: Array) -> Array:
    """[p]x of many vectors, (n, 3, 3)."""
    x, y, z = p.T
    return np.stack([0 * x, -z, y, z, 0 * x, -x, -y, x, 0 * x], 1).reshape(-1, 3, 3)


def _first_singular_of_sharing(tree: _Tree, spec: ModelSpec) -> JointDescription | None:
    """The same from the mass matrix of a robot with followers: the outermost coordinate from which on M is singular. The smallest
    eigenvalue of a trailing block falls as the block grows (Cauchy), so it is found by bisection."""
    model, state = _at(spec, _generic(tree, spec))
    M = model.mass_matrix(state)
    size, S, column = spec.rotor_inertia.copy(), state.field("S"), 0
    for i, composite in enumerate(state.field("M_W")):          # the mass matrix leaves the composite inertias there
        n, v = row_of_spec(spec, i).nv, tree.start[tree.carrier[i], 1]
        norms = np.linalg.norm(_tensors(composite[None, 4:])), np.linalg.norm(composite[1:4]), composite[0]
        size[v:v + n] += _felt(S[column:column + n].T, *norms)
        column += n
    if not _singular(M, size):
        return None
    low, high = 0, tree.nv - 1                                  # singular from low on, and not from beyond high
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if _singular(M[middle:, middle:], size[middle:]) else (low, middle - 1)
    return next(tree.joints[i] for i in reversed(tree.owners) if tree.start[i, 1] <= low)


def _mass_behind(tree: _Tree, spec: ModelSpec, joint: JointDescription) -> bool:
    """Whether anything that the joint carries has mass."""
    mass = spec.inertia[:, 0].copy()
    for i in range(tree.nb - 1, 0, -1):
        if tree.joints[tree.carrier[i]] is joint:
            return bool(mass[i] > 0.0)
        mass[spec.parent[i]] += mass[i]
    return False


def _empty_end(tree: _Tree, spec: ModelSpec) -> JointDescription | None:
    empty = (np.abs(spec.inertia) == 0.0).all(1)
    for i in range(tree.nb - 1, 0, -1):
        joint = tree.joints[tree.carrier[i]]
        if empty[i] and joint.kind != "weld":
            if joint.name not in tree.mimic and not spec.rotor_inertia[tree.start[tree.carrier[i], 1]] > 0.0:
                return joint
        empty[spec.parent[i]] &= empty[i]
    return None


def _own_inertia(tree: _Tree, spec: ModelSpec) -> Array:
    """(nv,) of each carried body about its own centre of mass, at the joint's neutral position."""
    central = _central(spec.inertia)
    own = np.zeros(tree.nv)
    for i in range(1, tree.nb):
        joint, iv = tree.joints[tree.carrier[i]], tree.start[tree.carrier[i], 1]
        row = row_of(joint.kind)
        if row.nv:
            H = kinematics(joint.kind, joint.parameters).subspace(np.array(row.neutral))
            turn, slide = H[:3], H[3:]
            mine = np.einsum("ik,ij,jk->k", turn, central[i], turn) + spec.inertia[i, 0] * (slide * slide).sum(0)
            own[iv:iv + row.nv] += spec.ratio[i] ** 2 * mine
    return np.maximum(own + spec.rotor_inertia, 1e-9)
