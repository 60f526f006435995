"""How the robot of an MJCF file stands in the world: as the file says, or as somebody asks."""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from mbros_core.support.numbers import short

from mbros.describe.problems import problem
from mbros.describe.robot import JointDescription
from mbros.describe.urdf.base import BASES
from mbros.errors import MbrosError, ModelError
from mbros.names import did_you_mean
from mbros.spatial.placement import Placement
from mbros.spatial.vectors import Pose

if TYPE_CHECKING:
    from mbros.describe.robot import RobotDescription


def stand_as(description: RobotDescription, base: str | None) -> None:
    """Another joint between the world and the one body on it: "fixed", "floating" or "planar"; None leaves it as it is."""
    if base is None:
        return
    if not isinstance(base, str) or base not in BASES:
        near = did_you_mean(base, BASES)
        raise MbrosError(f"base is {short(base)}; expected 'fixed', 'floating' or 'planar'" + (f"; did you mean {near!r}?" if near else ""))
    on_world = [joint for joint in description.joints if joint.parent is description.world]
    loose = [joint for joint in on_world if joint.kind in ("weld", "floating")]
    if len(on_world) != 1 or not loose:
        raise ModelError(problem((on_world or description.joints)[0], f"base={base!r} is asked for, and {len(on_world)} bodies stand on "
                                                                      "the world"
                                 if len(on_world) != 1 else f"base={base!r} is asked for, and a {on_world[0].kind} joint holds the robot",
                                 "Leave base away: the file says how its bodies stand."))
    joint = loose[0]
    if joint.kind == BASES[base]:
        return
    X_WB = joint.X_PF if joint.kind == "weld" else Placement()
    if joint.kind == "floating" and joint.default is not None:
        from mbros.spatial.placement import rotation_from_quat_wxyz

        X_WB = Placement(rotation_from_quat_wxyz(joint.default[3:]), joint.default[:3])
    other = JointDescription(joint.name, BASES[base], joint.parent, joint.child, X_WB if base != "floating" else None, source=joint.source)
    if base == "floating":
        other.default = np.concatenate([X_WB.p, Pose.make(R=X_WB.R).quat_wxyz])
    description.joints[description.joints.index(joint)] = other
    description.notes.append(problem(joint, f"a {joint.kind} joint in the file, {BASES[base]} as base={base!r} asks", "", "note"))
    for positions in description.keyframes.values():
        positions.pop(joint.name, None)
