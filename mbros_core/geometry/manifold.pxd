"""Contact points of two convex shapes whose normal and depth are known: the features that face each other, seen along the normal.

The two faces are cut with each other as polygons in the plane across n (Sutherland and Hodgman 1974); at each corner of what is left the depth is
the way along n from one face's plane to the other's. Where n is a face's normal this is the usual clipping of the other face; where two edges
cross, the crossing is one of the corners and the others are less deep, most of them apart: so points come and go with depth zero, and an edge
that turns into a face takes them over. Two lines that are parallel to PARALLEL give the two ends of what they share.

The point at which depth was found stands for all where features are vertices, and beside the others where none of them is as deep.
"""
from libc.math cimport fabs, sqrt

from mbros_core.geometry.candidates cimport Candidates, add_candidate, keep
from mbros_core.geometry.shape cimport CAP_CORNERS, Contact, Feature, MOST_CORNERS, Shape, point_contact
from mbros_core.geometry.support cimport feature
from mbros_core.geometry.vec cimport Frame, Vec, cross, dot, perpendicular, place, rotate, unrotate

cdef enum:
    MOST_CUT = 2 * MOST_CORNERS + 2

cdef extern from *:
    """
    static const double MBROS_PARALLEL = 1e-3, MBROS_STEEP = 0.05, MBROS_SLACK = 1e-9, MBROS_AS_DEEP = 1e-7;
    """
    const double PARALLEL "MBROS_PARALLEL"       # sine of the angle between two lines that count as one
    const double STEEP "MBROS_STEEP"             # cosine of the angle between n and the normal of a face that faces nothing
    const double SLACK "MBROS_SLACK"             # what counts as inside an edge, and
    const double AS_DEEP "MBROS_AS_DEEP"         # as equally deep, over the size of the features

cdef struct Corner:              # x, y across the normal, z along it; the label of the edge that follows
    double x
    double y
    double z
    long long name
    int edge

cdef struct Across:              # the frame in which features are cut: z along the normal, at the point where depth was found
    Vec origin
    Vec x
    Vec y
    Vec n

cdef struct Polygon:
    int count
    Corner c[MOST_CUT]


cdef inline double lay(const Feature* f, const Frame* X, const Across* W, int label, Polygon* out) noexcept nogil:
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
        c.name, c.edge = label + i, label + i
        size = max(size, max(fabs(c.x), fabs(c.y)))
    return size

cdef inline void cut(const Polygon* q, const Corner* a, const Corner* b, double side, double slack, Polygon* r) noexcept nogil:
    """What is left of q on the inner side of the line from a to b. A polygon of two corners is a line, and stays open."""
    cdef double ex = side * (b.x - a.x)
    cdef double ey = side * (b.y - a.y)
    cdef double length = sqrt(ex * ex + ey * ey)
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
            c.name = 4096 + 128 * q.c[i].edge + a.edge
            c.edge = a.edge if here >= 0.0 else q.c[i].edge
            r.count += 1
        here = there

cdef inline double signed_area(const Polygon* q) noexcept nogil:
    cdef double s = 0.0
    cdef int i
    for i in range(1, q.count - 1):
        s += (q.c[i].x - q.c[0].x) * (q.c[i + 1].y - q.c[0].y) - (q.c[i].y - q.c[0].y) * (q.c[i + 1].x - q.c[0].x)
    return s

cdef inline bint whole(const Polygon* q) noexcept nogil:
    """Whether nothing has been cut off."""
    cdef int i
    if q.count != CAP_CORNERS:
        return False
    for i in range(q.count):
        if q.c[i].name >= 4096:
            return False
    return True

cdef inline int manifold(const Shape* a, const Frame* A, const Shape* b, const Frame* B, Vec n, double depth, Vec p, int start_a, int start_b,
                         double margin, Contact* out) noexcept nogil:
    """The points of a and b, whose overlap along n is `depth`, at p among others. start_a, start_b: of polyhedra, vertices near there."""
    cdef Feature fa
    cdef Feature fb
    cdef Polygon qa
    cdef Polygon qb
    cdef Across W
    cdef double size
    cdef bint cuts_a
    cdef bint cuts_b
    if a.rounding > 0.0 and a.half.z == 0.0 or b.rounding > 0.0 and b.half.z == 0.0:      # a sphere
        return point_contact(p, n, depth, 0, out)
    feature(a, unrotate(A.R, n), start_a, &fa)
    feature(b, unrotate(B.R, -n), start_b, &fb)
    W.origin, W.n = p, n
    W.x = perpendicular(n)
    W.y = cross(n, W.x)
    size = lay(&fa, A, &W, 0, &qa)
    size = max(size, lay(&fb, B, &W, 64, &qb))
    if fa.count == 2 and fb.count == 2:
        return lines(a, &qa, b, &qb, &W, depth, size, margin, out)
    cuts_a = fa.count > 2 and fabs(dot(rotate(A.R, fa.normal), n)) > STEEP
    cuts_b = fb.count > 2 and fabs(dot(rotate(B.R, fb.normal), n)) > STEEP
    if cuts_a and cuts_b and fa.round and (a.radius < b.radius or not fb.round):
        cuts_a = False                                   # a round face stays whole where it can
    if cuts_a:
        return faces(&qa, rotate(A.R, fa.normal), 1.0, a.rounding + b.rounding, 0.5 * (a.rounding - b.rounding), &qb, fb.count > 2 and fb.round, &W,
                     depth, size, margin, out)
    if cuts_b:
        return faces(&qb, rotate(B.R, fb.normal), -1.0, a.rounding + b.rounding, 0.5 * (a.rounding - b.rounding), &qa, fa.count > 2 and fa.round, &W,
                     depth, size, margin, out)
    return point_contact(p, n, depth, 0, out)

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
        cut(q, &face.c[i], &face.c[i + 1 if i + 1 < face.count else 0], side, SLACK * size, r)
        swap = q
        q = r
        r = swap
    all.count = 0
    if other_round and whole(q):
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
            add_candidate(&all, size, W.origin + c.x * W.x + c.y * W.y + (0.5 * (z + c.z) + shift) * W.n, W.n, d, 1 + c.name)
    if most < depth - AS_DEEP * size:
        add_candidate(&all, size, W.origin, W.n, depth, 0)
    if all.count == 0:
        return point_contact(W.origin, W.n, depth, 0, out)
    return keep(&all, size, out)

cdef inline int lines(const Shape* a, const Polygon* qa, const Shape* b, const Polygon* qb, const Across* W, double depth, double size, double margin,
                      Contact* out) noexcept nogil:
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
    cdef int name[2]
    cdef int i
    cdef int k = 0
    if uu <= 1e-12 * size * size or vv <= 1e-12 * size * size or fabs(ux * vy - uy * vx) > PARALLEL * sqrt(uu * vv):
        return point_contact(W.origin, W.n, depth, 0, out)
    for i in range(2):                                  # where b's ends are on a's line, from its first end to its second
        t[i] = ((qb.c[i].x - qa.c[0].x) * ux + (qb.c[i].y - qa.c[0].y) * uy) / uu
    s[0], name[0], s[1], name[1] = 0.0, 1, 1.0, 2
    i = 0 if flip >= 0.0 else 1
    if t[i] > 0.0:
        s[0], name[0] = t[i], 3 + i
    if t[1 - i] < 1.0:
        s[1], name[1] = t[1 - i], 4 - i
    if not s[1] - s[0] > SLACK:
        return point_contact(W.origin, W.n, depth, 0, out)
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
        return point_contact(W.origin, W.n, depth, 0, out)
    if k == 2 and out[0].feature > out[1].feature:
        out[2] = out[0]
        out[0] = out[1]
        out[1] = out[2]
    return k
