"""Coulomb, Stribeck and viscous friction on one joint coordinate.

tau = -(f_c + (f_s - f_c) exp(-(v / v_b)^2)) v / sqrt(v^2 + v_0^2) - c v

It stores nothing and always dissipates.
"""
from mbros_core.scalar.real cimport exp, fmax, real, sqrt
from mbros_core.forces.element cimport ForceOut


cdef struct StribeckNumbers:
    real coulomb                 # f_c, of sliding, N m or N
    real breakaway               # f_s, N m or N
    real stribeck_speed          # v_b, rad/s or m/s
    real smoothing_speed         # v_0, width of the smooth passage through zero, rad/s or m/s
    real viscous                 # c, N m s/rad or N s/m


cdef inline void stribeck_coordinate(const StribeckNumbers* par, real q, real v, ForceOut* out) noexcept nogil:
    cdef real s = v / par.stribeck_speed
    cdef real bump = (par.breakaway - par.coulomb) * exp(-(s * s))
    cdef real n = 1.0 / sqrt(v * v + par.smoothing_speed * par.smoothing_speed)
    cdef real friction = (par.coulomb + bump) * v * n
    out.tau = -(friction + par.viscous * v)
    # the falling flank of the bump is left out of the slope: an implicit step must not be driven by it
    out.C = (par.coulomb + bump) * n * (par.smoothing_speed * par.smoothing_speed * n * n) + par.viscous
    out.K = real(0.0)
    out.energy = real(0.0)
    out.conservative = real(0.0)
    out.nonconservative = -(friction * v + par.viscous * v * v)


cdef inline void stribeck_slopes(const StribeckNumbers* par, real v, real* by_q, real* by_v) noexcept nogil:
    cdef real s = v / par.stribeck_speed
    cdef real bump = (par.breakaway - par.coulomb) * exp(-(s * s))
    cdef real n = 1.0 / sqrt(v * v + par.smoothing_speed * par.smoothing_speed)
    by_q[0] = real(0.0)
    by_v[0] = (2.0 * s / par.stribeck_speed * bump * v * n
               - (par.coulomb + bump) * n * (par.smoothing_speed * par.smoothing_speed * n * n) - par.viscous)
