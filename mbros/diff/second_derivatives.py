"""Second derivatives of inverse dynamics: how its derivatives, and the mass matrix, change.

    H = mbros.diff.inverse_dynamics_second_derivatives(model, state, vdot)
    H.q_q, H.q_v, H.v_v, H.q_vdot                # (nv, nv, nv) each, first index: of tau

Those of forward dynamics follow from them and the first ones (docs/analytic_derivatives.md).
"""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from mbros_core.available import Room
from mbros_core.numbers import short

from mbros.arguments import check_model, check_state, vector
from mbros.diff.algorithms import inverse_dynamics
from mbros.errors import MbrosError

if TYPE_CHECKING:
    from mbros import Model
    from mbros_core._engine import State
    from mbros_core.typing import Array, ArrayLike

FRICTION_SPEED = 1e-3                                       # m/s and rad/s: forces/passive.pxd
STEP = 0.01                                                 # rad, m
WEIGHTS = (4 / 5, -1 / 5, 4 / 105, -1 / 280)                # central differences of eighth order
LINEAR_IN_V = ("bushing", "bushing_energy_consistent", "bushing_quaternion", "spring_damper", "body_wrench", "body_gravity", "joint_spring")
FREE_OF_KINKS = ("damping", "friction", "stop_stiffness", "stop_damping")


class SecondDerivatives:
    """Four arrays (nv, nv, nv), views of one block; SI units.

    q_q[i, j, k]: of dtau_i/dq_j, its derivative along column k of q. q_v[i, j, k] = d2tau_i/dq_j dv_k, v_v[i, j, k] = d2tau_i/dv_j dv_k,
    q_vdot[i, j, k] = d2tau_i/dq_j dvdot_k = dM_ik/dq_j.
    """

    __slots__ = ("_block",)

    def __init__(self, block: Array) -> None:
        self._block = block

    def _part(self, k: int) -> np.ndarray:
        n = self._block.shape[1]
        return self._block.reshape(4, n, n, n)[k]

    @property
    def q_q(self) -> np.ndarray:
        return self._part(0)

    @property
    def q_v(self) -> np.ndarray:
        return self._part(1)

    @property
    def v_v(self) -> np.ndarray:
        return self._part(2)

    @property
    def q_vdot(self) -> np.ndarray:
        return self._part(3)

    def __repr__(self) -> str:
        return f"<SecondDerivatives of {self._block.shape[1]} efforts: q_q, q_v, v_v, q_vdot>"


def inverse_dynamics_second_derivatives(model: Model, state: State, vdot: ArrayLike,
                                        out: SecondDerivatives | None = None) -> SecondDerivatives:
    """d2tau/dq dq, /dq dv, /dv dv and /dq dvdot of tau = M vdot + C v + g - passive - J^T F_ext, (nv, nv, nv) each.

    vdot (nv,). All others are zero. "q" is along the joints' own velocities, as in all of mbros.diff, and the second derivative by q is
    that of the first: q_q[:, :, k] = d/ds dtau/dq at integrate(q, s e_k), s = 0. It is symmetric in j and k but for two columns of one
    joint that can turn, whose rotations do not commute: there the symmetric half is the Hessian of tau(integrate(q, x)) at x = 0, for
    joints whose `integrate` is their group's exponential. Of stops and friction the side counts on which they are now.

    Analytic (mbros_core/algorithms/second_derivatives.pxd; Singh, Russell and Wensing 2023), O(nv depth^2). Models with force elements, or
    with joints on roll, pitch and yaw, take differences of eighth order of exact first derivatives instead, over 0.01 rad or m, in 10 nv
    evaluations: about 1e-11 of the largest, and less near where an element has no derivative, as a spring without length.
    out: what an earlier call for this model returned, to be written over and returned; it may be written to by a call that raises.
    MbrosError for models with force elements that users wrote, or with friction laws on joints; NonFiniteError where a number is not
    finite.
    """
    check_model("inverse_dynamics_second_derivatives", model)
    who = f"second derivatives of inverse_dynamics of model {model.name!r}"
    check_state(who, model, state)
    n = model.nv
    if out is not None and not (isinstance(out, SecondDerivatives) and out._block.shape == (4 * n * n, n)):
        raise MbrosError(f"{who}: out: expected what an earlier call for this model returned, got {short(out)}")
    with Room(who, 4, n, n, n):
        block = np.empty((4 * n * n, n)) if out is None else out._block
    if model._inverse_dynamics_second_slopes(state, vdot, block) is None:
        for name, kind in zip(model.spec.force_names, model.spec.force_kind, strict=True):
            if kind not in LINEAR_IN_V:
                raise MbrosError(f"{who}: it has force elements, such as {name!r}, whose second derivatives are not known; give a model "
                                 "without them, and add theirs, or take differences of mbros.diff.inverse_dynamics")
        by_differences(model, state, vector(who, "vdot", vdot, n), block)
    return SecondDerivatives(block) if out is None else out


def by_differences(model: Model, state: State, vdot: Array, block: Array) -> None:
    """The same from first derivatives: by v of differences that are exact, by q of ones of eighth order."""
    n = model.nv
    parts = block.reshape(4, n, n, n)
    at = state.copy()
    for name in FREE_OF_KINKS:
        at.field(name)[:] = 0.0

    def first(q: Array, v: Array) -> dict[str, np.ndarray]:
        at.q[:], at.v[:] = q, v
        return dict(inverse_dynamics(model, at, vdot))

    for k, e in enumerate(np.eye(n)):
        ends = [first(state.q, state.v + side * e) for side in (1.0, -1.0)]         # quadratic in v
        parts[1, :, :, k] = 0.5 * (ends[0]["q"] - ends[1]["q"])
        parts[2, :, :, k] = 0.5 * (ends[0]["v"] - ends[1]["v"])
        parts[0, :, :, k] = parts[3, :, k] = 0.0
        for m, weight in enumerate(WEIGHTS, 1):
            ends = [first(model.integrate(state.q, side * m * STEP * e), state.v) for side in (1.0, -1.0)]
            parts[0, :, :, k] += weight / STEP * (ends[0]["q"] - ends[1]["q"])
            parts[3, :, k] += weight / STEP * (ends[0]["vdot"] - ends[1]["vdot"])
    r = 1.0 / np.hypot(state.v, FRICTION_SPEED)
    i = np.arange(n)
    parts[2, i, i, i] -= 3.0 * state.field("friction") * state.v * FRICTION_SPEED**2 * r**5
