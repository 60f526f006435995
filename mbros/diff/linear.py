"""Exact linear dynamics of small deviations (dq, dv), dtau: at one state, or at many in one call, on all cores. Analytic where there are
equations for it (mbros_core LinearDynamics), else over dual numbers, point by point.

dq is along the joints' velocities: the deviating configuration is integrate(q(t), dq(t)). See mbros.diff.algorithms for what a derivative
is, and what has none.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mbros_core
import numpy as np
from mbros_core import DEFAULT_INTEGRATOR, NonFiniteError, State
from mbros_core.support.available import Room
from mbros_core.support.numbers import short
from mbros_core.support.threads import shares, side_by_side

from mbros.arguments import check_model, check_state, finite, reals, rows, time_step, vector
from mbros.diff.algorithms import derivatives, refuse_prescribed, within_limits
from mbros.diff.duals import linear_dynamics, linearizers
from mbros.diff.switches import report
from mbros.errors import MbrosError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbros import Model
    from mbros_core.engine._engine import LinearDynamics, Linearizer
    from mbros_core.typing import Array, ArrayLike

    States = State | Sequence[State] | tuple[ArrayLike, ArrayLike]      # (q, v): arrays of a row for each point

ALONE = 16              # points that one thread takes before another one could join in


def linearize(model: Model, states: States, tau: ArrayLike, *, threads: int | None = None) -> tuple[Array, Array]:
    """(A (2 nv, 2 nv), B (2 nv, nv)) with d/dt (dq, dv) = A (dq, dv) + B dtau for small deviations from the motion through a state.

    states: a State; or many, for A (n, 2 nv, 2 nv) and B (n, 2 nv, nv): a list of them, each with its parameters, or (q, v), arrays
    (n, nq) and (n, nv), with the model's own parameters. tau (nv,), for all, or (n, nv).
    """
    return _linearize(model, states, tau, "forward_dynamics", 1e-3, DEFAULT_INTEGRATOR, threads)


def linearize_step(model: Model, states: States, tau: ArrayLike, dt: float = 1e-3, integrator: str = DEFAULT_INTEGRATOR, *,
                   previous_acceleration: bool = False, threads: int | None = None) -> tuple[Array, Array]:
    """(A (2 nv, 2 nv), B (2 nv, nv)) of one step: (dq, dv) afterwards = A (dq, dv) + B dtau; of many states as in `linearize`.

    previous_acceleration: A (3 nv, 3 nv), B (3 nv, nv) of (dq, dv, da), a = (v+ - v) / h of the last midpoint step, from which the next one
    starts (state.field("a_prev")). With it the product of A along a run is the derivative of the run; without it a is held.
    With contact, too; where a contact is about to begin, to end or to slip, a SwitchWarning says so. Efforts beyond a joint's limit change
    nothing: their columns of B are zero.
    """
    dt = time_step("linearize_step", dt, integrator)
    if not previous_acceleration:
        return _linearize(model, states, tau, "step", dt, integrator, threads)
    if integrator != "midpoint":
        raise MbrosError(f"linearize_step: previous_acceleration: only the midpoint step starts from it; {short(integrator)} keeps nothing")
    return _with_last(model, states, tau, dt, threads)


def _with_last(model: Model, states: Any, tau: ArrayLike, dt: float, threads: int | None) -> tuple[Array, Array]:
    """A and B of (dq, dv, da). Where a joint can move, da+ = (dv+ - dv) / dt."""
    check_model("linearize", model)
    n = model.nv
    points = len(_inputs(model, f"linearize of model {model.name!r}", [states] if isinstance(states, State) else states))
    C = np.empty((points, 2 * n, n))
    A, B = _linearize(model, states, tau, "step", dt, "midpoint", threads, C)
    if isinstance(states, State):
        C = C[0]
    moves = (1.0 - np.isin(_locks(model, states), (1.0, 2.0)))[..., None] / dt
    of_v = np.hstack([np.zeros((n, n)), np.eye(n)])
    top = np.concatenate([A, C], axis=-1)
    change = np.concatenate([A[..., n:, :] - of_v, C[..., n:, :]], axis=-1)
    return (np.concatenate([top, moves * change], axis=-2), np.concatenate([B, moves * B[..., n:, :]], axis=-2))


def _locks(model: Model, states: Any) -> Array:
    if isinstance(states, State):
        return np.array(states.field("lock"))
    if isinstance(states, tuple):
        return np.array(model.default_state().field("lock"))
    return np.array([state.field("lock") for state in states]).reshape(len(states), model.nv)


def _linearize(model: Model, states: Any, tau: ArrayLike, what: str, dt: float, integrator: str, threads: int | None,
               C: Array | None = None) -> tuple[Array, Array]:
    """C: room for derivatives of a step by a_prev (points, 2 nv, nv), if they are asked for."""
    check_model("linearize", model)
    beyond = None
    if what == "step" and np.isfinite(model.spec.effort_limit).any():
        given = _efforts_of_step(model, tau)
        if given is not None:
            tau, beyond = given
    A, B = _at_points(model, states, tau, what, dt, integrator, threads, C)
    if beyond is not None:
        B[...] = np.where(beyond[..., None, :], 0.0, B)
    return A, B


def _efforts_of_step(model: Model, tau: Any) -> tuple[Array, Any] | None:
    """tau within the limits of the joints, and where it was not; None where all of it was, or it is none."""
    try:
        found, beyond = within_limits(model, np.asarray(tau, dtype=float))
    except (TypeError, ValueError):
        return None                             # which is refused in words where it is read
    return None if beyond is None else (found, beyond)


def _at_points(model: Model, states: Any, tau: ArrayLike, what: str, dt: float, integrator: str, threads: int | None,
               C: Array | None) -> tuple[Array, Array]:
    single = isinstance(states, State)
    if single and C is None and (what != "step" or integrator == "midpoint") and (engines := linear_dynamics(model, 1)):
        if (found := engines[0].of_state(states, tau, dt if what == "step" else 0.0)) is not None:
            return found
    who, nv, code = f"linearize of model {model.name!r}", model.nv, mbros_core.INTEGRATORS.index(integrator)
    with Room(who):
        inputs = _inputs(model, who, [states] if single else states)
    if what == "step" and (single or isinstance(states, list)):
        for state in [states] if single else states:
            refuse_prescribed(who, model, state)
    n = len(inputs)
    tau = _efforts(model, who, tau, n, single)
    with Room(who, n, 2 * nv, 3 * nv):
        A, B = np.empty((n, 2 * nv, 2 * nv)), np.empty((n, 2 * nv, nv))
    rest = _analytic(model, what, inputs, tau, A, B, dt, code, threads) if C is None else list(range(n))
    bad, near = _by_dual_numbers(model, what, inputs, tau, A, B, dt, code, threads, rest, C)
    if single:
        near = [(None, *switch[1:]) for switch in near]
    if bad:
        _explain(model, min(bad), inputs, tau, what, dt, integrator, single)
    if near:
        report(model, f"linearize of model {model.name!r}", sorted(near))
    return (A[0], B[0]) if single else (A, B)


def _analytic(model: Model, what: str, inputs: Array, tau: Array, A: Array, B: Array, dt: float, integrator: int,
              threads: int | None) -> list[int]:
    """All points of which there are analytic derivatives; which are left."""
    left: list[int] = []

    def run(engine: LinearDynamics, part: slice) -> None:
        left.extend(part.start + point for point in engine.linearize(what, inputs[part], tau[part], A[part], B[part], dt, integrator))

    parts = shares(len(inputs), threads, 1, ALONE)
    engines = linear_dynamics(model, len(parts))
    if not engines:
        return list(range(len(inputs)))
    side_by_side(run, engines, parts)
    return sorted(left)


def _by_dual_numbers(model: Model, what: str, inputs: Array, tau: Array, A: Array, B: Array, dt: float, integrator: int,
                     threads: int | None, points: list[int],
                     C: Array | None) -> tuple[list[int], list[tuple[int | None, int, int, int]]]:
    """The others: those where a number is not finite, and [(point, shape a, shape b, bits)] of switches."""
    bad: list[int] = []
    near: list[tuple[int | None, int, int, int]] = []
    if not points:
        return bad, near
    some = len(points) < len(inputs)
    inputs, tau = (inputs[points], tau[points]) if some else (inputs, tau)
    A_there, B_there = (A[points], B[points]) if some else (A, B)

    def run(engine: Linearizer, part: slice) -> None:
        first = engine.linearize(what, inputs[part], tau[part], A_there[part], B_there[part], dt, integrator,
                                 None if C is None else C[part])
        if first >= 0:
            bad.append(points[part.start + first])
        near.extend((points[part.start + point], a, b, bits) for point, a, b, bits in engine.near)

    parts = shares(len(points), threads, 1, ALONE)
    side_by_side(run, linearizers(model, len(parts)), parts)
    if some:
        A[points], B[points] = A_there, B_there
    return bad, near


def _inputs(model: Model, who: str, states: Any) -> Array:
    """State._inputs of every point (n, reals)."""
    if isinstance(states, tuple) and len(states) == 2 and not isinstance(states[0], State):
        return _of_arrays(model, who, *states)
    if not isinstance(states, (list, tuple)):
        raise MbrosError(f"{who}: expected a State, a list of them, or (q, v), arrays of a row for each point, got {short(states)}")
    for state in states:
        check_state(who, model, state)
    return np.array([state._inputs for state in states]).reshape(len(states), -1 if states else model.default_state()._inputs.size)


def _of_arrays(model: Model, who: str, q: ArrayLike, v: ArrayLike) -> Array:
    q, v, state = finite(who, "q", reals(who, "q", q)), finite(who, "v", reals(who, "v", v)), model.default_state()
    if q.ndim != 2 or q.shape[1] != model.nq or v.shape != (len(q), model.nv):
        raise MbrosError(f"{who}: expected q (n, {model.nq}) and v (n, {model.nv}), got {q.shape} and {v.shape}")
    state.q[:], state.v[:] = np.nan, np.inf                 # found again in the inputs
    at_q, at_v = np.isnan(state._inputs), np.isinf(state._inputs)
    inputs = np.tile(state._inputs, (len(q), 1))
    inputs[:, at_q], inputs[:, at_v] = q, v
    return inputs


def _efforts(model: Model, who: str, tau: ArrayLike, n: int, single: bool) -> Array:
    """tau (n, nv), finite."""
    given = vector(who, "tau", tau, model.nv) if single else finite(who, "tau", rows(who, "tau", tau, model.nv, n))
    return np.broadcast_to(given, (n, model.nv))


def _explain(model: Model, k: int, inputs: Array, tau: Array, what: str, dt: float, integrator: str, single: bool) -> None:
    """Raise for point k what mbros.diff.derivatives says of it."""
    state = model.default_state()
    state._inputs[:] = inputs[k]
    where = "" if single else f"point {k} of {len(inputs)}: "
    try:
        derivatives(model, what, state, tau[k], ("q", "v", "tau"), dt=dt, integrator=integrator)
    except MbrosError as error:
        said = error.args[0].replace(f"derivatives of {what} of model", "linearize of model", 1)
        error.args = (f"{where}{said}", *error.args[1:])
        raise
    raise NonFiniteError(f"{where}linearize of model {model.name!r}: a number of the linear dynamics is not finite")
