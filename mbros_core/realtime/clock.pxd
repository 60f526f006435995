"""Time for the loop: CLOCK_MONOTONIC in nanoseconds, sleeping until an absolute moment, and the grid of slots.

Slot k of a grid begins at ``start + round(k * period)``: the period may be any real number of nanoseconds and the
rounding never accumulates. All functions are plain C without the interpreter lock.
"""
from libc.math cimport floor, llround
from libc.stdint cimport int64_t

cdef extern from "<time.h>" nogil:
    ctypedef int clockid_t
    struct timespec:
        long tv_sec
        long tv_nsec
    int CLOCK_MONOTONIC
    int CLOCK_REALTIME
    int clock_gettime(clockid_t clock, timespec* now)

cdef extern from "thread.hpp" namespace "mbros_realtime" nogil:
    int sleep_until_timespec(const timespec* wake)

cdef enum:
    NS = 1000000000


cdef inline int64_t to_ns(timespec t) noexcept nogil:
    return <int64_t>t.tv_sec * NS + t.tv_nsec


cdef inline timespec to_timespec(int64_t ns) noexcept nogil:
    """Split into seconds and 0 <= tv_nsec < 1e9, as clock_nanosleep insists on (ns >= 0)."""
    cdef timespec t
    t.tv_sec = ns // NS
    t.tv_nsec = ns - <int64_t>t.tv_sec * NS
    return t


cdef inline int64_t monotonic_ns() noexcept nogil:
    cdef timespec t
    clock_gettime(CLOCK_MONOTONIC, &t)
    return to_ns(t)


cdef inline int64_t realtime_ns() noexcept nogil:
    cdef timespec t
    clock_gettime(CLOCK_REALTIME, &t)
    return to_ns(t)


cdef inline int64_t wall_offset_ns() noexcept nogil:
    """CLOCK_REALTIME - CLOCK_MONOTONIC, good to a microsecond: of a thread that was put aside between two readings, the closest of four."""
    cdef int64_t before, wall, after, offset = 0, closest = NS
    cdef int k
    for k in range(4):
        before = monotonic_ns()
        wall = realtime_ns()
        after = monotonic_ns()
        if after - before < closest:
            closest = after - before
            offset = wall - after
        if closest < 2000:
            break
    return offset


cdef inline void sleep_until(int64_t ns) noexcept nogil:
    """Sleep until CLOCK_MONOTONIC reads ns; at once when that has passed. Signals do not shorten the sleep."""
    cdef timespec wake = to_timespec(ns)
    sleep_until_timespec(&wake)


cdef inline int64_t slot_start(int64_t start, double period, int64_t slot) noexcept nogil:
    return start + llround(slot * period)


cdef inline int64_t slot_at(int64_t start, double period, int64_t now) noexcept nogil:
    """Number of the slot that contains `now`: the largest k with slot_start(k) <= now."""
    cdef int64_t k = <int64_t>floor((now - start) / period)
    while slot_start(start, period, k + 1) <= now:
        k += 1
    while slot_start(start, period, k) > now:
        k -= 1
    return k
