"""What the engine knows of a shape, and what every kind and every pair of kinds must be able to do.

A shape stands in a frame of its own (lengths in m), as in `mbros.shapes`: centred on the origin; capsule and cylinder along z; a capsule's
length without its half-spheres. A half-space is solid below z = 0. A height field is solid below its surface, without a floor.

A convex kind has, all in its own frame:

    KIND_support(s, d)             a point of its core farthest in the direction d (no unit vector), nothing allocated
    KIND_feature(s, n, f)          the vertex, edge or face of the core that faces the unit vector n, for contact points

The core of a sphere is its centre, of a capsule its segment: `rounding` around it belongs to the shape. All others are their core.

A pair of kinds is a function that writes contact points and returns their number, at most MOST_CONTACTS:

    KIND_KIND_contacts(a, A, b, B, margin, out)        A, B: the shapes' frames in the world, X_WA and X_WB

A contact point has a unit normal n from a to b and a depth along it, positive in penetration; p is midway between the two surfaces.
Points with depth >= -margin are written. `feature` is the point's name, of the shapes' own vertices and edges that made it (names.pxd):
it stays the same while they do, no two points of a pair share it, and points come in its order. `reference` tells what gives the normal,
as far as the name does not: it may change from one face to another while the name stays. The deepest point is always among them.
"""
from mbros_core.geometry.vec cimport Vec

# The numbers of mbros_core.geometry.registry, checked against it when the module is imported. A pair is computed with the smaller first.
cdef enum ShapeKind:
    HALF_SPACE = 0
    HEIGHT_FIELD = 1
    SPHERE = 2
    CAPSULE = 3
    BOX = 4
    CYLINDER = 5
    CONVEX = 6
    NUMBER_OF_SHAPE_KINDS = 7

cdef enum:
    MOST_CONTACTS = 4
    MOST_CORNERS = 24            # of a face; faces with more are given to contact points with this many
    CAP_CORNERS = 12             # of the polygon that stands for a cylinder's flat end in contact points (never in depths)

cdef struct Hull:                # convex polyhedron; the tables are mbros_core.geometry.hull's
    int vertices
    int faces
    const double* vertex         # (vertices, 3)
    const int* neighbour_start   # (vertices + 1,) into neighbour
    const int* neighbour
    const int* around_start      # (vertices + 1,) into around: faces at a vertex
    const int* around
    const int* corner_start      # (faces + 1,) into corner: vertices around a face, counter-clockwise seen from outside
    const int* corner
    const int* edge              # as corner: the number of the edge from there to the next
    const double* normal         # (faces, 3), outward

cdef struct Field:               # heights at (nx, ny) grid points, row-major, over x and y centred on the origin
    int nx
    int ny
    double dx                    # between grid points
    double dy
    const double* height
    double highest
    double lowest

cdef struct Shape:
    int kind
    double radius                # sphere, capsule, cylinder
    Vec half                     # box: half its edges; capsule and cylinder: half the length in z
    double rounding              # around the core: sphere and capsule
    Vec centre                   # a ball that holds the shape, in its frame
    double reach                 # its radius; infinite for a half-space
    Hull hull
    Field field

cdef struct Contact:
    Vec p
    Vec n
    double depth
    long long feature
    long long reference

cdef struct Feature:             # 1 vertex, 2 an edge, 3 and more a face, counter-clockwise seen from outside
    int count
    Vec corner[MOST_CORNERS]
    int vertex[MOST_CORNERS]     # their numbers among the shape's
    int edge[MOST_CORNERS]       # of the edges that follow them
    Vec normal                   # of a face
    int number                   # among the shape's faces
    bint round                   # the polygon stands for a circle


cdef inline int point_contact(Vec p, Vec n, double depth, long long feature, Contact* out) noexcept nogil:
    out.p = p
    out.n = n
    out.depth = depth
    out.feature = feature
    out.reference = 0
    return 1
