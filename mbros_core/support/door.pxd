"""The door of a long native call: every few milliseconds of work it is opened, and whoever waits for the interpreter comes in.

Work without the interpreter lock keeps Ctrl-C out for as long as it lasts. So it counts its pieces (steps, groups of robots), reads
the clock after as many as take about a millisecond, and every 20 ms takes the lock for a moment: signal handlers run, a
progress callback is called, and what they raise ends the call between two pieces, with everything whole.

    with nogil:
        for k in range(n):
            work()
            if knock(&door):
                with gil:
                    let_in(&door, progress, time)
"""
from libc.stdint cimport INT64_MAX, int64_t
from posix.time cimport CLOCK_MONOTONIC, clock_gettime, timespec

cdef extern from "Python.h":
    int PyErr_CheckSignals() except -1

# a wish to end that comes from another thread
cdef extern from "realtime/atomics.hpp" namespace "mbros_realtime" nogil:
    int64_t load(const int64_t* p)
    void store(int64_t* p, int64_t value)

cdef enum:
    LOOK_NS = 1000000       # of work between two looks at the clock
    OPEN_NS = 20000000

cdef struct Door:
    int64_t left            # pieces until the clock is read
    int64_t stride          # pieces between the last two looks
    int64_t looked_ns
    int64_t opens_ns        # 0: nobody has looked yet


cdef inline int64_t now_ns() noexcept nogil:
    cdef timespec t
    clock_gettime(CLOCK_MONOTONIC, &t)
    return <int64_t>t.tv_sec * 1000000000 + t.tv_nsec


cdef inline void approach(Door* d) noexcept nogil:
    """A call begins, perhaps in another thread than the last one: whoever hears signals there may come in again."""
    if d.opens_ns == INT64_MAX:
        d.opens_ns = 0


cdef inline bint look(Door* d) noexcept nogil:
    """Read the clock, choose when to read it again; whether the door is to be opened."""
    cdef int64_t now = now_ns(), took = now - d.looked_ns
    cdef int64_t most = 2 * d.stride + 1
    d.stride = d.stride * LOOK_NS // (took if took > 0 else 1)
    d.stride = max(1, min(d.stride, most))              # work that becomes slow is noticed soon
    d.left = d.stride
    d.looked_ns = now
    if d.opens_ns == 0:
        d.opens_ns = now + OPEN_NS
    return now >= d.opens_ns


cdef inline bint knock(Door* d) noexcept nogil:
    """One piece of work is done. Whether to open the door."""
    d.left -= 1
    return d.left <= 0 and look(d)


cdef inline int let_in(Door* d, object progress, double time) except -1:
    """Signal handlers, which run in the main thread only, and progress(time); what they raise comes from here."""
    from threading import current_thread, main_thread

    PyErr_CheckSignals()
    if progress is not None:
        progress(time)
    d.opens_ns = INT64_MAX if progress is None and current_thread() is not main_thread() else now_ns() + OPEN_NS
    return 0
