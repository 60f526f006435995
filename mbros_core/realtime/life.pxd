"""The life of one loop's thread (see life.hpp). Deadlines are CLOCK_MONOTONIC in nanoseconds; integers are 0 or an errno value."""
from libc.stdint cimport int64_t

cdef extern from "life.hpp" namespace "mbros_realtime" nogil:
    cdef cppclass Stack:
        const void* locked_part()
        size_t locked_bytes()

    cdef cppclass Life:
        Life(void (*give_back)(void*) noexcept nogil, void* of) except +
        int64_t process()
        int hold(int64_t deadline)
        void release()
        int launch(void* (*body)(void*) noexcept nogil, void* argument)
        int64_t generation()
        int64_t tell(int64_t* word)
        int join(int64_t generation, int64_t deadline)
        void begun()
        void ended()
        const Stack& stack()
