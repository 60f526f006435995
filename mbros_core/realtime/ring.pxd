"""Queue of records from the loop to a reader (see ring.hpp)."""
from libc.stdint cimport int64_t
from libcpp cimport bool as cbool

from mbros_core.realtime.mailbox cimport Letter

cdef extern from "ring.hpp" namespace "mbros_realtime" nogil:
    cdef cppclass Ring:
        Ring(int size, int64_t capacity) except +
        cbool claim()
        Letter* header()
        double* values()
        void commit()
        int64_t waiting()
        const Letter* oldest()
        const double* oldest_values()
        void release()
        int64_t dropped()
        int64_t capacity()
        int size()
        const void* memory()
        size_t bytes()
