"""Exact derivatives of what the engine computes, to rounding: forward-mode differentiation of the engine's own equations.

    d = mbros.diff.forward_dynamics(model, state, tau)
    d.value, d["q"], d["v"], d["tau"]                # (nv,) and its derivatives, (nv, nv) each

    d = mbros.diff.derivatives(model, "potential_energy", state, wrt=("q", "mass.hand", "force.mount.force_stiffness"))
    A, B = mbros.diff.linearize(model, state, tau)                    # of the accelerations (mbros.diff.linear)
    A, B = mbros.diff.linearize_step(model, state, tau, dt=1e-3)      # of a simulation step; both also of many states in one call

Those of forward and inverse dynamics by "q", "v" and what is given are analytic (mbros_core/algorithms/*_derivatives.pxd), force elements
included. For everything else the same sources that give the numbers are compiled with a number that carries its derivatives
(mbros_core/scalar/dual.hpp): every joint kind, force element and algorithm has them, and they can be no other function's.

With respect to "q" means along the joints' own velocities: column k is the derivative at 0 of f(integrate(q, s e_k)) by s, as
Pinocchio has it; (nq,) results are in coordinates. A parameter's name (model.parameter_names) stands for its numbers. Only the side
of a kink (a stop just touched, Coulomb friction) on which the value is computed counts; steps with contact say in a SwitchWarning where
one is near. Joints and force elements written by users have no derivatives here.

Cost of dual numbers: for every 7 directions with AVX-512, 3 with AVX2, 1 otherwise, about three times forward dynamics' own, and four to
five times inverse dynamics'.
"""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

import mbros_core
from mbros_core import DEFAULT_INTEGRATOR, NonFiniteError
from mbros_core.algorithms.registry import OF_DUALS
from mbros_core.errors import explain_not_finite, inputs_of
from mbros_core.support.numbers import short

from mbros.arguments import check_model, check_state, entries, time_step, vector
from mbros.diff.duals import workspace
from mbros.diff.switches import report
from mbros.errors import MbrosError, unknown

if TYPE_CHECKING:
    from mbros import Body, Frame, Joint, Model
    from mbros_core.engine._engine import State
    from mbros_core.typing import Array, ArrayLike

__all__ = ["Derivatives", "derivatives", "forward_dynamics", "inverse_dynamics"]

GIVEN = {row.name: row.given for row in OF_DUALS.values()}       # name of the vector given with an algorithm, or "" for none


class Derivatives(Mapping[str, np.ndarray]):
    """`value` (n,), and parts[name] (n, k): its derivatives with respect to the k numbers of a variable. Those of a Batch have a first
    axis of its robots.

    Read like the dict `parts`: d["q"], "q" in d, list(d), dict(d), len(d).
    """

    __slots__ = "_block", "_parts", "_value"

    def __init__(self, value: np.ndarray | None, parts: dict[str, np.ndarray] | str, block: np.ndarray | None = None) -> None:
        # or no value, the name of what is given, and both in one array, of which views are made for who looks at them
        self._value, self._parts, self._block = value, parts, block

    @property
    def value(self) -> np.ndarray:
        if self._value is None:
            self._look()
        return self._value                                      # type: ignore[return-value]

    @property
    def parts(self) -> dict[str, np.ndarray]:
        if self._value is None:
            self._look()
        return self._parts                                      # type: ignore[return-value]

    def _look(self) -> None:
        """Value (n,) above derivatives by q, v and what is given, (n, n) each; of many robots one such block after the other."""
        x, given = self._block, self._parts
        assert x is not None and isinstance(given, str)
        n = x.shape[-1]
        self._parts = {name: x[..., 1 + k * n:1 + (k + 1) * n, :] for k, name in enumerate(("q", "v", given))}
        self._value = x[..., 0, :]

    def __getitem__(self, name: str) -> np.ndarray:
        if not isinstance(name, str) or name not in self.parts:
            raise unknown("variable", name, "these derivatives", self.parts)
        return self.parts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.parts)

    def __len__(self) -> int:
        return len(self.parts)

    # it is itself: arrays have no one answer
    __eq__, __hash__ = object.__eq__, object.__hash__           # pyright: ignore[reportAssignmentType]

    def __repr__(self) -> str:
        return f"<Derivatives of {self.value.shape[-1]} numbers: {', '.join(f'{name} {J.shape}' for name, J in self.parts.items())}>"


def derivatives(model: Model, what: str, state: State, given: ArrayLike | None = None, wrt: str | Iterable[str] = ("q", "v"),
                of: str | int | Body | Frame | Joint | None = None, dt: float = 1e-3,
                integrator: str = DEFAULT_INTEGRATOR) -> Derivatives:
    """Derivatives of an algorithm's result at a state.

    what: "forward_dynamics" (given tau), "inverse_dynamics" (given vdot), "inverse_dynamics_derivatives" (n = (1 + 3 nv) nv: tau,
    then the rows of dtau/dq, dtau/dv and M; given vdot), "mass_matrix" (n = nv^2, row by row), "bias_torques",
    "coriolis_torques", "gravity_torques", "passive_torques", "kinetic_energy", "potential_energy", "center_of_mass", "com_jacobian" (n =
    3 nv, row by row), "centroidal_momentum", "frame_pose" (R row by row, then p, in the world), "frame_jacobian" (n = 6 nv, row by row,
    world axes), "frame_velocity", "frame_acceleration" ([w; v] of the frame's origin, world axes, and its rate; given vdot),
    "force_element" (of a pair or body: its wrench on C about Co in A axes, or in world axes, then energy, conservative and
    nonconservative power; of a coordinate: effort, then these), "velocity_to_qdot" (N u, given u), "qdot_to_velocity" (N+ qdot, given
    qdot), "step" (q, then v, after a step; given tau, which is held within the joints' effort limits, as steps do).
    of: the frame or force element. wrt: "q", "v", the given vector's name, or names of parameters.
    """
    names = _names(wrt)
    if isinstance(what, str) and what in ANALYTIC and given is not None and of is None and _all_in(names, ("q", "v", GIVEN[what])):
        check_model(f"derivatives of {what}", model)
        if model._has_slopes(what == "forward_dynamics"):
            time_step(f"derivatives of {what}", dt, integrator)
            whole = ANALYTIC[what](model, state, given)
            return Derivatives(whole.value, {name: whole[name] for name in names})
    wrt = names
    return by_dual_numbers(model, what, state, given, wrt, of, dt, integrator)


def by_dual_numbers(model: Model, what: str, state: State, given: ArrayLike | None = None, wrt: str | Iterable[str] = ("q", "v"),
                    of: str | int | Body | Frame | Joint | None = None, dt: float = 1e-3,
                    integrator: str = DEFAULT_INTEGRATOR) -> Derivatives:
    """What `derivatives` says, of everything by dual numbers: the oracle of what has equations of its own."""
    if not isinstance(what, str) or what not in GIVEN:
        raise unknown("algorithm", what, "mbros.diff", GIVEN)
    check_model(f"derivatives of {what}", model)
    check_state(f"derivatives of {what}", model, state)
    dt = time_step(f"derivatives of {what}", dt, integrator)
    if what == "step":
        refuse_prescribed(f"derivatives of {what}", model, state)
    wrt = _names(wrt)
    work, index, x = workspace(model), _index(model, what, of), _given(model, what, given)
    beyond = None
    if what == "step":
        x, beyond = within_limits(model, x)
    work.write(state, x)
    try:
        directions, parts, count = work.directions(state, GIVEN[what], x, wrt)
    except NonFiniteError:
        raise NonFiniteError(explain_not_finite(model, f"derivatives of {what}", inputs_of(state, GIVEN[what], x))) from None
    try:
        value, J = work.duals.sweep(what, directions, count, index, dt, mbros_core.INTEGRATORS.index(integrator))
    except NonFiniteError:
        raise NonFiniteError(_not_finite(model, what, state, x, work.duals.result[:, 0], wrt)) from None
    if near := work.duals.switches:
        report(model, f"derivatives of {what} of model {model.name!r}", [(None, *switch) for switch in near])
    if beyond is not None and "tau" in parts:
        J[:, parts["tau"]] = np.where(beyond, 0.0, J[:, parts["tau"]])
    return Derivatives(value, {name: J[:, part] for name, part in parts.items()})


def within_limits(model: Model, tau: Array) -> tuple[Array, Any]:
    """tau (..., nv) as a step takes it, within the joints' effort limits; and where it is beyond them (None: nowhere): there the step does
    not change with it."""
    limit = model.spec.effort_limit
    beyond = np.abs(tau) > limit
    return (np.clip(tau, -limit, limit), beyond) if beyond.any() else (tau, None)


def refuse_prescribed(who: str, model: Model, state: State) -> None:
    """A step with contact has no derivatives where a joint is prescribed."""
    if len(model.shapes):
        for joint in model.joints:
            if joint._is_prescribed(state):
                raise MbrosError(f"{who} of model {model.name!r}: joint {joint.name!r} is prescribed, and a step with contact has no "
                                 "derivatives there yet; take differences, or load the robot with collisions=False")


def forward_dynamics(model: Model, state: State, tau: ArrayLike, out: Derivatives | None = None, *, q: ArrayLike | None = None,
                     v: ArrayLike | None = None) -> Derivatives:
    """vdot (nv,) and its derivatives with respect to "q", "v", "tau" (the inverse of the mass matrix, with locks), (nv, nv) each.

    out: what an earlier call for this model returned, to be written over and returned: nothing is allocated. q (nq,), v (nv,): set the
    state first, as state.set(q, v) does.
    """
    try:
        found = model._forward_dynamics_slopes(state, tau, None if out is None else room(out, "tau"), q=q, v=v)
    except AttributeError:
        check_model("derivatives of forward_dynamics", model)
        raise
    if found is None:
        return kept(by_dual_numbers(model, "forward_dynamics", state, tau, ("q", "v", "tau")), out)
    if out is None:
        return Derivatives(None, "tau", found)
    return out if found is out._block else kept(Derivatives(None, "tau", found), out)


def inverse_dynamics(model: Model, state: State, vdot: ArrayLike, out: Derivatives | None = None, *, q: ArrayLike | None = None,
                     v: ArrayLike | None = None) -> Derivatives:
    """tau (nv,) and its derivatives with respect to "q", "v", "vdot" (the mass matrix), (nv, nv) each. out, q, v: as of
    forward_dynamics."""
    try:
        found = model._inverse_dynamics_slopes(state, vdot, None if out is None else room(out, "vdot"), q=q, v=v)
    except AttributeError:
        check_model("derivatives of inverse_dynamics", model)
        raise
    if found is None:
        return kept(by_dual_numbers(model, "inverse_dynamics", state, vdot, ("q", "v", "vdot")), out)
    if out is None:
        return Derivatives(None, "vdot", found)
    return out if found is out._block else kept(Derivatives(None, "vdot", found), out)


def room(out: Derivatives, given: str) -> Array | None:
    """The array of `out`, where an earlier call made it."""
    if not isinstance(out, Derivatives) or (out._parts != given if out._value is None else list(out.parts) != ["q", "v", given]):
        raise MbrosError(f"out: expected what an earlier call returned, derivatives by q, v and {given}, got {short(out)}")
    return out._block


def kept(found: Derivatives, out: Derivatives | None) -> Derivatives:
    """`found`, in `out` where there is one."""
    if out is None:
        return found
    if out.value.shape != found.value.shape:
        raise MbrosError(f"out: expected what an earlier call for this model returned, got {out!r}")
    out.value[...] = found.value
    for name, J in found.items():
        out[name][...] = J
    return out


ANALYTIC = {"forward_dynamics": forward_dynamics, "inverse_dynamics": inverse_dynamics}


# --- what may be wrong


def _all_in(names: tuple[Any, ...], known: tuple[str, ...]) -> bool:
    return bool(names) and all(isinstance(name, str) and name in known for name in names)


def _names(wrt: str | Iterable[str]) -> tuple[str, ...]:
    if isinstance(wrt, str):
        return (wrt,)
    names = entries(wrt)
    if names is None:
        raise MbrosError(f"wrt: expected names of variables, got {short(wrt)}")
    return tuple(names)


def _given(model: Model, what: str, given: Any) -> np.ndarray:
    """The vector given with `what`, (nv,) or (nq,) finite numbers; empty where none is taken."""
    name = GIVEN[what]
    if not name:
        if given is not None:
            raise MbrosError(f"{what} is given nothing but a state, got {short(given)}")
        return np.zeros(0)
    return vector(f"{what} of model {model.name!r}", name, given, model.nq if name == "qdot" else model.nv)


def _index(model: Model, what: str, of: Any) -> int:
    if OF_DUALS[what].of == "frame":
        return model._frame_index(of)
    if what == "force_element":
        if of is None:
            raise MbrosError(f"force_element of model {model.name!r}: of: expected the name of one, got None")
        element = model.force_elements[of]
        if element.kind == "stop":
            raise MbrosError(f"{element._label} is part of its joint: its derivatives are those of passive efforts, in forward_dynamics")
        return element._entry.index
    if of is not None:
        raise MbrosError(f"{what} has no part that could be named: of is {short(of)}")
    return -1


def _not_finite(model: Model, what: str, state: State, x: Array, value: Array, wrt: tuple[str, ...]) -> str:
    """Why a result is not finite: the engine's own words when its value is not; else there is no derivative."""
    if not np.isfinite(value[:model.nv] if what == "inverse_dynamics_derivatives" else value).all():
        return explain_not_finite(model, f"derivatives of {what}", inputs_of(state, GIVEN[what], x))
    return (f"derivatives of {what} of model {model.name!r} with respect to {', '.join(wrt)}: the value is finite and a derivative is not. "
            "There is none here, as for the length of a spring whose ends touch")
