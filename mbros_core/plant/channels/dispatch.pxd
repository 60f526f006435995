"""The one switch over channel kinds."""
from mbros_core.plant.channels.channel cimport Channel
from mbros_core.plant.channels.delay cimport DelayMemory, DelayNumbers, delay_pass
from mbros_core.plant.channels.hold cimport HoldMemory, hold_pass
from mbros_core.plant.channels.loss cimport LossMemory, LossNumbers, loss_pass
from mbros_core.plant.channels.noise cimport NoiseMemory, NoiseNumbers, noise_pass
from mbros_core.plant.channels.quantize cimport QuantizeNumbers, quantize_pass
from mbros_core.plant.channels.saturate cimport SaturateNumbers, saturate_pass

# The numbers of mbros_core.plant.channels.registry (tests/engine/test_numbers_by_name.py).
cdef enum ChannelKind:
    DELAY = 0
    LOSS = 1
    QUANTIZE = 2
    SATURATE = 3
    HOLD = 4
    NOISE = 5


cdef inline bint draws(int kind) noexcept nogil:
    """Whether it draws random numbers."""
    return kind == DELAY or kind == LOSS or kind == NOISE


cdef inline bint passed(const Channel* c, const double* par, double* mem, double tick, bint due, int n, double* x,
                        bint fresh) noexcept nogil:
    if c.kind == DELAY:
        return delay_pass(<const DelayNumbers*>par, <DelayMemory*>mem, c.slots, &c.stream, tick, n, x, fresh)
    if c.kind == LOSS:
        return loss_pass(<const LossNumbers*>par, <LossMemory*>mem, &c.stream, fresh)
    if c.kind == QUANTIZE:
        return quantize_pass(<const QuantizeNumbers*>par, n, x, fresh)
    if c.kind == SATURATE:
        return saturate_pass(<const SaturateNumbers*>par, n, x, fresh)
    if c.kind == HOLD:
        return hold_pass(<HoldMemory*>mem, due, n, x, fresh)
    return noise_pass(<const NoiseNumbers*>par, <NoiseMemory*>mem, &c.stream, tick, n, x, fresh)
