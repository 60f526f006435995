# trajectory_msgs/JointTrajectory: read, looked through, and followed step by step in the loop's own thread.
#
# A segment between two points is of fifth degree where both carry accelerations, of third where both carry velocities, else straight, as
# ros2_control's joint_trajectory_controller has them. The first segment begins at the command in force when the message comes, so that a
# trajectory that replaces another one does not jump; points that lie in the past then are left out.

cdef enum:
    TRAJECTORY_BYTES = 4194304
    MOST_POINTS = 4096
    MOST_NUMBERS = 131072       # positions of all points
    MOST_HALVINGS = 10          # of a segment that may leave the limits


cdef int _check_segments(InputState* s, const Track* t) noexcept nogil:
    """Positions and velocities of every segment within the joints' limits. Where a joint begins beyond one, it may come back."""
    cdef const double* bound
    cdef double low, high, give
    cdef double[6] b
    cdef int i, k, degree, j
    for k in range(t.npoints - 1):
        for i in range(t.njoints):
            j = t.joint[i]
            bound = s.bounds + 4 * j
            low, high = bound[0] - 1e-6, bound[1] + 1e-6
            degree = _coefficients(t, k, i, b)
            if k == 0:
                low, high = min(low, b[0] - 1e-6), max(high, b[0] + 1e-6)
            if not _within(b, degree, low, high, MOST_HALVINGS):
                return _refuse(s, BEYOND_LIMITS, s.names + s.name_at[j], s.name_at[j + 1] - s.name_at[j], t.time[k + 1] - t.time[0])
            _derive(b, degree, t.time[k + 1] - t.time[k])
            give = 1e-6
            low, high = bound[2] * 1.001 - give, bound[3] * 1.001 + give
            if k == 0 and degree > 1:
                low, high = min(low, b[0] - give), max(high, b[0] + give)
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


cdef void _track_begin(InputState* s, Track* t, double now) noexcept nogil:
    """Point 0: where the joints are commanded to be, or are where nothing commands their position."""
    cdef Board* b = s.board
    cdef double* x = t.x
    cdef int i, at
    _see(b)
    for i in range(t.njoints):
        at = s.slot[t.joint[i]]
        x[3 * i], x[3 * i + 1], x[3 * i + 2] = b.position[at], b.velocity[at], 0.0
        if isnan(b.position[at]):
            x[3 * i], x[3 * i + 1] = b.q[at], b.v[at]
    t.time[0], t.has[0], t.npoints = now, HAS_VELOCITY | HAS_ACCELERATION, 1


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
    cdef Track* t = &s.tracks.track[1 - s.tracks.current]
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
    _track_begin(s, t, s.stamps.time)
    for k in range(count):
        reason = _track_point(s, &r, t, start, &last)
        if reason != ACCEPTED:
            return reason
    if t.npoints < 2:
        return _refuse(s, IN_THE_PAST, NULL, 0, s.stamps.time - start - last)
    reason = _check_segments(s, t)
    if reason != ACCEPTED:
        return reason
    t.active, t.reached, t.received_ns = 1, 0, wall
    _let_go(s, &s.tracks.track[s.tracks.current])
    s.tracks.track[s.tracks.current].active = 0
    s.tracks.current = 1 - s.tracks.current
    for k in range(<uint32_t>t.njoints):
        s.board.owner[s.slot[t.joint[k]]] = s.id
    return ACCEPTED


# --- following

cdef int _follow(InputState* s, double* command) noexcept nogil:
    """The command at the end of the step to come; 0 where no trajectory says anything of it."""
    cdef Track* t = &s.tracks.track[s.tracks.current]
    cdef double at = s.stamps.time + 1e-9 * s.stamps.period, u, T
    cdef double[6] b
    cdef int i, iv, degree, got = 0, held = _hold(s, command)
    cdef bint over
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
            store(&b.owner[i], s.id)
            b.position[i] = s.scratch[s.nv + i] if what & POSITION else NAN
            b.velocity[i] = s.scratch[2 * s.nv + i] if what & VELOCITY else 0.0
