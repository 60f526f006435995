"""Which class of mbros.model.forces.element answers for which kind, with an attribute, a getter and a setter for every parameter."""
from __future__ import annotations

import numpy as np
from mbros_core.errors import NonFiniteError

from mbros.describe.forces.parameters import Group, checked, groups
from mbros.model.forces.element import BodyPart, BushingBase, JointPart, PairPart, Part


class StopPart(JointPart):
    """The stops at the limits of one joint coordinate: tau = -max(0, stiffness x + damping v), x how far beyond a limit."""

    def __init__(self, model, index, row):
        super().__init__(model, index, row)
        own = {"stiffness": Group("stiffness", 0, 1, "N m/rad, N/m", 0.0), "damping": Group("damping", 1, 1, "N m s/rad, N s/m", 0.0)}
        self._made_of(lower=float(model.spec.q_lower[row.iq]), upper=float(model.spec.q_upper[row.iq]), groups=own)

    def _numbers(self, state, what):
        """As the engine's numbers: tau, C, K, energy, conservative and nonconservative power."""
        self._own(state)
        k, c = self._row(state)
        q, v = float(state.q[self.row.iq]), float(state.v[self.row.iv])
        if not (np.isfinite(q) and np.isfinite(v)):
            raise NonFiniteError(f"{what} of {self.label}: q is {q} and v is {v}; expected finite numbers")
        beyond, side = (q - self.upper, 1.0) if q > self.upper else (self.lower - q, -1.0) if q < self.lower else (0.0, 0.0)
        push = max(0.0, k * beyond + side * c * v) if side else 0.0
        conservative = -k * beyond * side * v
        return [-side * push, c * (push > 0.0), k * (push > 0.0), 0.5 * k * beyond**2, conservative, -side * push * v - conservative]

    def _defaults(self):
        return np.array([self.model.spec.stop_stiffness[self.row.iv], self.model.spec.stop_damping[self.row.iv]])

    def _row(self, state):
        return np.array([state.field("stop_stiffness")[self.row.iv], state.field("stop_damping")[self.row.iv]])

    def update(self, state, values):
        self._own(state)
        self._check_names(values)
        good = {name: checked(self.label, self._group(name), value)[0] for name, value in values.items()}
        for name, value in good.items():
            state.field("stop_" + name)[self.row.iv] = value
        return self


def _with_parameters(base, name, kind):
    """A class with an attribute, a getter and a setter for every parameter group of a kind."""
    members = {"__doc__": base.__doc__, "__module__": __name__}
    names = groups(kind) if kind != "stop" else {"stiffness": None, "damping": None}
    for group in names:
        members.update(_words(group, "" if names[group] is None else f", {names[group].unit or 'no unit'}"))
    return type(name, (base,), members)


def _words(group, unit) -> dict:
    """The attribute, getter and setter of one group."""
    def default(self):
        return self.default(group)

    def get(self, state):
        return self.get(state, group)

    def put(self, state, value):
        return self.set(state, group, value)

    default.__doc__ = f"{group} the model was built with{unit}."
    get.__doc__, put.__doc__ = f"{group} in a state{unit}.", f"Set {group} in a state{unit}. Returns the element."
    return {group: property(default), f"get_{group}": get, f"set_{group}": put}


BushingPart = _with_parameters(BushingBase, "BushingPart", "bushing")
CLASSES = {
    "bushing": BushingPart, "bushing_energy_consistent": BushingPart, "bushing_quaternion": BushingPart,
    "spring_damper": _with_parameters(PairPart, "SpringDamperPart", "spring_damper"),
    "joint_spring": _with_parameters(JointPart, "JointSpringPart", "joint_spring"),
    "door_hinge": _with_parameters(JointPart, "DoorHingePart", "door_hinge"),
    "stribeck": _with_parameters(JointPart, "StribeckPart", "stribeck"),
    "body_wrench": _with_parameters(BodyPart, "BodyWrenchPart", "body_wrench"),
    "body_gravity": _with_parameters(BodyPart, "BodyGravityPart", "body_gravity"),
    "user": PairPart,
    "stop": _with_parameters(StopPart, "JointStopPart", "stop"),
}


def parts(model, rows) -> list[Part]:
    """The elements of a model from compiled.force_elements."""
    return [CLASSES[row.kind](model, index, row) for index, row in enumerate(rows)]
