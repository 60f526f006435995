# Reading one command: bytes that nobody has checked yet, to an array of efforts or the reason why not.

# Why a command was dropped; the sentences are in mbros.ros.wire.commands.REASONS, in this order.
cdef enum:
    ACCEPTED, MALFORMED, TOO_LARGE, WRONG_SIZE, UNKNOWN_NAME, DUPLICATE_NAME, NOT_COMMANDABLE, NO_EFFORT, INFINITE,
    ABSURD, STALE_STAMP, FUTURE_STAMP, READ_ERROR, NO_SERVO, NO_POSITIONS, BAD_TIMES, IN_THE_PAST, BEYOND_LIMITS, TOO_FAST,
    NOT_A_NUMBER, NUMBER_OF_REASONS

REASON_NAMES = ("accepted", "malformed", "too_large", "wrong_size", "unknown_name", "duplicate_name", "not_commandable",
                "no_effort", "infinite", "absurd", "stale_stamp", "future_stamp", "read_error", "no_servo", "no_positions", "bad_times",
                "in_the_past", "beyond_limits", "too_fast", "not_a_number")

cdef enum:
    TEXT_SIZE = 64
    MOST_PER_POLL = 64       # messages taken in one step at most: a deep queue cannot hold the loop
    JOINT_STATE = 0          # kinds of messages
    ARRAY = 1
    TRAJECTORY = 2
    HARDWARE = 3             # no command: samples for the sources of a bench (dataplane_hardware.pxi)
    POSITION = 1             # what is commanded (mbros_core/plant/_commanded.pyx)
    VELOCITY = 2
    EFFORT = 4
    FOLLOWS = -2             # in place of a slot


cdef struct Problem:
    uint32_t sequence           # odd while it is being written
    int reason
    double value
    char text[TEXT_SIZE]        # the name in question, cut to fit


cdef struct InputState:
    mbros_input port
    StampState* stamps
    const void* subscription    # rcl_subscription_t, or NULL: decode only
    Bytes message
    uint8_t* memory             # the message's buffer, of `room` bytes; rcl clears its pointer when a message does not fit
    size_t room
    int kind
    int what                    # of an array: what its numbers command
    int nv                      # of a command with positions and velocities; 0: efforts only
    int id                      # of this input, from 1
    Board* board                # or NULL: efforts only
    Tracks* tracks              # of a trajectory input, else NULL
    uint8_t* takes              # (njoints) what is taken of each
    int njoints, command_size
    char* names                 # all names in one piece
    uint32_t* name_at           # (njoints + 1) where each begins
    int* slot                   # (njoints) place in the command, -1: takes no command of its own, FOLLOWS: its leader has it
    int* order                  # (norder) joints of an array command
    int norder
    uint32_t* table             # hash -> joint + 1
    uint32_t mask
    uint32_t* seen              # (njoints) serial of the message that named it last
    uint32_t serial
    double* scratch             # (command_size)
    double limit                # largest effort believed, N m or N
    int64_t max_age             # ns; 0: stamps are not looked at
    uint64_t counts[NUMBER_OF_REASONS]
    uint64_t beside             # accepted messages that carried positions or velocities too
    uint64_t followers          # accepted messages with numbers for joints that follow another
    Problem problem
    int64_t stamp               # of the newest message that was read, ns; 0: without
    bint gated                  # only a gate takes messages, and hands over those it waited for
    bint given                  # `answer` is such a one
    double* answer              # (command_size)
    mbros_feed* sink            # of hardware


cdef inline uint32_t _hash(const char* text, size_t size) noexcept nogil:
    """FNV-1a, 32 bit."""
    cdef uint32_t h = 2166136261u
    cdef size_t k
    for k in range(size):
        h = (h ^ <uint8_t>text[k]) * 16777619u
    return h


cdef inline int _find(const InputState* s, const Text* name) noexcept nogil:
    """Index of the joint of this name, or -1."""
    cdef uint32_t at = _hash(name.data, name.size) & s.mask
    cdef uint32_t j
    while s.table[at] != 0:
        j = s.table[at] - 1
        if s.name_at[j + 1] - s.name_at[j] == name.size and memcmp(s.names + s.name_at[j], name.data, name.size) == 0:
            return <int>j
        at = (at + 1) & s.mask
    return -1


cdef int _refuse(InputState* s, int reason, const char* text, size_t size, double value) noexcept nogil:
    """Count a dropped command and remember what was wrong with it."""
    cdef size_t n = size if size < TEXT_SIZE - 1 else TEXT_SIZE - 1
    store(&s.counts[reason], s.counts[reason] + 1)
    store(&s.problem.sequence, <uint32_t>(s.problem.sequence + 1))
    s.problem.reason, s.problem.value = reason, value
    if n > 0:
        memcpy(s.problem.text, text, n)
    s.problem.text[n] = 0
    store(&s.problem.sequence, <uint32_t>(s.problem.sequence + 1))
    return reason


cdef inline int _check_stamp(const InputState* s, int64_t stamp, int64_t wall, double* age) noexcept nogil:
    """A stamp may be that of a state or system time; it has to be fresh on one of them. That of a state is as old as it says, or as the
    wall clock says since states had it, whichever is less. Zero: not stamped."""
    cdef const StampState* t = s.stamps
    cdef int64_t old = wall - stamp, behind = load(&t.stamp) - stamp
    if s.max_age == 0 or stamp == 0:
        return ACCEPTED
    if -s.max_age <= behind and stamp >= load(&t.begun) and (t.simulated or stamp >= load(&t.not_before)) and (
            behind <= s.max_age or (t.simulated and stamp >= load(&t.fresh_from))):
        return ACCEPTED
    age[0] = 1e-9 * <double>old
    if -s.max_age <= old <= s.max_age:
        return ACCEPTED if stamp >= load(&t.not_before) else STALE_STAMP
    if t.simulated and fabs(<double>behind) < fabs(<double>old):
        old = behind                                    # of which time it is: the one that it is nearer to
    return FUTURE_STAMP if old < -s.max_age else STALE_STAMP


cdef inline int _check_value(const InputState* s, double x) noexcept nogil:
    if isnan(x):
        return ACCEPTED
    if fabs(x) == INFINITY:
        return INFINITE
    return ABSURD if fabs(x) > s.limit else ACCEPTED


cdef inline bint _takes(const InputState* s, int j, int what) noexcept nogil:
    """Whether a joint takes it; without a bench, as of an effort."""
    return s.slot[j] >= 0 and (s.nv == 0 or s.takes[j] & what != 0)


cdef struct Column:             # an array of a JointState
    Doubles values
    int what
    bint of_takers              # a number for each joint that takes it, not for each name
    uint32_t next


cdef inline double _of_joint(const InputState* s, Column* c, uint32_t k, int j) noexcept nogil:
    """Its number for name k, joint j. NaN: none."""
    if c.values.size == 0:
        return NAN
    if not c.of_takers:
        return double_at(&c.values, k)
    if not _takes(s, j, c.what):
        return NAN
    c.next += 1
    return double_at(&c.values, c.next - 1)


cdef int64_t _fit(const InputState* s, Reader names, uint32_t count, Column* columns) noexcept nogil:
    """An array has a number for each name, or, as ros2_control's topic hardware sends them, one for each of the named joints that take it.
    Returns how many the first one has that fits neither; -1: all fit."""
    cdef uint32_t[3] takers
    cdef uint32_t k
    cdef Text name
    cdef int i, j
    if _unfit(&columns[0].values, &columns[1].values, &columns[2].values, count) < 0:
        return -1
    takers[0] = takers[1] = takers[2] = 0
    for k in range(count):
        name = read_text(&names)
        j = _find(s, &name)
        for i in range(3 if j >= 0 else 0):
            takers[i] += _takes(s, j, columns[i].what)
    for i in range(3):
        if columns[i].values.size != 0 and columns[i].values.size != count:
            columns[i].of_takers = True
            if columns[i].values.size != takers[i]:
                return columns[i].values.size
    return -1


cdef inline int64_t _unfit(const Doubles* a, const Doubles* b, const Doubles* c, uint32_t count) noexcept nogil:
    """How many numbers the first one has that is neither empty nor of `count`; -1: all fit."""
    if a.size != 0 and a.size != count:
        return a.size
    if b.size != 0 and b.size != count:
        return b.size
    return c.size if c.size != 0 and c.size != count else -1


cdef inline bint _says_anything(const Doubles* values) noexcept nogil:
    """One of them is not NaN."""
    cdef uint32_t k
    for k in range(values.size):
        if not isnan(double_at(values, k)):
            return True
    return False


cdef inline void _put(InputState* s, int j, double position, double velocity, double effort) noexcept nogil:
    """What a message says of a joint, into `scratch`: all of what is commanded there from now on. NaN: not commanded."""
    cdef int at = s.slot[j], what = 0
    if s.nv == 0:
        s.scratch[at] = effort
        return
    if not isnan(position):
        what |= POSITION
    if not isnan(velocity):
        what |= VELOCITY
    if not isnan(effort):
        what |= EFFORT
    if what:
        s.scratch[at] = effort if what & EFFORT else 0.0
        s.scratch[s.nv + at] = position if what & POSITION else 0.0
        s.scratch[2 * s.nv + at] = velocity if what & VELOCITY else 0.0
        s.scratch[3 * s.nv + at] = what


cdef int _put_state(InputState* s, int j, double position, double velocity, double effort, bint* beside, bint* follows,
                    double* value) noexcept nogil:
    """The same of a JointState, as far as the joint takes it. Returns a Reason; value: the number that it is about."""
    cdef int reason = _check_value(s, effort)
    value[0] = effort
    if reason == ACCEPTED and s.nv != 0:
        reason, value[0] = _check_value(s, position), position
        if reason == ACCEPTED:
            reason, value[0] = _check_value(s, velocity), velocity
    if reason != ACCEPTED:
        return reason
    value[0] = effort
    if s.slot[j] == FOLLOWS:                            # what it does is its leader's affair
        follows[0] = follows[0] or not (isnan(position) and isnan(velocity) and isnan(effort))
        return ACCEPTED
    if s.slot[j] < 0:
        return ACCEPTED if isnan(effort) else NOT_COMMANDABLE
    if s.nv != 0:
        value[0] = velocity if isnan(position) else position
        if not isnan(position) and not s.takes[j] & POSITION:
            position, beside[0] = NAN, True
        if not isnan(velocity) and not s.takes[j] & VELOCITY:
            velocity, beside[0] = NAN, True
        if beside[0] and isnan(position) and isnan(velocity) and isnan(effort):
            return NO_SERVO
        reason = _beyond(s.board, s.slot[j], position, velocity)
        if reason != ACCEPTED:
            value[0] = position if reason == BEYOND_LIMITS else velocity
            return reason
    _put(s, j, position, velocity, effort)
    return ACCEPTED


cdef int _joint_state(InputState* s, const uint8_t* bytes, size_t size, int64_t wall) noexcept nogil:
    """sensor_msgs/JointState: commands by joint name, into `scratch`. Returns a Reason."""
    cdef Reader r = open_cdr(bytes, size), names
    cdef int32_t sec = read_i32(&r)
    cdef uint32_t nanosec = read_u32(&r), count, k
    cdef Text name
    cdef Column[3] columns                             # positions, velocities, efforts
    cdef double q, v, x, age = 0.0, value
    cdef int reason, j
    cdef int64_t unfit
    cdef bint beside = False, follows = False, other
    read_text(&r)                                      # frame_id
    count = read_count(&r, 5 if r.size > 8 else 1)
    names = r
    for k in range(count):
        read_text(&r)
        if not r.ok:
            break
    for j in range(3):
        columns[j].values, columns[j].what, columns[j].of_takers, columns[j].next = read_doubles(&r), 1 << j, False, 0
    if not r.ok or nanosec >= 1000000000u:
        return _refuse(s, MALFORMED, NULL, 0, <double>size)
    s.stamp = <int64_t>sec * 1000000000 + nanosec
    reason = _check_stamp(s, s.stamp, wall, &age)
    if reason != ACCEPTED:
        return _refuse(s, reason, NULL, 0, age)
    unfit = _fit(s, names, count, columns)
    if unfit >= 0:
        return _refuse(s, WRONG_SIZE, NULL, 0, unfit)
    if columns[2].values.size == 0 and (s.nv == 0 or (columns[0].values.size == 0 and columns[1].values.size == 0)):
        return _refuse(s, NO_EFFORT, NULL, 0, 0.0)
    s.serial += 1
    for k in range(count):
        name = read_text(&names)
        j = _find(s, &name)
        if j < 0:
            return _refuse(s, UNKNOWN_NAME, name.data, name.size, NAN)
        q, v, x = _of_joint(s, &columns[0], k, j), _of_joint(s, &columns[1], k, j), _of_joint(s, &columns[2], k, j)
        if s.seen[j] == s.serial:
            return _refuse(s, DUPLICATE_NAME, name.data, name.size, NAN)
        s.seen[j] = s.serial
        other = False
        reason = _put_state(s, j, q if s.nv else NAN, v if s.nv else NAN, x, &other, &follows, &value)
        if reason != ACCEPTED:
            return _refuse(s, reason, name.data, name.size, value)
        beside = beside or other
    if beside or (s.nv == 0 and (_says_anything(&columns[0].values) or _says_anything(&columns[1].values))):
        store(&s.beside, s.beside + 1)
    if follows:
        store(&s.followers, s.followers + 1)
    return ACCEPTED


cdef int _multi_array(InputState* s, const uint8_t* bytes, size_t size) noexcept nogil:
    """std_msgs/Float64MultiArray: one number for each joint that takes it, in joint order, into `scratch`. Returns a Reason."""
    cdef Reader r = open_cdr(bytes, size)
    cdef uint32_t count = read_count(&r, 12), k, skip
    cdef Doubles data
    cdef int reason, j
    cdef double x
    for k in range(count):                             # layout: label, size and stride of each dimension
        read_text(&r)
        read_u32(&r)
        read_u32(&r)
        if not r.ok:
            break
    skip = read_u32(&r)
    data = read_doubles(&r)
    if not r.ok:
        return _refuse(s, MALFORMED, NULL, 0, <double>size)
    if skip != 0 or data.size != <uint32_t>s.norder:
        return _refuse(s, WRONG_SIZE, NULL, 0, data.size)
    for k in range(data.size):
        x = double_at(&data, k)
        j = s.order[k]
        reason = _check_value(s, x)
        if reason == ACCEPTED and s.board is not NULL:
            reason = _beyond(s.board, s.slot[j], x if s.what == POSITION else NAN, x if s.what == VELOCITY else NAN)
        if reason != ACCEPTED:
            return _refuse(s, reason, s.names + s.name_at[j], s.name_at[j + 1] - s.name_at[j], x)
        _put(s, j, x if s.what == POSITION else NAN, x if s.what == VELOCITY else NAN, x if s.what == EFFORT else NAN)
    return ACCEPTED


cdef int _decode(InputState* s, const uint8_t* bytes, size_t size, int64_t wall) noexcept nogil:
    """One message; what is not named stays NaN. A dropped command leaves nothing behind but its count."""
    cdef int k, reason
    for k in range(s.command_size):
        s.scratch[k] = NAN
    if s.kind == TRAJECTORY:
        reason = _trajectory(s, bytes, size, wall)
    elif s.kind == HARDWARE:
        reason = _hardware_state(s, bytes, size, wall)
    else:
        reason = _multi_array(s, bytes, size) if s.kind == ARRAY else _joint_state(s, bytes, size, wall)
    if reason == ACCEPTED:
        store(&s.counts[ACCEPTED], s.counts[ACCEPTED] + 1)
    return reason
