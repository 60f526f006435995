"""Histogram of durations, written by one thread, readable by all (see histogram.hpp)."""
from libc.stdint cimport int64_t

cdef extern from "histogram.hpp" namespace "mbros_realtime" nogil:
    const int kBins
    struct Histogram:
        int64_t* counts
        int64_t count
        int64_t sum
        int64_t largest
    int bin_of(int64_t ns)
    int64_t bin_start(int bin)
    void add(Histogram* h, int64_t ns)
    void clear(Histogram* h)
