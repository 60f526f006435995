# Input plugs: commands taken from a subscription by the loop's own thread; what they mean is in dataplane_decode.pxi.

cdef int _take(void* self, double* command, int64_t now_ns) noexcept nogil:
    cdef InputState* s = <InputState*>self
    cdef int k, answer, got = 0
    if s.subscription is NULL:
        return 0
    for k in range(MOST_PER_POLL):
        s.message.buffer, s.message.buffer_length, s.message.buffer_capacity = s.memory, 0, s.room
        answer = rcl.take(s.subscription, &s.message, NULL, NULL)
        if answer == RET_NOTHING_THERE:
            break
        if answer != RET_OK:
            rcl.reset_error()
            _refuse(s, TOO_LARGE if answer == 10 else READ_ERROR, NULL, 0, <double>s.room)
            if answer != 10:                           # RCL_RET_BAD_ALLOC: the message is gone, there may be another
                break
        elif _decode(s, s.message.buffer, s.message.buffer_length, _system_time_ns()) == ACCEPTED:
            memcpy(command, s.scratch, <size_t>s.command_size * sizeof(double))
            got = 1
    return got


cdef void _tell_input(void* self, mbros_range say, void* to) noexcept nogil:
    cdef InputState* s = <InputState*>self
    say(to, s, sizeof(InputState))
    say(to, s.stamps, sizeof(StampState))
    say(to, s.memory, s.room)
    _tell_middleware(say, to)


cdef class CommandInput:
    """One command topic as a plug of the loop.

    kind: "joint_state" (sensor_msgs/JointState) or "multi_array" (std_msgs/Float64MultiArray).
    subscription: an rclpy subscription that no executor serves, or None to only `decode`.
    names: joints that a message may name; slots: place of each in the command, or -1 where it takes none.
    command_size: efforts of a command (nv). limit: largest magnitude believed, N m or N.
    max_age: oldest (and most future) stamp accepted, s; 0 switches the check off.
    """
    cdef InputState state
    cdef mbros_memory memory
    cdef object subscription, handle
    cdef readonly StampClock clock
    cdef readonly str name

    def __cinit__(self, str name, str kind, subscription, names, slots, int command_size, StampClock clock,
                  double limit=1e6, double max_age=0.5):
        memset(&self.state, 0, sizeof(InputState))
        cdef InputState* s = &self.state
        if kind not in ("joint_state", "multi_array"):
            raise MbrosError(f"input '{name}': kind must be 'joint_state' or 'multi_array', got '{kind}'")
        if subscription is not None:
            _need_rcl()
        encoded = [n.encode() for n in names]
        if len(set(encoded)) != len(encoded) or len(slots) != len(encoded):
            raise MbrosError(f"input '{name}': needs different names, and one slot for each")
        if max(slots, default=-1) >= command_size:
            raise MbrosError(f"input '{name}': a slot lies outside a command of {command_size} efforts")
        self.name, self.clock = name, clock
        n = len(encoded)
        room = 65536 + 2 * sum(map(len, encoded)) + 64 * n
        s.stamps, s.array = &clock.state, kind == "multi_array"
        s.njoints, s.command_size, s.limit, s.max_age = n, command_size, limit, llround(max_age * 1e9)
        s.mask = 16
        while s.mask < 2 * n:
            s.mask *= 2
        s.memory, s.room = <uint8_t*>calloc(room, 1), room
        s.message = fixed_buffer(s.memory, 0, room)
        s.names = <char*>calloc(sum(map(len, encoded)) + 1, 1)
        s.name_at = <uint32_t*>calloc(n + 1, sizeof(uint32_t))
        s.slot, s.order = <int*>calloc(n + 1, sizeof(int)), <int*>calloc(n + 1, sizeof(int))
        s.table, s.seen = <uint32_t*>calloc(s.mask, sizeof(uint32_t)), <uint32_t*>calloc(n + 1, sizeof(uint32_t))
        s.scratch = <double*>calloc(command_size + 1, sizeof(double))
        if not (s.memory and s.names and s.name_at and s.slot and s.order and s.table and s.seen and s.scratch):
            raise MemoryError()
        s.mask -= 1
        self._fill(encoded, slots)
        self.subscription = subscription
        if subscription is not None:
            self.handle = subscription.handle
            self.handle.__enter__()             # rclpy does not destroy a handle in use
            s.subscription = <const void*><uintptr_t>self.handle.pointer
        s.port = mbros_input(<void*>s, &_take)
        self.memory.tell = _tell_input

    @property
    def capsule(self):
        """The plug for the real-time loop; it keeps this input."""
        return plug_of(self, &self.state.port, "mbros_core.input", &self.memory)

    cdef _fill(self, list encoded, slots):
        """Names into one piece of memory and into the hash table."""
        cdef InputState* s = &self.state
        cdef uint32_t at, where = 0
        for j, text in enumerate(encoded):
            size = len(text)
            memcpy(s.names + where, <const char*>text, size)
            where += size
            s.name_at[j + 1] = where
            s.slot[j] = slots[j]
            if slots[j] >= 0:
                s.order[s.norder] = j
                s.norder += 1
            at = _hash(<const char*>text, size) & s.mask
            while s.table[at] != 0:
                at = (at + 1) & s.mask
            s.table[at] = j + 1

    def close(self):
        """Let go of the subscription. The loop must have been stopped."""
        self.state.subscription = NULL
        if self.handle is not None:
            self.handle.__exit__(None, None, None)
        self.handle = self.subscription = None

    def __dealloc__(self):
        cdef InputState* s = &self.state
        for p in (<uintptr_t>s.memory, <uintptr_t>s.names, <uintptr_t>s.name_at, <uintptr_t>s.slot,
                  <uintptr_t>s.order, <uintptr_t>s.table, <uintptr_t>s.seen, <uintptr_t>s.scratch):
            free(<void*><uintptr_t>p)

    def decode(self, bytes message, wall_ns=None):
        """What one message says: ("accepted", efforts (command_size,)) or (reason, None). Counted like a taken one."""
        cdef int64_t wall = _system_time_ns() if wall_ns is None else wall_ns
        cdef const uint8_t* data = <const uint8_t*><const char*>message
        cdef size_t size = len(message)
        cdef int reason, k
        with nogil:
            reason = _decode(&self.state, data, size, wall)
        if reason != ACCEPTED:
            return REASON_NAMES[reason], None
        command = np.empty(self.state.command_size)
        for k in range(self.state.command_size):
            command[k] = self.state.scratch[k]
        return "accepted", command

    def counts(self):
        """How many messages were accepted, and dropped for each reason."""
        return {REASON_NAMES[k]: load(&self.state.counts[k]) for k in range(NUMBER_OF_REASONS)}

    @property
    def beside(self):
        """How many accepted messages carried positions or velocities beside their efforts; nobody looks at those."""
        return load(&self.state.beside)

    def last_problem(self):
        """(reason, joint name or '', value) of the newest dropped command, or None."""
        cdef Problem copy
        cdef uint32_t before
        for _ in range(1000):
            before = load(&self.state.problem.sequence)
            memcpy(&copy, &self.state.problem, sizeof(Problem))
            if before % 2 == 0 and load(&self.state.problem.sequence) == before:
                break
        if copy.reason == ACCEPTED:
            return None
        return REASON_NAMES[copy.reason], (<bytes>copy.text).decode(errors="replace"), copy.value
