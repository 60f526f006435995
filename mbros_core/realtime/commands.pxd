"""Which effort the plant gets: intake of commands, the watchdog, one plant step."""
from libc.math cimport NAN, isinf, isnan
from libc.stdint cimport int64_t, uint32_t
from libc.string cimport memcpy

from mbros_core.realtime.atomics cimport bump, store
from mbros_core.realtime.core cimport (
    DAMP, HOLD, MADE_UP, Core, Source, Watched, age_since, clock_ns, command_age, enter_fault, observe, record, velocities)
from mbros_core.realtime.histogram cimport add
from mbros_core.realtime.ports cimport MBROS_WATCHDOG


cdef inline void accept(Core* c, Source* source) noexcept nogil:
    """Put c.incoming in force. NaN: that coordinate keeps its last commanded value. Infinite: all of it is refused."""
    cdef int i, given = 0
    for i in range(c.plant.command_size):
        if isinf(c.incoming[i]):
            bump(&source.refused, 1)
            return
        given += not isnan(c.incoming[i])
    if given == 0 and c.plant.command_size > 0:
        bump(&source.empty, 1)
        return
    for i in range(c.plant.command_size):
        if not isnan(c.incoming[i]):
            c.held[i] = c.incoming[i]
    c.have_command = 1
    c.command_pace = c.pace_steps
    c.command_extra_ns = c.pace_extra_ns
    bump(&source.accepted, 1)
    if c.n_watched:
        note_watched(c)
    else:
        c.tripped = 0


cdef inline void note_watched(Core* c) noexcept nogil:
    """Of several watchdogs, those hear c.incoming that look after one of its numbers."""
    cdef Watched* w
    cdef int i
    for i in range(c.plant.command_size):
        if not isnan(c.incoming[i]) and c.watched_by[i] >= 0:
            w = &c.watched[c.watched_by[i]]
            store(&w.commanded, 1)
            store(&w.tripped, 0)
            store(&w.pace, c.pace_steps)
            store(&w.extra_ns, c.pace_extra_ns)
    count_tripped(c)


cdef inline void count_tripped(Core* c) noexcept nogil:
    cdef int k
    c.tripped = 0
    for k in range(c.n_watched):
        c.tripped |= c.watched[k].tripped != 0


cdef inline void take_commands(Core* c, int64_t now) noexcept nogil:
    """Poll Loop.command, then every input in order. In fault they are emptied and ignored."""
    cdef int i, k
    if c.commands.take():
        if c.fault_code:
            bump(&c.counters.ignored, 1)
        else:
            memcpy(c.incoming, c.commands.taken_values(), c.plant.command_size * sizeof(double))
            accept(c, &c.sources[0])
    for k in range(c.n_inputs):
        for i in range(c.plant.command_size):
            c.incoming[i] = NAN
        if c.inputs[k].take(c.inputs[k].self, c.incoming, now):
            if c.fault_code:
                bump(&c.counters.ignored, 1)
            else:
                accept(c, &c.sources[k + 1])


cdef inline void choose_effort(Core* c) noexcept nogil:
    """Fill c.applied: the held command, or what the watchdog puts in its place once the command is too old.

    `zero` and `damp` also forget the held command, so that a later partial command revives nothing of it. Of a command with more than
    efforts (mbros_core/plant/_commanded.pyx) `damp` brakes by the efforts, and the rest is as never commanded.
    """
    cdef int i, nv = velocities(&c.plant)
    if c.n_watched:
        choose_of_several(c, nv)
        return
    if c.have_command and not c.tripped and c.timeout_ns >= 0 and command_age(c) >= c.timeout_ns:
        c.tripped = 1
        bump(&c.counters.watchdog_trips, 1)
        if c.action != HOLD:
            for i in range(c.plant.command_size):
                c.held[i] = 0.0
    if c.tripped and c.action == DAMP:
        for i in range(c.plant.command_size):
            c.applied[i] = -c.gains[i] * c.x[c.plant.velocity_offset + i] if i < nv else 0.0
    else:
        for i in range(c.plant.command_size):
            c.applied[i] = c.held[i]


cdef inline void choose_of_several(Core* c, int nv) noexcept nogil:
    """The same where each of several watchdogs looks after numbers of its own: the others run on."""
    cdef Watched* w
    cdef int i, k
    for k in range(c.n_watched):
        w = &c.watched[k]
        if w.commanded and not w.tripped and c.timeout_ns >= 0 and age_since(c, w.pace, w.extra_ns) >= c.timeout_ns:
            store(&w.tripped, 1)
            bump(&c.counters.watchdog_trips, 1)
            for i in range(c.plant.command_size if c.action != HOLD else 0):
                if c.watched_by[i] == k:
                    c.held[i] = 0.0
    count_tripped(c)
    for i in range(c.plant.command_size):
        k = c.watched_by[i]
        if c.action == DAMP and k >= 0 and c.watched[k].tripped:
            c.applied[i] = -c.gains[i] * c.x[c.plant.velocity_offset + i] if i < nv else 0.0
        else:
            c.applied[i] = c.held[i]


cdef inline uint32_t watchdog_flag(Core* c) noexcept nogil:
    return MBROS_WATCHDOG if c.tripped else 0


cdef inline int step_plant(Core* c, uint32_t flags) noexcept nogil:
    """One plant step under the command in force, observed and recorded; 0 when it ended in a fault."""
    cdef int64_t begun
    cdef int code, look
    choose_effort(c)
    begun = clock_ns(c)
    code = c.plant.step(c.plant.self, c.applied, c.dt)
    add(c.plant_time, clock_ns(c) - begun)
    if code != 0:
        enter_fault(c, code, -1)
        observe(c)
        return 0
    look = (not flags & MADE_UP or (c.tripped and c.action == DAMP)
            or (c.record_every and (c.step + 1) % c.record_every == 0))
    if look and not observe(c):
        return 0
    c.step += 1
    c.pace_steps += 1
    bump(&c.counters.steps, 1)
    if look:
        record(c, flags | watchdog_flag(c))
    return 1
