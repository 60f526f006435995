"""Everything the loop's thread works on, in one plain struct.

Whoever holds the loop's life (life.hpp) fills it, and while the thread runs it is the thread's, but for three things. Plugs, settings
and the places of the mailboxes do not change meanwhile, and anybody may read them. The life, the mailboxes and the ring are safe of
themselves. The words under "shared" are read and written from outside, and written by the thread, through atomics.pxd.
Times and durations are nanoseconds, but for dt, in seconds.
"""
from libc.math cimport isfinite, llround
from libc.stdint cimport int64_t, uint32_t
from libc.string cimport memcpy

from mbros_core.realtime.atomics cimport bump, load, store
from mbros_core.realtime.clock cimport monotonic_ns
from mbros_core.realtime.histogram cimport Histogram
from mbros_core.realtime.life cimport Life
from mbros_core.realtime.mailbox cimport Letter, Mailbox
from mbros_core.realtime.pages cimport Ranges
from mbros_core.realtime.ports cimport mbros_gate, mbros_input, mbros_memory, mbros_output, mbros_plant, mbros_snapshot
from mbros_core.realtime.ring cimport Ring
from mbros_core.realtime.thread cimport AllocationCounter


cdef enum:              # overrun
    SKIP        # slots that passed are not run; their simulated time is made up
    STOP        # the loop ends
    STRETCH     # the grid moves; every slot is run, simulated time falls behind the wall clock

cdef enum:              # watchdog action
    ZERO
    HOLD
    DAMP

cdef enum:              # stop reason
    RUNNING
    ASKED       # stop()
    SLOTS       # start(slots=n) is done
    OVERRUNS    # overrun="stop"

cdef enum:
    NOT_FINITE = -1         # fault code of the loop itself: a snapshot held a number that is not finite
    MADE_UP = 1 << 16       # flag of a recorded step that was made up and therefore never published

cdef enum:                  # requests that Python may wait for
    ACK_PARAMETERS
    ACK_RESET
    ACK_PACE
    ACK_WATCHDOG
    ACK_INJECT
    ACK_STATISTICS
    ACK_STATE
    N_ACKS


cdef struct Counters:       # shared, written by the loop's thread only
    int64_t slots           # slots run
    int64_t steps           # plant steps taken since the loop was made, made-up ones included
    int64_t published
    int64_t overruns        # slots that began while a step was still running
    int64_t missed          # slots slept through: the machine woke the loop too late
    int64_t made_up         # steps taken without publishing, for slots that were not run
    int64_t owed            # steps still to be made up
    int64_t lost            # steps given up: simulated time that no longer follows the wall clock
    int64_t stretched_ns    # how far `stretch` has moved the grid
    int64_t ignored         # commands that came while in fault
    int64_t watchdog_trips
    int64_t resets
    int64_t parameter_blocks
    int64_t faults
    int64_t injected
    int64_t warm            # 1 once the warm-up is over; the next three count from there
    int64_t minor_faults
    int64_t major_faults
    int64_t allocations
    int64_t command_age_ns


cdef struct Source:         # what became of the commands of one input; shared like the counters
    int64_t accepted
    int64_t refused         # an infinite entry
    int64_t empty           # every entry NaN: commands nothing


cdef struct Watched:        # coordinates with a watchdog of their own, as those of one robot of several; shared, written by the thread
    int64_t commanded
    int64_t tripped
    int64_t pace            # of the newest command, as command_pace and command_extra_ns
    int64_t extra_ns


cdef struct Inject:         # fault injection for test benches
    int64_t busy_ns         # extra time inside the slot
    int64_t late_ns         # extra sleep before the slot
    int64_t every
    int64_t remaining       # slots still to be disturbed, -1: for good


cdef struct Core:
    Life* life

    # plugs
    mbros_plant plant
    mbros_input* inputs
    mbros_output* outputs
    int n_inputs
    int n_outputs
    mbros_gate gate         # without `open`: no lockstep
    mbros_memory** memories     # of the plant, the inputs, the outputs; NULL: one says nothing of its memory
    int64_t* plant_held         # says who works on the plant's memory (mbros_core/support/held.hpp)
    int shared_word             # 1: it is of words.hpp, since the plant has none

    # settings
    double dt
    int overrun
    int64_t overrun_limit
    int64_t catch_up        # steps: at most so many are owed
    int64_t warmup          # slots
    int64_t record_every    # steps; 0: no recording
    int64_t slots_wanted    # -1: no end
    int fifo_priority       # 0: ordinary scheduling
    int cpu                 # -1: anywhere
    int lock_memory
    int count_allocations
    int virtual_clock

    # mailboxes: Python writes the first eight, the thread writes the last two
    Mailbox* commands
    Mailbox* parameters
    Mailbox* resets
    Mailbox* states         # coordinates of (q, v) to put the plant at, NaN: as they are
    Mailbox* pace           # [real-time factor]; 0: as fast as possible
    Mailbox* watchdog       # [time-out ns or -1, action, damp gains]
    Mailbox* inject         # [busy ns, late ns, every, count]
    Mailbox* clear_statistics
    Mailbox* snapshots
    Ring* records
    double** also           # numbers of others that records hold behind the snapshot (n_also,)
    int n_also

    # the grid
    int64_t start_ns
    int64_t slot
    int64_t due_ns          # begin of the slot being run
    double period
    double factor
    int batch               # steps per slot; more than one only when much faster than real time
    int free                # 1: not paced at all
    int64_t virtual_ns      # the clock, when it is virtual
    int64_t wall_offset_ns  # CLOCK_REALTIME - CLOCK_MONOTONIC

    # simulation
    double* state           # (q, v) of a reset, as it came by mail
    double* held            # last commanded value of every coordinate
    double* incoming
    double* applied         # what the plant was given in the last step
    double* x               # newest good snapshot
    double* scratch
    double* gains
    int64_t step            # since the last reset
    int64_t pace_steps      # steps taken or given up since the loop was made; measures the age of a command
    int64_t pace_extra_ns
    int64_t command_pace
    int64_t command_extra_ns
    int have_command
    int tripped             # the watchdog is acting, or one of several
    Watched* watched        # (n_watched,), or NULL: one watchdog for all
    int n_watched
    int* watched_by         # (command_size,) which of them looks after each number of a command, -1: none
    int is_paused
    int fault_code          # 0: none
    int64_t served[7]       # reported in acks when the slot ends, published or not
    int64_t timeout_ns
    int action
    int injected_now
    Inject injection
    int fifo_held           # 1: this thread runs under SCHED_FIFO now, or would if it were paced
    int fresh_reset
    int first_slot
    int64_t steps_wanted    # step_target as it was before this slot's requests and commands were taken
    uint32_t bell_heard     # how often the bell had rung before they were
    int sparse_polls        # slots until page faults and allocations are read again
    mbros_snapshot shown    # the newest one published
    int renewed             # the plant was put elsewhere, and nothing published since
    int waiting             # for the gate, until gate_until_ns at the latest
    int64_t gate_until_ns
    int64_t visit_served

    # shared
    int64_t want_pause
    int64_t pause_shown     # is_paused, fault_code and the numbers of the letters served, as of the last publication
    int64_t fault_shown
    int64_t acks[7]
    int64_t step_target     # single steps asked for and done since the loop was made
    int64_t steps_given
    uint32_t bell           # rung for a thread that stands still: there is something to do (bell.hpp)
    uint32_t answers        # rung by the thread when it has done it, where somebody listens
    int64_t listeners
    int64_t recording       # 0: the ring takes no records meanwhile
    int64_t visit_wanted    # numbers of visits: asked for, begun, over, and shown in a publication (visits.pxi)
    int64_t visit_begun
    int64_t visit_over
    int64_t visit_shown
    int64_t want_stop
    int64_t done            # the thread touches nothing any more
    int64_t stop_reason
    int64_t stop_slot       # what OVERRUNS was about: slot, lateness, time taken, slots passed
    int64_t stop_late_ns
    int64_t stop_work_ns
    int64_t stop_count
    int64_t fault_step
    int64_t fault_index     # entry of the snapshot that was not finite
    int64_t fifo_error      # errno values, 0 when granted
    int64_t memory_error
    int64_t locked_bytes    # memory that was locked, or would have been
    int64_t cpu_error
    int64_t counter_error
    Counters counters
    Source* sources         # n_inputs + 1; the first one is Loop.command
    Histogram* lateness
    Histogram* work
    Histogram* plant_time

    # counters of the thread
    AllocationCounter allocation_counter
    int64_t base_minor
    int64_t base_major
    int64_t base_allocations
    Ranges* locked          # by the thread; unlocked by whoever joins it


cdef inline int velocities(const mbros_plant* p) noexcept nogil:
    """nv: the first numbers of a command are efforts, one for each; a plant's own say may follow them (plant/_commanded.pyx)."""
    cdef int nv = p.state_size - p.velocity_offset
    return nv if 0 < nv < p.command_size else p.command_size


cdef inline int64_t clock_ns(const Core* c) noexcept nogil:
    return c.virtual_ns if c.virtual_clock else monotonic_ns()


cdef inline int64_t command_age(const Core* c) noexcept nogil:
    """Age of the command in force along the loop's own time, -1 when there is none.

    Steps given up and the shifts of `stretch` count, pauses do not: at real-time factor 1 this is the wall clock.
    """
    return age_since(c, c.command_pace, c.command_extra_ns) if c.have_command else -1


cdef inline int64_t age_since(const Core* c, int64_t pace, int64_t extra_ns) noexcept nogil:
    return llround((c.pace_steps - pace) * c.dt * 1e9) + <int64_t>((c.pace_extra_ns - extra_ns) * c.factor)


cdef inline void forget_commands(Core* c) noexcept nogil:
    """Nothing is commanded any more, and nobody's silence noticed."""
    cdef int i
    c.have_command = 0
    c.tripped = 0
    for i in range(c.n_watched):
        store(&c.watched[i].commanded, 0)
        store(&c.watched[i].tripped, 0)
    for i in range(c.plant.command_size):
        c.held[i] = 0.0
        c.applied[i] = 0.0


cdef inline void enter_fault(Core* c, int code, int64_t index) noexcept nogil:
    """Hold the state, forget the command; only a reset leads out."""
    store(&c.fault_step, c.step + 1)
    store(&c.fault_index, index)
    c.fault_code = code
    bump(&c.counters.faults, 1)
    store(&c.counters.owed, 0)
    forget_commands(c)


cdef inline int observe(Core* c) noexcept nogil:
    """Take the plant's snapshot; 0 and a fault when it is not finite, and then the last good one stays."""
    cdef int i, refused = c.plant.observe(c.plant.self, c.scratch)
    for i in range(c.plant.snapshot_size if refused == 0 else 0):
        if not isfinite(c.scratch[i]):              # a plant that does not keep its word
            refused = i + 1
            break
    if refused:
        if c.fault_code == 0:
            enter_fault(c, NOT_FINITE, refused - 1)
        return 0
    c.x, c.scratch = c.scratch, c.x
    return 1


cdef inline void record(Core* c, uint32_t flags) noexcept nogil:
    """Snapshot, the numbers beside it and applied command into the ring, on the steps that are recorded."""
    cdef Letter* h
    cdef double* to
    cdef int k
    if c.record_every == 0 or c.step % c.record_every != 0 or not load(&c.recording) or not c.records.claim():
        return
    h = c.records.header()
    write_header(c, h, flags)
    to = c.records.values()
    memcpy(to, c.x, c.plant.snapshot_size * sizeof(double))
    to += c.plant.snapshot_size
    for k in range(c.n_also):
        to[k] = c.also[k][0]
    memcpy(to + c.n_also, c.applied, c.plant.command_size * sizeof(double))
    c.records.commit()


cdef inline void write_header(Core* c, Letter* h, uint32_t flags) noexcept nogil:
    h.step = c.step
    h.time = c.step * c.dt
    h.wall_ns = c.due_ns + c.wall_offset_ns
    h.command_age_ns = command_age(c)
    h.flags = flags
    h.parameters = <uint32_t>c.counters.parameter_blocks
