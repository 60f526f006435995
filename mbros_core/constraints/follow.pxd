"""Where a contact point goes until the end of a step: the shapes are moved on as their bodies move now, and touch again there. A point that
is made by other features then, or that jumps, is another one.

A contact's J and depth are of where the poses are taken, its velocity is of the end of the step (contact.pxd): what the arms and normals of its
bodies gain until then belongs to it. By the state alone: what the point did before does not count.
"""
from libc.math cimport cos, sin

from mbros_core.constraints.robot cimport Robot, angular_velocity, body_frame, point_velocity, vector_at
from mbros_core.constraints.scene cimport Scene
from mbros_core.constraints.touch cimport Touch
from mbros_core.geometry._geometry cimport contact_points
from mbros_core.geometry.shape cimport Contact
from mbros_core.geometry.vec cimport Frame, Vec, cross, norm, place, rotate, square

cdef extern from *:
    """
    static const double MBROS_SLOW = 1e-5, MBROS_SUDDEN = 0.1, MBROS_FAR = 0.3;
    """
    const double SLOW "MBROS_SLOW"           # rad in a step, or of a shape's radius: what a point does then changes nothing
    const double SUDDEN "MBROS_SUDDEN"       # square of the turn after which a normal is another one
    const double FAR "MBROS_FAR"             # a point that goes farther than this along a shape jumps; over the smaller one's radius


cdef inline Vec turned_by(Vec x, Vec w, double a, double b) noexcept nogil:
    """x turned about w (Rodrigues): a = sin / |w|, b = (1 - cos) / |w|^2 of the angle."""
    cdef Vec y = cross(w, x)
    return x + a * y + b * cross(w, y)


cdef inline Frame body_later(const Robot* r, int body, double t) noexcept nogil:
    """X_WB in t, as it moves now."""
    cdef Frame X = body_frame(r, body)
    cdef Vec w
    cdef double rate, angle, a, b
    if body == 0:
        return X
    w = angular_velocity(r, body)
    angle = t * t * square(w)                # its square
    if angle < 1e-3:
        a, b = t * (1.0 - angle * (1.0 - 0.05 * angle) / 6.0), t * t * (0.5 - angle * (1.0 - angle / 30.0) / 24.0)
    else:
        rate = norm(w)
        a, b = sin(rate * t) / rate, (1.0 - cos(rate * t)) / (rate * rate)
    X.p = X.p + t * vector_at(r.V_WB + (6 * body + 3) * r.stride, r.stride)
    X.R.x, X.R.y = turned_by(X.R.x, w, a, b), turned_by(X.R.y, w, a, b)
    X.R.z = cross(X.R.x, X.R.y)
    return X


cdef inline Frame shape_later(const Scene* s, const Robot* r, int i, double t) noexcept nogil:
    """X_WS of shape i."""
    cdef Frame B = body_later(r, s.body[i], t)
    cdef Frame X
    X.R.x, X.R.y, X.R.z = rotate(B.R, s.X_BS[i].R.x), rotate(B.R, s.X_BS[i].R.y), rotate(B.R, s.X_BS[i].R.z)
    X.p = place(B, s.X_BS[i].p)
    return X


cdef inline bint stands(const Scene* s, const Robot* r, const Touch* t, double h) noexcept nogil:
    """Whether neither shape turns, nor moves against the other, by more than SLOW in a step."""
    cdef double most = (SLOW / h) * (SLOW / h)
    return (t.drift <= SLOW and (s.body[t.a] == 0 or square(angular_velocity(r, s.body[t.a])) <= most)
            and (s.body[t.b] == 0 or square(angular_velocity(r, s.body[t.b])) <= most))


cdef inline int contacts_later(const Scene* s, const Robot* r, const Touch* t, double h, Contact* found) noexcept nogil:
    """The contact points of a touch's pair at the end of the step; 0 where there is nothing to know."""
    cdef Frame A
    cdef Frame B
    if r.later == 0.0 or stands(s, r, t, h):
        return 0
    A, B = shape_later(s, r, t.a, r.later), shape_later(s, r, t.b, r.later)
    return contact_points(&s.shape[t.a], &A, &s.shape[t.b], &B, 2.0 * t.reach, found)


cdef inline bint find_feature(long long feature, const Contact* found, int count, Contact* out) noexcept nogil:
    cdef int k
    for k in range(count):
        if found[k].feature == feature:
            out[0] = found[k]
            return True
    return False


cdef inline void follow(Touch* t, const Contact* found, int count) noexcept nogil:
    """How far the point and its normal go."""
    cdef Contact later
    t.followed = 0
    if find_feature(t.c.feature, found, count, &later):
        t.moved, t.turned = later.p - t.c.p, later.n - t.c.n
        t.followed = square(t.turned) < SUDDEN


cdef inline bint jumps(const Scene* s, const Robot* r, const Touch* t) noexcept nogil:
    """Whether the point goes far against the centre of the smaller shape, whatever its body's origin is and how fast both go."""
    cdef int small = t.a if s.ball[t.a].radius < s.ball[t.b].radius else t.b
    cdef int body = s.body[small]
    cdef Vec moved = t.moved
    if body > 0:
        moved = moved - r.later * point_velocity(r, body, place(body_frame(r, body), s.ball[small].centre))
    return square(moved) > FAR * FAR * s.ball[small].radius * s.ball[small].radius
