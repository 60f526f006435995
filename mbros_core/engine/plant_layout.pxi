# Where a plant's numbers stand: its tables, its snapshots, its block of live parameters, its plug. Included after plant.pxi.

cdef int allocate_plant(Plant p, list rows, list pairs) except -1:
    """Memory for the tables of its C side, filled from the rows and pairs."""
    cdef ModelC* m = &p.model.c
    cdef int nj = len(rows), npairs = len(pairs), ntunables = len(TUNABLE), i
    cdef int joint_doubles = (nj * sizeof(JointRow) + 7) // 8, pair_doubles = (npairs * sizeof(FramePair) + 7) // 8
    cdef int tunable_doubles = (ntunables * sizeof(Tunable) + 7) // 8
    cdef int work_doubles = (sizeof(Work) + 7) // 8
    cdef int moving = (p.state.c.a_prev + m.nv) - p.state.c.q
    p.memory = Memory(joint_doubles + pair_doubles + tunable_doubles + m.nv + moving + work_doubles)
    p.c.joints = <JointRow*>p.memory.p
    p.c.pairs = <FramePair*>(p.memory.p + joint_doubles)
    p.c.tunables = <Tunable*>(p.memory.p + joint_doubles + pair_doubles)
    p.c.effort_limit = p.memory.p + joint_doubles + pair_doubles + tunable_doubles
    p.c.effort = <double*>p.state.c.effort
    p.c.moving_bytes, p.c.coordinates = moving * sizeof(double), (p.state.c.v + m.nv) - p.state.c.q
    p.c.looking = <Work*>(p.c.effort_limit + m.nv + moving)
    p.c.looking[0] = p.state.c
    p.c.looking.q = <real*>(p.c.effort_limit + m.nv)
    p.c.looking.v, p.c.looking.a_prev = p.c.looking.q + (p.state.c.v - p.state.c.q), p.c.looking.q + (p.state.c.a_prev - p.state.c.q)
    p.c.m, p.c.s, p.c.stage = m, &p.state.c, &p.state.stage
    p.c.integrator = PLANT_INTEGRATORS[p.integrator]
    p.c.nj, p.c.npairs, p.c.ntunables = nj, npairs, ntunables
    p.c.clamped = 0.0
    p.c.fault, p.c.fault_index = NO_FAULT, -1
    for i in range(nj):
        iq, iv, ratio, offset, drives = rows[i]
        if not (0 <= iq < m.nq and 0 <= iv < m.nv):
            raise MbrosError(f"joint_rows[{i}]: coordinates ({iq}, {iv}) are outside nq {m.nq}, nv {m.nv}")
        p.c.joints[i].iq, p.c.joints[i].iv = iq, iv
        p.c.joints[i].ratio, p.c.joints[i].offset, p.c.joints[i].drives = ratio, offset, drives
        p.c.joints[i].pair = is_pair(m, iq)
    for i in range(npairs):
        a, b = pairs[i]
        if not (0 <= a < m.nf and 0 <= b < m.nf):
            raise MbrosError(f"transform_pairs[{i}]: frames ({a}, {b}) are outside 0..{m.nf - 1}")
        p.c.pairs[i].a, p.c.pairs[i].b = a, b
    for i in range(m.nv):
        p.c.effort_limit[i] = p.model.spec.effort_limit[i]


cdef int describe_snapshot(Plant p) except -1:
    """What stands where in a snapshot, and room for one."""
    cdef ModelC* m = &p.model.c
    at = 0
    p.layout = {}
    for name, size in (("q", m.nq), ("v", m.nv), ("effort", m.nv), ("joint_position", p.c.nj),
                       ("joint_velocity", p.c.nj), ("joint_effort", p.c.nj), ("transforms", 7 * p.c.npairs),
                       ("energy", 2), ("clamped", 1), ("fault", 2)):
        p.layout[name] = (at, size)
        at += size
    if m.ns or m.nk:
        p.c.seen_touches = min(m.scene.most_touches, SEEN_TOUCHES)
        p.layout["contacts"] = (at, (1 + p.c.seen_touches) * TOUCH_COLUMNS)
        at += p.layout["contacts"][1]
    p.port.snapshot_size = p.c.snapshot_size = at
    p.snapshot = Memory(at)
    p.c.seen = p.snapshot.p


cdef int describe_parameters(Plant p) except -1:
    """The block of live parameters: those arrays of the state, one after the other."""
    cdef cnp.ndarray view
    cdef int i, at = 0
    p.parameters = {}
    for i, name in enumerate(TUNABLE):
        view = p.state.field(name)
        p.c.tunables[i].x = <double*>cnp.PyArray_DATA(view)
        p.c.tunables[i].at, p.c.tunables[i].size = at, view.size
        p.parameters[name] = (at, view.size)
        at += view.size
    p.port.parameter_size = at


cdef void fill_port(Plant p):
    """The functions of plug.pxi, and all memory that they touch."""
    cdef ModelC* m = &p.model.c
    p.port.self = <void*>&p.c
    p.port.command_size = m.nv
    p.port.state_size = m.nq + m.nv
    p.port.velocity_offset = m.nq
    p.port.step = plant_step
    p.port.observe = plant_observe
    p.port.set_parameters = plant_set_parameters
    p.port.reset = plant_reset
    p.port.set_state = plant_set_state
    p.port_memory.held, p.port_memory.tell = &p.state.held, plant_tell
    p.c.touched[0] = Touched(<void*>&p.c, sizeof(PlantC))
    p.c.touched[1] = Touched(p.memory.p, p.memory.n * sizeof(double))
    p.c.touched[2] = Touched(p.state.memory.p, p.state.memory.n * sizeof(double))
    p.c.touched[3] = Touched(<void*>&p.state.c, sizeof(Work))
    p.c.touched[4] = Touched(p.model.memory.p, p.model.memory.n * sizeof(double))
    p.c.touched[5] = Touched(p.state.c.L, p.state.dense.n * sizeof(double) if p.state.dense is not None else 0)
    p.c.touched[6] = Touched(m, sizeof(ModelC))
    p.c.touched[7] = p.c.touched[8] = Touched(NULL, 0)
    if m.scene != NULL:
        p.c.touched[7] = Touched(m.scene.memory, m.scene.bytes)
        p.c.touched[8] = Touched(p.state.c.contacts.memory, p.state.c.contacts.bytes)


cdef void fill_inside(Plant p):
    """What devices work on (plant/inside.hpp)."""
    cdef mbros_inside* x = &p.within
    cdef Work* s = &p.state.c
    x.self = <void*>&p.c
    x.nb, x.nq, x.nv, x.contact_size = p.model.c.nb, p.model.c.nq, p.model.c.nv, p.model.c.nt * TOUCH_COLUMNS
    x.time, x.clock, x.q, x.v, x.a_prev = <double*>s.time, <double*>s.clock, <double*>s.q, <double*>s.v, <double*>s.a_prev
    x.contact_memory, x.rotor_inertia = <double*>s.contact_memory, <double*>s.rotor_inertia
    x.lock, x.damping, x.friction, x.inertia = <double*>s.lock, <double*>s.damping, <double*>s.friction, <double*>s.inertia
    x.effort, x.effort_limit, x.clamped = p.c.effort, p.c.effort_limit, &p.c.clamped
    x.gravity = <const double*>s.gravity
    x.X_WB, x.V_WB, x.A_WB = <const double*>s.X_WB, <const double*>s.V_WB, <const double*>s.A_WB
    x.advance, x.mean_accelerations, x.kinematics = plant_advance, plant_mean_accelerations, plant_kinematics
    x.carried, x.wrenches = plant_carried, plant_wrenches
    x.stop = plant_stop
    x.lock, x.carried_F, x.carried_effort = <double*>s.lock, <const double*>s.F, <const double*>s.tau
    x.ns, x.most_touches = p.model.c.ns, p.model.c.scene.most_touches if p.model.c.scene != NULL else 0
    x.shape_body = p.model.c.scene.body if p.model.c.scene != NULL else NULL
    x.devices = &p.c.devices
