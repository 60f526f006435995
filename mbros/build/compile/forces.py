"""From described force elements to the engine's tables.

Frames are taken from the spec's frame table, so they stand on compiled bodies already (welds merged, axes turned). An element
on a joint acts on the joint's coordinates; a follower has none of its own, so it is refused there.
"""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, cast

import numpy as np
from mbros_core.joints.registry import row_of

from mbros.describe.problems import error_class
from mbros.errors import Problem
from mbros.model.tables import CompiledElement

if TYPE_CHECKING:
    from mbros.describe.forces.element import Described
    from mbros.describe.robot import RobotDescription
    from mbros.model.tables import CompiledJoint, CompiledRobot
    from mbros_core.spec import ModelSpec


def compile_elements(description: RobotDescription, compiled: CompiledRobot) -> list[CompiledElement]:
    """Fills the force_* tables of compiled.spec. Raises ModelError with every element that cannot be placed."""
    spec = compiled.spec
    frames = {name: k for k, name in enumerate(spec.frame_names)}
    joints = {joint.name: joint for joint in compiled.joints}
    rows, problems = [], []
    for k, element in enumerate(description.force_elements):
        row = CompiledElement(cast(str, element.name), element.kind, k, described=element, robot=element.robot)
        if element.joint is not None:
            problem = _on_joint(row, element, joints[element.joint.name], spec)
            if problem is not None:
                problems.append(problem)
        else:
            assert element.frame_c is not None      # of what acts on no joint
            row.frame_c = frames[element.frame_c.name]
            row.frame_a = -1 if element.frame_a is None else frames[element.frame_a.name]
        rows.append(row)
    if problems:
        raise error_class(description)(problems)
    _fill(spec, rows)
    return rows + _stops(spec, compiled.joints, {row.name for row in rows})


def _on_joint(row: CompiledElement, element: Described, joint: CompiledJoint, spec: ModelSpec) -> Problem | None:
    """Sets the coordinates; returns why that is impossible."""
    def problem(reason: str, remedy: str) -> Problem:
        return Problem(element._label, reason, remedy, element.source.file, element.source.line)

    if joint.mimic is not None:
        return problem(f"joint {joint.name!r} follows {joint.mimic[0]!r} and has no coordinate of its own",
                       f"Put the element on {joint.mimic[0]!r} (stiffness and damping there are those here times ratio squared, "
                       f"{joint.mimic[1] ** 2:g}), or load the robot with mimic=False.")
    kind = row_of(spec, joint.compiled_index)
    if not kind.velocities_are_rates and element.kind != "stribeck":
        return problem(f"joint {joint.name!r} ({joint.kind}) has velocities that are not rates of its positions, so a spring has no "
                       "position to pull to", "Use a bushing between the joint's two bodies.")
    row.joint = joint.name
    row.iv = joint.v_start + element.coordinate
    row.iq = joint.q_start + min(element.coordinate, joint.nq - 1)
    return None


def _fill(spec: ModelSpec, rows: Sequence[CompiledElement]) -> None:
    n = len(rows)
    spec.force_names = [row.name for row in rows]
    spec.force_kind = [row.kind for row in rows]
    spec.force_body = np.full((n, 2), -1, np.int32)
    spec.force_X = np.zeros((n, 2, 12))
    spec.force_X[:, :, [0, 4, 8]] = 1.0
    spec.force_coordinate = np.full((n, 2), -1, np.int32)
    spec.force_parameters = np.zeros((n, 16))
    for k, row in enumerate(rows):
        spec.force_coordinate[k] = row.iq, row.iv
        spec.force_parameters[k] = row.described.parameters
        for side, at in enumerate((row.frame_a, row.frame_c)):
            if at >= 0:
                spec.force_body[k, side] = spec.frame_body[at]
                spec.force_X[k, side] = spec.X_BF[at]
        if row.kind == "user":
            spec.user_forces[k] = row.described.original or row.described


def _stops(spec: ModelSpec, joints: Iterable[CompiledJoint], taken: set[str]) -> list[CompiledElement]:
    """The stops that the joints have at their limits, as elements after all others."""
    out = []
    for joint in joints:
        if joint.mimic is not None:
            continue
        for c in range(joint.nv):
            iv, iq = joint.v_start + c, joint.q_start + min(c, joint.nq - 1)
            if spec.stop_stiffness[iv] > 0.0:
                name = f"{joint.name}.stop" + (f"{c}" if joint.nv > 1 else "")
                while name in taken:
                    name += "_"
                out.append(CompiledElement(name, "stop", iv, joint=joint.name, iq=iq, iv=iv, robot=joint.robot))
    return out
