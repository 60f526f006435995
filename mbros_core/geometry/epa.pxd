"""Penetration of two convex cores: the expanding polytope of van den Bergen (2001), from the simplex with which GJK ended.

The polytope lies inside A - B and grows where it is nearest to the origin. Its distance is too small, the support in the direction of that face
too large: it ends where they agree to `tolerance`, or at MOST_VERTICES; what it returns is the smallest support met, so that moving B by depth
along n parts the cores always.
"""
from libc.math cimport sqrt

from mbros_core.geometry.difference cimport Difference, Vertex, farthest
from mbros_core.geometry.gjk cimport Simplex
from mbros_core.geometry.vec cimport Vec, cross, dot, norm, perpendicular, square, vec

cdef enum:
    MOST_VERTICES = 72
    MOST_FACES = 2 * MOST_VERTICES
    MOST_RIM = 96

cdef struct Face:
    int v[3]                     # counter-clockwise seen from outside
    Vec n                        # unit normal, and the plane's distance along it from the origin
    double d

cdef struct Polytope:
    int vertices
    int faces
    Vertex v[MOST_VERTICES]
    Face f[MOST_FACES]

cdef struct Penetration:
    Vec n                        # from A to B, in A's frame
    double depth
    Vec a                        # points of the cores that touch when B has moved by depth along n, b before it moves
    Vec b
    Vec edge_a                   # where the nearest face of A - B came from an edge of A, or of B: its direction, else zero
    Vec edge_b


cdef inline bint add_face(Polytope* P, int i, int j, int k, double size) noexcept nogil:
    cdef Face* f = &P.f[P.faces]
    cdef Vec a = P.v[i].w
    cdef Vec e = P.v[j].w - a
    cdef Vec g = P.v[k].w - a
    cdef Vec n = cross(e, g)
    cdef double nn = square(n)
    if P.faces >= MOST_FACES:
        return False
    f.v[0], f.v[1], f.v[2] = i, j, k
    if nn > 1e-28 * (square(e) * square(g)) and nn > 1e-48 * (size * size) * (size * size):
        f.n = (1.0 / sqrt(nn)) * n
        f.d = dot(f.n, a)
    else:                                                # no area: never the nearest, never seen
        f.n = vec(0.0, 0.0, 0.0)
        f.d = 1e300
    P.faces += 1
    return True

cdef inline bint widen(Difference* D, Polytope* P, Vec d, int count, double least) noexcept nogil:
    """One more vertex along d or -d, where it is far from what there is: for 1 vertex from it, for 2 from their line, for 3 from the plane."""
    cdef int k
    cdef Vertex v
    cdef Vec e
    cdef double far
    for k in range(2):
        v = farthest(D, d if k == 0 else -d)
        e = v.w - P.v[0].w
        if count == 1:
            far = norm(e)
        elif count == 2:
            far = norm(cross(e, P.v[1].w - P.v[0].w)) / norm(P.v[1].w - P.v[0].w)
        else:
            far = abs(dot(d, e))
        if far > least:
            P.v[count] = v
            P.vertices = count + 1
            return True
    return False

cdef inline bint begin(Difference* D, const Simplex* s, Polytope* P) noexcept nogil:
    """A tetrahedron around the origin, or with the origin on its surface; False where A - B has no volume."""
    cdef int i
    cdef double least = 1e-9 * D.size
    cdef Vec d
    cdef Vec e
    cdef Vertex v
    cdef double volume
    P.vertices = s.count
    for i in range(s.count):
        P.v[i] = s.v[i]
    if P.vertices == 4:
        d = cross(P.v[1].w - P.v[0].w, P.v[2].w - P.v[0].w)
        if abs(dot(d, P.v[3].w - P.v[0].w)) <= least * norm(d):
            P.vertices = 3
    if P.vertices >= 3:
        d = cross(P.v[1].w - P.v[0].w, P.v[2].w - P.v[0].w)
        if norm(d) <= least * norm(P.v[1].w - P.v[0].w):
            P.vertices = 2
    if P.vertices >= 2 and norm(P.v[1].w - P.v[0].w) <= least:
        P.vertices = 1
    if P.vertices == 1:
        if not (widen(D, P, vec(1.0, 0.0, 0.0), 1, least) or widen(D, P, vec(0.0, 1.0, 0.0), 1, least)
                or widen(D, P, vec(0.0, 0.0, 1.0), 1, least)):
            return False
    if P.vertices == 2:
        e = P.v[1].w - P.v[0].w
        d = perpendicular((1.0 / norm(e)) * e)
        if not (widen(D, P, d, 2, least) or widen(D, P, cross((1.0 / norm(e)) * e, d), 2, least)):
            return False
    if P.vertices == 3:
        d = cross(P.v[1].w - P.v[0].w, P.v[2].w - P.v[0].w)
        if not widen(D, P, (1.0 / norm(d)) * d, 3, least):
            return False
    volume = dot(cross(P.v[1].w - P.v[0].w, P.v[2].w - P.v[0].w), P.v[3].w - P.v[0].w)
    if volume > 0.0:                                     # so that 0, 1, 2 is counter-clockwise from outside
        v = P.v[1]
        P.v[1] = P.v[2]
        P.v[2] = v
    P.faces = 0
    add_face(P, 0, 1, 2, D.size)
    add_face(P, 0, 3, 1, D.size)
    add_face(P, 1, 3, 2, D.size)
    return add_face(P, 2, 3, 0, D.size)

cdef inline bint grow(Polytope* P, double size) noexcept nogil:
    """Put the newest vertex before the faces that it sees. False: no place is left, and the polytope is not to be used any more."""
    cdef int rim[MOST_RIM][2]
    cdef int count = 0
    cdef int new = P.vertices - 1
    cdef int i = 0
    cdef int k
    cdef int e
    cdef int a
    cdef int b
    cdef Vec w = P.v[new].w
    while i < P.faces:
        if not dot(P.f[i].n, w) - P.f[i].d > 1e-15 * size:
            i += 1
            continue
        for e in range(3):
            a, b = P.f[i].v[e], P.f[i].v[e + 1 if e < 2 else 0]
            for k in range(count):
                if rim[k][0] == b and rim[k][1] == a:    # between two faces that it sees
                    count -= 1
                    rim[k][0], rim[k][1] = rim[count][0], rim[count][1]
                    break
            else:
                if count == MOST_RIM:
                    return False
                rim[count][0], rim[count][1] = a, b
                count += 1
        P.faces -= 1
        P.f[i] = P.f[P.faces]
    for k in range(count):
        if not add_face(P, rim[k][0], rim[k][1], new, size):
            return False
    return count > 0

cdef inline void touch(const Vertex* v0, const Vertex* v1, const Vertex* v2, Penetration* out) noexcept nogil:
    """The points of A and B under the origin's foot on a face, and the edges that the face came from."""
    cdef Vec p = dot(out.n, v0.w) * out.n
    cdef Vec n = cross(v1.w - v0.w, v2.w - v0.w)
    cdef double nn = square(n)
    cdef double x = dot(n, cross(v1.w - p, v2.w - p)) / nn
    cdef double y = dot(n, cross(v2.w - p, v0.w - p)) / nn
    cdef double z = 1.0 - x - y
    out.a = x * v0.a + y * v1.a + z * v2.a
    out.b = out.a - p
    out.edge_a = one_edge(v0.a, v1.a, v2.a)
    out.edge_b = one_edge(v0.a - v0.w, v1.a - v1.w, v2.a - v2.w)

cdef inline Vec one_edge(Vec a, Vec b, Vec c) noexcept nogil:
    """The direction of three points that are two; zero where they are one or three."""
    cdef double ab = square(b - a)
    cdef double bc = square(c - b)
    cdef double ca = square(a - c)
    cdef double little = 1e-20 * (ab + bc + ca)
    if ab <= little and bc > little:
        return c - b
    if bc <= little and ca > little:
        return a - c
    if ca <= little and ab > little:
        return b - a
    return vec(0.0, 0.0, 0.0)

cdef inline bint epa(Difference* D, const Simplex* s, double tolerance, Penetration* out) noexcept nogil:
    """False where A - B has no volume, which shapes with positive sizes do not have."""
    cdef Polytope P
    cdef Vertex w
    cdef double upper
    cdef int best[3]
    cdef int near
    cdef int i
    out.depth = 1e300
    if not begin(D, s, &P):
        return False
    while True:
        near = 0
        for i in range(1, P.faces):
            if P.f[i].d < P.f[near].d:
                near = i
        if P.f[near].d >= 1e300:                         # nothing but faces without an area
            if out.depth >= 1e300:
                return False
            break
        w = farthest(D, P.f[near].n)
        upper = dot(P.f[near].n, w.w)
        if upper < out.depth:
            out.depth, out.n = upper, P.f[near].n
            best[0], best[1], best[2] = P.f[near].v[0], P.f[near].v[1], P.f[near].v[2]
        if out.depth - P.f[near].d <= tolerance or P.vertices == MOST_VERTICES:
            break
        P.v[P.vertices] = w
        P.vertices += 1
        if not grow(&P, D.size):
            break
    touch(&P.v[best[0]], &P.v[best[1]], &P.v[best[2]], out)
    return True
