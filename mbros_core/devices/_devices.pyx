# distutils: language = c++
# cython: language_level=3, cdivision=True, boundscheck=False, wraparound=False, initializedcheck=False, auto_pickle=False
"""Actuators, sensors and channels of a plant, in one block of memory; a step goes through them without the interpreter lock (docs/bench.md)."""
import numpy as np
cimport numpy as cnp

from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_New
from libc.stdint cimport uint32_t
from libc.string cimport memcpy

from mbros_core.actuators.actuator cimport Actuator
from mbros_core.actuators.dispatch cimport actuator_kinds
from mbros_core.arrays cimport constants_of, doubles_of, long_longs_of
from mbros_core.channels.channel cimport WIDEST, Channel
from mbros_core.channels.dispatch cimport channel_kinds
from mbros_core.devices.device cimport BLOCK_HEAD, REPEATED, STEPS, Devices as DevicesC, JointSignal, Signal
from mbros_core.devices.inside cimport mbros_devices, mbros_inside
from mbros_core.devices.stream cimport Stream, normal, philox, uniform
from mbros_core.devices.tick cimport tick
from mbros_core.sensors.dispatch cimport sensor_kinds
from mbros_core.sensors.sensor cimport Sensor

from mbros_core.actuators import registry as actuators
from mbros_core.channels import registry as channels
from mbros_core.errors import MbrosError
from mbros_core.sensors import registry as sensors

cnp.import_array()


cdef int agree() except -1:
    for registry, kinds in ((actuators, actuator_kinds()), (sensors, sensor_kinds()), (channels, channel_kinds())):
        if {row.name: row.number for row in registry.ROWS} != kinds:
            raise ImportError(f"{registry.__name__} and its dispatch.pxd disagree: rebuild mbros_core")
    return 0


agree()

# Columns of the tables, in the order in which they stand in rows.
SIGNAL = ("at", "size", "channel", "channels")
ACTUATOR = ("kind", "iq", "iv", "par", "mem", "position", "velocity", "effort", "signal")
SENSOR = ("kind", "iq", "iv", "body", "par", "mem", "signal", "signals", "out")
CHANNEL = ("kind", "signal", "par", "mem", "slots")
JOINT = ("iq", "iv", "signal")


cdef class Devices:
    """The devices of a plant. tables: what mbros.simulate.bench.layout makes; each of its numbers is checked against the sizes here.

    block is all of their memory: two devices of the same tables with the same block go on alike, to the bit.
    """
    cdef DevicesC c
    cdef mbros_devices port
    cdef readonly object plant
    cdef readonly object block          # (n,)
    cdef object held                    # the arrays and pieces of memory that c points into

    def __cinit__(self, plant, tables):
        self.plant = plant
        self.c.plant = <mbros_inside*>PyCapsule_GetPointer(plant._inside, "mbros_core.inside")
        if plant.integrator == "rk4":
            raise MbrosError("bench: the integrator rk4 takes several evaluations a step, and devices act once in a step; use 'midpoint' or "
                             "'semi_implicit_euler'")
        self.c.ahead = 1.5 if plant.integrator == "midpoint" else 1.0       # midpoint: to the middle of the next step, as its stops are
        self.held = []
        self.block = np.array(tables["start"], dtype=np.float64)
        start = self.block.copy()
        scratch = np.zeros(self.c.plant.nq + 6 * self.c.plant.nv + self.c.plant.contact_size + 1)
        self.held += [start, scratch]
        self.c.block, self.c.start, self.c.scratch = doubles_of(self.block, 1), doubles_of(start, 1), doubles_of(scratch, 1)
        self.c.given, self.c.value, self.c.fresh, self.c.sampled, self.c.numbers = tables["places"]
        self.c.ncommands = tables["commands"]
        self.fill_signals(tables)
        self.fill_actuators(tables)
        self.fill_sensors(tables)
        self.fill_channels(tables)
        self.port.self, self.port.step, self.port.reset = <void*>&self.c, devices_step, devices_reset
        self.port.memory, self.port.bytes = self.c.block, len(self.block) * sizeof(double)

    cdef void* room(self, size_t bytes) except NULL:
        memory = np.zeros(bytes // 8 + 1)
        self.held.append(memory)
        return <void*>doubles_of(memory, 1)

    cdef int check(self, str what, object x, int least, int most) except -1:
        """Whole numbers of a table, all of them within least .. most - 1."""
        bad = np.flatnonzero(~((np.asarray(x) >= least) & (np.asarray(x) < most)))
        if bad.size:
            raise MbrosError(f"bench: table {what}: row {bad[0]} is {np.asarray(x)[bad[0]]}; expected {least} to {most - 1}")
        return 0

    cdef int check_piece(self, str what, object at, object size) except -1:
        """Pieces of the block."""
        self.check(what, at, BLOCK_HEAD, len(self.block) + 1)
        self.check(f"{what}, end", np.asarray(at) + np.asarray(size), BLOCK_HEAD, len(self.block) + 1)
        return 0

    cdef object table(self, object tables, str name, tuple columns):
        x = np.ascontiguousarray(tables[name], dtype=np.intc).reshape(-1, len(columns))
        return x, dict(zip(columns, x.T))

    cdef int fill_signals(self, tables) except -1:
        cdef int i
        cdef int n
        x, of = self.table(tables, "signals", SIGNAL)
        n, total = len(x), int(of["size"].sum())
        self.check("signals, size", of["size"], 1, WIDEST + 1)
        self.check("signals, at", of["at"], 0, total)
        self.check("signals, end", of["at"] + of["size"], 1, total + 1)
        self.check("signals, first channel", of["channel"], 0, len(tables["channels"]) + 1)
        self.check("signals, channels", of["channels"], 0, len(tables["channels"]) + 1)
        self.check("signals, last channel", of["channel"] + of["channels"], 0, len(tables["channels"]) + 1)
        self.check("commands", [self.c.ncommands], 0, n + 1)
        self.check_piece("places", [self.c.given, self.c.value, self.c.fresh, self.c.sampled, self.c.numbers], [total, total, n, n, 0])
        self.c.nsignals, self.c.signals = n, <Signal*>self.room(n * sizeof(Signal))
        for i in range(n):
            self.c.signals[i] = Signal(x[i, 0], x[i, 1], x[i, 2], x[i, 3])
        y, of_joints = self.table(tables, "joints", JOINT)
        self.check_joint("joints", of_joints, 0)
        self.check("joints, signal", of_joints["signal"], 0, n - 2)
        self.c.njoints, self.c.joints = len(y), <JointSignal*>self.room(len(y) * sizeof(JointSignal))
        for i in range(self.c.njoints):
            self.c.joints[i] = JointSignal(y[i, 0], y[i, 1], y[i, 2])
        return 0

    cdef int check_joint(self, str what, object of, int least) except -1:
        self.check(f"{what}, iq", of["iq"], least, self.c.plant.nq)
        self.check(f"{what}, iv", of["iv"], least, self.c.plant.nv)
        return 0

    cdef int fill_actuators(self, tables) except -1:
        cdef Actuator* a
        cdef int i
        x, of = self.table(tables, "actuators", ACTUATOR)
        total = int(self.c.value - self.c.given)
        self.check("actuators, kind", of["kind"], 0, len(actuators.ROWS))
        self.check_joint("actuators", of, 0)
        rows = [actuators.ROWS[kind] for kind in of["kind"]]
        self.check_piece("actuators, par", of["par"], [row.size for row in rows])
        self.check_piece("actuators, mem", of["mem"], [row.memory for row in rows])
        for name in ("position", "velocity", "effort"):
            self.check(f"actuators, {name}", of[name], 0, total)
        self.check("actuators, signal", of["signal"] + [len(row.readings) for row in rows], 1, self.c.nsignals + 1)
        self.c.nactuators, self.c.actuators = len(x), <Actuator*>self.room(len(x) * sizeof(Actuator))
        for i in range(self.c.nactuators):
            a = &self.c.actuators[i]
            a.kind, a.iq, a.iv, a.par, a.mem = x[i, 0], x[i, 1], x[i, 2], x[i, 3], x[i, 4]
            a.command[0], a.command[1], a.command[2], a.signal = x[i, 5], x[i, 6], x[i, 7], x[i, 8]
        return 0

    cdef int fill_sensors(self, tables) except -1:
        cdef Sensor* s
        cdef int i
        x, of = self.table(tables, "sensors", SENSOR)
        n = len(x)
        self.check("sensors, kind", of["kind"], 0, len(sensors.ROWS))
        self.check_joint("sensors", of, -1)
        rows = [sensors.ROWS[kind] for kind in of["kind"]]
        self.check("sensors, body", of["body"], -1, self.c.plant.nb)
        self.check_piece("sensors, par", of["par"], [row.size for row in rows])
        self.check_piece("sensors, mem", of["mem"], [row.memory for row in rows])
        self.check("sensors, signal", of["signal"] + of["signals"], 1, self.c.nsignals + 1)
        self.check("sensors, out", of["out"] + [sum(r.size for r in row.readings) for row in rows], 1, self.c.value - self.c.given + 1)
        rates = np.ascontiguousarray(tables["sensor_rates"], np.int64).reshape(n, 2)
        poses = np.ascontiguousarray(tables["sensor_poses"], np.float64).reshape(n, 12)
        keys = np.ascontiguousarray(tables["sensor_keys"], np.int64).reshape(n, 2)
        self.check("sensors, rates", rates.ravel(), 1, 1 << 30)
        self.c.nsensors, self.c.sensors = n, <Sensor*>self.room(n * sizeof(Sensor))
        for i in range(self.c.nsensors):
            s = &self.c.sensors[i]
            s.kind, s.iq, s.iv, s.body, s.par, s.mem = x[i, 0], x[i, 1], x[i, 2], x[i, 3], x[i, 4], x[i, 5]
            s.signal, s.signals, s.out = x[i, 6], x[i, 7], x[i, 8]
            if s.body < 0 and (s.iq < 0 or s.iv < 0 or sensors.ROWS[s.kind].name == "imu"):
                raise MbrosError(f"bench: table sensors: row {i} has neither a joint nor a body")
            memcpy(s.X_BS, constants_of(poses, 2) + 12 * i, 12 * sizeof(double))
            s.num, s.den = long_longs_of(rates, 2)[2 * i], long_longs_of(rates, 2)[2 * i + 1]
            self.fill_stream(&s.stream, keys, i, s.mem)
        return 0

    cdef int fill_stream(self, Stream* s, object keys, int i, int mem) except -1:
        s.key[0], s.key[1] = <uint32_t>(<long long>keys[i, 0]), <uint32_t>(<long long>keys[i, 1])
        s.drawn = self.c.block + mem
        return 0

    cdef int fill_channels(self, tables) except -1:
        cdef Channel* c
        cdef int i
        x, of = self.table(tables, "channels", CHANNEL)
        n = len(x)
        self.check("channels, kind", of["kind"], 0, len(channels.ROWS))
        self.check("channels, signal", of["signal"], 0, self.c.nsignals)
        self.check("channels, slots", of["slots"], 0, 1 << 24)
        rows = [channels.ROWS[kind] for kind in of["kind"]]
        sizes = [self.c.signals[<int>k].size for k in of["signal"]]
        self.check_piece("channels, par", of["par"], [row.size for row in rows])
        self.check_piece("channels, mem", of["mem"], [3 + slots * (size + 2) if row.name == "delay" else 2 + size if row.name in
                                                      ("hold", "noise") else row.memory for row, slots, size in zip(rows, of["slots"], sizes)])
        rates = np.ascontiguousarray(tables["channel_rates"], np.int64).reshape(n, 2)
        keys = np.ascontiguousarray(tables["channel_keys"], np.int64).reshape(n, 2)
        self.check("channels, rates", rates.ravel(), 1, 1 << 30)
        self.c.channels = <Channel*>self.room(n * sizeof(Channel))
        for i in range(n):
            c = &self.c.channels[i]
            c.kind, c.signal, c.par, c.mem, c.slots = x[i, 0], x[i, 1], x[i, 2], x[i, 3], x[i, 4]
            c.num, c.den = long_longs_of(rates, 2)[2 * i], long_longs_of(rates, 2)[2 * i + 1]
            self.fill_stream(&c.stream, keys, i, c.mem)
        return 0

    @property
    def capsule(self):
        """The plug for Plant._attach."""
        return PyCapsule_New(&self.port, "mbros_core.devices", NULL)

    @property
    def steps(self):
        """Steps since the last reset."""
        return <long long>self.c.block[STEPS]

    @property
    def repeated(self):
        """Steps that were taken again since the last reset, because an actuator came to a limit."""
        return <long long>self.c.block[REPEATED]

    def _take_over(self, block):
        """The block of other devices of the same tables."""
        x = np.ascontiguousarray(block, dtype=np.float64)
        if x.shape != self.block.shape:
            raise MbrosError(f"bench: expected a block of {len(self.block)} numbers, got shape {x.shape}; it is of another bench")
        self.plant.state._check_free()
        memcpy(self.c.block, constants_of(x, 1), len(self.block) * sizeof(double))


cdef int devices_step(void* self, const double* effort, double dt) noexcept nogil:
    return tick(<DevicesC*>self, effort, dt)


cdef void devices_reset(void* self) noexcept nogil:
    """As in the beginning, but for the numbers of the devices, which stay as they are."""
    cdef DevicesC* d = <DevicesC*>self
    memcpy(d.block, d.start, d.numbers * sizeof(double))


# ---------------------------------------------------------------------------------------------------- streams, for tests and for docs

def philox_block(counter, key):
    """The four words that Philox4x32-10 makes of a counter (4 words) and a key (2 words)."""
    cdef uint32_t c[4]
    cdef uint32_t k[2]
    cdef uint32_t out[4]
    cdef int i
    for i in range(4):
        c[i] = <uint32_t>(<long long>counter[i])
    k[0], k[1] = <uint32_t>(<long long>key[0]), <uint32_t>(<long long>key[1])
    philox(c, k, out)
    return out[0], out[1], out[2], out[3]


def numbers(key, int n, bint gaussian=False):
    """The first n numbers of a stream: uniform within (0, 1), or normal."""
    cdef Stream s
    cdef double drawn = 0.0
    cdef int i
    s.key[0], s.key[1], s.drawn = <uint32_t>(<long long>key[0]), <uint32_t>(<long long>key[1]), &drawn
    out = np.empty(max(n, 0))
    cdef double* x = doubles_of(out, 1)
    for i in range(n):
        x[i] = normal(&s) if gaussian else uniform(&s)
    return out
