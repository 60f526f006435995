"""How a simulated motion depends on parameters, on where it began, and on the delay of its commands: exact, by dual numbers.

Every step is taken over numbers that carry their derivatives (mbros_core/scalar/dual.hpp), from one step to the next, so many
directions at a time as there are partials: what comes out are the derivatives of the simulation itself.
"""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from mbros_core import DEFAULT_INTEGRATOR, INTEGRATORS

from mbros.diff.duals import workspace

if TYPE_CHECKING:
    from mbros import Model
    from mbros_core.engine._engine import State
    from mbros_core.typing import Array, IntArray


def rollout(model: Model, state: State, tau: Array, tau_by_delay: Array | None, names: tuple[str, ...], at_q: IntArray, at_v: IntArray,
            keep: IntArray, h: float) -> tuple[Array, Array]:
    """(x (m, 2 k), dx (m, 2 k, directions)): positions and velocities at coordinates at_q, at_v after keep (m,) steps of h.

    Directions: the numbers of the parameters `names`, the delay where tau_by_delay (n, nv) is given, then the start's at_q and at_v.
    """
    work, integrator = workspace(model), INTEGRATORS.index(DEFAULT_INTEGRATOR)
    duals, nq = work.duals, model.nq
    seeds, _, count = work.directions(state, "tau", np.zeros(model.nv), names) if names else ([], {}, 0)
    seeds = [(array, rows.copy()) for array, rows in seeds]
    delay = count if tau_by_delay is not None else -1
    begin = count + (tau_by_delay is not None)
    total = begin + len(at_q) + len(at_v)
    q, v, a_prev, given = work.inputs["q"], work.inputs["v"], work.inputs["a_prev"], work.given
    x, dx = np.empty((len(keep), len(at_q) + len(at_v))), np.empty((len(keep), len(at_q) + len(at_v), total))
    at = np.concatenate([at_q, nq + at_v])
    for start in range(0, total, duals.partials):
        lanes = range(start, min(start + duals.partials, total))
        work.write(state, np.zeros(model.nv))
        given[:] = 0.0
        for k in lanes:
            for array, rows in seeds:
                if k < count:
                    array[:, 1 + k - start] = rows[k]
            if begin <= k < begin + len(at_q):
                q[at_q[k - begin], 1 + k - start] = 1.0
            elif k >= begin:
                v[at_v[k - begin - len(at_q)], 1 + k - start] = 1.0
        now, part = np.concatenate([q, v]), slice(start, lanes[-1] + 1)
        saved = 0
        for step in range(len(tau) + 1):
            while saved < len(keep) and keep[saved] == step:
                x[saved], dx[saved, :, part] = now[at, 0], now[at, 1:1 + len(lanes)]
                saved += 1
            if saved == len(keep):
                break
            given[:model.nv, 0] = tau[step]
            if start <= delay < lanes[-1] + 1:
                given[:model.nv, 1 + delay - start] = tau_by_delay[step]        # type: ignore[index]
            after = duals.compute("step", -1, h, integrator)
            np.subtract(after[nq:], now[nq:], out=a_prev)
            a_prev /= h
            now = after.copy()
            q[:], v[:] = now[:nq], now[nq:]
    return x, dx
