"""Time is counted, not summed: time = origin + steps h.

Summing a step of 1 ms a million times misses 1000 s by 17 ns. A state therefore carries where its count began and the exact number of
steps since (fields.py, `clock`), and copies of it go on with the same times to the bit. Whoever writes `time`, or goes on with another
step, begins a new count there: nothing else has to know.
"""
from mbros_core.engine.state cimport Work

cdef extern from *:
    """
    // Rounded after the product and after the sum on every machine: builds with fused multiply-add would give other last bits.
    static inline double mbros_counted_time(double origin, double steps, double h) {
        double since = steps * h;
    #if defined(__x86_64__)
        __asm__("" : "+x"(since));
    #elif defined(__aarch64__)
        __asm__("" : "+w"(since));
    #else
        volatile double kept = since;
        since = kept;
    #endif
        return origin + since;
    }
    """
    double counted_time "mbros_counted_time"(double origin, double steps, double h) noexcept nogil


cdef inline void tick(Work* s, double h) noexcept nogil:
    """One more step of h. Of one robot: only where `real` is a double."""
    cdef double* time = <double*>s.time
    cdef double* clock = <double*>s.clock
    if time[0] != counted_time(clock[0], clock[1], h):
        clock[0], clock[1] = time[0], 0.0
    clock[1] += 1.0
    time[0] = counted_time(clock[0], clock[1], h)
