"""Odometry of two wheels: where a base is that rolls without slip, from whole counts of their encoders.

    ds = r (dl + dr) / 2,   dpsi = r (dr - dl) / b              dl, dr: by how much the left and the right wheel turned since the last sample
    x, y: along the arc of this ds and dpsi, exactly            velocity = ds / T, yaw rate = dpsi / T

T is the true time between the two samples. x is forwards and y to the left, of where it was switched on. A negative radius is that of
wheels whose joints turn the other way.
"""
from libc.math cimport cos, fabs, floor, sin

from mbros_core.plant.sensors.sensor cimport Truth


cdef struct OdometryNumbers:
    double radius                            # r, m
    double separation                        # b, m
    double counts                            # per turn; 0: as fine as numbers are
    double pose_covariance_diagonal[6]       # of the message, as the next
    double twist_covariance_diagonal[6]

cdef struct OdometryMemory:
    double draws
    double was_on
    double left                              # angle of the last sample, as the next
    double right
    double x
    double y
    double yaw                               # psi


cdef inline double counted(const OdometryNumbers* par, double q) noexcept nogil:
    cdef double count = 6.283185307179586 / par.counts if par.counts > 0.0 else 0.0
    return floor(q / count) * count if count > 0.0 else q


cdef inline void odometry_read(const OdometryNumbers* par, OdometryMemory* mem, double T, const Truth* truth, double* out) noexcept nogil:
    cdef double left = counted(par, truth.q), right = counted(par, truth.other_q), s, turn, chord
    if mem.was_on == 0.0:
        mem.was_on, mem.left, mem.right = 1.0, left, right
    s = 0.5 * par.radius * (left - mem.left + right - mem.right)
    turn = par.radius * (right - mem.right - (left - mem.left)) / par.separation
    chord = s * (sin(0.5 * turn) / (0.5 * turn) if fabs(turn) > 1e-8 else 1.0)
    mem.left, mem.right = left, right
    mem.x += chord * cos(mem.yaw + 0.5 * turn)
    mem.y += chord * sin(mem.yaw + 0.5 * turn)
    mem.yaw += turn
    out[0], out[1], out[2], out[3], out[4] = mem.x, mem.y, mem.yaw, s / T, turn / T
