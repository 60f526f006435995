"""Every tunable number of a state by name: gravity, damping.<joint>, mass.<body>, force.<element>.<parameter>,
contact.<shape>.<parameter>, constraint.<constraint>.<number>, ... (KINDS).

Setting one changes the state at once, all of it or nothing. mass.<body>, com.<body> and inertia.<body> are of compiled bodies (bodies
welded together are one, named after the one that its joint carries; mbros.spatial.body_numbers). locked.<joint> is true or false. The
parameters of a force element are those of docs/forces.md. The ROS 2 node has all of them as live parameters.
"""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from mbros_core.engine._small import reweighed
from mbros_core.constraints.kinds import tunable
from mbros_core.constraints.registry import CONTACT_COLUMNS, CONTACT_NUMBERS, unfit
from mbros_core.support.numbers import short

from mbros.arguments import finite, vector
from mbros.errors import MbrosError, unknown
from mbros.spatial import body_numbers
from mbros.spatial.body_numbers import NO_MASS

if TYPE_CHECKING:
    from mbros import Joint, Model
    from mbros.model.forces.element import Part
    from mbros_core.engine._engine import State
    from mbros_core.typing import Array, IntArray


@dataclass(frozen=True)
class Kind:
    """A kind of parameter. of: "model", "joint" (a value for each velocity coordinate), "lock" (of a joint), "body", "element",
    "shape" or "constraint".
    least: smallest value allowed, None: any."""

    name: str
    of: str
    doc: str
    unit: str = ""
    least: float | None = 0.0

    @property
    def pattern(self) -> str:
        """The name with placeholders, for documentation."""
        whose = {"model": "", "body": ".<body>", "element": ".<element>.<parameter>", "shape": ".<shape>.<parameter>",
                 "constraint": ".<constraint>.<number>"}
        return self.name + whose.get(self.of, ".<joint>")


KINDS = (
    Kind("gravity", "model", "gravity acceleration in the world frame", "m/s^2", None),
    Kind("damping", "joint", "viscous damping", "N m s/rad or N s/m"),
    Kind("friction", "joint", "Coulomb friction", "N m or N"),
    Kind("rotor_inertia", "joint", "reflected rotor inertia, gear ratio included", "kg m^2 or kg"),
    Kind("stop_stiffness", "joint", "stiffness of the stops at the position limits; 0: no stops", "N m/rad or N/m"),
    Kind("stop_damping", "joint", "damping of the stops", "N m s/rad or N s/m"),
    Kind("locked", "lock", "held where it is, as a weld would"),
    Kind("mass", "body", "mass of a body and of what is fixed to it; its moments follow in proportion", "kg"),
    Kind("com", "body", "centre of mass of the same, in axes of the body; the inertia about it stays", "m", None),
    Kind("inertia", "body", "inertia of the same about its centre of mass, Ixx Iyy Izz Ixy Ixz Iyz in axes of the body", "kg m^2", None),
    Kind("force", "element", "a number of a force element (docs/forces.md)", "that of the number", None),
    Kind("contact", "shape", "a number of a collision shape in contact (docs/contact.md)", "that of the number"),
    Kind("constraint", "constraint", "length of a distance, ratio and offset of a coupler (docs/constraints.md)", "m, rad", None),
)
BY_NAME = {kind.name: kind for kind in KINDS}
OF_JOINTS = tuple(kind.name for kind in KINDS if kind.of in ("joint", "lock"))


def names(model: Model) -> tuple[str, ...]:
    """In the order of KINDS and of the model."""
    joints = [joint.name for joint in model.joints if joint.nv and not joint.follows]
    own = {"model": ("",), "joint": [f".{name}" for name in joints], "lock": [f".{name}" for name in joints],
           # the world, and what is welded to it, does not move: its mass is in no equation
           "body": [f".{name}" for name, row in zip(model.spec.body_names[1:], model.spec.inertia[1:]) if row[0] > 0.0],
           "element": [f".{element.name}.{group}" for element in model.force_elements if element.kind != "stop"   # named above
                       for group in element.parameter_names],
           "shape": [f".{shape.name}.{row.name}" for shape in model.shapes for row in CONTACT_NUMBERS],
           "constraint": [f".{name}.{number}" for name, kind in zip(model.spec.constraint_names, model.spec.constraint_kind)
                          for number in tunable(kind)]}
    return tuple(kind.name + end for kind in KINDS for end in own[kind.of])


def masses(model: Model) -> dict[str, int]:
    """The row of each body whose mass is a parameter, by the parameter's name; without those further away than 1e50 m."""
    near = {int(b) for b, X in zip(model.spec.frame_body, model.spec.X_BF) if np.abs(X).max() < 1e50}
    rows = {name: _body(model, name.removeprefix("mass.")) for name in model.parameter_names if name.startswith("mass.")}
    return {name: b for name, b in rows.items() if b in near}


def is_one(name: str) -> bool:
    """Whether a name is of one of the KINDS, of whatever model."""
    return name.partition(".")[0] in BY_NAME


def of_joint(joint: Joint) -> tuple[str, ...]:
    """Those of one joint."""
    return tuple(f"{what}.{joint.name}" for what in OF_JOINTS) if joint.nv and not joint.follows else ()


def get(model: Model, state: State, name: str) -> Any:
    """The value: a number, (n,), or for locks a bool."""
    model._check_state(state)
    kind, of = split(model, name)
    if kind.of == "lock":
        return model.joint(of).is_locked(state)
    if kind.of == "element":
        element, group = _element(model, of)
        return element.get(state, group)
    if kind.of == "body":
        if kind.name == "mass":
            own = state.field("inertia")[_body(model, of)][None]
        else:
            own = body_numbers.own(own_inertia(model, state, of)[None], body_numbers.place(model, of))
        read = finite(f"model {model.name!r}", f"parameter {name!r}", body_numbers.read(own, kind.name)[0])
        return float(read[0]) if kind.name == "mass" else read
    numbers, at = _flat(model, state, kind, of)
    return float(numbers[at[0]]) if len(at) == 1 else numbers[at]


def put(model: Model, state: State, name: str, value: Any) -> None:
    """Sets it: finite numbers, none below the least one allowed; for locks a bool."""
    model._check_state(state)
    mass = model._masses.get(name) if type(name) is str else None
    if mass is not None and reweighed(state.field("inertia"), mass, value):
        return                                  # the same as below, of what most calls are
    kind, of = split(model, name)
    if kind.of == "lock":
        if not isinstance(value, (bool, np.bool_)):
            raise MbrosError(f"parameter {name!r} of model {model.name!r}: expected True or False, got {short(value)}")
        joint = model.joint(of)
        (joint.lock if value else joint.unlock)(state)
    elif kind.of == "element":
        element, group = _element(model, of)
        element.set(state, group, value)
    elif kind.of == "constraint":
        _put_number_of_constraint(model, state, of, value)
    elif kind.of == "body":
        _put_numbers_of_body(model, state, of, {kind.name: value})
    else:
        numbers, at = _flat(model, state, kind, of)
        given = vector(f"model {model.name!r}", f"parameter {name!r}", value, len(at), kind.least)
        if kind.of == "shape":
            wrong = unfit(CONTACT_NUMBERS[_shape(model, of)[1]], given[0])
            if wrong:
                raise MbrosError(f"model {model.name!r}: parameter {name!r} is {given[0]:g}; expected {wrong}")
        numbers[at] = given


def put_all(model: Model, state: State, values: Mapping[str, Any]) -> None:
    """Sets several, {name: value}, in whatever order they are: of a body the mass first, then the centre of mass, then the inertia about
    it. What the numbers of a body or of a force element must be together is asked when all of them are there."""
    of_elements: dict[Part, dict[str, Any]] = {}
    of_bodies: dict[str, dict[str, Any]] = {}
    whose = {name: split(model, name) for name in values}
    for name in sorted(values, key=lambda name: KINDS.index(whose[name][0])):
        value, (kind, of) = values[name], whose[name]
        if kind.of == "element":
            element, group = _element(model, of)
            of_elements.setdefault(element, {})[group] = value
        elif kind.of == "body":
            of_bodies.setdefault(of, {})[kind.name] = value
        else:
            put(model, state, name, value)
    for of, numbers in of_bodies.items():
        _put_numbers_of_body(model, state, of, numbers)
    for element, groups in of_elements.items():
        element.update(state, groups)


def limits(model: Model, name: str) -> tuple[float | None, str]:
    """(smallest value allowed or None, unit) of a parameter of the model."""
    kind, of = split(model, name)
    if kind.of == "shape":
        return kind.least, CONTACT_NUMBERS[_shape(model, of)[1]].unit
    if kind.of == "constraint":
        k, _, number = _constraint(model, of)
        return (0.0, "m") if number == "length" else (None, "" if number == "ratio" else model.constraints[k].units[0])
    if kind.of == "joint" and model.joint(of).nv == 1:
        return kind.least, kind.unit.split(" or ")[not model.joint(of).can_rotate]
    if kind.of != "element":
        return kind.least, kind.unit
    element, group = _element(model, of)
    return element.groups[group].least, element.groups[group].unit


def place(model: Model, kind: Kind, of: str) -> tuple[str, IntArray]:
    """(field of the state, indices of the numbers in its flat array) of a parameter; of a body, of all that its row has."""
    if kind.of == "model":
        return "gravity", np.arange(3)
    if kind.of == "body":
        return "inertia", 10 * _body(model, of) + np.arange(10)
    if kind.of == "element":
        element, group = _element(model, of)
        width = model.spec.force_parameters.shape[1]
        return "force_parameters", np.arange(width)[element.groups[group].place] + width * element._entry.index
    if kind.of == "shape":
        row, column = _shape(model, of)
        return "contact_parameters", np.array([row * CONTACT_COLUMNS + column])
    if kind.of == "constraint":
        row, column, _ = _constraint(model, of)
        return "constraint_parameters", np.array([row * model.spec.constraint_parameters.shape[1] + column])
    joint = model.joint(of)
    return kind.name, np.arange(joint.v_slice.start, joint.v_slice.stop)


def split(model: Model, name: str) -> tuple[Kind, str]:
    """(kind, whose) of a name."""
    if not isinstance(name, str) or name not in model._parameter_set:
        raise unknown("parameter", name, f"model {model.name!r}", model.parameter_names)
    kind, _, of = name.partition(".")
    return BY_NAME[kind], of


def _element(model: Model, of: str) -> tuple[Part, str]:
    """(element, group) of "<element>.<parameter>"; names of elements may have dots, those of parameters have none."""
    name, _, group = of.rpartition(".")
    return model.force_elements[name], group


def _shape(model: Model, of: str) -> tuple[int, int]:
    """(row, column) of "<shape>.<number>" in the table of the shapes' numbers; names of shapes may have dots."""
    name, _, number = of.rpartition(".")
    return model.shapes[name].index, [row.name for row in CONTACT_NUMBERS].index(number)


def _constraint(model: Model, of: str) -> tuple[int, int, str]:
    """(row, column, number) of "<constraint>.<number>" in the table of the constraints' numbers; names of constraints may have dots."""
    name, _, number = of.rpartition(".")
    row = model.spec.constraint_names.index(name)
    return row, tunable(model.spec.constraint_kind[row]).index(number), number


def _put_number_of_constraint(model: Model, state: State, of: str, value: Any) -> None:
    row, column, number = _constraint(model, of)
    given = vector(f"model {model.name!r}", f"parameter {f'constraint.{of}'!r}", value, 1, 0.0 if number == "length" else None)
    if number == "length" and given[0] == 0.0:
        raise MbrosError(f"model {model.name!r}: parameter {f'constraint.{of}'!r}: expected a length above zero, in m; points that stay "
                         "together are a BallConstraint")
    state.field("constraint_parameters")[row, column] = given[0]


def _put_numbers_of_body(model: Model, state: State, of: str, values: Mapping[str, Any]) -> None:
    """Sets {mass, com, inertia: value} of a body, in that order, and all of it or nothing: the inertia is to be held where the centre of
    mass then is."""
    who, here, place = f"model {model.name!r}", state.field("inertia")[_body(model, of)], body_numbers.place(model, of)
    now, inertia, last = here.copy(), None, ""
    for name in sorted(values, key=list(body_numbers.SIZES).index):
        what = f"parameter {f'{name}.{of}'!r}"
        given = vector(who, what, values[name], body_numbers.SIZES[name], BY_NAME[name].least)[None]
        row = _with_mass(model, now, of)[None]
        own = row if name == "mass" else body_numbers.own(row, place)
        same = body_numbers.unchanged(own, name, given)[0]
        if name != "mass" and not now[0] > NO_MASS:
            if same:
                continue
            raise MbrosError(f"{who}: {what}: body {of!r} has a mass of {now[0]:g} kg in this state, and without mass there is nothing to "
                             f"place; expected a mass above zero: set 'mass.{of}' first")
        if not same:
            wrong = body_numbers.impossible(given[0]) if name == "inertia" else None
            if wrong:
                raise MbrosError(f"{who}: {what} is {short(given[0].tolist())}: {wrong}")
            if name != "mass":
                inertia = given if name == "inertia" else body_numbers.read(own, "inertia")
                last = f"{what} is {short(given[0].tolist())}"
            own = body_numbers.written(own, name, given)
            row = own if name == "mass" else body_numbers.compiled(own, place)
        now[:] = finite(who, f"{what}: inertia", row[0]) if name == "mass" else row[0]
    if now[0] > NO_MASS:
        wrong_row = body_numbers.unheld(f"{who}: {last or what}", now[None], place, inertia)
        if wrong_row:
            raise MbrosError(f"{who}: {last}: {wrong_row[1]}")
    here[:] = now


def _flat(model: Model, state: State, kind: Kind, of: str) -> tuple[Array, IntArray]:
    """(the field as a flat view of the state's memory, indices in it) of a parameter: `place` in a state."""
    field, at = place(model, kind, of)
    return state.field(field).reshape(-1), at


def _body(model: Model, name: str) -> int:
    return model.spec.body_names.index(name)


def own_inertia(model: Model, state: State, body: str) -> np.ndarray:
    """A body's mass, moments and inertia (10,): those in the state, or the model's where the state's has no mass left to speak of."""
    return _with_mass(model, state.field("inertia")[_body(model, body)], body)


def _with_mass(model: Model, row: Array, body: str) -> np.ndarray:
    return row if row[0] > NO_MASS else np.asarray(model.spec.inertia)[_body(model, body)]


def directions(model: Model, name: str) -> tuple[str, IntArray, int]:
    """(field of the state, indices in its flat array, how many numbers) of what a parameter moves. Those of bodies move all ten of a row
    (body_numbers), and any other as many as it has."""
    kind, of = split(model, name)
    if kind.of == "lock":
        raise MbrosError(f"{name!r} is on or off: nothing can be differentiated by it")
    field, at = place(model, kind, of)
    return field, at, body_numbers.SIZES[kind.name] if kind.of == "body" else len(at)
