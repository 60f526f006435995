# distutils: language = c++
# cython: language_level=3, embedsignature=True
"""The door of controllers on the same machine: plugs of a loop whose other side is shared memory, and a client (mbros_client.h).

mbros.simulate.connection and mbros.simulate.shared are the faces of both.
"""
import os
import stat

import numpy as np
cimport numpy as cnp

from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_IsValid
from libc.math cimport fabs, floor
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t, uintptr_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset

from mbros_core.engine.arrays cimport constants_of
from mbros_core.realtime.atomics cimport bump, load, store
from mbros_core.realtime.capsule cimport plug_of
from mbros_core.realtime.clock cimport monotonic_ns, realtime_ns
from mbros_core.realtime.ports cimport (
    MBROS_GO, MBROS_REPEATED, MBROS_WAIT, mbros_gate, mbros_input, mbros_memory, mbros_output, mbros_range, mbros_snapshot)
from mbros_core.realtime.turns cimport Patience, ask, is_due, late_at, set_patience, time_out
from mbros_core.support import given
from mbros_core.errors import BusyError, LoopError, LoopTimeoutError, MbrosError, SystemRefusedError
from mbros_core.realtime.settings import POLICIES

cnp.import_array()

cdef extern from "realtime/mbros_client.h" nogil:
    enum:
        MBROS_OK, MBROS_EABSENT, MBROS_EFOREIGN, MBROS_ETIME, MBROS_EBUSY, MBROS_EVALUE, MBROS_ENAME, MBROS_ESYSTEM
        MBROS_EUNSAFE, MBROS_EDAMAGED, MBROS_EAWAY
        MBROS_LOCK_SIMULATION, MBROS_SHARED_VERSION, MBROS_MOST_NUMBERS, MBROS_MOST_TEXT
    uint64_t MBROS_SHARED_MAGIC

    ctypedef struct mbros_shared_header:
        uint64_t magic
        uint32_t version
        uint32_t ready
        uint64_t bytes, token
        int32_t states_id, commands_id, state_size, command_size, description_bytes, lockstep_n, lockstep_m
        double dt
        int64_t process

    ctypedef struct mbros_shared_states:
        uint64_t token, newest
        uint32_t closed, core

    ctypedef struct mbros_shared_commands:
        uint64_t token, newest
        uint32_t core
        int64_t process

    ctypedef struct mbros_slot:
        uint64_t number, step
        double time
        int64_t wall_ns, command_age_ns
        uint64_t command
        uint32_t flags, taken_ns

    ctypedef struct mbros_spin:
        int64_t longest_ns, spent_ns

    ctypedef struct mbros_client:
        mbros_shared_header header
        const mbros_shared_states* states
        mbros_shared_commands* commands
        double* values
        char* description
        mbros_slot state
        int64_t sent
        int file
        int commanding
        mbros_spin spin

    uint64_t mbros_segment_bytes(int32_t size)
    void mbros_set_word(uint32_t* word, uint32_t value)
    void mbros_write_slot(void* ring, int32_t size, uint64_t* newest, mbros_slot* head, const double* values)
    int mbros_read_slot(void* ring, int32_t size, const uint64_t* newest, mbros_slot* head, double* values)
    void mbros_ring(mbros_shared_states* states, mbros_shared_commands* commands)
    uint32_t mbros_this_core()
    bint mbros_may_spin(mbros_spin* spin, const uint32_t* other)
    bint mbros_spin_until(mbros_spin* spin, const uint64_t* count, uint64_t seen, int64_t longest, const uint32_t* other)
    int mbros_lock(int file, int byte)
    int mbros_locked(int file, int byte)
    int mbros_path(char* path, size_t room, const char* name)
    int mbros_open(mbros_client* client, const char* name)
    void mbros_close(mbros_client* client)
    int mbros_read(mbros_client* client)
    int mbros_wait(mbros_client* client, int64_t patience)
    int mbros_command(mbros_client* client, const double* command, uint64_t answers)
    void mbros_release(mbros_client* client)

cdef extern from "<sys/shm.h>" nogil:
    int IPC_PRIVATE, IPC_CREAT, IPC_RMID
    int shmget(int key, size_t bytes, int flags)
    void* shmat(int id, const void* where, int flags)
    int shmdt(const void* where)
    int shmctl(int id, int what, void* about)

cdef extern from "<errno.h>" nogil:
    int errno
    enum:
        EEXIST

include "shared_file.pxi"
include "shared_door.pxi"
include "shared_client.pxi"
