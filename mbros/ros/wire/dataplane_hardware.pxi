# What hardware says of its joints (sensor_msgs/JointState), for the sources of a bench (mbros_core/plant/source.pxd).
#
# Nothing of it is a command. Joints without a source are not looked at; of several messages in one step the newest counts, joint by joint.


cdef inline double _age(const InputState* s, int64_t stamp, int64_t wall) noexcept nogil:
    """Of a sample, s: by its stamp, of simulated time or the system's; without one it is of now."""
    cdef double simulated = <double>(load(&s.stamps.stamp) - stamp)
    if stamp == 0:
        return 0.0
    if s.stamps.simulated and fabs(simulated) < fabs(<double>(wall - stamp)):
        return 1e-9 * simulated
    return 1e-9 * <double>(wall - stamp)


cdef int _hardware_state(InputState* s, const uint8_t* bytes, size_t size, int64_t wall) noexcept nogil:
    """Positions, velocities, efforts and age by source, into `scratch`. Returns a Reason."""
    cdef Reader r = open_cdr(bytes, size), names
    cdef int32_t sec = read_i32(&r)
    cdef uint32_t nanosec = read_u32(&r), count, k
    cdef Text name
    cdef Doubles position, velocity, effort
    cdef double age = 0.0
    cdef int reason, j, at, n = s.command_size // 4
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
    s.stamp = <int64_t>sec * 1000000000 + nanosec
    reason = _check_stamp(s, s.stamp, wall, &age)
    if reason != ACCEPTED:
        return _refuse(s, reason, NULL, 0, age)
    if position.size == 0:
        return _refuse(s, NO_POSITIONS, NULL, 0, 0.0)
    if _unfit(&position, &velocity, &effort, count) >= 0:
        return _refuse(s, WRONG_SIZE, NULL, 0, _unfit(&position, &velocity, &effort, count))
    s.serial += 1
    age = _age(s, s.stamp, wall)
    for k in range(count):
        name = read_text(&names)
        j = _find(s, &name)
        if j < 0:
            continue
        if s.seen[j] == s.serial:
            return _refuse(s, DUPLICATE_NAME, name.data, name.size, double_at(&position, k))
        s.seen[j] = s.serial
        at = s.slot[j]
        s.scratch[at] = double_at(&position, k)
        s.scratch[n + at] = double_at(&velocity, k) if velocity.size else NAN
        s.scratch[2 * n + at] = double_at(&effort, k) if effort.size else NAN
        s.scratch[3 * n + at] = age
    return ACCEPTED


cdef void _gather(InputState* s) noexcept nogil:
    """The message that was just read, over those before it."""
    cdef int k, i, n = s.command_size // 4
    for k in range(n):
        if not isnan(s.scratch[3 * n + k]):
            for i in range(4):
                s.answer[i * n + k] = s.scratch[i * n + k]


cdef void _feed(InputState* s) noexcept nogil:
    """What was gathered goes to the sources."""
    cdef int k, n = s.command_size // 4
    for k in range(n):
        if not isnan(s.answer[3 * n + k]):
            s.sink.feed(s.sink.self, k, s.answer[3 * n + k], s.answer[k], s.answer[n + k], s.answer[2 * n + k])
            s.answer[3 * n + k] = NAN
