"""Second derivatives of inverse dynamics: how its derivatives, and the mass matrix, change.

    H = mbros.diff.inverse_dynamics_second_derivatives(model, state, vdot)
    H.q_q, H.q_v, H.v_v, H.q_vdot                # (nv, nv, nv) each, first index: of tau

Those of forward dynamics follow from them and the first ones (docs/analytic_derivatives.md).
"""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from mbros_core import NonFiniteError
from mbros_core.support.available import Room
from mbros_core.support.numbers import short

from mbros.arguments import check_model, check_state, vector
from mbros.diff.algorithms import inverse_dynamics
from mbros.diff.duals import second_slopes
from mbros.errors import MbrosError

if TYPE_CHECKING:
    from mbros import Model
    from mbros_core.engine._engine import State
    from mbros_core.typing import Array, ArrayLike


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

    Exact, to rounding. Models without force elements and joints on roll, pitch and yaw have equations of their own, O(nv depth^2)
    (mbros_core/algorithms/second_derivatives.pxd; Singh, Russell and Wensing 2023). The others take the analytic first derivatives over
    dual numbers, 7 of the joints' columns at a time with AVX-512, 3 with AVX2, 1 otherwise, O(nv^2 depth), at gimbal lock as elsewhere.
    out: what an earlier call for this model returned, to be written over and returned; it may be written to by a call that raises.
    MbrosError for models with joints or force elements that users wrote; NonFiniteError where a number is not finite, as where a spring
    has no length.
    """
    check_model("inverse_dynamics_second_derivatives", model)
    who = f"second derivatives of inverse_dynamics of model {model.name!r}"
    check_state(who, model, state)
    n = model.nv
    if out is not None and not (isinstance(out, SecondDerivatives) and out._block.shape == (4 * n * n, n)):
        raise MbrosError(f"{who}: out: expected what an earlier call for this model returned, got {short(out)}")
    with Room(who, 4, n, n, n):
        block = np.empty((4 * n * n, n)) if out is None else out._block
        if (model._inverse_dynamics_second_slopes(state, vdot, block) is None
                and not second_slopes(model).find(state._inputs, vector(who, "vdot", vdot, n), block)):
            inverse_dynamics(model, state, vdot)                # says why where the first ones are not finite, either
            raise NonFiniteError(f"{who}: the first derivatives are finite and a second one is not. There is none here")
    return SecondDerivatives(block) if out is None else out
