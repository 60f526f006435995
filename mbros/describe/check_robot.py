"""Everything that must hold of a description before it is compiled. All problems are collected, then raised at once."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mbros.describe.check_attributes import check_shapes
from mbros.describe.check_inertia import check_inertia
from mbros.describe.constraints.constraint import check_constraints
from mbros.describe.forces.element import check_elements
from mbros.describe.joints.kinds import ONE_AXIS, row_of, unit_parts
from mbros.describe.joints.limits import wrong
from mbros.describe.problems import error_class, label, problem
from mbros.describe.robot import BodyDescription, JointDescription, RobotDescription
from mbros.errors import Problem
from mbros.names import hint

if TYPE_CHECKING:
    from mbros.describe.robot import FrameDescription


# Beyond these, products of what a robot is made of would leave the range of doubles. SI units; limits may be infinite.
LARGEST_LENGTH = 1e12
LARGEST = 1e30


def raise_errors(description: RobotDescription, inertia: str = "check") -> None:
    """Raises ModelError (UrdfError for a model from a file or text) when anything is wrong; warnings join the notes."""
    found = check(description, inertia)
    description.notes.extend(p for p in found if p.severity != "error")
    errors = [p for p in found if p.severity == "error"]
    if errors:
        raise error_class(description)(errors)


def check(description: RobotDescription, inertia: str = "check") -> list[Problem]:
    """Every problem of a description whose root is the world. Shapes, then structure: what follows needs a tree."""
    found = check_shapes(description)
    if found:
        return found
    found = check_names(description) + check_tree(description)
    if found:
        return found
    found = check_magnitudes(description)
    if found:
        return found
    for joint in description.joints:
        check_joint(joint, found)
    found += check_mimic(description)
    if description.force_elements:
        found += check_elements(description)
    if description.constraints:
        found += check_constraints(description)
    if description.bench is not None:
        from mbros.describe.devices.carried import check_bench      # start-up time: who does not use it does not pay

        found += check_bench(description)
    found += check_inertia(description, inertia)
    return found


def check_names(description: RobotDescription) -> list[Problem]:
    found = []
    known = {description.world.name: description.world}
    for body in description.bodies:
        if body.name == description.world.name:
            found.append(problem(body, "this name is reserved for the body that does not move",
                                 "Rename it, or weld it to the builder's world."))
        else:
            _claim(known, body, found)
    frames: dict[str, Any] = dict(known)
    joints: dict[str, Any] = {}
    for joint in description.joints:
        _claim(joints, joint, found)
        for suffix in (".F", ".M"):
            first = frames.setdefault(joint.name + suffix, joint)
            if not isinstance(first, JointDescription):
                found.append(problem(joint, f"its frame {joint.name + suffix!r} has the name of {label(first)}", "Rename one of them."))
    for frame in description.frames:
        _claim(frames, frame, found)
    return found


def _claim(known: dict[str, Any], element: Any, found: list[Problem]) -> None:
    first = known.setdefault(element.name, element)
    if first is not element:
        where = f" (the first is at line {first.source.line})" if first.source.line is not None else ""
        found.append(problem(element, f"this name is already taken by {label(first)}{where}",
                             "Give every element a name of its own."))


def check_tree(description: RobotDescription) -> list[Problem]:
    """Every body is carried by exactly one joint, and following parents always ends at the world."""
    found = []
    mine = {id(body) for body in description.bodies} | {id(description.world)}
    carrier: dict[int, JointDescription] = {}
    for joint in description.joints:
        for role in ("parent", "child"):
            body = getattr(joint, role)
            if id(body) not in mine:
                found.append(problem(joint, f"its {role} {body.name!r} belongs to another model",
                                     "Use the bodies of this builder."))
        if joint.parent is joint.child:
            found.append(problem(joint, f"its parent and its child are the same body {joint.child.name!r}",
                                 "A joint connects two bodies."))
        elif joint.child is description.world:
            found.append(problem(joint, "its child is the world, which does not move", "Swap parent and child."))
        elif id(joint.child) in carrier:
            found.append(carried_twice(joint, carrier[id(joint.child)]))
        else:
            carrier[id(joint.child)] = joint
    for frame in description.frames:
        if id(frame.body) not in mine:
            found.append(problem(frame, f"its body {frame.body.name!r} belongs to another model",
                                 "Use the bodies of this builder."))
    return found or _check_reach(description, carrier)


def carried_twice(joint: JointDescription, first: JointDescription, word: str = "body") -> Problem:
    """Two joints have the same child. word: what a child is called there."""
    place = f" at line {first.source.line}" if first.source.line is not None else ""
    return problem(joint, f"its child {joint.child.name!r} is already carried by joint {first.name!r}{place}",
                   f"A {word} has one joint to its parent; a closed loop needs one joint taken out.")


def _check_reach(description: RobotDescription, carrier: dict[int, JointDescription]) -> list[Problem]:
    children: dict[int, list[BodyDescription]] = {}
    for joint in description.joints:
        children.setdefault(id(joint.parent), []).append(joint.child)
    reached, stack = {id(description.world)}, [description.world]
    while stack:
        for child in children.get(id(stack.pop()), ()):
            if id(child) not in reached:
                reached.add(id(child))
                stack.append(child)
    lost = [body for body in description.bodies if id(body) not in reached]
    found = [problem(body, "no joint carries it", "Add a joint whose child it is.") for body in lost
             if id(body) not in carrier]
    if lost and not found:
        loop = find_loop(lost[0], carrier)
        found.append(problem(carrier[id(loop[0])], "joints form a closed loop: " + " -> ".join(b.name for b in loop[:12])
                             + (" -> ..." if len(loop) > 12 else f" -> {loop[0].name}"),
                             "Take one joint out, so that all bodies form one tree."))
    return found


def find_loop(body: BodyDescription, carrier: dict[int, JointDescription]) -> list[BodyDescription]:
    """The bodies of the closed loop above `body`, in the order parent to child."""
    seen: dict[int, int] = {}
    path: list[BodyDescription] = []
    while id(body) not in seen:
        seen[id(body)] = len(path)
        path.append(body)
        body = carrier[id(body)].parent
    return path[seen[id(body)]:][::-1]


def check_magnitudes(description: RobotDescription) -> list[Problem]:
    """Nothing absurdly large: lengths up to LARGEST_LENGTH, everything else up to LARGEST."""
    found = []

    def look(elements: Sequence[BodyDescription | JointDescription | FrameDescription], what: str, values: Any, largest: float) -> None:
        sizes = np.abs(np.asarray(values, dtype=float)).reshape(len(elements), -1)
        for i in np.flatnonzero(~(sizes.max(1, initial=0.0) <= largest)).tolist():
            k = int(np.argmax(~(sizes[i] <= largest)))
            of_joint = isinstance(elements[i], JointDescription) and "placement" not in what
            where = f" of coordinate {k}" if sizes.shape[1] > 1 and of_joint else ""
            found.append(problem(elements[i], f"{what}{where} is nan", "Give finite numbers.") if np.isnan(sizes[i, k]) else
                         problem(elements[i], f"{what}{where} of {sizes[i, k]:g} is beyond {largest:g}", "SI units: m, kg, rad, s."))

    bodies, joints = description.bodies, description.joints
    if bodies:
        look(bodies, "centre of mass", [body.com for body in bodies], LARGEST_LENGTH)
        look(bodies, "mass", [body.mass for body in bodies], LARGEST)
        look(bodies, "inertia", [body.inertia for body in bodies], LARGEST)
    if joints:
        look(joints, "placement", [joint.X_PF.p for joint in joints], LARGEST_LENGTH)
        look(joints, "placement on its child", [joint.X_BM.p for joint in joints], LARGEST_LENGTH)
    for joint in joints:
        for what in ("damping", "friction", "rotor_inertia", "default", "stop_stiffness", "stop_damping"):
            values = getattr(joint, what)
            if values is not None and values.any():
                look([joint], what, values, LARGEST)
        if joint.mimic is not None:
            look([joint], "mimic", [abs(joint.mimic.ratio) + abs(joint.mimic.offset)], LARGEST_LENGTH)
        if (joint.gear_ratio != 1.0).any():
            look([joint], "gear_ratio", joint.gear_ratio, LARGEST_LENGTH)
    if description.frames:
        look(description.frames, "placement", [frame.X_BF.p for frame in description.frames], LARGEST_LENGTH)
    return found


def check_joint(joint: JointDescription, found: list[Problem]) -> None:
    """Signs and order of a joint's numbers. Shapes and finiteness were checked where they were given."""
    nv = joint.nv
    if nv == 0:
        return
    for what in ("", "velocity", "acceleration"):
        low, high = (getattr(joint, f"{what}_{side}" if what else side) for side in ("lower", "upper"))
        bad = wrong(low, high)
        if bad is not None and not (what == "velocity" and (low == -high).all()):       # velocity = -1: said below
            i, reason, remedy = bad
            which = f" of coordinate {i}" if len(low) > 1 else ""
            found.append(problem(joint, f"lower {what + ' ' if what else ''}limit {low[i]:g}{which} {reason}", remedy, part="limit"))
    for what in ("velocity_upper", "effort", "damping", "friction", "rotor_inertia", "stop_stiffness", "stop_damping"):
        values = getattr(joint, what)
        if what == "velocity_upper":
            what, values = "velocity", np.where(joint.velocity_lower == -values, values, 0.0)
        if values is not None and not (values >= 0.0).all():
            i = int(np.argmax(~(values >= 0.0)))
            where = f" of coordinate {i}" if nv > 1 else ""
            found.append(problem(joint, f"{what}{where} is {values[i]:g}", f"{what} must be zero or positive.",
                                 part="limit" if what in ("velocity", "effort") else ""))
    if joint.axis is not None and not abs(float(joint.axis @ joint.axis) - 1.0) < 1e-9:
        found.append(problem(joint, f"axis {joint.axis.tolist()} is not a unit vector", "Normalise it."))
    if (joint.gear_ratio == 0.0).any():
        found.append(problem(joint, "gear_ratio is 0", "It multiplies the joint's motion into the rotor's; 1 is no gear."))
    if joint.default is not None:
        for part in unit_parts(joint.kind):
            if abs(np.linalg.norm(joint.default[part]) - 1.0) > 1e-6:
                what = "unit quaternion" if part.stop - part.start == 4 else "unit pair (cos, sin)"
                found.append(problem(joint, f"default {joint.default.tolist()} has no {what} at indices {part.start} to {part.stop - 1}",
                                     f"Order: {', '.join(row_of(joint.kind).position_names)}."))


def check_mimic(description: RobotDescription) -> list[Problem]:
    """Every mimic joint follows another one-axis joint, and no chain of them is closed."""
    found = []
    by_name = {joint.name: joint for joint in description.joints}
    for joint in description.joints:
        if joint.mimic is None:
            continue
        leader = by_name.get(joint.mimic.leader)
        remedy = f"A mimic joint follows another, and both have one coordinate: {', '.join(ONE_AXIS)}."
        if joint.kind not in ONE_AXIS:
            found.append(problem(joint, f"a {joint.kind} joint cannot mimic another", remedy, part="mimic"))
        elif leader is None:
            near = hint(joint.mimic.leader, by_name)
            found.append(problem(joint, f"it mimics joint {joint.mimic.leader!r}, which does not exist{near}", remedy,
                                 part="mimic"))
        elif leader is joint:
            found.append(problem(joint, "it mimics itself", remedy, part="mimic"))
        elif leader.kind not in ONE_AXIS:
            found.append(problem(joint, f"it mimics joint {leader.name!r}, which is {leader.kind}", remedy, part="mimic"))
    found = found or _mimic_loops(description, by_name)
    for joint in description.joints:
        if joint.mimic is not None:
            _unused_of_follower(joint, found)
    return found


def _unused_of_follower(joint: JointDescription, found: list[Problem]) -> None:
    """A follower has no coordinate of its own to lock, to draw or to start at."""
    assert joint.mimic is not None
    where = f"it follows joint {joint.mimic.leader!r}, whose position decides"
    for what, given in (("is locked", joint.locked), ("has a random position", joint.random is not None)):
        if given:
            found.append(problem(joint, f"it {what}, but {where}", f"Give that to {joint.mimic.leader!r}.", part="mimic"))
    if joint.default is not None:
        found.append(problem(joint, f"its default position is not used: {where}", f"Give it to {joint.mimic.leader!r}.", "warning",
                             "mimic"))


def _mimic_loops(description: RobotDescription, by_name: dict[str, JointDescription]) -> list[Problem]:
    found, settled = [], set()
    for joint in description.joints:
        path, at = [], joint
        while at.mimic is not None and at.name not in settled:
            settled.add(at.name)
            path.append(at)
            at = by_name[at.mimic.leader]
        if at in path:
            loop = path[path.index(at):]
            found.append(problem(loop[0], "mimic joints follow each other in a circle: "
                                 + " -> ".join(j.name for j in [*loop[:12], loop[0]]),
                                 "One of them must be an ordinary joint.", part="mimic"))
    return found
