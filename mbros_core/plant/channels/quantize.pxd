"""Quantisation: the nearest whole number of steps, halves upwards. NaN (not commanded) stays."""
from libc.math cimport floor


cdef struct QuantizeNumbers:
    double quantum


cdef inline bint quantize_pass(const QuantizeNumbers* par, int n, double* x, bint fresh) noexcept nogil:
    cdef int i
    if fresh:
        for i in range(n):
            x[i] = floor(x[i] / par.quantum + 0.5) * par.quantum
    return fresh
