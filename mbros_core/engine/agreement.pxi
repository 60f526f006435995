# What the compiled module and the Python tables both say, compared name by name when the module is imported.

cdef int agree(str table, list names, str compiled, dict places) except -1:
    """ImportError unless `names`, in order, are those whose places in the compiled module are 0, 1, 2, ..."""
    cdef list there = sorted(places, key=places.get)
    cdef Py_ssize_t k
    if len(names) != len(there) or sorted(places.values()) != list(range(len(there))):
        raise ImportError(f"mbros_core/{table} has {len(names)} entries and {compiled} {len(there)}; mbros_core has to be built again")
    for k in range(len(names)):
        if names[k] != there[k]:
            raise ImportError(f"mbros_core/{table} and {compiled} disagree: entry {k} is {names[k]!r} in the one and {there[k]!r} in the "
                              "other; mbros_core has to be built again")
    return 0


cdef int agree_on_kinds(str folder, rows, dict places) except -1:
    """ImportError unless the rows of a registry are the kinds of its dispatch, in order and by these numbers; users' kinds come last."""
    if [row.number for row in rows] != list(range(len(rows))):
        raise ImportError(f"mbros_core/{folder}/registry.py: the numbers of its rows are not 0, 1, 2, ... in this order")
    return agree(f"{folder}/registry.py", [*[row.name for row in rows], "user"], f"the enum of {folder}/dispatch.pxd", places)


cdef dict places_in_work():
    """Which pointer of Work each name is, counted from its beginning."""
    cdef Work w
    cdef size_t begin = <size_t>&w
    cdef dict at = dict(
        time=<size_t>&w.time, clock=<size_t>&w.clock, q=<size_t>&w.q, v=<size_t>&w.v, a_prev=<size_t>&w.a_prev,
        contact_memory=<size_t>&w.contact_memory, last_step=<size_t>&w.last_step, effort=<size_t>&w.effort,
        q_before=<size_t>&w.q_before, v_before=<size_t>&w.v_before, a_before=<size_t>&w.a_before, a_given=<size_t>&w.a_given,
        motion_q=<size_t>&w.motion_q, motion=<size_t>&w.motion, external_force=<size_t>&w.external_force, gravity=<size_t>&w.gravity,
        inertia=<size_t>&w.inertia, damping=<size_t>&w.damping, friction=<size_t>&w.friction,
        rotor_inertia=<size_t>&w.rotor_inertia, stop_stiffness=<size_t>&w.stop_stiffness, stop_damping=<size_t>&w.stop_damping,
        lock=<size_t>&w.lock, force_parameters=<size_t>&w.force_parameters, contact_parameters=<size_t>&w.contact_parameters,
        constraint_parameters=<size_t>&w.constraint_parameters,
        q_seen=<size_t>&w.q_seen, X_WB=<size_t>&w.X_WB, p_PB_W=<size_t>&w.p_PB_W, S=<size_t>&w.S, v_seen=<size_t>&w.v_seen,
        V_WB=<size_t>&w.V_WB, Ab_WB=<size_t>&w.Ab_WB, passive=<size_t>&w.passive, D0=<size_t>&w.D0,
        sticking=<size_t>&w.sticking, stiff=<size_t>&w.stiff, applied=<size_t>&w.applied, vdot=<size_t>&w.vdot, tau=<size_t>&w.tau,
        A_WB=<size_t>&w.A_WB, M_W=<size_t>&w.M_W, F=<size_t>&w.F, P=<size_t>&w.P, U=<size_t>&w.U, D_inverse=<size_t>&w.D_inverse,
        u=<size_t>&w.u, stage_q=<size_t>&w.stage_q, stage_v=<size_t>&w.stage_v, stage_qdot=<size_t>&w.stage_qdot, L=<size_t>&w.L,
        contacts=<size_t>&w.contacts)
    return {name: (place - begin) // sizeof(void*) for name, place in at.items()}


agree("engine/fields.py", [*[row.name for row in FIELDS], "L", "contacts"], "the struct Work of state.pxd", places_in_work())
if sizeof(Work) != (len(FIELDS) + 2) * sizeof(void*):
    raise ImportError("mbros_core/engine/agreement.pxi does not name every member of the struct Work of state.pxd")
