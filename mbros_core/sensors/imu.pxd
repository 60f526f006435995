"""Inertial measurement unit on a frame: angular velocity, and acceleration less gravity, along its own axes.

    gyro = noise(M_g w),   accelerometer = noise(M_a f),   f = R^T (a_S - g)

a_S is the acceleration of the sensor's origin (the lever arm is where its frame is), from positions and velocities at the end of the step
and (v+ - v) / h. M: scale on the diagonal, misalignment beside it, row-major. The noise is that of noise.pxd, each axis with draws of its
own. Parameters: M_g (9), noise of the gyro (6), M_a (9), noise of the accelerometer (6). mem: draws, biases (2 for each of 6 axes).
"""
from mbros_core.devices.stream cimport Stream
from mbros_core.sensors.noise cimport noisy
from mbros_core.sensors.sensor cimport Truth


cdef inline void triad(const double* par, double* mem, const Stream* s, double period, const double* x, double* out) noexcept nogil:
    cdef int i
    for i in range(3):
        out[i] = noisy(par + 9, mem + 2 * i, s, period, par[3 * i] * x[0] + par[3 * i + 1] * x[1] + par[3 * i + 2] * x[2])


cdef inline void imu_read(const double* par, double* mem, const Stream* s, double period, const Truth* truth, double* out) noexcept nogil:
    triad(par, mem + 1, s, period, truth.w, out)
    triad(par + 15, mem + 7, s, period, truth.f, out + 3)
