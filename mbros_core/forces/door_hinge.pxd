"""Door hinge on one joint coordinate: torsion spring, catch, dynamic, static and viscous friction (Drake's DoorHinge).

    s(x) = tanh(x), a smooth sign;   d(x) = 2 s (1 - s^2), a smooth doublet, -s''
    tau = -k (q - q0) + k_c d((q - q_c/2) / (q_c/2)) - f_d s(v / v_0) - f_s d(v / v_0) - c v

The catch pulls the door shut between q = 0 and q_c and stores k_c q_c/2 (1 - s^2); friction only dissipates.
"""
from mbros_core.scalar.real cimport fmax, real, tanh
from mbros_core.forces.element cimport ForceOut


cdef struct DoorHingeNumbers:
    real spring_position         # q0, rad
    real spring_stiffness        # k, N m/rad
    real catch_torque            # k_c, N m
    real catch_width             # q_c, rad
    real dynamic_friction        # f_d, N m
    real static_friction         # f_s, N m
    real viscous_friction        # c, N m s/rad
    real motion_threshold        # v_0, rad/s


cdef inline void door_hinge_coordinate(const DoorHingeNumbers* par, real q, real v, ForceOut* out) noexcept nogil:
    cdef real x = q - par.spring_position
    cdef real half = 0.5 * par.catch_width
    cdef real s = tanh((q - half) / half)
    cdef real rest = 1.0 - s * s
    cdef real u = tanh(v / par.motion_threshold)
    cdef real slope = (1.0 - u * u) / par.motion_threshold
    cdef real friction = par.dynamic_friction * u + 2.0 * par.static_friction * u * (1.0 - u * u)
    out.tau = -(par.spring_stiffness * x) + 2.0 * par.catch_torque * s * rest - friction - par.viscous_friction * v
    out.C = fmax(real(0.0), slope * (par.dynamic_friction + par.static_friction * (2.0 - 6.0 * u * u))) + par.viscous_friction
    out.K = par.spring_stiffness
    out.energy = 0.5 * par.spring_stiffness * x * x + par.catch_torque * half * rest
    out.conservative = v * (2.0 * par.catch_torque * s * rest - par.spring_stiffness * x)
    out.nonconservative = -(friction * v + par.viscous_friction * v * v)


cdef inline void door_hinge_slopes(const DoorHingeNumbers* par, real q, real v, real* by_q, real* by_v) noexcept nogil:
    cdef real half = 0.5 * par.catch_width
    cdef real s = tanh((q - half) / half)
    cdef real u = tanh(v / par.motion_threshold)
    by_q[0] = 2.0 * par.catch_torque * (1.0 - 3.0 * s * s) * (1.0 - s * s) / half - par.spring_stiffness
    by_v[0] = -((1.0 - u * u) / par.motion_threshold * (par.dynamic_friction + par.static_friction * (2.0 - 6.0 * u * u))
                + par.viscous_friction)
