# cython: language_level=3
"""What the stamps of published messages say, decided once per step and shared by every port of a node.

Paced by the wall clock, messages carry ROS system time, as those of a robot do. From the first pause, step or other pace on,
or from the start where it is declared so, they carry simulated time and /clock is published, until the node ends
(docs/decisions/041-one-time.md). Stamps go on from where they were at every change, reset and restored state, so that nobody's
TF buffer sees time jump back.

Simulated time declared from the start has the stamp of one second at its beginning: 0 is "no clock yet" to rcl, "the newest" to
tf2, and "not stamped" to those who look at commands.

While simulated time stands still there is nothing new to tell, and tf2 complains of every transform it has already
(TF_REPEATED_DATA). Such a snapshot is told when the robot was put elsewhere, and ten times a second for those who come
later; each of them is stamped a nanosecond after the one before. /clock comes as often then, without these nanoseconds, nor does
the next step have them. tests/ros/python_plane.py has the same in Python.
"""
from libc.math cimport llround
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy

from mbros_core.realtime.ports cimport MBROS_PAUSED, MBROS_RESET, MBROS_STEPPED, mbros_snapshot


cdef extern from "mbros/ros/wire/rcl_abi.hpp" namespace "mbros_rcl" nogil:
    T load[T](const T* where)
    void store[T](T* where, T x)


cdef enum:
    BEAT_NS = 100000000     # between two tellings of a robot that stands still, wall time
    START_NS = 1000000000   # stamp of simulated time 0 where time is simulated from the start
    MARKS = 64              # of what the stamp was when: twice as many as fill the age that a command may have
    MARKS_OF_AGE = 32


cdef struct Mark:
    int64_t wall_ns
    int64_t stamp


cdef struct StampState:
    int always              # simulated from the start: stamps count from START_NS
    int exact               # nothing is told twice, so that no stamp needs a nanosecond (lockstep)
    int scaled              # the real-time factor is not 1 (written by the node)
    int simulated           # what the newest stamp is; once it is, all that follow are
    int renewed             # another state was restored: the next stamp goes on after this one, whatever its time (written by the node)
    int known               # a stamp has been given
    int64_t period          # ns between steps
    int64_t origin          # stamp of simulated time 0, ns
    int64_t stamp           # newest, ns since the epoch, or since the start if `always`
    int64_t not_before      # commands stamped earlier (system time, ns) were meant for before the reset
    int64_t begun           # stamp of the newest reset: the same of commands stamped by a state
    int64_t max_age         # ns, that a command may have; 0: nobody looks at stamps
    int64_t fresh_from      # the stamp of max_age ago, wall time: at 50 times the pace half a second is 25 s of stamps
    Mark[MARKS] marks
    int first, count        # of the marks in use
    int64_t clock           # the same without the nanoseconds of a standstill
    # the snapshot that `stamp` belongs to
    uint64_t step
    int64_t wall_ns
    double time
    # standstill: simulated time is what it was in the snapshot before
    int still
    int changed             # the robot was put elsewhere meanwhile
    int beat                # it is time to tell the same again
    int tick                # the same of /clock, which comes in lockstep too
    int64_t nudge           # nanoseconds since time stands still: one for each telling
    int64_t told_ns         # wall time of the newest telling
    int known_content       # `content` is that of the snapshot before
    uint64_t content        # hash of its numbers


cdef inline uint64_t content_of(const mbros_snapshot* x) noexcept nogil:
    """Hash of a snapshot's numbers (FNV-1a over 64-bit words): two that differ by anything have different ones."""
    cdef uint64_t h = 14695981039346656037u, word
    cdef int k
    for k in range(x.size):
        memcpy(&word, x.x + k, 8)
        h = (h ^ word) * 1099511628211u
        h ^= h >> 29                                           # multiplication alone never carries downwards
    return h


cdef inline void stand_still(StampState* s, const mbros_snapshot* x) noexcept nogil:
    """Is this snapshot, of the same simulated time as the one before, to be told?"""
    cdef uint64_t content = content_of(x)
    s.changed = (s.known_content and content != s.content) or (x.flags & MBROS_RESET) != 0
    cdef bint late = not 0 <= x.wall_ns - s.told_ns < BEAT_NS               # the system's clock may be set back
    s.beat, s.tick = late and not s.exact, s.changed or late or not s.simulated
    s.content, s.known_content = content, True
    if s.changed or late:
        s.told_ns = x.wall_ns
    if (s.changed or s.beat) and 2 * s.nudge < s.period:        # never as far as the next step
        s.nudge += 1


cdef inline void mark(StampState* s, const mbros_snapshot* x, int64_t stamp) noexcept nogil:
    """Remember what the stamp is now, and what it was max_age ago."""
    cdef Mark* last = &s.marks[(s.first + s.count + MARKS - 1) % MARKS]       # of none, one that is not read
    cdef int64_t max_age = load(&s.max_age)
    if s.count and 0 <= x.wall_ns - last.wall_ns < max_age // MARKS_OF_AGE:
        return
    if s.count == MARKS:                                        # the system's clock was set back
        s.first, s.count = (s.first + 1) % MARKS, s.count - 1
    s.marks[(s.first + s.count) % MARKS] = Mark(x.wall_ns, stamp)
    s.count += 1
    while s.count > 1 and s.marks[(s.first + 1) % MARKS].wall_ns <= x.wall_ns - max_age:
        s.first, s.count = (s.first + 1) % MARKS, s.count - 1
    store(&s.fresh_from, s.marks[s.first].stamp)


cdef inline int64_t stamp_of(StampState* s, const mbros_snapshot* x) noexcept nogil:
    """Stamp of this snapshot in ns; the same for every port that asks."""
    if s.known and x.step == s.step and x.wall_ns == s.wall_ns:
        return s.stamp
    cdef int64_t now = llround(x.time * 1e9)
    cdef bint simulated = s.always or s.simulated or load(&s.scaled) or (x.flags & (MBROS_PAUSED | MBROS_STEPPED)) != 0
    cdef bint renewed = load(&s.renewed) != 0 and s.known, before = s.known and (renewed or x.time < s.time)
    cdef int64_t stamp = x.wall_ns
    store(&s.renewed, <int>0)
    s.still = simulated and s.known and x.time == s.time and not renewed
    if s.still:
        stand_still(s, x)
    else:
        s.nudge, s.told_ns = 0, x.wall_ns
        s.known_content = simulated
        if simulated:
            s.content = content_of(x)
    if simulated:
        if not s.known:
            s.origin = START_NS if s.always else x.wall_ns - now
        elif before:                                           # a reset: go on after the last stamp
            s.origin = s.clock + s.period - now
        elif not s.simulated:                                  # from wall time: simulated time goes on from it
            s.origin = s.clock - llround(s.time * 1e9)
        stamp = s.origin + now
        mark(s, x, stamp)
    elif s.known and stamp <= s.clock:                         # the system's clock was set back: half as fast, until it is there again
        stamp = s.clock + max(s.period // 2, <int64_t>1)
    if x.flags & MBROS_RESET or before:
        store(&s.begun, stamp)
    store(&s.clock, stamp)
    s.simulated = simulated
    s.known = True
    s.step, s.wall_ns, s.time = x.step, x.wall_ns, x.time
    store(&s.stamp, stamp + s.nudge)
    return s.stamp
