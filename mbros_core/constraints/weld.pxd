"""Weld: frame B stays on frame A. Three rows of ball.pxd, and three of angles:  g = log(R_AB),  whose rate is the angular velocity of B in
A where g is zero; a turn of -g closes it from any angle below half a turn."""
from libc.math cimport atan2, sqrt

from mbros_core.constraints.ball cimport ball
from mbros_core.constraints.constraint cimport Held, Relative, along
from mbros_core.geometry.vec cimport Rotation, Vec, dot, norm, vec


cdef inline Vec rotation_vector(const Rotation* R) noexcept nogil:
    """w of R = exp([w]), |w| <= pi. R by its columns."""
    cdef Vec s = vec(0.5 * (R.y.z - R.z.y), 0.5 * (R.z.x - R.x.z), 0.5 * (R.x.y - R.y.x))           # sin(angle) times the axis
    cdef double c = 0.5 * (R.x.x + R.y.y + R.z.z - 1.0)
    cdef double size = norm(s)
    cdef double x, y, z
    if size > 1e-6 or c > 0.0:
        return s if size < 1e-8 else (atan2(size, c) / size) * s
    x, y, z = sqrt(max(0.0, 0.5 * (R.x.x + 1.0))), sqrt(max(0.0, 0.5 * (R.y.y + 1.0))), sqrt(max(0.0, 0.5 * (R.z.z + 1.0)))    # half a turn
    if x >= y and x >= z:
        y, z = y if R.x.y >= 0.0 else -y, z if R.x.z >= 0.0 else -z
    elif y >= z:
        x, z = x if R.x.y >= 0.0 else -x, z if R.y.z >= 0.0 else -z
    else:
        x, y = x if R.x.z >= 0.0 else -x, y if R.y.z >= 0.0 else -y
    return atan2(size, c) * vec(x, y, z)


cdef inline void weld(const Relative* x, Held* h) noexcept nogil:
    cdef Rotation R                                                                                 # R_AB
    cdef Vec w
    ball(x, h)
    R.x = vec(dot(x.A.R.x, x.B.R.x), dot(x.A.R.y, x.B.R.x), dot(x.A.R.z, x.B.R.x))
    R.y = vec(dot(x.A.R.x, x.B.R.y), dot(x.A.R.y, x.B.R.y), dot(x.A.R.z, x.B.R.y))
    R.z = vec(dot(x.A.R.x, x.B.R.z), dot(x.A.R.y, x.B.R.z), dot(x.A.R.z, x.B.R.z))
    w = rotation_vector(&R)
    h.rows = 6
    h.gap[3], h.gap[4], h.gap[5] = w.x, w.y, w.z
    along(&h.axes, x.alpha, h.bias + 3)
