"""Odometry of two wheels: where a base is that rolls without slip, from whole counts of their encoders.

    ds = r (dl + dr) / 2,   dpsi = r (dr - dl) / b              dl, dr: by how much the left and the right wheel turned since the last sample
    x, y: along the arc of this ds and dpsi, exactly            velocity = ds / T, yaw rate = dpsi / T

T is the true time between the two samples. x is forwards and y to the left, of where it was switched on. A negative radius is that of
wheels whose joints turn the other way. Parameters: radius r, separation b of the wheels, counts per turn (0: as fine as numbers are), and
covariances of the message, which nothing here needs. mem: draws, whether it was on, left and right
angle, x, y, psi.
"""
from libc.math cimport cos, fabs, floor, sin

from mbros_core.plant.sensors.sensor cimport Truth


cdef inline double counted(const double* par, double q) noexcept nogil:
    cdef double count = 6.283185307179586 / par[2] if par[2] > 0.0 else 0.0
    return floor(q / count) * count if count > 0.0 else q


cdef inline void odometry_read(const double* par, double* mem, double T, const Truth* truth, double* out) noexcept nogil:
    cdef double left = counted(par, truth.q), right = counted(par, truth.other_q), s, turn, chord
    if mem[1] == 0.0:
        mem[1], mem[2], mem[3] = 1.0, left, right
    s, turn = 0.5 * par[0] * (left - mem[2] + right - mem[3]), par[0] * (right - mem[3] - (left - mem[2])) / par[1]
    chord = s * (sin(0.5 * turn) / (0.5 * turn) if fabs(turn) > 1e-8 else 1.0)
    mem[2], mem[3] = left, right
    mem[4] += chord * cos(mem[6] + 0.5 * turn)
    mem[5] += chord * sin(mem[6] + 0.5 * turn)
    mem[6] += turn
    out[0], out[1], out[2], out[3], out[4] = mem[4], mem[5], mem[6], s / T, turn / T
