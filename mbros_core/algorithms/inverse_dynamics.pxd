"""Inverse dynamics: the recursive Newton-Euler algorithm (Luh, Walker, Paul 1980; Featherstone 2008, table 5.1).

Outwards:  A_WB by the kinematics, with the world accelerated by -g instead of weighing every body
           F_B  = M_B A_WB + gyroscopic(M_B, w) - F_ext                                               (1)
Inwards:   tau = H_FM^T F_B,   F_P += shift(F_B, p_PB)                                                (2)
The rotors add D0 vdot on the diagonal. Cost: O(nb).
"""
from mbros_core.scalar.real cimport real
from mbros_core.joints.joint cimport Joint
from mbros_core.spatial cimport Inertia, column_power, gyroscopic, inertia_times, motion, rotate_inertia, shift_force, shift_motion, zero3
from mbros_core.engine.state cimport ModelC, Work
from mbros_core.algorithms.kinematics cimport acceleration_step


cdef inline void newton_euler_step(int i, Work* s) noexcept nogil:
    """M A + gyroscopic for one body; leaves M_BBo_W in s.M_W."""
    cdef Inertia M = rotate_inertia(s.X_WB[i].R, s.inertia[i])
    s.M_W[i] = M
    s.F[i] = inertia_times(M, s.A_WB[i]) + gyroscopic(M, s.V_WB[i].w)


cdef inline void gather_forces(const ModelC* m, real* tau, Work* s) noexcept nogil:
    """Equation (2), from the leaves to the root."""
    cdef const Joint* j
    cdef int i, k
    for i in range(m.nb - 1, 0, -1):
        j = &m.joints[i]
        for k in range(j.nv):
            tau[j.iv + k] = tau[j.iv + k] + column_power(s.S[j.column + k], s.F[i], j.pure[k])
        if j.parent > 0:
            s.F[j.parent] = s.F[j.parent] + shift_force(s.F[i], s.p_PB_W[i])


cdef inline void inverse_dynamics(const ModelC* m, const real* vdot, real* tau, Work* s) noexcept nogil:
    """tau = M vdot + C v + g - J^T F_ext. Positions and velocities are in place."""
    cdef int i
    if m.ne:
        m.apply(m, s)
    s.A_WB[0] = motion(zero3(), -s.gravity[0])
    for i in range(m.nv):
        tau[i] = s.rotor_inertia[i] * vdot[i]
    for i in range(1, m.nb):
        acceleration_step(&m.joints[i], i, vdot, s)
        newton_euler_step(i, s)
        s.F[i] = s.F[i] - s.applied[i]
    gather_forces(m, tau, s)


cdef inline void bias_torques(const ModelC* m, real* tau, Work* s) noexcept nogil:
    """C v + g. Positions and velocities are in place."""
    cdef int i
    s.A_WB[0] = motion(zero3(), -s.gravity[0])
    for i in range(m.nv):
        tau[i] = real(0.0)
    for i in range(1, m.nb):
        s.A_WB[i] = shift_motion(s.A_WB[m.joints[i].parent], s.p_PB_W[i]) + s.Ab_WB[i]
        newton_euler_step(i, s)
    gather_forces(m, tau, s)


cdef inline void gravity_torques(const ModelC* m, real* tau, Work* s) noexcept nogil:
    """g(q): what holds the robot still. Only positions are needed."""
    cdef int i
    cdef Inertia M
    s.A_WB[0] = motion(zero3(), -s.gravity[0])
    for i in range(m.nv):
        tau[i] = real(0.0)
    for i in range(1, m.nb):
        M = rotate_inertia(s.X_WB[i].R, s.inertia[i])
        s.F[i] = inertia_times(M, s.A_WB[0])
    gather_forces(m, tau, s)
