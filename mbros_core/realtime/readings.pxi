# What a loop shows of itself, to be read at any time from any thread.

HEADER = np.dtype([("step", np.uint64), ("time", np.float64), ("wall_ns", np.int64), ("command_age_ns", np.int64),
                   ("flags", np.uint32), ("parameters", np.uint32)])


def bin_starts():
    """Smallest duration (ns) of every histogram bin, and of the one past the last."""
    return np.array([bin_start(i) for i in range(kBins + 1)], dtype=np.int64)


@cython.no_gc_clear
cdef class Readings:
    """A loop's memory, and what may be read of it while its thread works on it.

    The garbage collector does not take the plugs from a loop that is in a circle: it hangs up at their gate when it is freed.
    """
    cdef Core* c
    cdef readonly object plugs          # what keeps the memory behind the plugs; None: not initialised

    def __cinit__(self, *args, **kwargs):
        self.c = <Core*>calloc(1, sizeof(Core))
        if self.c == NULL:
            raise MemoryError()

    cdef Core* core(self) except NULL:
        """The memory, once it is all there."""
        if self.plugs is None:
            raise LoopError(f"this {type(self).__name__} was never initialised: make it with Loop(plant, ...)")
        return self.c

    def read_snapshot(self, out):
        """Copy the newest snapshot; returns (step, time, wall_ns, command_age_ns, flags, parameters)."""
        cdef Mailbox* m = self.core().snapshots
        cdef const Letter* h
        cdef double* x = doubles_of(given.room("snapshot", "out", out, (m.size(),)), 1)
        m.take()
        memcpy(x, m.taken_values(), m.size() * sizeof(double))
        h = m.taken()
        return h.step, h.time, h.wall_ns, h.command_age_ns, h.flags, h.parameters

    def drain(self):
        """Take all records waiting: (headers, snapshots, applied commands) as arrays with a row each. Behind a snapshot
        stand the numbers of `record_also`."""
        cdef Core* c = self.core()
        cdef Ring* r = c.records
        cdef int nx = c.plant.snapshot_size + c.n_also, nu = c.plant.command_size
        if r == NULL:
            raise LoopError("this loop keeps no records; make it with record=<number of records>")
        cdef int64_t n = r.waiting(), k
        headers, x, u = np.empty(n, HEADER), np.empty((n, nx)), np.empty((n, nu))
        cdef char* to = bytes_of(headers.view(np.uint8))
        cdef double* to_x = doubles_of(x, 2)
        cdef double* to_u = doubles_of(u, 2)
        n = min(n, r.waiting())         # making arrays may let another thread in, and that one may drain too
        for k in range(n):
            # Letter starts with its number; HEADER has the fields after it, laid out the same way.
            memcpy(to + k * 40, &r.oldest().step, 40)
            memcpy(to_x + k * nx, r.oldest_values(), nx * sizeof(double))
            memcpy(to_u + k * nu, r.oldest_values() + nx, nu * sizeof(double))
            r.release()
        return headers[:n], x[:n], u[:n]

    def figures(self):
        """Every shared number, by name."""
        cdef Core* c = self.core()
        cdef int k
        cdef Counters counters
        read_words(<int64_t*>&c.counters, <int64_t*>&counters, sizeof(Counters) // sizeof(int64_t))
        d = dict(counters)
        d.update(want_pause=load(&c.want_pause), steps_given=load(&c.steps_given), stop_reason=load(&c.stop_reason),
                 stop_slot=load(&c.stop_slot), stop_late_ns=load(&c.stop_late_ns), stop_work_ns=load(&c.stop_work_ns),
                 stop_count=load(&c.stop_count), fault_code=load(&c.fault_shown), fault_step=load(&c.fault_step),
                 fault_index=load(&c.fault_index), fifo_error=load(&c.fifo_error), memory_error=load(&c.memory_error),
                 locked_bytes=load(&c.locked_bytes), cpu_error=load(&c.cpu_error), counter_error=load(&c.counter_error),
                 records_dropped=0 if c.records == NULL else c.records.dropped(), done=load(&c.done),
                 sources=[source_figures(&c.sources[k]) for k in range(c.n_inputs + 1)])
        return d

    @property
    def steps_given(self):
        return load(&self.core().steps_given)

    @property
    def fault_code(self):
        return load(&self.core().fault_shown)

    @property
    def pause_wanted(self):
        return bool(load(&self.core().want_pause))

    @property
    def paused_now(self):
        return bool(load(&self.core().pause_shown))

    @property
    def silent(self):
        """Which of several watchdogs act, (n,)."""
        cdef Core* c = self.core()
        return tuple(bool(load(&c.watched[k].tripped)) for k in range(c.n_watched))

    def histograms(self):
        """(counts, count, sum ns, largest ns) of lateness, whole slots and plant steps."""
        self.core()
        return [self.histogram(k) for k in range(3)]

    cdef histogram(self, int which):
        cdef Histogram* h = self.c.lateness + which
        counts = np.empty(kBins, dtype=np.int64)
        read_words(h.counts, <int64_t*>long_longs_of(counts, 1), kBins)
        return counts, load(&h.count), load(&h.sum), load(&h.largest)

    @property
    def sizes(self):
        cdef Core* c = self.core()
        p = c.plant
        return {"command": p.command_size, "snapshot": p.snapshot_size, "parameters": p.parameter_size,
                "state": p.state_size, "velocities": velocities(&p), "plant": <size_t>p.self, "inputs": c.n_inputs,
                "settable": p.set_state != NULL}


cdef inline void read_words(const int64_t* shared, int64_t* out, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(n):
        out[k] = load(shared + k)


cdef dict source_figures(const Source* shared):
    cdef Source source
    read_words(<const int64_t*>shared, <int64_t*>&source, sizeof(Source) // sizeof(int64_t))
    return source
