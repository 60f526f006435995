"""Saturation. NaN (not commanded) stays."""


cdef struct SaturateNumbers:
    double lower
    double upper


cdef inline bint saturate_pass(const SaturateNumbers* par, int n, double* x, bint fresh) noexcept nogil:
    cdef int i
    if fresh:
        for i in range(n):
            if x[i] < par.lower:
                x[i] = par.lower
            elif x[i] > par.upper:
                x[i] = par.upper
    return fresh
