"""Links without mass in closed loops: what stands in for their inertia.

A link without mass at the end of a tree has no equation of motion of its own: any torque would accelerate it without bound. Where a
constraint holds it, it has: a coupler whose mass is left out, a link that was cut into two to close a loop. Such a link gets SHARE of the
mass of its mechanism, as a ball around its own origin that is as large as the link. Constraints hold heavy parts on parts as light as
that to rounding (docs/constraints.md), so that motions and forces change by about SHARE, and a note says so.
"""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbros.describe.constraints.classes import DistanceConstraint
from mbros.describe.problems import note
from mbros.errors import Problem

if TYPE_CHECKING:
    from mbros.build.compile.tree import _Tree
    from mbros.describe.joints.joint import JointDescription
    from mbros.describe.robot import RobotDescription
    from mbros_core.spec import ModelSpec

SHARE = 1e-9
BALL = 0.4              # of m r^2


def stand_in(description: RobotDescription, tree: _Tree, spec: ModelSpec, joint: JointDescription) -> bool:
    """Give the body of a joint without inertia what stands in for it; False where it has inertia or no constraint holds it."""
    body = int(tree.compiled[tree.index[id(joint.child)]])
    held = _held(description, spec)
    mass = spec.inertia[[_root(spec, k) in held.get(body, ()) for k in range(len(spec.parent))], 0].sum()
    if joint.child.mass != 0.0 or spec.inertia[body].any() or not mass > 0.0 or np.any(joint.friction):
        return False
    size = _size(spec, body)
    if not size > 0.0:
        return False
    spec.inertia[body, 0] = SHARE * mass
    spec.inertia[body, 4:7] = BALL * SHARE * mass * size * size
    reason = f"it has no mass; a constraint holds it, so {SHARE * mass:.3g} kg stand in for it, {SHARE:g} of its mechanism's mass"
    note(description, Problem(f"body {joint.child.name!r}", reason, "Give it a mass for another.", joint.source.file or description.file,
                              joint.source.line, "note"))
    return True


def _root(spec: ModelSpec, body: int) -> int:
    """The body on the world that carries a body; 0 of the world."""
    while body > 0 and spec.parent[body] > 0:
        body = int(spec.parent[body])
    return body


def _held(description: RobotDescription, spec: ModelSpec) -> dict[int, set[int]]:
    """Of compiled bodies that a constraint holds at a point, and of those that carry them: the bodies on the world at both of its ends."""
    frames = {name: k for k, name in enumerate(spec.frame_names)}
    found: dict[int, set[int]] = {}
    for constraint in description.constraints:
        if constraint.frame_a is None or constraint.frame_b is None or isinstance(constraint, DistanceConstraint):
            continue
        ends = [int(spec.frame_body[frames[frame.name]]) for frame in (constraint.frame_a, constraint.frame_b)]
        roots = {_root(spec, body) for body in ends} - {0}
        for body in ends:
            while body > 0:
                found.setdefault(body, set()).update(roots)
                body = int(spec.parent[body])
    return found


def _size(spec: ModelSpec, body: int) -> float:
    """How far frames and joints on a body are from its origin, m; where all are there, how far the body is from its parent's."""
    on = [np.linalg.norm(X[9:]) for X, of in zip(spec.X_BF, spec.frame_body) if of == body]
    on += [np.linalg.norm(X[9:]) for X, of in zip(spec.X_PF, spec.parent) if of == body]
    return float(max(on, default=0.0) or np.linalg.norm(spec.X_PF[body, 9:]))
