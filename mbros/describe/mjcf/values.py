"""Attributes as MJCF writes them: numbers of which the last may be left out, words of a list, true, false and auto."""
from __future__ import annotations

from typing import TYPE_CHECKING

from mbros.describe.urdf.numbers import parse_vector, shorten
from mbros.errors import MbrosError
from mbros.names import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbros.describe.urdf.context import Context
    from mbros.describe.urdf.xml import XmlElement


def several(context: Context, element: XmlElement, attribute: str, label: str, default: Sequence[float],
            least: int = 1) -> tuple[float, ...]:
    """As many numbers as `default` has, which stands for those that are left out at the end. least: how many must be there."""
    text = element.attributes.get(attribute)
    if text is None:
        return tuple(default)
    count = len(text.split())
    try:
        if not least <= count <= len(default):
            raise MbrosError(f"{shorten(text)} has {count} numbers, expected {least} to {len(default)}")
        return (*parse_vector(text, count), *default[count:])
    except MbrosError as error:
        context.problem(element.line, f"{label}, <{element.tag}>", f"{attribute}={error}", f"Write {least} to {len(default)} finite "
                                                                                           "numbers.")
        return tuple(default)


def number(context: Context, element: XmlElement, attribute: str, label: str, default: float) -> float:
    return several(context, element, attribute, label, (default,))[0]


def vector(context: Context, element: XmlElement, attribute: str, label: str, default: Sequence[float]) -> tuple[float, ...]:
    """All of them or none."""
    return several(context, element, attribute, label, default, len(default))


def numbers(context: Context, element: XmlElement, attribute: str, label: str) -> tuple[float, ...]:
    """Any number of numbers."""
    text = element.attributes.get(attribute, "")
    try:
        return parse_vector(text, len(text.split())) if text.strip() else ()
    except MbrosError as error:
        context.problem(element.line, f"{label}, <{element.tag}>", f"{attribute}={error}", "Write finite numbers.")
        return ()


def word(context: Context, element: XmlElement, attribute: str, label: str, known: Sequence[str], default: str) -> str:
    """One of the words that an attribute may be."""
    text = element.attributes.get(attribute, default)
    if text in known:
        return text
    near = did_you_mean(text, known)
    context.problem(element.line, f"{label}, <{element.tag}>", f"{attribute}={shorten(text)} is unknown"
                    + (f"; did you mean {near!r}?" if near else ""), "There are " + ", ".join(known) + ".")
    return default


def truth(context: Context, element: XmlElement, attribute: str, label: str, default: bool) -> bool:
    return word(context, element, attribute, label, ("false", "true"), "true" if default else "false") == "true"


def limited(context: Context, element: XmlElement, attribute: str, range_of: str, label: str,
            autolimits: bool) -> tuple[float, float] | None:
    """The range that counts, in the units of the file, or None: of `limited`, which is true, false or auto, and auto asks whether there
    is a range."""
    said = word(context, element, attribute, label, ("false", "true", "auto"), "auto")
    lower, upper = vector(context, element, range_of, label, (0.0, 0.0))
    given = range_of in element.attributes and (lower, upper) != (0.0, 0.0)
    if said == "auto" and given and not autolimits:
        context.problem(element.line, f"{label}, <{element.tag}>", f"it has {range_of} and no {attribute}, and autolimits is false",
                        f'Write {attribute}="true" or "false".')
    if said == "false" or said == "auto" and not given:
        return None
    if not lower < upper:
        context.problem(element.line, f"{label}, <{element.tag}>", f"{range_of} is {lower:g} to {upper:g}",
                        "Give the smaller number first.")
        return None
    return lower, upper
