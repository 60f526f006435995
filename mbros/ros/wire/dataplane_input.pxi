# Input plugs: commands taken from a subscription by the loop's own thread; what they mean is in dataplane_decode.pxi.

KINDS = ("joint_state", "multi_array", "trajectory", "hardware")


cdef int _take(void* self, double* command, int64_t now_ns) noexcept nogil:
    cdef InputState* s = <InputState*>self
    cdef int k, answer, got = 0
    if s.subscription is NULL:
        return 0
    if s.gated:
        if s.given:
            memcpy(command, s.answer, <size_t>s.command_size * sizeof(double))
            if s.board is not NULL:
                memcpy(s.scratch, s.answer, <size_t>s.command_size * sizeof(double))
                _take_note(s)
        got, s.given = s.given, False
        return got
    for k in range(MOST_PER_POLL):
        answer = _take_one(s)
        if answer == NOTHING:
            break
        if answer == ACCEPTED and s.kind == HARDWARE:
            _gather(s)
        elif answer == ACCEPTED and s.kind != TRAJECTORY:
            memcpy(command, s.scratch, <size_t>s.command_size * sizeof(double))
            got = 1
            if s.board is not NULL:
                _take_note(s)
    if s.kind == HARDWARE:
        _feed(s)
    return _follow(s, command) if s.kind == TRAJECTORY else got


cdef enum:
    NOTHING = -1


cdef int _take_one(InputState* s) noexcept nogil:
    """Take the oldest message that waits, into `scratch`. Returns a Reason, or NOTHING."""
    cdef int answer
    s.message.buffer, s.message.buffer_length, s.message.buffer_capacity = s.memory, 0, s.room
    answer = rcl.take(s.subscription, &s.message, NULL, NULL)
    if answer == RET_NOTHING_THERE:
        return NOTHING
    if answer != RET_OK:
        rcl.reset_error()
        _refuse(s, TOO_LARGE if answer == 10 else READ_ERROR, NULL, 0, <double>s.room)
        return TOO_LARGE if answer == 10 else NOTHING  # RCL_RET_BAD_ALLOC: the message is gone, there may be another
    return _decode(s, s.message.buffer, s.message.buffer_length, _system_time_ns())


cdef void _tell_input(void* self, mbros_range say, void* to) noexcept nogil:
    cdef InputState* s = <InputState*>self
    say(to, s, sizeof(InputState))
    say(to, s.stamps, sizeof(StampState))
    say(to, s.memory, s.room)
    if s.tracks is not NULL:
        say(to, s.tracks, sizeof(Tracks))
        say(to, s.tracks.memory, s.tracks.bytes)
    _tell_middleware(say, to)


cdef class CommandInput:
    """One command topic as a plug of the loop.

    kind: "joint_state" (sensor_msgs/JointState), "multi_array" (std_msgs/Float64MultiArray), "trajectory"
        (trajectory_msgs/JointTrajectory) or "hardware" (sensor_msgs/JointState, no command: positions, velocities, efforts and ages for
        the sources of a bench; slots are theirs, command_size is 4 for each).
    subscription: an rclpy subscription that no executor serves, or None to only `decode`.
    names: joints that a message may name; slots: place of each in the command, or -1 where it takes none, -2 where it follows another.
    command_size: numbers of a command: nv efforts, or 4 nv with a board (mbros_core/plant/_commanded.pyx).
    limit: largest magnitude believed, N m or N (rad or m, rad/s or m/s).
    max_age: oldest (and most future) stamp accepted, s; 0 switches the check off.
    board: what the inputs of one node share where positions and velocities are commands too; takes: what each joint takes, 1 position +
        2 velocity + 4 effort; what: of these, what an array commands.
    feed: of hardware, the capsule of the devices that take its samples (mbros_core/plant/feed.hpp).
    """
    cdef InputState state
    cdef mbros_memory memory
    cdef object subscription, handle, feed
    cdef readonly StampClock clock
    cdef readonly str name
    cdef readonly CommandBoard board

    def __cinit__(self, str name, str kind, subscription, names, slots, int command_size, StampClock clock,
                  double limit=1e6, double max_age=0.5, CommandBoard board=None, takes=None, int what=EFFORT, feed=None):
        memset(&self.state, 0, sizeof(InputState))
        cdef InputState* s = &self.state
        cdef int k
        if kind not in KINDS:
            raise MbrosError(f"input '{name}': kind must be one of {', '.join(KINDS)}, got '{kind}'")
        if what not in (POSITION, VELOCITY, EFFORT) or (board is None and (kind == "trajectory" or what != EFFORT)):
            raise MbrosError(f"input '{name}': positions, velocities and trajectories need a board")
        if kind == "hardware":
            self._connect(feed, command_size)
        if subscription is not None:
            _need_rcl()
        encoded = [n.encode() for n in names]
        if len(set(encoded)) != len(encoded) or len(slots) != len(encoded):
            raise MbrosError(f"input '{name}': needs different names, and one slot for each")
        nv = command_size if board is None else board.board.nv
        if max(slots, default=-1) >= nv or (board is not None and command_size != 4 * nv):
            raise MbrosError(f"input '{name}': a slot lies outside a command of {nv} efforts, or the command is not of the board's size")
        self.name, self.clock = name, clock
        n = len(encoded)
        room = (TRAJECTORY_BYTES if kind == "trajectory" else 65536) + 2 * sum(map(len, encoded)) + 64 * n
        s.stamps, s.kind, s.what = &clock.state, KINDS.index(kind), what
        if board is not None:
            self.board, s.board, s.nv = board, &board.board, nv
            s.id = board.new_id()
        s.njoints, s.command_size, s.limit, s.max_age = n, command_size, limit, llround(max_age * 1e9)
        store(&clock.state.max_age, s.max_age)
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
        s.takes = <uint8_t*>calloc(n + 1, 1)
        s.answer = <double*>calloc(command_size + 1, sizeof(double))
        if kind == "trajectory":
            s.tracks = new_tracks(n)
        elif kind == "hardware" and s.answer is not NULL:
            for k in range(command_size):
                s.answer[k] = NAN
        if s.takes is NULL or s.answer is NULL or (s.kind == TRAJECTORY and s.tracks is NULL):
            raise MemoryError()
        if not (s.memory and s.names and s.name_at and s.slot and s.order and s.table and s.seen and s.scratch):
            raise MemoryError()
        s.mask -= 1
        self._fill(encoded, slots)
        self._fill_takes([EFFORT] * n if takes is None else takes)
        self.subscription = subscription
        if subscription is not None:
            self.handle = subscription.handle
            self.handle.__enter__()             # rclpy does not destroy a handle in use
            s.subscription = <const void*><uintptr_t>self.handle.pointer
        s.port = mbros_input(<void*>s, &_take)
        self.memory.tell = _tell_input

    cdef _connect(self, feed, int command_size):
        self.feed, self.state.sink = feed, <mbros_feed*>PyCapsule_GetPointer(feed, "mbros_core.feed")
        if command_size != 4 * self.state.sink.sources:
            raise MbrosError(f"input '{self.name}': {self.state.sink.sources} sources take {4 * self.state.sink.sources} numbers, "
                             f"not {command_size}")

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

    cdef _fill_takes(self, takes):
        cdef int j
        if len(takes) != self.state.njoints:
            raise MbrosError(f"input '{self.name}': needs what is taken of each name")
        for j in range(self.state.njoints):
            self.state.takes[j] = takes[j]

    def close(self):
        """Let go of the subscription. The loop must have been stopped."""
        self.state.subscription = NULL
        if self.handle is not None:
            self.handle.__exit__(None, None, None)
        self.handle = self.subscription = None

    def __dealloc__(self):
        cdef InputState* s = &self.state
        for p in (<uintptr_t>s.memory, <uintptr_t>s.names, <uintptr_t>s.name_at, <uintptr_t>s.slot,
                  <uintptr_t>s.order, <uintptr_t>s.table, <uintptr_t>s.seen, <uintptr_t>s.scratch, <uintptr_t>s.takes,
                  <uintptr_t>s.answer):
            free(<void*><uintptr_t>p)
        free_tracks(s.tracks)

    def decode(self, bytes message, wall_ns=None):
        """What one message says: ("accepted", command (command_size,)) or (reason, None). Counted like a taken one. The command of a
        trajectory is all NaN: it says something in every step."""
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

    def follow(self):
        """The command of the trajectory in force for the step to come (command_size,), or None; as the loop would take it."""
        cdef double* values
        cdef int got = 0
        command = np.full(self.state.command_size, np.nan)
        values = <double*><uintptr_t>command.ctypes.data
        if self.state.kind == TRAJECTORY:
            with nogil:
                got = _follow(&self.state, values)
        return command if got else None

    def note(self):
        """Takes the command that was decoded last for in force, as the loop would; of hardware, feeds what it said."""
        if self.state.kind == HARDWARE:
            _gather(&self.state)
            _feed(&self.state)
        if self.state.board is not NULL and self.state.kind != TRAJECTORY:
            _take_note(&self.state)

    def counts(self):
        """How many messages were accepted, and dropped for each reason."""
        return {REASON_NAMES[k]: load(&self.state.counts[k]) for k in range(NUMBER_OF_REASONS)}

    @property
    def beside(self):
        """How many accepted messages carried positions or velocities that their joints do not take beside what they take."""
        return load(&self.state.beside)

    @property
    def followers(self):
        """How many accepted messages carried numbers for joints that follow another."""
        return load(&self.state.followers)

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
