"""<worldbody> and the bodies in it: depth first, in the order of the file, with <frame> and <replicate> taken apart.

A <frame> is no body: what stands in it stands in the body around it, at the frame's pose. <replicate> repeats what it holds `count`
times, each time moved and turned on by `offset` and `euler`, with a number behind the names.
"""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbros.describe.mjcf.defaults import MAIN
from mbros.describe.mjcf.geoms import read_geom
from mbros.describe.mjcf.inertials import body_inertia
from mbros.describe.mjcf.joints import read_joints
from mbros.describe.mjcf.poses import read_pose, to_z, turned, unit
from mbros.describe.mjcf.reading import MOST_LINKS
from mbros.describe.mjcf.values import number, truth, vector
from mbros.describe.robot import BodyDescription
from mbros.describe.urdf.numbers import shorten
from mbros.names import no_name
from mbros.spatial.placement import Placement

if TYPE_CHECKING:
    from mbros.describe.mjcf.reading import MjcfReading
    from mbros.describe.urdf.xml import XmlElement

    # an element of a body, the pose of the frames around it, its default class, and what follows its name
    Item = tuple[XmlElement, Placement, str, str]

MOST_ITEMS = 20_000         # elements of bodies, those that are repeated as often as they are
MOST_SITES = 4000
REFUSED = {"composite": "composites", "flexcomp": "deformable bodies", "attach": "models inside models"}
OF_VIEWERS = ("camera", "light")


def read_bodies(reading: MjcfReading) -> None:
    """All bodies, joints, shapes and sites, into the description; sites last, which take other names than bodies."""
    left = [MOST_ITEMS]
    sites: list[tuple[BodyDescription, list[Item]]] = []
    stack: list[tuple[XmlElement, BodyDescription, Item]] = []
    for world in reading.root.all("worldbody"):
        for name in world.attributes:
            reading.note(("worldbody", name), world, "<worldbody>", f"attribute {shorten(name)} is not used: the world has none", "warning")
        items = _flat(reading, world, Placement(), MAIN, "", left)
        _on_world(reading, items)
        sites.append((reading.description.world, items))
        stack += [(item[0], reading.description.world, item) for item in reversed(items) if item[0].tag == "body"]
        while stack:
            element, parent, item = stack.pop()
            found = _body(reading, element, parent, item, left)
            if found is None:
                return
            body, items = found
            sites.append(found)
            stack += [(inner[0], body, inner) for inner in reversed(items) if inner[0].tag == "body"]
    for body, items in sites:
        _sites(reading, body, items)


def _flat(reading: MjcfReading, holder: XmlElement, X: Placement, childclass: str, suffix: str, left: list[int]) -> list[Item]:
    """The elements of a body, of the frames in it and of what is repeated in it."""
    found: list[Item] = []
    for child in holder.children:
        left[0] -= 1
        if left[0] < 0:
            reading.context.problem(child.line, f"<{child.tag}>", f"the bodies have more than {MOST_ITEMS} elements", "Repeat less.")
            return found
        if child.tag == "frame":
            inner = X @ read_pose(reading.context, child, reading.settings, "frame")
            found += _flat(reading, child, inner, _class(reading, child, childclass), suffix, left)
        elif child.tag == "replicate":
            found += _repeated(reading, child, X, childclass, suffix, left)
        elif child.tag in REFUSED:
            reading.context.problem(child.line, f"<{child.tag}>", f"{REFUSED[child.tag]} are not read",
                                    "Leave it out, or write the model as one with mj_saveLastXML of MuJoCo.")
        else:
            found.append((child, X, childclass, suffix))
    return found


def _class(reading: MjcfReading, element: XmlElement, childclass: str) -> str:
    reading.defaults.of(element, childclass, "childclass")
    return element.attributes.get("childclass", childclass)


def _repeated(reading: MjcfReading, element: XmlElement, X: Placement, childclass: str, suffix: str, left: list[int]) -> list[Item]:
    context, label = reading.context, "replicate"
    count = int(min(max(number(context, element, "count", label, 0.0), 0.0), 1e6))
    offset, euler = (np.array(vector(context, element, name, label, (0.0, 0.0, 0.0))) for name in ("offset", "euler"))
    childclass = _class(reading, element, childclass)
    found: list[Item] = []
    p = np.zeros(3)
    for i in range(count):
        if left[0] < 0:
            break
        R = turned(i * euler, reading.settings)
        places = len(str(count))
        found += _flat(reading, element, X @ Placement(R, p), childclass, f"{element.attributes.get('sep', '')}{i:0{places}d}{suffix}",
                       left)
        p = p + R @ offset
    return found


def _body(reading: MjcfReading, element: XmlElement, parent: BodyDescription, item: Item,
          left: list[int]) -> tuple[BodyDescription, list[Item]] | None:
    context = reading.context
    _, X_frame, childclass, suffix = item
    if len(reading.carrier) >= MOST_LINKS:
        context.problem(element.line, "<body>", f"there are more than {MOST_LINKS} bodies", "Split the model.")
        return None
    given = element.attributes.get("name", "") + suffix if "name" in element.attributes else ""
    if given and given in reading.bodies:
        context.problem(element.line, f"body {shorten(given)}", "this name is already taken by another body", "Give every body a name of "
                                                                                                              "its own.")
    name = reading.name(element, f"body{len(reading.carrier) + 1}", reading.names, suffix)
    label = f"body {shorten(name)}"
    childclass = _class(reading, element, childclass)
    X_PB = X_frame @ read_pose(context, element, reading.settings, label)
    body = BodyDescription(name, source=context.source(element))
    if given:
        reading.bodies.setdefault(given, body)
    reading.X_WB[id(body)] = reading.X_WB[id(parent)] @ X_PB
    items = _flat(reading, element, Placement(), childclass, suffix, left)
    joints = [each for each in items if each[0].tag in ("joint", "freejoint")]
    read_joints(reading, body, parent, X_PB, joints)
    inertials = [each[0] for each in items if each[0].tag == "inertial"]
    reading.explicit = bool(inertials) and reading.settings.inertiafromgeom != "true"
    parts = [part for each in items if each[0].tag == "geom" and (part := read_geom(reading, body, *each,
                                                                                    f"a geom of {label}")) is not None]
    body_inertia(reading, body, inertials, parts, label)
    if truth(context, element, "mocap", label, False):
        reading.note("mocap", element, label, "mocap is not used: the body does not move here", "warning")
    gravcomp = number(context, element, "gravcomp", label, 0.0)
    if gravcomp:
        reading.gravcomp.append((body, gravcomp, element))
    return body, items


def _on_world(reading: MjcfReading, items: list[Item]) -> None:
    world = reading.description.world
    for each in items:
        if each[0].tag == "geom":
            read_geom(reading, world, *each, "a geom of the world")
        elif each[0].tag in ("joint", "freejoint", "inertial"):
            reading.context.problem(each[0].line, f"<{each[0].tag}> in <worldbody>", "the world does not move", "Put it into a <body>.")


def _sites(reading: MjcfReading, body: BodyDescription, items: list[Item]) -> None:
    """Sites are frames."""
    for element, X, childclass, suffix in items:
        if element.tag in OF_VIEWERS:
            reading.note(element.tag, element, f"<{element.tag}>", "not used: for viewers")
        if element.tag != "site":
            continue
        name = element.attributes.get("name", "")
        if not name:
            reading.note("site", element, "<site>", "not used: it has no name")
            continue
        if len(reading.sites) >= MOST_SITES:
            reading.context.problem(element.line, "<site>", f"there are more than {MOST_SITES} sites", "Leave some out.")
            return
        name += suffix
        label = f"site {shorten(name)}"
        filled = reading.defaults.filled(element, childclass)
        if "fromto" in filled.attributes:
            ends = np.array(vector(reading.context, filled, "fromto", label, (0.0,) * 6)).reshape(2, 3)
            direction = unit(ends[0] - ends[1])
            if direction is None:
                reading.context.problem(element.line, label, "the ends of its fromto are the same point", "Give two.")
                continue
            X_BS = X @ Placement(to_z(direction), ends.mean(axis=0))
        else:
            X_BS = X @ read_pose(reading.context, filled, reading.settings, label)
        if name in reading.sites:
            reading.context.problem(element.line, label, "this name is already taken by another site", "Give every site a name of its own.")
            continue
        wrong = no_name(name)
        if wrong is not None:
            reading.context.problem(element.line, "<site>", *wrong)
            continue
        reading.sites[name] = reading.frame(name if name not in reading.names else f"{name}_site", body, X_BS, element)
        if reading.sites[name].name != name:
            reading.note(("renamed", "site"), element, label, f"it is called {reading.sites[name].name!r} here: a body or frame has its "
                                                              "name")
