# distutils: language = c++
# cython: language_level=3, embedsignature=True
"""The loop's thread and the memory it works on, as a class under loop.Loop."""
import os

cimport cython
import numpy as np
cimport numpy as cnp

from cpython.pycapsule cimport PyCapsule_GetContext, PyCapsule_GetPointer, PyCapsule_IsValid
from libc.math cimport isinf
from libc.stdint cimport int64_t, uint32_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset
from posix.unistd cimport getpid

from mbros_core.engine.arrays cimport bytes_of, constants_of, doubles_of, ints_of, long_longs_of
from mbros_core.support.held cimport by_a_call, by_a_loop, holder, let_go, seize
from mbros_core.realtime.atomics cimport load, store
from mbros_core.realtime.bell cimport count_listener, listen_for_answer, ring, rings
from mbros_core.realtime.clock cimport monotonic_ns, realtime_ns
from mbros_core.realtime.core cimport (
    ACK_INJECT, ACK_PACE, ACK_PARAMETERS, ACK_RESET, ACK_STATE, ACK_STATISTICS, ACK_WATCHDOG, RUNNING, Core,
    Counters, Source, observe, velocities, write_header, Watched)
from mbros_core.realtime.histogram cimport Histogram, bin_start, kBins
from mbros_core.realtime.life cimport Life
from mbros_core.realtime.mailbox cimport Letter, Mailbox
from mbros_core.realtime.pages cimport Ranges
from mbros_core.realtime.ports cimport (
    MBROS_FAULT, MBROS_PAUSED, MBROS_RESET, MBROS_STEPPED, MBROS_WATCHDOG, mbros_gate, mbros_input, mbros_memory, mbros_output, mbros_plant)
from mbros_core.realtime.ring cimport Ring
from mbros_core.realtime.run cimport run
from mbros_core.realtime.slot cimport take_requests, tell
from mbros_core.errors import BusyError, LoopError, MbrosError, SystemRefusedError, WrongTypeError
from mbros_core.support import given
from mbros_core.realtime import settings, snapshot

cnp.import_array()

cdef extern from "Python.h":
    int PyErr_CheckSignals() except -1

cdef extern from "<errno.h>" nogil:
    int EBUSY

if ((snapshot.PAUSED, snapshot.FAULT, snapshot.STEPPED, snapshot.WATCHDOG, snapshot.RESET)
        != (MBROS_PAUSED, MBROS_FAULT, MBROS_STEPPED, MBROS_WATCHDOG, MBROS_RESET)):
    raise ImportError("the flags of realtime/snapshot.py are not those of realtime/ports.hpp")

cdef enum:
    LOOK_NS = 20000000          # Ctrl-C is seen that often while a call waits

include "memory.pxi"
include "readings.pxi"
include "visits.pxi"

BOXES = {"parameters": ACK_PARAMETERS, "reset": ACK_RESET, "pace": ACK_PACE, "watchdog": ACK_WATCHDOG,
         "inject": ACK_INJECT, "clear": ACK_STATISTICS, "state": ACK_STATE}


cdef bint is_ready(object values, int n) noexcept:
    """An array of n doubles as `given.vector` would return it, NaN allowed: looked at here, as cold NumPy takes 30 us."""
    cdef const double* x
    cdef int k
    if not cnp.PyArray_CheckExact(values) or cnp.PyArray_TYPE(values) != cnp.NPY_DOUBLE or cnp.PyArray_NDIM(values) != 1 \
            or cnp.PyArray_DIM(values, 0) != n or not cnp.PyArray_ISCARRAY_RO(values):
        return False
    x = <const double*>cnp.PyArray_DATA(values)
    for k in range(n):
        if isinf(x[k]):
            return False
    return True


@cython.no_gc_clear
cdef class LoopThread(Visited):
    """Memory, mailboxes and the thread. Not for direct use: see Loop.

    Every call may come at any time from any thread. What becomes of the thread is decided in one place (life.hpp); whoever
    works on the memory without a thread of the loop holds it first.
    """
    cdef object __weakref__
    cdef readonly long started_in       # process id of the thread's process, 0: never started
    cdef bint leak

    def __init__(self, plant, inputs, outputs, record, gate=None, record_also=None, watched_by=None):
        self.refuse_twice()
        record = given.count("Loop", "record", record, most=1 << 32)
        inputs, outputs = tuple(inputs), tuple(outputs)
        try:
            plugs = plug_in(self.c, plant, inputs, outputs, gate)
            kept = self.take_also(record_also)
            allocate(self.c, record, settings.watched_by(watched_by, velocities(&self.c.plant), self.c.plant.command_size))
        except BaseException:
            release(self.c)
            raise
        self.plugs = (*plugs, *kept)

    cdef tuple take_also(self, record_also):
        """Numbers of somebody's memory that records hold behind the snapshot; returns what has to be kept."""
        if record_also is None:
            return ()
        memory, places = record_also
        size, begin = len(memory), <size_t>doubles_of(memory, 1)
        chosen = np.array(places, np.int64)
        if chosen.ndim != 1 or ((chosen < 0) | (chosen >= size)).any():
            raise MbrosError(f"Loop: record_also: expected places of 0 to {size - 1}, got {places!r}")
        at = begin + 8 * chosen
        self.c.also, self.c.n_also = <double**>long_longs_of(at, 1), <int>len(chosen)
        return memory, at

    def refuse_twice(self):
        """A thread may work on what __init__ would make anew."""
        if self.plugs is not None:
            raise LoopError("a Loop is initialised once; make another one")

    cdef int refuse_fork(self) except -1:
        """In a fork there is no thread of the parent's loop."""
        cdef int64_t process = self.core().life.process()
        if process != getpid():
            raise LoopError(f"this loop belongs to process {process}; a fork has no thread of it. Make a new Loop in the child "
                            "process")
        return 0

    cdef bint hold(self) except -1:
        """Work on the memory and the plant until let_go(): True; False: the thread does."""
        cdef Core* c = self.core()
        cdef int64_t deadline
        cdef int answer
        self.refuse_fork()
        while True:
            deadline = monotonic_ns() + LOOK_NS
            with nogil:
                answer = c.life.hold(deadline)
            if answer == EBUSY:
                return False
            if answer == 0:
                break
            PyErr_CheckSignals()
        if seize(c.plant_held, by_a_loop()):
            return True
        answer = holder(c.plant_held) == by_a_call()
        c.life.release()
        raise BusyError("a call in another thread works on the plant just now; wait for it to return" if answer else
                        "the plant is being simulated by another loop; stop() that one first")

    cdef void let_go(self) noexcept:
        let_go(self.c.plant_held)
        self.c.life.release()

    cdef int hold_or_refuse(self, str what) except -1:
        if not self.hold():
            raise LoopError(f"{what}: the loop is running already; stop() it first")
        return 0

    def refuse_busy(self):
        """Before something is asked that serve() would have to do: the plant must not be somebody else's."""
        if not self.alive and self.hold():
            self.let_go()

    def configure(self, double dt, int overrun, int64_t overrun_limit, int64_t catch_up, int64_t warmup,
                  int64_t record_every, int fifo_priority, int cpu, bint lock_memory, bint count_allocations,
                  bint virtual_clock, double factor, bint paused):
        """Everything that is fixed before the thread starts."""
        cdef Core* c = self.core()
        settings.check_configuration(dt, overrun, overrun_limit, catch_up, warmup, record_every, fifo_priority, cpu, factor,
                                     c.records != NULL)
        self.hold_or_refuse("configure")
        c.dt, c.overrun, c.overrun_limit, c.catch_up = dt, overrun, overrun_limit, catch_up
        c.warmup, c.record_every, c.fifo_priority, c.cpu = warmup, record_every, fifo_priority, cpu
        c.lock_memory, c.count_allocations, c.virtual_clock = lock_memory, count_allocations, virtual_clock
        c.factor, c.is_paused = factor, paused
        store(&c.want_pause, paused)
        store(&c.pause_shown, paused)
        self.let_go()

    # --- the thread

    def launch(self, int64_t slots):
        """Start the thread and wait until it has its privileges."""
        cdef Core* c = self.core()
        cdef int error
        self.hold_or_refuse("start")
        c.slots_wanted, c.first_slot, c.sparse_polls = slots, 1, 0
        for word in (<size_t>&c.want_stop, <size_t>&c.stop_reason, <size_t>&c.counters.warm, <size_t>&c.fifo_error,
                     <size_t>&c.memory_error, <size_t>&c.cpu_error, <size_t>&c.counter_error, <size_t>&c.locked_bytes, <size_t>&c.done):
            store(<int64_t*><size_t>word, 0)
        if c.virtual_clock and c.virtual_ns == 0:
            c.virtual_ns = 1000000000
            c.wall_offset_ns = realtime_ns() - c.virtual_ns
        cdef long started_in = self.started_in
        self.started_in = getpid()
        with nogil:
            error = c.life.launch(run, c)
        if error:
            store(&c.done, 1)
            self.started_in = started_in
            self.let_go()
            raise SystemRefusedError(error, f"the loop's thread could not be started: {os.strerror(error)}")

    def ask_to_stop(self):
        """The thread, if there is one, ends at its next slot. Returns its number, for wait_done()."""
        cdef Core* c = self.core()
        cdef int64_t thread
        self.refuse_fork()
        with nogil:
            thread = c.life.tell(&c.want_stop)
            ring(&c.bell)
        return thread

    def wait_done(self, double timeout, thread=None):
        """Wait until that thread (None: the present one) has ended and is joined, without the interpreter lock. False after the
        time-out (s)."""
        cdef Core* c = self.core()
        cdef int64_t number
        if c.life.process() != getpid():
            return True
        if thread is None:
            with nogil:
                number = c.life.generation()
        else:
            number = thread
        return self.join(number, timeout, True)

    cdef bint join(self, int64_t number, double timeout, bint look_for_signals) except -1:
        cdef int64_t now = monotonic_ns()
        cdef int64_t end = now + <int64_t>(1e9 * min(1e9, max(0.0, timeout)))       # 1e9 s: 32 years
        cdef int64_t next_look
        cdef int answer
        while True:
            next_look = min(end, monotonic_ns() + LOOK_NS)
            with nogil:
                answer = self.c.life.join(number, next_look)
            if answer == 0:
                return True
            if monotonic_ns() >= end:
                return False
            if look_for_signals:
                PyErr_CheckSignals()

    @property
    def alive(self):
        """The thread runs (in this process)."""
        return not load(&self.core().done) and self.started_in == getpid()

    # --- mail

    def post(self, str box not None, values):
        """Put values into a mailbox; returns the number of the letter."""
        cdef Mailbox* m = self.box(box)
        x = settings.letter(box, values, m.size())
        memcpy(m.values(), constants_of(x, 1), m.size() * sizeof(double))
        cdef int64_t number = m.post()
        ring(&self.core().bell)
        return number

    def post_command(self, values):
        """Efforts for the next slot; NaN: as last commanded."""
        cdef Mailbox* m = self.core().commands
        if not is_ready(values, m.size()):
            values = settings.in_memory(given.vector("Loop", "command", values, m.size(), nan=True))
        memcpy(m.values(), constants_of(values, 1), m.size() * sizeof(double))
        m.post()

    cdef Mailbox* box(self, str name) except NULL:
        cdef Core* c = self.core()
        cdef Mailbox** boxes = [c.parameters, c.resets, c.pace, c.watchdog, c.inject, c.clear_statistics, c.states]
        return boxes[<int>self.number_of(name)]

    def number_of(self, str name):
        return BOXES[given.choice("Loop", "mailbox", name, tuple(BOXES))]

    def acknowledged(self, str box not None, int64_t number):
        return load(&self.core().acks[<int>self.number_of(box)]) >= number

    def ask_pause(self, bint pause):
        store(&self.core().want_pause, pause)
        ring(&self.core().bell)

    def ask_steps(self, n):
        """Pause, and ask for n single steps; returns the count at which they are done. One ring: two would be two slots."""
        cdef Core* c = self.core()
        cdef int64_t target = load(&c.steps_given) + <int64_t>given.count("Loop", "n", n, least=1, most=10**9)
        store(&c.want_pause, True)
        store(&c.step_target, target)
        ring(&c.bell)
        return target

    @property
    def steps_asked(self):
        """The count of steps at which those that were asked for are done; less than it was where the rest was given up."""
        return load(&self.core().step_target)

    def cancel_steps(self):
        cdef Core* c = self.core()
        store(&c.step_target, load(&c.steps_given))

    # --- waiting for an answer: attend(1); n = answered; look; listen(n, s); ...; attend(-1)

    def attend(self, int by):
        """From attend(1) on the thread rings when a slot has ended; attend(-1) takes it back."""
        count_listener(&self.core().listeners, by)

    @property
    def answered(self):
        """How often it has rung."""
        return rings(&self.core().answers)

    def listen(self, uint32_t answered, double seconds):
        """Sleep until it has rung since, without the interpreter lock, that many seconds at most."""
        cdef Core* c = self.core()
        cdef int64_t until = monotonic_ns() + <int64_t>(1e9 * min(1.0, max(0.0, seconds)))
        with nogil:
            listen_for_answer(&c.answers, answered, until)

    def serve(self):
        """Without a thread: do what the thread would do at its next slot, and put what is true then into the mailbox. False, and
        nothing done, when there is a thread."""
        cdef Core* c = self.core()
        cdef uint32_t flags = 0
        if not self.hold():
            return False
        take_requests(c, monotonic_ns())
        observe(c)
        if c.is_paused:
            flags |= MBROS_PAUSED
        if c.fault_code:
            flags |= MBROS_FAULT
        c.due_ns = monotonic_ns()
        c.wall_offset_ns = realtime_ns() - c.due_ns
        write_header(c, c.snapshots.header(), flags)
        memcpy(c.snapshots.values(), c.x, c.plant.snapshot_size * sizeof(double))
        c.snapshots.post()
        tell(c)
        self.let_go()
        return True

    # --- the end

    def __del__(self):
        # A thread that does not end within two seconds keeps its memory and its plugs for good: freeing what it
        # still works on would be worse than the leak.
        cdef int64_t thread
        if self.plugs is None or self.c.life.process() != getpid():
            return
        with nogil:
            thread = self.c.life.tell(&self.c.want_stop)
        self.leak = not self.join(thread, 2.0, False)
        if self.leak:
            KEPT.append(self.plugs)

    def __dealloc__(self):
        cdef Core* c = self.c
        if c == NULL or self.leak or (c.life != NULL and c.life.process() != getpid()):
            return
        release(c)
        free(c)


KEPT = []
