"""Any two convex shapes: GJK for their distance, EPA for their penetration, and what their features share for the contact points.

A sphere or a capsule is its core with `rounding` around it, which only adds to the depth: while the cores are apart the answer is GJK's.
Accuracy: docs/geometry.md.
"""
from libc.math cimport sqrt

from mbros_core.geometry.difference cimport Difference
from mbros_core.geometry.epa cimport Penetration, epa
from mbros_core.geometry.gjk cimport APART, NEAR, Separation, Simplex, gjk
from mbros_core.geometry.manifold cimport manifold
from mbros_core.geometry.polish cimport polish
from mbros_core.geometry.shape cimport CYLINDER, Contact, Shape
from mbros_core.geometry.vec cimport Frame, Vec, between, place, rotate, square, vec

cdef extern from *:
    """
    static const double MBROS_FLAT_TOLERANCE = 1e-12, MBROS_ROUND_TOLERANCE = 1e-7;
    """
    const double FLAT_TOLERANCE "MBROS_FLAT_TOLERANCE"       # of EPA, over the size: polyhedra, segments and points
    const double ROUND_TOLERANCE "MBROS_ROUND_TOLERANCE"     # with a cylinder; polish does the rest


cdef inline int convex_convex_contacts(const Shape* a, const Frame* A, const Shape* b, const Frame* B, double margin, Contact* out) noexcept nogil:
    cdef Difference D
    cdef Simplex s
    cdef Penetration p
    cdef Separation answer
    cdef Vec v
    cdef Vec mid
    cdef Vec n
    cdef double rounding = a.rounding + b.rounding
    cdef double distance
    cdef int i
    D.a, D.b, D.X = a, b, between(A[0], B[0])
    D.size = a.reach + b.reach
    D.start_a = D.start_b = 0
    answer = gjk(&D, rounding + margin, &s, &v)
    if answer == APART:
        return 0
    if answer == NEAR:
        distance = sqrt(square(v))
        if rounding - distance < -margin:
            return 0
        n = (-1.0 / distance) * v
        mid = vec(0.0, 0.0, 0.0)
        for i in range(s.count):
            mid = mid + s.share[i] * s.v[i].a
        mid = mid + 0.5 * (a.rounding - b.rounding + distance) * n
        return manifold(a, A, b, B, rotate(A.R, n), rounding - distance, place(A[0], mid), D.start_a, D.start_b, margin, out)
    if not epa(&D, &s, D.size * (ROUND_TOLERANCE if a.kind == CYLINDER or b.kind == CYLINDER else FLAT_TOLERANCE), &p):
        return 0
    polish(&D, &p)
    mid = 0.5 * (p.a + p.b) + 0.5 * (a.rounding - b.rounding) * p.n
    if p.depth + rounding < -margin:
        return 0
    return manifold(a, A, b, B, rotate(A.R, p.n), p.depth + rounding, place(A[0], mid), D.start_a, D.start_b, margin, out)
