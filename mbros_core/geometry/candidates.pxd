"""More contact points than are kept, and which of them are kept: at most MOST_CONTACTS, in the order of their features.

Kept are the deepest point (of several the two farthest from each other), the point farthest from it, the one farthest from the line through both, and the one that
adds most area. Points that are as good but for TIE count as equal, and then the feature decides: noise in the last digits does not choose.
"""
from libc.math cimport fabs

from mbros_core.geometry.names cimport AGAIN
from mbros_core.geometry.shape cimport Contact, MOST_CONTACTS
from mbros_core.geometry.vec cimport Vec, cross, dot, square

cdef enum:
    MOST_CANDIDATES = 64

cdef extern from *:
    """
    static const double MBROS_TIE = 1e-6;
    """
    const double TIE "MBROS_TIE"

cdef struct Candidates:
    int count
    Contact c[MOST_CANDIDATES]


cdef inline void sort_contacts(Contact* c, int count) noexcept nogil:
    """In the order of their features."""
    cdef int i
    cdef int k
    cdef Contact moving
    for i in range(1, count):
        if c[i].feature >= c[i - 1].feature:
            continue
        moving = c[i]
        k = i
        while k > 0 and c[k - 1].feature > moving.feature:
            c[k] = c[k - 1]
            k -= 1
        c[k] = moving

cdef inline void sort_candidates(Candidates* all) noexcept nogil:
    """The same of many: each is moved once."""
    cdef long long name[MOST_CANDIDATES]
    cdef int place[MOST_CANDIDATES]                      # from where the contact that belongs here comes
    cdef long long here
    cdef Contact moving
    cdef int i
    cdef int k
    cdef int after
    for i in range(1, all.count):
        if all.c[i].feature < all.c[i - 1].feature:
            break
    else:
        return
    for i in range(all.count):
        here = all.c[i].feature
        k = i
        while k > 0 and name[k - 1] > here:
            name[k], place[k] = name[k - 1], place[k - 1]
            k -= 1
        name[k], place[k] = here, i
    for i in range(all.count):
        if place[i] == i:
            continue
        moving = all.c[i]
        k = i
        while place[k] != i:
            after = place[k]
            all.c[k] = all.c[after]
            place[k] = k
            k = after
        all.c[k] = moving
        place[k] = k

cdef inline void tell_apart(Contact* c, int count) noexcept nogil:
    """Names of their own for sorted points of one name: a corner exactly over the edge of two triangles touches both."""
    cdef long long name
    cdef int times = 0
    cdef int again = 0
    cdef int i
    if count == 0:
        return
    name = c[0].feature
    for i in range(1, count):
        if c[i].feature != name:
            name, times = c[i].feature, 0
            continue
        times += 1
        again += 1
        c[i].feature += times * AGAIN
    if again:
        sort_contacts(c, count)

cdef inline double area(Vec a, Vec b, Vec c, Vec n) noexcept nogil:
    """Twice the area of a triangle seen along n, positive when counter-clockwise."""
    return dot(cross(b - a, c - a), n)

cdef inline void first_two(const Candidates* all, double size, int* chosen) noexcept nogil:
    """Of the points that are as deep as the deepest the two farthest from each other; where there is one such place, it and the point farthest
    from it. Of very many the farthest pair is found from one of them, not among all pairs."""
    cdef double deep = all.c[0].depth
    cdef double most = TIE * TIE * size * size
    cdef double x
    cdef int i
    cdef int k
    cdef int starts
    for i in range(1, all.count):
        deep = max(deep, all.c[i].depth)
    deep -= 0.1 * TIE * size
    chosen[0] = -1
    starts = all.count if all.count <= 16 else 1
    for i in range(all.count):
        if all.c[i].depth < deep:
            continue
        if chosen[0] < 0:
            chosen[0] = i
        if starts == 0:
            break
        starts -= 1
        for k in range(all.count):
            if all.c[k].depth >= deep:
                x = square(all.c[k].p - all.c[i].p)
                if x > most * (1.0 + TIE):
                    most = x
                    chosen[0], chosen[1] = i, k
    if all.count > 16 and chosen[1] >= 0:
        farthest_from(all, chosen[1], deep, &most, &chosen[0])
    if chosen[1] < 0:
        farthest_from(all, chosen[0], -1e300, &most, &chosen[1])

cdef inline void farthest_from(const Candidates* all, int start, double deep, double* most, int* found) noexcept nogil:
    cdef double x
    cdef int k
    for k in range(all.count):
        x = square(all.c[k].p - all.c[start].p)
        if all.c[k].depth >= deep and x > most[0] * (1.0 + TIE):
            most[0] = x
            found[0] = k

cdef inline int without_repeats(const Candidates* all, double size, Contact* out) noexcept nogil:
    """All of at most MOST_CONTACTS points, but of those at one place with one normal the first only."""
    cdef int k = 0
    cdef int i
    cdef int j
    for i in range(all.count):
        for j in range(k):
            if square(out[j].p - all.c[i].p) + square(size * (out[j].n - all.c[i].n)) <= TIE * TIE * size * size:
                break
        else:
            out[k] = all.c[i]
            k += 1
    tell_apart(out, k)
    return k

cdef inline int keep(Candidates* all, double size, Contact* out) noexcept nogil:
    """The points that are kept; size: of the shapes there, for what counts as equally deep, and as one place."""
    cdef int chosen[MOST_CONTACTS]
    cdef int i
    cdef int k
    cdef double x
    cdef double most
    cdef double side
    cdef double little
    cdef Vec a
    cdef Vec b
    cdef Vec c
    cdef Vec n
    sort_candidates(all)
    if all.count <= MOST_CONTACTS:
        return without_repeats(all, size, out)
    for i in range(MOST_CONTACTS):
        chosen[i] = -1
    first_two(all, size, chosen)
    a = all.c[chosen[0]].p
    n = all.c[chosen[0]].n
    if chosen[1] < 0:
        out[0] = all.c[chosen[0]]
        return 1
    b = all.c[chosen[1]].p
    most = square(b - a)
    little = 1e-3 * TIE * size * size + TIE * most       # area of points that lie in a line
    most = little
    for i in range(all.count):
        x = fabs(area(a, b, all.c[i].p, n))
        if x > most * (1.0 + TIE):
            most = x
            chosen[2] = i
    if chosen[2] >= 0:
        c = all.c[chosen[2]].p
        side = 1.0 if area(a, b, c, n) >= 0.0 else -1.0
        most = little
        for i in range(all.count):
            x = outside_of(a, b, c, all.c[i].p, n, side)
            if x > most * (1.0 + TIE):
                most = x
                chosen[3] = i
    else:                                                # in a line: the other end of it
        most = -little
        for i in range(all.count):
            x = dot(all.c[i].p - a, b - a)
            if x < most * (1.0 + TIE):
                most = x
                chosen[2] = i
    k = 0
    for i in range(MOST_CONTACTS):
        if chosen[i] >= 0:
            out[k] = all.c[chosen[i]]
            k += 1
    sort_contacts(out, k)
    tell_apart(out, k)
    return k

cdef inline double outside_of(Vec a, Vec b, Vec c, Vec p, Vec n, double side) noexcept nogil:
    """The area that p adds to the triangle a, b, c."""
    cdef double x = -side * area(a, b, p, n)
    cdef double y = -side * area(b, c, p, n)
    cdef double z = -side * area(c, a, p, n)
    x = y if y > x else x
    return z if z > x else x

cdef inline void add_candidate(Candidates* all, double size, Vec p, Vec n, double depth, long long feature,
                               long long reference) noexcept nogil:
    """One more; where there is no place, those that are kept make it. size: of the shapes, as in `keep`."""
    cdef Contact few[MOST_CONTACTS]
    cdef int i
    if all.count == MOST_CANDIDATES:
        all.count = keep(all, size, few)
        for i in range(all.count):
            all.c[i] = few[i]
    all.c[all.count].p = p
    all.c[all.count].n = n
    all.c[all.count].depth = depth
    all.c[all.count].feature = feature
    all.c[all.count].reference = reference
    all.count += 1
