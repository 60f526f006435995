"""Quantisation: the nearest whole number of steps, halves upwards. Parameter: quantum. NaN (not commanded) stays."""
from libc.math cimport floor


cdef inline bint quantize_pass(const double* par, int n, double* x, bint fresh) noexcept nogil:
    cdef int i
    if fresh:
        for i in range(n):
            x[i] = floor(x[i] / par[0] + 0.5) * par[0]
    return fresh
