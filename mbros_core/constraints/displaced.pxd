"""One robot's numbers out of lanes, as they are or a little further along a derivative, for derivatives of a step (slopes.pxd).

What is in the lanes of dual numbers: the value in the first, and in each of the others the derivative in one direction. A Robot over the
first is the robot; one over another lane holds derivatives of all its numbers.
"""
from libc.math cimport fabs

from mbros_core.constraints.contact cimport CONTACT_COLUMNS
from mbros_core.constraints.robot cimport HELD_COLUMNS, Robot
from mbros_core.constraints.scene cimport Scene, Slopes, Workspace
from mbros_core.constraints.touch cimport TOUCH_COLUMNS, touches_in

cdef extern from *:
    """
    static const double MBROS_DISPLACEMENT = 2e-6;
    """
    const double DISPLACEMENT "MBROS_DISPLACEMENT"      # m or rad, or of a number over itself


cdef inline int columns_of(const Scene* s) noexcept nogil:
    """Of H_FM, of all joints."""
    cdef int last = s.tree.nb - 1
    return s.tree.column[last] + s.tree.dofs[last]


cdef inline Py_ssize_t robot_doubles(const Scene* s) noexcept nogil:
    """Room for one robot."""
    return (30 * s.tree.nb + 6 * columns_of(s) + 3 * s.tree.nv + s.tree.nq + CONTACT_COLUMNS * s.ns + HELD_COLUMNS * s.nk
            + TOUCH_COLUMNS * (1 + s.most_touches + s.nk + s.nsprings))


cdef inline Robot robot_over(const Scene* s, double* room) noexcept nogil:
    """A robot whose numbers lie in `room`, side by side."""
    cdef Robot r
    r.stride, r.later, r.sag = 1, 0.0, 0.0
    r.M = r.given = NULL
    r.X_WB, r.V_WB, r.A_WB = room, room + 12 * s.tree.nb, room + 18 * s.tree.nb
    r.Ab_WB, r.S = room + 24 * s.tree.nb, room + 30 * s.tree.nb
    r.lock = r.S + 6 * columns_of(s)
    r.v_start = r.lock + s.tree.nv
    r.a = <double*>r.v_start + s.tree.nv
    r.numbers = r.a + s.tree.nv
    r.q = r.numbers + CONTACT_COLUMNS * s.ns
    r.held = r.q + s.tree.nq
    r.memory = <double*>r.held + HELD_COLUMNS * s.nk
    return r


cdef inline void gather(const double* to, const double* x, int stride, Py_ssize_t n) noexcept nogil:
    """n numbers, `stride` apart, into room of a robot."""
    cdef Py_ssize_t k
    for k in range(n):
        (<double*>to)[k] = x[k * stride]


cdef inline void keep_robot(const Scene* s, Workspace* w, const Robot* r) noexcept nogil:
    """The robot as it is into w.slopes.still, but for M and A_WB: with a memory of its own, which steps may write."""
    cdef const Robot* to = &w.slopes.still
    cdef int n = r.stride
    gather(to.X_WB, r.X_WB, n, 12 * s.tree.nb)
    gather(to.V_WB, r.V_WB, n, 6 * s.tree.nb)
    gather(to.Ab_WB, r.Ab_WB, n, 6 * s.tree.nb)
    gather(to.S, r.S, n, 6 * columns_of(s))
    gather(to.lock, r.lock, n, s.tree.nv)
    gather(to.v_start, r.v_start, n, s.tree.nv)
    gather(to.a, r.a, n, s.tree.nv)
    gather(to.numbers, r.numbers, n, CONTACT_COLUMNS * s.ns)
    gather(to.q, r.q, n, s.tree.nq)
    gather(to.held, r.held, n, HELD_COLUMNS * s.nk)
    w.slopes.still.given = w.slopes.ahead.given = w.slopes.behind.given = w.given
    gather(to.memory, r.memory, n, TOUCH_COLUMNS * (<Py_ssize_t>touches_in(r.memory, n, s.most_touches) + 1))


cdef inline double largest(const double* x, int stride, Py_ssize_t n) noexcept nogil:
    cdef double most = 0.0
    cdef Py_ssize_t k
    for k in range(n):
        most = max(most, fabs(x[k * stride]))
    return most


cdef inline double size_of_motion(const Scene* s, Workspace* w, const Robot* d) noexcept nogil:
    """How far a derivative takes the bodies: the largest change of a pose, and of what velocities gain until the end of the step; and which
    bodies it moves."""
    cdef double most = 0.0
    cdef double size
    cdef int i
    for i in range(s.tree.nb):
        size = max(largest(d.X_WB + 12 * i * d.stride, d.stride, 12), d.later * max(largest(d.V_WB + 6 * i * d.stride, d.stride, 6),
                                                                                    largest(d.A_WB + 6 * i * d.stride, d.stride, 6)))
        w.slopes.moved[i] = size > 0.0 or (i > 0 and w.slopes.moved[s.tree.parent[i]])
        most = max(most, size)
    return most


cdef inline bint any_new(const Workspace* w) noexcept nogil:
    """Whether a touch was not there in the last step: v* bounds its friction."""
    cdef int k
    for k in range(w.touches[0]):
        if w.touch[k].before < 0.0:
            return True
    return False


cdef inline double size_of_numbers(const Scene* s, const Workspace* w, const Robot* d) noexcept nogil:
    """How far it takes the numbers of the shapes and the inertias, each over itself, and v* where that matters."""
    cdef const Robot* r = &w.slopes.still
    cdef double most = 0.0
    cdef double x
    cdef Py_ssize_t k
    for k in range(CONTACT_COLUMNS * s.ns):
        x = fabs(d.numbers[k * d.stride])
        most = max(most, x / fabs(r.numbers[k]) if r.numbers[k] != 0.0 else x)
    for k in range(s.tree.nv):
        most = max(most, fabs(d.M[k * (s.tree.nv + 1) * d.stride]) / r.M[k * (s.tree.nv + 1)])
    return max(most, largest(w.slopes.dv, 1, s.tree.nv)) if any_new(w) else most


cdef inline void step_both_ways(const double* ahead, const double* behind, const double* x, const double* d, int stride, double e,
                                Py_ssize_t n) noexcept nogil:
    """x + e d and x - e d."""
    cdef double change
    cdef Py_ssize_t k
    for k in range(n):
        change = e * d[k * stride]
        (<double*>ahead)[k] = x[k] + change
        (<double*>behind)[k] = x[k] - change


cdef inline void move_bodies(const Scene* s, Slopes* x, const Robot* d, double e) noexcept nogil:
    """Poses, columns, V_WB and A_WB at e along d and against it. To first order: what a pose then lacks of a rotation is even in e."""
    step_both_ways(x.ahead.X_WB, x.behind.X_WB, x.still.X_WB, d.X_WB, d.stride, e, 12 * s.tree.nb)
    step_both_ways(x.ahead.V_WB, x.behind.V_WB, x.still.V_WB, d.V_WB, d.stride, e, 6 * s.tree.nb)
    step_both_ways(x.ahead.A_WB, x.behind.A_WB, x.still.A_WB, d.A_WB, d.stride, e, 6 * s.tree.nb)
    step_both_ways(x.ahead.S, x.behind.S, x.still.S, d.S, d.stride, e, 6 * columns_of(s))
    x.ahead.later = x.behind.later = x.still.later


cdef inline double move_held(const Scene* s, Workspace* w, const Robot* d, double later) noexcept nogil:
    """What constraints see, ahead and behind: bodies, coordinates and the constraints' own numbers; how far. later: how long velocities
    act on their way, s."""
    cdef Slopes* x = &w.slopes
    cdef double fast = max(largest(d.V_WB, d.stride, 6 * s.tree.nb), later * largest(d.Ab_WB, d.stride, 6 * s.tree.nb))
    cdef double size = max(largest(d.X_WB, d.stride, 12 * s.tree.nb), later * fast)
    cdef double e
    size = max(size, max(largest(d.q, d.stride, s.tree.nq), largest(d.held, d.stride, HELD_COLUMNS * s.nk)))
    if not size > 0.0:
        return 0.0
    e = DISPLACEMENT / size
    move_bodies(s, x, d, e)
    step_both_ways(x.ahead.Ab_WB, x.behind.Ab_WB, x.still.Ab_WB, d.Ab_WB, d.stride, e, 6 * s.tree.nb)
    step_both_ways(x.ahead.q, x.behind.q, x.still.q, d.q, d.stride, e, s.tree.nq)
    step_both_ways(x.ahead.held, x.behind.held, x.still.held, d.held, d.stride, e, HELD_COLUMNS * s.nk)
    x.ahead.sag = x.behind.sag = x.still.sag
    return e
