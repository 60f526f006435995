"""What the drives of a model move and hold (mbros.describe.devices.gains.JointLoad), at its default position and over the range of its
joints: up to 32 more positions, the same in every run, the base as it stands by default.

* inertia: the diagonal of the mass matrix, all other joints held by their own drives; followers, rotors and gears are in it
* weight: the static effort, of gravity and force elements
* on the ground: where the base floats and the lowest shapes stand on what the joint carries, that pushes the whole robot, of mass m. With
  J_p the velocity of such a lowest point per velocity of the joint, the inertia is m |J_p|^2 more (of a wheel m r^2, exact for one that
  rolls), and the weight m g |J_p,up| more (of a wheel on level ground 0). Where J_p has a part upwards it is a leg, and the robot may
  stand on it alone: with x = (velocities of the base, 1) that keep the foot where it is, the inertia is x^T M x at least, the weight x^T g
* in loops: what forward dynamics says, all other joints free: the inertia 1 / (dvdot_i/dtau_i), the weight what keeps vdot_i = 0
"""
from __future__ import annotations

import random
from math import isfinite, pi
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from mbros.describe.devices.gains import JointLoad
from mbros.describe.shapes import GROUNDS

if TYPE_CHECKING:
    from mbros import Joint, Model
    from mbros.model.shapes import BodyShape
    from mbros_core.engine._engine import State
    from mbros_core.typing import Array

    Standing = tuple[float, Array, slice, list[BodyShape]]         # mass, up, its base in v, the shapes that it stands on

POSITIONS, LARGE = 32, 200          # in models of more than LARGE velocities, such as scenes of many robots, one position more is looked at
FREE_BASES = ("floating", "floating_rpy", "planar")
LOW = 0.1               # of the height of a robot's shapes: those that begin below it support it
_FOUND: WeakKeyDictionary[Model, list[JointLoad]] = WeakKeyDictionary()


def joint_loads(model: Model) -> list[JointLoad]:
    """(nv) loads, those of joints with one coordinate of their own to be used. Found once for a model: it takes some milliseconds."""
    if model not in _FOUND:
        _FOUND[model] = _find(model)
    return _FOUND[model]


def _find(model: Model) -> list[JointLoad]:
    spec, state = model.spec, model.default_state()
    own = np.zeros(model.nv)                # 1 of joints with one coordinate, 0 of free bases
    for joint in model.joints:
        own[joint.v_slice] = joint.nv == 1
    feet = _feet(model, state)
    inertia, weight, reach = _here(model, state, feet, own)
    on_ground = reach > 0.0
    draw = random.Random(0)
    ranges = [(joint.q_slice.start, *ends) for joint in model.joints if (ends := _range(joint, state)) is not None]
    for _ in range(max(POSITIONS * min(1, LARGE // model.nv), 1) if ranges else 0):
        for at, low, high in ranges:
            state.q[at] = draw.uniform(low, high)
        found = _here(model, state, feet, own)
        inertia, weight, on_ground = np.maximum(inertia, found[0]), np.maximum(weight, found[1]), on_ground | (found[2] > 0.0)
    if len(model.constraints):
        of_loops = _in_loops(model)
        inertia, weight = np.maximum(inertia, of_loops[0]), np.maximum(weight, of_loops[1])
    return [JointLoad(_rounded(inertia[i]), _rounded(weight[i]), float(spec.damping[i]), float(spec.friction[i]),
                      float(spec.effort_limit[i]), bool(on_ground[i])) for i in range(model.nv)]


def _rounded(x: float) -> float:
    """To nine digits: linear algebra ends in other bits on other processors, and a bench must not, or recordings would not replay."""
    return float(f"{x:.9g}")


def _here(model: Model, state: State, feet: list[Standing], own: Array) -> tuple[Array, Array, Array]:
    """(inertia, weight, |J_p|^2) (nv,) at this position."""
    inertia = np.diag(model.mass_matrix(state)).copy()
    weight = np.abs(model.inverse_dynamics(state, np.zeros(model.nv)))
    most = np.zeros(model.nv)
    for mass, up, base, shapes in feet:
        J = np.concatenate([_point_jacobians(model, state, shape, _lowest_points(model, state, shape, up)[1]) for shape in shapes])
        reach, lift = (J * J).sum(axis=2).max(axis=0) * own, np.abs(J @ up).max(axis=0) * own
        most = np.maximum(most, reach)
        stance = _on_one_foot(model, state, base, shapes, lift > 1e-3 * np.sqrt(reach))
        inertia = np.maximum(inertia + mass * reach, stance[0])
        weight = np.maximum(weight + mass * float(np.linalg.norm(model.spec.gravity)) * lift, stance[1])
    return inertia, weight, most


def _on_one_foot(model: Model, state: State, base: slice, shapes: list[BodyShape], legs: Array) -> tuple[Array, Array]:
    """(inertia, weight) (nv,) of the joints of legs while the foot stays where it is and the robot moves."""
    inertia, weight = np.zeros(model.nv), np.zeros(model.nv)
    if base.stop - base.start != 6 or not legs.any():
        return inertia, weight
    M, g = np.asarray(model.mass_matrix(state)), np.asarray(model.inverse_dynamics(state, np.zeros(model.nv)))
    for body in {shape.body.name: shape.body for shape in shapes}.values():
        J = np.asarray(model.jacobian(state, body))
        mine = legs & (np.abs(J).max(axis=0) > 0.0)
        x = np.eye(model.nv)[:, mine]
        x[base] = -np.linalg.solve(J[:, base], J[:, mine])
        inertia[mine] = np.maximum(inertia[mine], (x * (M @ x)).sum(axis=0))
        weight[mine] = np.maximum(weight[mine], np.abs(x.T @ g))
    return inertia, weight


def _in_loops(model: Model) -> tuple[Array, Array]:
    """(inertia, weight) (nv,) at the default position as forward dynamics has them; 0 of a coordinate that the loops hold."""
    state, inertia, weight = model.default_state(), np.zeros(model.nv), np.zeros(model.nv)
    free = np.array(model.forward_dynamics(state, np.zeros(model.nv)))
    for i in range(model.nv):
        unit = np.zeros(model.nv)
        unit[i] = 1.0
        mobility = float(model.forward_dynamics(state, unit)[i] - free[i])
        if mobility > 0.0:
            inertia[i], weight[i] = 1.0 / mobility, abs(float(free[i])) / mobility
    return inertia, weight


def _range(joint: Joint, state: State) -> tuple[float, float] | None:
    """Where a joint with one coordinate of its own can be; None where it stays: locked, or sliding without ends."""
    if joint.nv != 1 or joint.nq != 1 or joint.follows or joint.is_locked(state):
        return None
    low, high = (float(x) for x in joint.limits.position[0])
    if isfinite(low) and isfinite(high):
        return low, high
    q = float(joint.defaults.positions[0])
    return (max(low, q - pi), min(high, q + pi)) if joint.can_rotate else None


def _feet(model: Model, state: State) -> list[Standing]:
    """(mass, up, its base in v, the shapes on which it stands) of everything with a free base that can stand on something."""
    spec, g = model.spec, np.asarray(model.spec.gravity)
    if not g.any():
        return []
    up = -g / np.linalg.norm(g)
    base = [0] * len(spec.parent)           # of every body, the one that its tree begins with
    for b in range(1, len(base)):
        base[b] = b if spec.parent[b] == 0 else base[spec.parent[b]]
    base_of = [base[b] for b in spec.shape_body]
    found = []
    for root in sorted({*base_of} - {0}):
        mine = [shape for shape, b in zip(model.shapes, base_of) if b == root and shape.kind not in GROUNDS]
        alone = base.count(root) == 1           # an object, without joints
        if alone or spec.joint_kind[root] not in FREE_BASES or not mine or len(mine) == len(base_of):
            continue
        bottoms = [_lowest_points(model, state, shape, up)[0] for shape in mine]
        least, most = min(low for low, _ in bottoms), max(high for _, high in bottoms)
        mass = float(sum(spec.inertia[b, 0] for b in range(len(base)) if base[b] == root))
        at = next(joint.v_slice for joint, row in zip(model.joints, model._compiled.joints) if row.compiled_index == root and joint.nv)
        found.append((mass, up, at, [shape for shape, (low, _) in zip(mine, bottoms) if low <= least + LOW * (most - least)]))
    return found


def _lowest_points(model: Model, state: State, shape: BodyShape, up: Array) -> tuple[tuple[float, float], Array]:
    """((lowest, highest) height of a shape, its lowest points (k, 3) in the world: of an edge or face their ends)."""
    X = model.pose(state, shape.body) @ shape.X_BG
    R, p, geometry = np.asarray(X.R), np.asarray(X.p), shape.geometry
    below = points = p + _corners(geometry, R, up) @ R.T
    heights = below @ up
    span = float(heights.max() - heights.min())
    if geometry.kind in ("sphere", "capsule"):
        span += 2.0 * geometry.sizes[0]
        points = below - geometry.sizes[0] * up
    low = float((points @ up).min())
    return (low, low + span), points[points @ up <= low + 0.1 * span]


def _corners(geometry: Any, R: Array, up: Array) -> Array:
    """The points (n, 3), in axes of its own, of which a shape is the hull, as far as `up` needs them; of round ones, their middle."""
    if geometry.points is not None:
        return geometry.points
    if geometry.kind == "sphere":
        return np.zeros((1, 3))
    if geometry.kind == "box":
        return 0.5 * np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * geometry.sizes
    radius, length = geometry.sizes
    ends = np.array([[0.0, 0.0, -0.5 * length], [0.0, 0.0, 0.5 * length]])
    if geometry.kind == "capsule":
        return ends
    x, y = (R.T @ up)[:2]
    slope = float(np.hypot(x, y))
    out = np.array([x, y, 0.0]) / slope if slope > 1e-6 else np.array([1.0, 0.0, 0.0])
    across = np.array([-out[1], out[0], 0.0])
    return np.concatenate([ends + radius * each for each in (out, -out, across, -across)])


def _point_jacobians(model: Model, state: State, shape: BodyShape, points: Array) -> Array:
    """(k, nv, 3): the velocities of points (k, 3) of a shape's body in the world, per velocity of the joints."""
    J = np.asarray(model.jacobian(state, shape.body))
    arms = points - np.asarray(model.pose(state, shape.body).p)
    return J[3:].T + np.cross(J[:3].T, arms[:, None, :])
