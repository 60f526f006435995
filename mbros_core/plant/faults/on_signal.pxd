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

from mbros_core.plant.channels.delay cimport delay_pass
from mbros_core.plant.channels.loss cimport loss_pass
from mbros_core.plant.channels.noise cimport noise_pass
from mbros_core.plant.faults.fault cimport SignalFault

# The numbers of mbros_core.plant.faults.registry, which is compared with it when the devices are imported.
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


cdef inline dict signal_fault_kinds():
    return dict(frozen=FROZEN, offset=OFFSET, drift=DRIFT, noise=NOISE_BURST, sign_flip=SIGN_FLIP, not_a_number=NOT_A_NUMBER,
                out_of_range=OUT_OF_RANGE, lost=LOST_MESSAGES, burst_loss=BURST_LOSS, late=LATE)


cdef inline void frozen(double* mem, int n, double* x) noexcept nogil:
    """mem: draws, whether there is a message, the message."""
    cdef int i
    for i in range(n):
        if mem[1] == 0.0:
            mem[2 + i] = x[i]
        x[i] = mem[2 + i]
    mem[1] = 1.0


cdef inline bint worsened(const SignalFault* f, const double* par, double* mem, double tick, double since, int n, double* x,
                          bint fresh) noexcept nogil:
    cdef int i
    if f.kind == LATE:
        return delay_pass(par, mem, f.slots, &f.stream, tick, n, x, fresh)
    if f.kind == BURST_LOSS:
        return loss_pass(par, mem, &f.stream, fresh)
    if not fresh or f.kind == LOST_MESSAGES:
        return False
    if f.kind == FROZEN:
        frozen(mem, n, x)
    elif f.kind == NOISE_BURST:
        noise_pass(par, mem, &f.stream, tick, n, x, True)
    else:
        for i in range(n):
            x[i] = (x[i] + par[0] if f.kind == OFFSET else x[i] + par[0] * ((tick - since) * par[1]) if f.kind == DRIFT
                    else -x[i] if f.kind == SIGN_FLIP else NAN if f.kind == NOT_A_NUMBER else par[0])
    return True
