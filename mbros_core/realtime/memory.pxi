# The loop's memory: plugs checked and copied, arrays and mailboxes made before the start, released at the end.

cdef extern from "words.hpp" namespace "mbros_realtime" nogil:
    cdef cppclass Words:
        @staticmethod
        int64_t* word_of(void* plant) except +
        @staticmethod
        void drop_word(void* plant)

cdef extern from "footprint.hpp" namespace "mbros_realtime" nogil:
    void unlock_footprint(Ranges** locked)


cdef inline object kept_plug(object plug, const char* name, str what, void** address, mbros_memory** memory):
    """Address and context of a plug's capsule, which `plug` has or is. Returns what keeps the memory behind it: the plug where
    it is the owner that the capsule keeps, else the capsule too."""
    capsule = getattr(plug, "capsule", plug)
    if not PyCapsule_IsValid(capsule, name):
        raise WrongTypeError(f"{what}: expected an object with a `.capsule` named '{name.decode()}', got {type(capsule).__name__}")
    address[0] = PyCapsule_GetPointer(capsule, name)
    memory[0] = <mbros_memory*>PyCapsule_GetContext(capsule)
    if memory[0] != NULL and memory[0].owner == <void*>plug:
        return plug
    return plug, capsule


cdef inline void* zeros(int64_t count, size_t size) except NULL:
    cdef void* p = calloc(count if count > 0 else 1, size)
    if p == NULL:
        raise MemoryError()
    return p


cdef inline double* doubles(int n) except NULL:
    return <double*>zeros(n, sizeof(double))


cdef inline int check_plant(const mbros_plant* p) except -1:
    if (p.step == NULL or p.observe == NULL or p.set_parameters == NULL or p.reset == NULL
            or min(p.command_size, p.snapshot_size, p.parameter_size, p.state_size, p.velocity_offset) < 0
            or <int64_t>p.velocity_offset + velocities(p) > p.snapshot_size):
        raise MbrosError(f"plant: a function is missing or a size is impossible: command {p.command_size}, "
                         f"snapshot {p.snapshot_size}, velocities from {p.velocity_offset}, parameters "
                         f"{p.parameter_size}, state {p.state_size}")
    return 0


cdef inline object plug_in(Core* c, plant, tuple inputs, tuple outputs, gate):
    """Copy the structs out of the capsules. Returns what keeps the memory behind them."""
    cdef int k, n_inputs = len(inputs), n_outputs = len(outputs)
    cdef void* p = NULL
    cdef mbros_memory* unused = NULL
    c.memories = <mbros_memory**>zeros(1 + n_inputs + n_outputs, sizeof(void*))
    c.inputs = <mbros_input*>zeros(n_inputs, sizeof(mbros_input))
    c.outputs = <mbros_output*>zeros(n_outputs, sizeof(mbros_output))
    kept = [kept_plug(plant, b"mbros_core.plant", "plant", &p, &c.memories[0])]
    check_plant(<mbros_plant*>p)
    c.plant = (<mbros_plant*>p)[0]
    for k in range(n_inputs):
        kept.append(kept_plug(inputs[k], b"mbros_core.input", f"inputs[{k}]", &p, &c.memories[1 + k]))
        c.inputs[k] = (<mbros_input*>p)[0]
        if c.inputs[k].take == NULL:
            raise MbrosError(f"inputs[{k}]: its function take is missing")
    for k in range(n_outputs):
        kept.append(kept_plug(outputs[k], b"mbros_core.output", f"outputs[{k}]", &p, &c.memories[1 + n_inputs + k]))
        c.outputs[k] = (<mbros_output*>p)[0]
        if c.outputs[k].publish == NULL:
            raise MbrosError(f"outputs[{k}]: its function publish is missing")
    c.n_inputs, c.n_outputs = n_inputs, n_outputs
    if gate is not None:
        kept.append(kept_plug(gate, b"mbros_core.gate", "gate", &p, &unused))
        c.gate = (<mbros_gate*>p)[0]
        if c.gate.open == NULL or c.gate.give_bell == NULL:
            raise MbrosError("gate: a function is missing; expected open and give_bell")
        c.gate.give_bell(c.gate.self, &c.bell)
    c.plant_held = c.memories[0].held if c.memories[0] != NULL else NULL
    c.shared_word = c.plant_held == NULL
    if c.shared_word:
        c.plant_held = Words.word_of(c.plant.self)
    return tuple(kept)


cdef inline int allocate(Core* c, int64_t records, object watched_by) except -1:
    """All the loop will ever need; `records` 0: no ring; watched_by: which watchdog looks after each number of a command, or None. Settings
    at which it could run."""
    cdef int i, n = c.plant.command_size, nx = c.plant.snapshot_size
    c.life = new Life(give_back, c)
    c.commands, c.parameters, c.resets = (
        new Mailbox(n), new Mailbox(c.plant.parameter_size), new Mailbox(c.plant.state_size))
    c.states, c.pace, c.watchdog, c.inject = new Mailbox(c.plant.state_size), new Mailbox(1), new Mailbox(2 + n), new Mailbox(4)
    c.clear_statistics, c.snapshots = new Mailbox(0), new Mailbox(nx)
    if records > 0:
        c.records = new Ring(nx + c.n_also + n, records)
    c.held, c.incoming, c.applied, c.gains = doubles(n), doubles(n), doubles(n), doubles(n)
    c.state, c.x, c.scratch = doubles(c.plant.state_size), doubles(nx), doubles(nx)
    c.sources = <Source*>zeros(c.n_inputs + 1, sizeof(Source))
    c.lateness = <Histogram*>zeros(3, sizeof(Histogram))
    c.work, c.plant_time = c.lateness + 1, c.lateness + 2
    if watched_by is not None:
        c.watched_by = <int*>zeros(n + 1, sizeof(int))
        for i in range(n):
            c.watched_by[i] = ints_of(watched_by, 1)[i]
            c.n_watched = max(c.n_watched, c.watched_by[i] + 1)
        c.watched = <Watched*>zeros(c.n_watched + 1, sizeof(Watched))
    c.stop_reason, c.done, c.timeout_ns, c.slots_wanted = RUNNING, 1, -1, -1
    c.dt, c.factor, c.cpu, c.recording = 1e-3, 1.0, -1, 1
    c.injection.every = 1
    c.fault_index = -1
    return 0


cdef inline void give_back(void* core) noexcept nogil:
    """The thread has ended: its locked pages and the plant are anybody's again."""
    cdef Core* c = <Core*>core
    unlock_footprint(&c.locked)
    let_go(c.plant_held)


cdef inline void release(Core* c) noexcept:
    """Free everything there is, and forget it; there is no thread."""
    if c.gate.give_bell != NULL:
        c.gate.give_bell(c.gate.self, NULL)
    if c.shared_word:
        Words.drop_word(c.plant.self)
    del c.life
    del c.commands, c.parameters, c.resets, c.states, c.pace, c.watchdog, c.inject, c.clear_statistics, c.snapshots, c.records
    for memory in (<size_t>c.held, <size_t>c.incoming, <size_t>c.applied, <size_t>c.gains, <size_t>c.state,
                   <size_t>c.x, <size_t>c.scratch, <size_t>c.sources, <size_t>c.lateness, <size_t>c.inputs,
                   <size_t>c.outputs, <size_t>c.memories, <size_t>c.watched, <size_t>c.watched_by):
        free(<void*><size_t>memory)
    memset(c, 0, sizeof(Core))
