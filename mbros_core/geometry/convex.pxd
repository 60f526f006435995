"""Convex polyhedron: the hull of its vertices, with the tables of mbros_core.geometry.hull."""
from mbros_core.geometry.shape cimport Feature, MOST_CORNERS, Shape
from mbros_core.geometry.vec cimport Vec, dot, read

cdef enum:
    FEW = 12                     # vertices that are looked at one by one

cdef extern from *:
    """
    static const double MBROS_LEVEL = 1e-9;
    """
    const double LEVEL "MBROS_LEVEL"             # over the size: vertices as far along n as the farthest


cdef inline int convex_farthest(const Shape* s, Vec d, int start) noexcept nogil:
    """The vertex farthest along d: from `start` up along edges, which on a convex polyhedron ends at the farthest one."""
    cdef const double* v = s.hull.vertex
    cdef int best = start
    cdef int here = -1
    cdef int i
    cdef int k
    cdef double most = dot(d, read(v + 3 * start))
    cdef double x
    if s.hull.vertices <= FEW:
        for i in range(s.hull.vertices):
            x = d.x * v[3 * i] + d.y * v[3 * i + 1] + d.z * v[3 * i + 2]
            if x > most:
                most = x
                best = i
        return best
    while best != here:
        here = best
        for k in range(s.hull.neighbour_start[here], s.hull.neighbour_start[here + 1]):
            i = s.hull.neighbour[k]
            x = d.x * v[3 * i] + d.y * v[3 * i + 1] + d.z * v[3 * i + 2]
            if x > most:
                most = x
                best = i
    return best

cdef inline Vec convex_support(const Shape* s, Vec d, int* start) noexcept nogil:
    start[0] = convex_farthest(s, d, start[0])
    return read(s.hull.vertex + 3 * start[0])

cdef inline void convex_face(const Shape* s, int face, Feature* f) noexcept nogil:
    cdef int start = s.hull.corner_start[face]
    cdef int count = s.hull.corner_start[face + 1] - start
    cdef int i
    cdef int k
    f.count = count if count < MOST_CORNERS else MOST_CORNERS
    f.normal = read(s.hull.normal + 3 * face)
    f.round = False
    f.number = face
    for i in range(f.count):
        k = i if count <= MOST_CORNERS else <int>((<long long>i * count) / MOST_CORNERS)
        f.vertex[i], f.edge[i] = s.hull.corner[start + k], s.hull.edge[start + k]
        f.corner[i] = read(s.hull.vertex + 3 * f.vertex[i])

cdef inline bint touches(const Shape* s, int face, int v) noexcept nogil:
    """Whether the vertex is a corner of the face."""
    cdef int k
    for k in range(s.hull.around_start[v], s.hull.around_start[v + 1]):
        if s.hull.around[k] == face:
            return True
    return False

cdef inline int convex_facing(const Shape* s, Vec n, int start) noexcept nogil:
    """Of the faces at the vertex that is farthest along n, or along the edge if n is square to one there, the one whose normal is nearest to n."""
    cdef int v = convex_farthest(s, n, start)
    cdef int best = s.hull.around[s.hull.around_start[v]]
    cdef int along = -1
    cdef int k
    cdef double most = -2.0
    cdef double x = dot(n, read(s.hull.vertex + 3 * v)) - LEVEL * s.reach
    for k in range(s.hull.neighbour_start[v], s.hull.neighbour_start[v + 1]):
        if dot(n, read(s.hull.vertex + 3 * s.hull.neighbour[k])) >= x:
            along = s.hull.neighbour[k]
    for k in range(s.hull.around_start[v], s.hull.around_start[v + 1]):
        if along >= 0 and not touches(s, s.hull.around[k], along):
            continue
        x = dot(n, read(s.hull.normal + 3 * s.hull.around[k]))
        if x > most:
            most = x
            best = s.hull.around[k]
    return best
