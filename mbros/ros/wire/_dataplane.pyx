# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# distutils: language = c++
"""The data plane: commands in and results out between rcl and the real-time loop, without the interpreter lock.

rclpy creates publishers and subscriptions; their handles are the addresses of rcl's own structs, and rcl's functions
for serialised messages work on them from any thread. `Output` patches numbers into a message that rclpy has serialised
once; `CommandInput` reads commands out of bytes that it trusts in nothing. Both are plugs of
`mbros_core/realtime/ports.hpp`. `mbros.ros.wire.commands` and `mbros.ros.wire.messages` do the same with ordinary messages and are the oracle of both.

A capsule keeps its port alive; whoever has given it to a loop stops the loop before calling `close()`.
"""
from cpython.object cimport PyObject
from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.pycapsule cimport PyCapsule_GetContext, PyCapsule_GetName, PyCapsule_GetPointer
from libc.math cimport INFINITY, NAN, ceil, cos, fabs, isnan, llround, sin
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t, uintptr_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcmp, memcpy, memset

import numpy as np

from mbros.ros.wire.cdr cimport (Doubles, Reader, Text, double_at, open_cdr, read_count, read_doubles, read_i32, read_text,
                            read_u32)
from mbros.ros.wire.stamps cimport StampState, load, stamp_of, store
from mbros_core.plant.feed cimport mbros_feed
from mbros_core.errors import MbrosError
from mbros_core.realtime.settings import POLICIES
from mbros_core.realtime.bell cimport listen, ring, rings
from mbros_core.realtime.capsule cimport plug_of
from mbros_core.realtime.ports cimport (MBROS_AGAIN, MBROS_GO, MBROS_HALT, MBROS_REPEATED, MBROS_RESET, MBROS_STEPPED, MBROS_WAIT, mbros_gate,
                                         mbros_input, mbros_memory, mbros_output, mbros_range, mbros_snapshot)
from mbros_core.realtime.turns cimport Patience, ask, is_due, late_at, set_patience, time_out


cdef extern from "mbros/ros/wire/rcl_abi.hpp" namespace "mbros_rcl" nogil:
    cppclass Bytes:
        uint8_t* buffer
        size_t buffer_length
        size_t buffer_capacity
    cppclass Functions:
        int (*publish)(const void* publisher, const Bytes* message, void* allocation) noexcept nogil
        int (*take)(const void* subscription, Bytes* message, void* info, void* allocation) noexcept nogil
        void (*reset_error)() noexcept nogil
        int (*listeners)(const void* publisher, size_t* count) noexcept nogil
        int (*on_new_message)(const void* subscription, void (*callback)(const void*, size_t) noexcept nogil, const void* data) noexcept nogil
        const void* implementation
    int RET_OK, RET_NOTHING_THERE
    bint look_up(Functions* f)
    cppclass String:
        char* data
        size_t size
    cppclass Sequence:
        void* data
        size_t size
    cppclass JointState:
        String frame_id
        Sequence name, position, velocity, effort
    cppclass StepRequest:
        uint32_t steps
        JointState command
    cppclass StepResponse:
        bint success
        String message
        uint64_t step
        JointState joint_state
        Sequence odometry
    cppclass Asker:
        uint64_t bytes[8]
    cppclass ServiceFunctions:
        int (*take)(const void* service, Asker* who, void* request) noexcept nogil
        int (*send)(const void* service, Asker* who, void* response) noexcept nogil
        int (*serialize)(const void* message, const void* type, Bytes* bytes) noexcept nogil
        int (*deserialize)(const Bytes* bytes, const void* type, void* message) noexcept nogil
        bint (*assign)(String* string, const char* text, size_t size) noexcept nogil
        int (*on_new_request)(const void* service, void (*callback)(const void*, size_t) noexcept nogil, const void* data) noexcept nogil
    int RET_TIMEOUT, RET_NO_REQUEST
    bint look_up_service(ServiceFunctions* f)
    Bytes fixed_buffer(uint8_t* memory, size_t length, size_t capacity)


cdef extern from "<time.h>" nogil:
    ctypedef long time_t
    struct timespec:
        time_t tv_sec
        long tv_nsec
    int clock_gettime(int which, timespec* t)
    int CLOCK_REALTIME, CLOCK_MONOTONIC


class DataPlaneError(MbrosError, RuntimeError):
    """Messages cannot pass here; the text says why."""


cdef Functions rcl
cdef bint rcl_known = False


cdef int _need_rcl() except -1:
    global rcl_known
    if not rcl_known:
        if not look_up(&rcl):
            raise DataPlaneError("librcl.so, or a function in it, was not found in this process: this ROS 2 is none that "
                                 "mbros knows, or rclpy is not imported. `mbros doctor` says what is here")
        rcl_known = True
    return 0


cdef inline void _tell_middleware(mbros_range say, void* to) noexcept nogil:
    """The code that a call of rcl goes through: rcl's own, and the middleware's, which rcl's loads without being linked to it."""
    say(to, <const void*>rcl.publish, 0)
    say(to, rcl.implementation, 0)


cdef inline int64_t _time_ns(int clock) noexcept nogil:
    cdef timespec t
    clock_gettime(clock, &t)
    return <int64_t>t.tv_sec * 1000000000 + t.tv_nsec


cdef inline int64_t _system_time_ns() noexcept nogil:
    return _time_ns(CLOCK_REALTIME)


cdef class StampClock:
    """The stamps that all ports of one node share.

    dt: period of the loop in s. simulated: time is simulated from the start (paused or scaled then): stamps count from 1 s.
    """
    cdef StampState state

    def __cinit__(self, double dt, bint simulated=False):
        memset(&self.state, 0, sizeof(StampState))
        self.state.always = simulated
        self.state.period = llround(dt * 1e9)

    def set_scaled(self, bint scaled):
        """Tell whether simulated time runs at another speed than the wall clock."""
        store(&self.state.scaled, <int>scaled)

    def go_on(self):
        """Another state was restored: the next stamp comes a step after the newest one, whatever time it is of. Between two steps."""
        store(&self.state.renewed, <int>1)

    def keep_exact(self):
        """In lockstep stamps are simulated time to the nanosecond: what stands still is not told again and again."""
        self.state.exact = True

    def refuse_before(self, int64_t stamp_ns):
        """Commands stamped before this system time are stale from now on: they were meant for before a reset."""
        store(&self.state.not_before, stamp_ns)

    @property
    def stamp_ns(self):
        """Newest stamp given, in ns."""
        return load(&self.state.stamp)

    @property
    def clock_ns(self):
        """The same without the nanoseconds of a standstill: the stamp of the time itself, as on /clock."""
        return load(&self.state.clock)

    @property
    def origin_ns(self):
        """The stamp of simulated time 0, where time is simulated; another one after a reset."""
        return load(&self.state.origin)

    @property
    def simulated(self):
        """True while stamps are simulated time."""
        return bool(self.state.simulated)


include "dataplane_output.pxi"
include "dataplane_board.pxi"
include "dataplane_decode.pxi"
include "dataplane_segments.pxi"
include "dataplane_trajectory.pxi"
include "dataplane_hardware.pxi"
include "dataplane_input.pxi"
include "dataplane_gate.pxi"
include "dataplane_service.pxi"


def drive_output(capsule, x, uint64_t step=0, double time=0.0, int64_t wall_ns=0, uint32_t flags=0):
    """Call an output plug once with this snapshot (float64 array), as the loop would. For tests and measurements."""
    cdef mbros_output* port = <mbros_output*>PyCapsule_GetPointer(capsule, b"mbros_core.output")
    values = np.ascontiguousarray(x, np.float64)
    cdef mbros_snapshot s
    s.step, s.time, s.wall_ns, s.command_age_ns, s.flags = step, time, wall_ns, -1, flags
    s.size, s.x = <int>values.size, <const double*><uintptr_t>values.ctypes.data
    with nogil:
        port.publish(port.self, &s)


def drive_input(capsule, int size, int64_t now_ns=0):
    """Poll an input plug once, as the loop would: the command (size,) or None. For tests and measurements."""
    cdef mbros_input* port = <mbros_input*>PyCapsule_GetPointer(capsule, b"mbros_core.input")
    command = np.full(size, np.nan)
    cdef double* values = <double*><uintptr_t>command.ctypes.data
    cdef int got
    with nogil:
        got = port.take(port.self, values, now_ns)
    return command if got else None
