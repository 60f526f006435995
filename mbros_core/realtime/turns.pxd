"""What the gates of lockstep have in common: whose turn it is, how long an answer is waited for, and what happens then (docs/lockstep.md)."""
from libc.math cimport llround
from libc.stdint cimport INT64_MAX, int64_t, uint64_t

from mbros_core.realtime.atomics cimport load, store
from mbros_core.realtime.ports cimport MBROS_GO, MBROS_HALT, MBROS_WAIT

cdef enum:                      # policy, in the order of POLICIES in settings.py
    WAIT_ON, HOLD_ON, STOP_ON


cdef struct Patience:
    int64_t timeout_ns          # 0: for ever
    int64_t policy
    int64_t asked_ns            # CLOCK_MONOTONIC at the question
    int64_t rounds              # time-outs of this question


cdef inline bint is_due(uint64_t step, int64_t n, int64_t m) noexcept nogil:
    """In step 0, and then in n of m steps as evenly as whole steps allow; mbros.simulate.lockstep.due in Python."""
    return <int64_t>(step % <uint64_t>m) * n % m < n


cdef inline void set_patience(Patience* p, double timeout, int64_t policy) noexcept nogil:
    """timeout: s, 0: for ever; also while a loop asks."""
    store(&p.policy, policy)
    store(&p.timeout_ns, <int64_t>llround(timeout * 1e9))


cdef inline void ask(Patience* p, int64_t now) noexcept nogil:
    p.asked_ns, p.rounds = now, 0


cdef inline int64_t late_at(const Patience* p) noexcept nogil:
    """When an answer is late, the next time; INT64_MAX: never."""
    cdef int64_t timeout = load(&p.timeout_ns)
    return p.asked_ns + timeout * (p.rounds + 1) if timeout > 0 else INT64_MAX


cdef inline int time_out(Patience* p, int64_t now) noexcept nogil:
    """It is late: what the policy says of the step, MBROS_WAIT, MBROS_GO (under `hold`) or MBROS_HALT."""
    cdef int64_t policy = load(&p.policy)
    p.rounds += 1
    if policy == HOLD_ON:
        return MBROS_GO
    if policy == STOP_ON:
        ask(p, now)
        return MBROS_HALT
    return MBROS_WAIT
