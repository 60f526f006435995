"""Which class of mbros.model.forces.element answers for which kind, with an attribute, a getter and a setter for every parameter."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from mbros_core.errors import NonFiniteError
from mbros_core.forces.registry import ROWS

from mbros.describe.forces.groups import Group, checked, groups
from mbros.model.forces.element import BodyPart, BushingBase, JointPart, PairPart, Part

if TYPE_CHECKING:
    from mbros import Model
    from mbros.model.tables import CompiledElement
    from mbros_core.engine._engine import State
    from mbros_core.typing import Array
    from typing_extensions import Self


class StopPart(JointPart):
    """The stops at the limits of one joint coordinate: tau = -max(0, stiffness x + damping v), x how far beyond a limit."""

    lower: float
    upper: float

    def __init__(self, model: Model, index: int, row: CompiledElement) -> None:
        super().__init__(model, index, row)
        own = {"stiffness": Group("stiffness", 0, 1, "N m/rad, N/m", 0.0), "damping": Group("damping", 1, 1, "N m s/rad, N s/m", 0.0)}
        self._made_of(lower=float(model.spec.q_lower[row.iq]), upper=float(model.spec.q_upper[row.iq]), groups=own)

    def _numbers(self, state: State, what: str) -> list[float]:
        """As the engine's numbers: tau, C, K, energy, conservative and nonconservative power."""
        self._own(state)
        k, c = self._row(state)
        q, v = float(state.q[self._entry.iq]), float(state.v[self._entry.iv])
        if not (np.isfinite(q) and np.isfinite(v)):
            raise NonFiniteError(f"{what} of {self._label}: q is {q} and v is {v}; expected finite numbers")
        beyond, side = (q - self.upper, 1.0) if q > self.upper else (self.lower - q, -1.0) if q < self.lower else (0.0, 0.0)
        push = max(0.0, k * beyond + side * c * v) if side else 0.0
        conservative = -k * beyond * side * v
        return [-side * push, c * (push > 0.0), k * (push > 0.0), 0.5 * k * beyond**2, conservative, -side * push * v - conservative]

    def _defaults(self) -> Array:
        return np.array([self.model.spec.stop_stiffness[self._entry.iv], self.model.spec.stop_damping[self._entry.iv]])

    def _row(self, state: State) -> Array:
        return np.array([state.field("stop_stiffness")[self._entry.iv], state.field("stop_damping")[self._entry.iv]])

    def update(self, state: State, values: Mapping[str, Any]) -> Self:
        self._own(state)
        self._check_names(values)
        good = {name: checked(self._label, self._group(name), value)[0] for name, value in values.items()}
        for name, value in good.items():
            state.field("stop_" + name)[self._entry.iv] = value
        return self


def _with_parameters(base: type[Part], name: str, kind: str) -> type[Any]:
    """A class with an attribute, a getter and a setter for every parameter group of a kind."""
    members = {"__doc__": base.__doc__, "__module__": __name__}
    names: dict[str, Any] = {**groups(kind)} if kind != "stop" else {"stiffness": None, "damping": None}
    for group in names:
        members.update(_words(group, "" if names[group] is None else f", {names[group].unit or 'no unit'}"))
    return type(name, (base,), members)


def _words(group: str, unit: str) -> dict[str, Any]:
    """The attribute, getter and setter of one group."""
    def default(self: Part) -> Any:
        return self.default(group)

    def get(self: Part, state: State) -> Any:
        return self.get(state, group)

    def put(self: Part, state: State, value: Any) -> Part:
        return self.set(state, group, value)

    default.__doc__ = f"{group} the model was built with{unit}."
    get.__doc__, put.__doc__ = f"{group} in a state{unit}.", f"Set {group} in a state{unit}. Returns the element."
    return {group: property(default), f"get_{group}": get, f"set_{group}": put}


BushingPart = _with_parameters(BushingBase, "BushingPart", "bushing")
BASES = {"pair": PairPart, "coordinate": JointPart, "body": BodyPart}
CLASSES = {row.name: BushingPart if row.name.startswith("bushing") else
           _with_parameters(BASES[row.acts_on], row.name.title().replace("_", "") + "Part", row.name) for row in ROWS}
CLASSES.update(user=PairPart, stop=_with_parameters(StopPart, "JointStopPart", "stop"))


def parts(model: Model, rows: Iterable[CompiledElement]) -> list[Part]:
    """The elements of a model from compiled.force_elements."""
    return [CLASSES[row.kind](model, index, row) for index, row in enumerate(rows)]
