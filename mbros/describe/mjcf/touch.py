"""What touches what, and how: contype and conaffinity, <contact><pair> and <exclude>, friction, condim, solref, solimp.

Two geoms touch where (contype1 & conaffinity2) or (contype2 & conaffinity1), or a <pair> names them. All other pairs become groups and
exclusions of shapes.
"""
from __future__ import annotations

from typing import TYPE_CHECKING

from mbros.describe.mjcf.reading import GEOMS
from mbros.describe.mjcf.values import number, several
from mbros.describe.mujoco_contact import compliance, friction_numbers
from mbros.describe.robot import Exclusion
from mbros.describe.urdf.numbers import shorten

if TYPE_CHECKING:
    from mbros.describe.mjcf.reading import MjcfReading
    from mbros.describe.robot import Collision
    from mbros.describe.urdf.xml import XmlElement

FRICTION = (1.0, 0.005, 0.0001)         # MuJoCo's own, where nobody gives one
SOLREF, SOLIMP = (0.02, 1.0), (0.9, 0.95, 0.001, 0.5, 2.0)
MOST_PAIRS = 300_000                    # that are left out one by one
NO_CONTACT = "contype and conaffinity"


def contact_numbers_of(reading: MjcfReading, element: XmlElement, label: str) -> dict[str, float | None]:
    """friction and its radii of a geom. What solref and solimp say needs the masses: set_compliance."""
    context = reading.context
    friction = several(context, element, "friction", label, FRICTION)
    condim = number(context, element, "condim", label, 3.0)
    if condim not in (1.0, 3.0, 4.0, 6.0):
        context.problem(element.line, label, f"condim is {condim:g}", "It is 1 (no friction), 3, 4 or 6.")
    if min(friction) < 0.0:
        context.problem(element.line, label, f"friction is {element.attributes['friction'][:80]!r}", "It must be zero or more.")
        return {}
    return friction_numbers(friction[0], friction[1], friction[2], condim)


def set_compliance(reading: MjcfReading) -> None:
    """solref and solimp of geoms as stiffness and relaxation time, of those that have them: for the mass of the tree that a geom is part
    of, or the heaviest one where it stands still."""
    if not any(name in element.attributes for _, _, element in reading.collisions for name in ("solref", "solimp")):
        return
    trees = _trees(reading)
    masses: dict[int, float] = {}
    for body in reading.description.bodies:
        masses[trees[id(body)]] = masses.get(trees[id(body)], 0.0) + body.mass
    still = trees[id(reading.description.world)]
    heaviest = max((mass for tree, mass in masses.items() if tree != still), default=0.0)
    for body, shape, element in reading.collisions:
        if not ("solref" in element.attributes or "solimp" in element.attributes):
            continue
        label = f"geom {shorten(shape.name)}" if shape.name else f"a geom of body {body.name!r}"
        solref = several(reading.context, element, "solref", label, SOLREF)
        solimp = several(reading.context, element, "solimp", label, SOLIMP)
        tree = trees[id(body)]
        found = compliance(solref, solimp, heaviest if tree == still else masses[tree])
        for name, value in found.items():
            setattr(shape, name, value)
        if found:
            reading.note("solref", element, label, "solref and solimp are read as stiffness and relaxation time, for the mass of the whole "
                         "robot (docs/mjcf.md)")
        else:
            reading.context.problem(element.line, label, f"solref is {element.attributes.get('solref', '')[:80]!r}",
                                    "Give two positive numbers, time constant and damping ratio, or two negative ones.")


def _trees(reading: MjcfReading) -> dict[int, int]:
    """Of every body: the id of the outermost body that moves with it, or of the world."""
    world = id(reading.description.world)
    found = {world: world}
    for joint in reading.description.joints:            # parents come first
        above = found[id(joint.parent)]
        found[id(joint.child)] = id(joint.child) if above == world and joint.nv else above
    return found


def read_contact(reading: MjcfReading) -> None:
    """Groups and exclusions of the description."""
    description, context = reading.description, reading.context
    pairs: set[tuple[int, int]] = set()
    for section in reading.root.all("contact"):
        for element in section.all("exclude"):
            ends = [reading.named(element, name, "body", reading.bodies, "<exclude>") for name in ("body1", "body2")]
            if None not in ends and ends[0] is not ends[1]:
                description.exclusions.append(Exclusion(ends[0], ends[1], "", context.source(element)))
        for element in section.all("pair"):
            filled = reading.defaults.filled(element)
            shapes = [reading.named(filled, name, "geom", reading.geoms, "<pair>") for name in GEOMS]
            if None not in shapes:
                pairs.add(_key(shapes[0], shapes[1]))
            for name in ("condim", "friction", "solref", "solreffriction", "solimp", "gap", "margin", "adhesion"):
                if name in filled.attributes:
                    reading.note(("pair", name), filled, "<pair>", f"{name} is not used: shapes have numbers of their own here, pairs none",
                                 "warning")
    _neighbours(reading)
    _filter(reading, pairs)
    if reading.settings.contact and any(body is description.world for body, _, _ in reading.collisions):
        description.collisions = True
    if not reading.settings.contact:
        description.collisions = False


def _neighbours(reading: MjcfReading) -> None:
    """The two bodies that several joints connect, as one does; not on the world."""
    if "filterparent" in reading.settings.disabled:
        reading.context.notes.add("filterparent", None, "<flag>", "filterparent is not used: neighbours do not touch here", "warning")
    for joints in reading.joints_of.values():
        if len(joints) > 1 and joints[0].parent is not reading.description.world:
            reading.description.exclusions.append(Exclusion(joints[0].parent, joints[-1].child, "joint", joints[0].source))


def _key(a: Collision, b: Collision) -> tuple[int, int]:
    return (id(a), id(b)) if id(a) < id(b) else (id(b), id(a))


def _filter(reading: MjcfReading, pairs: set[tuple[int, int]]) -> None:
    """What contype and conaffinity keep apart and no <pair> names."""
    classes: dict[tuple[int, int], list[tuple[int, Collision]]] = {}
    for body, shape, element in reading.collisions:
        bits = tuple(int(number(reading.context, element, name, "geom", 1.0)) for name in ("contype", "conaffinity"))
        classes.setdefault((bits[0], bits[1]), []).append((id(body), shape))
    named = {each for pair in pairs for each in pair}
    kinds, left = list(classes), MOST_PAIRS
    for i, one in enumerate(kinds):
        for other in kinds[i:]:
            if one[0] & other[1] or other[0] & one[1]:
                continue
            if one == other and not any(id(shape) in named for _, shape in classes[one]):
                for _, shape in classes[one]:
                    shape.group = f"contype {one[0]} conaffinity {one[1]}"
                continue
            left -= len(classes[one]) * len(classes[other])
            if left < 0:
                reading.context.problem(reading.collisions[0][2].line, "<geom>", f"contype and conaffinity keep more than {MOST_PAIRS} "
                                        "pairs of geoms apart", "Write fewer combinations of them.")
                return
            for k, (at, shape) in enumerate(classes[one]):
                for at_2, shape_2 in classes[other][k + 1 if one == other else 0:]:
                    if at != at_2 and _key(shape, shape_2) not in pairs:
                        reading.description.exclusions.append(Exclusion(shape, shape_2, NO_CONTACT, shape.source))
