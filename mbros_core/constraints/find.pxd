"""Which shapes of a model may touch in a step, and where.

A pair for which there is no room is counted, not followed (touch.pxd, LOST).
"""
from libc.math cimport INFINITY
from libc.stdint cimport uint64_t

from mbros_core.constraints.robot cimport Robot, angular_velocity, body_frame, point_velocity, vector_at
from mbros_core.constraints.scene cimport Ball, Scene, Workspace
from mbros_core.constraints.touch cimport COUNT, ITERATIONS, KNOWN, LOST, Touch, remember, touches_in
from mbros_core.geometry._geometry cimport contact_points, overlapping_pairs, shape_bounds
from mbros_core.geometry.shape cimport HALF_SPACE, MOST_CONTACTS, Contact
from mbros_core.geometry.vec cimport Frame, Vec, dot, norm, place, rotate, vec

cdef extern from "constraints/rows.hpp" namespace "mbros_core" nogil:
    uint64_t near_balls(const double* balls, int n, int a, int first, int stop)
    int lowest_bit(uint64_t bits)

cdef extern from *:
    """
    static const double MBROS_SLACK = 2e-4;
    """
    const double SLACK "MBROS_SLACK"        # of a shape's radius: a gap that is no gap, so that what lies still stays in touch


cdef inline Frame shape_frame(const Scene* s, Frame X_WB, int i) noexcept nogil:
    """X_WS of shape i on its body."""
    cdef Frame X
    X.R.x = rotate(X_WB.R, s.X_BS[i].R.x)
    X.R.y = rotate(X_WB.R, s.X_BS[i].R.y)
    X.R.z = rotate(X_WB.R, s.X_BS[i].R.z)
    X.p = place(X_WB, s.X_BS[i].p)
    return X

cdef inline void move_balls(const Scene* s, Workspace* w, const Robot* r, double h) noexcept nogil:
    """The balls around the shapes to where they are, and how far each shape may come in a step: what is farther apart cannot touch."""
    cdef Frame X
    cdef double speed = 0.0              # of the body's origin, and per metre from it
    cdef double turning = 0.0
    cdef int i
    cdef int body = -1
    for i in range(s.ns):
        if s.body[i] != body:
            body = s.body[i]
            X = body_frame(r, body)
            if h > 0.0 and body > 0:
                turning = norm(vector_at(r.V_WB + 6 * body * r.stride, r.stride))
                speed = norm(vector_at(r.V_WB + (6 * body + 3) * r.stride, r.stride))
            else:
                speed = turning = 0.0
        w.margin[i] = h * (speed + s.arm[i] * turning)
        if h > 0.0 and s.ball[i].radius < INFINITY:
            w.margin[i] += SLACK * s.ball[i].radius
        w.ball[i].centre = place(X, s.ball[i].centre)
        w.ball[i].radius = s.ball[i].radius + w.margin[i]
        w.balls[i], w.balls[s.ns + i], w.balls[2 * s.ns + i] = w.ball[i].centre.x, w.ball[i].centre.y, w.ball[i].centre.z
        w.balls[3 * s.ns + i] = w.ball[i].radius
        w.placed[i] = 0

cdef inline const Frame* placed(const Scene* s, Workspace* w, const Robot* r, int i) noexcept nogil:
    """The pose of a shape in the world, made when it is first needed."""
    if not w.placed[i]:
        w.X_WS[i] = shape_frame(s, body_frame(r, s.body[i]), i)
        w.placed[i] = 1
    return &w.X_WS[i]

cdef inline bint above(const Scene* s, Workspace* w, const Robot* r, int plane, int b) noexcept nogil:
    """Whether the ball around shape b is clear of a half-space."""
    cdef const Frame* A = placed(s, w, r, plane)
    return dot(A.R.z, w.ball[b].centre - A.p) > w.ball[b].radius + w.margin[plane]

cdef inline bint apart(const Scene* s, Workspace* w, const Robot* r, int a, int b) noexcept nogil:
    """Whether the balls around two shapes do not say enough, but a half-space does: these cannot touch."""
    if s.shape[a].kind == HALF_SPACE:
        return above(s, w, r, a, b)
    return s.shape[b].kind == HALF_SPACE and above(s, w, r, b, a)

cdef inline bint never(const Scene* s, int a, int b) noexcept nogil:
    """Whether a pair that overlaps is excluded."""
    cdef int k
    for k in range(s.excluded_start[a], s.excluded_start[a + 1]):
        if s.excluded[k] == b:
            return True
    return False

cdef inline double reach_of_pair(const Scene* s, const Workspace* w, const Robot* r, int a, int b, double h,
                                double* drift) noexcept nogil:
    """How far two shapes may come towards each other in a step, by how fast they move against each other, in any frame. drift: over the radius of the smaller one."""
    cdef const Ball* small = &s.ball[a] if s.ball[a].radius < s.ball[b].radius else &s.ball[b]
    cdef Vec c = w.ball[a].centre if s.ball[a].radius < s.ball[b].radius else w.ball[b].centre
    cdef Vec v = vec(0.0, 0.0, 0.0)
    cdef Vec turning = v
    drift[0] = 0.0
    if not h > 0.0:
        return 0.0
    if s.body[b] > 0:
        v, turning = point_velocity(r, s.body[b], c), angular_velocity(r, s.body[b])
    if s.body[a] > 0:
        v, turning = v - point_velocity(r, s.body[a], c), turning - angular_velocity(r, s.body[a])
    drift[0] = h * (norm(v) / small.radius + norm(turning))
    return (drift[0] + SLACK) * small.radius

cdef inline void look_at(const Scene* s, Workspace* w, const Robot* r, int lane, int a, int b, double h, int* start) noexcept nogil:
    """The contact points of one pair, with what the last step knew of them."""
    cdef Contact found[MOST_CONTACTS]
    cdef Touch* t
    cdef int k
    cdef double drift
    cdef double reach = reach_of_pair(s, w, r, a, b, h, &drift)
    cdef int count = contact_points(&s.shape[a], placed(s, w, r, a), &s.shape[b], placed(s, w, r, b), reach, found)
    for k in range(count):
        if w.touches[lane] == s.most_touches:
            w.lost[lane] += count - k
            return
        t = &w.touch[lane * s.most_touches + w.touches[lane]]
        w.touches[lane] += 1
        t.a, t.b, t.c, t.reach, t.drift, t.gap = a, b, found[k], reach, drift, found[k].depth < 0.0
        remember(t, <double>a * s.ns + b, r.memory, r.stride, touches_in(r.memory, r.stride, s.most_touches), start)

cdef inline void look_at_listed(const Scene* s, Workspace* w, const Robot* r, int lane, double h, int* start) noexcept nogil:
    """Every pair of the list, in order of their first shapes and then their second. Most end at the balls around the shapes."""
    cdef uint64_t near
    cdef int a, b, k, first
    for a in range(s.ns):
        for k in range(a >> 6, s.words):
            near = s.partners[a * s.words + k]
            if near == 0:
                continue
            first = max(64 * k, (a + 1) & ~1)
            near &= near_balls(w.balls, s.ns, a, first, min(s.ns, 64 * (k + 1))) << (first - 64 * k)
            while near != 0:
                b = 64 * k + lowest_bit(near)
                near &= near - 1
                if not apart(s, w, r, a, b):
                    look_at(s, w, r, lane, a, b, h, start)

cdef inline void collect_touches(const Scene* s, Workspace* w, const Robot* r, int lane, double h) noexcept nogil:
    """Whatever may touch in a step h; with h = 0, what touches now."""
    cdef long long found = 0
    cdef int start = 0
    cdef int count, i, k
    w.touches[lane], w.lost[lane] = 0, 0
    move_balls(s, w, r, h)
    if s.words:
        look_at_listed(s, w, r, lane, h, &start)
        return
    for i in range(s.ns):
        shape_bounds(&s.shape[i], placed(s, w, r, i), w.margin[i], &w.bounds[i])
    count = overlapping_pairs(w.bounds, s.body, s.ns, w.order, w.pair, s.most_pairs, &found)
    w.lost[lane] += found - count
    for k in range(count):
        if not never(s, w.pair[k].a, w.pair[k].b):
            look_at(s, w, r, lane, w.pair[k].a, w.pair[k].b, h, &start)


cdef inline void note_nothing(const Robot* r, long long lost) noexcept nogil:
    """A step in which nothing was near."""
    r.memory[COUNT * r.stride], r.memory[KNOWN * r.stride], r.memory[ITERATIONS * r.stride] = 0.0, 1.0, 0.0
    r.memory[LOST * r.stride] += <double>lost


cdef inline int find_touches(const Scene* s, Workspace* w, const Robot* r, int lane, double h) noexcept nogil:
    """The same; how many points there are. Where there is none the state's memory says so."""
    collect_touches(s, w, r, lane, h)
    if w.touches[lane] == 0:
        note_nothing(r, w.lost[lane])
    return w.touches[lane]
