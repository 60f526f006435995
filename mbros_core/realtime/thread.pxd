"""What the loop asks of the operating system (see thread.hpp). Returned integers are 0 or an errno value."""
from libc.stdint cimport int64_t

cdef extern from "<pthread.h>" nogil:
    ctypedef struct pthread_t:
        pass
    int pthread_join(pthread_t thread, void** result)

cdef extern from "thread.hpp" namespace "mbros_realtime" nogil:
    struct AllocationCounter:
        int opened
    int start_thread(pthread_t* thread, void* (*body)(void*) noexcept nogil, void* argument)
    void name_thread(const char* name)
    int use_fifo(int priority)
    int use_ordinary()
    int pin_to_cpu(int cpu)
    void want_sharp_timers()
    void touch_stack()
    int page_faults(int64_t* minor, int64_t* major)
    int open_counter(AllocationCounter* counter)
    void close_counter(AllocationCounter* counter)
    int64_t read_counter(const AllocationCounter* counter)
