"""Who sleeps until somebody rings (see bell.hpp)."""
from libc.stdint cimport int64_t, uint32_t

cdef extern from "realtime/bell.hpp" namespace "mbros_realtime" nogil:
    uint32_t rings(const uint32_t* bell)
    void ring(uint32_t* bell)
    void listen(const uint32_t* bell, uint32_t before, int64_t until)
    void listen_for_answer(const uint32_t* bell, uint32_t before, int64_t until)
    void count_listener(int64_t* listeners, int64_t by)
    bint somebody_listens(const int64_t* listeners)
