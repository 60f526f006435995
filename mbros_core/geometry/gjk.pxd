"""Distance of two convex cores: Gilbert, Johnson and Keerthi (1988), with the nearest point of a simplex by regions (Ericson 2005, 5.1).

It ends where the square of the distance is known to GAP, relative, or after MOST_STEPS; what it returns is then a little too far, never too near.
"""

from mbros_core.geometry.difference cimport Difference, Vertex, farthest
from mbros_core.geometry.vec cimport Vec, cross, dot, place, square, vec

cdef enum:
    MOST_STEPS = 64

cdef extern from *:
    """
    static const double MBROS_GAP = 1e-14, MBROS_TOUCHING = 1e-10;
    """
    const double GAP "MBROS_GAP"
    const double TOUCHING "MBROS_TOUCHING"       # nearer than this, over the size, cores count as touching

cdef struct Simplex:
    int count
    Vertex v[4]
    double share[4]              # of each vertex in the nearest point

cdef struct Nearest:             # the point of a simplex nearest to the origin, and the vertices that carry it
    int count
    int of[3]
    double share[3]
    Vec v
    double vv

cdef enum Separation:
    APART                        # farther than asked
    NEAR                         # simplex and nearest are what was found
    OVERLAPPING                  # the simplex holds the origin, or touches it


cdef inline void nearest_of_two(const Simplex* s, int i, int k, Nearest* out) noexcept nogil:
    cdef Vec a = s.v[i].w
    cdef Vec e = s.v[k].w - a
    cdef double t = -dot(a, e)
    cdef double ee = square(e)
    out.count = 1
    out.share[0] = 1.0
    if t <= 0.0 or ee <= 0.0:
        out.of[0], out.v = i, a
    elif t >= ee:
        out.of[0], out.v = k, s.v[k].w
    else:
        t = t / ee
        out.count = 2
        out.of[0], out.of[1] = i, k
        out.share[0], out.share[1] = 1.0 - t, t
        out.v = a + t * e
    out.vv = square(out.v)

cdef inline void nearest_of_three(const Simplex* s, int i, int j, int k, Nearest* out) noexcept nogil:
    """The foot of the perpendicular from the origin, or the nearest point of the edges beyond which it lies."""
    cdef Vec a = s.v[i].w
    cdef Vec b = s.v[j].w
    cdef Vec c = s.v[k].w
    cdef Vec n = cross(b - a, c - a)
    cdef double nn = square(n)
    cdef double x = -1.0                                 # without an area: all edges
    cdef double y = -1.0
    cdef double z = -1.0
    cdef Nearest edge
    cdef Vec p
    if nn > 0.0:
        nn = 1.0 / nn
        p = (dot(n, a) * nn) * n
        x = dot(n, cross(b - p, c - p)) * nn             # from differences: small triangles far away keep their digits
        y = dot(n, cross(c - p, a - p)) * nn
        z = dot(n, cross(a - p, b - p)) * nn
        if x > 0.0 and y > 0.0 and z > 0.0:
            out.count = 3
            out.of[0], out.of[1], out.of[2] = i, j, k
            out.share[0], out.share[1], out.share[2] = x, y, z
            out.v, out.vv = p, square(p)
            return
    out.vv = 1e300
    if not x > 0.0:
        nearest_of_two(s, j, k, out)
    if not y > 0.0:
        nearest_of_two(s, k, i, &edge)
        if edge.vv < out.vv:
            out[0] = edge
    if not z > 0.0:
        nearest_of_two(s, i, j, &edge)
        if edge.vv < out.vv:
            out[0] = edge

cdef inline bint nearest_of_four(const Simplex* s, Nearest* out) noexcept nogil:
    """Of the faces at the newest vertex, the last one: the face of the others was nearer to the origin before. True: the origin is inside."""
    cdef Vec d = s.v[3].w
    cdef Vec e[3]
    cdef Vec n
    cdef Nearest face
    cdef double here
    cdef double other
    cdef bint inside = True
    cdef int i
    cdef int j
    cdef int k
    e[0], e[1], e[2] = s.v[0].w - d, s.v[1].w - d, s.v[2].w - d
    out.vv = 1e300
    for i in range(3):
        j, k = (1, 2) if i == 0 else (2, 0) if i == 1 else (0, 1)
        n = cross(e[j], e[k])
        here = -dot(n, d)
        other = dot(n, e[i])
        if here * other >= 0.0 and other * other > 1e-26 * square(n) * square(e[i]):
            continue
        inside = False
        nearest_of_three(s, j, k, 3, &face)
        if face.vv < out.vv:
            out[0] = face
    return inside

cdef inline bint nearest_of(const Simplex* s, Nearest* out) noexcept nogil:
    """True: the simplex holds the origin."""
    if s.count == 4:
        return nearest_of_four(s, out)
    if s.count == 3:
        nearest_of_three(s, 0, 1, 2, out)
    else:
        nearest_of_two(s, 0, 1, out)
    return False

cdef inline void reduce(Simplex* s, const Nearest* to) noexcept nogil:
    """Only the vertices that carry the nearest point, in their order."""
    cdef int order[3]
    cdef int i
    cdef int k
    for i in range(to.count):
        order[i] = i
        for k in range(i, 0, -1):
            if to.of[order[k]] < to.of[order[k - 1]]:
                order[k], order[k - 1] = order[k - 1], order[k]
    for i in range(to.count):
        if to.of[order[i]] != i:
            s.v[i] = s.v[to.of[order[i]]]
        s.share[i] = to.share[order[i]]
    s.count = to.count

cdef inline Separation gjk(Difference* D, double most, Simplex* s, Vec* nearest) noexcept nogil:
    """Whether the cores are apart by more than `most`. nearest: the point of A - B nearest to the origin."""
    cdef Vec v = D.a.centre - place(D.X, D.b.centre)
    cdef Nearest next
    cdef double vv
    cdef double vw
    cdef bint known
    cdef int step
    cdef int i
    if not square(v) > 0.0:
        v = vec(1.0, 0.0, 0.0)
    s.count = 1
    s.v[0] = farthest(D, -v)
    s.share[0] = 1.0
    v = s.v[0].w
    for step in range(MOST_STEPS):
        vv = square(v)
        nearest[0] = v
        if vv <= TOUCHING * TOUCHING * D.size * D.size:
            return OVERLAPPING
        s.v[s.count] = farthest(D, -v)
        vw = dot(v, s.v[s.count].w)
        if vw > 0.0 and vw * vw > most * most * vv:
            return APART
        known = False
        for i in range(s.count):
            if square(s.v[s.count].w - s.v[i].w) <= 0.0:
                known = True
        if known or vv - vw <= GAP * vv:
            break
        s.count += 1
        if nearest_of(s, &next):
            return OVERLAPPING
        if next.vv >= vv:                                # no progress left in these digits
            s.count -= 1
            break
        reduce(s, &next)
        v = next.v
    return NEAR
