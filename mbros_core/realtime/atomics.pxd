"""Words shared by the loop's thread and the rest of the program (see atomics.hpp)."""
from libc.stdint cimport int64_t

cdef extern from "realtime/atomics.hpp" namespace "mbros_realtime" nogil:
    int64_t load(const int64_t* p)
    void store(int64_t* p, int64_t value)
    void bump(int64_t* p, int64_t by)
