"""From described constraints to the engine's tables.

Frames are taken from the spec's frame table, so they stand on compiled bodies already, and turned as the engine's kind means them.
A coupler acts on coordinates: of a follower, on its leader's.
"""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbros.describe.constraints.classes import CouplerConstraint
from mbros.describe.problems import error_class
from mbros.errors import Problem
from mbros.model.tables import CompiledConstraint

if TYPE_CHECKING:
    from mbros.describe.constraints.constraint import Constraint
    from mbros.describe.robot import RobotDescription
    from mbros.model.tables import CompiledJoint, CompiledRobot
    from mbros_core.spec import ModelSpec


def compile_constraints(description: RobotDescription, compiled: CompiledRobot) -> list[CompiledConstraint]:
    """Fills the constraint_* tables of compiled.spec. Raises ModelError with every constraint that cannot be placed."""
    spec, n = compiled.spec, len(description.constraints)
    frames = {name: k for k, name in enumerate(spec.frame_names)}
    joints = {joint.name: joint for joint in compiled.joints}
    spec.constraint_names = [constraint.name for constraint in description.constraints]
    spec.constraint_kind = [constraint.kind for constraint in description.constraints]
    spec.constraint_body = np.full((n, 2), -1, np.int32)
    spec.constraint_X = np.zeros((n, 2, 12))
    spec.constraint_X[:, :, [0, 4, 8]] = 1.0
    spec.constraint_coordinate = np.full((n, 2, 2), -1, np.int32)
    spec.constraint_parameters = np.zeros((n, 4))
    rows, problems = [], []
    for k, constraint in enumerate(description.constraints):
        row = CompiledConstraint(constraint.name, constraint.kind, k, robot=constraint.robot)
        reason = _on_joints(spec, k, constraint, joints, row) if isinstance(constraint, CouplerConstraint) else \
            _on_frames(spec, k, constraint, frames, row)
        if reason is not None:
            problems.append(Problem(constraint._label, *reason, constraint.source.file, constraint.source.line))
        rows.append(row)
    if problems:
        raise error_class(description)(problems)
    return rows


def _on_frames(spec: ModelSpec, k: int, constraint: Constraint, frames: dict[str, int], row: CompiledConstraint) -> tuple[str, str] | None:
    assert constraint.frame_a is not None and constraint.frame_b is not None
    row.frame_a, row.frame_b = frames[constraint.frame_a.name], frames[constraint.frame_b.name]
    for side, at in enumerate((row.frame_a, row.frame_b)):
        spec.constraint_body[k, side] = spec.frame_body[at]
        spec.constraint_X[k, side] = spec.X_BF[at]
        if constraint.turns is not None:
            spec.constraint_X[k, side, :9] = (np.reshape(spec.X_BF[at, :9], (3, 3)) @ constraint.turns[side]).ravel() + 0.0
    spec.constraint_parameters[k, :len(constraint.parameters)] = constraint.parameters
    if spec.constraint_body[k, 0] == spec.constraint_body[k, 1]:
        return (f"frames {constraint.frame_a.name!r} and {constraint.frame_b.name!r} are on bodies that fixed joints weld together",
                "Take frames of bodies that move against each other.")
    return None


def _on_joints(spec: ModelSpec, k: int, constraint: CouplerConstraint, joints: dict[str, CompiledJoint],
               row: CompiledConstraint) -> tuple[str, str] | None:
    """q_a - ratio q_b - offset, with q = ratio' q' + offset' of followers: of their leaders' coordinates."""
    assert constraint.joint_a is not None and constraint.joint_b is not None
    ends = [joints[constraint.joint_a.name], joints[constraint.joint_b.name]]
    row.joint_a, row.joint_b = ends[0].name, ends[1].name
    (_, of_a, offset_a), (_, of_b, offset_b) = [joint.mimic or (None, 1.0, 0.0) for joint in ends]
    for side, joint in enumerate(ends):
        spec.constraint_coordinate[k, side] = joint.q_start, joint.v_start
    offset = (constraint.ratio * offset_b + constraint.offset - offset_a) / of_a
    spec.constraint_parameters[k] = constraint.ratio * of_b / of_a, offset, of_a, float(ends[0].kind == "prismatic")
    if ends[0].v_start == ends[1].v_start:
        return (f"joints {ends[0].name!r} and {ends[1].name!r} share a coordinate by <mimic>", "Leave the constraint or the mimic out.")
    return None
