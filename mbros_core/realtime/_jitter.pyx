# distutils: language = c++
# cython: language_level=3, embedsignature=True
"""The machine's own timer: how late a bare sleeping thread wakes, without any of the loop's work."""
import numpy as np

from mbros_core.errors import SystemRefusedError

from libc.stdint cimport int64_t

from mbros_core.realtime.atomics cimport load, store
from mbros_core.realtime.clock cimport monotonic_ns, slot_at, slot_start, sleep_until
from mbros_core.realtime.histogram cimport Histogram, add, clear, kBins
from mbros_core.realtime.thread cimport (
    name_thread, pin_to_cpu, pthread_join, pthread_t, start_thread, touch_stack, use_fifo, want_sharp_timers)

cdef extern from "Python.h":
    int PyErr_CheckSignals() except -1

cdef struct Probe:
    double period
    int64_t slots
    int priority
    int cpu
    int64_t fifo_error
    int64_t cpu_error
    int64_t stop
    int64_t done
    Histogram lateness


cdef void* probe(void* argument) noexcept nogil:
    cdef Probe* p = <Probe*>argument
    cdef int64_t start, now, k = 1
    name_thread(b"mbros-jitter")
    want_sharp_timers()
    touch_stack()
    if p.cpu >= 0:
        p.cpu_error = pin_to_cpu(p.cpu)
    if p.priority > 0:
        p.fifo_error = use_fifo(p.priority)
    start = monotonic_ns()
    while k <= p.slots and not load(&p.stop):
        sleep_until(slot_start(start, p.period, k))
        now = monotonic_ns()
        add(&p.lateness, now - slot_start(start, p.period, k))
        k = slot_at(start, p.period, now) + 1
    store(&p.done, 1)
    return NULL


def measure(double seconds, double period, int priority, int cpu):
    """Run the probe in a thread of its own, without the interpreter lock; Ctrl-C ends it.

    Returns (counts per bin, count, sum ns, largest ns, errno of SCHED_FIFO, errno of the affinity).
    """
    cdef Probe p
    cdef pthread_t thread
    cdef int error
    clear(&p.lateness)
    p.period = period * 1e9
    p.slots = <int64_t>(seconds / period)
    p.priority, p.cpu = priority, cpu
    p.fifo_error = p.cpu_error = p.stop = p.done = 0
    error = start_thread(&thread, probe, &p)
    if error:
        raise SystemRefusedError(error, "could not start the timer probe's thread")
    try:
        while not load(&p.done):
            with nogil:
                sleep_until(monotonic_ns() + 20000000)
            PyErr_CheckSignals()
    finally:
        store(&p.stop, 1)
        with nogil:
            pthread_join(thread, NULL)
    counts = np.array([p.lateness.counts[i] for i in range(kBins)], dtype=np.int64)
    return counts, p.lateness.count, p.lateness.sum, p.lateness.largest, p.fifo_error, p.cpu_error
