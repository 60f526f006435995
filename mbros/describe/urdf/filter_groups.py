"""<drake:collision_filter_group>: links that never touch each other, by groups of them.

    <drake:collision_filter_group name="feet">
      <drake:member link="left_foot"/> <drake:member link="right_foot"/> <drake:member_group name="toes"/>
      <drake:ignored_collision_filter_group name="feet"/>
    </drake:collision_filter_group>

Members of a group never touch those of the groups that it ignores, its own among them. They become exclusions, as those of an SRDF file do.
"""
from __future__ import annotations

from typing import TYPE_CHECKING

from mbros.describe.robot import Exclusion
from mbros.describe.urdf.numbers import shorten
from mbros.errors import Problem, UrdfError
from mbros.names import hint

if TYPE_CHECKING:
    from collections.abc import Collection

    from mbros.describe.robot import BodyDescription, RobotDescription
    from mbros.describe.urdf.context import Context
    from mbros.describe.urdf.xml import XmlElement

TAG, MEMBER, GROUP, IGNORED = "drake:collision_filter_group", "drake:member", "drake:member_group", "drake:ignored_collision_filter_group"
MOST_STEPS = 300_000        # pairs and members of a file, each as often as groups name them

# What mbros.describe.urdf.schema adds to its tables
READ = {TAG: (("name", "ignore"), (MEMBER, GROUP, IGNORED)), MEMBER: (("link",), ()), GROUP: (("name",), ()), IGNORED: (("name",), ())}


def read_filter_groups(context: Context, root: XmlElement, description: RobotDescription, bodies: dict[str, BodyDescription]) -> None:
    """The groups below `root`, as exclusions of the description."""
    groups = _Groups(context, root, bodies)
    for name, element in groups.elements.items():
        for ignored in element.all(IGNORED):
            groups.pairs(name, ignored)
    description.exclusions += groups.found.values()


class _Groups:
    """elements: the groups by name. found: the pairs of links that never touch."""

    def __init__(self, context: Context, root: XmlElement, bodies: dict[str, BodyDescription]) -> None:
        self.context, self.bodies, self.steps = context, bodies, 0
        self.elements: dict[str, XmlElement] = {}
        for each in root.all(TAG):
            name = str(each.attributes.get("name"))
            if each.attributes.get("ignore") == "true":
                continue
            if self.elements.setdefault(name, each) is not each:
                context.notes.add((TAG, "twice"), each.line, f"<{TAG}> {shorten(name)}",
                                  "not used: there is one of this name above", "warning")
        self.resolved: dict[str, list[str]] = {}
        self.found: dict[tuple[str, str], Exclusion] = {}

    def pairs(self, name: str, ignored: XmlElement) -> None:
        """What a group ignores of another, or of itself."""
        other = ignored.attributes.get("name", "")
        if other not in self.elements:
            self.no_such(ignored, name, "group", other, self.elements)
            return
        own, theirs = self.links(name), self.links(other)
        self.step(ignored, len(own) * len(theirs))
        for a in own:
            for b in theirs:
                if a != b:
                    self.found.setdefault((min(a, b), max(a, b)), Exclusion(a, b, f"collision filter group {other}",
                                                                            self.context.source(ignored)))

    def links(self, name: str) -> list[str]:
        """The links of a group and of the groups in it."""
        if name in self.resolved:
            return self.resolved[name]
        found: dict[str, None] = {}
        seen, stack = {name}, [name]
        while stack:
            at = stack.pop()
            self.step(self.elements[at], len(self.elements[at].children))
            for member in self.elements[at].all(MEMBER):
                link = member.attributes.get("link", "")
                if link in self.bodies:
                    found[link] = None
                else:
                    self.no_such(member, at, "link", link, self.bodies)
            for member in self.elements[at].all(GROUP):
                inner = member.attributes.get("name", "")
                if inner not in self.elements:
                    self.no_such(member, at, "group", inner, self.elements)
                elif inner not in seen:
                    seen.add(inner)
                    stack.append(inner)
        self.resolved[name] = list(found)
        return self.resolved[name]

    def step(self, element: XmlElement, times: int) -> None:
        self.steps += times
        if self.steps > MOST_STEPS:
            raise UrdfError(Problem(f"<{TAG}>", f"the groups have more than {MOST_STEPS} members and pairs in all", "Write smaller groups.",
                                    self.context.file, element.line))

    def no_such(self, element: XmlElement, group: str, what: str, name: str, known: Collection[str]) -> None:
        if not self.context.notes.again((TAG, what, name)):
            reason = f"not used: there is no {what} {shorten(name)}{hint(name, known)}"
            self.context.notes.add((TAG, what, name), element.line, f"<{TAG}> {shorten(group)}", reason, "warning")
