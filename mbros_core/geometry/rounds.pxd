"""Spheres and capsules with one another: points and segments with a radius around them, in closed form."""
from libc.math cimport sqrt

from mbros_core.geometry.manifold cimport manifold
from mbros_core.geometry.shape cimport Contact, Shape, point_contact
from mbros_core.geometry.vec cimport Frame, Vec, cross, dot, square



cdef inline double clamp(double x, double low, double high) noexcept nogil:
    return low if x < low else high if x > high else x

cdef inline int end_of(double x, double half) noexcept nogil:
    """Whether a place on a segment is one of its ends, and which of two."""
    return 1 if x <= -half else 2 if x >= half else 0

cdef inline int round_contact(Vec pa, double ra, Vec pb, double rb, Vec otherwise, double margin, Contact* out) noexcept nogil:
    """Balls around two points; the unit vector `otherwise` is the normal where they are one point."""
    cdef Vec e = pb - pa
    cdef double distance = sqrt(square(e))
    cdef double depth = ra + rb - distance
    cdef Vec n = otherwise
    if not depth >= -margin:
        return 0
    if distance > 1e-14 * (ra + rb):
        n = (1.0 / distance) * e
    return point_contact(pa + 0.5 * (ra - rb + distance) * n, n, depth, 0, out)

cdef inline int sphere_sphere_contacts(const Shape* a, const Frame* A, const Shape* b, const Frame* B, double margin, Contact* out) noexcept nogil:
    """Concentric: along z of a."""
    return round_contact(A.p, a.radius, B.p, b.radius, A.R.z, margin, out)

cdef inline int sphere_capsule_contacts(const Shape* a, const Frame* A, const Shape* b, const Frame* B, double margin, Contact* out) noexcept nogil:
    """Centre on the segment: along x of the capsule, square to it."""
    cdef double t = clamp(dot(A.p - B.p, B.R.z), -b.half.z, b.half.z)
    cdef int k = round_contact(A.p, a.radius, B.p + t * B.R.z, b.radius, B.R.x, margin, out)
    out.reference = end_of(t, b.half.z)
    return k

cdef inline int capsule_capsule_contacts(const Shape* a, const Frame* A, const Shape* b, const Frame* B, double margin, Contact* out) noexcept nogil:
    """The nearest points of two segments (Ericson 2005, 5.1.9); of parallel ones in the middle of what they share, and then two contact points."""
    cdef Vec r = B.p - A.p
    cdef double c = dot(A.R.z, B.R.z)
    cdef Vec across = cross(A.R.z, B.R.z)
    cdef double ss = square(across)
    cdef double ra = dot(r, A.R.z)
    cdef double rb = -dot(r, B.R.z)
    cdef double s
    cdef double t
    cdef double low
    cdef double high
    cdef Vec n
    cdef Contact deepest
    cdef int count
    cdef int i
    if ss > 1e-16:
        s = clamp((ra + c * rb) / ss, -a.half.z, a.half.z)
    else:
        low = max(-a.half.z, ra - b.half.z)
        high = min(a.half.z, ra + b.half.z)
        s = clamp(0.5 * (low + high), -a.half.z, a.half.z)
    t = rb + s * c                                       # on b's line, nearest to the point at s
    if t < -b.half.z or t > b.half.z:
        t = clamp(t, -b.half.z, b.half.z)
        s = clamp(ra + t * c, -a.half.z, a.half.z)
    n = (1.0 / sqrt(ss)) * across if ss > 1e-16 else A.R.x
    if not round_contact(A.p + s * A.R.z, a.radius, B.p + t * B.R.z, b.radius, n, margin, &deepest):
        return 0
    count = manifold(a, A, b, B, deepest.n, deepest.depth, deepest.p, 0, 0, margin, out)
    for i in range(count):
        out[i].reference = end_of(s, a.half.z) + 3 * end_of(t, b.half.z)
    return count
