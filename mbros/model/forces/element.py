"""Force elements of a model: what they do in a state, and their numbers there.

    f = model.force_elements["mount"]
    f.spatial_force_on_frame_A(state), f.potential_energy(state), f.set_torque_stiffness(state, (10, 10, 10))

A bushing within 0.46 degrees of a pitch of +-90 degrees raises GimbalLockError from every one of these.
"""
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NoReturn, cast

import numpy as np
from mbros_core.errors import GimbalLockError, NonFiniteError
from mbros_core.support.numbers import short

from mbros.arguments import check_model, check_state
from mbros.describe.forces.groups import Group, groups, row
from mbros.errors import MbrosError, unknown
from mbros.model.frozen import FrozenPart
from mbros.spatial.vectors import SpatialForce

if TYPE_CHECKING:
    from mbros import Body, Frame, Joint, Model
    from mbros.model.forces.bushing import BushingMeasure
    from mbros.model.tables import CompiledElement
    from mbros_core.engine._engine import State
    from mbros_core.typing import Array
    from typing_extensions import Self


class Forces:
    """Where elements add what they do. `bodies` (nbodies, 6): wrenches [torque; force] on the model's bodies about the bodies'
    origins, in world axes. `coordinates` (nv,): generalized forces in the joints."""

    def __init__(self, model: Model) -> None:
        check_model("Forces", model)
        self.model = model
        self.bodies = np.zeros((len(model.bodies), 6))
        self.coordinates = np.zeros(model.nv)

    def generalized(self, state: State) -> np.ndarray:
        """All of them as generalized forces (nv,): coordinates + sum of J^T F."""
        check_state("Forces", self.model, state)
        tau = self.coordinates.copy()
        for body, wrench in zip(self.model.bodies, self.bodies):
            if wrench.any():
                tau += self.model._frame_jacobian(state, body._frame_index).T @ wrench
        return tau


class Part(FrozenPart):
    """A force element of a model. index: where it is in model.force_elements. kind: the engine's name of its law. robot: the group it
    came in with."""

    _LIST = "force_elements"
    model: Model
    index: int
    _entry: CompiledElement
    name: str
    kind: str
    robot: str
    groups: dict[str, Group]

    if TYPE_CHECKING:           # the words of its kind: get_<parameter>, set_<parameter>, ... (mbros.model.forces.kinds)
        def __getattr__(self, name: str) -> Any: ...

    def __init__(self, model: Model, index: int, row: CompiledElement) -> None:
        self._made_of(model=model, index=index, _entry=row, name=row.name, kind=row.kind, robot=row.robot, groups=groups(row.kind))

    @property
    def _label(self) -> str:
        """How messages name it."""
        return f"force element {self.name!r} ({self.kind})"

    # ------------------------------------------------------------------------------------------- energy and power

    def potential_energy(self, state: State) -> float:
        """Energy stored in it, J."""
        return self._numbers(state, "potential_energy")[3]

    def conservative_power(self, state: State) -> float:
        """The power it delivers from its store, -d(energy)/dt, W."""
        return self._numbers(state, "conservative_power")[4]

    def nonconservative_power(self, state: State) -> float:
        """The power of the rest, W: never positive for dampers and friction."""
        return self._numbers(state, "nonconservative_power")[5]

    def dissipated_power(self, state: State) -> float:
        """-nonconservative_power, W."""
        return -self.nonconservative_power(state)

    def check(self, state: State) -> list[str]:
        """Whether its forces, powers and energy fit each other around a state: what is off, in sentences; none: nothing is."""
        from mbros.model.forces.consistency import findings      # start-up time: who does not use it does not pay

        self._own(state)
        return findings(self, state)

    def _numbers(self, state: State, what: str) -> list[float]:
        return [float(x) for x in self._evaluate(state, what)[3]]

    def _evaluate(self, state: State, what: str) -> tuple[Array, Array, Array, Array]:
        """(F_A, F_C, F_own, numbers) of the engine; raises when they are not finite."""
        self._own(state)
        result = self.model._force_element_or_nan(state, self._entry.index)
        if not all(np.isfinite(numbers).all() for numbers in result):
            self._explain(state, what)
        return result

    def _own(self, state: object) -> None:
        check_state(self._label, self.model, state)

    def _explain(self, state: State, what: str) -> NoReturn:
        from mbros_core.forces.diagnosis import cause

        found = cause(self.model, np.array(state.q), np.array(state.v))
        if found is None:
            raise NonFiniteError(f"{what} of {self._label} is not finite: look at the state's q and v")
        text = f"{what}: {found[0]}"
        raise GimbalLockError(text, found[1]) if found[1] else NonFiniteError(text)

    # ------------------------------------------------------------------------------------------------- parameters

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """The tunable numbers; each has get_<name>(state) and set_<name>(state, value), and the default as attribute <name>."""
        return tuple(self.groups)

    def default(self, name: str) -> Any:
        """The value the model was built with: a number, or an array of the group's size."""
        return self._out(name, self._defaults())

    def get(self, state: State, name: str) -> Any:
        """The value in a state."""
        self._own(state)
        return self._out(name, self._row(state))

    def set(self, state: State, name: str, value: Any) -> Self:
        """Change the value in a state; refused values change nothing. Returns the element."""
        return self.update(state, {self._group(name).name: value})

    def update(self, state: State, values: Mapping[str, Any]) -> Self:
        """Change several values in a state, {name: value}, all of them or none; what they must be together is asked once, after
        the last. Returns the element."""
        self._own(state)
        self._check_names(values)
        self._row(state)[:] = row(self._label, self.kind, values, self._row(state))
        return self

    def _check_names(self, values: object) -> None:
        if not isinstance(values, dict):
            raise MbrosError(f"{self._label}: values: expected {{name: value}} of {', '.join(self.groups) or 'no parameters'}, got "
                             f"{short(values)}")
        for name in values:
            self._group(name)

    def _group(self, name: str) -> Group:
        if not isinstance(name, str) or name not in self.groups:
            raise unknown("parameter", name, self._label, self.groups)
        return self.groups[name]

    def _out(self, name: str, row: Array) -> Any:
        group = self._group(name)
        return np.array(row[group.place]) if group.size > 1 else float(row[group.start])

    def _defaults(self) -> Array:
        return self.model.spec.force_parameters[self._entry.index]

    def _row(self, state: State) -> Array:
        return state.field("force_parameters")[self._entry.index]

    # ------------------------------------------------------------------------------------------------------ forces

    def add_forces(self, state: State, forces: Forces) -> Self:
        """Add what it does to `forces`. Returns the element."""
        raise NotImplementedError

    def generalized_force(self, state: State) -> np.ndarray:
        """What it adds to the generalized forces (nv,), N m and N."""
        forces = Forces(self.model)
        self.add_forces(state, forces)
        return forces.generalized(state)

    def where(self) -> str:
        """What it acts on."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<force element {self.name!r}: {self.kind}, {self.where()}>"


class PairPart(Part):
    """Acts between frame_a on link_a and frame_c on link_c, equal and opposite."""

    frame_a: Frame
    frame_c: Frame
    link_a: Body
    link_c: Body

    def __init__(self, model: Model, index: int, row: CompiledElement) -> None:
        super().__init__(model, index, row)
        a, c = model.frames[row.frame_a], model.frames[row.frame_c]
        self._made_of(frame_a=a, frame_c=c, link_a=model.bodies[a.body_name], link_c=model.bodies[c.body_name])

    def where(self) -> str:
        return f"frame A {self.frame_a.name!r} to frame C {self.frame_c.name!r}"

    def implicit_share(self, state: State, dt: float = 1e-3) -> float:
        """How far a midpoint step of dt takes it implicitly: 0 where it is soft, and explicit at the middle of the step; 1 where it is
        implicit and stable at any stiffness; between on the way from the one to the other. docs/integrators.md has the rule. Always 0 of
        elements written by users; semi_implicit_euler and rk4 are explicit for all."""
        self._own(state)
        return float(self.model._implicit_shares(state, dt)[self._entry.index])

    def wrench(self, state: State) -> SpatialForce:
        """The wrench on C: torque about Co and force, in A axes. Of an element that was implicit in the midpoint step that led to this
        state: the mean over that step, which moved the robot; so do the forces below."""
        return SpatialForce(self._evaluate(state, "wrench")[2].copy(), self.frame_c.name, self.frame_a.name)

    def spatial_force_on_frame_A(self, state: State) -> SpatialForce:
        """F_A_A: torque about Ao and force on A, in A axes."""
        F = self._evaluate(state, "spatial_force_on_frame_A")[2]
        p = self.model._frame_pose(state, self._entry.frame_c, self._entry.frame_a)[9:]
        return SpatialForce(np.concatenate([-F[:3] - np.cross(p, F[3:]), -F[3:]]), self.frame_a.name, self.frame_a.name)

    def spatial_force_on_frame_C(self, state: State) -> SpatialForce:
        """F_C_C: torque about Co and force on C, in C axes."""
        F = self._evaluate(state, "spatial_force_on_frame_C")[2]
        R_AC = self.model._frame_pose(state, self._entry.frame_c, self._entry.frame_a)[:9].reshape(3, 3)
        return SpatialForce(np.concatenate([R_AC.T @ F[:3], R_AC.T @ F[3:]]), self.frame_c.name, self.frame_c.name)

    def add_forces(self, state: State, forces: Forces) -> Self:
        check_forces(self, forces)
        F = self._evaluate(state, "add_forces")[2]
        X_WA, X_WC = (self.model._frame_pose(state, at) for at in (self._entry.frame_a, self._entry.frame_c))
        R = X_WA[:9].reshape(3, 3)
        _add(self.model, state, forces, self.link_c, X_WC[9:], R @ F[:3], R @ F[3:])
        _add(self.model, state, forces, self.link_a, X_WC[9:], -R @ F[:3], -R @ F[3:])
        return self


class BushingBase(PairPart):
    """A linear bushing on roll, pitch, yaw: see mbros.LinearBushingRollPitchYaw."""

    @property
    def law(self) -> str:
        """"drake", "energy_consistent" or "quaternion"."""
        return self.kind.removeprefix("bushing").removeprefix("_") or "drake"

    def measure(self, state: State) -> BushingMeasure:
        """Angles, rates, half-way frame, displacement, gimbal torques and force: mbros.model.forces.bushing.BushingMeasure."""
        from mbros.model.forces.bushing import measure      # start-up time: who does not use it does not pay

        return measure(self, state)


class BodyPart(Part):
    """Acts on link_c alone, at frame_c."""

    frame_a = link_a = None
    frame_c: Frame
    link_c: Body

    def __init__(self, model: Model, index: int, row: CompiledElement) -> None:
        super().__init__(model, index, row)
        c = model.frames[row.frame_c]
        self._made_of(frame_c=c, link_c=model.bodies[c.body_name])

    def where(self) -> str:
        return f"at frame {self.frame_c.name!r}"

    def wrench(self, state: State) -> SpatialForce:
        """The wrench on the body: torque about the frame's origin and force, in world axes."""
        return SpatialForce(self._evaluate(state, "wrench")[2].copy(), self.frame_c.name, "world")

    def add_forces(self, state: State, forces: Forces) -> Self:
        check_forces(self, forces)
        F = self._evaluate(state, "add_forces")[2]
        _add(self.model, state, forces, self.link_c, self.model._frame_pose(state, self._entry.frame_c)[9:], F[:3], F[3:])
        return self


class JointPart(Part):
    """Acts on one velocity coordinate of `joint`."""

    frame_a = frame_c = link_a = link_c = None
    joint: Joint
    coordinate: int

    def __init__(self, model: Model, index: int, row: CompiledElement) -> None:
        super().__init__(model, index, row)
        joint = model.joints[cast(str, row.joint)]
        self._made_of(joint=joint, coordinate=row.iv - joint.v_slice.start)

    def where(self) -> str:
        return f"on joint {self.joint.name!r}" + (f", coordinate {self.coordinate}" if self.joint.nv > 1 else "")

    def effort(self, state: State) -> float:
        """The generalized force on its coordinate, N m or N."""
        return self._numbers(state, "effort")[0]

    def add_forces(self, state: State, forces: Forces) -> Self:
        check_forces(self, forces)
        forces.coordinates[self._entry.iv] += self.effort(state)
        return self


def check_forces(part: Part, forces: object) -> None:
    """MbrosError unless they are Forces of the part's model."""
    if not isinstance(forces, Forces) or forces.model is not part.model:
        raise MbrosError(f"{part._label}: forces: expected Forces(model) of model {part.model.name!r}, got {short(forces)}")


def _add(model: Model, state: State, forces: Forces, link: Body, point: Array, torque: Array, force: Array) -> None:
    """A wrench through `point` (W), in W axes, on a body about the body's origin."""
    arm = point - model._frame_pose(state, link._frame_index)[9:]
    forces.bodies[_body_index(model, link)] += np.concatenate([torque + np.cross(arm, force), force])


def _body_index(model: Model, link: Body) -> int:
    return link._frame_index             # the frame table starts with the bodies, in their order
