"""Sphere: radius around the origin. Its core is a point."""
from mbros_core.geometry.shape cimport Feature, Shape
from mbros_core.geometry.vec cimport Vec, vec


cdef inline Vec sphere_support(const Shape* s, Vec d) noexcept nogil:
    return vec(0.0, 0.0, 0.0)

cdef inline void sphere_feature(const Shape* s, Vec n, Feature* f) noexcept nogil:
    f.count = 1
    f.corner[0] = vec(0.0, 0.0, 0.0)
    f.vertex[0] = f.edge[0] = 0
