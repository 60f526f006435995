"""From a world of scopes to a RobotDescription: bodies, joints, frames, shapes that never touch, what is free and what stands.

A file with one <model> is a robot of its names. A <world> is a scene: its models are robots and objects, and what they have is called
"<model>/<name>"; a part of a nested model is called "<nested>::<name>".
"""
from __future__ import annotations

import re
from collections import defaultdict
from itertools import chain, count
from typing import TYPE_CHECKING

import numpy as np
from mbros_core.support.numbers import short
from mbros_core.support.records import record

from mbros.describe.forces.body import BodyGravity
from mbros.describe.members import OBJECT, ROBOT, Member
from mbros.describe.robot import BodyDescription, Exclusion, FrameDescription, JointDescription, RobotDescription
from mbros.describe.sdf.files import Library
from mbros.describe.sdf.frames import link_of, pose_in
from mbros.describe.sdf.gears import read_gearboxes
from mbros.describe.sdf.joints import GEARBOX, read_joint
from mbros.describe.sdf.links import read_link
from mbros.describe.sdf.scopes import WORLD, Scope
from mbros.describe.sdf.tree import make_tree
from mbros.describe.sdf.values import flag
from mbros.describe.urdf.numbers import shorten
from mbros.errors import MbrosError
from mbros.names import hint
from mbros.spatial.placement import Placement

if TYPE_CHECKING:
    from mbros_core.typing import Array

    from mbros.describe.urdf.context import Context

BASES = {"fixed": "weld", "floating": "floating", "planar": "planar"}
MOST_PAIRS = 200_000        # of links that do not touch each other, by name


@record(eq=False)
class PlacedModel:
    """A model in the world. path: what SDF writes before its names, from the world on. prefix: what is before them here. member: the robot
    of a scene that it is of, or "". X_WS: where its frame is. static: whether it never moves."""

    scope: Scope
    path: str
    prefix: str
    member: str
    X_WS: Placement
    static: bool = False


def models_of(context: Context, world: Scope, scene: bool) -> list[PlacedModel]:
    """All models, each before what is nested in it. scene: whether names begin with the member's."""
    found, names = [PlacedModel(world, "", "", "", Placement())], dict[str, None]()
    stack = [found[0]]
    while stack:
        outer = stack.pop()
        inner = []
        for key, entry in outer.scope.entries.items():
            if entry.inner is None:
                continue
            top = outer.scope.root == WORLD
            X = outer.X_WS @ pose_in(context, outer.scope, key, entry.element)
            member, prefix = outer.member, f"{outer.prefix}{key}::"
            if top and scene:
                member = member_name(context, key, names, entry.element.line)
                prefix = f"{member}/"
            elif top:
                prefix = ""
            if not top and entry.inner.static and not outer.static:
                context.notes.add("static inside", entry.element.line, entry.inner.label, "<static> is not used: the model around it moves",
                                  "warning")
            inner.append(PlacedModel(entry.inner, f"{outer.path}{key}::", prefix, member, X, entry.inner.static if top else outer.static))
        found += inner
        stack += reversed(inner)
    return found


def member_name(context: Context, given: str, names: dict[str, None], line: int) -> str:
    """A model's name as that of a robot of a scene: letters, digits and _."""
    plain = re.sub(r"[^A-Za-z0-9_]", "_", given)[:80]
    plain = plain if plain[:1].isalpha() else f"model_{plain}"
    name, k = plain, 2
    while name in names:
        name, k = f"{plain}_{k}", k + 1
    names[name] = None
    if name != given:
        context.notes.add("member name", line, f"model {shorten(given)}", f"it is called {name!r} here: the names of a scene's robots are "
                          "letters, digits and _")
    return name


@record(eq=False)
class Parts:
    """What was made of a world. bodies: by path. links: of every body, its model and its name there. joints: by name."""

    bodies: dict[str, BodyDescription]
    X_WL: dict[int, Placement]
    links: dict[int, tuple[PlacedModel, str]]
    joints: dict[str, JointDescription]


def fill(library: Library, description: RobotDescription, models: list[PlacedModel], base: str | None) -> Parts:
    """All of the models into the description, and their bases."""
    context = library.context
    parts = Parts({}, {}, {}, {})
    for model in models:
        for key, entry in model.scope.entries.items():
            if entry.kind == "link":
                name = model.prefix + key
                body = read_link(library, model.scope, key, name, model.static)
                body.robot = model.member
                description.bodies.append(body)
                parts.bodies[model.path + key] = body
                parts.links[id(body)] = model, key
                parts.X_WL[id(body)] = model.X_WS @ pose_in(context, model.scope, key, entry.element)
    gears = []
    for model in models:
        for key, entry in model.scope.entries.items():
            if entry.kind == "frame":
                _frame(context, model, key, description, parts)
            elif entry.kind == "joint" and entry.element.attributes.get("type") == GEARBOX:
                gears.append((model, key))
            elif entry.kind == "joint" and not model.static:
                name = model.prefix + entry.name
                joint = read_joint(context, model, key, name, parts.bodies, description)
                if joint is not None:
                    joint.robot = joint.child.robot
                    parts.joints[name] = joint
            elif entry.kind == "joint":
                context.notes.add("static joint", entry.element.line, f"joint {shorten(entry.name)}", "not used: its model is static")
    _bases(description, base, parts, make_tree(context, description, list(parts.joints.values())))
    parts.joints = {joint.name: joint for joint in description.joints}
    read_gearboxes(context, gears, parts.bodies, description)
    _weightless(context, description, parts)
    _together(context, description, models, parts)
    return parts


def _frame(context: Context, model: PlacedModel, key: str, description: RobotDescription, parts: Parts) -> None:
    """A <frame>, on the link that it moves with."""
    entry, scope = model.scope.entries[key], model.scope
    X_SF, link = pose_in(context, scope, key, entry.element), link_of(context, scope, key, entry.element)
    body = None if link is None else description.world if link == WORLD else parts.bodies.get(model.path + link)
    if body is None or link is None:
        return
    X_BF = X_SF if body is description.world else pose_in(context, scope, link, entry.element).inverse() @ X_SF
    description.frames.append(FrameDescription(model.prefix + entry.name, body, X_BF, context.source(entry.element), robot=body.robot))


# ------------------------------------------------------------------------------------------------------------------ bases


def _bases(description: RobotDescription, base: str | None, parts: Parts, free: list[BodyDescription]) -> None:
    """A joint for every link that no joint carries: of a model that is static a weld; else it floats, as SDF has it, or is as `base` says,
    and starts where it stands in the file."""
    if base is not None and (not isinstance(base, str) or base not in BASES):
        raise MbrosError(f"base is {short(base)}; expected 'fixed', 'floating' or 'planar'{hint(base, BASES)}")
    taken = {joint.name for joint in description.joints}
    made = []
    for body in free:
        model, _ = parts.links[id(body)]
        kind = "weld" if model.static else BASES[base or "floating"]
        X_WL = parts.X_WL[id(body)]
        stem = f"{model.member}/base" if model.member else "base"
        name = next(n for n in chain((stem, body.name, f"world_{body.name}"), (f"{stem}_{k}" for k in count())) if n not in taken)
        taken.add(name)
        joint = JointDescription(name, kind, description.world, body, None if kind == "floating" else X_WL, source=body.source)
        if kind == "floating" and not ((X_WL.R == np.eye(3)).all() and not X_WL.p.any()):
            joint.default = np.concatenate([X_WL.p, quat_wxyz(X_WL.R)])
        joint.robot = body.robot
        made.append(joint)
    description.joints[:0] = made
    description.default_base = base or ("floating" if any(joint.kind == "floating" for joint in made) else "fixed")
    description.base_said = True


def quat_wxyz(R: Array) -> Array:
    """The unit quaternion of a rotation, w x y z."""
    from mbros.spatial.vectors import Pose      # start-up time: who does not use it does not pay

    return np.array(Pose._made(R, np.zeros(3)).quat_wxyz)


# --------------------------------------------------------------------------------------------- gravity, and what never touches


def _weightless(context: Context, description: RobotDescription, parts: Parts) -> None:
    """Of <gravity>false</gravity>: the gravity of the world, the other way, on that link."""
    for body in description.bodies:
        model, key = parts.links[id(body)]
        element = model.scope.entries[key].element
        if not model.static and not flag(context, element, "gravity", f"link {shorten(body.name)}", True) and body.mass > 0.0:
            force = BodyGravity(body, -description.gravity, name=f"{body.name}.weightless")
            force.source = body.source
            description.force_elements.append(force)
            context.notes.add("weightless", element.line, f"link {shorten(body.name)}", "it has no weight: a force element of its own "
                              "(<link>.weightless) takes it away")


def _together(context: Context, description: RobotDescription, models: list[PlacedModel], parts: Parts) -> None:
    """Links of one model do not touch each other, unless both are self_collide, or the model is."""
    by_model: dict[int, list[tuple[BodyDescription, bool]]] = {}
    of_model = {id(model): any(flag(context, each, "self_collide", model.scope.label) for each, _ in model.scope.elements)
                for model in models}
    for body in description.bodies:
        model, key = parts.links[id(body)]
        label = f"link {shorten(body.name)}"
        own = flag(context, model.scope.entries[key].element, "self_collide", label, of_model[id(model)])
        by_model.setdefault(id(model), []).append((body, own))
    pairs = 0
    for model in models:
        bodies = by_model.get(id(model), [])
        lone, touching = [body for body, own in bodies if not own], [body for body, own in bodies if own]
        if len(lone) > 1 or lone and touching:
            group = (model.prefix or f"{model.scope.name}/").rstrip("/:")
            for body in lone:
                for shape in body.collisions:
                    shape.group = group
        for a in lone if touching else ():
            for b in touching:
                pairs += 1
                if pairs > MOST_PAIRS:
                    context.problem(model.scope.element.line, model.scope.label, f"more than {MOST_PAIRS} pairs of links do not touch each "
                                    "other", "Give the model <self_collide>, or all of its links, or none.")
                    return
                description.exclusions.append(Exclusion(a, b, "self_collide of one of them alone", a.source))


# ------------------------------------------------------------------------------------------------------------------ scenes


def make_members(description: RobotDescription, models: list[PlacedModel]) -> None:
    """The models of a world as robots and objects of a scene; an object is one link that is free or fixed, and has the member's name."""
    members = []
    bodies_of, joints_of = defaultdict[str, list[BodyDescription]](list), defaultdict[str, list[JointDescription]](list)
    for body in description.bodies:
        bodies_of[body.robot].append(body)
    for joint in description.joints:
        joints_of[joint.robot].append(joint)
    with_frames = {frame.robot for frame in description.frames}
    for model in models:
        if not model.member or "::" in model.prefix:
            continue
        bodies, joints = bodies_of[model.member], joints_of[model.member]
        if not bodies:
            continue
        parts = [each for element, _ in model.scope.elements for each in (element, *element.children)]
        lone = len(bodies) == 1 and [joint.name for joint in joints] == [f"{model.member}/base"] and model.member not in with_frames \
            and not any(each.tag == "plugin" or each.all("sensor") for each in parts)
        if lone:
            bodies[0].name = joints[0].name = model.member
        members.append(Member(model.member, OBJECT if lone else ROBOT, None, description.file, description.package_dirs))
        for body in bodies:
            for shape in body.collisions:
                shape.robot = model.member
                shape.name = shape.name and f"{body.name}/{shape.name}"
    description.members = tuple(members)


__all__ = ["BASES", "Parts", "PlacedModel", "fill", "make_members", "models_of"]
