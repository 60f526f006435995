"""A height field with a sphere or a capsule: the nearest points of its surface to the ends of the core, and of its ridges and peaks to a segment.

A point of the surface counts where it is locally the nearest: the foot of the perpendicular inside a triangle; on an edge where the core is on the far
side of both its triangles; at a grid point where it is on the far side of all edges from there. So a ball that rolls over flat triangles meets their
normals only, and over a ridge turns from one to the other. An end below the surface leaves through the nearest triangle whose foot it has.
"""
from libc.math cimport sqrt

from mbros_core.geometry.bounds cimport Bounds, bounds_of
from mbros_core.geometry.candidates cimport Candidates, add_candidate, keep
from mbros_core.geometry.height_field cimport Cells, Triangle, cells_under, grid_point, on_grid, surface_at, top_of, triangle_of
from mbros_core.geometry.shape cimport Contact, Field, Shape
from mbros_core.geometry.vec cimport Frame, Vec, between, dot, place, rotate, square

cdef struct Core:                # in the field's frame
    Vec end[2]
    bint below[2]                # the surface
    int ends                     # 1: a sphere; 0: a cylinder, whose side goes from end to end without a cap
    double radius
    double margin
    double size

cdef extern from *:
    """
    static const double MBROS_ON_RIDGE = 1e-9, MBROS_ALONG = 0.97;
    static const int MBROS_STEP_I[6] = {1, 1, 0, -1, -1, 0}, MBROS_STEP_J[6] = {0, 1, 1, 0, -1, -1};
    """
    const double ON_RIDGE "MBROS_ON_RIDGE"
    const double ALONG "MBROS_ALONG"             # square of the cosine between a cylinder's axis and an edge that lies along its side
    const int* STEP_I "MBROS_STEP_I"             # to the six grid points that share an edge with one, around it
    const int* STEP_J "MBROS_STEP_J"


cdef inline void touch_at(Candidates* all, const Core* c, Vec q, Vec n, double distance, long long feature,
                          long long reference=0) noexcept nogil:
    """Surface point q, at `distance` along n from the core, unless it is there already."""
    cdef double depth = c.radius - distance
    cdef Vec p = q - 0.5 * depth * n
    cdef int i
    if not depth >= -c.margin:
        return
    for i in range(all.count):
        if square(all.c[i].p - p) <= 1e-12 * c.size * c.size:
            return
    add_candidate(all, c.size, p, n, depth, feature, reference)

cdef inline void touch_along(Candidates* all, const Core* c, Vec q, Vec p, double s, Vec u, long long feature) noexcept nogil:
    """Surface point q, at -p from the point at share s of the segment u. A cylinder leaves it over its end where that is nearer."""
    cdef double distance = sqrt(square(p))
    cdef double length = sqrt(square(u))
    cdef double way_out = min(s, 1.0 - s) * length
    if c.ends == 0 and c.radius - distance > way_out:
        touch_at(all, c, q, ((1.0 if s < 0.5 else -1.0) / length) * u, c.radius - way_out, feature + 1)
    else:
        touch_at(all, c, q, (1.0 / distance) * p, distance, feature)

cdef inline bint over(const Triangle* t, Vec p) noexcept nogil:
    """Whether p is over the triangle, seen from above, its edges included."""
    cdef double slack = -1e-9 * ((t.b.x - t.a.x) * (t.c.y - t.a.y) - (t.b.y - t.a.y) * (t.c.x - t.a.x))
    return ((t.b.x - t.a.x) * (p.y - t.a.y) - (t.b.y - t.a.y) * (p.x - t.a.x) >= slack
            and (t.c.x - t.b.x) * (p.y - t.b.y) - (t.c.y - t.b.y) * (p.x - t.b.x) >= slack
            and (t.a.x - t.c.x) * (p.y - t.c.y) - (t.a.y - t.c.y) * (p.x - t.c.x) >= slack)

cdef inline void on_edge(Candidates* all, const Core* c, const Field* f, int i, int j, int way, long long feature) noexcept nogil:
    """The edge from grid point (i, j) in one of the first three directions of STEP_I: against both ends, and between them. What lies along
    a cylinder's side meets it where it enters and leaves."""
    cdef Vec a
    cdef Vec e
    cdef Vec u
    cdef Vec p
    cdef Vec q
    cdef double s
    cdef double t
    cdef double ee
    cdef double eu
    cdef double uu
    cdef double det
    cdef int k
    if not on_grid(f, i + STEP_I[way], j + STEP_J[way]):
        return
    a = grid_point(f, i, j)
    e = grid_point(f, i + STEP_I[way], j + STEP_J[way]) - a
    ee = square(e)
    for k in range(c.ends):
        t = dot(c.end[k] - a, e) / ee
        if 0.0 < t < 1.0 and not c.below[k]:
            q = a + t * e
            if ridge(f, i, j, way, c.end[k] - q):
                touch_at(all, c, q, (1.0 / sqrt(square(c.end[k] - q))) * (c.end[k] - q), sqrt(square(c.end[k] - q)), feature + k)
    if c.ends != 1:
        u = c.end[1] - c.end[0]
        p = c.end[0] - a
        eu, uu = dot(e, u), square(u)
        det = ee * uu - eu * eu
        if det > 1e-12 * ee * uu:
            t = (uu * dot(e, p) - eu * dot(u, p)) / det
            s = (eu * dot(e, p) - ee * dot(u, p)) / det
            q = a + t * e
            p = c.end[0] + s * u - q
            if 0.0 < t < 1.0 and 0.0 < s < 1.0 and ridge(f, i, j, way, p):
                touch_along(all, c, q, p, s, u, feature + 2)
        if c.ends == 0 and eu * eu > ALONG * ee * uu:
            for k in range(2):
                t = min(max(dot(c.end[k] - a, u) / eu, 0.0), 1.0)
                q = a + t * e
                s = dot(q - c.end[0], u) / uu
                p = c.end[0] + s * u - q
                if -ON_RIDGE < s < 1.0 + ON_RIDGE and ridge(f, i, j, way, p):
                    touch_at(all, c, q, (1.0 / sqrt(square(p))) * p, sqrt(square(p)), feature + k)

cdef inline bint ridge(const Field* f, int i, int j, int way, Vec d) noexcept nogil:
    """Whether d, from a point of that edge and square to it, is on the far side of both its triangles."""
    cdef Vec a = grid_point(f, i, j)
    cdef Vec e = grid_point(f, i + STEP_I[way], j + STEP_J[way]) - a
    cdef Vec w
    cdef int side
    cdef int k
    if not d.z > 0.0:
        return False
    for side in range(2):                                # the third corners: one step around from the edge's end, either way
        k = (way + 1) % 6 if side == 0 else (way + 5) % 6
        if not on_grid(f, i + STEP_I[k], j + STEP_J[k]):
            continue
        w = grid_point(f, i + STEP_I[k], j + STEP_J[k]) - a
        w = w - (dot(w, e) / square(e)) * e
        if dot(d, w) > -ON_RIDGE * sqrt(square(d) * square(w)):
            return False
    return True

cdef inline bint peak(const Field* f, int i, int j, Vec d) noexcept nogil:
    """Whether d, from a grid point, is on the far side of all edges from there."""
    cdef Vec a = grid_point(f, i, j)
    cdef Vec w
    cdef int k
    if not d.z > 0.0:
        return False
    for k in range(6):
        if on_grid(f, i + STEP_I[k], j + STEP_J[k]):
            w = grid_point(f, i + STEP_I[k], j + STEP_J[k]) - a
            if dot(d, w) > -ON_RIDGE * sqrt(square(d) * square(w)):
                return False
    return True

cdef inline void on_point(Candidates* all, const Core* c, const Field* f, int i, int j, long long feature) noexcept nogil:
    cdef Vec a = grid_point(f, i, j)
    cdef Vec u
    cdef Vec p
    cdef double s
    cdef int k
    for k in range(c.ends):
        p = c.end[k] - a
        if not c.below[k] and peak(f, i, j, p):
            touch_at(all, c, a, (1.0 / sqrt(square(p))) * p, sqrt(square(p)), feature + k)
    if c.ends != 1:
        u = c.end[1] - c.end[0]
        s = dot(a - c.end[0], u) / square(u)
        p = c.end[0] + s * u - a
        if 0.0 < s < 1.0 and peak(f, i, j, p):
            touch_along(all, c, a, p, s, u, feature + 2)

cdef inline void on_ridges(Candidates* all, const Core* c, const Field* f, const Cells* cells, double low, long long start,
                           long long unit) noexcept nogil:
    """All edges and grid points of the cells that reach up to z = low. Features: from `start` on, `unit` apart."""
    cdef int i
    cdef int j
    cdef int k
    cdef long long place_of
    for i in range(cells.i0, cells.i1 + 1):
        for j in range(cells.j0, cells.j1 + 1):
            if low > f.height[<long long>i * f.ny + j] and i < f.nx - 1 and j < f.ny - 1 and low > top_of(f, i, j):
                continue
            place_of = start + unit * (<long long>i * f.ny + j)
            for k in range(3):
                on_edge(all, c, f, i, j, k, place_of + 8 + 4 * k)
            on_point(all, c, f, i, j, place_of + 24)

cdef inline int height_field_round_contacts(const Shape* a, const Frame* A, const Shape* b, const Frame* B, double margin, Contact* out) noexcept nogil:
    """Spheres and capsules."""
    cdef const Field* f = &a.field
    cdef Frame X = between(A[0], B[0])
    cdef Bounds box = bounds_of(b, &X, margin)
    cdef Cells cells
    cdef Core c
    cdef Triangle t
    cdef Candidates all
    cdef Vec out_n[2]
    cdef double away[2]
    cdef long long way[2]                                # out: the triangle
    cdef double s
    cdef double z = 0.0
    cdef int i
    cdef int j
    cdef int k
    cdef int second
    cdef long long place_of
    if not box.low.z <= f.highest or not cells_under(f, &box, &cells):
        return 0
    c.radius, c.margin, c.size = b.radius, margin, b.reach
    c.ends = 1 if b.half.z == 0.0 else 2
    c.end[0], c.end[1] = X.p - b.half.z * X.R.z, X.p + b.half.z * X.R.z
    for k in range(c.ends):
        away[k] = 1e300
        c.below[k] = surface_at(f, c.end[k].x, c.end[k].y, &z) and c.end[k].z < z
    all.count = 0
    for i in range(cells.i0, cells.i1):
        for j in range(cells.j0, cells.j1):
            place_of = 64 * (<long long>i * f.ny + j)
            if top_of(f, i, j) < box.low.z:
                continue
            for second in range(2):
                t = triangle_of(f, i, j, second)
                for k in range(c.ends):
                    s = dot(t.n, c.end[k] - t.a)
                    if s >= 0.0 and not c.below[k] and over(&t, c.end[k] - s * t.n):
                        touch_at(&all, &c, c.end[k] - s * t.n, t.n, s, place_of + 4 * second + k)
                    elif s < 0.0 and c.below[k] and -s < away[k] and (over(&t, c.end[k] - s * t.n) or over(&t, c.end[k])):
                        away[k], out_n[k], way[k] = -s, t.n, 1 + place_of + second
    for k in range(c.ends):
        if c.below[k] and away[k] < 1e300:
            touch_at(&all, &c, c.end[k] + away[k] * out_n[k], out_n[k], -away[k], k, way[k])
    on_ridges(&all, &c, f, &cells, box.low.z, 0, 64)
    if all.count == 0:
        return 0
    k = keep(&all, c.size, out)
    for i in range(k):
        out[i].p = place(A[0], out[i].p)
        out[i].n = rotate(A.R, out[i].n)
    return k
