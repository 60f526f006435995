# Output plugs: one message type each, patched in place and published through rcl.

cdef struct Block:
    int source      # first double in the snapshot
    int target      # first byte in the message
    int count       # doubles


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
    int only_simulated
    int decimation              # every how many snapshots; 0: never
    int countdown
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
    cdef double qz, qw, c, s
    cdef double[2] v
    if o.turn_target >= 0:
        qz, qw = x[o.turn_pose + 5], x[o.turn_pose + 6]
        c, s = qw * qw - qz * qz, 2.0 * (qw * qz)
        v[0] = c * x[o.turn_velocity] + s * x[o.turn_velocity + 1]
        v[1] = c * x[o.turn_velocity + 1] - s * x[o.turn_velocity]
        memcpy(o.message.buffer + o.turn_target, v, 16)


cdef void _publish(void* self, const mbros_snapshot* x) noexcept nogil:
    cdef OutputState* o = <OutputState*>self
    cdef int64_t stamp = stamp_of(o.stamps, x)
    cdef int every = load(&o.decimation)
    if every == 0 or (o.only_simulated and not o.stamps.simulated):
        return
    o.countdown = o.countdown - 1 if o.countdown > 0 else 0
    cdef bint due = not 0 < o.countdown < every or x.flags & (MBROS_STEPPED | MBROS_RESET) != 0
    if o.only_simulated:
        stamp = o.stamps.clock
    elif o.stamps.still:
        due = o.stamps.changed or (o.stamps.beat and due)
    if not due:
        return
    o.countdown = every
    _patch(o, x.x, stamp)
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
    _tell_middleware(say, to)


cdef class Output:
    """One published topic as a plug of the loop.

    publisher: an rclpy publisher, or None to only patch (`message` then shows the result).
    template: the message serialised once by rclpy; blocks: rows (first double of the snapshot, first byte of the message,
    number of doubles); stamps: bytes where a stamp stands; both found by `mbros.ros.templates`.
    turn: (first double of the base's pose, of its planar velocity, byte of twist.linear.x) or None.
    decimation: published every that many snapshots (0: never) and after every explicit step; less often where simulated time
        stands still (stamps.pxd).
    only_simulated: publish only while time is simulated (/clock).
    """
    cdef OutputState state
    cdef mbros_memory memory
    cdef object publisher, handle
    cdef readonly StampClock clock
    cdef readonly str name

    def __cinit__(self, str name, publisher, bytes template, blocks, stamps, StampClock clock, int decimation=1,
                  turn=None, bint only_simulated=False):
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
        if not (self.state.message.buffer and self.state.blocks and self.state.stamp_at):
            raise MemoryError()
        memcpy(self.state.message.buffer, <const char*>template, size)
        for k, row in enumerate(rows):
            self.state.blocks[k] = Block(row[0], row[1], row[2])
        for k, place in enumerate(places):
            self.state.stamp_at[k] = place
        self.state.nblocks, self.state.nstamps = <int>len(rows), <int>len(places)
        self.state.turn_pose, self.state.turn_velocity, self.state.turn_target = turn or (0, 0, -1)
        self.state.only_simulated = only_simulated
        self.state.decimation = decimation
        self.publisher = publisher
        if publisher is not None:
            self.handle = publisher.handle
            self.handle.__enter__()             # rclpy does not destroy a handle in use
            self.state.publisher = <const void*><uintptr_t>self.handle.pointer
        self.state.port = mbros_output(<void*>&self.state, &_publish)
        self.memory.tell = _tell_output

    @property
    def capsule(self):
        """The plug for the real-time loop; it keeps this output."""
        return plug_of(self, &self.state.port, "mbros_core.output", &self.memory)

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
    def decimation(self):
        return load(&self.state.decimation)

    @decimation.setter
    def decimation(self, int every):
        if every < 0:
            raise MbrosError(f"output '{self.name}': decimation must be 0 or more, got {every}")
        store(&self.state.decimation, every)
