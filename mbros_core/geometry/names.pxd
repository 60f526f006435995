"""Names of contact points (`feature` in shape.pxd): the vertices and edges of the two shapes that made a point.

The lower SIDE bits tell of the second shape, those above of the first: a vertex, an edge, or nothing where the point is inside a face. So
a vertex in a face is named by the vertex, a crossing of two edges by both, whichever faces they were found on. A name of 0 is the one point
of a pair at which depth was found, where it is no corner of anything. Names have at most 50 bits: a double holds them exactly. Half-spaces,
balls and capsules on height fields, whose points are those of the other alone, count in their own way.

Of vertices there are fewer than 2^17, of edges fewer than 2^18 (hull.py: MOST_TRIANGLES), of grid points 2^20 (given.py: MOST_POINTS). A
grid point or an edge of a height field counts once for each triangle there, each of which has a normal of its own.
"""

cdef enum:
    SIDE = 20
    AFTER_VERTICES = 1 << 18     # a bit that all edges have, and no vertex
    AFTER_POINTS = 1 << 23
    AFTER_GRID_EDGES = 1 << 24
    AFTER_TRIANGLES = (1 << 24) + (1 << 21)

cdef extern from *:
    """
    static const long long MBROS_AGAIN = 1LL << 48;
    """
    const long long AGAIN "MBROS_AGAIN"          # more than all names: another point of the same name


cdef inline long long vertex_name(int i, int shift) noexcept nogil:
    return <long long>(1 + i) << shift

cdef inline long long edge_name(int i, int shift) noexcept nogil:
    return <long long>(AFTER_VERTICES + i) << shift

cdef inline bint of_one_shape(long long a, long long b) noexcept nogil:
    """Whether the names of two edges are of the same shape."""
    return a & b != 0

cdef inline bint has_part_of(long long name, long long a) noexcept nogil:
    """Whether a vertex or an edge of the shape that `a` is of is in the name."""
    return name >> SIDE != 0 if a >> SIDE else name & ((1 << SIDE) - 1) != 0

cdef inline long long grid_point_name(int point, int second, int corner) noexcept nogil:
    """Of that corner of a triangle, the first or second one of its cell."""
    return <long long>(1 + 8 * point + 3 * second + corner) << SIDE

cdef inline long long grid_edge_name(int point, int way, int second) noexcept nogil:
    """way: 0, 1, 2 along x, the diagonal, y, from the grid point on."""
    return <long long>(AFTER_POINTS + 2 * (3 * point + way) + second) << SIDE

cdef inline long long triangle_name(int triangle) noexcept nogil:
    return <long long>(AFTER_GRID_EDGES + triangle) << SIDE
