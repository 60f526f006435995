"""The normal of a penetration found to the last digits: what EPA leaves to do where a side is round, and where faces lie flat on each other.

The depth is the smallest overlap h(n) of all unit normals n (`overlap_along`). Where n is nearly normal to a face, the face's normal is tried. Between faces h is
smooth but for kinks: across the normals of an edge of a polyhedron or of a cylinder's line. Kinks that the found face lies on are kept,
and along them Newton's method goes to where the gradient of h on the sphere is zero; its Hessian comes from cylinders alone.
Nothing is taken that is deeper than what there was.
"""
from libc.math cimport fabs

from mbros_core.geometry.difference cimport Difference, Vertex, farthest, overlap_along
from mbros_core.geometry.epa cimport Penetration
from mbros_core.geometry.shape cimport CYLINDER, Shape
from mbros_core.geometry.support cimport facing
from mbros_core.geometry.vec cimport Vec, cross, dot, norm, perpendicular, rotate, square, unrotate, vec

cdef enum:
    NEWTON_STEPS = 6

cdef extern from *:
    """
    static const double MBROS_FLAT = 1e-4, MBROS_KINK = 3e-2;
    """
    const double FLAT "MBROS_FLAT"               # 1 - cosine of the angle to a face's normal that is tried
    const double KINK "MBROS_KINK"               # cosine of the angle between n and a cylinder's axis that counts as square


cdef inline bint take(Difference* D, Vec n, double slack, Penetration* out) noexcept nogil:
    """n in place of out.n, where the overlap along it is no larger (but for slack)."""
    cdef double h
    cdef double length = norm(n)
    if not length > 0.0:
        return False
    n = (1.0 / length) * n
    h = overlap_along(D, n)
    if not h <= out.depth + slack:
        return False
    out.n, out.depth = n, h
    return True

cdef inline bint flatten(Difference* D, Penetration* out) noexcept nogil:
    """The exact normal of a face, of A or of B, from which n differs by noise."""
    cdef Vec normal
    if facing(D.a, out.n, D.start_a, &normal) and 1.0 - dot(normal, out.n) <= FLAT:
        return take(D, normal, 1e-12 * D.size, out)
    if facing(D.b, unrotate(D.X.R, -out.n), D.start_b, &normal):
        normal = -rotate(D.X.R, normal)
        return 1.0 - dot(normal, out.n) <= FLAT and take(D, normal, 1e-12 * D.size, out)
    return False

cdef inline double bending(const Shape* s, Vec axis, Vec n, Vec x, Vec y) noexcept nogil:
    """x^T H y of a cylinder's support function in the direction n: radius over |n across the axis|, around the axis."""
    cdef Vec t
    cdef double across
    if s.kind != CYLINDER:
        return 0.0
    t = cross(axis, n)
    across = norm(t)
    if not across > 1e-9:
        return 0.0
    return s.radius / (across * across * across) * dot(t, x) * dot(t, y)

cdef inline int kinks_of(Difference* D, const Penetration* p, Vec* e, bint* of_a) noexcept nogil:
    """Unit directions that the normal is square to, and whose they are: a cylinder's line or an edge, of A and of B."""
    cdef int k = 0
    cdef int i
    if D.a.kind == CYLINDER:
        if fabs(p.n.z) < KINK:
            e[k], of_a[k] = vec(0.0, 0.0, 1.0), True
            k += 1
    elif square(p.edge_a) > 0.0:
        e[k], of_a[k] = p.edge_a, True
        k += 1
    if D.b.kind == CYLINDER:
        if fabs(dot(D.X.R.z, p.n)) < KINK:
            e[k], of_a[k] = D.X.R.z, False
            k += 1
    elif square(p.edge_b) > 0.0:
        e[k], of_a[k] = p.edge_b, False
        k += 1
    for i in range(k):
        e[i] = (1.0 / norm(e[i])) * e[i]
    return k

cdef inline void descend(Difference* D, int kinks, Vec edge, Penetration* out) noexcept nogil:
    """Newton's method on the sphere, or on its circle square to `edge`."""
    cdef Vec x
    cdef Vec y
    cdef Vec n
    cdef Vertex v
    cdef double xx
    cdef double xy
    cdef double yy
    cdef double gx
    cdef double gy
    cdef double det
    cdef int step
    for step in range(NEWTON_STEPS):
        n = out.n
        v = farthest(D, n)
        x = cross(edge, n) if kinks == 1 else perpendicular(n)
        gx = dot(v.w, x)
        xx = bending(D.a, vec(0.0, 0.0, 1.0), n, x, x) + bending(D.b, D.X.R.z, n, x, x) - out.depth
        if kinks == 1:
            if not xx > 0.0 or fabs(gx) <= 1e-15 * D.size:
                return
            n = n - (gx / xx) * x
        else:
            y = cross(n, x)
            gy = dot(v.w, y)
            xy = bending(D.a, vec(0.0, 0.0, 1.0), n, x, y) + bending(D.b, D.X.R.z, n, x, y)
            yy = bending(D.a, vec(0.0, 0.0, 1.0), n, y, y) + bending(D.b, D.X.R.z, n, y, y) - out.depth
            det = xx * yy - xy * xy
            if not (xx > 0.0 and det > 1e-12 * xx * xx) or fabs(gx) + fabs(gy) <= 1e-15 * D.size:
                return
            n = n - ((yy * gx - xy * gy) / det) * x - ((xx * gy - xy * gx) / det) * y
        if not take(D, n, 1e-15 * D.size, out):
            return

cdef inline void settle(Difference* D, int kinks, const Vec* e, const bint* of_a, Penetration* out) noexcept nogil:
    """The points that touch, from the supports along n: on an edge or a line any of its points is one, and the right one is opposite the other's."""
    cdef Vertex v = farthest(D, out.n)
    cdef Vec off = v.w - out.depth * out.n
    cdef double c
    cdef double s[2]
    cdef int i
    s[0] = s[1] = 0.0
    if kinks == 1:
        s[0] = dot(off, e[0])
    elif kinks == 2:
        c = dot(e[0], e[1])
        if 1.0 - c * c > 1e-12:
            s[0] = (dot(off, e[0]) - c * dot(off, e[1])) / (1.0 - c * c)
            s[1] = (dot(off, e[1]) - c * dot(off, e[0])) / (1.0 - c * c)
    off = off - s[0] * e[0] - s[1] * e[1] if kinks == 2 else off - s[0] * e[0] if kinks == 1 else off
    if norm(off) > 1e-6 * D.size:                        # not the edges that touch: what EPA found is nearer
        return
    out.a, out.b = v.a, v.a - v.w
    for i in range(kinks):
        if of_a[i]:
            out.a = out.a - s[i] * e[i]
        else:
            out.b = out.b + s[i] * e[i]

cdef inline void polish(Difference* D, Penetration* out) noexcept nogil:
    cdef Vec e[2]
    cdef bint of_a[2]
    cdef Vec n
    cdef int kinks
    cdef int i
    if flatten(D, out) or (D.a.kind != CYLINDER and D.b.kind != CYLINDER):
        return
    kinks = kinks_of(D, out, e, of_a)
    n = cross(e[0], e[1]) if kinks == 2 else out.n
    if kinks == 2 and norm(n) > 1e-3 and take(D, n if dot(n, out.n) >= 0.0 else -n, 1e-12 * D.size, out):
        settle(D, 2, e, of_a, out)
        return
    for i in range(kinks):                               # one of them may be none: a rim nearly in line
        if take(D, out.n - dot(out.n, e[i]) * e[i], 1e-12 * D.size, out):
            e[0], of_a[0] = e[i], of_a[i]
            descend(D, 1, e[0], out)
            settle(D, 1, e, of_a, out)
            return
    descend(D, 0, out.n, out)
    settle(D, 0, e, of_a, out)
