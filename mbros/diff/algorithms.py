"""Exact derivatives of what the engine computes, to rounding: forward-mode differentiation of the engine's own equations.

    d = mbros.diff.forward_dynamics(model, state, tau)
    d.value, d["q"], d["v"], d["tau"]                # (nv,) and its derivatives, (nv, nv) each

    d = mbros.diff.derivatives(model, "potential_energy", state, wrt=("q", "mass.hand", "force.mount.force_stiffness"))
    A, B = mbros.diff.linearize(model, state, tau)                    # of the accelerations
    A, B = mbros.diff.linearize_step(model, state, tau, dt=1e-3)      # of a simulation step

The same sources that give the numbers are compiled with a number that carries its derivatives (mbros_core/dual.hpp), so every
joint kind, force element and algorithm has them, and they can be no other function's derivatives.

With respect to "q" means along the joints' own velocities: column k is the derivative at 0 of f(integrate(q, s e_k)) by s, as
Pinocchio has it; (nq,) results are in coordinates. A parameter's name (model.parameter_names) stands for its numbers. Only the side
of a kink (a stop just touched, Coulomb friction) on which the value is computed counts. Joints and force elements
written by users have no derivatives here.

Cost: for every 7 directions with AVX-512, 3 with AVX2, 1 otherwise, about three times forward dynamics' own, and four to five
times inverse dynamics'.
"""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

import mbros_core
from mbros_core import NonFiniteError
from mbros_core.errors import explain_not_finite, inputs_of
from mbros_core.numbers import short

from mbros.arguments import check_model, check_state, time_step, vector
from mbros.diff.duals import workspace
from mbros.errors import MbrosError
from mbros.errors import unknown

__all__ = ["Derivatives", "derivatives", "forward_dynamics", "inverse_dynamics", "linearize", "linearize_step"]

# what: name of the vector given with it, or "" for none
GIVEN = {"forward_dynamics": "tau", "inverse_dynamics": "vdot", "velocity_to_qdot": "u", "qdot_to_velocity": "qdot", "step": "tau",
         "mass_matrix": "", "bias_torques": "", "gravity_torques": "", "kinetic_energy": "", "potential_energy": "",
         "center_of_mass": "", "frame_pose": "", "frame_velocity": "", "frame_acceleration": "vdot", "force_element": ""}


@dataclass(frozen=True, eq=False, repr=False)
class Derivatives(Mapping):
    """`value` (n,), and parts[name] (n, k): its derivatives with respect to the k numbers of a variable.

    Read like the dict `parts`: d["q"], "q" in d, list(d), dict(d), len(d).
    """

    value: np.ndarray
    parts: dict[str, np.ndarray]

    def __getitem__(self, name):
        if name not in self.parts:
            raise unknown("variable", name, "these derivatives", self.parts)
        return self.parts[name]

    def __iter__(self):
        return iter(self.parts)

    def __len__(self):
        return len(self.parts)

    __eq__, __hash__ = object.__eq__, object.__hash__           # it is itself: arrays have no one answer

    def __repr__(self):
        return f"<Derivatives of {len(self.value)} numbers: {', '.join(f'{name} {J.shape}' for name, J in self.parts.items())}>"


def derivatives(model, what, state, given=None, wrt=("q", "v"), of=None, dt=1e-3, integrator="semi_implicit_euler") -> Derivatives:
    """Derivatives of an algorithm's result at a state.

    what: "forward_dynamics" (given tau), "inverse_dynamics" (given vdot), "mass_matrix" (n = nv^2, row by row), "bias_torques",
    "gravity_torques", "kinetic_energy", "potential_energy", "center_of_mass", "frame_pose" (R row by row, then p, in the world),
    "frame_velocity", "frame_acceleration" ([w; v] of the frame's origin, world axes, and its rate), "force_element" (of a pair or body: its wrench on C about Co in A
    axes, or in world axes, then energy, conservative and nonconservative power; of a coordinate: effort, then these),
    "velocity_to_qdot" (N u, given u), "qdot_to_velocity" (N+ qdot, given qdot), "step" (q, then v, after a step; given tau).
    of: the frame or force element. wrt: "q", "v", the given vector's name, or names of parameters.
    """
    if not isinstance(what, str) or what not in GIVEN:
        raise unknown("algorithm", what, "mbros.diff", GIVEN)
    check_model(f"derivatives of {what}", model)
    check_state(f"derivatives of {what}", model, state)
    dt = time_step(f"derivatives of {what}", dt, integrator)
    wrt = _names(wrt)
    work, index, x = workspace(model), _index(model, what, of), _given(model, what, given)
    work.write(state, x)
    directions, parts, count = work.directions(state, GIVEN[what], x, wrt)
    try:
        value, J = work.duals.sweep(what, directions, count, index, dt, mbros_core.INTEGRATORS.index(integrator))
    except NonFiniteError:
        raise NonFiniteError(_not_finite(model, what, state, x, work.duals.result[:, 0], wrt)) from None
    return Derivatives(value, {name: J[:, part] for name, part in parts.items()})


def forward_dynamics(model, state, tau) -> Derivatives:
    """vdot (nv,) and its derivatives with respect to "q", "v", "tau" (the inverse of the mass matrix, with locks), (nv, nv) each."""
    return derivatives(model, "forward_dynamics", state, tau, ("q", "v", "tau"))


def inverse_dynamics(model, state, vdot) -> Derivatives:
    """tau (nv,) and its derivatives with respect to "q", "v", "vdot" (the mass matrix), (nv, nv) each."""
    return derivatives(model, "inverse_dynamics", state, vdot, ("q", "v", "vdot"))


def linearize(model, state, tau):
    """(A (2 nv, 2 nv), B (2 nv, nv)) with d/dt (dq, dv) = A (dq, dv) + B dtau for small deviations from the motion through `state`.

    dq along the joints' velocities: the deviating configuration is integrate(q(t), dq(t)).
    """
    d = forward_dynamics(model, state, tau)
    n = model.nv
    A, B = np.zeros((2 * n, 2 * n)), np.zeros((2 * n, n))
    A[:n, :n], A[:n, n:], A[n:, :n], A[n:, n:] = _turning(model, state), np.eye(n), d["q"], d["v"]
    B[n:] = d["tau"]
    return A, B


def linearize_step(model, state, tau, dt=1e-3, integrator="semi_implicit_euler"):
    """(A (2 nv, 2 nv), B (2 nv, nv)) of one step: (dq, dv) afterwards = A (dq, dv) + B dtau, with dq as in `linearize`."""
    d = derivatives(model, "step", state, tau, ("q", "v", "tau"), dt=dt, integrator=integrator)
    J = np.hstack([d["q"], d["v"], d["tau"]])
    after = state.copy()
    after.q[:] = d.value[:model.nq]
    J = np.vstack([_along_joints(model, after, J[:model.nq]), J[model.nq:]])
    return J[:, :2 * model.nv], J[:, 2 * model.nv:]


def _turning(model, state):
    """d(dq)/dt for dv = 0: N+ (D N[N dq] v - D N[N v] dq), zero where v is qdot. DN[x]: derivative of N(q) in direction x."""
    work, across = workspace(model), np.empty((model.nq, model.nv))
    if work.rates:
        return np.zeros((model.nv, model.nv))
    along = derivatives(model, "velocity_to_qdot", state, state.v, ("q",))["q"]
    motion = [(work.inputs["q"], model.velocity_to_qdot(state, state.v)[None])]
    for k, e in enumerate(np.eye(model.nv)):
        work.write(state, e)
        across[:, k] = work.duals.sweep("velocity_to_qdot", motion, 1)[1][:, 0]
    return _along_joints(model, state, along - across)


def _along_joints(model, state, J):
    """N+ J (nv, n): columns in coordinates (nq, n) as columns along the joints' velocities."""
    return np.array([model.qdot_to_velocity(state, column) for column in np.ascontiguousarray(J.T)]).reshape(J.shape[1], model.nv).T


# --- what may be wrong


def _names(wrt) -> tuple[str, ...]:
    if isinstance(wrt, str):
        return (wrt,)
    if not isinstance(wrt, Iterable):
        raise MbrosError(f"wrt: expected names of variables, got {short(wrt)}")
    return tuple(wrt)


def _given(model, what, given) -> np.ndarray:
    """The vector given with `what`, (nv,) or (nq,) finite numbers; empty where none is taken."""
    name = GIVEN[what]
    if not name:
        if given is not None:
            raise MbrosError(f"{what} is given nothing but a state, got {short(given)}")
        return np.zeros(0)
    return vector(f"{what} of model {model.name!r}", name, given, model.nq if name == "qdot" else model.nv)


def _index(model, what, of) -> int:
    if what.startswith("frame_"):
        return model.frame_index(of)
    if what == "force_element":
        if of is None:
            raise MbrosError(f"force_element of model {model.name!r}: of: expected the name of one, got None")
        element = model.force_elements[of]
        if element.kind == "stop":
            raise MbrosError(f"{element.label} is part of its joint: its derivatives are those of passive efforts, in forward_dynamics")
        return element.row.index
    if of is not None:
        raise MbrosError(f"{what} has no part that could be named: of is {of!r}")
    return -1


def _not_finite(model, what, state, x, value, wrt) -> str:
    """Why a result is not finite: the engine's own words when its value is not; else there is no derivative."""
    if not np.isfinite(value).all():
        return explain_not_finite(model, f"derivatives of {what}", inputs_of(state, GIVEN[what], x))
    return (f"derivatives of {what} of model {model.name!r} with respect to {', '.join(wrt)}: the value is finite and a derivative is not. "
            "There is none here, as for the length of a spring whose ends touch")
