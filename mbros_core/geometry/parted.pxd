"""Whether a direction that is cheap to try parts two shapes: an axis of a box; of a cylinder or a capsule the axis and the way across it to the
other shape. What stands side by side, as links of robots do, is parted by one of these, long before GJK would have said so.
"""
from libc.math cimport fabs, sqrt

from mbros_core.geometry.shape cimport BOX, CAPSULE, CONVEX, SPHERE, Shape
from mbros_core.geometry.vec cimport Frame, Vec, between, unrotate, vec

cdef extern from *:
    """
    static const double MBROS_CLEAR = 1e-12;
    """
    const double CLEAR "MBROS_CLEAR"             # over the size, beyond the margin: what rounding may not decide


cdef inline double reach_along(const Shape* s, Vec d) noexcept nogil:
    """How far a shape, which is its own mirror image, reaches from its origin along the unit vector d."""
    if s.kind == BOX:
        return s.half.x * fabs(d.x) + s.half.y * fabs(d.y) + s.half.z * fabs(d.z)
    if s.kind == CAPSULE:
        return s.half.z * fabs(d.z) + s.radius
    return s.half.z * fabs(d.z) + s.radius * sqrt(d.x * d.x + d.y * d.y)

cdef inline bint axes_part(const Shape* a, const Shape* b, const Frame* X, double margin) noexcept nogil:
    """Whether a direction of a's does; X: X_AB."""
    cdef double across
    cdef double end = a.half.z + (a.radius if a.kind == CAPSULE else 0.0)
    if fabs(X.p.z) - end - reach_along(b, vec(X.R.x.z, X.R.y.z, X.R.z.z)) > margin:
        return True
    if a.kind == BOX:
        return (fabs(X.p.y) - a.half.y - reach_along(b, vec(X.R.x.y, X.R.y.y, X.R.z.y)) > margin
                or fabs(X.p.x) - a.half.x - reach_along(b, vec(X.R.x.x, X.R.y.x, X.R.z.x)) > margin)
    across = sqrt(X.p.x * X.p.x + X.p.y * X.p.y)
    if not across > a.radius + margin:
        return False
    return across - a.radius - reach_along(b, unrotate(X.R, vec(X.p.x / across, X.p.y / across, 0.0))) > margin

cdef inline bint parted(const Shape* a, const Frame* A, const Shape* b, const Frame* B, double margin) noexcept nogil:
    """Whether one of these directions parts two boxes, cylinders or capsules by more than the margin; of other kinds none is tried."""
    cdef Frame X
    if a.kind <= SPHERE or b.kind <= SPHERE or a.kind == CONVEX or b.kind == CONVEX:
        return False
    margin += CLEAR * (a.reach + b.reach)
    X = between(A[0], B[0])
    if axes_part(a, b, &X, margin):
        return True
    X = between(B[0], A[0])
    return axes_part(b, a, &X, margin)
