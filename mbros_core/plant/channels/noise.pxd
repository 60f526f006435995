"""Noise: white of a standard deviation for each message, and a bias that walks by walk sqrt(t) in a time t. Each number of the signal has
draws and a bias of its own. Parameters: deviation, walk (per sqrt(s)), dt. mem: draws, step of the last message, then the biases.
"""
from libc.math cimport sqrt

from mbros_core.plant.stream cimport Stream, normal


cdef inline bint noise_pass(const double* par, double* mem, const Stream* s, double tick, int n, double* x, bint fresh) noexcept nogil:
    cdef int i
    if not fresh:
        return False
    for i in range(n):
        if par[1] > 0.0:
            mem[2 + i] += par[1] * sqrt((tick - mem[1]) * par[2]) * normal(s)
        x[i] += mem[2 + i]
        if par[0] > 0.0:
            x[i] += par[0] * normal(s)
    mem[1] = tick
    return True
