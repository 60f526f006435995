"""Inertial measurement unit on a frame, at the end of the step in which it samples, along the frame's own axes: angular velocity,
acceleration less gravity, and orientation in the world.

    gyro = noise(M_g w),   accelerometer = noise(M_a f),   f = R^T (a_S - g),   orientation = exp(e) R,   e = N(0, sigma) + (0, 0, heading)

a_S is the acceleration of the sensor's origin (the lever arm is where its frame is). It comes from the coordinates' mean accelerations
over the last three steps, along axes that do not turn, led to the end of the step (end.pxd): true to second order in smooth motion, and in
a blow the mean over its step. It is a sample, not a mean over the time between samples. M: scale on the diagonal, misalignment beside it, row-major.
The noise is that of noise.pxd, each axis with draws of its own. e is about the axes of the world: tilts, and the heading, which drifts as a
random walk K_h. Orientation is a quaternion x y z w, which does not change its sign from one sample to the next.

A covariance of the orientation that begins with -1 says that there is none: it is then that of the world, always.
"""
from libc.math cimport sqrt

from mbros_core.plant.stream cimport Stream, normal
from mbros_core.plant.sensors.noise cimport NoiseMemory, NoiseNumbers, noisy
from mbros_core.plant.sensors.quaternion cimport quaternion_on, turned_in_world
from mbros_core.plant.sensors.sensor cimport Truth

cdef struct ImuNumbers:
    double gyro_matrix[9]                            # M_g
    NoiseNumbers gyro
    double accel_matrix[9]                           # M_a
    NoiseNumbers accel
    double orientation_noise[3]                      # sigma, rad
    double heading_random_walk                       # K_h, rad/sqrt(s)
    double static_covariance_orientation[9]          # of the message, as the next two
    double static_covariance_angular_velocity[9]
    double static_covariance_linear_acceleration[9]

cdef struct ImuMemory:
    double draws
    NoiseMemory gyro[3]
    NoiseMemory accel[3]
    double heading
    double quaternion[4]                             # of the last sample


cdef inline void triad(const double* M, const NoiseNumbers* par, NoiseMemory* mem, const Stream* s, double period, const double* x,
                       double* out) noexcept nogil:
    cdef int i
    for i in range(3):
        out[i] = noisy(par, &mem[i], s, period, M[3 * i] * x[0] + M[3 * i + 1] * x[1] + M[3 * i + 2] * x[2])


cdef inline void attitude(const ImuNumbers* par, ImuMemory* mem, const Stream* s, double period, const double* R,
                          double* out) noexcept nogil:
    cdef double e[3]
    cdef int i
    if par.static_covariance_orientation[0] == -1.0:
        out[0], out[1], out[2], out[3] = 0.0, 0.0, 0.0, 1.0
        return
    if par.heading_random_walk > 0.0:
        mem.heading += par.heading_random_walk * sqrt(period) * normal(s)
    e[0], e[1], e[2] = 0.0, 0.0, mem.heading
    for i in range(3):
        if par.orientation_noise[i] > 0.0:
            e[i] += par.orientation_noise[i] * normal(s)
    quaternion_on(R, mem.quaternion, out)
    if e[0] != 0.0 or e[1] != 0.0 or e[2] != 0.0:
        turned_in_world(e, out)


cdef inline void imu_read(const ImuNumbers* par, ImuMemory* mem, const Stream* s, double period, const Truth* truth,
                          double* out) noexcept nogil:
    triad(par.gyro_matrix, &par.gyro, mem.gyro, s, period, truth.w, out)
    triad(par.accel_matrix, &par.accel, mem.accel, s, period, truth.f, out + 3)
    attitude(par, mem, s, period, truth.R, out + 6)
