"""The one switch over channel kinds."""
from mbros_core.plant.channels.channel cimport Channel
from mbros_core.plant.channels.delay cimport delay_pass
from mbros_core.plant.channels.hold cimport hold_pass
from mbros_core.plant.channels.loss cimport loss_pass
from mbros_core.plant.channels.noise cimport noise_pass
from mbros_core.plant.channels.quantize cimport quantize_pass
from mbros_core.plant.channels.saturate cimport saturate_pass

# The numbers of mbros_core.plant.channels.registry, which is compared with it when the devices are imported.
cdef enum ChannelKind:
    DELAY = 0
    LOSS = 1
    QUANTIZE = 2
    SATURATE = 3
    HOLD = 4
    NOISE = 5


cdef inline dict channel_kinds():
    return dict(delay=DELAY, loss=LOSS, quantize=QUANTIZE, saturate=SATURATE, hold=HOLD, noise=NOISE)


cdef inline bint draws(int kind) noexcept nogil:
    """Whether it draws random numbers."""
    return kind == DELAY or kind == LOSS or kind == NOISE


cdef inline bint passed(const Channel* c, const double* par, double* mem, double tick, bint due, int n, double* x,
                        bint fresh) noexcept nogil:
    if c.kind == DELAY:
        return delay_pass(par, mem, c.slots, &c.stream, tick, n, x, fresh)
    if c.kind == LOSS:
        return loss_pass(par, mem, &c.stream, fresh)
    if c.kind == QUANTIZE:
        return quantize_pass(par, n, x, fresh)
    if c.kind == SATURATE:
        return saturate_pass(par, n, x, fresh)
    if c.kind == HOLD:
        return hold_pass(mem, due, n, x, fresh)
    return noise_pass(par, mem, &c.stream, tick, n, x, fresh)
