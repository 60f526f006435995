"""Coulomb friction under Runge-Kutta: how long a step may be, and the sentence when it is longer.

Friction passes through zero with the slope f / v_s (forces/passive.pxd), so near rest M v' = -C v with C = diag(f / v_s), and its
fastest mode decays at the largest eigenvalue of M^-1 C. The classical Runge-Kutta method damps a mode of rate r as long as
|1 - z + z^2/2 - z^3/6 + z^4/24| < 1 with z = h r: up to 2.7853. Beyond it nothing grows without bound, as it does with a stiff
damper, because friction saturates: the joint goes on at a wrong velocity for ever, and no fault reports it. So it is refused.
"""
from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from mbros_core.errors import MbrosError

if TYPE_CHECKING:
    from mbros_core.engine._engine import Dynamics, State

RK4_LIMIT = 2.785293563405282        # the real root above 0 of 1 - z/2 + z^2/6 - z^3/24 = 0, where the factor above is 1 again
FAST = 1e9                           # rad/s or m/s: no friction law rises there any more


def check_rk4_friction(model: Dynamics, state: State, dt: float, v_s: float) -> bool:
    """Raise MbrosError where friction in this state is too stiff for a Runge-Kutta step of dt. v_s: rad/s or m/s. Returns whether
    there is any. Cost O(nv^3), nothing without friction."""
    rate, k = fastest(model, state, v_s)
    if dt * rate < RK4_LIMIT:
        return rate > 0.0
    limit, name = RK4_LIMIT / rate, model.velocity_names[k]
    raise MbrosError(
        f"rk4 at a step of {dt:g} s: the friction of joint {name!r} is too stiff for it. Near rest it brakes the joint at a rate of "
        f"{rate:.4g} 1/s, a Runge-Kutta step of h takes rates up to 2.785 / h, and beyond that the joint would go on at a wrong velocity "
        f"instead of coming to rest. Take dt={below(limit)} or less, integrator='midpoint', which takes any friction at any step, "
        "or less friction")


def fastest(model: Dynamics, state: State, v_s: float) -> tuple[float, int]:
    """(rate 1/s, velocity coordinate) of the mode that friction brakes most, near rest where the state is; (0, -1) without friction."""
    C = slopes(model, state, v_s)
    moves = np.flatnonzero((C > 0.0) & (state.field("lock") == 0.0))
    if not moves.size:
        return 0.0, -1
    free = np.flatnonzero(state.field("lock") == 0.0)
    root = np.sqrt(np.maximum(C[free], 0.0))
    try:
        # the eigenvalues of M^-1 C are those of the symmetric sqrt(C) M^-1 sqrt(C)
        rates, modes = np.linalg.eigh(root[:, None] * np.linalg.inv(model.mass_matrix(state)[np.ix_(free, free)]) * root)
    except (MbrosError, np.linalg.LinAlgError):
        return 0.0, -1                               # no mass matrix here: the step itself says why
    return float(rates[-1]), int(free[np.abs(modes[:, -1]).argmax()])


def slopes(model: Dynamics, state: State, v_s: float) -> np.ndarray:
    """-d(friction)/dv (nv,) at rest, of the joints and of force elements on coordinates; of these,
    what is left of it at speed is damping."""
    C = np.array(state.friction) / v_s
    at = state.copy()
    for v, sign in ((0.0, 1.0), (FAST, -1.0)):
        at.v[:] = v
        for k, (_, iv) in enumerate(model.spec.force_coordinate):
            if iv >= 0:
                C[iv] += sign * model._force_element(at, k)[3][1]
    return C


def below(limit: float) -> str:
    """A step with two digits, not above the limit."""
    unit = 10.0 ** (math.floor(math.log10(limit)) - 1)
    return f"{math.floor(limit / unit) * unit:.2g}"
