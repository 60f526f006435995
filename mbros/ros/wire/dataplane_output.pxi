# Output plugs: one message type each, patched in place and published through rcl.

cdef struct Block:
    int source      # first double in the snapshot
    int target      # first byte in the message
    int count       # doubles


cdef struct Tap:
    int source      # a double of the devices' memory
    int target      # byte in the message
    int since       # a double there that is NaN as long as nothing has come; -1: it is always there
    int truth       # what to say until then: a double of the snapshot
    int half        # 1: the sine, 2: the cosine of half of it, of a heading; 0: the number itself


cdef struct OutputState:
    mbros_output port
    StampState* stamps
    const void* publisher       # rcl_publisher_t, or NULL: patch only
    Bytes message
    Block* blocks
    int nblocks
    int* stamp_at               # bytes where a builtin_interfaces/Time stands
    int nstamps
    int turn_pose, turn_velocity, turn_target   # planar velocity turned into the child's axes; turn_target < 0: none
    const double* memory        # of the devices (mbros_core/plant/device.pxd), whose first double counts the steps; or NULL
    Tap* taps
    int ntaps
    int* since                  # of a sensor: doubles there that say in which step its readings came
    int nsince
    int64_t late_ns             # from a sample to its reading
    double seen                 # the step of the newest reading that was published
    int only_simulated
    int64_t due_n, due_m        # only in n of m steps; due_m 0: in all
    bint repeats                # whether it is published again when all are
    size_t told                 # subscribers when it was published last
    double share                # of the snapshots that are published; 0: none
    double phase                # publications that are due, 1: this is the one
    int64_t newest              # stamp of the newest message, ns
    uint64_t published
    uint64_t failed


cdef inline void _patch(OutputState* o, const double* x, int64_t stamp) noexcept nogil:
    """Write this snapshot and stamp into the message."""
    cdef int32_t sec = <int32_t>(stamp // 1000000000)
    cdef int64_t rest = stamp - <int64_t>sec * 1000000000
    cdef uint32_t nanosec
    cdef int k
    if rest < 0:
        sec, rest = sec - 1, rest + 1000000000
    nanosec = <uint32_t>rest
    for k in range(o.nstamps):
        memcpy(o.message.buffer + o.stamp_at[k], &sec, 4)
        memcpy(o.message.buffer + o.stamp_at[k] + 4, &nanosec, 4)
    for k in range(o.nblocks):
        memcpy(o.message.buffer + o.blocks[k].target, x + o.blocks[k].source, 8 * <size_t>o.blocks[k].count)
    cdef const Tap* tap
    cdef double value
    for k in range(o.ntaps):
        tap = &o.taps[k]
        value = x[tap.truth] if tap.since >= 0 and isnan(o.memory[tap.since]) else o.memory[tap.source]
        if tap.half == 3:
            o.message.buffer[tap.target] = value != 0.0
            continue
        if tap.half:
            value = sin(0.5 * value) if tap.half == 1 else cos(0.5 * value)
        memcpy(o.message.buffer + tap.target, &value, 8)
    cdef double qz, qw, c, s
    cdef double[2] v
    if o.turn_target >= 0:
        qz, qw = x[o.turn_pose + 5], x[o.turn_pose + 6]
        c, s = qw * qw - qz * qz, 2.0 * (qw * qz)
        v[0] = c * x[o.turn_velocity] + s * x[o.turn_velocity + 1]
        v[1] = c * x[o.turn_velocity + 1] - s * x[o.turn_velocity]
        memcpy(o.message.buffer + o.turn_target, v, 16)


cdef inline bint _sampled(OutputState* o, int64_t* stamp) noexcept nogil:
    """Whether a reading came since the newest that was published; the time of its sample."""
    cdef double newest = -1.0
    cdef int k
    for k in range(o.nsince):
        if o.memory[o.since[k]] > newest:
            newest = o.memory[o.since[k]]
    if newest == o.seen:
        return False
    o.seen = newest
    stamp[0] -= llround(o.memory[0] - newest) * o.stamps.period + o.late_ns
    return newest >= 0.0


cdef inline size_t _listeners(const OutputState* o) noexcept nogil:
    """How many have subscribed: whom a message reaches. 1 where that is not known."""
    cdef size_t count = 1
    if o.publisher is NULL or rcl.listeners is NULL or rcl.listeners(o.publisher, &count) != RET_OK:
        return 1
    return count


cdef inline bint _heard(OutputState* o) noexcept nogil:
    """Whether anybody has subscribed; a message that nobody takes is not made. Asked anew each time, so that the first one gets the
    next message: some 0.1 us, where publishing to nobody takes 3."""
    return _listeners(o) > 0


cdef inline bint _comes(OutputState* o, double share) noexcept nogil:
    """Whether this snapshot is the nearest to the time at which a message is due: 300 of 1000 are each third, now and then fourth, one."""
    if o.phase < 1.0 - 0.5 * share:
        o.phase += share
    else:
        o.phase = 1.0                                           # was due, and not published: of a standstill one is left, not all
    return o.phase >= 1.0 - 0.5 * share


cdef inline void _came(OutputState* o, double share) noexcept nogil:
    """It was published; one that came earlier than due, as each explicit step does, has the next one come a whole interval later."""
    o.phase = o.phase - 1.0 if o.phase >= 1.0 - 0.5 * share else 0.0


cdef void _publish(void* self, const mbros_snapshot* x) noexcept nogil:
    cdef OutputState* o = <OutputState*>self
    cdef int64_t stamp = stamp_of(o.stamps, x)
    cdef double share = o.share
    cdef bint due
    if share == 0.0 or (o.only_simulated and not o.stamps.simulated):
        return
    if o.due_m and not is_due(x.step, o.due_n, o.due_m):
        return
    if o.nsince:
        if _sampled(o, &stamp) and _heard(o):
            o.newest = max(o.newest, stamp)     # of a channel whose delay jumps, or of what was restored
            _patch(o, x.x, o.newest)
            _send(o)
        return
    if o.only_simulated:
        stamp = o.stamps.clock
    if x.flags & MBROS_REPEATED:
        due = o.repeats
    else:
        due = _comes(o, share) or x.flags & (MBROS_STEPPED | MBROS_RESET) != 0
        if o.stamps.still:
            due = o.stamps.changed or (due and (o.stamps.tick if o.only_simulated else o.stamps.beat))
        if due:
            _came(o, share)
    if not due:
        return
    o.told = 0
    if not _heard(o):
        return
    _patch(o, x.x, stamp)
    _send(o)
    if o.due_m:
        o.told = _listeners(o)      # after it: who came meanwhile may have heard it, and must not hear it twice


cdef inline void _send(OutputState* o) noexcept nogil:
    if o.publisher is NULL:
        return
    if rcl.publish(o.publisher, &o.message, NULL) == RET_OK:
        store(&o.published, o.published + 1)
    else:
        rcl.reset_error()
        store(&o.failed, o.failed + 1)


cdef void _tell_output(void* self, mbros_range say, void* to) noexcept nogil:
    cdef OutputState* o = <OutputState*>self
    say(to, o, sizeof(OutputState))
    say(to, o.stamps, sizeof(StampState))
    say(to, o.message.buffer, o.message.buffer_capacity)
    say(to, o.blocks, o.nblocks * sizeof(Block))
    say(to, o.stamp_at, o.nstamps * sizeof(int))
    say(to, o.taps, o.ntaps * sizeof(Tap))
    say(to, o.since, o.nsince * sizeof(int))
    _tell_middleware(say, to)


cdef class Output:
    """One published topic as a plug of the loop.

    publisher: an rclpy publisher, or None to only patch (`message` then shows the result).
    template: the message serialised once by rclpy; blocks: rows (first double of the snapshot, first byte of the message,
    number of doubles); stamps: bytes where a stamp stands; both found by `mbros.ros.wire.templates`.
    turn: (first double of the base's pose, of its planar velocity, byte of twist.linear.x) or None.
    share: of the snapshots that are published, 0 ... 1, as evenly as whole steps allow, and every explicit step; less often where simulated
        time stands still (stamps.pxd), and not at all while nobody has subscribed.
    only_simulated: publish only while time is simulated (/clock).
    due: (n, m), published in n of m steps, for who is asked in those; or None.
    memory: the devices' block (float64 array, kept), for taps: rows (double of it, byte of the message, double of it that is NaN as long as
        nothing has come or -1, double of the snapshot that is said until then, 1 or 2 for the sine or
        cosine of half of it, 3 for one byte that says whether it is not 0).
    since: of a sensor, doubles of it that hold the step in which each reading came: it is published when one has come, with the stamp of
        the sample, `late` seconds before.
    """
    cdef OutputState state
    cdef mbros_memory memory
    cdef object publisher, handle, block
    cdef readonly StampClock clock
    cdef readonly str name

    def __cinit__(self, str name, publisher, bytes template, blocks, stamps, StampClock clock, double share=1.0,
                  turn=None, bint only_simulated=False, due=None, memory=None, taps=(), since=(), double late=0.0):
        memset(&self.state, 0, sizeof(OutputState))
        if publisher is not None:
            _need_rcl()
        rows = np.ascontiguousarray(blocks, np.int64).reshape(-1, 3)
        places = np.ascontiguousarray(stamps, np.int64).ravel()
        size = len(template)
        ends = np.concatenate([rows[:, 1] + 8 * rows[:, 2], places + 8, [16 + turn[2] if turn else 0]])
        if ends.max() > size or rows.min(initial=0) < 0 or places.min(initial=0) < 0:
            raise MbrosError(f"output '{name}': a place to patch lies outside its message of {size} bytes")
        self.name = name
        self.clock = clock
        self.state.stamps = &clock.state
        self.state.message = fixed_buffer(<uint8_t*>calloc(size, 1), size, size)
        self.state.blocks = <Block*>calloc(max(len(rows), 1), sizeof(Block))
        self.state.stamp_at = <int*>calloc(max(len(places), 1), sizeof(int))
        self._tap(memory, taps, since, size)
        self.state.late_ns, self.state.seen = llround(late * 1e9), -1.0
        if not (self.state.message.buffer and self.state.blocks and self.state.stamp_at and self.state.taps and self.state.since):
            raise MemoryError()
        memcpy(self.state.message.buffer, <const char*>template, size)
        for k, row in enumerate(rows):
            self.state.blocks[k] = Block(row[0], row[1], row[2])
        for k, place in enumerate(places):
            self.state.stamp_at[k] = place
        self.state.nblocks, self.state.nstamps = <int>len(rows), <int>len(places)
        self.state.turn_pose, self.state.turn_velocity, self.state.turn_target = turn or (0, 0, -1)
        self.state.only_simulated = only_simulated
        self.state.due_n, self.state.due_m = due or (0, 0)
        self.share, self.state.phase, self.state.repeats = share, 1.0, True
        if publisher is not None:
            self.attach(publisher)
        self.state.port = mbros_output(<void*>&self.state, &_publish)
        self.memory.tell = _tell_output

    cdef _tap(self, memory, taps, since, size):
        """Tables of what is read of the devices' memory."""
        rows, steps = np.array(taps, np.int64).reshape(-1, 5), np.array(since, np.int64).ravel()
        self.state.taps = <Tap*>calloc(len(rows) + 1, sizeof(Tap))
        self.state.since = <int*>calloc(len(steps) + 1, sizeof(int))
        if memory is None:
            return
        most = len(memory)
        if ((rows[:, 0] < 0) | (rows[:, 0] >= most) | (rows[:, 1] < 0) | (rows[:, 1] + np.where(rows[:, 4] == 3, 1, 8) > size) | (rows[:, 2] >= most)).any() \
                or (steps < 0).any() or (steps >= most).any():
            raise MbrosError(f"output '{self.name}': a tap lies outside its message, or outside the devices' memory")
        self.block = memory
        self.state.memory = <const double*><uintptr_t>memory.ctypes.data
        for k, row in enumerate(rows):
            self.state.taps[k] = Tap(row[0], row[1], row[2], row[3], row[4])
        for k, place in enumerate(steps):
            self.state.since[k] = place
        self.state.ntaps, self.state.nsince = <int>len(rows), <int>len(steps)

    @property
    def capsule(self):
        """The plug for the real-time loop; it keeps this output."""
        return plug_of(self, &self.state.port, "mbros_core.output", &self.memory)

    def attach(self, publisher):
        """Publish there from now on, the loop running or not; an output has one publisher in its life."""
        _need_rcl()
        if self.publisher is not None:
            raise MbrosError(f"output '{self.name}' has a publisher")
        self.publisher, self.handle = publisher, publisher.handle
        self.handle.__enter__()                 # rclpy does not destroy a handle in use
        store(<uintptr_t*>&self.state.publisher, <uintptr_t>self.handle.pointer)

    def close(self):
        """Let go of the publisher. The loop must have been stopped."""
        self.state.publisher = NULL
        if self.handle is not None:
            self.handle.__exit__(None, None, None)
        self.handle = self.publisher = None

    def __dealloc__(self):
        free(self.state.message.buffer)
        free(self.state.blocks)
        free(self.state.stamp_at)
        free(self.state.taps)
        free(self.state.since)

    @property
    def message(self):
        """The message as it stands, in CDR."""
        return (<const char*>self.state.message.buffer)[:self.state.message.buffer_length]

    @property
    def published(self):
        return load(&self.state.published)

    @property
    def failed(self):
        """Messages that rcl refused, for example after shutdown of the context."""
        return load(&self.state.failed)

    @property
    def share(self):
        return self.state.share

    @share.setter
    def share(self, double share):
        if not 0.0 <= share <= 1.0:
            raise MbrosError(f"output '{self.name}': share must be 0 ... 1, got {share}")
        self.state.share = share                # one word: the loop reads this one or the one before
