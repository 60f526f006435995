# Visits: work of another thread on the plant, between two steps of the loop's. visit(); until visited(n); ...; leave(n).

@cython.no_gc_clear
cdef class Visited(Readings):
    """What a visitor asks of the thread, and the loop's own part of what decides the future."""

    def visit(self):
        """Ask the thread to let go of the plant; returns the number of the visit, which the caller has to leave() in any case."""
        cdef Core* c = self.core()
        cdef int64_t number = load(&c.visit_wanted) + 1
        store(&c.visit_wanted, number)
        ring(&c.bell)
        return number

    def visited(self, int64_t number):
        """The thread has let go of the plant, and waits."""
        return load(&self.core().visit_begun) >= number

    def leave(self, int64_t number):
        """The visit is over: the thread goes on."""
        cdef Core* c = self.core()
        store(&c.visit_over, number)
        ring(&c.bell)

    def visit_shown(self, int64_t number):
        """What the visitor left behind has been published."""
        return load(&self.core().visit_shown) >= number

    @property
    def recording(self):
        """Whether records are kept just now; needs a loop with room for records."""
        return bool(load(&self.core().recording)) and self.core().records != NULL

    @recording.setter
    def recording(self, bint on):
        if self.core().records == NULL:
            raise LoopError("this loop keeps no records; make it with record=<number of records>")
        store(&self.core().recording, on)

    def commands_in_force(self):
        """During a visit: steps since the reset, the command in force with its age, and what the watchdog does about it."""
        cdef Core* c = self.core()
        cdef int i
        return {"step": c.step, "commanded": bool(c.have_command), "tripped": bool(c.tripped),
                "age_steps": c.pace_steps - c.command_pace, "age_ns": c.pace_extra_ns - c.command_extra_ns,
                "held": [c.held[i] for i in range(c.plant.command_size)],
                "watched": [[bool(c.watched[i].commanded), bool(c.watched[i].tripped), c.pace_steps - c.watched[i].pace,
                             c.pace_extra_ns - c.watched[i].extra_ns] for i in range(c.n_watched)]}

    def recall(self, int64_t step, bint commanded, bint tripped, int64_t age_steps, int64_t age_ns, held, watched=None):
        """During a visit, after the plant was put where it was then: what commands_in_force() said. A fault is over; the next
        publication is of this state, as after a reset. watched: None: of several watchdogs each heard the newest command."""
        cdef Core* c = self.core()
        cdef int i
        values = given.vector("recall", "held", held, c.plant.command_size)
        rows = [(commanded, tripped, age_steps, age_ns)] * c.n_watched if watched is None else watched
        if len(rows) != c.n_watched:
            raise MbrosError(f"recall: watched: expected {c.n_watched} rows, one for each watchdog, got {len(rows)}")
        for i in range(c.n_watched):
            store(&c.watched[i].commanded, <int64_t>rows[i][0])
            store(&c.watched[i].tripped, <int64_t>rows[i][1])
            store(&c.watched[i].pace, c.pace_steps - <int64_t>rows[i][2])
            store(&c.watched[i].extra_ns, c.pace_extra_ns - <int64_t>rows[i][3])
        c.step, c.have_command, c.tripped, c.fault_code = step, commanded, tripped, 0
        c.command_pace, c.command_extra_ns = c.pace_steps - age_steps, c.pace_extra_ns - age_ns
        for i in range(c.plant.command_size):
            c.held[i] = values[i]
            c.applied[i] = values[i]
        store(&c.counters.owed, 0)
        c.fresh_reset = 1
