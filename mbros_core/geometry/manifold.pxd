"""Contact points of two convex shapes whose normal and depth are known: the features that face each other, seen along the normal.

The two faces are cut with each other as polygons in the plane across n (Sutherland and Hodgman 1974); at each corner of what is left the depth is
the way along n from one face's plane to the other's. Where n is a face's normal this is the usual clipping of the other face; where two edges
cross, the crossing is one of the corners and the others are less deep, most of them apart: so points come and go with depth zero, and an edge
that turns into a face takes them over. Two lines that are parallel to PARALLEL give the two ends of what they share.
Points are named by the shapes' vertices and edges (names.pxd), on whichever faces these were found.

The point at which depth was found stands for all where features are vertices, and beside the others where none of them is as deep.
"""
from libc.math cimport fabs, sqrt

from mbros_core.geometry.candidates cimport Candidates, add_candidate, keep
from mbros_core.geometry.names cimport SIDE, edge_name, has_part_of, of_one_shape, vertex_name
from mbros_core.geometry.shape cimport CAP_CORNERS, CONVEX, Contact, Feature, MOST_CORNERS, Shape, point_contact
from mbros_core.geometry.support cimport feature
from mbros_core.geometry.vec cimport Frame, Vec, cross, dot, perpendicular, place, read, rotate, unrotate

cdef enum:
    MOST_CUT = 2 * MOST_CORNERS + 2

cdef extern from *:
    """
    static const double MBROS_PARALLEL = 1e-3, MBROS_STEEP = 0.05, MBROS_SLACK = 1e-9, MBROS_AS_DEEP = 1e-7, MBROS_GIVES = 1e-12,
                        MBROS_AS_NEAR = 1e-15;
    """
    const double PARALLEL "MBROS_PARALLEL"       # sine of the angle between two lines that count as one
    const double STEEP "MBROS_STEEP"             # cosine of the angle between n and the normal of a face that faces nothing
    const double SLACK "MBROS_SLACK"             # what counts as inside an edge, and
    const double AS_DEEP "MBROS_AS_DEEP"         # as equally deep, over the size of the features
    const double GIVES "MBROS_GIVES"             # of a face that gives the normal: 1 less the cosine of the angle between both, and
    const double AS_NEAR "MBROS_AS_NEAR"         # how much less that must be for the second shape's face than for the first one's

cdef struct Corner:              # x, y across the normal, z along it; the names of what it is and of the edge that follows
    double x
    double y
    double z
    long long name
    long long edge

cdef struct Across:              # the frame in which features are cut: z along the normal, at the point where depth was found
    Vec origin
    Vec x
    Vec y
    Vec n
    long long reference          # as in Contact
    double near                  # to the origin: what is the point at which depth was found; negative where that is not a nearest point
    long long name               # of that point: of the vertices there

cdef struct Polygon:
    int count
    Corner c[MOST_CUT]


cdef inline double lay(const Feature* f, const Frame* X, const Across* W, Polygon* out) noexcept nogil:
    """The corners of a feature, across the normal. Returns the largest coordinate."""
    cdef int i
    cdef Vec p
    cdef Corner* c
    cdef double size = 0.0
    out.count = f.count
    for i in range(f.count):
        p = place(X[0], f.corner[i]) - W.origin
        c = &out.c[i]
        c.x, c.y, c.z = dot(W.x, p), dot(W.y, p), dot(W.n, p)
        size = max(size, max(fabs(c.x), fabs(c.y)))
    return size

cdef inline void name_corners(const Feature* f, int shift, Polygon* out) noexcept nogil:
    """The names of them and of the edges between them. shift: of the shape's part."""
    cdef int i
    for i in range(f.count):
        out.c[i].name, out.c[i].edge = vertex_name(f.vertex[i], shift), edge_name(f.edge[i], shift)

cdef inline long long vertices_at_origin(const Polygon* q, double near) noexcept nogil:
    """The name of a corner that is there, 0 for none."""
    cdef int i
    for i in range(q.count):
        if max(fabs(q.c[i].x), fabs(q.c[i].y)) <= near:
            return q.c[i].name
    return 0

cdef inline long long crossing(long long edge, long long before, const Corner* a, const Corner* b) noexcept nogil:
    """The name of where an edge crosses that from a to b; of two edges of one shape it is their corner."""
    if not of_one_shape(edge, a.edge):
        return edge | a.edge
    return a.name if edge == before else b.name

cdef inline void cut(const Polygon* q, long long before, const Corner* a, const Corner* b, double side, double slack,
                     Polygon* r) noexcept nogil:
    """What is left of q on the inner side of the line from a to b, where the edge `before` ends at a. A polygon of two corners is a line,
    and stays open."""
    cdef double ex = side * (b.x - a.x)
    cdef double ey = side * (b.y - a.y)
    cdef double length = sqrt(ex * ex + ey * ey) if slack > 0.0 else 0.0
    cdef double here
    cdef double there
    cdef double t
    cdef int i
    cdef int k
    cdef int edges = q.count if q.count > 2 else q.count - 1
    cdef Corner* c
    r.count = 0
    if q.count == 0:
        return
    here = ex * (q.c[0].y - a.y) - ey * (q.c[0].x - a.x) + slack * length
    for i in range(q.count):
        if here >= 0.0 and r.count < MOST_CUT:
            r.c[r.count] = q.c[i]
            r.count += 1
        if i >= edges:
            break
        k = i + 1 if i + 1 < q.count else 0
        there = ex * (q.c[k].y - a.y) - ey * (q.c[k].x - a.x) + slack * length
        if (here >= 0.0) != (there >= 0.0) and r.count < MOST_CUT:
            t = (here - slack * length) / (here - there)
            t = 0.0 if t < 0.0 else 1.0 if t > 1.0 else t
            c = &r.c[r.count]
            c.x = q.c[i].x + t * (q.c[k].x - q.c[i].x)
            c.y = q.c[i].y + t * (q.c[k].y - q.c[i].y)
            c.z = q.c[i].z + t * (q.c[k].z - q.c[i].z)
            c.name = crossing(q.c[i].edge, before, a, b)
            c.edge = a.edge if here >= 0.0 else q.c[i].edge
            r.count += 1
        here = there

cdef inline double signed_area(const Polygon* q) noexcept nogil:
    cdef double s = 0.0
    cdef int i
    for i in range(1, q.count - 1):
        s += (q.c[i].x - q.c[0].x) * (q.c[i + 1].y - q.c[0].y) - (q.c[i].y - q.c[0].y) * (q.c[i + 1].x - q.c[0].x)
    return s

cdef inline bint whole(const Polygon* q, long long edge) noexcept nogil:
    """Whether nothing has been cut off by a polygon that has this edge."""
    cdef int i
    if q.count != CAP_CORNERS:
        return False
    for i in range(q.count):
        if has_part_of(q.c[i].name, edge):
            return False
    return True

cdef inline int one_point(const Across* W, double depth, long long name, Contact* out) noexcept nogil:
    """Where depth was found."""
    point_contact(W.origin, W.n, depth, name, out)
    out.reference = W.reference
    return 1

cdef inline long long face_that_gives(double along_a, int face_a, double along_b, int face_b) noexcept nogil:
    """A number for the face that has the normal for its own; 0 where edges or vertices give it. along_a, along_b: cosines between both."""
    if max(along_a, along_b) <= 1.0 - GIVES:
        return 0
    return 1 + face_a if along_b <= along_a + AS_NEAR else (1 << SIDE) + face_b

cdef inline int ball_contact(const Shape* b, Vec n, int start, Vec p, Vec out_n, double depth, Contact* out) noexcept nogil:
    """Of a sphere and b: the point at which depth was found. n: the way to the sphere, in b; start: of a polyhedron a vertex that is
    farthest along n."""
    cdef int k
    point_contact(p, out_n, depth, 0, out)
    if b.kind == CONVEX:
        for k in range(b.hull.around_start[start], b.hull.around_start[start + 1]):
            if dot(read(b.hull.normal + 3 * b.hull.around[k]), n) > 1.0 - GIVES:
                out.reference = 1 + b.hull.around[k]
    return 1

cdef inline int manifold(const Shape* a, const Frame* A, const Shape* b, const Frame* B, Vec n, double depth, Vec p, int start_a, int start_b,
                         double margin, Contact* out) noexcept nogil:
    """The points of a and b, whose overlap along n is `depth`, at p among others. start_a, start_b: of polyhedra, vertices near there."""
    cdef Feature fa
    cdef Feature fb
    cdef Polygon qa
    cdef Polygon qb
    cdef Across W
    cdef double size
    cdef double along_a = 0.0
    cdef double along_b = 0.0
    cdef Vec normal_a
    cdef Vec normal_b
    cdef bint cuts_a
    cdef bint cuts_b
    if a.rounding > 0.0 and a.half.z == 0.0 or b.rounding > 0.0 and b.half.z == 0.0:      # a sphere
        return ball_contact(b, unrotate(B.R, -n), start_b, p, n, depth, out)
    feature(a, unrotate(A.R, n), start_a, &fa)
    feature(b, unrotate(B.R, -n), start_b, &fb)
    W.origin, W.n = p, n
    W.x = perpendicular(n)
    W.y = cross(n, W.x)
    W.reference = W.name = 0
    W.near = -1.0
    size = lay(&fa, A, &W, &qa)
    size = max(size, lay(&fb, B, &W, &qb))
    if fa.count == 2 and fb.count == 2:
        return lines(a, &fa, &qa, b, &fb, &qb, &W, depth, size, margin, out)
    name_corners(&fa, SIDE, &qa)
    name_corners(&fb, 0, &qb)
    if fa.count > 2:
        normal_a = rotate(A.R, fa.normal)
        along_a = dot(normal_a, n)
    if fb.count > 2:
        normal_b = rotate(B.R, fb.normal)
        along_b = -dot(normal_b, n)
    cuts_a, cuts_b = fabs(along_a) > STEEP, fabs(along_b) > STEEP
    W.reference = face_that_gives(along_a, fa.number, along_b, fb.number)
    if W.reference == 0 and depth < a.rounding + b.rounding:         # p is a nearest point of both
        W.near = SLACK * size
        W.name = vertices_at_origin(&qa, W.near) | vertices_at_origin(&qb, W.near)
    if cuts_a and cuts_b and fa.round and (a.radius < b.radius or not fb.round):
        cuts_a = False                                   # a round face stays whole where it can
    if cuts_a:
        return faces(&qa, normal_a, 1.0, a.rounding + b.rounding, 0.5 * (a.rounding - b.rounding), &qb, fb.count > 2 and fb.round, &W,
                     depth, size, margin, out)
    if cuts_b:
        return faces(&qb, normal_b, -1.0, a.rounding + b.rounding, 0.5 * (a.rounding - b.rounding), &qa, fa.count > 2 and fa.round, &W,
                     depth, size, margin, out)
    return one_point(&W, depth, W.name, out)

cdef inline int faces(const Polygon* face, Vec normal, double sign, double rounding, double shift, Polygon* other, bint other_round,
                      const Across* W, double depth, double size, double margin, Contact* out) noexcept nogil:
    """A face and what is left of the other feature over it. sign: 1 where the face is a's, -1 where it is b's. Of a
    circle that lies over the face as a whole four points count, a quarter apart: their linear forces are those of all."""
    cdef Polygon second
    cdef Polygon* q = other
    cdef Polygon* r = &second
    cdef Polygon* swap
    cdef Candidates all
    cdef double side = 1.0 if signed_area(face) >= 0.0 else -1.0
    cdef double along = dot(normal, W.n)
    cdef double slope_x = -dot(normal, W.x) / along
    cdef double slope_y = -dot(normal, W.y) / along
    cdef double z
    cdef double d
    cdef double most = -1e300
    cdef int every = 1
    cdef int i
    cdef Corner* c
    for i in range(face.count):
        cut(q, face.c[i - 1].edge if i > 0 else 0, &face.c[i], &face.c[i + 1 if i + 1 < face.count else 0], side, SLACK * size, r)
        swap = q
        q = r
        r = swap
    all.count = 0
    if other_round and whole(q, face.c[0].edge):
        every = CAP_CORNERS // 4
    for i in range(q.count):
        if i % every:
            continue
        c = &q.c[i]
        z = face.c[0].z + slope_x * (c.x - face.c[0].x) + slope_y * (c.y - face.c[0].y)
        d = sign * (z - c.z) + rounding
        if d > most:
            most = d
        if d >= -margin:
            add_candidate(&all, size, W.origin + c.x * W.x + c.y * W.y + (0.5 * (z + c.z) + shift) * W.n, W.n, d,
                          W.name if W.name and max(fabs(c.x), fabs(c.y)) <= W.near else c.name, W.reference)
    if most < depth - AS_DEEP * size:
        add_candidate(&all, size, W.origin, W.n, depth, W.name, W.reference)
    if all.count == 0:
        return one_point(W, depth, W.name, out)
    return keep(&all, size, out)

cdef inline long long end_name(int of_a, int of_b, double inside) noexcept nogil:
    """Of an end of what two lines share: that vertex of b where it is inside a's line, else that of a; both where they are at one place."""
    cdef long long name = 0
    if inside <= SLACK:
        name = vertex_name(of_a, SIDE)
    if inside >= -SLACK:
        name |= vertex_name(of_b, 0)
    return name

cdef inline int lines(const Shape* a, const Feature* fa, const Polygon* qa, const Shape* b, const Feature* fb, const Polygon* qb,
                      const Across* W, double depth, double size, double margin, Contact* out) noexcept nogil:
    """Two lines: the ends of what they share where they are parallel, the point where they are nearest where they cross."""
    cdef double ux = qa.c[1].x - qa.c[0].x
    cdef double uy = qa.c[1].y - qa.c[0].y
    cdef double vx = qb.c[1].x - qb.c[0].x
    cdef double vy = qb.c[1].y - qb.c[0].y
    cdef double uu = ux * ux + uy * uy
    cdef double vv = vx * vx + vy * vy
    cdef double s[2]
    cdef double t[2]
    cdef double za
    cdef double zb
    cdef double d
    cdef double most = -1e300
    cdef double flip = ux * vx + uy * vy
    cdef long long name[2]
    cdef int i
    cdef int k = 0
    if uu <= 1e-12 * size * size or vv <= 1e-12 * size * size or fabs(ux * vy - uy * vx) > PARALLEL * sqrt(uu * vv):
        return one_point(W, depth, 0, out)
    for i in range(2):                                  # where b's ends are on a's line, from its first end to its second
        t[i] = ((qb.c[i].x - qa.c[0].x) * ux + (qb.c[i].y - qa.c[0].y) * uy) / uu
    i = 0 if flip >= 0.0 else 1
    s[0], s[1] = max(t[i], 0.0), min(t[1 - i], 1.0)
    name[0] = end_name(fa.vertex[0], fb.vertex[i], t[i])
    name[1] = end_name(fa.vertex[1], fb.vertex[1 - i], 1.0 - t[1 - i])
    if not s[1] - s[0] > SLACK:
        return one_point(W, depth, 0, out)
    for i in range(2):
        t[i] = ((qa.c[0].x + s[i] * ux - qb.c[0].x) * vx + (qa.c[0].y + s[i] * uy - qb.c[0].y) * vy) / vv
        za = qa.c[0].z + s[i] * (qa.c[1].z - qa.c[0].z) + a.rounding
        zb = qb.c[0].z + t[i] * (qb.c[1].z - qb.c[0].z) - b.rounding
        d = za - zb
        if d > most:
            most = d
        if d >= -margin:
            k += point_contact(W.origin + 0.5 * (qa.c[0].x + s[i] * ux + qb.c[0].x + t[i] * vx) * W.x
                               + 0.5 * (qa.c[0].y + s[i] * uy + qb.c[0].y + t[i] * vy) * W.y + 0.5 * (za + zb) * W.n,
                               W.n, d, name[i], &out[k])
    if most < depth - AS_DEEP * size:
        return one_point(W, depth, 0, out)
    if k == 2 and out[0].feature > out[1].feature:
        out[2] = out[0]
        out[0] = out[1]
        out[1] = out[2]
    return k
