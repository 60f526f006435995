"""Torque sensor in a joint (force, in one that slides): scale, and the noise of noise.pxd.
"""
from mbros_core.plant.stream cimport Stream
from mbros_core.plant.sensors.noise cimport NoiseMemory, NoiseNumbers, noisy
from mbros_core.plant.sensors.sensor cimport Truth


cdef struct TorqueNumbers:
    double scale
    NoiseNumbers noise

cdef struct TorqueMemory:
    double draws
    NoiseMemory noise


cdef inline void torque_read(const TorqueNumbers* par, TorqueMemory* mem, const Stream* s, double period, const Truth* truth,
                             double* out) noexcept nogil:
    out[0] = noisy(&par.noise, &mem.noise, s, period, par.scale * truth.effort)
