"""A box with a sphere or a capsule, in closed form.

The square of the distance from a point to a box is convex and, along a segment, quadratic between at most six places where a coordinate enters or
leaves the box's range: its smallest value is found piece by piece. A segment that meets the box leaves it across one of six directions:
the box's axes, and those square to the segment and to an axis.
"""
from libc.math cimport fabs

from mbros_core.geometry.manifold cimport manifold
from mbros_core.geometry.rounds cimport clamp, round_contact
from mbros_core.geometry.shape cimport Contact, Shape, point_contact
from mbros_core.geometry.vec cimport Frame, Vec, axis, between, cross, dot, norm, place, rotate, square, unrotate, vec


cdef inline int past(double x, double way) noexcept nogil:
    """Whether x is past a face, and which of two; way: how far it is inside."""
    return 0 if way >= 0.0 else 1 if x < 0.0 else 2

cdef inline int sphere_box_contacts(const Shape* a, const Frame* A, const Shape* b, const Frame* B, double margin, Contact* out) noexcept nogil:
    """A centre inside the box leaves it through the nearest face."""
    cdef Vec c = unrotate(B.R, A.p - B.p)
    cdef Vec h = b.half
    cdef Vec n
    cdef double x = h.x - fabs(c.x)
    cdef double y = h.y - fabs(c.y)
    cdef double z = h.z - fabs(c.z)
    cdef double inside
    cdef int i
    if x < 0.0 or y < 0.0 or z < 0.0:
        n = vec(clamp(c.x, -h.x, h.x), clamp(c.y, -h.y, h.y), clamp(c.z, -h.z, h.z))
        i = round_contact(A.p, a.radius, place(B[0], n), 0.0, -B.R.z, margin, out)
        out.reference = past(c.x, x) + 3 * past(c.y, y) + 9 * past(c.z, z)
        return i
    if x <= y and x <= z:
        inside, i = x, 30 if c.x < 0.0 else 31
        n = B.R.x if c.x < 0.0 else -B.R.x
    elif y <= z:
        inside, i = y, 32 if c.y < 0.0 else 33
        n = B.R.y if c.y < 0.0 else -B.R.y
    else:
        inside, i = z, 34 if c.z < 0.0 else 35
        n = B.R.z if c.z < 0.0 else -B.R.z
    point_contact(A.p + 0.5 * (a.radius - inside) * n, n, a.radius + inside, 0, out)
    out.reference = i
    return 1

cdef inline double half_slope(Vec p, Vec u, Vec h, double t) noexcept nogil:
    """Half the derivative by t of the squared distance of p + t u from the box."""
    cdef double x = p.x + t * u.x
    cdef double y = p.y + t * u.y
    cdef double z = p.z + t * u.z
    return ((x - clamp(x, -h.x, h.x)) * u.x + (y - clamp(y, -h.y, h.y)) * u.y + (z - clamp(z, -h.z, h.z)) * u.z)

cdef inline double nearest_on_segment(Vec p, Vec u, double half, Vec h) noexcept nogil:
    """The t in [-half, half] at which p + t u is nearest to the box, the middle one where there are several."""
    cdef double low = -half
    cdef double high = half
    cdef double slope_low = half_slope(p, u, h, -half)
    cdef double slope_high = half_slope(p, u, h, half)
    cdef double t
    cdef double g
    cdef int i
    if slope_low > 0.0:
        return -half
    if slope_high < 0.0:
        return half
    for i in range(6):                                   # narrow the bracket to one piece
        g = axis(u, i >> 1)
        if fabs(g) <= 1e-12:
            continue
        t = ((axis(h, i >> 1) if i & 1 else -axis(h, i >> 1)) - axis(p, i >> 1)) / g
        if low < t < high:
            g = half_slope(p, u, h, t)
            if g < 0.0:
                low, slope_low = t, g
            elif g > 0.0:
                high, slope_high = t, g
            else:
                return middle_of_flat(p, u, half, h, t)
    if slope_high - slope_low > 0.0:
        return clamp(low - slope_low * (high - low) / (slope_high - slope_low), low, high)
    return 0.5 * (low + high)

cdef inline double middle_of_flat(Vec p, Vec u, double half, Vec h, double at) noexcept nogil:
    """Where the segment runs along the box the distance is the same from one place to another."""
    cdef double low = at
    cdef double high = at
    cdef double t
    cdef int i
    for i in range(8):
        if i < 6:
            if fabs(axis(u, i >> 1)) <= 1e-12:
                continue
            t = ((axis(h, i >> 1) if i & 1 else -axis(h, i >> 1)) - axis(p, i >> 1)) / axis(u, i >> 1)
        else:
            t = half if i == 6 else -half
        if -half <= t <= half and half_slope(p, u, h, t) == 0.0:
            low = min(low, t)
            high = max(high, t)
    return 0.5 * (low + high)

cdef inline double leave(Vec p, Vec u, double half, Vec h, Vec n, Vec* way) noexcept nogil:
    """How far the segment moves along n or -n, whichever is shorter, to leave the box; way: that direction."""
    cdef double reach = h.x * fabs(n.x) + h.y * fabs(n.y) + h.z * fabs(n.z) + half * fabs(dot(u, n))
    cdef double at = dot(p, n)
    way[0] = n if at >= 0.0 else -n
    return reach - fabs(at)

cdef inline int capsule_box_contacts(const Shape* a, const Frame* A, const Shape* b, const Frame* B, double margin, Contact* out) noexcept nogil:
    cdef Frame X = between(B[0], A[0])
    cdef Vec u = X.R.z
    cdef double t = nearest_on_segment(X.p, u, a.half.z, b.half)
    cdef Vec p = X.p + t * u
    cdef Vec q = vec(clamp(p.x, -b.half.x, b.half.x), clamp(p.y, -b.half.y, b.half.y), clamp(p.z, -b.half.z, b.half.z))
    cdef double distance = norm(p - q)
    cdef double least = 1e300
    cdef double d
    cdef Vec n
    cdef Vec way
    cdef Vec best = vec(0.0, 0.0, 1.0)
    cdef Contact deepest
    cdef int i
    if distance > 1e-10 * (a.reach + b.reach):
        if not round_contact(place(B[0], p), a.radius, place(B[0], q), 0.0, B.R.z, margin, &deepest):
            return 0
        return manifold(a, A, b, B, deepest.n, deepest.depth, deepest.p, 0, 0, margin, out)
    for i in range(6):
        n = vec(1.0 if i == 0 else 0.0, 1.0 if i == 1 else 0.0, 1.0 if i == 2 else 0.0)
        if i > 2:
            n = cross(u, vec(1.0 if i == 3 else 0.0, 1.0 if i == 4 else 0.0, 1.0 if i == 5 else 0.0))
            if norm(n) < 1e-6:
                continue
            n = (1.0 / norm(n)) * n
        d = leave(X.p, u, a.half.z, b.half, n, &way)
        if d < least - 1e-10 * (a.reach + b.reach):
            least = d
            best = way
    return manifold(a, A, b, B, -rotate(B.R, best), least + a.radius,
                    place(B[0], 0.5 * (p + q) - 0.5 * (a.radius - least) * best), 0, 0, margin, out)
