# distutils: language = c++
# cython: language_level=3, cdivision=True, boundscheck=False, wraparound=False, initializedcheck=False, auto_pickle=False
"""Actuators, sensors and channels of a plant, in one block of memory; a step goes through them without the interpreter lock (docs/bench.md)."""
import numpy as np
cimport numpy as cnp

from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_New
from libc.stdint cimport int64_t, uint32_t
from libc.string cimport memcpy

from mbros_core.plant.actuators.actuator cimport Actuator, Effect, Given, MOST_PASSES, MOST_PASSES_ON_CURVES
from mbros_core.plant.actuators.dispatch cimport EFFORT_CURVE, LIMITS
from mbros_core.engine.arrays cimport constants_of, doubles_of, long_longs_of
from mbros_core.plant.channels.channel cimport WIDEST, Channel
from mbros_core.plant.channels.dispatch cimport draws
from mbros_core.plant.ahead cimport ABREAST, Ahead, widest
from mbros_core.plant.device cimport BLOCK_HEAD, Cut, REPEATED, STEPS, Devices as DevicesC, JointSignal, Signal, Source
from mbros_core.plant.feed cimport mbros_feed
from mbros_core.plant.inside cimport mbros_devices, mbros_inside, mbros_piece
from mbros_core.plant.letter cimport begin, done, send
from mbros_core.plant.source cimport (A as _A, AHEAD, AHEAD_BY, E as _E, EDOT as _EDOT, FED, FED_EFFORT, FED_Q, FED_TIME, FED_V, HELD, IGNORED,
                                        JOINED, JUDGED, JUDGED_AT, JUDGED_EFFORT, JUDGED_MEASURED, JUMPED_BY, JUMPED_MOST, MEASURED, MODE,
                                        OFF_Q, OFF_V, OPPOSED_Q, OPPOSED_V, PENDING, Q as _Q, REASON, RESIDUAL, SOURCE_MEMORY, SOURCE_NUMBERS, SPAN, T0, TIME, TRIPPED_AT, TRIPS, V as _V, become,
                                        let_go_of_all, source_motion, take_sample)
from mbros_core.plant.stream cimport Stream, normal, philox, uniform
from mbros_core.plant.tick cimport take_numbers, tick
from mbros_core.plant.faults.fault cimport ASKED, Fault, JointFault, SignalFault, TRIGGER_MEMORY, TRIGGER_NUMBERS
from mbros_core.plant.sensors.dispatch cimport A_JOINT, A_WRENCH, CONTACTS, accelerates, sight
from mbros_core.plant.sensors.sensor cimport Sensor

from mbros_core.plant.actuators import registry as actuators
from mbros_core.plant.channels import registry as channels
from mbros_core.errors import MbrosError
from mbros_core.plant.faults import registry as injected
from mbros_core.plant.sensors import registry as sensors

cnp.import_array()

# Columns of the tables, in the order in which they stand in rows.
SIGNAL = ("at", "size", "channel", "channels", "early", "earlies", "late", "lates")
ACTUATOR = ("kind", "iq", "iv", "par", "mem", *actuators.COMMANDS, "limiter", "signal")
SENSOR = ("kind", "iq", "iv", "other_iq", "other_iv", "body", "shape", "cut", "par", "mem", "signal", "signals", "out", "drive")
CHANNEL = ("kind", "signal", "par", "mem", "slots")
JOINT = ("iq", "iv", "signal")
FAULT = ("par", "mem", "place")
SIGNAL_FAULT = ("kind", "fault", "signal", "par", "mem", "slots")
JOINT_FAULT = ("kind", "fault", "iv", "body", "par")
SOURCE = ("iq", "iv", "mem", "effort", "residual", "par")
# What a source remembers, and where (source.pxd).
SOURCE_PLACES = dict(MODE=MODE, TIME=TIME, Q=_Q, V=_V, A=_A, E=_E, EDOT=_EDOT, T0=T0, SPAN=SPAN, TRIPS=TRIPS, IGNORED=IGNORED, JUDGED=JUDGED,
                     MEASURED=MEASURED, PENDING=PENDING, REASON=REASON, JOINED=JOINED, HELD=HELD, OFF_Q=OFF_Q, OFF_V=OFF_V,
                     TRIPPED_AT=TRIPPED_AT, JUDGED_AT=JUDGED_AT, JUDGED_EFFORT=JUDGED_EFFORT, JUDGED_MEASURED=JUDGED_MEASURED, FED=FED,
                     FED_TIME=FED_TIME, FED_Q=FED_Q, FED_V=FED_V, FED_EFFORT=FED_EFFORT, AHEAD=AHEAD, AHEAD_BY=AHEAD_BY,
                     OPPOSED_Q=OPPOSED_Q, OPPOSED_V=OPPOSED_V, JUMPED_BY=JUMPED_BY, JUMPED_MOST=JUMPED_MOST, RESIDUAL=RESIDUAL,
                     SIZE=SOURCE_MEMORY)


include "table_rows.pxi"
include "tables.pxi"


cdef class Devices(Tables):
    """The devices of a plant. tables: what mbros.bench.layout makes; each of its numbers is checked against the sizes here.

    block is all of their memory: two devices of the same tables with the same block go on alike, to the bit.
    """
    cdef mbros_devices port
    cdef public object kept             # the disturbances that the plant's steps go through, for as long as the plant is there

    def __cinit__(self, plant, tables):
        self.plant = plant
        self.kept = getattr(plant.devices, "kept", plant.devices)
        self.c.plant = <mbros_inside*>PyCapsule_GetPointer(plant._inside, "mbros_core.inside")
        if plant.integrator in ("rk4", "dormand_prince"):
            raise MbrosError(f"bench: the integrator {plant.integrator} takes several evaluations a step, and devices act once in a step; use 'midpoint' or "
                             "'semi_implicit_euler', or simulate without a bench: bench=False")
        self.c.ahead = 1.5 if plant.integrator == "midpoint" else 1.0       # midpoint: to the middle of the next step, as its stops are
        self.c.reach = 2.0 - self.c.ahead
        self.held = []
        self.block = np.array(tables["start"], dtype=np.float64)
        start = self.block.copy()
        scratch = np.zeros(self.c.plant.nq + 7 * self.c.plant.nv + self.c.plant.contact_size + 1)
        scratch[self.c.plant.nq + 5 * self.c.plant.nv + self.c.plant.contact_size:] = 1.0      # nothing of an effort is lost
        self.held += [start, scratch]
        self.c.block, self.c.start, self.c.scratch = doubles_of(self.block, 1), doubles_of(start, 1), doubles_of(scratch, 1)
        self.c.given, self.c.value, self.c.fresh, self.c.sampled, self.c.numbers, self.c.recent = tables["places"]
        self.c.ncommands = tables["commands"]
        self.fill_letter()
        self.fill_signals(tables)
        self.fill_actuators(tables)
        self.fill_sensors(tables)
        self.fill_channels(tables)
        self.fill_faults(tables)
        self.fill_joint_faults(tables)
        if len(tables["sources"]):
            self.fill_sources(tables)
        self.port.self, self.port.step, self.port.reset = <void*>&self.c, devices_step, devices_reset
        self.list_pieces()

    cdef int list_pieces(self) except -1:
        """All memory that a step touches, for a real-time loop to lock."""
        cdef mbros_piece* piece
        cdef int n = len(self.held) + 3
        self.port.pieces = piece = <mbros_piece*>self.room(n * sizeof(mbros_piece))
        self.port.npieces = n
        for array in (self.block, *self.held):
            piece.begin, piece.bytes = doubles_of(array, 1), array.nbytes
            piece += 1
        piece.begin, piece.bytes = &self.c, sizeof(DevicesC)
        return 0

    @property
    def capsule(self):
        """The plug for Plant._attach."""
        return PyCapsule_New(&self.port, "mbros_core.plant", NULL)

    @property
    def feed_capsule(self):
        """The plug for samples of hardware on the thread that steps (feed.hpp); these devices have to outlive it."""
        return PyCapsule_New(&self.fed, "mbros_core.feed", NULL)

    @property
    def steps(self):
        """Steps since the last reset."""
        return <long long>self.c.block[STEPS]

    @property
    def repeated(self):
        """Steps that were taken again since the last reset, because an actuator came to a limit."""
        return <long long>self.c.block[REPEATED]

    def _replace(self, instead):
        """The plant has other devices: these are of no use any more, and `instead` stands in the place of their memory, to say so."""
        self.plant.state._check_free()
        self.held.append(self.block)
        self.block = instead

    cdef int refuse_replaced(self) except -1:
        """What stands in the place of the memory says that it is none."""
        self.block[STEPS]
        return 0

    def _ask(self, int fault, bint start):
        """Start or end a fault by hand in the next step; also while a real-time loop runs: one number is written, at once."""
        self.refuse_replaced()
        if not 0 <= fault < self.c.nfaults:
            raise MbrosError(f"bench: fault {fault}: expected 0 to {self.c.nfaults - 1}")
        self.c.block[self.c.faults[fault].mem + ASKED] = 1.0 if start else -1.0

    cdef Source* source(self, int k) except NULL:
        if not 0 <= k < self.c.nsources:
            raise MbrosError(f"bench: source {k}: expected 0 to {self.c.nsources - 1}")
        return &self.c.sources[k]

    def _become(self, int source, int mode):
        """A source in another mode (0 sim, 1 real, 2 prescribed, 3 locked) at once. Whether it could: without a new sample none is real."""
        cdef Source* s = self.source(source)
        self.refuse_replaced()
        self.plant.state._check_free()
        return become(&self.c, s, mode)

    def _feed(self, int source, double t, double q, double v, double effort):
        """A sample of hardware, taken at t; NaN of what was not measured."""
        cdef Source* s = self.source(source)
        self.plant.state._check_free()
        take_sample(&self.c, s, self.plant.dt, t, q, v, effort)

    def _source_motion(self, int source, double t):
        """(q, v, a) of a real joint at t."""
        cdef double x[3]
        source_motion(self.c.block + self.source(source).mem, t, x)
        return x[0], x[1], x[2]

    def _drive(self, bint driven):
        """Whether a loop has them, whose blocks of parameters do not loosen what a source holds."""
        self.c.driven = driven

    def _take_over(self, block):
        """The block of other devices of the same tables."""
        x = np.ascontiguousarray(block, dtype=np.float64)
        if x.shape != self.block.shape:
            raise MbrosError(f"bench: expected a block of {len(self.block)} numbers, got shape {x.shape}; it is of another bench")
        self.plant.state._check_free()
        memcpy(self.c.block, constants_of(x, 1), len(self.block) * sizeof(double))
        begin(self.c.word)
        memcpy(self.c.letter, self.c.block + self.c.numbers, self.c.nnumbers * sizeof(double))
        done(self.c.word)

    def _numbers(self):
        """The numbers of the devices (n,), a copy: those in force, or those that the next step begins with."""
        x = np.empty(self.c.nnumbers)
        memcpy(doubles_of(x, 1), self.c.letter, self.c.nnumbers * sizeof(double))
        return x

    def _set_numbers(self, places, numbers):
        """Other numbers (n,) for the devices at these places (n,), all of them from the next step on, also while a loop runs. Their bounds
        are the caller's to mind."""
        cdef int i
        self.refuse_replaced()
        x = np.ascontiguousarray(numbers, dtype=np.float64)
        at = np.ascontiguousarray(places, dtype=np.int64)
        self.check("numbers", at, 0, self.c.nnumbers)
        if at.ndim != 1 or x.shape != at.shape:
            raise MbrosError(f"bench: expected a number for each place, got shapes {x.shape} and {at.shape}")
        begin(self.c.word)
        for i in range(len(x)):
            self.c.letter[long_longs_of(at, 1)[i]] = constants_of(x, 1)[i]
        send(self.c.word)
        self._settle()

    def _settle(self):
        """Numbers that are on their way are in force where nobody steps."""
        if not self.plant.state.is_held:
            take_numbers(&self.c)


cdef int devices_step(void* self, const double* effort, double dt) noexcept nogil:
    return tick(<DevicesC*>self, effort, dt)


cdef void devices_feed(void* self, int k, double age, double position, double velocity, double effort) noexcept nogil:
    cdef DevicesC* d = <DevicesC*>self
    take_sample(d, &d.sources[k], d.period, d.plant.time[0] - age, position, velocity, effort)


cdef void devices_reset(void* self) noexcept nogil:
    """As in the beginning, but for the numbers of the devices, which stay as they are."""
    cdef DevicesC* d = <DevicesC*>self
    let_go_of_all(d)
    memcpy(d.block, d.start, d.numbers * sizeof(double))


include "streams.pxi"
