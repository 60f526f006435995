"""Joint encoder: whole counts, from zero (absolute) or from where the joint was when it was switched on (incremental).

    count = floor((q - offset) counts / range),  position = count range / counts           range: 2 pi rad, or metres of a sliding joint
    velocity by difference   (position - last position) / T       T: the true time between the samples, at 300 Hz of 1 kHz 3 or 4 steps
    velocity by observer     x' = v + 2 w e,  v' = w^2 e,  e = position - x        (a phase-locked loop of bandwidth w, exact for constant e)
    index = 1 in a sample in which a whole number of ranges was passed
"""
from libc.math cimport exp, floor

from mbros_core.plant.sensors.sensor cimport Truth


cdef struct EncoderNumbers:
    double counts                # 0: as fine as numbers are
    double range                 # rad or m
    double offset                # rad or m
    double incremental           # 0 or 1
    double bandwidth             # w, rad/s; 0: by difference

cdef struct EncoderMemory:
    double draws
    double was_on
    double zero
    double position              # of the last sample
    double x                     # of the observer, as the next
    double v
    double turn                  # of the last sample


cdef inline double observed(const EncoderNumbers* par, EncoderMemory* mem, double position, double T) noexcept nogil:
    """The observer's velocity: both of its poles at -w, exactly sampled for a position that moves at the velocity it believes in."""
    cdef double d = exp(-par.bandwidth * T)
    cdef double predicted = mem.x + T * mem.v
    cdef double e = position - predicted
    mem.x = predicted + (1.0 - d * d) * e
    mem.v += (1.0 - d) * (1.0 - d) / T * e
    return mem.v


cdef inline void encoder_read(const EncoderNumbers* par, EncoderMemory* mem, double T, const Truth* truth, double* out) noexcept nogil:
    cdef double position, turn
    cdef bint first = mem.was_on == 0.0
    if first:
        mem.was_on = 1.0
        mem.zero = truth.q - par.offset if par.incremental != 0.0 else 0.0
    position = truth.q - par.offset - mem.zero
    if par.counts > 0.0:
        position = floor(position * par.counts / par.range) * par.range / par.counts
    turn = floor((truth.q - par.offset) / par.range)
    if first:
        mem.position, mem.x, mem.v, mem.turn = position, position, 0.0, turn
    out[0] = position
    out[1] = (position - mem.position) / T if par.bandwidth <= 0.0 else observed(par, mem, position, T)
    out[2] = 1.0 if turn != mem.turn else 0.0
    mem.position, mem.turn = position, turn
