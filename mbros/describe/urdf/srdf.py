"""SRDF: which links never touch, and named positions, as MoveIt's set-up assistant writes them.

    <robot name="panda"> <disable_collisions link1="panda_hand" link2="panda_link7" reason="Adjacent"/> ...
        <group_state name="ready" group="panda_arm"> <joint name="panda_joint1" value="0"/> ... </group_state> </robot>

States of one name in several groups are one keyframe of the model.
"""
from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from mbros_core.support.numbers import short

from mbros.describe.robot import Exclusion
from mbros.describe.urdf.context import Context
from mbros.describe.urdf.numbers import parse_vector, shorten
from mbros.describe.urdf.xml import parse_xml, read_file
from mbros.errors import MbrosError, Problem, UrdfError
from mbros.names import hint, one_document

if TYPE_CHECKING:
    from mbros.describe.robot import RobotDescription
    from mbros.describe.urdf.xml import XmlElement
    from os import PathLike

DISABLE, STATE = "disable_collisions", "group_state"
OTHER_RULES = ("disable_default_collisions", "enable_collisions")       # of MoveIt 2: the first takes a link out of all pairs


@one_document
def read_srdf(path: str | PathLike[str], description: RobotDescription) -> None:
    """The pairs of links of an SRDF file as exclusions of the description, its group states as keyframes. Raises UrdfError with every
    problem, and its line."""
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
    for element in root.all(STATE):
        _group_state(context, element, description)
    if context.problems:
        raise UrdfError(context.problems)
    description.notes += context.notes.problems(file)


def _group_state(context: Context, element: XmlElement, description: RobotDescription) -> None:
    """Positions of some joints, by a name."""
    name = context.name(element, f"<{STATE}>")
    joints = {joint.name: joint for joint in description.joints}
    for child in element.all("joint"):
        joint = context.name(child, f"<{STATE}>")
        if joint is None or name is None:
            continue
        if joint not in joints:
            context.notes.add((STATE, joint), child.line, f"<{STATE}> {shorten(name)}", f"not used: there is no joint {shorten(joint)} in "
                              f"the robot{hint(joint, joints)}", "warning")
            continue
        try:
            text = child.attributes.get("value", "")
            values = np.array(parse_vector(text, len(text.split()) or 1))
        except MbrosError as error:
            context.problem(child.line, f"<{STATE}> {shorten(name)}, joint {shorten(joint)}", f"value={error}", "Write its position.")
            continue
        if len(values) != joints[joint].nq or joints[joint].nq != joints[joint].nv:
            context.notes.add((STATE, "size", joint), child.line, f"<{STATE}> {shorten(name)}", f"not used: joint {shorten(joint)} "
                              f"({joints[joint].kind}) has {joints[joint].nq} positions, value has {len(values)}", "warning")
            continue
        description.keyframes.setdefault(name, {})[joint] = values
