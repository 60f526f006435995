"""Joint encoder: whole counts, from zero (absolute) or from where the joint was when it was switched on (incremental).

    count = floor((q - offset) counts / range),  position = count range / counts           range: 2 pi rad, or metres of a sliding joint
    velocity by difference   (position - last position) / T       T: the true time between the samples, at 300 Hz of 1 kHz 3 or 4 steps
    velocity by observer     x' = v + 2 w e,  v' = w^2 e,  e = position - x        (a phase-locked loop of bandwidth w, exact for constant e)
    index = 1 in a sample in which a whole number of ranges was passed

Parameters: counts (0: no quantisation), range, offset, incremental (0 or 1), bandwidth (rad/s; 0: by difference).
mem: draws, whether it was on, zero, last position, x, v, last turn.
"""
from libc.math cimport exp, floor

from mbros_core.plant.sensors.sensor cimport Truth


cdef inline double observed(const double* par, double* mem, double position, double T) noexcept nogil:
    """The observer's velocity: both of its poles at -w, exactly sampled for a position that moves at the velocity it believes in."""
    cdef double d = exp(-par[4] * T)
    cdef double predicted = mem[4] + T * mem[5]
    cdef double e = position - predicted
    mem[4] = predicted + (1.0 - d * d) * e
    mem[5] += (1.0 - d) * (1.0 - d) / T * e
    return mem[5]


cdef inline void encoder_read(const double* par, double* mem, double T, const Truth* truth, double* out) noexcept nogil:
    cdef double position, turn
    cdef bint first = mem[1] == 0.0
    if first:
        mem[1] = 1.0
        mem[2] = truth.q - par[2] if par[3] != 0.0 else 0.0
    position = truth.q - par[2] - mem[2]
    if par[0] > 0.0:
        position = floor(position * par[0] / par[1]) * par[1] / par[0]
    turn = floor((truth.q - par[2]) / par[1])
    if first:
        mem[3], mem[4], mem[5], mem[6] = position, position, 0.0, turn
    out[0] = position
    out[1] = (position - mem[3]) / T if par[4] <= 0.0 else observed(par, mem, position, T)
    out[2] = 1.0 if turn != mem[6] else 0.0
    mem[3], mem[6] = position, turn
