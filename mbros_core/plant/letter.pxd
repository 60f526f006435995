"""A letter of numbers to the thread that steps (letter.hpp)."""
from libc.stdint cimport int64_t


cdef extern from "plant/letter.hpp" namespace "mbros_letter" nogil:
    bint take(int64_t* word)
    void begin(int64_t* word)
    void done(int64_t* word)
    void send(int64_t* word)
