"""Door hinge on one joint coordinate: torsion spring, catch, dynamic, static and viscous friction (Drake's DoorHinge).

    s(x) = tanh(x), a smooth sign;   d(x) = 2 s (1 - s^2), a smooth doublet, -s''
    tau = -k (q - q0) + k_c d((q - q_c/2) / (q_c/2)) - f_d s(v / v_0) - f_s d(v / v_0) - c v

The catch pulls the door shut between q = 0 and q_c and stores k_c q_c/2 (1 - s^2); friction only dissipates. Parameters: q0,
k, k_c (catch torque), q_c (catch width), f_d (dynamic), f_s (static), c (viscous), v_0 (rad/s).
"""
from mbros_core.scalar.real cimport fmax, real, tanh
from mbros_core.forces.element cimport ForceOut


cdef inline void door_hinge_coordinate(const real* par, real q, real v, ForceOut* out) noexcept nogil:
    cdef real x = q - par[0]
    cdef real half = 0.5 * par[3]
    cdef real s = tanh((q - half) / half)
    cdef real rest = 1.0 - s * s
    cdef real u = tanh(v / par[7])
    cdef real slope = (1.0 - u * u) / par[7]
    cdef real friction = par[4] * u + 2.0 * par[5] * u * (1.0 - u * u)
    out.tau = -(par[1] * x) + 2.0 * par[2] * s * rest - friction - par[6] * v
    out.C = fmax(real(0.0), slope * (par[4] + par[5] * (2.0 - 6.0 * u * u))) + par[6]
    out.K = par[1]
    out.energy = 0.5 * par[1] * x * x + par[2] * half * rest
    out.conservative = v * (2.0 * par[2] * s * rest - par[1] * x)
    out.nonconservative = -(friction * v + par[6] * v * v)


cdef inline void door_hinge_slopes(const real* par, real q, real v, real* by_q, real* by_v) noexcept nogil:
    cdef real half = 0.5 * par[3]
    cdef real s = tanh((q - half) / half)
    cdef real u = tanh(v / par[7])
    by_q[0] = 2.0 * par[2] * (1.0 - 3.0 * s * s) * (1.0 - s * s) / half - par[1]
    by_v[0] = -((1.0 - u * u) / par[7] * (par[4] + par[5] * (2.0 - 6.0 * u * u)) + par[6])
