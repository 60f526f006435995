"""Saturation. Parameters: lower, upper. NaN (not commanded) stays."""


cdef inline bint saturate_pass(const double* par, int n, double* x, bint fresh) noexcept nogil:
    cdef int i
    if fresh:
        for i in range(n):
            if x[i] < par[0]:
                x[i] = par[0]
            elif x[i] > par[1]:
                x[i] = par[1]
    return fresh
