"""Two boxes: fifteen directions part them or give the depth (Gottschalk, Lin and Manocha 1996), and their faces give the points.

The directions are the axes of both and the products of an axis of the one with an axis of the other. A product counts only where it is shallower
than every face by more than noise, so that faces in contact keep their normal. Boxes that are apart, where points are asked within a margin, are
left to GJK: directions tell no distance between corners.
"""
from libc.math cimport fabs, sqrt

from mbros_core.geometry.convex_pairs cimport convex_convex_contacts
from mbros_core.geometry.manifold cimport manifold
from mbros_core.geometry.shape cimport Contact, Shape
from mbros_core.geometry.vec cimport Frame, Vec, axis, between, column, place, rotate, unrotate, vec

cdef extern from *:
    """
    static const double MBROS_NOISE = 1e-10, MBROS_ALIGNED = 1e-14;
    """
    const double NOISE "MBROS_NOISE"             # over the size
    const double ALIGNED "MBROS_ALIGNED"         # square of the sine of the angle between edges whose product has no direction


cdef inline Vec unit(int i) noexcept nogil:
    return vec(1.0 if i == 0 else 0.0, 1.0 if i == 1 else 0.0, 1.0 if i == 2 else 0.0)

cdef inline Vec product(int i, Vec b) noexcept nogil:
    """unit(i) x b."""
    return vec(0.0, -b.z, b.y) if i == 0 else vec(b.z, 0.0, -b.x) if i == 1 else vec(-b.y, b.x, 0.0)

cdef inline Vec magnitudes(Vec a) noexcept nogil:
    return vec(fabs(a.x), fabs(a.y), fabs(a.z))

cdef inline int box_box_contacts(const Shape* a, const Frame* A, const Shape* b, const Frame* B, double margin, Contact* out) noexcept nogil:
    cdef Frame X = between(A[0], B[0])
    cdef Vec h = a.half
    cdef Vec g = b.half
    cdef Vec q[3]                                        # columns of |R|: axes of B in A
    cdef double depth = 1e300
    cdef double d
    cdef double at
    cdef double ss
    cdef double noise = NOISE * (a.reach + b.reach)
    cdef Vec n = vec(0.0, 0.0, 1.0)
    cdef Vec u
    cdef Vec t
    cdef int edges = 0                                   # whose product n is
    cdef int i
    cdef int k
    q[0], q[1], q[2] = magnitudes(X.R.x), magnitudes(X.R.y), magnitudes(X.R.z)
    for i in range(3):                                   # axes of A
        at = axis(X.p, i)
        d = axis(h, i) + (g.x * axis(q[0], i) + g.y * axis(q[1], i) + g.z * axis(q[2], i)) - fabs(at)
        if d < -margin:
            return 0
        if d < depth - noise:
            depth = d
            n = unit(i) if at >= 0.0 else -unit(i)
    t = unrotate(X.R, X.p)
    for i in range(3):                                   # axes of B
        at = axis(t, i)
        u = q[i]
        d = axis(g, i) + (h.x * u.x + h.y * u.y + h.z * u.z) - fabs(at)
        if d < -margin:
            return 0
        if d < depth - noise:
            depth = d
            n = column(X.R, i) if at >= 0.0 else -column(X.R, i)
    for k in range(3):                                   # edge of B
        t = column(X.R, k)
        for i in range(3):                               # edge of A
            u = product(i, t)
            ss = u.x * u.x + u.y * u.y + u.z * u.z
            if ss < ALIGNED:
                continue
            at = u.x * X.p.x + u.y * X.p.y + u.z * X.p.z
            d = overlap(h, g, &X, u) - fabs(at)
            if d < 0.0 and d * d > margin * margin * ss:
                return 0
            if d >= 0.0 and d * d >= depth * depth * ss and depth >= 0.0:
                continue
            ss = 1.0 / sqrt(ss)
            d = d * ss
            if d < depth - 2.0 * noise:
                depth = d
                n = ss * u if at >= 0.0 else -ss * u
                edges = 1 + 3 * i + k
    if depth < 0.0:
        return convex_convex_contacts(a, A, b, B, margin, out)
    u = vec(h.x if n.x >= 0.0 else -h.x, h.y if n.y >= 0.0 else -h.y, h.z if n.z >= 0.0 else -h.z)
    k = manifold(a, A, b, B, rotate(A.R, n), depth, place(A[0], u - 0.5 * depth * n), 0, 0, margin, out)
    if edges > 0:
        for i in range(k):
            out[i].reference = -edges
    return k

cdef inline double overlap(Vec h, Vec g, const Frame* X, Vec u) noexcept nogil:
    """Half the extents of both boxes along u, together."""
    return (h.x * fabs(u.x) + h.y * fabs(u.y) + h.z * fabs(u.z)
            + g.x * fabs(u.x * X.R.x.x + u.y * X.R.x.y + u.z * X.R.x.z)
            + g.y * fabs(u.x * X.R.y.x + u.y * X.R.y.y + u.z * X.R.y.z)
            + g.z * fabs(u.x * X.R.z.x + u.y * X.R.z.y + u.z * X.R.z.z))
