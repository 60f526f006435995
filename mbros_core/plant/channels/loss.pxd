"""Loss of messages: of each independently, or in bursts (Gilbert 1960).

Bursts are lost whole: a chain of two states goes from good to bad with probability p / (b (1 - p)) and back with 1 / b, so that b messages
are lost in a row in the mean, and p of all.
"""
from mbros_core.plant.stream cimport Stream, uniform


cdef struct LossNumbers:
    double loss                  # p
    double burst                 # b; 1 or less: each by itself

cdef struct LossMemory:
    double draws
    double bad                   # 0 or 1


cdef inline bint loss_pass(const LossNumbers* par, LossMemory* mem, const Stream* s, bint fresh) noexcept nogil:
    if not fresh:
        return False
    if par.burst <= 1.0:
        return uniform(s) >= par.loss
    if mem.bad != 0.0:
        mem.bad = 1.0 if uniform(s) >= 1.0 / par.burst else 0.0
    else:
        mem.bad = 1.0 if uniform(s) * par.burst * (1.0 - par.loss) < par.loss else 0.0
    return mem.bad == 0.0
