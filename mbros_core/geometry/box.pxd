"""Box: half edges `half` along x, y, z. Corner i has the signs of its bits: 1 for x, 2 for y, 4 for z. Edges 0 to 3 are along x, 4 to 7
along y, 8 to 11 along z, by the signs of the other two in the same way; faces 0 to 5 are at -x, x, -y, y, -z, z.
"""
from libc.math cimport fabs
from libc.string cimport memcpy

from mbros_core.geometry.shape cimport Feature, Shape
from mbros_core.geometry.vec cimport Vec, vec

cdef extern from *:
    """
    static const int MBROS_BOX_VERTICES[24] = {2, 0, 4, 6,  1, 3, 7, 5,  0, 1, 5, 4,  3, 2, 6, 7,  1, 0, 2, 3,  4, 5, 7, 6};
    static const int MBROS_BOX_EDGES[24] = {4, 8, 6, 10,  5, 11, 7, 9,  0, 9, 2, 8,  1, 10, 3, 11,  0, 4, 1, 5,  2, 7, 3, 6};
    """
    const int* BOX_VERTICES "MBROS_BOX_VERTICES"     # around each face, as box_feature goes, and the edges that follow them
    const int* BOX_EDGES "MBROS_BOX_EDGES"


cdef inline Vec box_support(const Shape* s, Vec d) noexcept nogil:
    return vec(s.half.x if d.x >= 0.0 else -s.half.x, s.half.y if d.y >= 0.0 else -s.half.y,
               s.half.z if d.z >= 0.0 else -s.half.z)

cdef inline Vec box_corner(const Shape* s, int i) noexcept nogil:
    return vec(s.half.x if i & 1 else -s.half.x, s.half.y if i & 2 else -s.half.y, s.half.z if i & 4 else -s.half.z)

cdef inline void box_feature(const Shape* s, Vec n, Feature* f) noexcept nogil:
    """The face whose normal is nearest to n."""
    cdef Vec h = s.half
    cdef double g
    cdef int face
    f.count = 4
    f.round = False
    if fabs(n.x) >= fabs(n.y) and fabs(n.x) >= fabs(n.z):
        g = 1.0 if n.x >= 0.0 else -1.0
        face = 1 if n.x >= 0.0 else 0
        f.normal = vec(g, 0.0, 0.0)
        f.corner[0] = vec(g * h.x, -g * h.y, -h.z)
        f.corner[1] = vec(g * h.x, g * h.y, -h.z)
        f.corner[2] = vec(g * h.x, g * h.y, h.z)
        f.corner[3] = vec(g * h.x, -g * h.y, h.z)
    elif fabs(n.y) >= fabs(n.z):
        g = 1.0 if n.y >= 0.0 else -1.0
        face = 3 if n.y >= 0.0 else 2
        f.normal = vec(0.0, g, 0.0)
        f.corner[0] = vec(g * h.x, g * h.y, -h.z)
        f.corner[1] = vec(-g * h.x, g * h.y, -h.z)
        f.corner[2] = vec(-g * h.x, g * h.y, h.z)
        f.corner[3] = vec(g * h.x, g * h.y, h.z)
    else:
        g = 1.0 if n.z >= 0.0 else -1.0
        face = 5 if n.z >= 0.0 else 4
        f.normal = vec(0.0, 0.0, g)
        f.corner[0] = vec(-g * h.x, -h.y, g * h.z)
        f.corner[1] = vec(g * h.x, -h.y, g * h.z)
        f.corner[2] = vec(g * h.x, h.y, g * h.z)
        f.corner[3] = vec(-g * h.x, h.y, g * h.z)
    f.number = face
    memcpy(f.vertex, BOX_VERTICES + 4 * face, 4 * sizeof(int))
    memcpy(f.edge, BOX_EDGES + 4 * face, 4 * sizeof(int))
