"""Torque sensor in a joint (force, in one that slides): scale, and the noise of noise.pxd.

Parameters: scale, then those of the noise. mem: draws, biases.
"""
from mbros_core.plant.stream cimport Stream
from mbros_core.plant.sensors.noise cimport noisy
from mbros_core.plant.sensors.sensor cimport Truth


cdef inline void torque_read(const double* par, double* mem, const Stream* s, double period, const Truth* truth, double* out) noexcept nogil:
    out[0] = noisy(par + 1, mem + 1, s, period, par[0] * truth.effort)
