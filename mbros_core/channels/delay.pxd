"""Delay: constant or drawn for each message; in order or not; some messages twice.

A message of step k arrives in the first step at which `delay` has passed, k + ceil(d / dt). d = delay + jitter times a random number: uniform
within -1 .. 1 (distribution 0), normal, cut at 4 (1), or exponential of mean 1, cut at 16 (2); never negative. Messages keep their order by
waiting for those before them, or, with `reordering`, arrive as they come: then an old one may replace a newer one. With probability
`duplication` a message comes again, after another delay of its own; the copy keeps no order.

Parameters: delay, jitter (s), distribution, reordering (0 or 1), duplication, dt. mem: draws, messages so far, last arrival; then a row for
each slot: arrival (0: empty), number, message.
"""
from libc.math cimport ceil, log

from mbros_core.devices.stream cimport Stream, normal, uniform

cdef enum:
    HEAD = 3


cdef inline double steps_of_delay(const double* par, const Stream* s) noexcept nogil:
    cdef double d = par[0], x
    if par[1] > 0.0:
        if par[2] == 0.0:
            x = 2.0 * uniform(s) - 1.0
        elif par[2] == 1.0:
            x = normal(s)
            x = -4.0 if x < -4.0 else 4.0 if x > 4.0 else x
        else:
            x = -log(uniform(s))
            x = 16.0 if x > 16.0 else x
        d += par[1] * x
    return ceil(d / par[5] - 1e-9) if d > 0.0 else 0.0


cdef inline void put(double* mem, int slots, int n, double arrival, const double* x) noexcept nogil:
    """Into a free slot; where there is none the message is lost, which `room` of the registry rules out."""
    cdef double* row = mem + HEAD
    cdef int k, i
    for k in range(slots):
        if row[0] == 0.0:
            row[0], row[1] = arrival, mem[1]
            mem[1] += 1.0
            for i in range(n):
                row[2 + i] = x[i]
            return
        row += n + 2


cdef inline bint delay_pass(const double* par, double* mem, int slots, const Stream* s, double tick, int n, double* x,
                            bint fresh) noexcept nogil:
    cdef double arrival, last = -1.0, number = -1.0
    cdef double* row
    cdef double* chosen = NULL
    cdef int k, i
    if fresh:
        arrival = tick + steps_of_delay(par, s)
        if par[3] == 0.0 and arrival < mem[2]:
            arrival = mem[2]
        mem[2] = arrival
        put(mem, slots, n, arrival, x)
        if par[4] > 0.0 and uniform(s) < par[4]:
            put(mem, slots, n, tick + steps_of_delay(par, s), x)
    for k in range(slots):
        row = mem + HEAD + k * (n + 2)
        if 0.0 < row[0] <= tick:
            if row[0] > last or (row[0] == last and row[1] > number):
                last, number, chosen = row[0], row[1], row
            row[0] = 0.0
    if chosen == NULL:
        return False
    for i in range(n):
        x[i] = chosen[2 + i]
    return True
