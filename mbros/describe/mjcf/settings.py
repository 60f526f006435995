"""<compiler> and <option>: how the rest of the file is meant."""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from mbros_core.support.records import record

from mbros.describe.mjcf.values import number, truth, vector, word
from mbros.describe.robot import GRAVITY

if TYPE_CHECKING:
    from mbros.describe.urdf.context import Context
    from mbros.describe.urdf.xml import XmlElement

SECTIONS = ("compiler", "option")


@record(eq=False)
class Settings:
    """degree: angles are in degrees. group_range: of the geoms that have mass."""

    degree: bool = True
    eulerseq: str = "xyz"
    autolimits: bool = True
    inertiafromgeom: str = "auto"
    group_range: tuple[float, ...] = (0.0, 5.0)
    meshdir: str = ""
    boundmass: float = 0.0
    boundinertia: float = 0.0
    settotalmass: float = -1.0
    balanceinertia: bool = False
    discardvisual: bool = False
    strippath: bool = False
    fitaabb: bool = False
    gravity: tuple[float, ...] = GRAVITY
    contact: bool = True
    disabled: tuple[str, ...] = ()          # flags that are off

    @property
    def angle(self) -> float:
        """Radians of one unit of an angle of the file."""
        return float(np.pi / 180.0) if self.degree else 1.0


def read_settings(context: Context, root: XmlElement) -> Settings:
    """Of all <compiler> and <option> elements, which add up; the last that says something counts."""
    found = Settings()
    for element in root.all("compiler"):
        _compiler(context, element, found)
    for element in root.all("option"):
        found.gravity = vector(context, element, "gravity", "option", found.gravity)
        for name in ("wind", "density", "viscosity"):
            if any(part not in ("0", "0.0") for part in element.attributes.get(name, "0").split()):
                context.notes.add(("option", name), element.line, "<option>", f"{name} is not used: there is no fluid here", "warning")
        for flags in element.all("flag"):
            off = [name for name in flags.attributes if word(context, flags, name, "option", ("enable", "disable"), "enable") == "disable"]
            found.disabled = (*(name for name in found.disabled if name not in flags.attributes), *off)
    if "gravity" in found.disabled:
        found.gravity = (0.0, 0.0, 0.0)
    found.contact = not {"contact", "constraint"} & set(found.disabled)
    return found


def _compiler(context: Context, element: XmlElement, found: Settings) -> None:
    label = "compiler"
    if element.attributes.get("coordinate", "local") != "local":
        context.problem(element.line, "<compiler>", "coordinate is 'global', which MuJoCo gave up in 2.3.4",
                        "Load and save the model with MuJoCo 2.3.3, which writes local coordinates.")
    found.degree = word(context, element, "angle", label, ("radian", "degree"), "degree" if found.degree else "radian") == "degree"
    sequence = element.attributes.get("eulerseq", found.eulerseq)
    if len(sequence) == 3 and set(sequence.lower()) <= set("xyz"):
        found.eulerseq = sequence
    else:
        context.problem(element.line, "<compiler>", f"eulerseq is {sequence[:20]!r}", "Give three of x, y, z (turning axes) and X, Y, Z "
                                                                                      "(fixed).")
    for name in ("autolimits", "balanceinertia", "discardvisual", "strippath", "fitaabb"):
        setattr(found, name, truth(context, element, name, label, getattr(found, name)))
    for name in ("boundmass", "boundinertia", "settotalmass"):
        setattr(found, name, number(context, element, name, label, getattr(found, name)))
    found.inertiafromgeom = word(context, element, "inertiafromgeom", label, ("false", "true", "auto"), found.inertiafromgeom)
    found.group_range = vector(context, element, "inertiagrouprange", label, found.group_range)
    for name in ("assetdir", "meshdir"):
        found.meshdir = element.attributes.get(name, found.meshdir)
