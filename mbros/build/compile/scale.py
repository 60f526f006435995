"""What the size of a model asks of numbers that nobody gave: stiffness of contact points, and of stops at joint limits.

Defaults are made for robots of some kilograms and decimetres, and are kept where they hold what they carry. Where they would give way
visibly, those here hold it within a small part of the model's size; where a contact is stiffer than anything could show, it is softened.

Contact. A robot or object of mass m and size L (diameter of the least sphere about its centre of mass at the default positions) that
stands on four points, of two shapes of stiffness k each in a row, sinks by m g / (2 k). With s = m g / (2 L), that is s / k of its size:

    k = 1e6 N/m where s / k is within 1e-7 to 1e-3;   k = s / 5e-5 beyond;   k = s / 1e-7 below                                     (1)

All shapes of a scene have the number of the one that asks for most: each may have to carry it.

Stops. The weight of all that a coordinate moves, with its whole arm, is G = g sum m_B |dp_B/dq|. Where it would press a default stop in by
more than 1e-2 of the range between the limits, or where the range is below ten times HELD_WITHIN,

    k = max(G, effort limit) / (1e-4 range)                                                                                      (2)
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mbros_core.joints.registry import row_of

from mbros.describe.shapes import GROUNDS

if TYPE_CHECKING:
    from mbros.model.tables import CompiledRobot, CompiledShape
    from mbros_core.engine._engine import State
    from mbros_core.spec import ModelSpec
    from mbros_core.typing import Array

G0 = 9.81                       # m/s^2, whatever the model's gravity is: on the moon and in space a robot is made of the same
LEAST, MOST, HELD = 1e-7, 1e-3, 5e-5            # of (1)
STOP_MOST, STOP_HELD = 1e-2, 1e-4               # of (2)


def stiffness_for(mass: float, size: float, usual: float) -> float:
    """Equation (1), N/m."""
    s = G0 * mass / (2.0 * size) if size > 0.0 else 0.0
    if s == 0.0 or LEAST <= s / usual <= MOST:
        return usual
    return s / HELD if s > MOST * usual else s / LEAST


def heaviest(compiled: CompiledRobot, rows: Sequence[CompiledShape], X: Array, usual: float) -> tuple[float, str, float, float]:
    """(k of equation (1), name, kg, m) of what asks for most. X (n, 4, 4): where the shapes are. Only what has shapes, and moves."""
    spec = compiled.spec
    home = _homes(spec)
    _, state = _placed(spec)
    mass, moment = spec.inertia[:, 0], _moments(spec, state)
    of_body = {body.name: home[body.compiled_index] for body in compiled.bodies}
    found: list[tuple[float, str, float, float]] = []
    for root in sorted({of_body[row.body] for row in rows} - {0}):
        own = home == root
        m = float(mass[own].sum())
        if not m > 0.0:
            continue
        c = moment[own].sum(0) / m
        heavy = own & (mass > 0.0)
        reach = [float(np.linalg.norm(moment[heavy] / mass[heavy, None] - c, axis=1).max())]
        reach += [float(np.linalg.norm(X[k, :3, 3] - c)) + _radius(row.geometry) for k, row in enumerate(rows)
                  if of_body[row.body] == root and row.geometry.kind not in GROUNDS]
        size = 2.0 * max(reach)
        found.append((stiffness_for(m, size, usual), spec.body_names[root], m, size))
    return max(found, default=(usual, "", 0.0, 0.0))


def loads(spec: ModelSpec, starts: Array) -> Array:
    """G (nv,) of equation (2) at the default positions, N m or N. starts (nb,): the first coordinate of each body's joint."""
    model, state = _placed(spec)
    mass, moment, origin = spec.inertia[:, 0], _moments(spec, state), state.field("X_WB")[:, 9:]
    out, S, column = np.zeros(model.nv), state.field("S"), 0
    end = np.arange(1, len(mass) + 1)                                       # bodies stand depth first: what i carries is i to end[i]
    for i in range(len(mass) - 1, 0, -1):
        end[spec.parent[i]] = max(end[spec.parent[i]], end[i])
    for i in range(1, len(mass)):
        n, behind = row_of(spec, i).nv, slice(i, end[i])
        for k in range(n):
            x, y, z = S[column + k, :3]
            across = np.array([[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]])   # p @ across = w x p
            moved = mass[behind, None] * (S[column + k, 3:] - origin[i] @ across) + moment[behind] @ across
            out[starts[i] + k] += G0 * float(np.sqrt((moved * moved).sum(1)).sum())
        column += n
    return out


def _moments(spec: ModelSpec, state: State) -> Array:
    """m c (nb, 3) of every body about the world's origin."""
    poses = state.field("X_WB")
    return np.einsum("nij,nj->ni", poses[:, :9].reshape(-1, 3, 3), spec.inertia[:, 1:4]) + spec.inertia[:, :1] * poses[:, 9:]


def stop_stiffness_for(usual: Array, load: Array, effort: Array, lower: Array, upper: Array, within: Array) -> Array:
    """Equation (2) for coordinates whose default stops would be `usual`; effort: finite."""
    two = np.isfinite(lower) & np.isfinite(upper)
    span = np.where(two, np.where(two, upper, 0.0) - np.where(two, lower, 0.0), np.inf)
    gives_way = (load > STOP_MOST * usual * span) | (span < 10.0 * within)
    return np.where(gives_way & (span > 0.0), np.maximum(usual, np.maximum(load, effort) / (STOP_HELD * np.maximum(span, 1e-300))), usual)


def _homes(spec: ModelSpec) -> Array:
    """(nb,) of every compiled body: the one next to the world with which it moves; 0 where it does not. What constraints hold together, or
    bushings, moves together."""
    home = np.zeros(len(spec.body_names), dtype=int)
    for i in range(1, len(home)):
        above = home[spec.parent[i]]
        home[i] = above if above else 0 if spec.joint_kind[i] == "weld" else i
    for pair in (*spec.constraint_body, *spec.force_body):
        a, b = (home[max(0, int(body))] for body in pair)
        if a and b and a != b:
            home[home == max(a, b)] = min(a, b)
    return home


def _placed(spec: ModelSpec) -> tuple[Any, Any]:
    """(model, state) of the engine at the default positions, its kinematics done."""
    import mbros_core

    model = mbros_core.Model(spec)
    state = model.default_state()
    state.q[:] = spec.q_default
    model.kinetic_energy(state)
    return model, state


def _radius(geometry: Any) -> float:
    """Of the sphere about a shape's origin that holds it."""
    if geometry.points is not None:
        return float(np.linalg.norm(geometry.points, axis=1).max())
    sizes = np.asarray(geometry.sizes)
    if geometry.kind == "box":
        return float(0.5 * np.linalg.norm(sizes))
    if geometry.kind == "sphere":
        return float(sizes[0])
    radius, length = sizes
    return float(0.5 * length + radius if geometry.kind == "capsule" else np.hypot(0.5 * length, radius))
