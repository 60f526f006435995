# trajectory_msgs/JointTrajectory: read, looked through, and followed step by step in the loop's own thread.
#
# A segment between two points is of fifth degree where both carry accelerations, of third where both carry velocities, else straight, as
# ros2_control's joint_trajectory_controller has them. The first segment begins at the command in force then, so that a trajectory that
# replaces another one does not jump; points that lie in the past are left out. Joints that turn on and on begin by the short way. One with
# a stamp in the future waits for it, while the one before it goes on.

cdef enum:
    TRAJECTORY_BYTES = 4194304
    MOST_POINTS = 4096
    MOST_NUMBERS = 131072       # positions of all points
    MOST_HALVINGS = 10          # of a segment that may leave the limits

cdef double TURN = 6.283185307179586


cdef int _check_segments(InputState* s, const Track* t, int segments) noexcept nogil:
    """Positions and velocities of the first segments within the joints' limits. Where a joint begins beyond one, it may come back."""
    cdef const double* bound
    cdef double low, high
    cdef double[6] b
    cdef int i, k, degree, j
    for k in range(segments):
        for i in range(t.njoints):
            j = t.joint[i]
            bound = s.board.bound + 4 * s.slot[j]
            low, high = bound[0] - LIMIT_GIVE, bound[1] + LIMIT_GIVE
            degree = _coefficients(t, k, i, b)
            if k == 0:
                low, high = min(low, b[0] - LIMIT_GIVE), max(high, b[0] + LIMIT_GIVE)
            if not _within(b, degree, low, high, MOST_HALVINGS):
                return _refuse(s, BEYOND_LIMITS, s.names + s.name_at[j], s.name_at[j + 1] - s.name_at[j], t.time[k + 1] - t.time[0])
            _derive(b, degree, t.time[k + 1] - t.time[k])
            low, high = bound[2] * SPEED_GIVE - LIMIT_GIVE, bound[3] * SPEED_GIVE + LIMIT_GIVE
            if k == 0 and degree > 1:
                low, high = min(low, b[0] - LIMIT_GIVE), max(high, b[0] + LIMIT_GIVE)
            if not _within(b, degree - 1, low, high, MOST_HALVINGS):
                return _refuse(s, TOO_FAST, s.names + s.name_at[j], s.name_at[j + 1] - s.name_at[j], t.time[k + 1] - t.time[0])
    return ACCEPTED


# --- reading

cdef int _track_names(InputState* s, Reader* r, Track* t) noexcept nogil:
    """The joints. Returns a Reason."""
    cdef uint32_t count = read_count(r, 5), k
    cdef Text name
    cdef int j
    s.serial += 1
    t.njoints = 0
    for k in range(count):
        name = read_text(r)
        if not r.ok:
            return _refuse(s, MALFORMED, NULL, 0, 0.0)
        j = _find(s, &name)
        if j < 0:
            return _refuse(s, UNKNOWN_NAME, name.data, name.size, NAN)
        if s.seen[j] == s.serial:
            return _refuse(s, DUPLICATE_NAME, name.data, name.size, NAN)
        s.seen[j] = s.serial
        if s.slot[j] < 0:
            return _refuse(s, NOT_COMMANDABLE, name.data, name.size, NAN)
        if not s.takes[j] & POSITION:
            return _refuse(s, NO_SERVO, name.data, name.size, NAN)
        t.joint[t.njoints] = j
        t.njoints += 1
    return ACCEPTED


cdef int _track_column(InputState* s, Track* t, const Doubles* values, int column) noexcept nogil:
    """Numbers of the newest point. Returns a Reason."""
    cdef double* to = t.x + 3 * t.npoints * t.njoints + column
    cdef double x
    cdef int i, j, reason
    for i in range(t.njoints):
        x = double_at(values, i)
        reason = NOT_A_NUMBER if isnan(x) else _check_value(s, x)
        if reason != ACCEPTED:
            j = t.joint[i]
            return _refuse(s, reason, s.names + s.name_at[j], s.name_at[j + 1] - s.name_at[j], x)
        to[3 * i] = x
    return ACCEPTED


cdef int _track_point(InputState* s, Reader* r, Track* t, double start, double* last) noexcept nogil:
    """The next point; one that is past is looked at and left out. Returns a Reason."""
    cdef Doubles q = read_doubles(r), v = read_doubles(r), a = read_doubles(r), effort = read_doubles(r)
    cdef int32_t sec = read_i32(r)
    cdef uint32_t nanosec = read_u32(r), n = <uint32_t>t.njoints
    cdef double at = sec + 1e-9 * nanosec
    cdef int reason
    if not r.ok or nanosec >= 1000000000u:
        return _refuse(s, MALFORMED, NULL, 0, 0.0)
    if q.size == 0:
        return _refuse(s, NO_POSITIONS, NULL, 0, at)
    if _unfit(&q, &v, &a, n) >= 0 or _unfit(&effort, &effort, &effort, n) >= 0:
        return _refuse(s, WRONG_SIZE, NULL, 0, max(_unfit(&q, &v, &a, n), _unfit(&effort, &effort, &effort, n)))
    if not at > last[0]:
        return _refuse(s, BAD_TIMES, NULL, 0, at)
    last[0] = at
    reason = _track_column(s, t, &q, 0)
    if reason == ACCEPTED and v.size:
        reason = _track_column(s, t, &v, 1)
    if reason == ACCEPTED and a.size:
        reason = _track_column(s, t, &a, 2)
    t.has[t.npoints] = (HAS_VELOCITY if v.size else 0) | (HAS_ACCELERATION if v.size and a.size else 0)
    t.time[t.npoints] = start + at
    if reason == ACCEPTED and start + at > t.time[0] + 1e-9:
        t.npoints += 1
    return reason


cdef void _track_begin(InputState* s, Track* t, double at) noexcept nogil:
    """Point 0: where the joints are commanded to be at that time, now or later, or are where nothing commands their position."""
    cdef Board* b = s.board
    cdef double* x = t.x
    cdef int i, iv
    _see(b)
    for i in range(t.njoints):
        iv = s.slot[t.joint[i]]
        x[3 * i], x[3 * i + 1], x[3 * i + 2] = b.position[iv], b.velocity[iv], 0.0
        if isnan(b.position[iv]):
            x[3 * i], x[3 * i + 1] = b.q[iv], b.v[iv]
        if at > s.stamps.time and load(&b.owner[iv]) == s.id:
            _on_the_way(s, iv, at, x + 3 * i)
    t.time[0], t.has[0] = at, HAS_VELOCITY | HAS_ACCELERATION


cdef void _on_the_way(const InputState* s, int iv, double at, double* x) noexcept nogil:
    """Position and velocity of a coordinate at a later time, by the trajectory under way, if it is of it."""
    cdef const Track* t = &s.tracks.track[s.tracks.current]
    cdef double[6] b
    cdef double T
    cdef int i, degree, k = t.reached
    cdef bint over = at >= t.time[t.npoints - 1] if t.active else False
    for i in range(t.njoints if t.active else 0):
        if s.slot[t.joint[i]] != iv:
            continue
        while k < t.npoints - 2 and at >= t.time[k + 1]:
            k += 1
        T = t.time[k + 1] - t.time[k]
        degree = _coefficients(t, k, i, b)
        x[0] = _value(b, degree, 1.0 if over else (at - t.time[k]) / T)
        _derive(b, degree, T)
        x[1] = 0.0 if over else _value(b, degree - 1, (at - t.time[k]) / T)


cdef void _turn(const InputState* s, Track* t) noexcept nogil:
    """Joints that turn on and on begin by the short way: all their points by whole turns, those that were half a turn off by none."""
    cdef double d, turns
    cdef int i, k
    for i in range(t.njoints):
        if not s.board.turns[s.slot[t.joint[i]]]:
            continue
        d = (t.x[3 * (t.njoints + i)] - t.x[3 * i]) / TURN
        turns = ceil(fabs(d) - 0.5 - 1e-9)
        if turns > 0.0:
            for k in range(1, t.npoints):
                t.x[3 * (k * t.njoints + i)] -= TURN * (turns if d > 0.0 else -turns)


cdef double _start_of(const InputState* s, int64_t stamp, int64_t wall) noexcept nogil:
    """Simulated time of a stamp, which may be system time or simulated time; 0: now."""
    cdef double now = s.stamps.time
    if stamp == 0:
        return now
    cdef int64_t of_wall = stamp - wall, of_simulated = stamp - load(&s.stamps.stamp)
    if s.stamps.simulated and fabs(<double>of_simulated) < fabs(<double>of_wall):
        return now + 1e-9 * of_simulated
    return now + 1e-9 * of_wall


cdef void _let_go(InputState* s, const Track* t) noexcept nogil:
    """Joints that another trajectory does not name stop where they are commanded to be, as it comes."""
    cdef int i, iv
    for i in range(t.njoints if t.active else 0):
        iv = s.slot[t.joint[i]]
        if load(&s.board.owner[iv]) == s.id:
            store(&s.board.owner[iv], <int>-s.id)
            s.board.hold[iv] = (POSITION | VELOCITY) if s.takes[t.joint[i]] & VELOCITY else POSITION
            s.tracks.leaves = 1


cdef int _hold(InputState* s, double* command) noexcept nogil:
    """Says so of those that have been let go of; whether there were any."""
    cdef Board* b = s.board
    cdef int i, got = 0
    if not s.tracks.leaves:
        return 0
    s.tracks.leaves = 0
    for i in range(s.nv):
        if load(&b.owner[i]) == -s.id:
            store(&b.owner[i], <int>0)
            if not isnan(b.position[i]):
                b.velocity[i] = 0.0
                command[i], command[s.nv + i], command[2 * s.nv + i], command[3 * s.nv + i] = 0.0, b.position[i], 0.0, b.hold[i]
                got = 1
    return got


cdef int _trajectory(InputState* s, const uint8_t* bytes, size_t size, int64_t wall) noexcept nogil:
    """A whole trajectory, in force from the next step on. Returns a Reason."""
    cdef int spare = TRACKS - s.tracks.current - s.tracks.waiting
    cdef Track* t = &s.tracks.track[spare]
    cdef Reader r = open_cdr(bytes, size)
    cdef int32_t sec = read_i32(&r)
    cdef uint32_t nanosec = read_u32(&r), count, k
    cdef double start, last = -1e-12
    cdef int reason
    read_text(&r)                                      # frame_id
    if not r.ok or nanosec >= 1000000000u:
        return _refuse(s, MALFORMED, NULL, 0, <double>size)
    reason = _track_names(s, &r, t)
    if reason != ACCEPTED:
        return reason
    count = read_count(&r, 24)
    if not r.ok:
        return _refuse(s, MALFORMED, NULL, 0, <double>size)
    if count == 0 or t.njoints == 0:
        return _refuse(s, NO_POSITIONS, NULL, 0, 0.0)
    if count > MOST_POINTS - 1 or <int64_t>count * t.njoints > MOST_NUMBERS:
        return _refuse(s, TOO_LARGE, NULL, 0, count)
    start = _start_of(s, <int64_t>sec * 1000000000 + nanosec, wall)
    if start > s.stamps.time + 3600.0:
        return _refuse(s, FUTURE_STAMP, NULL, 0, s.stamps.time - start)
    _track_begin(s, t, max(start, s.stamps.time))
    t.npoints = 1
    for k in range(count):
        reason = _track_point(s, &r, t, start, &last)
        if reason != ACCEPTED:
            return reason
    if t.npoints < 2:
        return _refuse(s, IN_THE_PAST, NULL, 0, s.stamps.time - start - last)
    _turn(s, t)
    reason = _check_segments(s, t, t.npoints - 1)
    if reason != ACCEPTED:
        return reason
    t.active, t.reached, t.received_ns = 1, 0, wall
    _wait_no_more(s)
    if t.time[0] > s.stamps.time:
        s.tracks.waiting = spare
        for k in range(<uint32_t>t.njoints):
            store(&s.board.waits[s.slot[t.joint[k]]], s.id)
    else:
        _begin(s, spare)
    return ACCEPTED


cdef void _wait_no_more(InputState* s) noexcept nogil:
    """Of the one that waits: a newer one has come, or its time."""
    cdef Track* t = &s.tracks.track[s.tracks.waiting]
    cdef int i
    for i in range(t.njoints if t.active else 0):
        if load(&s.board.waits[s.slot[t.joint[i]]]) == s.id:
            store(&s.board.waits[s.slot[t.joint[i]]], <int>0)
    t.active = 0


cdef void _begin(InputState* s, int which) noexcept nogil:
    """Follow this one from now on, with all of its joints."""
    cdef Track* t = &s.tracks.track[which]
    cdef int i
    _let_go(s, &s.tracks.track[s.tracks.current])
    s.tracks.track[s.tracks.current].active = 0
    s.tracks.current = which
    for i in range(t.njoints):
        _own(s.board, s.slot[t.joint[i]], s.id)


cdef void _begin_waiting(InputState* s) noexcept nogil:
    """The one that waits, at its time: from where the joints are commanded to be by now, but for those that another command took since."""
    cdef Track* t = &s.tracks.track[s.tracks.waiting]
    cdef int i, n = 0, which = s.tracks.waiting
    for i in range(t.njoints):
        if load(&s.board.waits[s.slot[t.joint[i]]]) == s.id:
            n += 1
    if n < t.njoints:
        _wait_no_more(s)
        return
    _track_begin(s, t, t.time[0])
    _turn(s, t)
    _wait_no_more(s)
    if _check_segments(s, t, 1) != ACCEPTED:
        return
    s.tracks.waiting = s.tracks.current
    _begin(s, which)
    t.active = 1


# --- following

cdef int _follow(InputState* s, double* command) noexcept nogil:
    """The command at the end of the step to come; 0 where no trajectory says anything of it."""
    cdef Track* t = &s.tracks.track[s.tracks.current]
    cdef const Track* waiting = &s.tracks.track[s.tracks.waiting]
    cdef double at = s.stamps.time + 1e-9 * s.stamps.period, u, T
    cdef double[6] b
    cdef int i, iv, degree, got = 0, held
    cdef bint over
    if waiting.active and (waiting.received_ns < load(&s.stamps.not_before) or at < s.tracks.looked):
        _wait_no_more(s)                                # a reset, or a state from before was restored
    s.tracks.looked = at
    if waiting.active and waiting.time[0] < at:
        _begin_waiting(s)
        t = &s.tracks.track[s.tracks.current]
    held = _hold(s, command)
    if not t.active or t.received_ns < load(&s.stamps.not_before) or at < t.time[0]:
        t.active = 0
        return held
    over = at >= t.time[t.npoints - 1]
    while not over and at >= t.time[t.reached + 1]:
        t.reached += 1
    if over:
        t.reached = t.npoints - 2
    T = t.time[t.reached + 1] - t.time[t.reached]
    u = 1.0 if over else (at - t.time[t.reached]) / T
    for i in range(t.njoints):
        iv = s.slot[t.joint[i]]
        if load(&s.board.owner[iv]) != s.id:
            continue
        degree = _coefficients(t, t.reached, i, b)
        s.board.position[iv] = _value(b, degree, u)
        _derive(b, degree, T)
        s.board.velocity[iv] = 0.0 if over else _value(b, degree - 1, u)
        command[iv], command[s.nv + iv], command[2 * s.nv + iv] = 0.0, s.board.position[iv], s.board.velocity[iv]
        command[3 * s.nv + iv] = (POSITION | VELOCITY) if s.takes[t.joint[i]] & VELOCITY else POSITION
        got = 1
    t.active = got and not over
    return got or held


cdef inline void _take_note(InputState* s) noexcept nogil:
    """On the board: what another message than a trajectory commands."""
    cdef Board* b = s.board
    cdef int i, what
    for i in range(s.nv):
        if not isnan(s.scratch[3 * s.nv + i]):
            what = <int>s.scratch[3 * s.nv + i]
            _own(b, i, s.id)
            b.position[i] = s.scratch[s.nv + i] if what & POSITION else NAN
            b.velocity[i] = s.scratch[2 * s.nv + i] if what & VELOCITY else 0.0
