"""What the readings of inertial and force sensors have beside the truth, with the parameters of an Allan deviation plot (IEEE 952).

    white noise of density N           standard deviation N / sqrt(period);       Allan deviation N / sqrt(T)
    bias instability B                 a bias b' = -b / Tc + noise whose Allan deviation, largest at T = 1.89 Tc, is 0.664 B there
    random walk K                      standard deviation K sqrt(period) a sample; Allan deviation K sqrt(T / 3)

Each axis has these numbers, and a memory of its own.
"""
from libc.math cimport exp, expm1, sqrt

from mbros_core.plant.stream cimport Stream, normal


cdef struct NoiseNumbers:
    double noise_density         # N
    double bias_instability      # B
    double correlation_time      # Tc, s
    double random_walk           # K
    double bias                  # constant
    double range                 # where the reading ends, both ways

cdef struct NoiseMemory:
    double unstable              # the bias of B
    double walked                # the bias of K


cdef inline double peak() noexcept nogil:
    """sqrt(2 ln 2 / pi), over the largest Allan deviation of a bias with Tc = 1 that noise of unit density drives."""
    return 0.6642824702679600 / 0.4365424710738057


cdef inline double noisy(const NoiseNumbers* par, NoiseMemory* mem, const Stream* s, double period, double x) noexcept nogil:
    cdef double density
    x += par.bias
    if par.bias_instability > 0.0:
        density = peak() * par.bias_instability / sqrt(par.correlation_time)
        mem.unstable = (mem.unstable * exp(-period / par.correlation_time)
                        + density * sqrt(-0.5 * par.correlation_time * expm1(-2.0 * period / par.correlation_time)) * normal(s))
        x += mem.unstable
    if par.random_walk > 0.0:
        mem.walked += par.random_walk * sqrt(period) * normal(s)
        x += mem.walked
    if par.noise_density > 0.0:
        x += par.noise_density / sqrt(period) * normal(s)
    return -par.range if x < -par.range else par.range if x > par.range else x
