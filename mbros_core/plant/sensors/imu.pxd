"""Inertial measurement unit on a frame, at the end of the step in which it samples, along the frame's own axes: angular velocity,
acceleration less gravity, and orientation in the world.

    gyro = noise(M_g w),   accelerometer = noise(M_a f),   f = R^T (a_S - g),   orientation = exp(e) R,   e = N(0, sigma) + (0, 0, heading)

a_S is the acceleration of the sensor's origin (the lever arm is where its frame is). It comes from the coordinates' mean accelerations
over the last three steps, along axes that do not turn, led to the end of the step (end.pxd): true to second order in smooth motion, and in
a blow the mean over its step. It is a sample, not a mean over the time between samples. M: scale on the diagonal, misalignment beside it, row-major.
The noise is that of noise.pxd, each axis with draws of its own. e is about the axes of the world: tilts, and the heading, which drifts as a
random walk K_h. Orientation is a quaternion x y z w, which does not change its sign from one sample to the next.

Parameters: M_g (9), noise of the gyro (6), M_a (9), noise of the accelerometer (6), sigma (3), K_h, and covariances of the message that
nothing here needs, but that one of an orientation which begins with -1 says that there is none: it is then that of the world, always.
mem: draws, biases (2 for each of 6 axes), heading, the last quaternion.
"""
from libc.math cimport sqrt

from mbros_core.plant.stream cimport Stream, normal
from mbros_core.plant.sensors.noise cimport noisy
from mbros_core.plant.sensors.quaternion cimport quaternion_on, turned_in_world
from mbros_core.plant.sensors.sensor cimport Truth

cdef enum:
    ORIENTATION_NOISE = 30
    HEADING_WALK = 33
    ORIENTATION_COVARIANCE = 34
    # mem
    HEADING = 13
    QUATERNION = 14


cdef inline void triad(const double* par, double* mem, const Stream* s, double period, const double* x, double* out) noexcept nogil:
    cdef int i
    for i in range(3):
        out[i] = noisy(par + 9, mem + 2 * i, s, period, par[3 * i] * x[0] + par[3 * i + 1] * x[1] + par[3 * i + 2] * x[2])


cdef inline void attitude(const double* par, double* mem, const Stream* s, double period, const double* R, double* out) noexcept nogil:
    cdef double e[3]
    cdef int i
    if par[ORIENTATION_COVARIANCE] == -1.0:
        out[0], out[1], out[2], out[3] = 0.0, 0.0, 0.0, 1.0
        return
    if par[HEADING_WALK] > 0.0:
        mem[HEADING] += par[HEADING_WALK] * sqrt(period) * normal(s)
    e[0], e[1], e[2] = 0.0, 0.0, mem[HEADING]
    for i in range(3):
        if par[ORIENTATION_NOISE + i] > 0.0:
            e[i] += par[ORIENTATION_NOISE + i] * normal(s)
    quaternion_on(R, mem + QUATERNION, out)
    if e[0] != 0.0 or e[1] != 0.0 or e[2] != 0.0:
        turned_in_world(e, out)


cdef inline void imu_read(const double* par, double* mem, const Stream* s, double period, const Truth* truth, double* out) noexcept nogil:
    triad(par, mem + 1, s, period, truth.w, out)
    triad(par + 15, mem + 7, s, period, truth.f, out + 3)
    attitude(par, mem, s, period, truth.R, out + 6)
