"""Reduced models: some joints locked for good, the bodies on both sides one."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbros.arguments import check_model, check_state, entries
from mbros.build.edit import description_of
from mbros.build.from_state import described
from mbros.describe.robot import JointDescription
from mbros.errors import MbrosError, Problem
from mbros.spatial.placement import Placement
from mbros_core.support.numbers import short

if TYPE_CHECKING:
    from mbros import Joint, Model
    from mbros.describe.robot import RobotDescription
    from mbros_core.engine._engine import State


def reduced_description(model: Model, locked: Any, state: State | None) -> RobotDescription:
    """What ModelBuilder.reduced begins with."""
    check_model("reduced", model)
    who = f"reduced of model {model.name!r}"
    given, state = state is not None, model.default_state() if state is None else state
    check_state(who, model, state)
    gone = _with_followers(who, model, locked)
    mine = described(model, state) if given else description_of(model)
    for k, joint in enumerate(mine.joints):
        if joint.name in gone:
            mine.joints[k] = _weld(joint, gone[joint.name], state)
    _drop_elements(who, mine, set(gone))
    if mine.bench is not None:
        mine.notes.append(Problem(repr(mine.bench), f"left out: it is that of the whole robot {model.name!r}", severity="note"))
        mine.bench = None
    mine.text = mine.file = None
    return mine


def _with_followers(who: str, model: Model, locked: Any) -> dict[str, Joint]:
    """Joints to lock, by name: those given, and who follows one of them."""
    given = None if isinstance(locked, str) else entries(locked)
    if given is None:
        raise MbrosError(f"{who}: locked: expected a list of joints or their names, got {short(locked)}")
    gone = {joint.name: joint for joint in map(model.joint, given)}
    for joint in list(gone.values()):
        if joint.mimic is not None and joint.mimic[0] not in gone:
            raise MbrosError(f"{who}: joint {joint.name!r} follows {joint.mimic[0]!r}, which would go on moving: lock "
                             "that one, and this with it")
    before = -1
    while before != len(gone):              # those who follow a follower, too
        before = len(gone)
        gone |= {joint.name: joint for joint in model.joints if joint.mimic is not None and joint.mimic[0] in gone}
    return gone


def _weld(joint: Any, built: Joint, state: State) -> JointDescription:
    """A weld that has the child where the joint has it; frame M, which stands for a joint, stays on the child."""
    X_FM = built.transform(state)
    weld = JointDescription(joint.name, "weld", joint.parent, joint.child, joint.X_PF @ Placement(X_FM.R, X_FM.p), joint.X_BM,
                            source=joint.source)
    weld.owner, weld.robot = joint.owner, joint.robot
    return weld


def _drop_elements(who: str, mine: RobotDescription, gone: set[str]) -> None:
    """What acts on a locked coordinate does nothing any more."""
    for coupler in [constraint for constraint in mine.constraints if constraint.joint_a is not None and constraint.joint_b is not None]:
        ends = [coupler.joint_a.name, coupler.joint_b.name]         # type: ignore[union-attr]
        if len(gone.intersection(ends)) == 1:
            raise MbrosError(f"{who}: constraint {coupler.name!r} couples {ends[0]!r} and {ends[1]!r}, and one of them alone is locked: "
                             "lock both")
        if gone.issuperset(ends):
            mine.constraints.remove(coupler)
            mine.notes.append(Problem(f"constraint {coupler.name!r}", "left out: both joints are locked", severity="note"))
    for element in [element for element in mine.force_elements if element.joint is not None and element.joint.name in gone]:
        mine.force_elements.remove(element)
        mine.notes.append(Problem(element._label, f"left out: joint {element.joint.name!r} is locked", severity="note"))   # type: ignore[union-attr]
