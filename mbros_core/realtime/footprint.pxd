"""What a loop's thread touches, found and locked (see footprint.hpp and page_locks.hpp)."""
from libc.stdint cimport int64_t

from mbros_core.realtime.core cimport Core
from mbros_core.realtime.mailbox cimport Mailbox
from mbros_core.realtime.pages cimport Ranges
from mbros_core.realtime.ring cimport Ring

cdef extern from "<errno.h>" nogil:
    int ENOMEM

cdef extern from "footprint.hpp" namespace "mbros_realtime" nogil:
    cdef cppclass Footprint:
        Footprint()
        void clear()
        void add(const void* begin, size_t bytes)
        @staticmethod
        void add_to(void* self, const void* begin, size_t bytes)
        void add_block(void* p)
        void add_heap()
    int lock_footprint(Footprint* footprint, Ranges** locked, int64_t* bytes)

cdef enum:
    LOOKS = 3           # memory of other threads may come and go between the look and the lock


cdef inline void add_box(Footprint* f, Mailbox* box) noexcept nogil:
    f.add(box, sizeof(Mailbox))
    f.add(box.memory(), box.bytes())


cdef inline void add_own(Footprint* f, Core* c) noexcept nogil:
    """The loop's own memory, the thread's stack and the code of the loop."""
    cdef void** blocks = [c.inputs, c.outputs, c.memories, c.state, c.held, c.incoming, c.applied, c.x, c.scratch, c.gains,
                          c.sources, c.lateness, c.watched, c.watched_by]
    cdef Mailbox** boxes = [c.commands, c.parameters, c.resets, c.states, c.pace, c.watchdog, c.inject, c.clear_statistics,
                            c.snapshots]
    cdef int k
    f.add(c, sizeof(Core))
    for k in range(14):
        f.add_block(blocks[k])
    for k in range(9):
        add_box(f, boxes[k])
    if c.records != NULL:
        f.add(c.records, sizeof(Ring))
        f.add(c.records.memory(), c.records.bytes())
        if c.n_also:
            f.add(c.also, c.n_also * sizeof(double*))
    f.add(c.life.stack().locked_part(), c.life.stack().locked_bytes())
    f.add(<const void*>&lock_memory, 0)


cdef inline void add_plugs(Footprint* f, Core* c) noexcept nogil:
    """What the plugs say of themselves, and the shared objects of their functions. Inputs and outputs may allocate."""
    cdef int k
    f.add(<const void*>c.plant.step, 0)
    f.add(<const void*>c.plant.observe, 0)
    for k in range(c.n_inputs):
        f.add(<const void*>c.inputs[k].take, 0)
    for k in range(c.n_outputs):
        f.add(<const void*>c.outputs[k].publish, 0)
    for k in range(1 + c.n_inputs + c.n_outputs):
        if c.memories[k] != NULL and c.memories[k].tell != NULL:
            c.memories[k].tell(c.plant.self if k == 0 else c.inputs[k - 1].self if k <= c.n_inputs
                               else c.outputs[k - 1 - c.n_inputs].self, Footprint.add_to, f)
    if c.n_inputs or c.n_outputs:
        f.add_heap()


cdef inline int lock_memory(Core* c) noexcept nogil:
    """Lock what the loop touches; 0 or an errno value."""
    cdef Footprint f
    cdef int k, error = 0
    for k in range(LOOKS):
        f.clear()
        add_own(&f, c)
        add_plugs(&f, c)
        error = lock_footprint(&f, &c.locked, &c.locked_bytes)
        if error != ENOMEM:
            break
    return error
