# What may be put into a plant: friction that rk4 can step, parameters that can be, positions that constraints allow. Included after
# plant.pxi.

cdef Py_ssize_t parameter_doubles(Plant p):
    """How many doubles a State's parameter fields take; they stand side by side, from gravity on."""
    return <double*>p.state.c.q_seen - <double*>p.state.c.gravity


cdef int watch_friction(Plant p) except -1:
    """check_friction(), whenever a parameter has changed and something may rub."""
    cdef double* now = <double*>p.state.c.gravity
    cdef size_t size = parameter_doubles(p) * sizeof(double)
    cdef int i, rubbing = p.c.m.ne
    for i in range(p.c.m.nv):
        rubbing |= value(p.state.c.friction[i]) != 0.0
    if rubbing and memcmp(p.checked.p, now, size) != 0:
        p.check_friction()
        memcpy(p.checked.p, now, size)
    return 0


cdef object check_plant_friction(Plant p, object state):
    """Plant.check_friction, of a given state."""
    if p.checked is None:
        return False
    from mbros_core.support.stiffness import check_rk4_friction     # start-up time: who does not step with rk4 does not pay

    return check_rk4_friction(p.model, state, p.dt, 1.0 / FRICTION_SPEED_PER_S)


cdef object parameters_of(Plant p, State s):
    """Plant.parameter_block, of a given state."""
    block = np.concatenate([s.field(name).ravel() for name in TUNABLE])
    if not np.isfinite(block).all():
        raise NonFiniteError(explain_not_finite(p.model, "parameter_block", inputs_of(s)))
    return block


cdef int check_plant_parameters(Plant p, cnp.ndarray x) except -1:
    """Plant.check_parameters, of a block of the right size."""
    cdef State probe
    check_all_finite(f"model {p.model.name!r}", "block", x)
    values = {name: x[at:at + size] for name, (at, size) in p.parameters.items()}
    check_parameters(p.model.spec, p.model.velocity_names, values)
    if p.checked is not None:
        probe = State(p.model)
        for name, numbers in values.items():
            probe.field(name).ravel()[:] = numbers
        p.check_friction(probe)
    return 0


cdef int check_start(Plant p, cnp.ndarray q) except -1:
    """MbrosError where positions, all of them given, violate a constraint."""
    if p.model.c.nk and np.isfinite(q).all():
        probe = State(p.model)
        probe.q[:] = p.model.normalize(q)
        check_closed(p.model, probe)
    return 0
