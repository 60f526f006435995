"""The body of the loop's thread: privileges, then slot after slot until the end."""
from libc.stdint cimport int64_t

from mbros_core.realtime.atomics cimport bump, load, store
from mbros_core.realtime.bell cimport listen, rings
from mbros_core.realtime.clock cimport slot_start, sleep_until
from mbros_core.realtime.core cimport ASKED, RUNNING, SLOTS, Core, clock_ns
from mbros_core.realtime.footprint cimport lock_memory
from mbros_core.realtime.grid cimport forgive, new_grid
from mbros_core.realtime.slot cimport read_counters, run_slot
from mbros_core.realtime.thread cimport (
    close_counter, name_thread, open_counter, pin_to_cpu, touch_stack, use_fifo, want_sharp_timers)

cdef extern from "<sched.h>" nogil:
    int sched_yield()

cdef enum:
    NAP_NS = 20000000           # longest sleep without a look at the stop request


cdef inline void prepare(Core* c) noexcept nogil:
    """Ask for what makes a thread real time; what was refused is remembered and said by Python."""
    name_thread(b"mbros-loop")
    want_sharp_timers()
    if c.cpu >= 0:
        store(&c.cpu_error, pin_to_cpu(c.cpu))
    if c.lock_memory:
        store(&c.memory_error, lock_memory(c))
    touch_stack()
    if c.count_allocations:
        store(&c.counter_error, open_counter(&c.allocation_counter))
    else:
        store(&c.counter_error, -1)
    c.fifo_held = c.free = 0
    if c.fifo_priority > 0:
        store(&c.fifo_error, use_fifo(c.fifo_priority))
        c.fifo_held = load(&c.fifo_error) == 0


cdef inline void choose_injection(Core* c) noexcept nogil:
    """Is the coming slot to be disturbed? Never the first one, which only shows the initial state."""
    c.injected_now = (c.injection.remaining != 0 and not c.first_slot
                      and c.counters.slots % c.injection.every == 0)
    if c.injected_now:
        bump(&c.counters.injected, 1)
        if c.injection.remaining > 0:
            c.injection.remaining -= 1


cdef inline int64_t wait_for_slot(Core* c) noexcept nogil:
    """Sleep until the slot begins; returns the time of waking (or earlier when the loop is asked to stop)."""
    cdef int64_t due, now
    if c.waiting:
        listen(&c.bell, c.bell_heard, c.gate_until_ns)
        return clock_ns(c)
    choose_injection(c)
    if c.free:
        return clock_ns(c)
    due = slot_start(c.start_ns, c.period, c.slot)
    if c.injected_now:
        due += c.injection.late_ns
    if c.virtual_clock:
        sched_yield()
        if c.virtual_ns < due:
            c.virtual_ns = due
        return c.virtual_ns
    if c.is_paused:
        return wait_for_bell(c, due)
    now = clock_ns(c)
    while due - now > NAP_NS and not load(&c.want_stop):
        sleep_until(now + NAP_NS)
        now = clock_ns(c)
    if not load(&c.want_stop):
        sleep_until(due)
    return clock_ns(c)


cdef inline int64_t wait_for_bell(Core* c, int64_t due) noexcept nogil:
    """In a pause there is no hurry, and no time to keep: when something is asked for, a slot begins at once."""
    cdef int64_t now = clock_ns(c)
    while now < due and rings(&c.bell) == c.bell_heard and not load(&c.want_stop):
        listen(&c.bell, c.bell_heard, due if due - now < NAP_NS else now + NAP_NS)
        now = clock_ns(c)
    if now < due and not c.first_slot:
        new_grid(c, now)
    return now


cdef inline void* run(void* argument) noexcept nogil:
    cdef Core* c = <Core*>argument
    cdef int64_t now, slots = 0
    prepare(c)
    forgive(c, 0)
    new_grid(c, clock_ns(c))
    c.life.begun()
    while c.stop_reason == RUNNING:
        if slots == c.slots_wanted:
            store(&c.stop_reason, SLOTS)
            break
        now = wait_for_slot(c)
        if load(&c.want_stop):
            store(&c.stop_reason, ASKED)
            break
        run_slot(c, now)
        slots += 1
    read_counters(c)
    close_counter(&c.allocation_counter)
    c.fifo_held = 0
    store(&c.done, 1)
    c.life.ended()
    return NULL
