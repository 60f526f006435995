"""The Minkowski difference A - B of two cores, in A's frame: how far it reaches in a direction, and from which points.

Two shapes touch where their difference holds the origin; their distance, or the shortest way that parts them, is the origin's distance from its
surface (Ericson 2005, Real-Time Collision Detection, 9.5).
"""
from mbros_core.geometry.shape cimport Shape
from mbros_core.geometry.support cimport support
from mbros_core.geometry.vec cimport Frame, Vec, dot, place, unrotate

cdef struct Difference:
    const Shape* a
    const Shape* b
    Frame X                      # X_AB
    double size                  # what tolerances are relative to
    int start_a                  # of polyhedra: the vertices found last
    int start_b

cdef struct Vertex:
    Vec w                        # a - b
    Vec a

cdef inline Vertex farthest(Difference* D, Vec d) noexcept nogil:
    """The vertex of A - B farthest along d."""
    cdef Vertex v
    v.a = support(D.a, d, &D.start_a)
    v.w = v.a - place(D.X, support(D.b, unrotate(D.X.R, -d), &D.start_b))
    return v

cdef inline double overlap_along(Difference* D, Vec n) noexcept nogil:
    """How far B's core must move along the unit vector n to leave A's: no normal has a smaller one than the penetration depth."""
    cdef Vertex v = farthest(D, n)
    return dot(n, v.w)
