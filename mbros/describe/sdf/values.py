"""What the SDF readers share: values, which are texts of elements here, read as strictly as the attributes of a URDF.

Problems and notes are collected by the `Context` of mbros.describe.urdf. A reading function that finds a problem says so there and gives
None, or the default.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbros.describe.urdf.context import REQUIRED
from mbros.describe.urdf.numbers import parse_vector, shorten
from mbros.spatial.placement import Placement, rotation_from_quat_wxyz, rotation_from_rpy

if TYPE_CHECKING:
    from mbros.describe.urdf.context import Context
    from mbros.describe.urdf.xml import XmlElement

LONGEST = 1000              # characters of a text that is kept (mbros.describe.urdf.xml)
WORDS = {"true": True, "1": True, "false": False, "0": False}
NO_LIMIT = 1e15             # and beyond: what is written for "none"


def text(context: Context, parent: XmlElement, tag: str, label: str) -> str | None:
    """The text of the child `tag`, without blanks around it; None where there is none."""
    element = context.one(parent, tag, label)
    return None if element is None else element.text.strip()


def vector(context: Context, element: XmlElement, size: int, label: str, least: float | None = None) -> tuple[float, ...] | None:
    """The text of an element as `size` numbers; None, with a problem, where it is none. least: the smallest allowed."""
    where = f"{label}, <{element.tag}>"
    given = element.text.strip()
    if len(element.text) >= LONGEST:
        context.problem(element.line, where, f"its text is {LONGEST} characters long or longer", f"Write {size} numbers.")
        return None
    try:
        values = parse_vector(given, size)
    except ValueError as error:
        wanted = f"{size} finite decimal number{'s separated by blanks' if size > 1 else ''}"
        context.problem(element.line, where, str(error), f"Write {wanted}.")
        return None
    if least is not None and min(values) < least:
        context.problem(element.line, where, f"{shorten(given)} is below {least:g}", f"It must be {least:g} or more.")
        return None
    return values


def numbers(context: Context, parent: XmlElement, tag: str, size: int, label: str, default: Any = REQUIRED,
            least: float | None = None) -> Any:
    """The child `tag` as a tuple of `size` numbers; `default` where there is none, a problem where there is no default."""
    element = context.one(parent, tag, label)
    if element is None and default is REQUIRED:
        context.problem(parent.line, label, f"<{tag}> is missing", f"Write <{tag}>{' '.join(['...'] * size)}</{tag}>.")
        return None
    return default if element is None else vector(context, element, size, label, least)


def number(context: Context, parent: XmlElement, tag: str, label: str, default: Any = REQUIRED, least: float | None = None) -> Any:
    """The child `tag` as a number; `default` where there is none, None where it is wrong."""
    found = numbers(context, parent, tag, 1, label, default if default is REQUIRED else (default,), least)
    return None if found is None else found[0]


def bound(context: Context, parent: XmlElement, tag: str, label: str, default: float) -> float:
    """The child `tag` as a limit: inf, or a number so large that it means none, is infinite."""
    element = context.one(parent, tag, label)
    if element is None:
        return default
    given = element.text.strip().lower()
    if given.lstrip("+-") in ("inf", "infinity"):
        return -np.inf if given.startswith("-") else np.inf
    found = vector(context, element, 1, label)
    value = default if found is None else found[0]
    return float(np.copysign(np.inf, value)) if abs(value) >= NO_LIMIT else value


def flag(context: Context, parent: XmlElement, tag: str, label: str, default: bool = False) -> bool:
    """The child `tag` as true or false."""
    element = context.one(parent, tag, label)
    return default if element is None else said(context, element, element.text.strip(), label, default)


def flag_of(context: Context, element: XmlElement, attribute: str, label: str) -> bool:
    """An attribute as true or false; false where there is none."""
    given = element.attributes.get(attribute)
    return False if given is None else said(context, element, given.strip(), f"{label}, {attribute}", False)


def said(context: Context, element: XmlElement, given: str, label: str, default: bool) -> bool:
    """A word as true or false."""
    if given.lower() not in WORDS:
        context.problem(element.line, f"{label}, <{element.tag}>", f"{shorten(given)} is neither true nor false", "Write true or false.")
    return WORDS.get(given.lower(), default)


def pose(context: Context, parent: XmlElement, label: str) -> tuple[Placement, str]:
    """(X, the name of the frame that it is relative to, "" where it says none) of the child <pose>; the identity where there is none."""
    element = context.one(parent, "pose", label)
    if element is None:
        return Placement(), ""
    relative_to = element.attributes.get("relative_to", element.attributes.get("frame", ""))
    return placement(context, element, label), relative_to


def placement(context: Context, element: XmlElement, label: str) -> Placement:
    """X of a <pose>: x y z and roll pitch yaw (rad; degrees="true": degrees), or a quaternion x y z w (rotation_format="quat_xyzw")."""
    form = element.attributes.get("rotation_format", "euler_rpy")
    degrees = flag_of(context, element, "degrees", label)
    if form not in ("euler_rpy", "quat_xyzw"):
        context.problem(element.line, f"{label}, <{element.tag}>", f"rotation_format={shorten(form)} is unknown",
                        "There are euler_rpy and quat_xyzw.")
        return Placement()
    if form == "quat_xyzw" and degrees:
        context.problem(element.line, f"{label}, <{element.tag}>", "it has a quaternion in degrees", "Leave degrees out.")
        return Placement()
    if not element.text.strip():
        return Placement()                          # as SDF has it
    values = vector(context, element, 6 if form == "euler_rpy" else 7, label)
    if values is None:
        return Placement()
    p, turn = np.array(values[:3]), values[3:]
    if form == "euler_rpy":
        turn = tuple(np.radians(turn)) if degrees else turn
        return Placement(rotation_from_rpy(turn) if any(turn) else None, p)
    size = float(np.linalg.norm(turn))
    if not 1e-6 < size < 1e6:
        context.problem(element.line, f"{label}, <{element.tag}>", f"its quaternion {turn} has length {size:g}", "Write one of length 1.")
        return Placement()
    if abs(size - 1.0) > 1e-6:
        context.notes.add("quaternion", element.line, f"{label}, <{element.tag}>", f"its quaternion has length {size:.6g} and was "
                          "normalised")
    return Placement(rotation_from_quat_wxyz((turn[3], *turn[:3])), p)


__all__ = ["REQUIRED", "bound", "flag", "flag_of", "number", "numbers", "placement", "pose", "text", "vector"]
