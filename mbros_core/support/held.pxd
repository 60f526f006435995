"""Who works on a piece of memory now (see held.hpp)."""
from libc.stdint cimport int64_t
from libcpp cimport bool as cbool

cdef extern from "support/held.hpp" namespace "mbros_core" nogil:
    int64_t by_a_loop()
    int64_t by_a_call()
    cbool seize(int64_t* word, int64_t who)
    void let_go(int64_t* word)
    int64_t is_held(const int64_t* word)
    int64_t holder(const int64_t* word)
    ctypedef struct Question:
        pass
    void work_on(const void* memory)
    void asked(Question* q)
    void answered(const Question* q)
    cbool waits(const void* memory)
