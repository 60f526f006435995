"""Cylinder: `radius` around z, flat ends at z = +-half.z.

For contact points its ends count as regular polygons of CAP_CORNERS corners in the rim, one of them the corner that is deepest; where the axis
is along the normal to STRAIGHT there is no deepest one, and the first corner is on the cylinder's x axis. Vertices and edges are counted
from there, of the end at -z and then of the one at +z; the last edge is the line on the side, from one end's first corner to the other's.
"""
from libc.math cimport fabs, sqrt

from mbros_core.geometry.shape cimport CAP_CORNERS, Feature, Shape
from mbros_core.geometry.vec cimport Vec, vec

cdef extern from *:
    """
    static const double MBROS_CAP_COS[12] = {1.0, 0.86602540378443864676, 0.5, 0.0, -0.5, -0.86602540378443864676, -1.0,
                                             -0.86602540378443864676, -0.5, 0.0, 0.5, 0.86602540378443864676};
    static const double MBROS_CAP_SIN[12] = {0.0, 0.5, 0.86602540378443864676, 1.0, 0.86602540378443864676, 0.5, 0.0, -0.5,
                                             -0.86602540378443864676, -1.0, -0.86602540378443864676, -0.5};
    """
    const double* CAP_COS "MBROS_CAP_COS"
    const double* CAP_SIN "MBROS_CAP_SIN"

cdef extern from *:
    """
    static const double MBROS_STRAIGHT = 1e-6;
    """
    const double STRAIGHT "MBROS_STRAIGHT"       # sine of the angle between axis and normal


cdef inline Vec cylinder_support(const Shape* s, Vec d) noexcept nogil:
    cdef double across = sqrt(d.x * d.x + d.y * d.y)
    cdef double z = s.half.z if d.z >= 0.0 else -s.half.z
    if across <= 1e-14 * fabs(d.z):
        return vec(0.0, 0.0, z)
    return vec(s.radius * (d.x / across), s.radius * (d.y / across), z)

cdef inline void cylinder_deepest(const Shape* s, Vec n, double* x, double* y) noexcept nogil:
    """The unit vector of the xy plane along n's part in it."""
    cdef double across = sqrt(n.x * n.x + n.y * n.y)
    x[0], y[0] = 1.0, 0.0
    if across > STRAIGHT:
        x[0], y[0] = n.x / across, n.y / across

cdef inline void cylinder_cap(const Shape* s, Vec n, Feature* f) noexcept nogil:
    """The end that faces n."""
    cdef double g = 1.0 if n.z >= 0.0 else -1.0
    cdef double x
    cdef double y
    cdef int i
    cdef int first = CAP_CORNERS if n.z >= 0.0 else 0
    cylinder_deepest(s, n, &x, &y)
    f.count = CAP_CORNERS
    f.number = 1 if n.z >= 0.0 else 0
    f.round = True
    f.normal = vec(0.0, 0.0, g)
    for i in range(CAP_CORNERS):
        f.vertex[i] = f.edge[i] = first + i
        f.corner[i] = vec(s.radius * (CAP_COS[i] * x - g * CAP_SIN[i] * y), s.radius * (CAP_COS[i] * y + g * CAP_SIN[i] * x), g * s.half.z)

cdef inline void cylinder_line(const Shape* s, Vec n, Feature* f) noexcept nogil:
    """The line on the side that is farthest along n."""
    cdef double x
    cdef double y
    cylinder_deepest(s, n, &x, &y)
    f.count = 2
    f.corner[0] = vec(s.radius * x, s.radius * y, -s.half.z)
    f.corner[1] = vec(s.radius * x, s.radius * y, s.half.z)
    f.vertex[0], f.vertex[1], f.edge[0], f.edge[1] = 0, CAP_CORNERS, 2 * CAP_CORNERS, 2 * CAP_CORNERS

cdef inline void cylinder_feature(const Shape* s, Vec n, Feature* f) noexcept nogil:
    """An end where n is within 45 degrees of the axis, else a line of the side."""
    if 2.0 * n.z * n.z > 1.0:
        cylinder_cap(s, n, f)
    else:
        cylinder_line(s, n, f)
