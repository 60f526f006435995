"""One slot of the loop: late or not, requests, steps owed, the step, publication, what it cost."""
from libc.stdint cimport int64_t, uint32_t
from libc.string cimport memcpy

from mbros_core.support.held cimport by_a_loop, let_go, seize
from mbros_core.realtime.atomics cimport bump, load, store
from mbros_core.realtime.bell cimport listen, ring, rings, somebody_listens
from mbros_core.realtime.clock cimport monotonic_ns, sleep_until, slot_at, slot_start, wall_offset_ns
from mbros_core.realtime.commands cimport step_plant, take_commands, watchdog_flag
from mbros_core.realtime.core cimport (
    ACK_INJECT, ACK_PACE, ACK_PARAMETERS, ACK_RESET, ACK_STATE, ACK_STATISTICS, ACK_WATCHDOG, N_ACKS, RUNNING, STRETCH,
    Core, clock_ns, command_age, forget_commands, observe, record, write_header)
from mbros_core.realtime.grid cimport forgive, is_free, make_up, new_grid, shift_grid, slots_passed, wake
from mbros_core.realtime.histogram cimport add, clear
from mbros_core.realtime.ports cimport (
    MBROS_AGAIN, MBROS_FAULT, MBROS_GO, MBROS_HALT, MBROS_PAUSED, MBROS_REPEATED, MBROS_RESET, MBROS_STEPPED)
from mbros_core.realtime.thread cimport page_faults, read_counter


cdef inline void do_reset(Core* c) noexcept nogil:
    memcpy(c.state, c.resets.taken_values(), c.plant.state_size * sizeof(double))
    c.plant.reset(c.plant.self, c.state)
    c.fault_code = 0
    c.step = 0
    forget_commands(c)
    store(&c.counters.owed, 0)
    bump(&c.counters.resets, 1)
    c.fresh_reset = 1


cdef inline void take_settings(Core* c) noexcept nogil:
    """Watchdog, fault injection, cleared statistics."""
    cdef const double* v
    cdef int i
    if c.watchdog.take():
        v = c.watchdog.taken_values()
        c.timeout_ns = <int64_t>v[0]
        c.action = <int>v[1]
        for i in range(c.plant.command_size):
            c.gains[i] = v[2 + i]
        c.served[ACK_WATCHDOG] = c.watchdog.taken().number
    if c.inject.take():
        v = c.inject.taken_values()
        c.injection.busy_ns = <int64_t>v[0]
        c.injection.late_ns = <int64_t>v[1]
        c.injection.every = <int64_t>v[2]
        c.injection.remaining = <int64_t>v[3]
        c.served[ACK_INJECT] = c.inject.taken().number
    if c.clear_statistics.take():
        clear(c.lateness)
        clear(c.work)
        clear(c.plant_time)
        store(&c.counters.slots, 0)
        store(&c.counters.published, 0)
        store(&c.counters.overruns, 0)
        store(&c.counters.missed, 0)
        store(&c.counters.made_up, 0)
        store(&c.counters.lost, 0)
        store(&c.counters.stretched_ns, 0)
        c.served[ACK_STATISTICS] = c.clear_statistics.taken().number


cdef inline void take_requests(Core* c, int64_t now) noexcept nogil:
    """Everything asked for since the last slot, before anything of this slot is simulated."""
    cdef int64_t pause = load(&c.want_pause)
    cdef int repaced = 0
    c.bell_heard = rings(&c.bell)
    c.steps_wanted = load(&c.step_target)       # first: what was posted before the steps were asked for is in force in them
    take_settings(c)
    if c.parameters.take():
        c.plant.set_parameters(c.plant.self, c.parameters.taken_values())
        bump(&c.counters.parameter_blocks, 1)
        c.served[ACK_PARAMETERS] = c.parameters.taken().number
    if c.states.take():
        c.plant.set_state(c.plant.self, c.states.taken_values())
        c.renewed = 1
        c.served[ACK_STATE] = c.states.taken().number
    if c.resets.take():
        do_reset(c)
        c.served[ACK_RESET] = c.resets.taken().number
    if c.pace.take():
        c.factor = c.pace.taken_values()[0]
        repaced = 1
    if pause != c.is_paused:
        # The owed steps belong to the time before the pause.
        make_up(c, now)
        forgive(c, 0)
        c.is_paused = pause
        repaced = repaced or c.factor > 1.0
    if repaced or c.free != is_free(c):
        new_grid(c, now)
        c.served[ACK_PACE] = c.pace.taken().number


cdef inline void busy_wait(Core* c) noexcept nogil:
    """Injected delay inside the slot."""
    cdef int64_t until
    if c.injected_now and c.injection.busy_ns > 0:
        if c.virtual_clock:
            c.virtual_ns += c.injection.busy_ns
        else:
            until = clock_ns(c) + c.injection.busy_ns
            while clock_ns(c) < until:
                pass


cdef inline void publish(Core* c, uint32_t flags) noexcept nogil:
    flags |= watchdog_flag(c)
    if c.is_paused:
        flags |= MBROS_PAUSED
    if c.fault_code:
        flags |= MBROS_FAULT
    if c.fresh_reset:
        flags |= MBROS_RESET
        c.fresh_reset = 0
    write_header(c, c.snapshots.header(), flags)
    memcpy(c.snapshots.values(), c.x, c.plant.snapshot_size * sizeof(double))
    c.snapshots.post()
    c.shown.step = c.step
    c.shown.time = c.step * c.dt
    c.shown.wall_ns = c.due_ns + c.wall_offset_ns
    c.shown.command_age_ns = command_age(c)
    c.shown.flags = flags
    c.shown.size = c.plant.snapshot_size
    c.shown.x = c.x
    c.renewed = 0
    show(c)
    store(&c.counters.command_age_ns, c.shown.command_age_ns)
    bump(&c.counters.published, 1)


cdef inline void show(Core* c) noexcept nogil:
    cdef int k
    for k in range(c.n_outputs):
        c.outputs[k].publish(c.outputs[k].self, &c.shown)


cdef inline bint may_step(Core* c) noexcept nogil:
    """In lockstep, whether what the coming step waits for is there. Where it is not, the slot ends, and begins again when the bell
    rings."""
    cdef int answer
    c.waiting = 0
    if (c.gate.open == NULL or c.first_slot or c.fresh_reset or c.fault_code
            or (c.is_paused and c.steps_given >= c.steps_wanted)):
        return True
    if c.renewed and observe(c):
        publish(c, 0)
    answer = c.gate.open(c.gate.self, &c.shown, monotonic_ns(), &c.gate_until_ns)
    if answer == MBROS_GO:
        return True
    if answer == MBROS_AGAIN:
        c.shown.flags |= MBROS_REPEATED
        show(c)
    elif answer == MBROS_HALT:
        store(&c.step_target, load(&c.steps_given))
        store(&c.want_pause, 1)
        c.gate_until_ns = 0
    c.waiting = 1
    return False


cdef inline void stand_aside(Core* c) noexcept nogil:
    """Somebody asked for the plant between two steps (visits.pxi): let go of it, and go on when it is given back."""
    cdef int64_t wanted = load(&c.visit_wanted)
    cdef uint32_t heard
    if load(&c.visit_over) >= wanted:
        return
    let_go(c.plant_held)
    store(&c.visit_begun, wanted)
    ring(&c.answers)
    while load(&c.visit_over) < wanted:
        heard = rings(&c.bell)
        if load(&c.visit_over) < wanted:
            listen(&c.bell, heard, monotonic_ns() + 20000000)
    while not seize(c.plant_held, by_a_loop()):     # a call of another thread, which slipped in
        sleep_until(monotonic_ns() + 50000)
    c.visit_served = wanted


cdef inline void keep_no_time(Core* c, int64_t now) noexcept nogil:
    """In lockstep a slot that begins late is nobody's fault: the grid begins anew, and no step is left out or made up."""
    if c.gate.open != NULL and not c.free and not c.first_slot and slot_at(c.start_ns, c.period, now) > c.slot:
        new_grid(c, now)


cdef inline void simulate(Core* c, int64_t now) noexcept nogil:
    """The slot's own step, if there is one to take, and its publication.

    None is taken in the first slot and after a reset (they show the state they begin with), in a pause unless
    steps were asked for, which are then taken one slot after the other without waiting, and in fault.
    """
    cdef int stepped = 0, i
    take_commands(c, now)
    if c.first_slot or c.fresh_reset:
        if observe(c):
            record(c, MBROS_RESET if c.fresh_reset else 0)
        publish(c, 0)
        return
    if c.is_paused:
        if c.fault_code == 0 and c.steps_given < c.steps_wanted:
            stepped = step_plant(c, MBROS_STEPPED | MBROS_PAUSED)
            busy_wait(c)
        elif c.fault_code == 0:
            observe(c)
        publish(c, MBROS_STEPPED if stepped else 0)
        if stepped:
            bump(&c.steps_given, 1)
        return
    for i in range(c.batch):
        if i > 0:
            c.due_ns = slot_start(c.start_ns, c.period, c.slot) + <int64_t>(i * c.period / c.batch)
            take_commands(c, now)
        if c.fault_code == 0:
            step_plant(c, 0)
        if i == 0:
            busy_wait(c)
        publish(c, 0)


cdef inline void read_counters(Core* c) noexcept nogil:
    """Page faults and allocations of this thread since the warm-up, read every 64th slot and at the end."""
    cdef int64_t minor = 0, major = 0, calls
    page_faults(&minor, &major)
    calls = read_counter(&c.allocation_counter)
    if not c.counters.warm:
        c.base_minor = minor
        c.base_major = major
        c.base_allocations = calls
        return
    store(&c.counters.minor_faults, minor - c.base_minor)
    store(&c.counters.major_faults, major - c.base_major)
    store(&c.counters.allocations, calls - c.base_allocations)


cdef inline void tell(Core* c) noexcept nogil:
    """Whoever waits for a request sees it served only now that a snapshot shows it."""
    cdef int k
    store(&c.pause_shown, c.is_paused)
    store(&c.fault_shown, c.fault_code)
    for k in range(N_ACKS):
        store(&c.acks[k], c.served[k])
    store(&c.visit_shown, c.visit_served)
    if somebody_listens(&c.listeners):
        ring(&c.answers)


cdef inline void finish(Core* c, int64_t woke) noexcept nogil:
    """What the slot cost, and the slots that began meanwhile."""
    cdef int64_t now = clock_ns(c), overruns
    tell(c)
    add(c.work, now - woke)
    bump(&c.counters.slots, 1)
    if c.counters.warm == 0 and c.counters.slots >= c.warmup:
        read_counters(c)
        store(&c.counters.warm, 1)
        c.sparse_polls = 0
    c.sparse_polls += 1
    if c.sparse_polls >= 64:
        read_counters(c)
        c.sparse_polls = 0
    if c.free:
        c.first_slot = 0
        return
    if c.gate.open != NULL:
        c.first_slot = 0
        c.slot += 1
        return
    overruns = slot_at(c.start_ns, c.period, now) - c.slot
    if c.first_slot and overruns > 0:
        # The first slot touches everything for the first time; if that took long, the grid begins where it ended.
        new_grid(c, now)
        overruns = 0
    c.first_slot = 0
    if overruns > 0:
        bump(&c.counters.overruns, overruns)
        slots_passed(c, overruns, woke - slot_start(c.start_ns, c.period, c.slot), now - woke)
        if c.overrun == STRETCH:
            shift_grid(c, now - slot_start(c.start_ns, c.period, c.slot + 1))
    c.slot += 1


cdef inline void run_slot(Core* c, int64_t now) noexcept nogil:
    if not c.virtual_clock:
        c.wall_offset_ns = wall_offset_ns()
    keep_no_time(c, now)
    wake(c, now)
    if c.stop_reason != RUNNING:
        return
    stand_aside(c)
    take_requests(c, now)
    make_up(c, now)
    if not may_step(c):
        tell(c)
        return
    simulate(c, now)
    finish(c, now)
