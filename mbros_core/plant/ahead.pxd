"""Draws found ahead: of the streams that draw in every step, those of channels, the next ones together (ahead.hpp).

A draw is a function of its key and number, so which of them were found beforehand is no state: nothing of it is in the block, and what was
found for another number is not used.
"""
from libc.stdint cimport uint64_t

from mbros_core.plant.stream cimport unit

cdef extern from "plant/ahead.hpp" namespace "mbros_ahead" nogil:
    const int ABREAST
    ctypedef struct Group:
        uint64_t key[2][8]
        uint64_t k[2][8]
        uint64_t x[4][8]
    ctypedef void (*Blocks)(Group* g) noexcept nogil
    Blocks widest()

cdef enum:
    FEW = 3                 # as many are found as fast one by one

cdef struct Ahead:
    Group group
    const double* drawn[8]  # of each stream
    double next[8][3]       # Stream.ahead


cdef inline void look_ahead(Ahead* all_of_them, int n, Blocks blocks) noexcept nogil:
    """Of n groups."""
    cdef Ahead* a
    cdef uint64_t k
    cdef int i, j, stale
    for j in range(n):
        a = &all_of_them[j]
        stale = 0
        for i in range(ABREAST):
            stale += a.next[i][0] != a.drawn[i][0]
        if stale < FEW:
            continue
        for i in range(ABREAST):
            k = <uint64_t>a.drawn[i][0]
            a.group.k[0][i], a.group.k[1][i] = k & <uint64_t>0xFFFFFFFF, k >> 32
        blocks(&a.group)
        for i in range(ABREAST):
            a.next[i][0] = a.drawn[i][0]
            a.next[i][1] = unit(a.group.x[0][i], a.group.x[1][i])
            a.next[i][2] = unit(a.group.x[2][i], a.group.x[3][i])
