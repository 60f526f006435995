"""When a fault acts: from a step to another one, while a condition on a signal holds, or by hand.

Step k goes from (k - 1) h to k h. A fault `at` t acts in the steps that begin at t or later, one `until` t in those that begin before t.
A condition looks at what came through the channels of its signal before the step. A fault that has ended because its time was over, or
by hand, begins again when its trigger has let go in between; NaN is never larger or smaller than anything.
"""
from mbros_core.plant.faults.fault cimport (ACTIVE, ASKED, AT, BEGUN, BY_HAND, CONDITION, ENDED, HELD, LASTING, SINCE, SPENT, STREAK, THRESHOLD,
                                        UNTIL)


cdef inline bint holds(const double* par, double x) noexcept nogil:
    cdef int kind = <int>par[CONDITION]
    if kind > 4:
        kind -= 4
        x = -x if x < 0.0 else x
    if kind == 1:
        return x < par[THRESHOLD]
    if kind == 2:
        return x <= par[THRESHOLD]
    return x > par[THRESHOLD] if kind == 3 else x >= par[THRESHOLD]


cdef inline bint triggered(const double* par, double* mem, const double* x, double tick) noexcept nogil:
    """x: the number that the condition looks at, or NULL."""
    if par[CONDITION] > 8.0:
        return False
    if x != NULL:
        mem[STREAK] = mem[STREAK] + 1.0 if holds(par, x[0]) else 0.0
        if mem[STREAK] < par[HELD]:
            return False
    return par[AT] <= tick < par[UNTIL]


cdef inline void begin(double* mem, double tick, double by_hand) noexcept nogil:
    if mem[ACTIVE] == 0.0:
        mem[ACTIVE], mem[SINCE] = 1.0, tick
        mem[BEGUN] += 1.0
    mem[BY_HAND] = by_hand


cdef inline void end(double* mem, double tick, bint trigger) noexcept nogil:
    if mem[ACTIVE] != 0.0:
        mem[ACTIVE], mem[ENDED] = 0.0, tick
    mem[SPENT] = 1.0 if trigger else 0.0


cdef inline void watch_one(const double* par, double* mem, const double* x, double tick) noexcept nogil:
    """Whether the fault acts in step `tick`."""
    cdef bint trigger = triggered(par, mem, x, tick)
    cdef double asked = mem[ASKED]
    mem[ASKED] = 0.0
    if asked > 0.0:
        begin(mem, tick, 1.0)
    elif asked < 0.0:
        end(mem, tick, trigger)
    elif mem[ACTIVE] != 0.0:
        if tick - mem[SINCE] >= par[LASTING] or (mem[BY_HAND] == 0.0 and (tick >= par[UNTIL] or (par[LASTING] > 1e15 and not trigger))):
            end(mem, tick, trigger)
    if not trigger:
        mem[SPENT] = 0.0
    elif mem[ACTIVE] == 0.0 and mem[SPENT] == 0.0:
        begin(mem, tick, 0.0)
