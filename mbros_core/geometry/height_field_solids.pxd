"""A height field with a box, a cylinder or a polyhedron: the faces that look down, cut with the triangles under them, seen from above.

At each corner of what is left the depth is the way along the triangle's normal from its plane to the face. Corners of the shape over a slope, grid
points under a face and edges that cross are all corners of it. A cylinder's side is for every triangle the line of it that faces the triangle; ridges
and peaks, which lie between such lines, meet it as they meet a capsule.
"""
from libc.math cimport fabs

from mbros_core.geometry.bounds cimport Bounds, bounds_of
from mbros_core.geometry.box cimport box_feature
from mbros_core.geometry.candidates cimport Candidates, add_candidate, keep
from mbros_core.geometry.convex cimport convex_face
from mbros_core.geometry.cylinder cimport cylinder_cap, cylinder_line
from mbros_core.geometry.height_field cimport Cells, Triangle, cells_under, height_over, triangle_of
from mbros_core.geometry.height_field_rounds cimport Core, on_ridges
from mbros_core.geometry.manifold cimport Corner, Polygon, cut
from mbros_core.geometry.names cimport AFTER_TRIANGLES, SIDE, edge_name, grid_edge_name, grid_point_name, triangle_name, vertex_name
from mbros_core.geometry.shape cimport BOX, CONVEX, Contact, Feature, Field, Shape
from mbros_core.geometry.vec cimport Frame, Vec, axis, between, place, read, rotate, unrotate, vec

cdef extern from *:
    """
    static const double MBROS_UPRIGHT = 1e-3, MBROS_LOOKS_DOWN = -1e-3;
    """
    const double UPRIGHT "MBROS_UPRIGHT"         # of a cylinder's axis along the normal: less, and its end is seen edge on
    const double LOOKS_DOWN "MBROS_LOOKS_DOWN"   # of a face's normal in z: above, and its lower edge is left to the face beyond

cdef struct Sink:                # what is looked for, and where it goes
    Candidates* all
    double margin
    double size

cdef struct Place:               # of a triangle: its grid point, which of two it is, what of it is in the name of a vertex over it
    int point
    int second
    long long own


cdef inline void set_down(const Feature* f, const Frame* X, Polygon* out, Bounds* box) noexcept nogil:
    """The corners of a feature in the field's frame, and the box around them."""
    cdef int i
    cdef Vec p
    out.count = f.count
    for i in range(f.count):
        p = place(X[0], f.corner[i])
        out.c[i].x, out.c[i].y, out.c[i].z = p.x, p.y, p.z
        out.c[i].name, out.c[i].edge = vertex_name(f.vertex[i], 0), edge_name(f.edge[i], 0)
        if i == 0:
            box.low, box.high = p, p
        box.low = vec(min(box.low.x, p.x), min(box.low.y, p.y), min(box.low.z, p.z))
        box.high = vec(max(box.high.x, p.x), max(box.high.y, p.y), max(box.high.z, p.z))

cdef inline long long name_over(const Place* at, const Field* f, long long name) noexcept nogil:
    """A name in which corners of the triangle are 1 to 3, and edges after them 4 to 6, as one of the whole field."""
    cdef long long of_shape = name & ((1 << SIDE) - 1)
    cdef int k = <int>(name >> SIDE)
    if k == 0:
        return at.own | of_shape
    if k == 1:
        return grid_point_name(at.point, at.second, 0) | of_shape
    if k == 2:
        return grid_point_name(at.point + (f.ny + 1 if at.second else f.ny), at.second, 1) | of_shape
    if k == 3:
        return grid_point_name(at.point + (1 if at.second else f.ny + 1), at.second, 2) | of_shape
    if k == 4:
        return grid_edge_name(at.point, 1 if at.second else 0, at.second) | of_shape
    if k == 5:
        return grid_edge_name(at.point + (1 if at.second else f.ny), 0 if at.second else 2, at.second) | of_shape
    return grid_edge_name(at.point, 2 if at.second else 1, at.second) | of_shape

cdef inline void over_triangle(const Triangle* t, const Polygon* given, const Place* at, const Field* f, Sink* sink) noexcept nogil:
    """What of a polygon or line is over the triangle, and deep enough."""
    cdef Polygon one
    cdef Polygon two
    cdef Corner a
    cdef Corner b
    cdef Corner c
    cdef Vec p
    cdef double depth
    cdef int i
    a.x, a.y, a.name, a.edge = t.a.x, t.a.y, 1 << SIDE, 4 << SIDE
    b.x, b.y, b.name, b.edge = t.b.x, t.b.y, 2 << SIDE, 5 << SIDE
    c.x, c.y, c.name, c.edge = t.c.x, t.c.y, 3 << SIDE, 6 << SIDE
    cut(given, 0, &a, &b, 1.0, 0.0, &one)
    if one.count == 0:
        return
    cut(&one, a.edge, &b, &c, 1.0, 0.0, &two)
    if two.count == 0:
        return
    cut(&two, b.edge, &c, &a, 1.0, 0.0, &one)
    for i in range(one.count):
        p = vec(one.c[i].x, one.c[i].y, one.c[i].z)
        depth = (height_over(t, p.x, p.y) - p.z) * t.n.z
        if depth >= -sink.margin:
            add_candidate(sink.all, sink.size, p + 0.5 * depth * t.n, t.n, depth, name_over(at, f, one.c[i].name),
                          1 + 2 * <long long>at.point + at.second)

cdef inline bint cylinder_toward(const Shape* s, const Frame* X, Vec n, bint line, Feature* f) noexcept nogil:
    """The end or the line of a cylinder that faces a triangle of normal n; False where it does not count."""
    cdef Vec e = unrotate(X.R, -n)
    if line:
        cylinder_line(s, e, f)
        return 2.0 * e.z * e.z <= 1.0
    cylinder_cap(s, e, f)
    return fabs(e.z) > UPRIGHT

cdef inline void over_field(const Field* f, const Polygon* face, const Bounds* box, bint line, const Shape* cylinder, const Frame* X,
                            Sink* sink) noexcept nogil:
    """A face over all triangles under it, in its box. cylinder: its end or line in place of the face, triangle by triangle."""
    cdef Cells cells
    cdef Triangle t
    cdef Feature toward
    cdef Polygon moved
    cdef Bounds unused
    cdef int i
    cdef int j
    cdef int second
    cdef Place at
    if not cells_under(f, box, &cells):
        return
    for i in range(cells.i0, cells.i1):
        for j in range(cells.j0, cells.j1):
            for second in range(2):
                t = triangle_of(f, i, j, second)
                if max(t.a.z, max(t.b.z, t.c.z)) + sink.margin / t.n.z < box.low.z:
                    continue
                at.point, at.second, at.own = i * f.ny + j, second, 0
                if cylinder == NULL:
                    over_triangle(&t, face, &at, f, sink)
                elif cylinder_toward(cylinder, X, t.n, line, &toward):
                    set_down(&toward, X, &moved, &unused)
                    at.own = triangle_name(2 * at.point + second)        # its vertices are counted from the one that faces the triangle
                    over_triangle(&t, &moved, &at, f, sink)

cdef inline void under_side(const Field* f, const Shape* s, const Frame* X, const Bounds* box, Sink* sink) noexcept nogil:
    """Ridges and peaks under a cylinder's side."""
    cdef Core c
    cdef Cells cells
    if not cells_under(f, box, &cells):
        return
    c.radius, c.margin, c.size, c.ends = s.radius, sink.margin, s.reach, 0
    c.end[0], c.end[1] = X.p - s.half.z * X.R.z, X.p + s.half.z * X.R.z
    on_ridges(sink.all, &c, f, &cells, box.low.z - sink.margin, <long long>AFTER_TRIANGLES << SIDE, 1 << SIDE)

cdef inline int height_field_solid_contacts(const Shape* a, const Frame* A, const Shape* b, const Frame* B, double margin, Contact* out) noexcept nogil:
    """Boxes, cylinders and polyhedra."""
    cdef const Field* f = &a.field
    cdef Frame X = between(A[0], B[0])
    cdef Bounds box = bounds_of(b, &X, margin)
    cdef Cells cells
    cdef Candidates all
    cdef Sink sink
    cdef Feature face
    cdef Polygon q
    cdef int i
    cdef int k
    cdef double z
    if not cells_under(f, &box, &cells):
        return 0
    all.count = 0
    sink.all, sink.margin, sink.size = &all, margin, b.reach
    if b.kind == BOX:
        for i in range(3):
            z = axis(vec(X.R.x.z, X.R.y.z, X.R.z.z), i)
            if fabs(z) > -LOOKS_DOWN:
                box_feature(b, down(i, z), &face)
                set_down(&face, &X, &q, &box)
                over_field(f, &q, &box, False, NULL, &X, &sink)
    elif b.kind == CONVEX:
        for i in range(b.hull.faces):
            if rotate(X.R, read(b.hull.normal + 3 * i)).z < LOOKS_DOWN:
                convex_face(b, i, &face)
                set_down(&face, &X, &q, &box)
                over_field(f, &q, &box, False, NULL, &X, &sink)
    else:
        q.count = 0
        box = bounds_of(b, &X, 0.0)
        over_field(f, &q, &box, False, b, &X, &sink)
        over_field(f, &q, &box, True, b, &X, &sink)
        under_side(f, b, &X, &box, &sink)
    if all.count == 0:
        return 0
    k = keep(&all, b.reach, out)
    for i in range(k):
        out[i].p = place(A[0], out[i].p)
        out[i].n = rotate(A.R, out[i].n)
    return k

cdef inline Vec down(int i, double z) noexcept nogil:
    """Along axis i, the way that goes down where the axis has this z."""
    cdef double g = -1.0 if z > 0.0 else 1.0
    return vec(g if i == 0 else 0.0, g if i == 1 else 0.0, g if i == 2 else 0.0)
