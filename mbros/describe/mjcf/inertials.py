"""Mass and inertia of bodies: what <inertial> says, or what their geoms have, and what <compiler> makes of it."""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbros.describe.mjcf.poses import read_pose
from mbros.describe.mjcf.values import number, vector
from mbros.spatial.inertia import compose, rotate, rotational_inertia

if TYPE_CHECKING:
    from mbros.describe.mjcf.geoms import GeomMass
    from mbros.describe.mjcf.reading import MjcfReading
    from mbros.describe.robot import BodyDescription
    from mbros.describe.urdf.xml import XmlElement

LIGHTEST = 1e-14            # kg: a geom with less has no part in the inertia


def body_inertia(reading: MjcfReading, body: BodyDescription, given: list[XmlElement], parts: list[GeomMass], label: str) -> None:
    """Fills mass, com and inertia of a body."""
    settings = reading.settings
    if len(given) > 1:
        reading.context.problem(given[1].line, label, "it has two <inertial> elements", "Keep one.")
    if given and settings.inertiafromgeom != "true":
        _explicit(reading, body, given[0], label)
    elif settings.inertiafromgeom != "false":
        low, high = settings.group_range
        heavy = [part for part in parts if low <= part.group <= high and part.mass > LIGHTEST]
        if heavy:
            body.mass, body.com, body.inertia = compose((part.mass, part.com, part.inertia) for part in heavy)
    if given and settings.inertiafromgeom == "true":
        reading.note("inertiafromgeom", given[0], label, "<inertial> is not used: inertiafromgeom is true")
    if settings.boundmass or settings.boundinertia or settings.balanceinertia:
        _bounded(reading, body)


def _explicit(reading: MjcfReading, body: BodyDescription, element: XmlElement, label: str) -> None:
    context = reading.context
    for name in ("mass", "pos"):
        if name not in element.attributes:
            context.problem(element.line, f"{label}, <inertial>", f"attribute {name!r} is missing", f'Write <inertial {name}="...">.')
    X = read_pose(context, element, reading.settings, label)
    body.mass, body.com = number(context, element, "mass", label, 0.0), X.p
    if "fullinertia" in element.attributes:
        if "diaginertia" in element.attributes or X.R is not None and not np.array_equal(X.R, np.eye(3)):
            context.problem(element.line, f"{label}, <inertial>", "it has fullinertia and diaginertia, or fullinertia and an orientation",
                            "fullinertia is along the axes of the body: give it alone.")
        I = rotational_inertia(*vector(context, element, "fullinertia", label, (0.0,) * 6))
    else:
        I = np.diag(vector(context, element, "diaginertia", label, (0.0, 0.0, 0.0)))
    body.inertia = I if X.R is None else rotate(I, X.R)


def _bounded(reading: MjcfReading, body: BodyDescription) -> None:
    """boundmass, boundinertia and balanceinertia, on the principal moments."""
    settings = reading.settings
    body.mass = max(body.mass, settings.boundmass)
    if not np.isfinite(body.inertia).all():
        return
    moments, R = np.linalg.eigh(body.inertia)
    wanted = np.maximum(moments, settings.boundinertia)
    if settings.balanceinertia and wanted.min() >= 0.0 and 2.0 * wanted.max() > wanted.sum():
        wanted = np.full(3, wanted.mean())
    if (wanted != moments).any():
        body.inertia = (R * wanted) @ R.T
        body.inertia = 0.5 * (body.inertia + body.inertia.T)


def scale_to_total(reading: MjcfReading) -> None:
    """settotalmass: all masses and inertias, by one factor."""
    wanted, bodies = reading.settings.settotalmass, reading.description.bodies
    total = sum(body.mass for body in bodies)
    if wanted > 0.0 and total > 0.0:
        for body in bodies:
            body.mass *= wanted / total
            body.inertia = body.inertia * (wanted / total)
