"""Every way to second derivatives of inverse dynamics: with equations of their own, of the analytic first ones over dual numbers along
columns and in coordinates, and by differences of the first, by v exact, by q of eighth order."""
import numpy as np
from test_diff_analytic import Oracle

import mbros_core

WITHIN = 1e-12
EPS = np.finfo(float).eps
STEPS = (1e-2, 1e-3, 1e-4)                                  # rad, m: the longest that no element's length or pitch makes too long
WEIGHTS = (4 / 5, -1 / 5, 4 / 105, -1 / 280)                # central differences of eighth order
NAMES = "q_q", "q_v", "v_v", "q_vdot"


def first(model, state, vdot):
    """Those by q, v and vdot of a zoo robot, which is an engine's model."""
    return model._inverse_dynamics_slopes(state, vdot)[1:].reshape(3, model.nv, model.nv)


def over_duals(model, state, vdot):
    """(4, nv, nv, nv) of a zoo robot, as mbros.diff takes them where there are no equations, in a poisoned workspace."""
    n, dual = model.nv, mbros_core.dual()
    found, slopes = np.full((4 * n * n, n), np.nan), dual.SecondSlopes(dual.Model(model.spec))
    slopes.state._poison()
    assert slopes.find(state._inputs, vdot, found)
    return found.reshape(4, n, n, n)


def by_coordinates(model, state, vdot):
    """The same over dual numbers in q and v, with all that is found in two ways: by q of dtau/dv, and by vdot of dtau/dq."""
    n = model.nv
    _, by_q, by_v, by_vdot = Oracle(model)("inverse_dynamics_derivatives", "vdot", state, vdot)
    by_q, by_v, by_vdot = (x.reshape(1 + 3 * n, n, n) for x in (by_q, by_v, by_vdot))
    tau_q, tau_v, M = slice(1, 1 + n), slice(1 + n, 1 + 2 * n), slice(1 + 2 * n, None)
    return [(by_q[tau_q], by_v[tau_q], by_v[tau_v], by_vdot[tau_q]),
            (by_q[tau_q], by_q[tau_v].transpose(0, 2, 1), by_v[tau_v], by_q[M].transpose(0, 2, 1))]


def with_equations(model, state, vdot):
    """The same of what has equations of its own; None of what has not."""
    n = model.nv
    found = np.full((4 * n * n, n), np.nan)
    return None if model._inverse_dynamics_second_slopes(state, vdot, found) is None else found.reshape(4, n, n, n)


def by_differences(model, state, vdot, step):
    """The same from first derivatives, which are quadratic in v but for friction, whose part is added."""
    n = model.nv
    q_q, q_v, v_v, q_vdot = parts = np.zeros((4, n, n, n))
    at = state.copy()
    at.field("friction")[:] = at.field("stop_stiffness")[:] = at.field("stop_damping")[:] = 0.0     # no kinks

    def slopes(q, v):
        at.q[:], at.v[:] = q, v
        return first(model, at, vdot)

    for k, e in enumerate(np.eye(n)):
        change = 0.5 * (slopes(state.q, state.v + e) - slopes(state.q, state.v - e))
        q_v[:, :, k], v_v[:, :, k] = change[0], change[1]
        for m, weight in enumerate(WEIGHTS, 1):
            change = weight / step * (slopes(model.integrate(state.q, m * step * e), state.v)
                                      - slopes(model.integrate(state.q, -m * step * e), state.v))
            q_q[:, :, k] += change[0]
            q_vdot[:, k] += change[2]
    i, r = np.arange(n), 1.0 / np.hypot(state.v, 1e-3)
    v_v[i, i, i] -= 3.0 * state.field("friction") * state.v * 1e-6 * r**5
    return parts


def agree(model, state, vdot):
    """All ways to the same; with differences, of one of the steps at least."""
    found = over_duals(model, state, vdot)
    slopes = np.abs(first(model, state, vdot)).max(axis=(1, 2), initial=0.0)[[0, 0, 1, 2]]

    def close(k, exact, rounding):
        return np.abs(found[k] - exact[k]).max(initial=0.0) <= WITHIN * np.abs(exact[k]).max(initial=0.0) + rounding * EPS * slopes[k]

    equations = with_equations(model, state, vdot)
    for other in [*by_coordinates(model, state, vdot), *([] if equations is None else [equations])]:
        for k, name in enumerate(NAMES):
            assert close(k, other, 16), name
    assert close(2, found.transpose(0, 1, 3, 2), 1)
    left = set(NAMES)
    for step in STEPS:
        exact = by_differences(model, state, vdot, step)
        left -= {name for k, name in enumerate(NAMES) if close(k, exact, 16 / step)}
        if not left:
            return
    raise AssertionError(f"differences of first derivatives are others: {left}")
