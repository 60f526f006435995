# cython: language_level=3
"""What the stamps of published messages say, decided once per step and shared by every port of a node.

Paced by the wall clock, messages carry ROS system time, as those of a robot do. While time is simulated (paused,
stepped, scaled, or declared so from the start) they carry simulated time and /clock is published. Stamps go on from
where they were at every change and at every reset, so that nobody's TF buffer sees time jump back.
`mbros.ros.messages.Stamps` is the same in Python.
"""
from libc.math cimport llround
from libc.stdint cimport int64_t, uint64_t

from mbros_core.realtime.ports cimport MBROS_PAUSED, MBROS_STEPPED, mbros_snapshot


cdef extern from "mbros/ros/rcl_abi.hpp" namespace "mbros_rcl" nogil:
    T load[T](const T* where)
    void store[T](T* where, T x)


cdef struct StampState:
    int always              # simulated from the start, for good: stamps count from zero
    int scaled              # the real-time factor is not 1 (written by the node)
    int simulated           # what the newest stamp is
    int known               # a stamp has been given
    int64_t period          # ns between steps
    int64_t origin          # stamp of simulated time 0, ns
    int64_t stamp           # newest, ns since the epoch, or since the start if `always`
    int64_t not_before      # commands stamped earlier (system time, ns) were meant for before the reset
    # the snapshot that `stamp` belongs to
    uint64_t step
    int64_t wall_ns
    double time


cdef inline int64_t stamp_of(StampState* s, const mbros_snapshot* x) noexcept nogil:
    """Stamp of this snapshot in ns; the same for every port that asks."""
    if s.known and x.step == s.step and x.wall_ns == s.wall_ns:
        return s.stamp
    cdef int64_t now = llround(x.time * 1e9)
    cdef bint simulated = s.always or load(&s.scaled) or (x.flags & (MBROS_PAUSED | MBROS_STEPPED)) != 0
    cdef int64_t stamp = x.wall_ns
    if simulated:
        if not s.known:
            s.origin = 0 if s.always else x.wall_ns - now
        elif x.time < s.time:                                  # a reset: go on after the last stamp
            s.origin = s.stamp + s.period - now
        elif not s.simulated:                                  # from wall time: simulated time goes on from it
            s.origin = s.stamp - llround(s.time * 1e9)
        stamp = s.origin + now
    s.simulated = simulated
    s.known = True
    s.step, s.wall_ns, s.time = x.step, x.wall_ns, x.time
    store(&s.stamp, stamp)
    return stamp
