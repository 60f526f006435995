"""A sphere and a cylinder, in closed form."""
from libc.math cimport fabs, sqrt

from mbros_core.geometry.rounds cimport clamp, round_contact
from mbros_core.geometry.shape cimport Contact, Shape, point_contact
from mbros_core.geometry.vec cimport Frame, Vec, place, rotate, unrotate, vec


cdef inline int sphere_cylinder_contacts(const Shape* a, const Frame* A, const Shape* b, const Frame* B, double margin, Contact* out) noexcept nogil:
    """A centre inside leaves through the nearest of side and end; on the axis the side is at x of the cylinder."""
    cdef Vec c = unrotate(B.R, A.p - B.p)
    cdef double across = sqrt(c.x * c.x + c.y * c.y)
    cdef double side = b.radius - across
    cdef double end = b.half.z - fabs(c.z)
    cdef double share = min(across, b.radius) / across if across > 0.0 else 0.0
    cdef Vec n
    cdef int k = 6                                       # the side; 7, 8: the ends
    if side < 0.0 or end < 0.0:
        n = vec(share * c.x, share * c.y, clamp(c.z, -b.half.z, b.half.z))
        k = round_contact(A.p, a.radius, place(B[0], n), 0.0, -B.R.z, margin, out)
        out.reference = (1 if side < 0.0 else 0) + (0 if end >= 0.0 else 2 if c.z < 0.0 else 4)
        return k
    if side <= end:
        n = vec(-c.x / across, -c.y / across, 0.0) if across > 1e-14 * b.radius else vec(-1.0, 0.0, 0.0)
    else:
        side, k = end, 7 if c.z >= 0.0 else 8
        n = vec(0.0, 0.0, -1.0 if c.z >= 0.0 else 1.0)
    n = rotate(B.R, n)
    point_contact(A.p + 0.5 * (a.radius - side) * n, n, a.radius + side, 0, out)
    out.reference = k
    return 1
