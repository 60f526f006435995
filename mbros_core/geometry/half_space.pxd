"""Half-space: solid below z = 0 of its frame. With every other kind: the points of the other that are lowest.

Of a box the four deepest corners; of a polyhedron those that stay of its corners (candidates.pxd); of a cylinder the deepest point of either rim and,
standing, four points of the lower rim a quarter apart (their linear forces together are the same wherever the first one is).
"""
from libc.math cimport fabs, sqrt

from mbros_core.geometry.box cimport box_corner
from mbros_core.geometry.candidates cimport Candidates, add_candidate, keep, sort_contacts
from mbros_core.geometry.cylinder cimport cylinder_deepest
from mbros_core.geometry.shape cimport Contact, Shape, point_contact
from mbros_core.geometry.vec cimport Frame, Vec, dot, read, rotate, unrotate, vec


cdef inline int half_space_sphere_contacts(const Shape* a, const Frame* A, const Shape* b, const Frame* B, double margin, Contact* out) noexcept nogil:
    cdef Vec n = A.R.z
    cdef double height = dot(n, B.p - A.p)
    if not b.radius - height >= -margin:
        return 0
    return point_contact(B.p - 0.5 * (height + b.radius) * n, n, b.radius - height, 0, out)

cdef inline int half_space_capsule_contacts(const Shape* a, const Frame* A, const Shape* b, const Frame* B, double margin, Contact* out) noexcept nogil:
    """Its two ends."""
    cdef Vec n = A.R.z
    cdef Vec end = B.p - b.half.z * B.R.z
    cdef double height = dot(n, end - A.p)
    cdef int k = 0
    if b.radius - height >= -margin:
        k = point_contact(end - 0.5 * (height + b.radius) * n, n, b.radius - height, 0, out)
    end = B.p + b.half.z * B.R.z
    height = dot(n, end - A.p)
    if b.radius - height >= -margin:
        k += point_contact(end - 0.5 * (height + b.radius) * n, n, b.radius - height, 1, &out[k])
    return k

cdef inline int half_space_box_contacts(const Shape* a, const Frame* A, const Shape* b, const Frame* B, double margin, Contact* out) noexcept nogil:
    cdef Vec n = A.R.z
    cdef Vec e = unrotate(B.R, n)
    cdef double height = dot(n, B.p - A.p)
    cdef double x = e.x * b.half.x
    cdef double y = e.y * b.half.y
    cdef double z = e.z * b.half.z
    cdef double d
    cdef int i
    cdef int least
    cdef int j
    cdef int k = 0
    if not fabs(x) + fabs(y) + fabs(z) - height >= -margin:
        return 0
    for i in range(8):
        d = -(height + (x if i & 1 else -x) + (y if i & 2 else -y) + (z if i & 4 else -z))
        if not d >= -margin:
            continue
        if k < 4:
            out[k].depth, out[k].feature = d, i
            k += 1
            continue
        least = 0
        for j in range(1, 4):
            if out[j].depth < out[least].depth:
                least = j
        if d > out[least].depth:
            out[least].depth, out[least].feature = d, i
    for i in range(k):
        out[i].n, out[i].reference = n, 0
        out[i].p = B.p + rotate(B.R, box_corner(b, <int>out[i].feature)) + 0.5 * out[i].depth * n
    sort_contacts(out, k)
    return k

cdef inline int half_space_cylinder_contacts(const Shape* a, const Frame* A, const Shape* b, const Frame* B, double margin, Contact* out) noexcept nogil:
    """Of the rim at +z, then of the one at -z."""
    cdef Vec n = A.R.z
    cdef Vec e = unrotate(B.R, n)
    cdef double height = dot(n, B.p - A.p)
    cdef double x
    cdef double y
    cdef double g
    cdef double lower = -1.0 if e.z >= 0.0 else 1.0
    cdef double d
    cdef Vec q
    cdef bint standing = 2.0 * e.z * e.z > 1.0
    cdef int end
    cdef int i
    cdef int k = 0
    if height - b.radius * sqrt(e.x * e.x + e.y * e.y) - b.half.z * fabs(e.z) > margin + 1e-9 * (b.radius + b.half.z):
        return 0
    cylinder_deepest(b, -e, &x, &y)
    for end in range(2):
        g = 1.0 if end == 0 else -1.0
        for i in range(4):                               # deepest, then a quarter on each time
            if (g != lower and (i > 0 or standing)) or (i == 2 and not standing):
                continue
            q = vec(b.radius * x, b.radius * y, g * b.half.z)
            if i == 1 or i == 3:
                q = vec(-b.radius * y, b.radius * x, g * b.half.z)
            if i > 1:
                q = vec(-q.x, -q.y, q.z)
            d = -(height + dot(e, q))
            if d >= -margin:
                k += point_contact(B.p + rotate(B.R, q) + 0.5 * d * n, n, d, 4 * end + i, &out[k])
    return k

cdef inline int half_space_convex_contacts(const Shape* a, const Frame* A, const Shape* b, const Frame* B, double margin, Contact* out) noexcept nogil:
    cdef Vec n = A.R.z
    cdef Vec e = unrotate(B.R, n)
    cdef double height = dot(n, B.p - A.p)
    cdef const double* v = b.hull.vertex
    cdef double d
    cdef int i
    cdef Candidates all
    all.count = 0
    for i in range(b.hull.vertices):
        d = -(height + (e.x * v[3 * i] + e.y * v[3 * i + 1] + e.z * v[3 * i + 2]))
        if d >= -margin:
            add_candidate(&all, b.reach, B.p + rotate(B.R, read(v + 3 * i)) + 0.5 * d * n, n, d, i, 0)
    return keep(&all, b.reach, out) if all.count else 0
