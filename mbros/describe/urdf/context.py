"""What the URDF readers share: collecting problems instead of stopping at the first, and reading attributes strictly."""
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from mbros.describe.urdf.numbers import parse_vector, shorten
from mbros.describe.urdf.schema import Notes
from mbros.errors import Problem, Source
from mbros.names import LONGEST, no_name, sentences
from mbros.spatial.placement import Placement, rotation_from_rpy

if TYPE_CHECKING:
    from mbros.describe.urdf.xml import XmlElement

REQUIRED = object()
UNITS = {"effort": " (N m or N)", "velocity": " (rad/s or m/s)"}
AS_GIVEN = "Where it is unknown: limits='as_given', --limits as_given of the commands, take it as without."


class Context:
    """problems: list of Problem, the first thousand of all `found`. notes: what was not used. limits: "check" or "as_given", see
    mbros.load. A reading method that finds a problem returns None."""

    def __init__(self, file: str, limits: str = "check") -> None:
        self.file, self.limits = file, limits
        self.problems: list[Problem] = []
        self.found = 0
        self.notes = Notes()
        self.taken: dict[int, set[Any]] = {}            # names of the bench's parts, by list
        self.of_looks = False                           # what is only seen is read: what is wrong there refuses no robot

    def problem(self, line: int | None, element: str, reason: str, remedy: str) -> None:
        if self.of_looks:
            self.notes.add(("looks", reason), line, element, sentences(f"{reason}; it is not shown as it was meant", remedy), "warning")
            return
        self.found += 1
        if self.found <= 1000:
            self.problems.append(Problem(element, reason, remedy, self.file, line))

    @contextmanager
    def looks(self) -> Iterator[None]:
        """While what is only seen is read: a <visual>, a <material>."""
        before, self.of_looks = self.of_looks, True
        try:
            yield
        finally:
            self.of_looks = before

    def source(self, element: XmlElement) -> Source:
        return Source(self.file, element.line)

    def one(self, parent: XmlElement, tag: str, label: str, required: bool = False) -> XmlElement | None:
        """The child `tag`, or None. Two of them are a problem, and so is none when it is required."""
        found = parent.all(tag)
        if len(found) > 1:
            self.problem(found[1].line, label, f"it has {len(found)} <{tag}> elements (the first at line {found[0].line})",
                         "Keep one.")
        if not found and required:
            self.problem(parent.line, label, f"<{tag}> is missing", _example(tag))
        return found[0] if found else None

    def name(self, element: XmlElement, label: str, attribute: str = "name") -> str | None:
        """A name (mbros.names.no_name), or None. A name of a file may hold what a name of an element may not."""
        value = element.attributes.get(attribute)
        if value is None:
            self.problem(element.line, label, f"attribute {attribute!r} is missing in <{element.tag}>",
                         f'Write <{element.tag} {attribute}="...">.')
        elif not value.strip():
            self.problem(element.line, label, f"{attribute}={value!r} in <{element.tag}> is empty", "Give a name.")
        elif attribute == "name" and (wrong := no_name(value)) is not None:
            self.problem(element.line, f"<{element.tag}>", *wrong)
        elif len(value) > LONGEST:
            self.problem(element.line, label, f"{attribute} has {len(value)} characters", f"Give a name of at most {LONGEST}.")
        else:
            return value
        return None

    def vector(self, element: XmlElement, attribute: str, size: int, label: str, default: Any = REQUIRED,
               least: float | None = None) -> Any:
        """`size` numbers as a tuple; `default` when the attribute is absent. least: the smallest value allowed."""
        text = element.attributes.get(attribute)
        part = f"{label}, <{element.tag}>"
        if text is None:
            if default is not REQUIRED:
                return default
            self.problem(element.line, part, f"attribute {attribute!r} is missing",
                         f'Write <{element.tag} {attribute}="{" ".join(["..."] * size)}" .../>{UNITS.get(attribute, "")}.'
                         + (f" {AS_GIVEN}" if element.tag == "limit" else ""))
            return None
        try:
            values = parse_vector(text, size)
        except ValueError as error:
            self.problem(element.line, part, f"{attribute}={error}",
                         f"Write {size} finite decimal number{'s separated by blanks' if size > 1 else ''}.")
            return None
        if least is not None and min(values) < least:
            self.problem(element.line, part, f"{attribute}={shorten(text)} is below {least:g}",
                         f"It must be {least:g} or more.")
            return None
        return values

    def scalar(self, element: XmlElement, attribute: str, label: str, default: Any = REQUIRED, least: float | None = None) -> Any:
        values = self.vector(element, attribute, 1, label, None if default is None else
                             default if default is REQUIRED else (default,), least)
        return None if values is None else values[0]

    def origin(self, parent: XmlElement, label: str) -> Placement:
        """The pose in <origin xyz rpy>; identity where absent."""
        element = self.one(parent, "origin", label)
        if element is None:
            return Placement()
        import numpy as np

        xyz = self.vector(element, "xyz", 3, label, (0.0, 0.0, 0.0))
        rpy = self.vector(element, "rpy", 3, label, None)
        return Placement(None if rpy is None or rpy == (0.0, 0.0, 0.0) else rotation_from_rpy(rpy),
                         None if xyz is None else np.array(xyz))


def _example(tag: str) -> str:
    return {"mass": 'Write <mass value="..."/> (kg).',
            "inertia": 'Write <inertia ixx="..." ixy="0" ixz="0" iyy="..." iyz="0" izz="..."/> (kg m^2).',
            "parent": 'Write <parent link="..."/>.', "child": 'Write <child link="..."/>.',
            "limit": 'Write <limit lower="..." upper="..." effort="..." velocity="..."/> (rad or m, N m or N, and per second), '
                     f'or make a joint that turns without end type="continuous". {AS_GIVEN}',
            "mbros:pitch": 'Write <mbros:pitch value="..."/> (metres per radian).',
            "drake:screw_thread_pitch": 'Write <drake:screw_thread_pitch value="..."/> (metres per revolution).',
            "geometry": 'Write <geometry><box size="..."/></geometry> or another shape.'}.get(tag, f"Write <{tag} .../>.")
