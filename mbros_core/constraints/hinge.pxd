"""Hinge: Bo stays at Ao, and the z axes of both frames stay parallel and point the same way. Three rows of ball.pxd, and two of angles,
about A's x and y:  g = angle between the axes times the direction that turns A's into B's."""
from libc.math cimport atan2

from mbros_core.constraints.ball cimport ball
from mbros_core.constraints.constraint cimport Held, Relative
from mbros_core.geometry.vec cimport cross, dot, norm, Vec


cdef inline void hinge(const Relative* x, Held* h) noexcept nogil:
    cdef Vec turn = cross(x.A.R.z, x.B.R.z)
    cdef double s = norm(turn)
    cdef double c = dot(x.A.R.z, x.B.R.z)
    ball(x, h)
    h.rows = 5
    if s > 1e-8:
        turn = (atan2(s, c) / s) * turn
    elif c < 0.0:
        turn = 3.141592653589793 * x.A.R.x
    h.gap[3], h.gap[4] = dot(x.A.R.x, turn), dot(x.A.R.y, turn)
    h.bias[3], h.bias[4] = dot(x.A.R.x, x.alpha), dot(x.A.R.y, x.alpha)
