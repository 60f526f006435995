# distutils: language = c++
# cython: language_level=3, embedsignature=True
"""The loop's thread and the memory it works on, as a class that loop.Loop dresses for people."""
import os

import numpy as np

from libc.stdint cimport int64_t, uint32_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy

from mbros_core.realtime.atomics cimport load, store
from mbros_core.realtime.clock cimport monotonic_ns, realtime_ns, sleep_until
from mbros_core.realtime.core cimport (
    ACK_INJECT, ACK_PACE, ACK_PARAMETERS, ACK_RESET, ACK_STATE, ACK_STATISTICS, ACK_WATCHDOG, RUNNING, Core,
    Counters, observe, write_header)
from mbros_core.realtime.histogram cimport Histogram, bin_start, kBins
from mbros_core.realtime.mailbox cimport Letter, Mailbox
from mbros_core.realtime.memory cimport allocate, plug_in, release
from mbros_core.realtime.ports cimport MBROS_FAULT, MBROS_PAUSED
from mbros_core.realtime.ring cimport Ring
from mbros_core.realtime.run cimport run
from mbros_core.realtime.slot cimport take_requests, tell
from mbros_core.realtime.thread cimport pthread_join, start_thread, unlock_memory

cdef extern from "Python.h":
    int PyErr_CheckSignals() except -1

BOXES = {"parameters": ACK_PARAMETERS, "reset": ACK_RESET, "pace": ACK_PACE, "watchdog": ACK_WATCHDOG,
         "inject": ACK_INJECT, "clear": ACK_STATISTICS, "state": ACK_STATE}
HEADER = np.dtype([("step", np.uint64), ("time", np.float64), ("wall_ns", np.int64), ("command_age_ns", np.int64),
                   ("flags", np.uint32), ("parameters", np.uint32)])


def bin_starts():
    """Smallest duration (ns) of every histogram bin, and of the one past the last."""
    return np.array([bin_start(i) for i in range(kBins + 1)], dtype=np.int64)


cdef class LoopThread:
    """Memory, mailboxes and the thread. Not for direct use: see Loop."""
    cdef Core* c
    cdef object __weakref__
    cdef readonly object plugs          # whoever owns the memory behind the plugs
    cdef readonly long started_in       # process id of the thread's process, 0: never started
    cdef bint unjoined
    cdef bint leak

    def __cinit__(self, *args, **kwargs):
        self.c = <Core*>calloc(1, sizeof(Core))
        if self.c == NULL:
            raise MemoryError()

    def __init__(self, plant, inputs, outputs, int record):
        if self.plugs is not None:
            raise RuntimeError("a Loop is initialised once")
        plug_in(self.c, plant, inputs, outputs)
        self.plugs = (plant, tuple(inputs), tuple(outputs))
        allocate(self.c, record)

    def configure(self, double dt, int overrun, int64_t overrun_limit, int64_t catch_up, int64_t warmup,
                  int64_t record_every, int fifo_priority, int cpu, bint lock_memory, bint count_allocations,
                  bint virtual_clock, double factor, bint paused):
        """Everything that is fixed before the thread starts."""
        cdef Core* c = self.c
        c.dt, c.overrun, c.overrun_limit, c.catch_up = dt, overrun, overrun_limit, catch_up
        c.warmup, c.record_every, c.fifo_priority, c.cpu = warmup, record_every, fifo_priority, cpu
        c.lock_memory, c.count_allocations, c.virtual_clock = lock_memory, count_allocations, virtual_clock
        c.factor = factor
        c.want_pause = c.pause_shown = c.is_paused = paused

    # --- the thread

    def launch(self, int64_t slots):
        """Start the thread and wait until it has its privileges. Returns 0 or the errno of pthread_create."""
        cdef Core* c = self.c
        cdef int error
        c.slots_wanted, c.want_stop, c.ready, c.done, c.stop_reason = slots, 0, 0, 0, RUNNING
        c.first_slot, c.sparse_polls, c.counters.warm = 1, 0, 0
        c.fifo_error = c.memory_error = c.cpu_error = c.counter_error = 0
        if c.virtual_clock and c.virtual_ns == 0:
            c.virtual_ns = 1000000000
            c.wall_offset_ns = realtime_ns() - c.virtual_ns
        error = start_thread(&c.thread, run, c)
        if error:
            c.done = 1
            return error
        self.started_in, self.unjoined = os.getpid(), True
        with nogil:
            while not load(&c.ready):
                sleep_until(monotonic_ns() + 50000)
        return 0

    def ask_to_stop(self):
        store(&self.c.want_stop, 1)

    def wait_done(self, double timeout):
        """Wait until the thread has ended, without the interpreter lock; then join it. False after the time-out."""
        cdef Core* c = self.c
        cdef int64_t end = monotonic_ns() + <int64_t>(timeout * 1e9), look = 0
        if self.started_in != os.getpid():
            return True
        while not load(&c.done):
            if monotonic_ns() >= end:
                return False
            with nogil:
                sleep_until(monotonic_ns() + 200000)
            look += 1
            if look % 100 == 0:
                PyErr_CheckSignals()
        if self.unjoined:
            with nogil:
                pthread_join(c.thread, NULL)
            self.unjoined = False
        return True

    @property
    def alive(self):
        """The thread runs (in this process)."""
        return not load(&self.c.done) and self.started_in == os.getpid()

    # --- mail

    def post(self, str box, const double[::1] values):
        """Put values into a mailbox; returns the number of the letter."""
        cdef Mailbox* m = self.box(box)
        if values.shape[0] != m.size():
            raise ValueError(f"{box}: expected {m.size()} numbers, got {values.shape[0]}")
        if m.size() > 0:
            memcpy(m.values(), &values[0], m.size() * sizeof(double))
        return m.post()

    def post_command(self, const double[::1] values):
        cdef int n = self.c.plant.command_size
        if n > 0:
            memcpy(self.c.commands.values(), &values[0], n * sizeof(double))
        self.c.commands.post()

    cdef Mailbox* box(self, str name) except NULL:
        cdef Core* c = self.c
        cdef Mailbox** boxes = [c.parameters, c.resets, c.pace, c.watchdog, c.inject, c.clear_statistics, c.states]
        return boxes[<int>BOXES[name]]

    def acknowledged(self, str box, int64_t number):
        return load(&self.c.acks[<int>BOXES[box]]) >= number

    def ask_pause(self, bint pause):
        store(&self.c.want_pause, pause)

    def ask_steps(self, int64_t n):
        """Ask for n single steps; returns the count at which they are done."""
        store(&self.c.step_target, load(&self.c.steps_given) + n)
        return self.c.step_target

    def cancel_steps(self):
        store(&self.c.step_target, load(&self.c.steps_given))

    def serve_requests(self):
        """Do what the thread would do at its next slot, then show(); only while there is no thread."""
        if self.alive:
            raise RuntimeError("the loop's own thread serves the requests")
        take_requests(self.c, monotonic_ns())

    def show(self):
        """Observe the plant and put the snapshot into the mailbox; only while there is no thread."""
        cdef uint32_t flags = 0
        if self.alive:
            raise RuntimeError("the loop's own thread writes the snapshots")
        observe(self.c)
        if self.c.is_paused:
            flags |= MBROS_PAUSED
        if self.c.fault_code:
            flags |= MBROS_FAULT
        self.c.due_ns = monotonic_ns()
        self.c.wall_offset_ns = realtime_ns() - self.c.due_ns
        write_header(self.c, self.c.snapshots.header(), flags)
        memcpy(self.c.snapshots.values(), self.c.x, self.c.plant.snapshot_size * sizeof(double))
        self.c.snapshots.post()
        tell(self.c)

    # --- what comes back

    def read_snapshot(self, double[::1] out):
        """Copy the newest snapshot; returns (step, time, wall_ns, command_age_ns, flags, parameters)."""
        cdef Mailbox* m = self.c.snapshots
        cdef const Letter* h
        m.take()
        if out.shape[0] != m.size():
            raise ValueError(f"snapshot: out has {out.shape[0]} numbers, expected {m.size()}")
        if m.size() > 0:
            memcpy(&out[0], m.taken_values(), m.size() * sizeof(double))
        h = m.taken()
        return h.step, h.time, h.wall_ns, h.command_age_ns, h.flags, h.parameters

    def drain(self):
        """Take all records waiting: (headers, snapshots, applied commands) as arrays with a row each."""
        cdef Ring* r = self.c.records
        cdef int nx = self.c.plant.snapshot_size, nu = self.c.plant.command_size
        if r == NULL:
            raise RuntimeError("this loop keeps no records; make it with record=<number of records>")
        cdef int64_t n = r.waiting(), k
        headers, x, u = np.empty(n, HEADER), np.empty((n, nx)), np.empty((n, nu))
        cdef char[::1] hv = headers.view(np.int8)
        cdef double[:, ::1] xv = x, uv = u
        for k in range(n):
            # Letter starts with its number; HEADER has the fields after it, laid out the same way.
            memcpy(&hv[k * 40], &r.oldest().step, 40)
            if nx > 0:
                memcpy(&xv[k, 0], r.oldest_values(), nx * sizeof(double))
            if nu > 0:
                memcpy(&uv[k, 0], r.oldest_values() + nx, nu * sizeof(double))
            r.release()
        return headers, x, u

    def figures(self):
        """Every shared number, by name."""
        cdef Core* c = self.c
        cdef int k
        cdef Counters counters
        for k in range(<int>(sizeof(Counters) // sizeof(int64_t))):
            (<int64_t*>&counters)[k] = load(<int64_t*>&c.counters + k)
        d = dict(counters)
        d.update(want_pause=c.want_pause, steps_given=c.steps_given,
                 stop_reason=c.stop_reason, stop_slot=c.stop_slot, stop_late_ns=c.stop_late_ns,
                 stop_work_ns=c.stop_work_ns, stop_count=c.stop_count, fault_code=c.fault_shown,
                 fault_step=c.fault_step, fault_index=c.fault_index, fifo_error=c.fifo_error,
                 memory_error=c.memory_error, cpu_error=c.cpu_error, counter_error=c.counter_error,
                 records_dropped=0 if c.records == NULL else c.records.dropped(), done=c.done,
                 sources=[dict(c.sources[k]) for k in range(c.n_inputs + 1)])
        return d

    @property
    def steps_given(self):
        return load(&self.c.steps_given)

    @property
    def fault_code(self):
        return load(&self.c.fault_shown)

    @property
    def paused_now(self):
        return bool(load(&self.c.pause_shown))

    def histograms(self):
        """(counts, count, sum ns, largest ns) of lateness, whole slots and plant steps."""
        return [self.histogram(k) for k in range(3)]

    cdef histogram(self, int which):
        cdef Histogram* h = self.c.lateness + which
        cdef int i
        counts = np.empty(kBins, dtype=np.int64)
        cdef int64_t[::1] view = counts
        for i in range(kBins):
            view[i] = load(&h.counts[i])
        return counts, load(&h.count), load(&h.sum), load(&h.largest)

    @property
    def sizes(self):
        p = self.c.plant
        return {"command": p.command_size, "snapshot": p.snapshot_size, "parameters": p.parameter_size,
                "state": p.state_size, "plant": <size_t>p.self, "inputs": self.c.n_inputs,
                "settable": p.set_state != NULL}

    # --- the end

    def __del__(self):
        # A thread that does not end within two seconds keeps its memory and its plugs for good: freeing what it
        # still works on would be worse than the leak.
        if self.alive:
            self.ask_to_stop()
            self.leak = not self.wait_done(2.0)
            if self.leak:
                KEPT.append(self.plugs)

    def __dealloc__(self):
        cdef Core* c = self.c
        if c == NULL or self.leak or (self.started_in and self.started_in != os.getpid() and not c.done):
            return
        release(c)
        free(c)


KEPT = []


def release_memory_lock():
    """Undo mlockall for the whole process."""
    unlock_memory()
