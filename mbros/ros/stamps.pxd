# cython: language_level=3
"""What the stamps of published messages say, decided once per step and shared by every port of a node.

Paced by the wall clock, messages carry ROS system time, as those of a robot do. While time is simulated (paused,
stepped, scaled, or declared so from the start) they carry simulated time and /clock is published. Stamps go on from
where they were at every change and at every reset, so that nobody's TF buffer sees time jump back.

While simulated time stands still there is nothing new to tell, and tf2 complains of every transform it has already
(TF_REPEATED_DATA). Such a snapshot is told when the robot was put elsewhere, and ten times a second for those who come
later; each of them is stamped a nanosecond after the one before. /clock does not follow these nanoseconds, nor does the
next step. `mbros.ros.messages.Stamps` is the same in Python.
"""
from libc.math cimport llround
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy

from mbros_core.realtime.ports cimport MBROS_PAUSED, MBROS_RESET, MBROS_STEPPED, mbros_snapshot


cdef extern from "mbros/ros/rcl_abi.hpp" namespace "mbros_rcl" nogil:
    T load[T](const T* where)
    void store[T](T* where, T x)


cdef enum:
    BEAT_NS = 100000000     # between two tellings of a robot that stands still, wall time


cdef struct StampState:
    int always              # simulated from the start, for good: stamps count from zero
    int exact               # nothing is told twice, so that no stamp needs a nanosecond (lockstep)
    int scaled              # the real-time factor is not 1 (written by the node)
    int simulated           # what the newest stamp is
    int known               # a stamp has been given
    int64_t period          # ns between steps
    int64_t origin          # stamp of simulated time 0, ns
    int64_t stamp           # newest, ns since the epoch, or since the start if `always`
    int64_t not_before      # commands stamped earlier (system time, ns) were meant for before the reset
    int64_t clock           # the same without the nanoseconds of a standstill
    # the snapshot that `stamp` belongs to
    uint64_t step
    int64_t wall_ns
    double time
    # standstill: simulated time is what it was in the snapshot before
    int still
    int changed             # the robot was put elsewhere meanwhile
    int beat                # it is time to tell the same again
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
    s.beat = not s.exact and not 0 <= x.wall_ns - s.told_ns < BEAT_NS       # the system's clock may be set back
    s.content, s.known_content = content, True
    if s.changed or s.beat:
        s.told_ns = x.wall_ns
        if 2 * s.nudge < s.period:                              # never as far as the next step
            s.nudge += 1


cdef inline int64_t stamp_of(StampState* s, const mbros_snapshot* x) noexcept nogil:
    """Stamp of this snapshot in ns; the same for every port that asks."""
    if s.known and x.step == s.step and x.wall_ns == s.wall_ns:
        return s.stamp
    cdef int64_t now = llround(x.time * 1e9)
    cdef bint simulated = s.always or load(&s.scaled) or (x.flags & (MBROS_PAUSED | MBROS_STEPPED)) != 0
    cdef int64_t stamp = x.wall_ns
    s.still = simulated and s.known and x.time == s.time
    if s.still:
        stand_still(s, x)
    else:
        s.nudge, s.told_ns = 0, x.wall_ns
        s.known_content = simulated
        if simulated:
            s.content = content_of(x)
    if simulated:
        if not s.known:
            s.origin = 0 if s.always else x.wall_ns - now
        elif x.time < s.time:                                  # a reset: go on after the last stamp
            s.origin = s.clock + s.period - now
        elif not s.simulated:                                  # from wall time: simulated time goes on from it
            s.origin = s.clock - llround(s.time * 1e9)
        stamp = s.origin + now
    store(&s.clock, stamp)
    s.simulated = simulated
    s.known = True
    s.step, s.wall_ns, s.time = x.step, x.wall_ns, x.time
    store(&s.stamp, stamp + s.nudge)
    return s.stamp
