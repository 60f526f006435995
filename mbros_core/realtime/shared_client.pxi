# A controller's side. What may take long does without the interpreter lock, and looks for Ctrl-C every 20 ms.

cdef extern from "Python.h":
    int PyErr_CheckSignals() except -1

cdef enum:
    NAP_NS = 20000000


cdef class SharedClient:
    """What a controller in another process sees of a simulation, and how it commands. mbros.connect makes them.

    spin: s, longest look without sleep of one wait(); 0: none. `values` are the numbers of the state that was read last, in memory of this
    process: the next read changes them.
    """
    cdef mbros_client c
    cdef readonly str name
    cdef readonly object values
    cdef bint waiting, leaving                      # a thread sleeps in wait(); it closes when it comes back

    def __cinit__(self, str name not None, double spin=100e-6):
        cdef int answer
        self.c.file = -1
        self.name = name
        path_of(name)
        text = name.encode()
        answer = mbros_open(&self.c, text)
        if answer == MBROS_EABSENT:
            running = ", ".join(names()) or "none"
            raise LoopError(f"connect: no simulation shares its memory under the name {name!r} (those of this user that do: {running}); "
                            "`mbros node ROBOT --ros-args -p shared_memory:=NAME` does")
        if answer == MBROS_EFOREIGN:
            raise LoopError(f"connect: the simulation {name!r} is of another version of mbros, which shares its memory otherwise")
        if answer == MBROS_EUNSAFE:
            raise LoopError(f"connect: {path_of(name)} is {what_stands(path_of(name)) or 'not for this process'}, and no simulation's of this "
                            "user; remove it, or choose another name")
        if answer == MBROS_EDAMAGED:
            raise LoopError(f"connect: {path_of(name)} is damaged: it was cut short or written over; start the simulation {name!r} again")
        if answer == MBROS_EAWAY:
            raise LoopError(f"connect: the memory of the simulation {name!r} is not in this IPC namespace: one of the two runs in a "
                            "container; start it with --ipc=host, or both with the same --ipc")
        if answer != MBROS_OK:
            raise SystemRefusedError(errno, f"connect: {path_of(name)}: {os.strerror(errno)}")
        self.c.spin.longest_ns = <int64_t>(1e9 * spin)
        cdef cnp.npy_intp size = self.c.header.state_size
        values = cnp.PyArray_SimpleNewFromData(1, &size, cnp.NPY_DOUBLE, self.c.values)
        cnp.set_array_base(values, Values.of(self.c.values))
        values.flags.writeable = False
        self.values = values

    cdef int refuse_closed(self) except -1:
        if self.c.file < 0 or self.leaving:
            raise LoopError(f"connection {self.name!r}: it is closed; connect again")
        return 0

    cdef int refuse_waiting(self) except -1:
        if self.waiting:
            raise BusyError(f"connection {self.name!r}: another thread waits on it; one thread reads a connection, another makes its own")
        return 0

    @property
    def description(self):
        """What the simulation says of itself, JSON text."""
        self.refuse_closed()
        return PyBytes_FromStringAndSize(self.c.description, self.c.header.description_bytes).decode(errors="replace")

    @property
    def sizes(self):
        """(numbers of a state, of a command)."""
        self.refuse_closed()
        return self.c.header.state_size, self.c.header.command_size

    @property
    def lockstep(self):
        """(n, m): a step waits for the answer to n of m states; None: it waits for nobody."""
        self.refuse_closed()
        return (self.c.header.lockstep_n, self.c.header.lockstep_m) if self.c.header.lockstep_m else None

    def head(self):
        """(number, step, time, wall_ns, command_age_ns, command, flags, taken_ns) of the state that was read last; number 0: none."""
        cdef mbros_slot* s = &self.c.state
        return s.number, s.step, s.time, s.wall_ns, s.command_age_ns, s.command, s.flags, s.taken_ns

    @property
    def number(self):
        return self.c.state.number

    @property
    def step(self):
        return self.c.state.step

    @property
    def time(self):
        return self.c.state.time

    @property
    def spun(self):
        """Seconds that wait() has looked for states without sleep."""
        return 1e-9 * self.c.spin.spent_ns

    @property
    def sent(self):
        """Commands sent by this client; the number of its newest stands in `newest_command`."""
        return self.c.sent

    @property
    def newest_command(self):
        """Number of the newest command of anybody."""
        self.refuse_closed()
        return self.c.commands.newest

    def read(self):
        """Read the newest state; False: there is none yet. LoopError where the simulation has ended without one."""
        self.refuse_closed()
        self.refuse_waiting()
        cdef int answer = mbros_read(&self.c)
        if answer == MBROS_EABSENT:
            self.refuse_ended()
        return answer == MBROS_OK

    def wait(self, double timeout=1.0):
        """Sleep until there is a newer state than the one read last, and read it. LoopTimeoutError after `timeout` seconds, LoopError where
        the simulation has ended."""
        cdef int64_t end = monotonic_ns() + <int64_t>(1e9 * min(given.number("wait", "timeout", timeout, 0.0), 1e9))
        cdef int64_t nap
        cdef int answer
        self.refuse_waiting()
        while True:
            self.refuse_closed()
            nap = min(max(end - monotonic_ns(), <int64_t>0), <int64_t>NAP_NS)
            self.waiting = True
            with nogil:
                answer = mbros_wait(&self.c, nap)
            self.waiting = False
            if self.leaving:
                self.close()
                self.refuse_closed()
            if answer == MBROS_OK:
                return
            if answer == MBROS_EABSENT:
                self.refuse_ended()
            PyErr_CheckSignals()
            if monotonic_ns() >= end:               # signals end naps early
                raise LoopTimeoutError(f"connection {self.name!r}: no new state within {timeout:g} s: the simulation is paused without "
                                       "publishing, waits for an answer in lockstep, or stands still")

    cdef int refuse_ended(self) except -1:
        raise LoopError(f"connection {self.name!r}: the simulation has ended; connect again when it runs")

    def command(self, values, uint64_t answers=0):
        """Command all numbers, finite or NaN (that coordinate keeps what it has), from the next step on."""
        self.refuse_closed()
        x = np.ascontiguousarray(given.vector("command", "command", values, self.c.header.command_size, nan=True), np.float64)
        cdef int answer = mbros_command(&self.c, constants_of(x, 1), answers)
        if answer == MBROS_EABSENT:
            self.refuse_ended()
        if answer == MBROS_EBUSY:
            raise BusyError(f"connection {self.name!r}: process {self.c.commands.process} commands already; one at a time does. End that one "
                            "or have it release()")
        if answer != MBROS_OK:
            raise SystemRefusedError(errno, f"connection {self.name!r}: {os.strerror(errno)}")

    def release(self):
        """Let another client command."""
        self.refuse_closed()
        mbros_release(&self.c)

    def close(self):
        """Leave. `values` stay as they are."""
        if self.waiting:
            self.leaving = True
            return
        self.leave()

    cdef void leave(self) noexcept:
        self.c.values = NULL                        # the array's
        mbros_close(&self.c)

    def __dealloc__(self):
        self.leave()


cdef class Values:
    """Keeps the memory of a client's numbers for the array that shows them."""
    cdef double* memory

    @staticmethod
    cdef Values of(double* memory):
        cdef Values v = Values()
        v.memory = memory
        return v

    def __dealloc__(self):
        free(self.memory)
