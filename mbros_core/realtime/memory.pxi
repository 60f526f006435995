"""The loop's memory: plugs checked and copied, arrays and mailboxes made before the start, released at the end."""
from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_IsValid
from libc.stdint cimport int64_t
from libc.stdlib cimport calloc, free

from mbros_core.realtime.core cimport RUNNING, Core, Source
from mbros_core.realtime.histogram cimport Histogram
from mbros_core.realtime.mailbox cimport Mailbox
from mbros_core.realtime.ports cimport mbros_input, mbros_output, mbros_plant
from mbros_core.realtime.ring cimport Ring


cdef inline void* plug(object capsule, const char* name, str what) except NULL:
    """Address in a capsule of that name; TypeError otherwise."""
    if not PyCapsule_IsValid(capsule, name):
        raise TypeError(f"{what}: expected an object with a `.capsule` named '{name.decode()}', "
                        f"got {type(capsule).__name__}")
    return PyCapsule_GetPointer(capsule, name)


cdef inline void* zeros(int64_t count, size_t size) except NULL:
    cdef void* p = calloc(count if count > 0 else 1, size)
    if p == NULL:
        raise MemoryError()
    return p


cdef inline double* doubles(int n) except NULL:
    return <double*>zeros(n, sizeof(double))


cdef inline int plug_in(Core* c, plant, inputs, outputs) except -1:
    """Copy the structs out of the capsules, whose owners must outlive the loop."""
    cdef int k
    cdef mbros_plant* p = <mbros_plant*>plug(plant, b"mbros_core.plant", "plant")
    if (p.step == NULL or p.observe == NULL or p.set_parameters == NULL or p.reset == NULL
            or min(p.command_size, p.snapshot_size, p.parameter_size, p.state_size, p.velocity_offset) < 0
            or p.velocity_offset + p.command_size > p.snapshot_size):
        raise ValueError(f"plant: a function is missing or a size is impossible: command {p.command_size}, "
                         f"snapshot {p.snapshot_size}, velocities from {p.velocity_offset}, parameters "
                         f"{p.parameter_size}, state {p.state_size}")
    c.plant = p[0]
    c.inputs = <mbros_input*>zeros(len(inputs), sizeof(mbros_input))
    c.outputs = <mbros_output*>zeros(len(outputs), sizeof(mbros_output))
    for k in range(len(inputs)):
        c.inputs[k] = (<mbros_input*>plug(inputs[k], b"mbros_core.input", f"inputs[{k}]"))[0]
    for k in range(len(outputs)):
        c.outputs[k] = (<mbros_output*>plug(outputs[k], b"mbros_core.output", f"outputs[{k}]"))[0]
    c.n_inputs, c.n_outputs = len(inputs), len(outputs)
    return 0


cdef inline int allocate(Core* c, int64_t records) except -1:
    """All the loop will ever need; `records` 0: no ring."""
    cdef int n = c.plant.command_size, nx = c.plant.snapshot_size
    c.commands, c.parameters, c.resets = (
        new Mailbox(n), new Mailbox(c.plant.parameter_size), new Mailbox(c.plant.state_size))
    c.states, c.pace, c.watchdog, c.inject = new Mailbox(c.plant.state_size), new Mailbox(1), new Mailbox(2 + n), new Mailbox(4)
    c.clear_statistics, c.snapshots = new Mailbox(0), new Mailbox(nx)
    if records > 0:
        c.records = new Ring(nx + n, records)
    c.held, c.incoming, c.applied, c.gains = doubles(n), doubles(n), doubles(n), doubles(n)
    c.state, c.x, c.scratch = doubles(c.plant.state_size), doubles(nx), doubles(nx)
    c.sources = <Source*>zeros(c.n_inputs + 1, sizeof(Source))
    c.lateness = <Histogram*>zeros(3, sizeof(Histogram))
    c.work, c.plant_time = c.lateness + 1, c.lateness + 2
    c.stop_reason, c.done, c.timeout_ns, c.slots_wanted = RUNNING, 1, -1, -1
    c.injection.every = 1
    c.fault_index = -1
    return 0


cdef inline void release(Core* c) noexcept:
    del c.commands, c.parameters, c.resets, c.states, c.pace, c.watchdog, c.inject, c.clear_statistics, c.snapshots, c.records
    for memory in (<size_t>c.held, <size_t>c.incoming, <size_t>c.applied, <size_t>c.gains, <size_t>c.state,
                   <size_t>c.x, <size_t>c.scratch, <size_t>c.sources, <size_t>c.lateness, <size_t>c.inputs,
                   <size_t>c.outputs):
        free(<void*><size_t>memory)
