"""<surface> of a collision: what it is like to touch.

    friction/ode/mu                     friction (mu2, when it is another, is noted); without ode, friction/bullet/friction
    friction/torsional                  torsional_radius = 3 pi / 16 patch_radius coefficient / mu: the moment of a disk under even pressure
    contact/ode/kp, kd                  stiffness = kp, relaxation_time = kd / kp, as in <gazebo> of a URDF; without ode, bullet's
    drake:proximity_properties          as in a URDF

What is not given has mbros' default, not SDF's (friction 1, kp 1e12), as SDF's fits the solver of its simulator. Numbers that cannot be are
problems; what mbros has no law for (slip, restitution, soft_erp, bit masks beyond "touches nothing") is noted.
"""
from __future__ import annotations

from math import pi
from typing import TYPE_CHECKING

from mbros.describe.sdf.values import flag, number, text

if TYPE_CHECKING:
    from mbros.describe.robot import Collision
    from mbros.describe.urdf.context import Context
    from mbros.describe.urdf.xml import XmlElement

DRAKE, DRAKE_NUMBERS = "drake:proximity_properties", {
    "drake:mu_dynamic": "friction", "drake:mu_static": "static_friction", "drake:point_contact_stiffness": "stiffness",
    "drake:relaxation_time": "relaxation_time"}
ENGINES = ("ode", "bullet")
MASKS = ("collide_bitmask", "category_bitmask")


def read_surface(context: Context, collision: XmlElement, shape: Collision, label: str) -> bool:
    """The numbers of a <collision> into its shape. False where it says that the shape touches nothing."""
    touches = True
    surface = context.one(collision, "surface", label)
    if surface is not None:
        friction, contact = context.one(surface, "friction", label), context.one(surface, "contact", label)
        if friction is not None:
            _friction(context, friction, shape, label)
        if contact is not None:
            touches = _contact(context, contact, shape, label)
    drake = context.one(collision, DRAKE, label)
    if drake is not None:
        found = {name: number(context, drake, tag, label, least=0.0) for tag, name in DRAKE_NUMBERS.items() if drake.all(tag)}
        if "static_friction" in found:
            found.setdefault("friction", found["static_friction"])
        for name, value in found.items():
            setattr(shape, name, value)
        if shape.stiffness == 0.0:
            context.problem(drake.line, f"{label}, <{DRAKE}>", "its stiffness is 0", "A stiffness must be positive, N/m.")
            shape.stiffness = None
    return touches


def _engine(context: Context, holder: XmlElement, label: str) -> XmlElement | None:
    """The element of the simulator whose numbers count: ode's, else bullet's."""
    found = [each for each in (context.one(holder, name, label) for name in ENGINES) if each is not None]
    if len(found) > 1:
        context.notes.add(("bullet", holder.tag), found[1].line, f"{label}, <bullet>", "not used: the numbers of <ode> beside it are taken")
    return found[0] if found else None


def _friction(context: Context, holder: XmlElement, shape: Collision, label: str) -> None:
    engine = _engine(context, holder, label)
    if engine is not None:
        first, second = ("mu", "mu2") if engine.tag == "ode" else ("friction", "friction2")
        shape.friction, other = number(context, engine, first, label, None, 0.0), number(context, engine, second, label, None, 0.0)
        if shape.friction is None:
            shape.friction = other
        elif other is not None and other != shape.friction:
            context.notes.add("mu2", engine.line, label, f"{first} is {shape.friction:g} and {second} is {other:g}: friction here is the "
                              f"same in all directions, {first} is taken", "warning")
    torsional = context.one(holder, "torsional", label)
    if torsional is None:
        return
    coefficient = number(context, torsional, "coefficient", label, 1.0, 0.0)
    radius = number(context, torsional, "patch_radius", label, 0.0, 0.0)
    if not flag(context, torsional, "use_patch_radius", label, True):
        context.notes.add("surface radius", torsional.line, label, "<torsional> is not used: a patch that grows with the depth is not "
                          "simulated; write <patch_radius>", "warning")
    elif coefficient and radius:
        mu = 1.0 if shape.friction is None else shape.friction
        if mu > 0.0:
            shape.torsional_radius = 3.0 * pi / 16.0 * radius * coefficient / mu
            shape.friction = mu
    elif radius == 0.0:
        context.notes.add("no patch", torsional.line, label, "<torsional> has no effect: its patch_radius is 0")


def _contact(context: Context, holder: XmlElement, shape: Collision, label: str) -> bool:
    engine = _engine(context, holder, label)
    if engine is not None:
        kp, kd = number(context, engine, "kp", label, None, 0.0), number(context, engine, "kd", label, None, 0.0)
        if kp:
            shape.stiffness = kp
            if kd is not None:
                shape.relaxation_time = kd / kp
                context.notes.add("kd", engine.line, label, "kp is read as stiffness, kd as relaxation_time = kd / kp")
        elif kp is not None or kd is not None:
            context.notes.add("kp", engine.line, label, "its kp and kd are not used: kp must be given and positive")
    masks = {tag: given for tag in MASKS if (given := text(context, holder, tag, label)) is not None}
    if any(_mask(given) == 0 for given in masks.values()) or flag(context, holder, "collide_without_contact", label):
        context.notes.add("touches nothing", holder.line, label, "left out: it says that it touches nothing (a bit mask of 0, or "
                          "collide_without_contact)")
        return False
    if any(_mask(given) != 0xFFFF for given in masks.values()):
        context.notes.add("bit mask", holder.line, label, f"<{next(iter(masks))}> is not used: it touches all other models; "
                          "Scene.exclude_contact leaves pairs out", "warning")
    return True


def _mask(given: str) -> int | None:
    """A bit mask, decimal or hexadecimal; None of anything else."""
    try:
        return int(given, 0) if len(given) <= 20 and given.isascii() else None
    except ValueError:
        return None
