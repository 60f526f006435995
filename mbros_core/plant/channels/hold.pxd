"""Sample and hold: of what has come, the newest is passed on at a rate of its own, on the exact grid of sensor.pxd; again where nothing
new has come."""
from mbros_core.plant.channels.channel cimport WIDEST


cdef struct HoldNumbers:
    double hold_rate             # Hz, of which the table of channels makes the grid

cdef struct HoldMemory:
    double draws
    double come                  # 1: something has
    double message[WIDEST]       # of the signal's numbers


cdef inline bint hold_pass(HoldMemory* mem, bint due, int n, double* x, bint fresh) noexcept nogil:
    cdef int i
    if fresh:
        mem.come = 1.0
        for i in range(n):
            mem.message[i] = x[i]
    if not due or mem.come == 0.0:
        return False
    for i in range(n):
        x[i] = mem.message[i]
    return True
