"""SRDF: which links never touch, as MoveIt's set-up assistant writes it.

    <robot name="panda"> <disable_collisions link1="panda_hand" link2="panda_link7" reason="Adjacent"/> ... </robot>
"""
from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from mbros_core.support.numbers import short

from mbros.describe.robot import Exclusion
from mbros.describe.urdf.context import Context
from mbros.describe.urdf.numbers import shorten
from mbros.describe.urdf.xml import parse_xml, read_file
from mbros.errors import MbrosError, Problem, UrdfError
from mbros.names import hint, one_document

if TYPE_CHECKING:
    from mbros.describe.robot import RobotDescription
    from os import PathLike

DISABLE = "disable_collisions"
OTHER_RULES = ("disable_default_collisions", "enable_collisions")       # of MoveIt 2: the first takes a link out of all pairs


@one_document
def read_srdf(path: str | PathLike[str], description: RobotDescription) -> None:
    """The pairs of links of an SRDF file as exclusions of the description. Raises UrdfError with every problem, and its line."""
    if not isinstance(path, (str, os.PathLike)):
        raise MbrosError(f"srdf: expected the path of an SRDF file, got {short(path)}")
    file = os.fspath(path)
    root = parse_xml(read_file(Path(path), "an SRDF file"), file)
    if root.tag != "robot":
        raise UrdfError(Problem(f"<{shorten(root.tag)[1:-1]}>", "the root element is not <robot>",
                                'An SRDF starts with <robot name="...">.', file, root.line))
    context = Context(file)
    known = {body.name for body in (description.world, *description.bodies)}
    for element in root.all(DISABLE):
        links = [context.name(element, f"<{DISABLE}>", attribute) for attribute in ("link1", "link2")]
        if None in links:
            continue
        for link in links:
            if link not in known:
                context.notes.add((DISABLE, link), element.line, f"<{DISABLE}>", f"not used: there is no link {shorten(str(link))} in the "
                                  f"robot{hint(link, known)}", "warning")
        if links[0] == links[1]:
            context.problem(element.line, f"<{DISABLE}>", f"both of its links are {shorten(str(links[0]))}", "Name two links.")
        elif known.issuperset(map(str, links)):
            description.exclusions.append(Exclusion(str(links[0]), str(links[1]), element.attributes.get("reason", ""),
                                                    context.source(element)))
    for tag in OTHER_RULES:
        for element in root.all(tag):
            context.notes.add(tag, element.line, f"<{tag}>", f"not used: pairs are read from <{DISABLE}>", "warning")
    if context.problems:
        raise UrdfError(context.problems)
    description.notes += context.notes.problems(file)
