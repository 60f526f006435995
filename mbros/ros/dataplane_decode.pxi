# Reading one command: bytes that nobody has checked yet, to an array of efforts or the reason why not.

# Why a command was dropped; the sentences are in mbros.ros.messages.REASONS, in this order.
cdef enum:
    ACCEPTED, MALFORMED, TOO_LARGE, WRONG_SIZE, UNKNOWN_NAME, DUPLICATE_NAME, NOT_COMMANDABLE, NO_EFFORT, INFINITE,
    ABSURD, STALE_STAMP, FUTURE_STAMP, READ_ERROR, NUMBER_OF_REASONS

REASON_NAMES = ("accepted", "malformed", "too_large", "wrong_size", "unknown_name", "duplicate_name", "not_commandable",
                "no_effort", "infinite", "absurd", "stale_stamp", "future_stamp", "read_error")

cdef enum:
    TEXT_SIZE = 64
    MOST_PER_POLL = 64       # messages taken in one step at most: a deep queue cannot hold the loop


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
    bint array                  # Float64MultiArray instead of JointState
    int njoints, command_size
    char* names                 # all names in one piece
    uint32_t* name_at           # (njoints + 1) where each begins
    int* slot                   # (njoints) place in the command, -1: takes no command of its own
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
    Problem problem


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
    """A stamp may be system time or simulated time; it has to be fresh on one of them. Zero: not stamped."""
    cdef int64_t old = wall - stamp, old_simulated = load(&s.stamps.stamp) - stamp
    if s.max_age == 0 or stamp == 0 or (s.stamps.simulated and -s.max_age <= old_simulated <= s.max_age):
        return ACCEPTED
    age[0] = 1e-9 * <double>old
    if old < -s.max_age:
        return FUTURE_STAMP
    if old > s.max_age or stamp < load(&s.stamps.not_before):
        return STALE_STAMP
    return ACCEPTED


cdef inline int _check_value(const InputState* s, double x) noexcept nogil:
    if isnan(x):
        return ACCEPTED
    if fabs(x) == INFINITY:
        return INFINITE
    return ABSURD if fabs(x) > s.limit else ACCEPTED


cdef inline bint _says_anything(const Doubles* values) noexcept nogil:
    """One of them is not NaN."""
    cdef uint32_t k
    for k in range(values.size):
        if not isnan(double_at(values, k)):
            return True
    return False


cdef int _joint_state(InputState* s, const uint8_t* bytes, size_t size, int64_t wall) noexcept nogil:
    """sensor_msgs/JointState: efforts by joint name, into `scratch`. Returns a Reason."""
    cdef Reader r = open_cdr(bytes, size), names
    cdef int32_t sec = read_i32(&r)
    cdef uint32_t nanosec = read_u32(&r), count, k
    cdef Text name
    cdef Doubles position, velocity, effort
    cdef double x, age = 0.0
    cdef int reason, j
    read_text(&r)                                      # frame_id
    count = read_count(&r, 5 if r.size > 8 else 1)
    names = r
    for k in range(count):
        read_text(&r)
        if not r.ok:
            break
    position, velocity, effort = read_doubles(&r), read_doubles(&r), read_doubles(&r)
    if not r.ok or nanosec >= 1000000000u:
        return _refuse(s, MALFORMED, NULL, 0, <double>size)
    reason = _check_stamp(s, <int64_t>sec * 1000000000 + nanosec, wall, &age)
    if reason != ACCEPTED:
        return _refuse(s, reason, NULL, 0, age)
    if (position.size != 0 and position.size != count) or (velocity.size != 0 and velocity.size != count) \
            or (effort.size != 0 and effort.size != count):
        return _refuse(s, WRONG_SIZE, NULL, 0, effort.size)
    if effort.size == 0:
        return _refuse(s, NO_EFFORT, NULL, 0, 0.0)
    s.serial += 1
    for k in range(count):
        name = read_text(&names)
        x = double_at(&effort, k)
        j = _find(s, &name)
        if j < 0:
            return _refuse(s, UNKNOWN_NAME, name.data, name.size, x)
        if s.seen[j] == s.serial:
            return _refuse(s, DUPLICATE_NAME, name.data, name.size, x)
        s.seen[j] = s.serial
        reason = _check_value(s, x)
        if reason == ACCEPTED and s.slot[j] < 0 and not isnan(x):
            reason = NOT_COMMANDABLE
        if reason != ACCEPTED:
            return _refuse(s, reason, name.data, name.size, x)
        if s.slot[j] >= 0:
            s.scratch[s.slot[j]] = x
    if _says_anything(&position) or _says_anything(&velocity):
        store(&s.beside, s.beside + 1)
    return ACCEPTED


cdef int _multi_array(InputState* s, const uint8_t* bytes, size_t size) noexcept nogil:
    """std_msgs/Float64MultiArray: one effort per commandable joint in joint order, into `scratch`. Returns a Reason."""
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
        if reason != ACCEPTED:
            return _refuse(s, reason, s.names + s.name_at[j], s.name_at[j + 1] - s.name_at[j], x)
        s.scratch[s.slot[j]] = x
    return ACCEPTED


cdef int _decode(InputState* s, const uint8_t* bytes, size_t size, int64_t wall) noexcept nogil:
    """One message; what is not named stays NaN. A dropped command leaves nothing behind but its count."""
    cdef int k, reason
    for k in range(s.command_size):
        s.scratch[k] = NAN
    reason = _multi_array(s, bytes, size) if s.array else _joint_state(s, bytes, size, wall)
    if reason == ACCEPTED:
        store(&s.counts[ACCEPTED], s.counts[ACCEPTED] + 1)
    return reason
