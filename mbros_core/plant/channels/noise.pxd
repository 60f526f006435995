"""Noise: white of a standard deviation for each message, and a bias that walks by walk sqrt(t) in a time t. Each number of the signal has
draws and a bias of its own.
"""
from libc.math cimport sqrt

from mbros_core.plant.channels.channel cimport WIDEST
from mbros_core.plant.stream cimport Stream, normal


cdef struct NoiseNumbers:
    double noise                 # standard deviation
    double walk                  # per sqrt(s)
    double dt                    # s

cdef struct NoiseMemory:
    double draws
    double step                  # of the last message
    double bias[WIDEST]          # of the signal's numbers


cdef inline bint noise_pass(const NoiseNumbers* par, NoiseMemory* mem, const Stream* s, double tick, int n, double* x,
                            bint fresh) noexcept nogil:
    cdef int i
    if not fresh:
        return False
    for i in range(n):
        if par.walk > 0.0:
            mem.bias[i] += par.walk * sqrt((tick - mem.step) * par.dt) * normal(s)
        x[i] += mem.bias[i]
        if par.noise > 0.0:
            x[i] += par.noise * normal(s)
    mem.step = tick
    return True
