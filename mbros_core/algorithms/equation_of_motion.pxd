"""The equation of motion, solved for accelerations and for forces. Here, and nowhere else, what acts in the joints joins the command:

    M(q) vdot + C v + g = tau + passive + J^T F_ext                                                   (1)

passive: damping, Coulomb friction, stops, force elements on coordinates (forces/passive.pxd). Cost: O(nb).
"""
from mbros_core.scalar.real cimport real
from mbros_core.engine.state cimport ModelC, Work
from mbros_core.algorithms.forward_dynamics cimport forward_dynamics, midpoint_forward_dynamics
from mbros_core.algorithms.inverse_dynamics cimport inverse_dynamics
from mbros_core.forces.passive cimport implicit_passive_torques, passive_torques, passive_torques_over


cdef inline void join_passive(const ModelC* m, const real* tau, real* vdot, Work* s) noexcept nogil:
    """vdot of (1) with the passive torques, and what they add to the diagonal of M, that are in s; leaves tau + passive in s.tau."""
    cdef int i
    for i in range(m.nv):
        s.tau[i] = tau[i] + s.passive[i]
    forward_dynamics(m, s.tau, vdot, s)


cdef inline void vdot_under(const ModelC* m, const real* tau, real* vdot, Work* s) noexcept nogil:
    """vdot of (1) at q and v: the true instantaneous dynamics. Also does the kinematics."""
    passive_torques(m, s)
    join_passive(m, tau, vdot, s)


cdef inline void implicit_vdot_under(const ModelC* m, const real* tau, real h, real* vdot, Work* s) noexcept nogil:
    """The same with the passive torques as they will be at the end of a step h, to first order."""
    implicit_passive_torques(m, s, h)
    join_passive(m, tau, vdot, s)


cdef inline void midpoint_vdot_under(const ModelC* m, const real* tau, real h, real* vdot, Work* s) noexcept nogil:
    """vdot over a midpoint step h, from q at its middle and v at its start, which becomes that of the middle: v + h/2 a_prev. vdot may be
    s.a_prev itself."""
    cdef int i
    passive_torques_over(m, s, h)
    for i in range(m.nv):
        s.tau[i] = tau[i] + s.passive[i]
        s.v[i] = s.v[i] + 0.5 * h * s.a_prev[i]
    midpoint_forward_dynamics(m, s.tau, vdot, s)


cdef inline void tau_for(const ModelC* m, const real* vdot, real* tau, Work* s) noexcept nogil:
    """tau of (1), the inverse of vdot_under. Positions and velocities are in place."""
    cdef int i
    passive_torques(m, s)
    inverse_dynamics(m, vdot, tau, s)
    for i in range(m.nv):
        tau[i] = tau[i] - s.passive[i]
