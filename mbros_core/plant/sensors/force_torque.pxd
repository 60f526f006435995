"""Force-torque sensor: what a joint exerts on the body beyond it, about the origin of a frame on that body and along its axes.

    reading = noise(C y),   y follows the wrench x:   at once; or as a first order, T dy/dt = x - y; or as what rings,
                                                      y'' + 2 z w0 y' + w0^2 y = w0^2 x,   w0 = 2 pi resonance

x is that of the end of the step, led there from where the last three steps took their forces (end.pxd): true to second order in smooth
motion, and in a blow the mean over its step. What follows it takes the mean over each step for constant in it, and y is what comes of
that, exactly, in every step, whatever the sensor's own rate. C: scale on the diagonal, cross-talk beside it, row-major, of force and
torque. The noise is that of noise.pxd, and what a data sheet says of a sample, whatever its rate: a standard deviation of each of the six
numbers.
"""
from libc.math cimport cos, cosh, exp, sin, sinh, sqrt

from mbros_core.plant.stream cimport Stream, normal
from mbros_core.plant.sensors.end cimport change
from mbros_core.plant.sensors.noise cimport NoiseMemory, NoiseNumbers, noisy
from mbros_core.plant.sensors.sensor cimport Truth

cdef struct ForceTorqueNumbers:
    double matrix[36]            # C
    NoiseNumbers force
    NoiseNumbers torque
    double time_constant         # T, s; 0: none
    double resonance             # Hz; 0: none
    double damping_ratio         # z
    double noise[6]              # of a sample

cdef struct ForceTorqueMemory:
    double draws
    NoiseMemory biases[6]
    double was_on
    double followed[12]          # y and y' of each axis
    double last[6]               # x of the last step, and of that before
    double before[6]
    double seen                  # one more than the number of the last step


cdef inline bint force_torque_follows(const ForceTorqueNumbers* par) noexcept nogil:
    """Whether it is to see every step."""
    return par.resonance > 0.0 or par.time_constant > 0.0


cdef inline void ringing(double w, double z, double h, double* A) noexcept nogil:
    """exp(h [[0, 1], [-w^2, -2 z w]]), row-major."""
    cdef double s = sqrt(abs(1.0 - z * z)) * w, decay = exp(-z * w * h), c, k
    if s * h < 1e-9:
        c, k = 1.0, h
    elif z < 1.0:
        c, k = cos(s * h), sin(s * h) / s
    else:
        c, k = cosh(s * h), sinh(s * h) / s
    A[0], A[1] = decay * (c + z * w * k), decay * k
    A[2], A[3] = -w * w * decay * k, decay * (c - z * w * k)


cdef inline void filtered(const ForceTorqueNumbers* par, ForceTorqueMemory* mem, double h, const double* x) noexcept nogil:
    """y after a step of h. In the beginning it has come to rest."""
    cdef double A[4]
    cdef double* y = mem.followed
    cdef double e
    cdef int i
    if mem.was_on == 0.0:
        for i in range(6):
            y[2 * i], y[2 * i + 1] = x[i], 0.0
        mem.was_on = 1.0
        return
    if par.resonance > 0.0:
        ringing(6.283185307179586 * par.resonance, par.damping_ratio, h, A)
    else:
        A[0], A[1], A[2], A[3] = exp(-h / par.time_constant), 0.0, 0.0, 0.0
    for i in range(6):
        e = y[2 * i] - x[i]
        y[2 * i], y[2 * i + 1] = x[i] + A[0] * e + A[1] * y[2 * i + 1], A[2] * e + A[3] * y[2 * i + 1]


cdef inline void force_torque_see(const ForceTorqueNumbers* par, ForceTorqueMemory* mem, double h, double tick, double reach,
                                  Truth* truth) noexcept nogil:
    """Of step `tick`: truth.wrench, of where the step took its forces, `reach` of a step before its end, becomes that of the end."""
    cdef double mean[6]
    cdef double x, m
    cdef bint goes_on = mem.seen == tick
    cdef int i
    for i in range(6):
        x = truth.wrench[i]
        if not goes_on:
            mem.last[i] = mem.before[i] = x
        m = change(x, mem.last[i], mem.before[i])
        mem.before[i], mem.last[i] = mem.last[i], x
        truth.wrench[i], mean[i] = x + reach * m, x + (reach - 0.5) * m
    mem.seen = tick + 1.0
    if force_torque_follows(par):
        filtered(par, mem, h, mean)


cdef inline void force_torque_read(const ForceTorqueNumbers* par, ForceTorqueMemory* mem, const Stream* s, double period,
                                   const Truth* truth, double* out) noexcept nogil:
    cdef bint follows = force_torque_follows(par)
    cdef double x
    cdef int i, k
    for i in range(6):
        x = 0.0
        for k in range(6):
            x += par.matrix[6 * i + k] * (mem.followed[2 * k] if follows else truth.wrench[k])
        if par.noise[i] > 0.0:
            x += par.noise[i] * normal(s)
        out[i] = noisy(&par.force if i < 3 else &par.torque, &mem.biases[i], s, period, x)
