"""Ranges of locked pages (see page_locks.hpp)."""
cdef extern from "page_locks.hpp" namespace "mbros_realtime" nogil:
    cdef cppclass Ranges:
        pass
