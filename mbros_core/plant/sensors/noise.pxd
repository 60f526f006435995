"""What the readings of inertial and force sensors have beside the truth, with the parameters of an Allan deviation plot (IEEE 952).

    white noise of density N           standard deviation N / sqrt(period);       Allan deviation N / sqrt(T)
    bias instability B                 a bias b' = -b / Tc + noise whose Allan deviation, largest at T = 1.89 Tc, is 0.664 B there
    random walk K                      standard deviation K sqrt(period) a sample; Allan deviation K sqrt(T / 3)

Each axis has 6 numbers: N, B, Tc, K, constant bias, range; and 2 of memory: the two biases.
"""
from libc.math cimport exp, expm1, sqrt

from mbros_core.plant.stream cimport Stream, normal


cdef inline double peak() noexcept nogil:
    """sqrt(2 ln 2 / pi), over the largest Allan deviation of a bias with Tc = 1 that noise of unit density drives."""
    return 0.6642824702679600 / 0.4365424710738057


cdef inline double noisy(const double* par, double* mem, const Stream* s, double period, double x) noexcept nogil:
    cdef double density
    x += par[4]
    if par[1] > 0.0:
        density = peak() * par[1] / sqrt(par[2])
        mem[0] = mem[0] * exp(-period / par[2]) + density * sqrt(-0.5 * par[2] * expm1(-2.0 * period / par[2])) * normal(s)
        x += mem[0]
    if par[3] > 0.0:
        mem[1] += par[3] * sqrt(period) * normal(s)
        x += mem[1]
    if par[0] > 0.0:
        x += par[0] / sqrt(period) * normal(s)
    return -par[5] if x < -par[5] else par[5] if x > par[5] else x
