"""Loss of messages: of each independently, or in bursts (Gilbert 1960).

Bursts are lost whole: a chain of two states goes from good to bad with probability p / (b (1 - p)) and back with 1 / b, so that b messages
are lost in a row in the mean, and p of all. Parameters: probability p, burst b (1 or less: independent). mem: draws, whether bad.
"""
from mbros_core.plant.stream cimport Stream, uniform


cdef inline bint loss_pass(const double* par, double* mem, const Stream* s, bint fresh) noexcept nogil:
    if not fresh:
        return False
    if par[1] <= 1.0:
        return uniform(s) >= par[0]
    if mem[1] != 0.0:
        mem[1] = 1.0 if uniform(s) >= 1.0 / par[1] else 0.0
    else:
        mem[1] = 1.0 if uniform(s) * par[1] * (1.0 - par[0]) < par[0] else 0.0
    return mem[1] == 0.0
