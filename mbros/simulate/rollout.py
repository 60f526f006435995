"""rollout: many simulations at once, in SIMD lanes and on all cores, without the interpreter lock."""
from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

import mbros_core
import numpy as np
from mbros_core import FaultError
from mbros_core.checks import LARGEST
from mbros_core.faults import known_cause
from mbros_core.numbers import short
from mbros_core.user_code import raised

from mbros.arguments import check_model, choice, is_whole, reals, time_step
from mbros.errors import MbrosError
from mbros.describe.joints.limits import beyond, reach, warn_beyond


def rollout(model, q0, v0, tau, dt: float = 1e-3, integrator: str = "semi_implicit_euler", threads: int | None = None,
            on_fault: str = "raise", *, state=None):
    """Simulate a batch of robots: (q, v), each (batch, steps, n), the states after every step.

    q0 (batch, nq), v0 (batch, nv): where each starts; (nq,) and (nv,) are repeated, None stands for those of `state`.
    tau (batch, steps, nv): efforts of every step, N m or N; clamped to the effort limits like a Simulator's.
    threads: how many (default: every CPU this process may use). The result does not depend on it.
    on_fault: a robot that blows up, by the Simulator's bounds, raises FaultError ("raise"), or stays at its last good state ("hold").
    state: whose parameters (gravity, masses, damping, locks, ...) and external wrenches all of them have (default: the model's own).

    Each robot moves as in a Simulator but for rounding (docs/integrators.md has figures). Ctrl-C ends it.
    """
    check_model("rollout", model)
    who = f"rollout of model {model.name!r}"
    start = model.new_state() if state is None else state
    model.check_state(start)
    q0, v0, tau = _arguments(model, who, *_starts(who, state, q0, v0), tau)
    dt = time_step(who, dt, integrator)
    choice(who, "on_fault", on_fault, ("raise", "hold"))
    _look_at_starts(model, start, q0, dt, integrator)
    batch, steps = tau.shape[:2]
    q, v = np.empty((batch, steps, model.nq)), np.empty((batch, steps, model.nv))
    fault = np.full(batch, -1, np.longlong)
    code = mbros_core.INTEGRATORS.index(integrator)
    parts = shares(batch, threads)
    engines = [engine(model, start) for _ in parts]

    def run(one, part):
        one.rollout(q0[part], v0[part], tau[part], dt, code, q[part], v[part], fault[part])

    if batch and steps:
        side_by_side(run, engines, parts)
    failed = raised(model) if model.needs_gil else None            # an interrupt goes on from here
    if on_fault == "raise" and (fault >= 0).any():
        k = int(np.flatnonzero(fault >= 0)[0])
        step, good = int(fault[k]), start.copy()
        good.q[:], good.v[:] = (q[k, step - 1], v[k, step - 1]) if step else (q0[k], v0[k])
        cause = f"Cause: {failed[0]}" if failed else known_cause(model, good, dt, tau[k, step])
        raise FaultError(f"{who}: robot {k} of {batch} would not have stayed finite in step {step} (or within {LARGEST:g}). "
                         f"on_fault='hold' keeps such robots at their last good state. {cause}") from (failed[1] if failed else None)
    return q, v


def side_by_side(run, engines, parts) -> None:
    """run(engine, part) for each, in threads of their own where there are several. Whatever interrupts the wait ends them all."""
    if len(parts) == 1:
        run(engines[0], parts[0])
        return
    pool = ThreadPoolExecutor(len(parts))
    try:
        for job in [pool.submit(run, *both) for both in zip(engines, parts)]:
            job.result()
    except BaseException:
        for one in engines:
            one.end()
        raise
    finally:
        pool.shutdown()


def engine(model, start):
    """A Batch of the widest lanes module with the parameters of a state, for one thread. The compiled model is kept with the model."""
    compiled = model.__dict__.get("_lanes_model")
    module = mbros_core.lanes()
    if compiled is None:
        compiled = model.__dict__["_lanes_model"] = module.Model(model.spec)
    batch = module.Batch(compiled)
    batch.state.inputs[:] = start.inputs[:, None]
    return batch


def shares(batch: int, threads: int | None) -> list[slice]:
    """The batch in contiguous parts, one per thread, of whole lane groups."""
    lanes = mbros_core.lanes().Batch.lanes
    groups = -(-batch // lanes)
    threads = len(os.sched_getaffinity(0)) if threads is None else threads
    if not is_whole(threads) or threads < 1:
        raise MbrosError(f"threads: expected 1 or more, got {short(threads)}")
    count = max(1, min(threads, groups))
    edges = [lanes * (groups * k // count) for k in range(count)] + [batch]
    return [slice(a, b) for a, b in zip(edges, edges[1:])]


def _starts(who, state, q0, v0):
    """q0 and v0, or those of `state` for None."""
    if state is None and (q0 is None or v0 is None):
        raise MbrosError(f"{who}: {'q0' if q0 is None else 'v0'} is None: give it, or a state to take it from (state=)")
    return state.q if q0 is None else q0, state.v if v0 is None else v0


def _arguments(model, who, q0, v0, tau):
    tau = reals(who, "tau", tau)
    if tau.ndim != 3 or tau.shape[2] != model.nv:
        raise MbrosError(f"tau: expected shape (batch, steps, {model.nv}), got {tau.shape}")
    batch = tau.shape[0]
    out = []
    for name, x, n in (("q0", q0, model.nq), ("v0", v0, model.nv)):
        x = reals(who, name, x)
        if x.shape not in ((n,), (batch, n)):
            raise MbrosError(f"{name}: expected shape ({n},) or ({batch}, {n}), got {x.shape}")
        beyond = ~(np.abs(x) < LARGEST)
        if beyond.any():
            raise MbrosError(f"{name}: expected finite numbers below {LARGEST:g}, got {x[beyond][0]}")
        out.append(np.ascontiguousarray(np.broadcast_to(x, (batch, n))))
    limit = model.spec.effort_limit
    return out[0], out[1], np.ascontiguousarray(np.clip(tau, -limit, limit))


def _look_at_starts(model, start, q0, dt, integrator) -> None:
    """What a Simulator says of where it starts: friction too stiff for rk4 is refused, joints beyond their limits are told once each."""
    at = start.copy()
    if integrator == "rk4" and len(q0):
        at.q[:] = q0[0]
        plant = mbros_core.Plant(model, at, dt, integrator)             # refuses the first one
        for q in np.unique(q0, axis=0) if plant.check_friction() else ():
            at.q[:] = q
            plant.check_friction()
    for joint in model.joints:
        if joint.nq and not joint.follows:
            q, (low, high) = q0[:, joint.q_slice], reach(joint)
            out = ((q < low) | (q > high)).any(1)
            if out.any():
                warn_beyond(beyond(joint, q[out.argmax()]))
