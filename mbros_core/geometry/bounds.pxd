"""Boxes along the axes of the world, or of any frame, around shapes."""
from mbros_core.geometry.shape cimport HALF_SPACE, HEIGHT_FIELD, Shape
from mbros_core.geometry.support cimport support
from mbros_core.geometry.vec cimport Frame, Vec, unrotate, vec

cdef extern from "<cmath>" nogil:
    double INFINITY

cdef struct Bounds:
    Vec low
    Vec high


cdef inline double farthest_along(const Shape* s, const Frame* X, Vec d, int* start) noexcept nogil:
    """How far the shape reaches along the unit vector d from X.p."""
    cdef Vec e = unrotate(X.R, d)
    cdef Vec p = support(s, e, start)
    return e.x * p.x + e.y * p.y + e.z * p.z + s.rounding

cdef inline Bounds bounds_of(const Shape* s, const Frame* X, double margin) noexcept nogil:
    """Of a half-space everything, but for one that is level along an axis; of a height field, whose depth has no end, everything below its top."""
    cdef Bounds r
    cdef Vec z = X.R.z
    cdef int start = 0
    if s.kind == HALF_SPACE or s.kind == HEIGHT_FIELD:
        r.low = vec(-INFINITY, -INFINITY, -INFINITY)
        r.high = vec(INFINITY, INFINITY, INFINITY)
        if s.kind == HEIGHT_FIELD and z.z == 1.0:
            r.low.x, r.high.x = X.p.x - s.reach - margin, X.p.x + s.reach + margin
            r.low.y, r.high.y = X.p.y - s.reach - margin, X.p.y + s.reach + margin
            r.high.z = X.p.z + s.field.highest + margin
        elif s.kind == HALF_SPACE and z.x == 1.0:
            r.high.x = X.p.x + margin
        elif s.kind == HALF_SPACE and z.x == -1.0:
            r.low.x = X.p.x - margin
        elif s.kind == HALF_SPACE and z.y == 1.0:
            r.high.y = X.p.y + margin
        elif s.kind == HALF_SPACE and z.y == -1.0:
            r.low.y = X.p.y - margin
        elif s.kind == HALF_SPACE and z.z == 1.0:
            r.high.z = X.p.z + margin
        elif s.kind == HALF_SPACE and z.z == -1.0:
            r.low.z = X.p.z - margin
        return r
    r.high = vec(X.p.x + margin + farthest_along(s, X, vec(1.0, 0.0, 0.0), &start), X.p.y + margin + farthest_along(s, X, vec(0.0, 1.0, 0.0), &start),
                 X.p.z + margin + farthest_along(s, X, vec(0.0, 0.0, 1.0), &start))
    r.low = vec(X.p.x - margin - farthest_along(s, X, vec(-1.0, 0.0, 0.0), &start), X.p.y - margin - farthest_along(s, X, vec(0.0, -1.0, 0.0), &start),
                X.p.z - margin - farthest_along(s, X, vec(0.0, 0.0, -1.0), &start))
    return r

cdef inline bint overlapping(const Bounds* a, const Bounds* b) noexcept nogil:
    return (a.low.x <= b.high.x and b.low.x <= a.high.x and a.low.y <= b.high.y and b.low.y <= a.high.y
            and a.low.z <= b.high.z and b.low.z <= a.high.z)
