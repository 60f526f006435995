"""rollout: many simulations at once, in SIMD lanes and on all cores, without the interpreter lock."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import mbros_core
import numpy as np
from mbros_core import DEFAULT_INTEGRATOR, FaultError
from mbros_core.engine._small import between, first_counted, rows as plain_rows, within
from mbros_core.support.available import Room
from mbros_core.engine.checks import LARGEST
from mbros_core.support.faults import known_cause
from mbros_core.support.numbers import DOUBLE
from mbros_core.support.threads import shares, side_by_side
from mbros_core.engine.user_code import raised

from mbros.arguments import check_model, choice, reals, rows, step_interval, time_step
from mbros.describe.joints.limits import beyond, reaches, warn_beyond
from mbros.errors import MbrosError
from mbros.model.own_parameters import engines, own_parameters, repeated, robot_state, spare
from mbros.study.rollout.outputs import OF_STEPS, Run, carried_columns, compute_outputs, parse_outputs
from mbros.study.rollout.memory import columns, given_memory, mark, new_row

if TYPE_CHECKING:
    from mbros import Joint, Model
    from mbros_core.engine._engine import State
    from mbros_core.typing import Array, ArrayLike


BELOW = float(np.nextafter(LARGEST, 0.0))


def rollout(model: Model, q0: ArrayLike | None, v0: ArrayLike | None, tau: ArrayLike, dt: float = 1e-3,
            integrator: str = DEFAULT_INTEGRATOR, threads: int | None = None, on_fault: str = "raise", *, state: State | None = None,
            parameters: Mapping[str, ArrayLike] | None = None, every: int = 1, outputs: Sequence[str] = (),
            memory: ArrayLike | State | None = None) -> Run:
    """Simulate a batch of robots: a Run, which is the pair (q, v), each (batch, rows, n), the states after every step.

    q0 (batch, nq), v0 (batch, nv): where each starts; (nq,) and (nv,) are repeated, None stands for those of `state`.
    tau (batch, steps, nv): efforts of every step, N m or N; clamped to the effort limits like a Simulator's.
    threads: how many (default: every CPU this process may use). The result does not depend on it.
    on_fault: a robot that blows up, by the Simulator's bounds, raises FaultError ("raise"), or stays at its last good state ("hold").
    state: whose parameters (gravity, masses, damping, locks, ...) and external wrenches all of them have (default: the model's own).
    parameters: {parameter name: (batch,) or (batch, k)}: what each has of its own, such as {"mass.link7": masses}.
    every: keep every `every`-th step, and the last.
    outputs: what else of the kept steps: "<frame>.pose", "<frame>.velocity", "energy", "center_of_mass", "contact_forces",
    "constraint_efforts", ... (mbros.study.rollout.outputs), found in the Run by these names.
    memory: how a step led to where they start: Run.memory of a rollout that goes on here, (batch, columns), or a State. Then a rollout in
    parts equals that in one call, to the bit. None: they were put there, and contacts are new.

    Each robot moves as in a Simulator but for rounding (docs/integrators.md has figures). Ctrl-C ends it.
    """
    check_model("rollout", model)
    who = f"rollout of model {model.name!r}"
    start = _start(model, state, q0, v0)
    q0, v0, tau = _arguments(model, who, *_starts(who, state, q0, v0), tau)
    batch, steps = tau.shape[:2]
    dt, every, wanted = time_step(who, dt, integrator), step_interval(who, every), parse_outputs(who, model, outputs)
    every = min(every, max(steps, 1))           # the last step is kept anyway
    choice(who, "on_fault", on_fault, ("raise", "hold"))
    own = None if parameters is None else own_parameters(who, model, start, parameters, batch)
    begin = None if memory is None else given_memory(who, model, start, memory, batch)
    _look_at_starts(model, start, q0, dt, integrator, own, memory is not None)
    kept = -(-steps // every)
    with Room(who, batch, kept, model.nq + model.nv):
        q, v = np.empty((batch, kept, model.nq)), np.empty((batch, kept, model.nv))
        end = np.zeros((batch, columns(model)))         # of which few numbers will be in use: the others take no memory
    fault = np.empty(batch, np.longlong)
    fault.fill(-1)
    code = mbros_core.INTEGRATORS.index(integrator)
    carried = None
    if wanted and any(what in OF_STEPS for what, _ in wanted.values()):
        with Room(f"{who}: outputs", batch, kept, carried_columns(model)):
            carried = np.zeros((batch, kept, carried_columns(model)))
    parts = shares(batch, threads, mbros_core.lanes().Batch.lanes)
    limit = model.spec.effort_limit

    def run(engine: Any, part: slice) -> None:
        engine.rollout(q0[part], v0[part], tau[part], dt, code, q[part], v[part], fault[part], every,
                       None if carried is None else carried[part], limit, None if begin is None else begin[part], end[part])

    if batch and steps:
        made = engines(model, start, parts, own)
        if len(made) == 1:
            made[0].rollout(q0, v0, tau, dt, code, q, v, fault, every, carried, limit, begin, end)
        else:
            side_by_side(run, made, parts)
        spare(model, made[0])
        end[:, 0] = mark(model)
    else:
        end[:] = new_row(model, start) if begin is None else begin
    failed = raised(model) if model._needs_gil else None            # an interrupt goes on from here
    k = first_counted(fault) if on_fault == "raise" else -1
    if k >= 0:
        _raise_fault(model, who, robot_state(start, own, k), q0[k], v0[k], q[k], v[k], int(fault[k]), tau[k], dt, f"{k} of {batch}", failed)
    if not wanted:
        return Run(q, v, fault, {}, end)
    with Room(f"{who}: outputs"):
        return Run(q, v, fault, compute_outputs(model, start, own, q, v, carried, wanted, threads), end)


def _raise_fault(model: Model, who: str, good: State, q0: Array, v0: Array, q: Array, v: Array, step: int, tau: Array, dt: float,
                 which: str, failed: Any) -> None:
    """good: a state with the parameters of the robot that failed; its rows end in its last good ones."""
    good.q[:], good.v[:] = (q[-1], v[-1]) if step else (q0, v0)
    limit = model.spec.effort_limit
    cause = f"Cause: {failed[0]}" if failed else known_cause(model, good, dt, np.clip(tau[step], -limit, limit))
    raise FaultError(f"{who}: robot {which} would not have stayed finite in step {step} (or within {LARGEST:g}). "
                     f"on_fault='hold' keeps such robots at their last good state. {cause}") from (failed[1] if failed else None)


def _start(model: Model, state: State | None, q0: Any, v0: Any) -> State:
    """Whose parameters they have, and the acceleration of the step before: none where somebody puts them somewhere else."""
    if state is None:
        return model.default_state()
    model._check_state(state)
    if q0 is None and v0 is None:
        return state
    start = state.copy()
    start._a_prev[:] = 0.0
    return start


def _starts(who: str, state: State | None, q0: ArrayLike | None, v0: ArrayLike | None) -> tuple[ArrayLike, ArrayLike]:
    """q0 and v0, or those of `state` for None."""
    if state is None:
        if q0 is None or v0 is None:
            raise MbrosError(f"{who}: {'q0' if q0 is None else 'v0'} is None: give it, or a state to take it from (state=)")
        return q0, v0
    return state.q if q0 is None else q0, state.v if v0 is None else v0


def _arguments(model: Model, who: str, q0: ArrayLike, v0: ArrayLike, tau: ArrayLike) -> tuple[Array, Array, Array]:
    if type(tau) is np.ndarray and tau.dtype is DOUBLE and tau.flags.c_contiguous and tau.ndim == 3 and tau.shape[2] == model.nv:
        n = len(tau)
        a, b = plain_rows(q0, model.nq, BELOW, n, False), plain_rows(v0, model.nv, BELOW, n, False)
        if a is not None and b is not None:
            return a, b, tau                    # the same, for what most calls are
    tau = reals(who, "tau", tau)
    if tau.ndim != 3 or tau.shape[2] != model.nv:
        raise MbrosError(f"{who}: tau: expected shape (batch, steps, {model.nv}), got {tau.shape}")
    batch = tau.shape[0]
    out = []
    for name, x, n in (("q0", q0, model.nq), ("v0", v0, model.nv)):
        with Room(who, batch, n):
            x = rows(who, name, x, n, batch)
            if not within(x, BELOW):
                beyond = ~(np.abs(x) < LARGEST)
                if beyond.any():
                    raise MbrosError(f"{who}: {name}: expected finite numbers below {LARGEST:g}, got {x[beyond][0]}")
            out.append(repeated(x, batch))
    with Room(who, *tau.shape):
        return out[0], out[1], np.ascontiguousarray(tau)


def _look_at_starts(model: Model, start: State, q0: Array, dt: float, integrator: str, own: Any, moving: bool) -> None:
    """What a Simulator says of its start: friction too stiff for rk4 is refused, joints beyond their limits are reported once each.
    moving: they go on from a step, which left prescribed joints where they are to be, constraints as closed as it keeps them, and joints
    that may well lean on a stop."""
    if len(model.constraints) and not moving:
        _look_at_constraints(model, start, q0)
    if not within(start.field("lock"), 0.0):
        for joint in model.joints:
            if joint._is_prescribed(start):
                _look_at_motion(joint, start, start.q[None] if moving else q0)
    if integrator == "rk4":
        _look_at_friction(model, start, q0, dt, own)
    if moving:
        return
    low, high = reaches(model)
    if between(q0, low, high):
        return
    out = (q0 < low) | (q0 > high)
    for joint in model.joints:
        if not joint.follows and out[:, joint.q_slice].any():
            warn_beyond(beyond(joint, q0[out[:, joint.q_slice].any(1).argmax(), joint.q_slice]))


def _look_at_motion(joint: Joint, start: State, q0: Array) -> None:
    """Refuse a prescribed joint whose law is not known in a rollout, or that starts elsewhere."""
    law = start.field("motion").reshape(-1, 5)[joint.v_slice]
    if law[:, 3:].any() or (law[:, 0] > start.time).any():
        raise MbrosError(f"rollout: {joint._called} follows a function of time, which only its Simulator knows; expected a joint with a "
                         "constant acceleration: joint.prescribe(state)")
    apart = np.abs(q0[:, joint.q_slice] - start.q[joint.q_slice]).max(initial=0.0)
    if apart > 1e-9:
        raise MbrosError(f"rollout: {joint._called} is prescribed in the state, and robots start {apart:.3g} (m or rad) away from its "
                         "motion; expected the state's own positions there")


def _look_at_constraints(model: Model, start: State, q0: Array) -> None:
    """Refuse the first robot that starts with an open constraint."""
    at = start.copy()
    for k in np.sort(np.unique(q0, axis=0, return_index=True)[1]):
        at.q[:] = q0[k]
        model._check_closed(at)


def _look_at_friction(model: Model, start: State, q0: Array, dt: float, own: Any) -> None:
    """Refuse the first robot that rubs too stiffly; where all have the same parameters, equal configurations are looked at once."""
    plant, plain = None, own is None
    for k in np.sort(np.unique(q0, axis=0, return_index=True)[1]) if plain else range(len(q0)):
        at = robot_state(start, own, k)
        at.q[:] = q0[k]
        if plant is None:
            plant = mbros_core.Plant(model, at, dt, "rk4")              # refuses the first one
            if plain and not plant.check_friction():
                return
        plant.check_friction(at)
