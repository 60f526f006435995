"""Coulomb, Stribeck and viscous friction on one joint coordinate.

tau = -(f_c + (f_s - f_c) exp(-(v / v_b)^2)) v / sqrt(v^2 + v_0^2) - c v

f_s: breakaway, f_c: sliding, v_b: Stribeck speed, v_0: width of the smooth passage through zero, c: viscous. It stores
nothing and always dissipates. Parameters: f_c, f_s (N m or N), v_b, v_0 (rad/s or m/s), c (N m s/rad or N s/m).
"""
from mbros_core.scalar.real cimport exp, fmax, real, sqrt
from mbros_core.forces.element cimport ForceOut


cdef inline void stribeck_coordinate(const real* par, real q, real v, ForceOut* out) noexcept nogil:
    cdef real s = v / par[2]
    cdef real bump = (par[1] - par[0]) * exp(-(s * s))
    cdef real n = 1.0 / sqrt(v * v + par[3] * par[3])
    cdef real friction = (par[0] + bump) * v * n
    out.tau = -(friction + par[4] * v)
    # the falling flank of the bump is left out of the slope: an implicit step must not be driven by it
    out.C = (par[0] + bump) * n * (par[3] * par[3] * n * n) + par[4]
    out.K = real(0.0)
    out.energy = real(0.0)
    out.conservative = real(0.0)
    out.nonconservative = -(friction * v + par[4] * v * v)


cdef inline void stribeck_slopes(const real* par, real v, real* by_q, real* by_v) noexcept nogil:
    cdef real s = v / par[2]
    cdef real bump = (par[1] - par[0]) * exp(-(s * s))
    cdef real n = 1.0 / sqrt(v * v + par[3] * par[3])
    by_q[0] = real(0.0)
    by_v[0] = 2.0 * s / par[2] * bump * v * n - (par[0] + bump) * n * (par[3] * par[3] * n * n) - par[4]
