"""Capsule: all points within `radius` of a segment along z. Its core is the segment."""
from mbros_core.geometry.shape cimport Feature, Shape
from mbros_core.geometry.vec cimport Vec, vec


cdef inline Vec capsule_support(const Shape* s, Vec d) noexcept nogil:
    return vec(0.0, 0.0, s.half.z if d.z >= 0.0 else -s.half.z)

cdef inline void capsule_feature(const Shape* s, Vec n, Feature* f) noexcept nogil:
    """The segment, whatever n is: the end that is too high gives no point."""
    f.count = 2
    f.corner[0] = vec(0.0, 0.0, -s.half.z)
    f.corner[1] = vec(0.0, 0.0, s.half.z)
    f.vertex[0], f.vertex[1], f.edge[0], f.edge[1] = 0, 1, 0, 0
