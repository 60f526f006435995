"""Box: half edges `half` along x, y, z. Corner i has the signs of its bits: 1 for x, 2 for y, 4 for z."""
from libc.math cimport fabs

from mbros_core.geometry.shape cimport Feature, Shape
from mbros_core.geometry.vec cimport Vec, vec


cdef inline Vec box_support(const Shape* s, Vec d) noexcept nogil:
    return vec(s.half.x if d.x >= 0.0 else -s.half.x, s.half.y if d.y >= 0.0 else -s.half.y,
               s.half.z if d.z >= 0.0 else -s.half.z)

cdef inline Vec box_corner(const Shape* s, int i) noexcept nogil:
    return vec(s.half.x if i & 1 else -s.half.x, s.half.y if i & 2 else -s.half.y, s.half.z if i & 4 else -s.half.z)

cdef inline void box_feature(const Shape* s, Vec n, Feature* f) noexcept nogil:
    """The face whose normal is nearest to n."""
    cdef Vec h = s.half
    cdef double g
    f.count = 4
    f.round = False
    if fabs(n.x) >= fabs(n.y) and fabs(n.x) >= fabs(n.z):
        g = 1.0 if n.x >= 0.0 else -1.0
        f.normal = vec(g, 0.0, 0.0)
        f.corner[0] = vec(g * h.x, -g * h.y, -h.z)
        f.corner[1] = vec(g * h.x, g * h.y, -h.z)
        f.corner[2] = vec(g * h.x, g * h.y, h.z)
        f.corner[3] = vec(g * h.x, -g * h.y, h.z)
    elif fabs(n.y) >= fabs(n.z):
        g = 1.0 if n.y >= 0.0 else -1.0
        f.normal = vec(0.0, g, 0.0)
        f.corner[0] = vec(g * h.x, g * h.y, -h.z)
        f.corner[1] = vec(-g * h.x, g * h.y, -h.z)
        f.corner[2] = vec(-g * h.x, g * h.y, h.z)
        f.corner[3] = vec(g * h.x, g * h.y, h.z)
    else:
        g = 1.0 if n.z >= 0.0 else -1.0
        f.normal = vec(0.0, 0.0, g)
        f.corner[0] = vec(-g * h.x, -h.y, g * h.z)
        f.corner[1] = vec(g * h.x, -h.y, g * h.z)
        f.corner[2] = vec(g * h.x, h.y, g * h.z)
        f.corner[3] = vec(-g * h.x, h.y, g * h.z)
