"""Effort as commanded, at once or with a lag of first order, within a limit and a torque-speed curve of several points.

    T dy/dt = command - y                       as of effort.pxd
    |effort| <= effort_limit,  and in the direction of motion  <= E(|v|)

E is straight between its points (speed, effort), whose speeds ascend from 0 and whose efforts do not rise. A curve that ends with 0 goes on as
its last segment, beyond the no-load speed a brake, as the line does. One that ends above 0 falls to 0 within DROP of its last speed, and
stays there.

On the curve the effort falls with the velocity u (along the side) at the end of the step. u = u0 + b effort with b >= 0, and E does not rise, so
that they meet once, in one cell of the curve: a segment, the drop, or what is beyond. The pass without the curve gives one point of that
line, the pass in the cell that was met there another: with them b is known, and the third pass is in the right cell. Where other actuators
change their modes meanwhile b may come out as nothing; the next cell is then the one at u (Newton's). A mode in which it does more than
without the curve is let go of.

Parameters: effort_limit, time_constant, points (speed, effort), zeros behind them. mem: mode (side times 1 + cell), nothing, y, last command,
u and effort of the pass before.
"""
from libc.math cimport fabs

from mbros_core.plant.actuators.actuator cimport ROUNDED, Effect, End, Given, within
from mbros_core.plant.actuators.effort cimport effort_commit, lagged

cdef enum:
    MOST_POINTS = 8         # mbros_core.plant.actuators.registry
    POINTS = 2              # where they begin

cdef extern from *:
    """
    static const double MBROS_DROP = 1e-3;
    """
    const double DROP "MBROS_DROP"              # of the last speed


cdef struct Segment:        # from `effort` at the speed `start` to `end` at start + span; of a line, all of it
    double start
    double span
    double effort
    double end


cdef inline double effort_on(const Segment* s, double u) noexcept nogil:
    """On it, or on what it is a part of, at the speed u; rounded as on a line, as the next is."""
    return (s.effort - s.end) * (1.0 - (u - s.start) / s.span) + s.end


cdef inline void stay_on(const Segment* s, double side, const Given* g, Effect* out) noexcept nogil:
    """The effort on it at the velocity of the end of the step, driving upwards (side 1) or downwards (-1)."""
    cdef double slope = (s.effort - s.end) / s.span
    out.tau = side * (s.effort + slope * s.start) - slope * g.v
    out.inertia = g.h * slope


cdef inline int count_points(const double* points) noexcept nogil:
    cdef int n = 1
    while n < MOST_POINTS and points[2 * n] > points[2 * n - 2]:
        n += 1
    return n


cdef inline int last_cell(const double* points, int n) noexcept nogil:
    return n if points[2 * n - 1] > 0.0 else n - 2


cdef inline Segment cell(const double* points, int n, int k) noexcept nogil:
    cdef Segment s
    cdef double end = points[2 * n - 2]
    if k < n - 1:
        s.start, s.effort, s.span, s.end = points[2 * k], points[2 * k + 1], points[2 * k + 2] - points[2 * k], points[2 * k + 3]
    elif k == n - 1:
        s.start, s.effort, s.span, s.end = end, points[2 * n - 1], DROP * end, 0.0
    else:
        s.start, s.effort, s.span, s.end = end + DROP * end, 0.0, end, 0.0
    return s


cdef inline int meeting(const double* points, int n, double u, double effort, double b) noexcept nogil:
    """The cell in which  u + b (x - effort)  has the effort x = E."""
    cdef int k = 0, last = last_cell(points, n)
    cdef Segment beyond
    while k < last:
        beyond = cell(points, n, k + 1)
        if not u + b * (beyond.effort - effort) > beyond.start:
            return k
        k += 1
    return k


cdef inline bint in_cell(const double* points, int n, int k, double u, double slack) noexcept nogil:
    cdef Segment s = cell(points, n, k)
    return (k == 0 or u >= s.start - slack) and (k == last_cell(points, n) or u <= s.start + s.span + slack)


cdef inline double curve_at(const double* points, int n, double u) noexcept nogil:
    cdef Segment s = cell(points, n, meeting(points, n, u, 0.0, 0.0))
    return effort_on(&s, u)


cdef inline void curve_effect(const double* par, const double* mem, const Given* g, Effect* out) noexcept nogil:
    cdef Segment s
    if mem[0] == 0.0:
        out.inertia = 0.0
        out.tau = within(lagged(par, mem, g), -par[0], par[0])
        return
    s = cell(par + POINTS, count_points(par + POINTS), <int>fabs(mem[0]) - 1)
    stay_on(&s, 1.0 if mem[0] > 0.0 else -1.0, g, out)


cdef inline bint curve_judge(const double* par, double* mem, const Given* g, const End* e) noexcept nogil:
    cdef const double* points = par + POINTS
    cdef int n = count_points(points), now = <int>fabs(mem[0]) - 1, at = -1
    cdef double side = 1.0 if (e.effective if now < 0 else mem[0]) > 0.0 else -1.0
    cdef double u = side * e.v, effort = side * e.effective, over = mem[4] - u, less = effort - mem[5]
    cdef double free = side * within(lagged(par, mem, g), -par[0], par[0])
    mem[4], mem[5] = u, effort
    if now < 0:
        if u < 0.0 or effort <= curve_at(points, n, u):
            return False
        at = meeting(points, n, u, effort, 0.0)
    elif not g.releases or effort <= free + ROUNDED * points[1]:
        if in_cell(points, n, now, u, ROUNDED * (fabs(u) + fabs(g.v))):
            return False
        at = meeting(points, n, u, effort, -over / less if over > 0.0 and less < 0.0 else 0.0)
        if at == now:
            return False
    mem[0] = side * (1 + at)
    return True


cdef inline void curve_commit(const double* par, double* mem, const Given* g, const End* e, double* signal) noexcept nogil:
    effort_commit(par, mem, g, e, signal)
