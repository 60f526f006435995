# Between the steps of a plant that dormand_prince moves: its substeps, taken again up to a time. Included after plant.pxi.

cdef State state_at(Plant p, object time):
    """Plant.at: checks, then between()."""
    cdef double end = p.state.time, h = p.dt, t
    p.refuse_moving()
    if p.adaptive is None or p.devices is not None:
        raise StateError(f"at: dense output is that of the integrator {integrators.BY_ERROR!r}, without a bench or disturbances; this "
                         f"is {p.integrator!r}{'' if p.devices is None else ' with such'}")
    if (value(p.c.s.last_step[0]) != h or p.c.fault != NO_FAULT
            or end != counted_time(value(p.c.s.clock[0]), value(p.c.s.clock[1]), h)):
        raise StateError("at: no step led to this state: it was put here, or a step failed; take one first")
    t = given.number("at", "time", time)
    if not end - h <= t <= end:
        raise MbrosError(f"at: {t:.9g} s is outside the last step, {end - h:.9g} to {end:.9g} s; dense output is of that step alone")
    return between(p, t)


cdef State between(Plant p, double t):
    """The state, a copy, at a time within the last step."""
    cdef State s = p.state.twin()
    cdef double end = p.state.time
    cdef Adaptive a = p.c.adaptive
    s.need_contacts()
    if p.model.c.shared:
        s.need_dense()
    memcpy(s.c.q, s.c.q_before, p.c.moving_bytes)
    s.c.clock[1] = real(value(s.c.clock[1]) - 1.0)
    s.c.time[0] = real(counted_time(value(s.c.clock[0]), value(s.c.clock[1]), p.dt))
    if t < end:
        p.moving = this_thread()
        dormand_prince(&p.model.c, &s.c, s.c.effort, &a, p.dt, max(0.0, t - value(s.c.time[0])))
        p.moving = 0
        p.raise_of_laws()
    else:
        memcpy(s.c.q, p.state.c.q, p.c.moving_bytes)
    forget_last_step(&p.model.c, &s.c)
    s.c.time[0] = s.c.clock[0] = real(t)
    s.c.clock[1] = real(0.0)
    s.stage = STAGE_NONE
    return s
