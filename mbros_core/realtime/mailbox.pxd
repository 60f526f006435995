"""Latest-value exchange between two threads (see mailbox.hpp)."""
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libcpp cimport bool as cbool

cdef extern from "realtime/mailbox.hpp" namespace "mbros_realtime" nogil:
    struct Letter:
        uint64_t number
        uint64_t step
        double time
        int64_t wall_ns
        int64_t command_age_ns
        uint32_t flags
        uint32_t parameters

    cdef cppclass Mailbox:
        Mailbox(int size) except +
        Letter* header()
        double* values()
        uint64_t post()
        uint64_t posted()
        cbool take()
        const Letter* taken()
        const double* taken_values()
        int size()
        const void* memory()
        size_t bytes()
