"""Universal: Bo stays at Ao, and the x axis of A and the y axis of B stay at right angles, as in a Cardan joint whose cross has both. Three
rows along n, t = A's x and s, n along both axes' normal, and one of the angle about n:

    g = asin(x . y),   dg/dt = n . w,   n = y x x / |y x x|,   bias = n . alpha + dn/dt . w,   d(y x x)/dt = (w x y) x x seen in A
"""
from libc.math cimport atan2

from mbros_core.constraints.constraint cimport Held, Relative, along
from mbros_core.constraints.problem cimport EQUALITY
from mbros_core.geometry.vec cimport Vec, cross, dot, norm


cdef inline void universal(const Relative* x, Held* h) noexcept nogil:
    cdef Vec u = cross(x.B.R.y, x.A.R.x)
    cdef double size = norm(u)
    cdef Vec turned = cross(cross(x.w, x.B.R.y), x.A.R.x)
    h.rows, h.lengths, h.potential = 4, 3, EQUALITY
    h.axes.n = (1.0 / size) * u if size > 1e-8 else x.A.R.z
    h.axes.t = x.A.R.x
    h.axes.s = cross(h.axes.n, h.axes.t)
    along(&h.axes, x.r, h.gap)
    along(&h.axes, x.a, h.bias)
    h.gap[3] = atan2(dot(x.A.R.x, x.B.R.y), size)
    h.bias[3] = dot(h.axes.n, x.alpha)
    if size > 1e-8:
        h.bias[3] += (dot(turned, x.w) - dot(h.axes.n, turned) * dot(h.axes.n, x.w)) / size
