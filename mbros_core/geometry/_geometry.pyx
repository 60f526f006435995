# distutils: language = c++
# cython: language_level=3, cdivision=True, boundscheck=False, wraparound=False, initializedcheck=False, embedsignature=True, auto_pickle=False
"""Shapes, their contact points, and which of many can touch (docs/geometry.md)."""
import numpy as np
cimport numpy as cnp

from libc.math cimport sqrt
from libc.string cimport memset
from libcpp.vector cimport vector
from posix.time cimport CLOCK_THREAD_CPUTIME_ID, clock_gettime, timespec

from mbros_core.engine.arrays cimport bytes_of, constants_of, doubles_of, ints_of, long_longs_of
from mbros_core.geometry.bounds cimport Bounds, bounds_of
from mbros_core.geometry.broad_phase cimport Pair, sweep
from mbros_core.geometry.dispatch cimport contacts_of
from mbros_core.geometry.shape cimport MOST_CONTACTS, NUMBER_OF_SHAPE_KINDS, Contact, Shape as ShapeC
from mbros_core.geometry.vec cimport Frame, vec, write

from mbros_core.errors import MbrosError, WrongTypeError
from mbros_core.geometry import registry
from mbros_core.geometry.given import group_numbers, kind_of, margin_of, permutation, points_of, poses, sizes_of
from mbros_core.geometry.hull import checked_faces, convex_hull, packed_faces, tables
from mbros_core.geometry.results import BroadPairs, Contacts, ManyContacts
from mbros_core.support.numbers import is_whole, short

cnp.import_array()

cdef extern from "geometry/quickhull.hpp" namespace "mbros_geometry" nogil:
    cdef cppclass Quickhull:
        Quickhull(const double* points, int count, const int* first, double slack, long long most) except +
        bint spent()
        vector[int] triangles() except +

if len(registry.ROWS) != NUMBER_OF_SHAPE_KINDS or any(row.number != k for k, row in enumerate(registry.ROWS)):
    raise ImportError("mbros_core.geometry.registry and geometry/shape.pxd disagree: rebuild mbros_core")


# ------------------------------------------------------------------------------------------------ for compiled modules

cdef int contact_points(const ShapeC* a, const Frame* X_WA, const ShapeC* b, const Frame* X_WB, double margin, Contact* out) noexcept nogil:
    """At most MOST_CONTACTS points, normals from a to b (shape.pxd)."""
    return contacts_of(a, X_WA, b, X_WB, margin, out)


cdef void shape_bounds(const ShapeC* s, const Frame* X_WS, double margin, Bounds* out) noexcept nogil:
    """The box along the world's axes around a shape and its margin."""
    out[0] = bounds_of(s, X_WS, margin)


cdef int overlapping_pairs(const Bounds* box, const int* group, int count, int* order, Pair* pairs, int most, long long* found) noexcept nogil:
    """The broad phase (broad_phase.pxd)."""
    return sweep(box, group, count, order, pairs, most, found)


# --------------------------------------------------------------------------------------------------------------- shapes

def hull_triangles(points, first, double slack, long long most):
    """The triangles (n, 3) of the hull of points (m, 3), which starts as the tetrahedron `first` of four of them (quickhull.hpp); None
    where more than `most` comparisons of a point with a plane are needed."""
    x, corners = np.ascontiguousarray(points, dtype=float), np.array(first, dtype=np.intc)
    cdef const double* at = constants_of(x, 2)
    cdef const int* four = ints_of(corners, 1)
    cdef int count = len(x)
    cdef Quickhull* hull
    cdef vector[int] found
    cdef bint spent
    cdef Py_ssize_t k
    with nogil:
        hull = new Quickhull(at, count, four, slack, most)
        spent = hull.spent()
        found = hull.triangles()
        del hull
    if spent:
        return None
    out = np.empty((found.size() // 3, 3), dtype=np.intc)
    cdef int* to = ints_of(out, 2)
    for k in range(<Py_ssize_t>found.size()):
        to[k] = found[k]
    return out


cdef class Shape:
    """A shape that does not change: kind and sizes as in mbros_core.geometry.registry, points where the kind has some.

    box(), sphere() and the other functions of mbros_core.geometry make them. faces: of another Shape's `faces`, whose `points` these are:
    nothing is computed again.
    """

    def __cinit__(self, kind, sizes=(), points=None, faces=None):
        row = kind_of(kind)
        memset(&self.c, 0, sizeof(ShapeC))
        self.kind = row.name
        self.sizes = sizes_of(row, sizes)
        self.points = points_of(row, points)
        self.c.kind = row.number
        if row.name == "convex":
            self.set_hull(faces)
        elif row.name == "height_field":
            self.set_field()
        else:
            self.set_sizes()

    cdef int set_sizes(self) except -1:
        cdef ShapeC* c = &self.c
        if self.kind == "half_space":
            c.reach = np.inf
        elif self.kind == "box":
            c.half = vec(0.5 * <double>self.sizes[0], 0.5 * <double>self.sizes[1], 0.5 * <double>self.sizes[2])
            c.reach = sqrt(c.half.x * c.half.x + c.half.y * c.half.y + c.half.z * c.half.z)
        else:
            c.radius = self.sizes[0]
            c.half.z = 0.5 * <double>self.sizes[1] if len(self.sizes) > 1 else 0.0
            c.rounding = 0.0 if self.kind == "cylinder" else c.radius
            c.reach = sqrt(c.radius * c.radius + c.half.z * c.half.z) if self.kind == "cylinder" else c.radius + c.half.z
        return 0

    cdef int set_hull(self, object kept) except -1:
        vertices, faces = self.points, kept
        if kept is None:
            found = convex_hull(vertices)
            if found is None:
                raise MbrosError(f"convex: its {len(vertices)} vertices lie in one plane; expected at least four that span a volume")
            vertices, faces = found[0], packed_faces(found[1])
        packed, normals = tables(vertices, *checked_faces(vertices, *faces))
        self.points = np.ascontiguousarray(vertices)
        self.points.setflags(write=False)
        self.held = (packed, np.ascontiguousarray(normals))
        middle = 0.5 * (vertices.min(axis=0) + vertices.max(axis=0))
        self.c.centre = vec(middle[0], middle[1], middle[2])
        self.c.reach = np.linalg.norm(vertices - middle, axis=1).max()
        self.c.hull.vertices, self.c.hull.faces = len(vertices), len(normals)
        self.c.hull.vertex, self.c.hull.normal = constants_of(self.points, 2), constants_of(self.held[1], 2)
        self.c.hull.neighbour_start, self.c.hull.neighbour = ints_of(packed[0], 1), ints_of(packed[1], 1)
        self.c.hull.around_start, self.c.hull.around = ints_of(packed[2], 1), ints_of(packed[3], 1)
        self.c.hull.corner_start, self.c.hull.corner = ints_of(packed[4], 1), ints_of(packed[5], 1)
        self.c.hull.edge = ints_of(packed[6], 1)
        return 0

    cdef int set_field(self) except -1:
        self.c.field.nx, self.c.field.ny = self.points.shape
        self.c.field.dx = <double>self.sizes[0] / (self.c.field.nx - 1)
        self.c.field.dy = <double>self.sizes[1] / (self.c.field.ny - 1)
        self.c.field.height = constants_of(self.points, 2)
        self.c.field.highest, self.c.field.lowest = self.points.max(), self.points.min()
        self.c.reach = 0.5 * np.hypot(self.sizes[0], self.sizes[1])
        return 0

    @property
    def faces(self):
        """Of a convex shape (starts, corners): face k has the vertices corners[starts[k]:starts[k + 1]] of `points`, counter-clockwise seen
        from outside. None of others."""
        return tuple(self.held[0][4:6]) if self.kind == "convex" else None

    def __reduce__(self):
        return Shape, (self.kind, self.sizes, self.points, self.faces)

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __repr__(self):
        row = registry.BY_NAME[self.kind]
        words = [f"{what} {x:g}" for what, x in zip(row.sizes, self.sizes)]
        if self.points is not None:
            words.append(f"{row.points} {self.points.shape}")
        return f"<{self.kind}: {', '.join(words)}>" if words else f"<{self.kind}>"


# -------------------------------------------------------------------------------------------------------------- queries

cdef void frames_of(const double* X, Py_ssize_t count, Frame* out) noexcept nogil:
    """R row-major, then p, 12 numbers each."""
    cdef Py_ssize_t i
    for i in range(count):
        out[i].R.x = vec(X[12 * i], X[12 * i + 3], X[12 * i + 6])
        out[i].R.y = vec(X[12 * i + 1], X[12 * i + 4], X[12 * i + 7])
        out[i].R.z = vec(X[12 * i + 2], X[12 * i + 5], X[12 * i + 8])
        out[i].p = vec(X[12 * i + 9], X[12 * i + 10], X[12 * i + 11])


cdef object frame_memory(object given, Py_ssize_t count):
    """Bytes that hold `count` Frames, of poses (n, 12); one pose stands for all."""
    X = np.ascontiguousarray(np.broadcast_to(given, (count, 12)))
    memory = np.empty(max(1, count) * sizeof(Frame), dtype=np.uint8)
    frames_of(constants_of(X, 2), count, <Frame*>bytes_of(memory))
    return memory


cdef int check_pair(str who, object a, object b) except -1:
    for name, shape in (("shape_a", a), ("shape_b", b)):
        if not isinstance(shape, Shape):
            raise WrongTypeError(f"{who}: {name}: expected a shape of mbros_core.geometry, got {short(shape)}")
    if not registry.BY_NAME[a.kind].solid and not registry.BY_NAME[b.kind].solid:
        raise MbrosError(f"{who}: a {a.kind} and a {b.kind} do not touch; expected at least one of them to be another kind of shape")
    return 0


def contacts(shape_a, X_WA, shape_b, X_WB, margin=0.0):
    """The contact points of two shapes as Contacts, at most four; none where they are apart by more than margin (m).

    X_WA, X_WB: poses in the world: (4, 4), a position (3,), or an object with R and p.
    """
    check_pair("contacts", shape_a, shape_b)
    cdef double m = margin_of("contacts", margin)
    A, B = poses("contacts", "X_WA", X_WA), poses("contacts", "X_WB", X_WB)
    cdef const ShapeC* a = &(<Shape>shape_a).c
    cdef const ShapeC* b = &(<Shape>shape_b).c
    cdef Frame FA
    cdef Frame FB
    cdef Contact out[MOST_CONTACTS]
    cdef int count
    cdef int i
    frames_of(constants_of(A, 2), 1, &FA)
    frames_of(constants_of(B, 2), 1, &FB)
    with nogil:
        count = contacts_of(a, &FA, b, &FB, m, out)
    found = Contacts(np.empty((count, 3)), np.empty((count, 3)), np.empty(count), np.empty(count, dtype=np.int64))
    for i in range(count):
        found.points[i] = out[i].p.x, out[i].p.y, out[i].p.z
        found.normals[i] = out[i].n.x, out[i].n.y, out[i].n.z
        found.depths[i], found.features[i] = out[i].depth, out[i].feature
    return found


def contacts_of_many(shape_a, X_WA, shape_b, X_WB, margin=0.0):
    """The contact points of two shapes at many poses as ManyContacts. X_WA, X_WB: (n, 4, 4), or one pose for all."""
    check_pair("contacts_of_many", shape_a, shape_b)
    cdef double m = margin_of("contacts_of_many", margin)
    A, B = poses("contacts_of_many", "X_WA", X_WA, True), poses("contacts_of_many", "X_WB", X_WB, True)
    cdef Py_ssize_t n = max(len(A), len(B)) if len(A) and len(B) else 0
    if len(A) not in (1, n) or len(B) not in (1, n):
        raise MbrosError(f"contacts_of_many: expected as many poses X_WA as X_WB, or one; got {len(A)} and {len(B)}")
    held = frame_memory(A[:n], n), frame_memory(B[:n], n)
    cdef const Frame* FA = <Frame*>bytes_of(held[0])
    cdef const Frame* FB = <Frame*>bytes_of(held[1])
    found = ManyContacts(np.zeros(n, dtype=np.int64), np.zeros((n, 4, 3)), np.zeros((n, 4, 3)), np.zeros((n, 4)), np.zeros((n, 4), dtype=np.int64))
    cdef long long* counts = long_longs_of(found.counts, 1)
    cdef double* points = doubles_of(found.points, 3)
    cdef double* normals = doubles_of(found.normals, 3)
    cdef double* depths = doubles_of(found.depths, 2)
    cdef long long* features = long_longs_of(found.features, 2)
    cdef const ShapeC* a = &(<Shape>shape_a).c
    cdef const ShapeC* b = &(<Shape>shape_b).c
    cdef Contact out[MOST_CONTACTS]
    cdef Py_ssize_t k
    cdef Py_ssize_t at
    cdef int i
    with nogil:
        for k in range(n):
            counts[k] = contacts_of(a, FA + k, b, FB + k, m, out)
            for i in range(<int>counts[k]):
                at = 4 * k + i
                write(points + 3 * at, out[i].p)
                write(normals + 3 * at, out[i].n)
                depths[at], features[at] = out[i].depth, out[i].feature
    return found


cdef long long thread_ns() noexcept nogil:
    cdef timespec now
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now)
    return 1000000000 * <long long>now.tv_sec + now.tv_nsec


def nanoseconds(shape_a, X_WA, shape_b, X_WB, margin=0.0, rounds=1):
    """(ns, points) on the mean of one pair of poses, in a loop of `rounds` over all of them without the interpreter; ns of this thread's
    CPU time."""
    check_pair("nanoseconds", shape_a, shape_b)
    cdef double m = margin_of("nanoseconds", margin)
    A, B = poses("nanoseconds", "X_WA", X_WA, True), poses("nanoseconds", "X_WB", X_WB, True)
    cdef Py_ssize_t n = len(B)
    if not n or len(A) not in (1, n) or not is_whole(rounds) or not 0 < rounds < 10**9:
        raise MbrosError(f"nanoseconds: expected poses, X_WA as many as X_WB or one, and rounds from 1 to 1e9; got {len(A)}, {n}, {short(rounds)}")
    held = frame_memory(A, n), frame_memory(B, n)
    cdef const Frame* FA = <Frame*>bytes_of(held[0])
    cdef const Frame* FB = <Frame*>bytes_of(held[1])
    cdef const ShapeC* a = &(<Shape>shape_a).c
    cdef const ShapeC* b = &(<Shape>shape_b).c
    cdef Contact out[MOST_CONTACTS]
    cdef long long start
    cdef long long took
    cdef long long total = 0
    cdef long long times = rounds
    cdef long long i
    cdef Py_ssize_t k
    with nogil:
        start = thread_ns()
        for i in range(times):
            for k in range(n):
                total += contacts_of(a, FA + k, b, FB + k, m, out)
        took = thread_ns() - start
    return took / (<double>times * n), total / (<double>times * n)


def broad_phase(shapes, X_WS, margin=0.0, groups=None, most=None, order=None):
    """The pairs of shapes whose boxes along the world's axes, each grown by margin (m), overlap, as BroadPairs.

    X_WS (n, 4, 4): their poses. groups (n,): whole numbers; shapes of one group are no pair. most: room for so many pairs (default: all,
    up to 1000 a shape).
    order: the numpy.intc array of the last call, changed in place, which makes this one's sort short.
    """
    shapes = list(shapes)
    cdef int n = len(shapes)
    for i, shape in enumerate(shapes):
        if not isinstance(shape, Shape):
            raise WrongTypeError(f"broad_phase: shapes[{i}]: expected a shape of mbros_core.geometry, got {short(shape)}")
    cdef double m = margin_of("broad_phase", margin)
    X = poses("broad_phase", "X_WS", X_WS, True)
    if len(X) != n:
        raise MbrosError(f"broad_phase: X_WS: expected {n} poses, one for each shape, got {len(X)}")
    if most is None:
        most = min(len(shapes) * (len(shapes) - 1) // 2, 1000 * len(shapes))
    if not is_whole(most) or not 0 <= most < 2**31:
        raise MbrosError(f"broad_phase: most: expected a whole number of pairs, got {short(most)}")
    cdef int room = most
    order = np.arange(n, dtype=np.intc) if order is None else permutation("broad_phase", order, n)
    frames = frame_memory(X, n)
    boxes = np.empty(max(1, n) * sizeof(Bounds), dtype=np.uint8)
    found = np.zeros((max(1, room), 2), dtype=np.intc)
    cdef int* sorted_ = ints_of(order, 1)
    cdef const int* together = NULL
    cdef const Frame* frame = <Frame*>bytes_of(frames)
    cdef Bounds* box = <Bounds*>bytes_of(boxes)
    cdef Pair* pairs = <Pair*>ints_of(found, 2)
    cdef long long all_ = 0
    cdef int written = 0
    if groups is not None:
        groups = group_numbers("broad_phase", groups, n)
        together = ints_of(groups, 1)
    for i in range(n):
        box[<int>i] = bounds_of(&(<Shape>shapes[i]).c, frame + <int>i, m)
    if n:
        with nogil:
            written = sweep(box, together, n, sorted_, pairs, room, &all_)
    kept = found[:written].astype(np.int64)
    return BroadPairs(kept[np.lexsort((kept[:, 1], kept[:, 0]))], int(all_ - written))
