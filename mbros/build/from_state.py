"""A robot whose own numbers are the parameters of a state: what Model.from_state builds, and what ModelBuilder.reduced begins with."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbros.arguments import check_state
from mbros.build.edit import description_of
from mbros.describe.contacts import NUMBERS
from mbros.describe.robot import Collision
from mbros.errors import MbrosError
from mbros.spatial import body_numbers

if TYPE_CHECKING:
    from mbros import Model
    from mbros.describe.robot import BodyDescription, JointDescription, RobotDescription
    from mbros_core.engine._engine import State

FIELDS = ("gravity", "damping", "friction", "rotor_inertia", "stop_stiffness", "stop_damping", "inertia", "force_parameters",
          "contact_parameters", "constraint_parameters")
SAME = 1e-9             # relative: what a number may lose on its way through a description


def model_of(who: str, state: State) -> Model:
    """What Model.from_state gives."""
    from mbros.build.compile.tree import compile_robot      # start-up time: who does not use it does not pay
    from mbros.describe.check_robot import raise_errors      # start-up time: as above

    check_state(who, None, state)
    mine: Any = state.model
    description = described(mine, state)
    raise_errors(description, "as_given")               # impossible ones were refused when they were set
    kept = {joint.child.name for joint in description.joints if joint.kind == "weld"}.intersection(mine.spec.body_names)
    made: Model = type(mine)(description, compile_robot(description, any(joint.mimic for joint in mine.joints), not kept))
    fresh = made.default_state()
    for name in FIELDS:
        given, got = state.field(name), fresh.field(name)
        if given.shape != got.shape or not np.allclose(given, got, SAME, SAME * float(np.abs(given).max(initial=0.0))):
            raise MbrosError(f"{who}: model {mine.name!r}: {name} of this state cannot be written into a model; set parameters by "
                             "model.set_parameter(state, name, value), not in the arrays")
    return made


def described(model: Model, state: State) -> RobotDescription:
    """A copy of what the model was made of, with the state's parameters in it; locks, with where they hold."""
    mine = description_of(model)
    mine.text = mine.file = None                        # they say other numbers
    mine.gravity = np.array(state.field("gravity"))
    for joint in mine.joints:
        _joint(model, state, joint, mine)
    _bodies(model, state, mine)
    for element in mine.force_elements:
        part = model.force_elements[str(element.name)]
        element.parameters = np.array(state.field("force_parameters")[part._entry.index])
        element.values |= {name: part.get(state, name) for name in element.values}
    _shapes(model, state, mine)
    for name in (name for name in model.parameter_names if name.startswith("constraint.")):
        _constraint(model, state, name, mine)
    return mine


def _joint(model: Model, state: State, joint: JointDescription, mine: RobotDescription) -> None:
    built = model.joint(joint.name)
    if not built.nv or built.follows:
        return
    rows = built.v_slice
    followers = [other for other in mine.joints if (rule := model.joint(other.name).mimic) is not None and rule[0] == joint.name]
    for name in ("damping", "friction", "rotor_inertia"):
        value = np.array(state.field(name)[rows])
        if np.array_equal(value, getattr(model.spec, name)[rows]):
            continue
        for other in followers:                         # what they resist is in the leader's number
            setattr(other, name, np.zeros(other.nv))
        if name == "rotor_inertia":
            joint.gear_ratio = np.where(joint.gear_ratio == 0.0, 1.0, joint.gear_ratio)
            value = value / joint.gear_ratio**2
        setattr(joint, name, value)
    joint.stop_stiffness, joint.stop_damping = (np.array(state.field(name)[rows]) for name in ("stop_stiffness", "stop_damping"))
    if built.is_locked(state) != joint.locked:
        joint.locked = not joint.locked
    if joint.locked:
        joint.default = np.array(state.q[built.q_slice])


def _bodies(model: Model, state: State, mine: RobotDescription) -> None:
    """Of compiled bodies: bodies that are welded together keep their shares of a mass that alone has changed; else the first has it all."""
    by_name: dict[str, BodyDescription] = {body.name: body for body in (mine.world, *mine.bodies)}
    parts: dict[int, list[BodyDescription]] = {}
    for row in model._compiled.bodies:
        parts.setdefault(row.compiled_index, []).append(by_name[row.name])
    for k, (now, before) in enumerate(zip(state.field("inertia"), model.spec.inertia)):
        if k == 0 or np.array_equal(now, before):
            continue
        ratio = now[0] / before[0] if before[0] > 0.0 else 0.0
        if np.allclose(now, ratio * before, 1e-14, 0.0):
            for body in parts[k]:
                body.mass, body.inertia = body.mass * ratio, body.inertia * ratio
            continue
        for body in parts[k]:
            body.mass, body.inertia = 0.0, np.zeros((3, 3))
        first = by_name[model.spec.body_names[k]]
        own = body_numbers.own(now[None], body_numbers.place(model, first.name))
        first.mass, first.com = float(now[0]), body_numbers.read(own, "com")[0]
        six = body_numbers.read(own, "inertia")[0]
        first.inertia = six[[[0, 3, 4], [3, 1, 5], [4, 5, 2]]]


def _shapes(model: Model, state: State, mine: RobotDescription) -> None:
    """All numbers of all shapes: defaults would be chosen by other masses."""
    if not len(model.shapes):
        return
    at = iter(state.field("contact_parameters"))
    by_name = {body.name: body for body in (mine.world, *mine.bodies)}
    for built in model._compiled.bodies:                # in the order in which shapes are compiled
        body = by_name[built.name]
        for k, shape in enumerate(body.collisions):
            numbers: dict[str, Any] = {name: float(x) for name, x in zip(NUMBERS, next(at))}
            if isinstance(shape, Collision):
                for name, x in numbers.items():
                    setattr(shape, name, x)
            else:
                body.collisions[k] = Collision(shape.geometry, shape.X_BG, shape.name, shape.material, shape.rgba, **numbers)


def _constraint(model: Model, state: State, parameter: str, mine: RobotDescription) -> None:
    name, _, number = parameter.removeprefix("constraint.").rpartition(".")
    constraint: Any = next(one for one in mine.constraints if one.name == name)
    value = float(model.parameter(state, parameter))
    if number == "length":
        constraint.length, constraint.parameters = value, (value, *constraint.parameters[1:])
        return
    (_, of_a, offset_a), (_, of_b, offset_b) = [model.joint(joint.name).mimic or (None, 1.0, 0.0)
                                                for joint in (constraint.joint_a, constraint.joint_b)]
    if number == "ratio":
        constraint.ratio = value * of_a / of_b          # of coordinates: of followers, their leaders'
    else:
        constraint.offset = value * of_a - constraint.ratio * offset_b + offset_a
