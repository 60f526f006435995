"""What faults do to messages. x (n,): in, the message where `fresh`; out, the message that goes on, where the result is true.

    frozen         the first message that comes while it acts, again and again
    offset         x + offset
    drift          x + rate (k - k0) dt,  k0: the step in which it began
    noise          x + deviation N(0, 1), and a bias that walks (plant/channels/noise.pxd)
    sign_flip      -x
    not_a_number   NaN
    out_of_range   value
    lost           no message
    burst_loss     messages lost one by one or in bursts (plant/channels/loss.pxd)
    late           messages later (plant/channels/delay.pxd); what is on its way when the fault ends is lost

The first seven are of what sends: they act before the channels of the signal. The last three are of the bus: behind them.
"""
from libc.math cimport NAN

from mbros_core.plant.channels.channel cimport WIDEST
from mbros_core.plant.channels.delay cimport DelayMemory, DelayNumbers, delay_pass
from mbros_core.plant.channels.loss cimport LossMemory, LossNumbers, loss_pass
from mbros_core.plant.channels.noise cimport NoiseMemory, NoiseNumbers, noise_pass
from mbros_core.plant.faults.fault cimport SignalFault

# The numbers of mbros_core.plant.faults.registry (tests/engine/test_numbers_by_name.py).
cdef enum SignalFaultKind:
    FROZEN = 0
    OFFSET = 1
    DRIFT = 2
    NOISE_BURST = 3
    SIGN_FLIP = 4
    NOT_A_NUMBER = 5
    OUT_OF_RANGE = 6
    LOST_MESSAGES = 7
    BURST_LOSS = 8
    LATE = 9


cdef struct FrozenMemory:
    double draws
    double come                  # 1: there is a message
    double message[WIDEST]       # of the signal's numbers

cdef struct OffsetNumbers:
    double offset

cdef struct DriftNumbers:
    double rate                  # of the signal, per s
    double dt                    # s

cdef struct OutOfRangeNumbers:
    double value


cdef inline void frozen(FrozenMemory* mem, int n, double* x) noexcept nogil:
    cdef int i
    for i in range(n):
        if mem.come == 0.0:
            mem.message[i] = x[i]
        x[i] = mem.message[i]
    mem.come = 1.0


cdef inline double changed(int kind, const double* par, double steps, double x) noexcept nogil:
    if kind == OFFSET:
        return x + (<const OffsetNumbers*>par).offset
    if kind == DRIFT:
        return x + (<const DriftNumbers*>par).rate * (steps * (<const DriftNumbers*>par).dt)
    if kind == SIGN_FLIP:
        return -x
    return NAN if kind == NOT_A_NUMBER else (<const OutOfRangeNumbers*>par).value


cdef inline bint worsened(const SignalFault* f, const double* par, double* mem, double tick, double since, int n, double* x,
                          bint fresh) noexcept nogil:
    cdef int i
    if f.kind == LATE:
        return delay_pass(<const DelayNumbers*>par, <DelayMemory*>mem, f.slots, &f.stream, tick, n, x, fresh)
    if f.kind == BURST_LOSS:
        return loss_pass(<const LossNumbers*>par, <LossMemory*>mem, &f.stream, fresh)
    if not fresh or f.kind == LOST_MESSAGES:
        return False
    if f.kind == FROZEN:
        frozen(<FrozenMemory*>mem, n, x)
    elif f.kind == NOISE_BURST:
        noise_pass(<const NoiseNumbers*>par, <NoiseMemory*>mem, &f.stream, tick, n, x, True)
    else:
        for i in range(n):
            x[i] = changed(f.kind, par, tick - since, x[i])
    return True
