# distutils: language = c++
# cython: language_level=3, cdivision=True, boundscheck=False, wraparound=False, initializedcheck=False, auto_pickle=False
"""A plant with devices as a loop drives it: its command has more than efforts.

    command:  efforts (nv,) | positions (nv,) | velocities (nv,) | what is commanded (nv,): 1 position + 2 velocity + 4 effort

A coordinate of which nothing is commanded has 0 there, so that a loop's "nothing" is a row of zeros. Efforts of coordinates without an
actuator act beside the actuators', as they do in a plant's own command; an effort that is not 0 needs no 4.
"""
import numpy as np
cimport numpy as cnp

from cpython.pycapsule cimport PyCapsule_GetContext, PyCapsule_GetPointer
from libc.math cimport NAN
from libc.string cimport memcpy

from mbros_core.plant.actuators.actuator cimport Actuator
from mbros_core.plant.actuators.dispatch cimport drives_velocity
from mbros_core.engine.arrays cimport constants_of, doubles_of, ints_of
from mbros_core.plant.device cimport Devices as DevicesC
from mbros_core.plant.inside cimport mbros_inside
from mbros_core.realtime.capsule cimport plug_of
from mbros_core.realtime.ports cimport mbros_memory, mbros_plant, mbros_range

from mbros_core.plant.actuators import registry as actuators
from mbros_core.errors import MbrosError

cnp.import_array()

POSITION, VELOCITY, EFFORT = 1, 2, 4
BITS = {"position": POSITION, "velocity": VELOCITY, "effort": EFFORT}


cdef struct CommandedC:
    mbros_plant* plant
    mbros_memory* of_plant
    mbros_inside* inside
    int nv
    int* driven             # (nv,) the actuator of a coordinate, or -1
    double* outside         # (nv,) efforts beside the actuators'


cdef inline DevicesC* devices_of(const CommandedC* c) noexcept nogil:
    """Those that the plant has now; more faults and sources make others of them, with the same actuators."""
    return <DevicesC*>c.inside.devices[0].self


cdef int commanded_step(void* self, const double* command, double dt) noexcept nogil:
    cdef CommandedC* c = <CommandedC*>self
    cdef const int* place
    cdef DevicesC* devices = devices_of(c)
    cdef double* given = devices.block + devices.given
    cdef int i, nv = c.nv
    cdef int what
    for i in range(nv):
        c.outside[i] = command[i]
        if c.driven[i] >= 0:
            what = <int>command[3 * nv + i]
            place = devices.actuators[c.driven[i]].command
            c.outside[i] = 0.0
            given[place[0]] = command[nv + i] if what & 1 else NAN
            given[place[1]] = command[2 * nv + i] if what & 2 else NAN
            given[place[2]] = command[i] if what & 4 or command[i] != 0.0 else NAN
    return c.plant.step(c.plant.self, c.outside, dt)


cdef int commanded_observe(void* self, double* snapshot) noexcept nogil:
    cdef CommandedC* c = <CommandedC*>self
    return c.plant.observe(c.plant.self, snapshot)


cdef void commanded_set_parameters(void* self, const double* block) noexcept nogil:
    cdef CommandedC* c = <CommandedC*>self
    c.plant.set_parameters(c.plant.self, block)


cdef void commanded_reset(void* self, const double* state) noexcept nogil:
    cdef CommandedC* c = <CommandedC*>self
    c.plant.reset(c.plant.self, state)


cdef void commanded_set_state(void* self, const double* state) noexcept nogil:
    cdef CommandedC* c = <CommandedC*>self
    c.plant.set_state(c.plant.self, state)


cdef void commanded_tell(void* self, mbros_range say, void* to) noexcept nogil:
    cdef CommandedC* c = <CommandedC*>self
    say(to, c, sizeof(CommandedC))
    say(to, c.driven, c.nv * sizeof(int))
    say(to, c.outside, c.nv * sizeof(double))
    if c.of_plant.tell != NULL:
        c.of_plant.tell(c.plant.self, say, to)


cdef class CommandedPlant:
    """A plant with devices, for mbros_core.realtime.Loop. What it does not have itself is the plant's.

    Snapshots, states and parameters are those of the plant; commands are (4 nv,), see above.
    """
    cdef CommandedC c
    cdef mbros_plant port
    cdef mbros_memory memory
    cdef readonly object plant
    cdef object held

    def __cinit__(self, plant):
        cdef DevicesC* devices
        cdef int k
        if not hasattr(plant.devices, "block"):
            raise MbrosError("CommandedPlant: the plant has no bench, and takes efforts as it is; give it to the loop itself")
        capsule = plant.capsule
        self.plant = plant
        self.c.plant = <mbros_plant*>PyCapsule_GetPointer(capsule, "mbros_core.plant")
        self.c.of_plant = <mbros_memory*>PyCapsule_GetContext(capsule)
        self.c.inside = <mbros_inside*>PyCapsule_GetPointer(plant._inside, "mbros_core.inside")
        devices = devices_of(&self.c)
        self.c.nv = self.c.plant.command_size
        driven, outside = np.full(self.c.nv + 1, -1, np.intc), np.zeros(self.c.nv + 1)
        self.held = driven, outside
        self.c.driven, self.c.outside = ints_of(driven, 1), doubles_of(outside, 1)
        for k in range(devices.nactuators):
            if devices.actuators[k].command[0] >= 0:         # a brake has other commands
                self.c.driven[devices.actuators[k].iv] = k
        memcpy(&self.port, self.c.plant, sizeof(mbros_plant))
        self.port.self, self.port.command_size = <void*>&self.c, 4 * self.c.nv
        self.port.step, self.port.observe, self.port.set_parameters = commanded_step, commanded_observe, commanded_set_parameters
        self.port.reset, self.port.set_state = commanded_reset, commanded_set_state
        self.memory.held, self.memory.tell = self.c.of_plant.held, commanded_tell

    def __getattr__(self, name):
        return getattr(self.plant, name)

    @property
    def takes(self):
        """What each coordinate takes, (nv,): 1 position + 2 velocity + 4 effort; 4 where it has no actuator with commands."""
        cdef const DevicesC* devices = devices_of(&self.c)
        cdef const Actuator* a
        cdef int i, of_velocity
        found = np.full(self.c.nv, EFFORT)
        for i in range(self.c.nv):
            if self.c.driven[i] >= 0:
                a = &devices.actuators[self.c.driven[i]]
                names = actuators.ROWS[a.kind].takes
                of_velocity = drives_velocity(a.kind, devices.block + a.par)
                found[i] = sum(bit for name, bit in BITS.items() if name in names and not (name == "position" and of_velocity))
        return found

    @property
    def said(self):
        """Where what is commanded stands in the devices' memory, (nv, 3): positions, velocities, efforts; -1: no actuator with commands."""
        cdef const DevicesC* devices = devices_of(&self.c)
        cdef int i, k
        found = np.full((self.c.nv, 3), -1)
        for i in range(self.c.nv):
            if self.c.driven[i] >= 0:
                for k in range(3):
                    found[i, k] = devices.given + devices.actuators[self.c.driven[i]].command[k]
        return found

    @property
    def max_contact_iterations(self):
        """The plant's own; writing one is writing that."""
        return self.plant.max_contact_iterations

    @max_contact_iterations.setter
    def max_contact_iterations(self, n):
        self.plant.max_contact_iterations = n

    def step(self, command):
        """One step of dt under a command (4 nv,), as a loop takes it. MbrosError in words where the step cannot be taken."""
        cdef int code
        x = np.ascontiguousarray(command, np.float64)
        if x.shape != (4 * self.c.nv,):
            raise MbrosError(f"step: expected a command of {4 * self.c.nv} numbers: efforts, positions, velocities and what is commanded, "
                             f"of {self.c.nv} coordinates each; got shape {x.shape}")
        self.plant.state._check_free()
        code = commanded_step(&self.c, constants_of(x, 1), self.plant.dt)
        if code:
            raise MbrosError(f"step: {self.plant.fault_text(code, -1)}; reset() or restore() goes on")

    @property
    def capsule(self):
        """The plug for the real-time loop; it keeps the plant. MbrosError where the state violates a constraint."""
        self.plant.capsule
        return plug_of(self, &self.port, "mbros_core.plant", &self.memory)
