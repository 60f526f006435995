"""Contacts that a step found and solved, and what its constraints carried, as a state carries them to the next one.

The memory is rows of TOUCH_COLUMNS doubles; the first row is its head. What the next step takes from it is the normal impulse, which
bounds friction there, and whether the point stuck; contact points are recognised by their shapes and the features that made them. The rest
is what people ask for: where, how deep, with what force.
"""
from mbros_core.geometry.shape cimport Contact
from mbros_core.geometry.vec cimport Vec, vec

cdef enum:
    TOUCH_COLUMNS = 21

cdef enum:
    COUNT_OF_HEAD = 6

cdef enum:                       # the head: of the first row
    COUNT = 0                    # rows in use after it
    LOST = 1                     # contact points for which there was no room, in all steps
    ITERATIONS = 2               # of the last step
    UNSOLVED = 3                 # steps that ended at the bound on iterations
    KNOWN = 4                    # 1: a step wrote this
    STAMP = 5                    # of the q and v that it led to

cdef enum:                       # of every other row
    PAIR = 0                     # a ns + b
    FEATURE = 1
    IMPULSE = 2                  # along the normal, N s
    STUCK = 3                    # whether it slipped: SLIPS and so on
    POINT = 4                    # 3 columns each, in W
    NORMAL = 7                   # from a to b
    FORCE = 10                   # on b, N
    SLIP = 13                    # velocity of b's point against a's across the normal, m/s
    DEPTH = 16
    LAW = 17                     # k, N/m
    TORQUE = 18                  # on b about the point, of torsion and rolling, N m

cdef enum:
    SLIPS = 0
    STICKS = 1
    BEGINS_TO_STICK = 2          # it slipped in the step before

cdef enum:                       # of the rows of constraints, one for each, after the most that contacts may have, and of stiff force
                                 # elements, after those
    WRENCH = 0                   # on the body of frame B about Bo: torque, then force, in W; of an element on C about Co, in A
    EFFORT = 6                   # of each row of its Jacobian, N or N m; of an element: the share that was implicit, 0: all is as it was

cdef struct Touch:
    int a                        # shapes, a < b
    int b
    Contact c                    # n from a to b
    double reach                 # within which it was looked for, m, and of it what the shapes do in a step, over a radius
    double drift
    int gap                      # whether the shapes are apart
    double before                # normal impulse of the last step, N s; -1: it was not there
    int stuck                    # in the last step: SLIPS and so on
    int followed                 # whether it is known where it goes
    Vec force                    # that of the last step on b, and its torque of torsion and rolling
    Vec torque
    int goes_on                  # whether friction goes on from that force
    double stiffer               # 1, or by how much its weight across the normal is (sticking.pxd): then the force is one of this step,
    Vec last                     # and this is that of the last one
    Vec moved                    # how far the point goes until the end of the step, and by how much the normal turns (follow.pxd)
    Vec turned


cdef inline double feature_number(long long feature) noexcept nogil:
    """A feature as a double holds it exactly."""
    return <double>(feature & ((<long long>1 << 52) - 1))

cdef inline Vec recorded(const double* row, int column, int stride) noexcept nogil:
    return vec(row[column * stride], row[(column + 1) * stride], row[(column + 2) * stride])

cdef inline void record(double* row, int column, int stride, Vec x) noexcept nogil:
    row[column * stride], row[(column + 1) * stride], row[(column + 2) * stride] = x.x, x.y, x.z


cdef inline int touches_in(const double* memory, int stride, int most) noexcept nogil:
    """How many contact points a memory tells of: from 0 to `most`, for which it has room, whatever is written there."""
    cdef double count = memory[COUNT * stride]
    return <int>min(count, <double>most) if count >= 1.0 else 0

cdef inline bint shapes_of(const double* row, int stride, int ns, int* a, int* b) noexcept nogil:
    """The two shapes of a contact point; or False, where what is written there is no pair of ns shapes."""
    cdef double pair = row[PAIR * stride]
    if not 0.0 <= pair < <double>ns * ns:
        return False
    a[0], b[0] = <int>(<long long>pair // ns), <int>(<long long>pair % ns)
    return True


cdef inline void remember(Touch* t, double pair, const double* memory, int stride, int count, int* start) noexcept nogil:
    """What this point did in the last step, among `count`. start: where to look first, since points come
    in the order of last time."""
    cdef double feature = feature_number(t.c.feature)
    cdef const double* row
    cdef int tried
    cdef int k = start[0]
    t.before, t.stuck, t.followed, t.goes_on, t.stiffer = -1.0, SLIPS, 0, 0, 1.0
    t.force = t.torque = t.last = vec(0.0, 0.0, 0.0)
    for tried in range(count):
        if k >= count:
            k = 0
        row = memory + (k + 1) * TOUCH_COLUMNS * stride
        k += 1
        if row[PAIR * stride] == pair and row[FEATURE * stride] == feature:
            t.before, t.stuck = row[IMPULSE * stride], <int>row[STUCK * stride]
            t.force, t.torque, t.goes_on = recorded(row, FORCE, stride), recorded(row, TORQUE, stride), t.before >= 0.0
            start[0] = k
            return


cdef inline void slacken(Touch* t) noexcept nogil:
    """Friction as the last step left it."""
    if t.stiffer != 1.0:
        t.force, t.goes_on, t.stiffer = t.last, t.before >= 0.0, 1.0
