"""What was written into the attributes of a description: brought to arrays of their sizes, placements, rules; or refused by name.

Constructors and setters check what they are given. Attributes can be set to anything, so this comes first when a model is built.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mbros.arguments import check_name, flag, numbers, refuse
from mbros.describe.joints.classes import mimic_rule
from mbros.describe.joints.kinds import KINDS, UserKind, row_of
from mbros.describe.robot import BodyDescription, Mimic, RobotDescription
from mbros.errors import ModelError, Problem
from mbros.names import no_name
from mbros.spatial.given import placement
from mbros.spatial.placement import Placement

if TYPE_CHECKING:
    from mbros.describe.robot import FrameDescription, JointDescription

OF_POSITIONS = ("lower", "upper", "default")
OF_VELOCITIES = ("velocity_lower", "velocity_upper", "acceleration_lower", "acceleration_upper", "effort", "damping", "friction",
                 "rotor_inertia", "gear_ratio", "stop_stiffness", "stop_damping")
MAY_BE_INFINITE = ("lower", "upper", *OF_VELOCITIES[:5])
MAY_BE_NONE = ("default", "stop_stiffness", "stop_damping")


def check_shapes(description: RobotDescription) -> list[Problem]:
    """Brings the attributes into shape, in place; returns the problems of those that cannot be."""
    found: list[Problem] = []
    wrong = no_name(description.name)
    if wrong is not None:
        found.append(Problem("model", *wrong, description.file))
    kinds: list[tuple[str, Sequence[BodyDescription | JointDescription | FrameDescription], Callable[[str, Any], None]]] = [
        ("body", [description.world, *description.bodies], _body), ("joint", description.joints, _joint),
        ("frame", description.frames, _frame)]
    for word, elements, bring in kinds:
        for element in elements:
            try:
                check_name(word, element.name)
                bring(f"{word} {element.name!r}", element)
            except ModelError as error:
                found += [Problem(p.element, p.reason, p.remedy, element.source.file, element.source.line) for p in error.problems]
    return found


def _body(label: str, body: BodyDescription) -> None:
    if type(body.mass) is not float:
        body.mass = float(numbers(label, "mass", body.mass, 1)[0])
    _array(label, body, "com", (3,))
    _array(label, body, "inertia", (3, 3))


def _frame(label: str, frame: FrameDescription) -> None:
    _on_body(label, "body", frame.body)
    _placement(label, frame, "X_BF")


def _joint(label: str, joint: JointDescription) -> None:
    if not isinstance(joint.kind, UserKind) and joint.kind not in KINDS:
        refuse(label, f"its kind is {joint.kind!r}", f"The kinds are {', '.join(KINDS)}.")
    for role in ("parent", "child"):
        _on_body(label, role, getattr(joint, role))
    for what in ("X_PF", "X_BM"):
        _placement(label, joint, what)
    nq, nv = joint.nq, joint.nv
    for what in OF_POSITIONS:
        _array(label, joint, what, (nq,))
    for what in OF_VELOCITIES:
        _array(label, joint, what, (nv,))
    if joint.axis is not None:
        _array(label, joint, "axis", (3,))
    if len(joint.parameters) != len(row_of(joint.kind).parameters):
        refuse(label, f"its parameters are {joint.parameters!r}", f"Give {len(row_of(joint.kind).parameters)} numbers.")
    if joint.mimic is not None:
        _mimic(label, joint)
    if type(joint.locked) is not bool:
        joint.locked = flag(label, "locked", joint.locked)


def _array(label: str, element: BodyDescription | JointDescription, what: str, shape: tuple[int, ...]) -> None:
    value = getattr(element, what)
    if type(value) is np.ndarray and value.dtype == float and value.shape == shape:
        return                                  # signs and sizes of numbers are checked with the rest
    if value is None and what in MAY_BE_NONE:
        return
    setattr(element, what, numbers(label, what, value, shape, finite=what not in MAY_BE_INFINITE))


def _placement(label: str, element: FrameDescription | JointDescription, what: str) -> None:
    value = getattr(element, what)
    if isinstance(value, Placement) and value.R.shape == (3, 3) and value.p.shape == (3,):
        return
    if value is None:
        refuse(label, f"{what} is None", "Give a placement: a (4, 4) matrix, or anything with .R and .p.")
    setattr(element, what, placement(label, pose=value))


def _on_body(label: str, role: str, body: object) -> None:
    if not isinstance(body, BodyDescription):
        refuse(label, f"its {role} is {body!r}", "Give a body: b.add_body(...) or b.world.")


def _mimic(label: str, joint: JointDescription) -> None:
    given = joint.mimic
    joint.mimic = mimic_rule(label, (given.leader, given.ratio, given.offset) if isinstance(given, Mimic) else given)
