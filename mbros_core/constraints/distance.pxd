"""Distance: |p_AoBo| is a length L (a rod), or at most that (a rope). One row along the line u from Ao to Bo:

    rod     g = |p| - L,   dg/dt = u . dp/dt,   bias = u . d2p/dt2 + (|dp/dt|^2 - (u . dp/dt)^2) / |p|
    rope    the same with the other sign, g >= 0
"""
from mbros_core.constraints.constraint cimport Held, Relative
from mbros_core.constraints.columns cimport axes_of
from mbros_core.constraints.problem cimport EQUALITY, ONE_SIDED
from mbros_core.geometry.vec cimport Vec, dot, norm, square, vec


cdef inline void distance(const Relative* x, double length, bint rope, Held* h) noexcept nogil:
    cdef double size = norm(x.r)
    cdef Vec u = (1.0 / size) * x.r if size > 1e-12 else vec(0.0, 0.0, 1.0)
    cdef Vec v = x.v                          # of Bo seen in A, which is as good for a distance
    cdef double sign = -1.0 if rope else 1.0
    cdef double bias = dot(u, x.a)
    if size > 1e-12:
        bias += (square(v) - dot(u, v) * dot(u, v)) / size
    h.rows = h.lengths = 1
    h.potential = ONE_SIDED if rope else EQUALITY
    h.axes = axes_of(sign * u)
    h.gap[0], h.bias[0] = sign * (size - length), sign * bias
