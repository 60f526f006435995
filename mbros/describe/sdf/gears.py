"""<joint type="gearbox">: no joint of a tree, but a ratio between two others.

    theta_2 = -gearbox_ratio theta_1

theta_1 is the angle of the parent against the gearbox_reference_body about <axis>, theta_2 that of the child about <axis2>. They are those
of the revolute joints between that body and parent and child, which a coupler couples.
"""
from __future__ import annotations

from typing import TYPE_CHECKING

from mbros.describe.constraints.classes import CouplerConstraint
from mbros.describe.sdf.frames import pose_in
from mbros.describe.sdf.joints import AXES, axis_in_joint, end_of
from mbros.describe.sdf.values import number
from mbros.describe.urdf.numbers import shorten
from mbros.errors import ModelError

if TYPE_CHECKING:
    from mbros.describe.robot import BodyDescription, JointDescription, RobotDescription
    from mbros.describe.sdf.robots import PlacedModel
    from mbros.describe.urdf.context import Context

ROLES = ("parent", "child")
PARALLEL = 1e-6             # by how much the axes may differ, as a cosine


def read_gearboxes(context: Context, gears: list[tuple[PlacedModel, str]], bodies: dict[str, BodyDescription],
                   description: RobotDescription) -> None:
    """Adds couplers to the description, which has its joints. gears: models, and the names of gearboxes there. bodies: by path."""
    turning: dict[frozenset[int], JointDescription] = {}
    for joint in description.joints if gears else ():
        if joint.kind in ("revolute", "continuous"):
            turning.setdefault(frozenset((id(joint.parent), id(joint.child))), joint)
    for model, key in gears:
        _gearbox(context, model, key, bodies, description, turning)


def _gearbox(context: Context, model: PlacedModel, key: str, bodies: dict[str, BodyDescription], description: RobotDescription,
             turning: dict[frozenset[int], JointDescription]) -> None:
    scope, entry = model.scope, model.scope.entries[key]
    label = f"joint {shorten(entry.name)}"
    ratio = number(context, entry.element, "gearbox_ratio", label, 1.0)
    reference = end_of(context, scope, entry, "gearbox_reference_body", label)
    found: list[tuple[JointDescription, float]] = []
    for role, tag in zip(ROLES, AXES):
        local = end_of(context, scope, entry, role, label)
        axis = axis_in_joint(context, scope, entry, tag, label)
        if local is None or reference is None or axis is None:
            return
        one, other = (description.world if name == "world" else bodies.get(model.path + name) for name in (reference, local))
        joint = turning.get(frozenset((id(one), id(other))))
        if joint is None or joint.axis is None:
            context.problem(entry.element.line, label, f"there is no revolute joint between its gearbox_reference_body "
                            f"{shorten(reference)} and its {role} {shorten(local)}", "A gearbox couples two joints that stand on its "
                            "reference body.")
            return
        at = joint.parent if joint.parent is not description.world else joint.child
        X_S = pose_in(context, scope, next(path for path in (reference, local) if bodies.get(model.path + path) is at), entry.element)
        R_SJ = X_S.R @ (joint.X_PF.R if at is joint.parent else joint.X_BM.R)
        along = float(R_SJ @ joint.axis @ pose_in(context, scope, key, entry.element).R @ axis)
        if abs(abs(along) - 1.0) > PARALLEL:
            context.problem(entry.element.line, f"{label}, <{tag}>", f"it is not along the axis of joint {joint.name!r}",
                            "A gear turns about the axis of the joint that it couples.")
            return
        found.append((joint, (1.0 if along > 0.0 else -1.0) * (1.0 if joint.child is other else -1.0)))
    if ratio is None:
        return
    (first, sign_1), (second, sign_2) = found
    try:
        made = CouplerConstraint(model.prefix + entry.name, second, first, -ratio * sign_1 * sign_2)
    except ModelError as error:
        context.problem(entry.element.line, label, error.problems[0].reason, error.problems[0].remedy)
        return
    made.source = context.source(entry.element)
    description.constraints.append(made)
