"""The potentials of the terms: l, its impulse -dl/dy, its curvature d2l/dy2, and both along a line.

`y` points to the first row of the term. A term of weight or bound zero does nothing.
"""
from libc.math cimport sqrt

from mbros_core.constraints.problem cimport EQUALITY, FRICTION, MOST_ROWS, ONE_SIDED, Term


cdef inline double squared(const double* y, int rows) noexcept nogil:
    cdef double s = 0.0
    cdef int r
    for r in range(rows):
        s += y[r] * y[r]
    return s


cdef inline double energy(const Term* t, const double* y) noexcept nogil:
    """l, J."""
    cdef double size
    if t.potential == ONE_SIDED:
        return 0.5 * t.weight * y[0] * y[0] if y[0] < 0.0 else 0.0
    if t.potential == EQUALITY:
        return 0.5 * t.weight * squared(y, t.rows)
    size = sqrt(squared(y, t.rows))
    if t.weight * size <= t.bound:
        return 0.5 * t.weight * size * size
    return t.bound * (size - 0.5 * t.bound / t.weight)


cdef inline void add_impulse(const Term* t, const double* y, double* impulse) noexcept nogil:
    """impulse -= dl/dy."""
    cdef double scale = t.weight
    cdef double size
    cdef int r
    if t.potential == ONE_SIDED:
        if y[0] < 0.0:
            impulse[0] -= scale * y[0]
        return
    if t.potential == FRICTION:
        size = sqrt(squared(y, t.rows))
        if not scale * size <= t.bound:
            scale = t.bound / size
    for r in range(t.rows):
        impulse[r] -= scale * y[r]


cdef inline int add_curvature(const Term* t, const double* y, double* G) noexcept nogil:
    """G += d2l/dy2, a matrix of MOST_ROWS columns of which the lower triangle is written; returns whether it is not zero, 2 where it is not
    diagonal."""
    cdef double scale = t.weight
    cdef double along = 0.0
    cdef double size
    cdef int r
    cdef int c
    if t.potential == ONE_SIDED:
        if y[0] < 0.0:
            G[0] += scale
            return 1
        return 0
    if t.potential == FRICTION:
        size = sqrt(squared(y, t.rows))
        if not scale * size <= t.bound:
            scale = t.bound / size
            along = scale / (size * size)
        elif t.bound == 0.0:
            return 0
    for r in range(t.rows):
        G[r * MOST_ROWS + r] += scale
        if along > 0.0:
            for c in range(r + 1):
                G[r * MOST_ROWS + c] -= along * y[r] * y[c]
    if along > 0.0 and t.rows > 1:
        return 2
    return scale > 0.0


cdef inline void add_slope(const Term* t, const double* y, const double* z, double a, double* slope, double* curvature) noexcept nogil:
    """By how much the derivative of l(y + a z) over a differs from that at a = 0, and the second derivative, added.

    The difference, not the derivatives: of stiff terms these are large and nearly the same.
    """
    cdef double w = t.weight
    cdef double yz = 0.0
    cdef double zz = 0.0
    cdef double yy = 0.0
    cdef double xz = 0.0
    cdef double xx = 0.0
    cdef double x
    cdef double before
    cdef double after
    cdef int r
    if t.potential == ONE_SIDED:
        x = y[0] + a * z[0]
        if x < 0.0:
            slope[0] += w * (a * z[0] if y[0] < 0.0 else x) * z[0]
            curvature[0] += w * z[0] * z[0]
        elif y[0] < 0.0:
            slope[0] -= w * y[0] * z[0]
        return
    for r in range(t.rows):
        x = y[r] + a * z[r]
        xx += x * x
        xz += x * z[r]
        yy += y[r] * y[r]
        yz += y[r] * z[r]
        zz += z[r] * z[r]
    if t.potential == FRICTION and not (w * w * xx <= t.bound * t.bound and w * w * yy <= t.bound * t.bound):
        before = w if w * w * yy <= t.bound * t.bound else t.bound / sqrt(yy)
        after = w
        if not w * w * xx <= t.bound * t.bound:
            after = t.bound / sqrt(xx)
            zz -= xz * (xz / xx)
        slope[0] += after * xz - before * yz
        curvature[0] += after * zz if zz > 0.0 else 0.0
        return
    slope[0] += a * w * zz
    curvature[0] += w * zz
