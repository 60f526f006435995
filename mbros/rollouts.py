"""rollout: many simulations at once, in SIMD lanes and on all cores, without the interpreter lock."""
from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

import mbros_core
import numpy as np
from mbros_core import FaultError
from mbros_core.numbers import short

from mbros.checking import check_model, choice, is_whole, reals, time_step
from mbros.errors import MbrosError


def rollout(model, q0, v0, tau, dt: float = 1e-3, integrator: str = "semi_implicit_euler", threads: int | None = None,
            on_fault: str = "raise"):
    """Simulate a batch of robots: (q, v), each (batch, steps, n), the states after every step.

    q0 (batch, nq), v0 (batch, nv): where each starts; (nq,) and (nv,) are repeated.
    tau (batch, steps, nv): efforts of every step, N m or N; clamped to the effort limits like a Simulator's.
    threads: how many (default: every CPU this process may use). The result does not depend on it.
    on_fault: a robot that blows up raises FaultError ("raise"), or stays at its last good state ("hold").
    """
    check_model("rollout", model)
    q0, v0, tau = _arguments(model, q0, v0, tau)
    who = f"rollout of model {model.name!r}"
    dt = time_step(who, dt, integrator)
    choice(who, "on_fault", on_fault, ("raise", "hold"))
    batch, steps = tau.shape[:2]
    q, v = np.empty((batch, steps, model.nq)), np.empty((batch, steps, model.nv))
    fault = np.full(batch, -1, np.longlong)
    code = mbros_core.INTEGRATORS.index(integrator)

    def run(part):
        engine(model).rollout(q0[part], v0[part], tau[part], dt, code, q[part], v[part], fault[part])

    parts = shares(batch, threads)
    if batch and steps:
        if len(parts) == 1:
            run(parts[0])
        else:
            with ThreadPoolExecutor(len(parts)) as pool:
                list(pool.map(run, parts))
    if on_fault == "raise" and (fault >= 0).any():
        k = int(np.flatnonzero(fault >= 0)[0])
        raise FaultError(f"rollout of model {model.name!r}: robot {k} of {batch} would not have stayed finite in step "
                         f"{int(fault[k])}. on_fault='hold' keeps such robots at their last good state"
                         + _cause(model, dt, *((q[k, fault[k] - 1], v[k, fault[k] - 1]) if fault[k] else (q0[k], v0[k]))))
    return q, v


def _cause(model, dt, q, v) -> str:
    """The force element to blame for a fault after (q, v), as a sentence; nothing where none is."""
    from mbros_core.forces.diagnosis import fault_cause

    state = model.new_state()
    state.q[:], state.v[:] = q, v
    cause = fault_cause(model, state, dt)
    return f". {cause}" if cause else ""


def engine(model):
    """A Batch of the widest lanes module, for one thread. The compiled model is kept with the model."""
    compiled = model.__dict__.get("_lanes_model")
    module = mbros_core.lanes()
    if compiled is None:
        compiled = model.__dict__["_lanes_model"] = module.Model(model.spec)
    return module.Batch(compiled)


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


def _arguments(model, q0, v0, tau):
    who = f"rollout of model {model.name!r}"
    tau = reals(who, "tau", tau)
    if tau.ndim != 3 or tau.shape[2] != model.nv:
        raise MbrosError(f"tau: expected shape (batch, steps, {model.nv}), got {tau.shape}")
    batch = tau.shape[0]
    out = []
    for name, x, n in (("q0", q0, model.nq), ("v0", v0, model.nv)):
        x = reals(who, name, x)
        if x.shape not in ((n,), (batch, n)):
            raise MbrosError(f"{name}: expected shape ({n},) or ({batch}, {n}), got {x.shape}")
        if not np.isfinite(x).all():
            raise MbrosError(f"{name}: expected finite numbers, got {x[~np.isfinite(x)][0]}")
        out.append(np.ascontiguousarray(np.broadcast_to(x, (batch, n))))
    limit = model.spec.effort_limit
    return out[0], out[1], np.ascontiguousarray(np.clip(tau, -limit, limit))
