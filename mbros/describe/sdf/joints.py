"""<joint>: kind, frames, axes, limits, dynamics, mimic.

The joint's frame J is where its <pose> puts it while it is at zero; F on the parent link and M on the child link are there. Axes are given
in J, or in the frame that expressed_in names. Angles in rad, lengths in m.
"""
from __future__ import annotations

from math import inf, pi
from typing import TYPE_CHECKING, Any

import numpy as np

from mbros.describe.forces.springs import JointSpring
from mbros.describe.joints.kinds import ONE_AXIS
from mbros.describe.robot import JointDescription, Mimic
from mbros.describe.sdf.frames import link_of, pose_in
from mbros.describe.sdf.scopes import MODEL, WORLD
from mbros.describe.sdf.values import bound, flag, number, numbers, text
from mbros.describe.urdf.numbers import shorten
from mbros.names import did_you_mean, sentences
from mbros.spatial.placement import Placement

if TYPE_CHECKING:
    from mbros.describe.robot import BodyDescription, RobotDescription
    from mbros.describe.sdf.robots import PlacedModel
    from mbros.describe.sdf.scopes import Entry, Scope
    from mbros.describe.urdf.context import Context
    from mbros.describe.urdf.xml import XmlElement
    from mbros_core.typing import Array

KINDS = {"revolute": "revolute", "continuous": "continuous", "prismatic": "prismatic", "fixed": "weld", "ball": "ball", "screw": "screw",
         "universal": "universal", "revolute2": "universal"}
GEARBOX = "gearbox"
SQUARE = 1e-6               # by how much two axes may be off a right angle, as a cosine
AXES = ("axis", "axis2")


def read_joint(context: Context, model: PlacedModel, key: str, name: str, bodies: dict[str, BodyDescription],
               description: RobotDescription) -> JointDescription | None:
    """The joint `key` of a model, called `name`. bodies: by path. Its springs go into the description, it itself does not yet."""
    scope, entry = model.scope, model.scope.entries[key]
    label, before = f"joint {shorten(name)}", context.found
    kind = _kind(context, entry.element, label)
    X_SJ = pose_in(context, scope, key, entry.element)
    parent, X_PF = _end(context, entry, "parent", label, model, X_SJ, bodies, description)
    child, X_BM = _end(context, entry, "child", label, model, X_SJ, bodies, description)
    if kind is None or parent is None or child is None or context.found > before:
        return None
    if child is description.world:
        context.problem(entry.element.line, label, "its child is the world, which does not move", "Swap parent and child.")
        return None
    axes = _axes(context, scope, entry, kind, label)
    if axes is None:
        return None
    axis = axes[0] if kind in ONE_AXIS else None
    parameters: tuple[float, ...] = ()
    if kind == "universal":
        square = _square(context, entry.element, axes, label)
        if square is None:
            return None
        X_PF, X_BM = X_PF @ Placement(square), X_BM @ Placement(square)
    if kind == "screw":
        pitch = _pitch(context, entry.element, label)
        if pitch is None:
            return None
        parameters = (pitch,)
    joint = JointDescription(name, kind, parent, child, X_PF, X_BM, axis, context.source(entry.element), parameters)
    _numbers(context, entry.element, joint, label, description)
    _mimic(context, entry.element, joint, label, model.prefix)
    _rotor(context, entry.element, joint, label)
    return joint


def _kind(context: Context, element: XmlElement, label: str) -> str | None:
    given = element.attributes.get("type")
    if given in KINDS:
        return KINDS[given]
    near = did_you_mean(given, (*KINDS, GEARBOX))
    reason = "attribute 'type' is missing" if given is None else f"type {shorten(given)} is unknown" + (
        f"; did you mean {near!r}?" if near else "")
    context.problem(element.line, label, reason, "SDF has " + ", ".join((*KINDS, GEARBOX)) + ".")
    return None


def end_of(context: Context, scope: Scope, entry: Entry, role: str, label: str) -> str | None:
    """The name in the scope of the link that <parent>, <child> or <gearbox_reference_body> means; "world" of the world. None, with a
    problem, where there is none."""
    given = text(context, entry.element, role, label)
    if not given:
        context.problem(entry.element.line, label, f"<{role}> is missing", f"Write <{role}>link</{role}>.")
        return None
    if given == WORLD:
        return WORLD
    return link_of(context, scope, entry.origin if given == MODEL else given, entry.element)


def _end(context: Context, entry: Entry, role: str, label: str, model: PlacedModel, X_SJ: Placement, bodies: dict[str, BodyDescription],
         description: RobotDescription) -> tuple[BodyDescription | None, Placement]:
    """(body, X of the joint's frame on it) of one side."""
    local = end_of(context, model.scope, entry, role, label)
    if local is None:
        return None, Placement()
    if local == WORLD:
        return description.world, model.X_WS @ X_SJ
    return bodies.get(model.path + local), pose_in(context, model.scope, local, entry.element).inverse() @ X_SJ


def axis_in_joint(context: Context, scope: Scope, entry: Entry, tag: str, label: str) -> Array | None:
    """The unit axis of <axis> or <axis2> in the joint's frame; z where it has none. None, with a problem, where it is wrong."""
    holder = context.one(entry.element, tag, label)
    xyz, expressed_in = (0.0, 0.0, 1.0), ""
    if holder is not None:
        xyz = numbers(context, holder, "xyz", 3, f"{label}, <{tag}>", (0.0, 0.0, 1.0))
        expressed_in = next((each.attributes.get("expressed_in", "") for each in holder.all("xyz")), "")
        if not expressed_in and flag(context, holder, "use_parent_model_frame", f"{label}, <{tag}>", scope.version < (1, 5)):
            expressed_in = MODEL
    if xyz is None:
        return None
    axis = np.array(xyz)
    size = float(np.linalg.norm(axis / max(np.abs(axis).max(), 1e-300)) * np.abs(axis).max())
    if not size > 0.0:
        context.problem(entry.element.line, f"{label}, <{tag}>", "its xyz has no direction", "Write <xyz>0 0 1</xyz>.")
        return None
    if abs(size - 1.0) > 1e-6:
        context.notes.add("axis length", entry.element.line, f"{label}, <{tag}>", f"has length {size:.9g} and was normalised")
    axis = axis / np.abs(axis).max()
    axis = axis / np.linalg.norm(axis)
    if expressed_in:
        where = entry.origin if expressed_in == MODEL else expressed_in
        R_SE = pose_in(context, scope, where, entry.element).R
        axis = pose_in(context, scope, key_of(scope, entry), entry.element).R.T @ R_SE @ axis
        axis = axis / np.linalg.norm(axis)
    return axis + 0.0


def key_of(scope: Scope, entry: Entry) -> str:
    """How a joint is found in its scope, also where a link has its name."""
    return entry.name if scope.entries.get(entry.name) is entry else f"{entry.name}__joint__"


def _axes(context: Context, scope: Scope, entry: Entry, kind: str, label: str) -> list[Array] | None:
    """As many as the kind turns about or slides along."""
    wanted = 2 if kind == "universal" else 1 if kind in ONE_AXIS else 0
    for tag in AXES[wanted:]:
        for holder in entry.element.all(tag):
            if kind != "ball" or tag != "axis":
                context.notes.add((kind, tag), holder.line, label, f"<{tag}> has no effect on a {entry.element.attributes['type']} joint")
    found = [axis_in_joint(context, scope, entry, tag, label) for tag in AXES[:wanted]]
    if wanted and not entry.element.all("axis"):
        context.notes.add("default axis", entry.element.line, label, "no <axis>; z is taken, as SDF has it", "warning")
    if wanted == 2 and not entry.element.all("axis2"):
        context.problem(entry.element.line, label, "<axis2> is missing", "Write <axis2><xyz>0 1 0</xyz></axis2>.")
        return None
    return None if any(axis is None for axis in found) else [axis for axis in found if axis is not None]


def _square(context: Context, element: XmlElement, axes: list[Array], label: str) -> Array | None:
    """R whose x and y are the two axes; they must be at right angles."""
    a, b = axes
    off = float(a @ b)
    if abs(off) > SQUARE:
        context.problem(element.line, label, f"its axes are at {np.degrees(np.arccos(np.clip(off, -1.0, 1.0))):.6g} degrees",
                        "Write axes at right angles, or two revolute joints with a link between them.")
        return None
    b = b - off * a
    b = b / np.linalg.norm(b)
    return np.column_stack([a, b, np.cross(a, b)]) + 0.0


def _pitch(context: Context, element: XmlElement, label: str) -> float | None:
    """m/rad: <screw_thread_pitch>, m per turn; else <thread_pitch>, which is -2 pi over that; else 1 m per turn, as SDF has it."""
    per_turn, old = (number(context, element, tag, label, None) for tag in ("screw_thread_pitch", "thread_pitch"))
    if per_turn is not None:
        return float(per_turn) / (2.0 * pi)
    if old == 0.0:
        context.problem(element.line, f"{label}, <thread_pitch>", "it is 0", "Write <screw_thread_pitch>, m per turn.")
        return None
    if old is not None:
        context.notes.add("thread_pitch", element.line, label, "<thread_pitch> is read as -1 / (m/rad); <screw_thread_pitch> is m per turn",
                          "warning")
        return -1.0 / float(old)
    context.notes.add("no pitch", element.line, label, "it has no <screw_thread_pitch>: 1 m per turn, as SDF has it", "warning")
    return 1.0 / (2.0 * pi)


def _numbers(context: Context, element: XmlElement, joint: JointDescription, label: str, description: RobotDescription) -> None:
    """Limits and dynamics of every axis; of a ball joint the damping of its <axis>."""
    coordinates = min(joint.nv, 2)
    stop_k, stop_d = np.zeros(joint.nv), np.zeros(joint.nv)
    for i, tag in enumerate(AXES[:1 if joint.kind == "ball" else coordinates]):
        holder = context.one(element, tag, label)
        if holder is None:
            continue
        where = f"{label}, <{tag}>"
        dynamics, limit = context.one(holder, "dynamics", where), context.one(holder, "limit", where)
        place: Any = slice(None) if joint.kind == "ball" else i
        if dynamics is not None:
            _dynamics(context, dynamics, joint, place, where, description)
        if limit is None:
            continue
        if joint.kind == "ball":
            context.notes.add("ball limit", limit.line, where, "<limit> is not used on a ball joint")
            continue
        _limit(context, limit, joint, i, where)
        stop_k[i], stop_d[i] = (number(context, limit, word, where, 0.0, 0.0) or 0.0 for word in ("stiffness", "dissipation"))
        if stop_k[i] == 0.0 and stop_d[i]:
            context.notes.add("dissipation", limit.line, where, "<dissipation> is not used: there is no <stiffness>")
    if (stop_k > 0.0).any() and (stop_k > 0.0).all():
        joint.stop_stiffness, joint.stop_damping = stop_k, stop_d


def _dynamics(context: Context, holder: XmlElement, joint: JointDescription, place: Any, label: str, description: RobotDescription) -> None:
    for name in ("damping", "friction"):
        value = number(context, holder, name, label, 0.0, 0.0)
        if value:
            getattr(joint, name)[place] = value
    stiffness = number(context, holder, "spring_stiffness", label, 0.0, 0.0)
    reference = number(context, holder, "spring_reference", label, 0.0)
    if not stiffness or reference is None:
        return
    if joint.kind == "ball":
        context.notes.add("ball spring", holder.line, label, "<spring_stiffness> is not used on a ball joint", "warning")
        return
    spring = JointSpring(joint, reference, stiffness, coordinate=place, name=f"{joint.name}.spring{place + 1 if joint.nv > 1 else ''}")
    spring.source = joint.source
    description.force_elements.append(spring)


def _limit(context: Context, holder: XmlElement, joint: JointDescription, i: int, label: str) -> None:
    lower, upper = bound(context, holder, "lower", label, -inf), bound(context, holder, "upper", label, inf)
    effort, velocity = (bound(context, holder, word, label, inf) for word in ("effort", "velocity"))
    if joint.kind == "continuous":
        if lower > -inf or upper < inf:
            context.notes.add("continuous", holder.line, label, "lower and upper are not used: a continuous joint turns without end")
    elif lower > upper:
        context.problem(holder.line, f"{label}, <limit>", f"lower {lower:g} is above upper {upper:g}", "Swap them.")
    else:
        joint.lower[i], joint.upper[i] = lower, upper
    if effort == 0.0:
        context.notes.add("zero effort", holder.line, label, "effort is 0: every command to this joint is clamped to 0", "warning")
    joint.effort[i] = effort if effort >= 0.0 else inf                      # negative is none, as SDF has it
    speed = velocity if velocity >= 0.0 else inf
    joint.velocity_lower[i], joint.velocity_upper[i] = -speed, speed
    if holder.all("drake:acceleration"):
        most = number(context, holder, "drake:acceleration", label, None, 0.0)
        if most is not None:
            joint.acceleration_lower[i], joint.acceleration_upper[i] = -most, most


def _mimic(context: Context, element: XmlElement, joint: JointDescription, label: str, prefix: str) -> None:
    """q = multiplier (q_leader - reference) + offset."""
    for tag in AXES:
        holder = next((mimic for axis in element.all(tag) for mimic in axis.all("mimic")), None)
        if holder is None:
            continue
        leader = context.name(holder, f"{label}, <mimic>", "joint")
        ratio, offset, reference = (number(context, holder, word, f"{label}, <mimic>", value)
                                    for word, value in (("multiplier", 1.0), ("offset", 0.0), ("reference", 0.0)))
        if joint.kind not in ONE_AXIS or holder.attributes.get("axis", "axis") != "axis":
            context.notes.add(("mimic", joint.kind), holder.line, label, sentences("<mimic> is not used: only joints with one axis follow, "
                              "and only such joints are followed"), "warning")
        elif leader is not None and None not in (ratio, offset, reference):
            joint.mimic = Mimic(prefix + leader, ratio, offset - ratio * reference)


def _rotor(context: Context, element: XmlElement, joint: JointDescription, label: str) -> None:
    """<drake:rotor_inertia> (kg m^2) and <drake:gear_ratio>."""
    found = [number(context, element, f"drake:{word}", label, None, least)
             for word, least in (("rotor_inertia", 0.0), ("gear_ratio", None))]
    if joint.kind not in ONE_AXIS:
        if found != [None, None]:
            context.notes.add(("rotor", joint.kind), element.line, label, f"<drake:rotor_inertia> has no effect on a {joint.kind} joint")
        return
    if found[0] is not None:
        joint.rotor_inertia[0] = found[0]
    if found[1] == 0.0:
        context.problem(element.line, f"{label}, <drake:gear_ratio>", "it is 0", "1 is no gear.")
    elif found[1] is not None:
        joint.gear_ratio[0] = found[1]


__all__ = ["AXES", "GEARBOX", "axis_in_joint", "end_of", "key_of", "read_joint"]
