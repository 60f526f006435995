"""A finding about a part of a description, with the name and the place its author gave it."""
from __future__ import annotations

from mbros.describe.robot import Body, Joint, RobotDescription
from mbros.errors import ModelError, Problem, UrdfError


def label(element) -> str:
    """How messages name an element."""
    return f"{'body' if isinstance(element, Body) else 'joint' if isinstance(element, Joint) else 'frame'} {element.name!r}"


def problem(element, reason, remedy="", severity="error", part="") -> Problem:
    source = element.source
    name = label(element)
    if source.file is not None:
        name = name.replace("body", "link", 1) if isinstance(element, Body) else name
    return Problem(name + (f", {part}" if part else ""), reason, remedy, source.file, source.line, severity)


def error_class(description: RobotDescription):
    return UrdfError if description.text is not None else ModelError
