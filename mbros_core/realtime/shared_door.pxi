# The simulation's side: an input, an output and, in lockstep, a gate of a loop. File and memory are made here; of what clients can write,
# numbers alone are read again, and checked.

cdef enum:
    SHORTEST_NAP_NS = 20000             # the gate looks again after an eighth of the time it has waited, but within these bounds
    LONGEST_NAP_NS = 1000000


cdef struct DoorC:
    mbros_input input
    mbros_output output
    mbros_gate gate
    mbros_shared_states* shown          # two segments
    mbros_shared_commands* commands
    int state_size, command_size
    int masks_at                        # from this number of a command on, each says what is commanded, 0 to 7; -1: none does
    mbros_slot heard                    # the newest command that was looked at
    double* values
    double limit                        # a number beyond it is taken for a mistake, and its command left out
    int64_t looked_ns                   # CLOCK_REALTIME of that look
    uint64_t number                     # of the newest state
    uint64_t taken                      # number of the newest command taken
    # lockstep: asked in n of m steps (m 0: never)
    uint64_t n, m
    Patience patience
    mbros_spin spin                     # for the answer, before the first nap
    bint asked, missing, admitted
    bint absent                         # was late under `hold`, and has not been heard since
    uint64_t question                   # number of the state that is to be answered
    # counted
    int64_t commands_taken, too_large, out_of_turn, late, late_step


cdef bint hear(DoorC* d) noexcept nogil:
    """Copy the newest command, if it is one that was not looked at yet."""
    d.looked_ns = realtime_ns()
    if <uint64_t>load(<int64_t*>&d.commands.newest) == d.heard.number:
        return False
    if not mbros_read_slot(d.commands + 1, d.command_size, &d.commands.newest, &d.heard, d.values):
        return False
    d.absent = False
    return True


cdef inline bint is_mask(double x) noexcept nogil:
    return x != x or (0.0 <= x <= 7.0 and x == floor(x))


cdef bint believable(DoorC* d) noexcept nogil:
    cdef int i
    for i in range(d.command_size):
        if fabs(d.values[i]) > d.limit or (0 <= d.masks_at <= i and not is_mask(d.values[i])):         # NaN is not
            bump(&d.too_large, 1)
            return False
    return True


cdef int door_take(void* self, double* command, int64_t now_ns) noexcept nogil:
    cdef DoorC* d = <DoorC*>self
    if d.m != 0:
        if not d.admitted:
            return 0
        d.admitted = False
    elif not hear(d):
        return 0
    d.taken = d.heard.number
    if not believable(d):
        return 0
    memcpy(command, d.values, d.command_size * sizeof(double))
    bump(&d.commands_taken, 1)
    return 1


cdef void door_publish(void* self, const mbros_snapshot* snapshot) noexcept nogil:
    cdef DoorC* d = <DoorC*>self
    cdef mbros_slot head
    cdef int64_t after = d.looked_ns - snapshot.wall_ns
    d.number += 1
    if not snapshot.flags & MBROS_REPEATED:
        d.asked = False                             # a question is about the state before
    memset(&head, 0, sizeof(head))
    head.number, head.step, head.time, head.wall_ns = d.number, snapshot.step, snapshot.time, snapshot.wall_ns
    head.command_age_ns, head.command, head.flags = snapshot.command_age_ns, d.taken, snapshot.flags
    head.taken_ns = <uint32_t>max(<int64_t>0, min(after, <int64_t>0xffffffff))
    mbros_set_word(&d.shown.core, mbros_this_core())
    mbros_write_slot(d.shown + 1, d.state_size, &d.shown.newest, &head, snapshot.x)
    mbros_ring(d.shown, d.commands)


cdef bint spin_for_answer(DoorC* d) noexcept nogil:
    """A client that answers at once is heard at once."""
    return (mbros_may_spin(&d.spin, &d.commands.core)
            and mbros_spin_until(&d.spin, &d.commands.newest, d.heard.number, d.spin.longest_ns, &d.commands.core))


cdef int door_open(void* self, const mbros_snapshot* shown, int64_t now, int64_t* until) noexcept nogil:
    """Whether the newest state is answered, where it is to be. Nobody can ring a loop from another process, so it looks again."""
    cdef DoorC* d = <DoorC*>self
    cdef int64_t nap
    cdef bint first = not d.asked
    cdef int answer
    if first:
        d.asked, d.question = True, d.number
        ask(&d.patience, now)
        d.missing, d.admitted = is_due(shown.step, d.n, d.m), False
    if d.missing and (hear(d) or (first and not d.absent and spin_for_answer(d) and hear(d))):
        if d.heard.step >= d.question:
            d.missing, d.admitted = False, True
        else:
            bump(&d.out_of_turn, 1)
    if not d.missing or d.absent:
        return MBROS_GO
    if now >= late_at(&d.patience):
        store(&d.late_step, <int64_t>shown.step)
        bump(&d.late, 1)
        answer = time_out(&d.patience, now)
        d.absent = answer == MBROS_GO
        if answer != MBROS_WAIT:
            return answer
    nap = min(max((now - d.patience.asked_ns) >> 3, <int64_t>SHORTEST_NAP_NS), <int64_t>LONGEST_NAP_NS)
    until[0] = now + nap
    return MBROS_WAIT


cdef void door_give_bell(void* self, uint32_t* bell) noexcept nogil:
    pass


cdef void door_tell(void* self, mbros_range say, void* to) noexcept nogil:
    cdef DoorC* d = <DoorC*>self
    say(to, d, sizeof(DoorC))
    say(to, d.values, d.command_size * sizeof(double))
    say(to, d.shown, mbros_segment_bytes(d.state_size))
    say(to, d.commands, mbros_segment_bytes(d.command_size))


cdef class SharedDoor:
    """Plugs `input`, `output` and `gate` for a Loop, which share its states with, and take commands from, clients of this name.

    name: of the file; sizes: (numbers of a state, of a command); dt: s; description: JSON text for clients; lockstep: (n, m), the answer to
    n of m states is waited for, or None; timeout: s, 0: for ever; policy: "wait", "hold" or "stop" then; limit: a command with a larger
    number is left out; spin: s, longest look for an answer without sleep; masks_at: from this number on a command says what is commanded
    (0 to 7; another is left out), -1: nowhere. BusyError where a simulation of this name runs, SystemRefusedError where the system has no
    memory for it or something else stands there.
    """
    cdef DoorC d
    cdef mbros_memory memory
    cdef int file
    cdef readonly str name
    cdef readonly str path

    def __cinit__(self, str name not None, sizes, double dt, str description not None, lockstep=None, double timeout=1.0,
                  str policy="wait", double limit=1e300, double spin=100e-6, int masks_at=-1):
        cdef DoorC* d = &self.d
        self.file = -1
        self.name, self.path = name, path_of(name)
        text = description.encode()
        for what, size, most in (("a state", sizes[0], MBROS_MOST_NUMBERS), ("a command", sizes[1], MBROS_MOST_NUMBERS),
                                 ("the description", len(text), MBROS_MOST_TEXT)):
            if not 0 <= size <= most:
                raise MbrosError(f"shared memory {name!r}: {what} has {size} numbers or letters; expected at most {most}")
        d.state_size, d.command_size = sizes
        d.masks_at = masks_at
        d.n, d.m = lockstep or (0, 0)
        d.limit, d.spin.longest_ns = limit, <int64_t>(1e9 * spin)
        self.set_patience(timeout, policy)
        d.values = <double*>calloc(d.command_size + 1, sizeof(double))
        if d.values == NULL:
            raise MemoryError()
        d.input = mbros_input(<void*>d, &door_take)
        d.output = mbros_output(<void*>d, &door_publish)
        d.gate = mbros_gate(<void*>d, &door_open, &door_give_bell)
        self.memory.tell = door_tell
        self.file = new_file(self.path, name, sizeof(mbros_shared_header) + <size_t>len(text))
        self.write_file(text, dt)

    cdef int write_file(self, bytes text, double dt) except -1:
        """What clients need to know, and memory for both sides. Both go with the process, however it ends."""
        cdef DoorC* d = &self.d
        cdef mbros_shared_header h
        memset(&h, 0, sizeof(h))
        h.magic, h.version, h.bytes = MBROS_SHARED_MAGIC, MBROS_SHARED_VERSION, sizeof(h) + <size_t>len(text)
        h.token = int.from_bytes(os.urandom(8), "little") | 1
        h.state_size, h.command_size, h.description_bytes = d.state_size, d.command_size, <int32_t>len(text)
        h.lockstep_n, h.lockstep_m = <int32_t>d.n, <int32_t>d.m
        h.dt, h.process = dt, os.getpid()
        d.shown = <mbros_shared_states*>new_segment(self.name, mbros_segment_bytes(d.state_size), &h.states_id)
        d.commands = <mbros_shared_commands*>new_segment(self.name, mbros_segment_bytes(d.command_size), &h.commands_id)
        d.shown.token = d.commands.token = h.token
        write_all(self.file, PyBytes_FromStringAndSize(<char*>&h, sizeof(h)) + text)
        h.ready = 1
        write_all(self.file, PyBytes_FromStringAndSize(<char*>&h, sizeof(h)))
        return 0

    def set_patience(self, double timeout, str policy):
        """Time-out, s (0: never), and what happens then: "wait" on, "hold" what was commanded, "stop"."""
        set_patience(&self.d.patience, timeout, POLICIES.index(policy))

    @property
    def input(self):
        """A plug for the loop's `inputs`; it keeps this door, as the next two do."""
        return plug_of(self, &self.d.input, "mbros_core.input", &self.memory)

    @property
    def output(self):
        return plug_of(self, &self.d.output, "mbros_core.output", &self.memory)

    @property
    def gate(self):
        """A plug for the loop's `gate`; None without lockstep."""
        return plug_of(self, &self.d.gate, "mbros_core.gate", &self.memory) if self.d.m else None

    def counts(self):
        """What became of the commands: taken; with a number beyond `limit`; that answered no state that was asked about; time-outs."""
        cdef DoorC* d = &self.d
        return {"taken": load(&d.commands_taken), "too large": load(&d.too_large), "out of turn": load(&d.out_of_turn),
                "late": load(&d.late), "late step": load(&d.late_step)}

    @property
    def spun(self):
        """Seconds that the loop has looked for answers without sleep."""
        return 1e-9 * load(&self.d.spin.spent_ns)

    def close(self):
        """Clients are shown the end, and the name is free. The loop may go on; nobody comes in any more."""
        cdef DoorC* d = &self.d
        if self.file < 0:
            return
        if d.shown != NULL and d.commands != NULL:
            mbros_set_word(&d.shown.closed, 1)
            mbros_ring(d.shown, d.commands)
        put_away(self.path, self.file)
        os.close(self.file)
        self.file = -1

    def __dealloc__(self):
        if self.file >= 0:
            self.close()
        if self.d.shown != NULL:
            shmdt(self.d.shown)
        if self.d.commands != NULL:
            shmdt(self.d.commands)
        free(self.d.values)


def waits(plug):
    """Whether a capsule is the input or output of a door in lockstep, which needs its gate."""
    cdef DoorC* d = NULL
    if PyCapsule_IsValid(plug, "mbros_core.input") and (<mbros_input*>PyCapsule_GetPointer(plug, "mbros_core.input")).take == door_take:
        d = <DoorC*>(<mbros_input*>PyCapsule_GetPointer(plug, "mbros_core.input")).self
    elif PyCapsule_IsValid(plug, "mbros_core.output") and (
            (<mbros_output*>PyCapsule_GetPointer(plug, "mbros_core.output")).publish == door_publish):
        d = <DoorC*>(<mbros_output*>PyCapsule_GetPointer(plug, "mbros_core.output")).self
    return d != NULL and d.m != 0
