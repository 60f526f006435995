"""The grid of slots: when it begins, which slots have passed without being run, and what the policy makes of them."""
from libc.math cimport fmax, fmin
from libc.stdint cimport int64_t

from mbros_core.realtime.atomics cimport bump, load, store
from mbros_core.realtime.clock cimport slot_at, slot_start
from mbros_core.realtime.commands cimport step_plant
from mbros_core.realtime.core cimport MADE_UP, OVERRUNS, STOP, STRETCH, Core, clock_ns
from mbros_core.realtime.histogram cimport add
from mbros_core.realtime.thread cimport use_fifo, use_ordinary


cdef inline int is_free(Core* c) noexcept nogil:
    """Not paced at all: as fast as possible and not in fault, or in a pause for as long as more than one step is asked for."""
    if c.fault_code != 0:
        return 0
    return c.steps_given + 1 < c.steps_wanted if c.is_paused else c.factor == 0.0


cdef inline void new_grid(Core* c, int64_t now) noexcept nogil:
    """Begin a grid whose slot 0 is now: at the start, and when the pace changes.

    Much faster than real time several steps share a slot, so that slots are never shorter than 250 us (or dt).
    """
    cdef int was_free = c.free
    cdef double shortest = fmin(c.dt * 1e9, 250000.0)
    c.free = is_free(c)
    c.period = c.dt * 1e9 / (c.factor if c.factor > 0.0 else 1.0)
    c.batch = 1
    if c.factor > 1.0:
        if c.is_paused or c.gate.open != NULL:
            c.period = fmax(c.period, shortest)
        else:
            c.batch = <int>fmax(1.0, shortest / c.period)
            c.period *= c.batch
    c.start_ns = now
    c.slot = 0
    c.due_ns = now
    if c.fifo_held and c.free != was_free:
        # A thread that never sleeps must not sit above everything else.
        if c.free:
            use_ordinary()
        else:
            use_fifo(c.fifo_priority)


cdef inline void forgive(Core* c, int64_t limit) noexcept nogil:
    """Give up the steps owed beyond `limit`: simulated time that will not be made up."""
    cdef int64_t beyond = c.counters.owed - limit
    if beyond > 0:
        bump(&c.counters.lost, beyond)
        store(&c.counters.owed, limit)
        c.pace_steps += beyond


cdef inline void make_up(Core* c, int64_t now) noexcept nogil:
    """Take the steps owed for slots that were not run, without publishing, under the command that was in force.

    As many as fit: the first always, another only while it and the slot's own step still end before 80 % of the
    period has gone. What remains is taken in later slots, so that one late slot never causes the next one.
    """
    cdef int64_t begun, cost
    while c.counters.owed > 0 and c.fault_code == 0:
        begun = clock_ns(c)
        if not step_plant(c, MADE_UP):
            return
        bump(&c.counters.made_up, 1)
        bump(&c.counters.owed, -1)
        cost = clock_ns(c) - begun
        if not c.free and begun + 3 * cost - now > 0.8 * c.period:
            return


cdef inline void slots_passed(Core* c, int64_t count, int64_t late, int64_t work) noexcept nogil:
    """Apply the overrun policy after `count` slots began without being run (counted by the caller already)."""
    if c.overrun == STOP and not c.is_paused and c.counters.overruns + c.counters.missed > c.overrun_limit:
        store(&c.stop_slot, c.counters.slots)
        store(&c.stop_late_ns, late)
        store(&c.stop_work_ns, work)
        store(&c.stop_count, count)
        store(&c.stop_reason, OVERRUNS)
        return
    if c.overrun == STRETCH:
        return
    c.slot += count
    if not c.is_paused and c.fault_code == 0:
        bump(&c.counters.owed, count * c.batch)
        forgive(c, c.catch_up)


cdef inline void shift_grid(Core* c, int64_t by) noexcept nogil:
    c.start_ns += by
    c.pace_extra_ns += by
    bump(&c.counters.stretched_ns, by)


cdef inline void wake(Core* c, int64_t now) noexcept nogil:
    """How late is it, and have whole slots been slept through?"""
    cdef int64_t missed
    if c.first_slot:
        new_grid(c, now)
        return
    if c.free:
        c.due_ns = now
        return
    c.due_ns = slot_start(c.start_ns, c.period, c.slot)
    add(c.lateness, now - c.due_ns)
    missed = slot_at(c.start_ns, c.period, now) - c.slot
    if missed > 0:
        bump(&c.counters.missed, missed)
        slots_passed(c, missed, now - c.due_ns, 0)
        if c.overrun == STRETCH:
            shift_grid(c, now - c.due_ns)
        c.due_ns = slot_start(c.start_ns, c.period, c.slot)
