"""What <collision> says of touching, in the words of four simulators. Where several are used, the later of these rows counts, number by
number:

    Gazebo  <gazebo reference="link"> <mu1>0.8</mu1> <mu2>0.8</mu2> <kp>1e6</kp> <kd>5e3</kd>      (for all shapes of the link)
    MuJoCo  <collision> <mujoco><geom friction="1 0.005 0.0001" condim="3" solref="0.02 1"/></mujoco>
    Drake   <collision> <drake:proximity_properties> <drake:mu_dynamic value="0.8"/> <drake:mu_static/>
                        <drake:point_contact_stiffness/> <drake:relaxation_time/>
    mbros   <collision> <mbros:contact stiffness="1e6" relaxation_time="0.005" friction="0.8" static_friction="0.9"
                                       torsional_radius="0.01" rolling_radius="1e-3" group="left_hand"/>
"""
from __future__ import annotations

from typing import TYPE_CHECKING

from mbros.describe.contacts import NUMBERS
from mbros.describe.mujoco_contact import friction_numbers
from mbros.describe.urdf.numbers import parse_finite_float, shorten
from mbros.errors import MbrosError

if TYPE_CHECKING:
    from mbros.describe.robot import BodyDescription, Collision
    from mbros.describe.urdf.context import Context
    from mbros.describe.urdf.xml import XmlElement

OWN, DRAKE, MUJOCO, GAZEBO = "mbros:contact", "drake:proximity_properties", "mujoco", "gazebo"
DRAKE_NUMBERS = {"drake:mu_dynamic": "friction", "drake:mu_static": "static_friction", "drake:point_contact_stiffness": "stiffness",
                 "drake:relaxation_time": "relaxation_time"}
GAZEBO_NUMBERS = ("mu1", "mu2", "kp", "kd")

# What mbros.describe.urdf.schema adds to its tables
READ = {
    OWN: ((*NUMBERS, "group"), ()),
    DRAKE: ((), tuple(DRAKE_NUMBERS)),
    **{tag: (("value",), ()) for tag in DRAKE_NUMBERS},
    f"collision/{MUJOCO}": ((), ("geom",)),
    "geom": (("friction", "condim", "solref"), ()),
}
IN_COLLISION = (OWN, DRAKE, MUJOCO)


def read_contact(context: Context, element: XmlElement, shape: Collision, label: str) -> None:
    """The numbers that stand in a <collision>, into its shape."""
    found: dict[str, float | None] = {}
    for tag, read in ((MUJOCO, _mujoco), (DRAKE, _drake), (OWN, _own)):
        holder = context.one(element, tag, label)
        if holder is not None:
            found.update(read(context, holder, label))
    for name, value in found.items():
        setattr(shape, name, value)
    own = next(iter(element.all(OWN)), None)
    if own is not None and "group" in own.attributes:
        shape.group = context.name(own, f"{label}, <{OWN}>", "group") or ""


def _own(context: Context, element: XmlElement, label: str) -> dict[str, float | None]:
    return {name: _number(context, element, name, name, label) for name in NUMBERS if name in element.attributes}


def _drake(context: Context, element: XmlElement, label: str) -> dict[str, float | None]:
    found = {}
    for tag, name in DRAKE_NUMBERS.items():
        holder = context.one(element, tag, label)
        if holder is not None:
            found[name] = _number(context, holder, "value", name, label)
    if "static_friction" in found and "friction" not in found:
        found["friction"] = found["static_friction"]            # as Drake has it: the one that is given is both
    return found


def _number(context: Context, element: XmlElement, attribute: str, name: str, label: str) -> float | None:
    """An attribute as the contact number `name`."""
    value = context.scalar(element, attribute, label, least=0.0)
    if value == 0.0 and name == "stiffness":
        context.problem(element.line, f"{label}, <{element.tag}>", f"{attribute} is 0", "A stiffness must be positive, N/m.")
        return None
    return value


def _mujoco(context: Context, element: XmlElement, label: str) -> dict[str, float | None]:
    """friction (sliding; torsional and rolling in metres, of which condim says whether they count) and solref (time constant, damping
    ratio) of a geom."""
    geom = context.one(element, "geom", label)
    if geom is None:
        return {}
    found: dict[str, float | None] = {}
    dimensions = context.scalar(geom, "condim", label, 3.0)
    if "friction" in geom.attributes:
        count = min(max(len(geom.attributes["friction"].split()), 1), 3)
        given = context.vector(geom, "friction", count, label, least=0.0)
        if given is not None and dimensions is not None:
            sliding, torsional, rolling = tuple(given) + (1.0, 0.005, 0.0001)[count:]
            found.update(friction_numbers(sliding, torsional, rolling, dimensions))
    elif dimensions == 1.0:
        found["friction"] = 0.0
    if "solref" in geom.attributes:
        given = context.vector(geom, "solref", 2, label)
        if given is not None and min(given) < 0.0:
            context.notes.add(("solref", "direct"), geom.line, f"{label}, <geom>", "solref is not used: stiffness and damping in MuJoCo's "
                              "direct form are per mass; mbros:contact takes them in N/m and s")
        elif given is not None:
            found["relaxation_time"] = given[0] * given[1] ** 2
            context.notes.add(("solref", "time"), geom.line, f"{label}, <geom>", "solref is read as relaxation_time = time constant * "
                              "damping ratio squared; the stiffness stays the default, as MuJoCo's depends on the masses that touch")
    return found


# ------------------------------------------------------------------------------------------------------------------ Gazebo


def gazebo_elements(root: XmlElement) -> list[XmlElement]:
    """Those <gazebo reference="..."> that hold contact numbers."""
    return [element for element in root.all(GAZEBO) if "reference" in element.attributes
            and any(child.tag in GAZEBO_NUMBERS for child in element.children)]


def read_gazebo(context: Context, root: XmlElement, bodies: dict[str, BodyDescription]) -> None:
    """mu1, mu2, kp and kd of links, into those of their shapes that are given nothing else. What cannot be read is noted: it is for another
    program."""
    for element in gazebo_elements(root):
        link = element.attributes["reference"]
        label = f"<gazebo reference={shorten(link)}>"
        given = {child.tag: value for child in element.children if child.tag in GAZEBO_NUMBERS
                 and (value := _of_gazebo(context, child, label)) is not None}
        if link not in bodies:
            context.notes.add((GAZEBO, "link"), element.line, label, "its contact numbers are not used: there is no such link", "warning")
            continue
        found = {"friction": given["mu1"]} if "mu1" in given else {"friction": given["mu2"]} if "mu2" in given else {}
        if given.get("mu2", found.get("friction")) != found.get("friction"):
            context.notes.add((GAZEBO, "mu2"), element.line, label, f"mu1 is {given['mu1']:g} and mu2 is {given['mu2']:g}: friction here "
                              "is the same in all directions, mu1 is taken", "warning")
        if given.get("kp", 0.0) > 0.0:
            found["stiffness"] = given["kp"]
            if "kd" in given:
                found["relaxation_time"] = given["kd"] / given["kp"]
                context.notes.add((GAZEBO, "kd"), element.line, label, "kp is read as stiffness, kd as relaxation_time = kd / kp")
        elif "kp" in given or "kd" in given:
            context.notes.add((GAZEBO, "kp"), element.line, label, "its kp and kd are not used: kp must be positive")
        for shape in bodies[link].collisions:
            for name, value in found.items():
                if getattr(shape, name, 0.0) is None:
                    setattr(shape, name, value)


def _of_gazebo(context: Context, element: XmlElement, label: str) -> float | None:
    """The number of <mu1>0.8</mu1> or <mu1 value="0.8"/>; None, with a note, for none, and for negative ones."""
    text = element.attributes.get("value", element.text).strip()
    try:
        value = parse_finite_float(text)
        reason = f"{shorten(text)} is negative"
    except MbrosError as error:
        value, reason = -1.0, str(error)
    if value < 0.0:
        context.notes.add((GAZEBO, element.tag), element.line, f"{label}, <{element.tag}>", f"not used: {reason}", "warning")
    return value if value >= 0.0 else None
