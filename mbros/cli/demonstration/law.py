"""The control law: efforts that make a robot follow a desired motion, from the library's own model of it."""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from mbros import Model
    from mbros_core.typing import Array


class ComputedTorque:
    """tau = M(q) (vdot_d + kd (v_d - v) + kp (q_d - q)) + bias(q, v) - passive(q, v_r),   v_r = v_d + kp/kd (q_d - q).

    Gravity and Coriolis torques (bias) and the PD's scaling (the mass matrix M) are the model's at the measured state.
    Damping and friction are made up for at v_r, the speed the error asks for, not at the measured one: late measurements
    then cannot feed a joint's own damping back into it, and Coulomb friction leaves no error behind.

    bandwidth: of the error's decay, rad/s; the PD is critically damped: kp = bandwidth^2, kd = 2 bandwidth.
    """

    def __init__(self, model: Model, bandwidth: float = 12.0) -> None:
        self.model = model
        self.kp, self.kd = bandwidth**2, 2.0 * bandwidth
        self.state, self.reference = model.default_state(), model.default_state()
        self.M = np.empty((model.nv, model.nv))
        self.lower, self.upper = model.spec.q_lower, model.spec.q_upper

    def __call__(self, q: Array, v: Array, q_d: Array, v_d: Array, vdot_d: Array) -> np.ndarray:
        """Efforts (nv,), within the limits: q, v as measured; q_d, v_d, vdot_d as desired. One-axis joints only (nq = nv)."""
        model, state, reference = self.model, self.state, self.reference
        error = q_d - q
        state.set_q(q)
        state.set_v(v)
        reference.set_q(np.clip(q, self.lower, self.upper))         # inside the stops: they are not pushed against
        reference.set_v(v_d + self.kp / self.kd * error)
        wanted = vdot_d + self.kd * (v_d - v) + self.kp * error
        tau = model.mass_matrix(state, self.M) @ wanted + model.bias_torques(state) - model.passive_torques(reference)
        return np.clip(tau, -model.spec.effort_limit, model.spec.effort_limit)
