"""A finding about a part of a description, with the name and the place its author gave it."""
from __future__ import annotations

from typing import TYPE_CHECKING

from mbros.describe.robot import BodyDescription, JointDescription, RobotDescription
from mbros.errors import ModelError, Problem, UrdfError

if TYPE_CHECKING:
    from mbros.describe.robot import FrameDescription


def label(element: BodyDescription | JointDescription | FrameDescription) -> str:
    """How messages name an element."""
    what = 'body' if isinstance(element, BodyDescription) else 'joint' if isinstance(element, JointDescription) else 'frame'
    return f"{what} {element.name!r}"


def problem(element: BodyDescription | JointDescription | FrameDescription, reason: str, remedy: str = "", severity: str = "error",
            part: str = "") -> Problem:
    source = element.source
    name = label(element)
    if source.file is not None:
        name = name.replace("body", "link", 1) if isinstance(element, BodyDescription) else name
    return Problem(name + (f", {part}" if part else ""), reason, remedy, source.file, source.line, severity)


def error_class(description: RobotDescription) -> type[ModelError]:
    return UrdfError if description.text is not None else ModelError


def note(description: RobotDescription, finding: Problem) -> None:
    """Adds a note that is not there yet: a description may be compiled more than once."""
    if all((finding.element, finding.reason) != (other.element, other.reason) for other in description.notes):
        description.notes.append(finding)
