"""Everything the tick works on: tables that do not change, and one block of doubles that does.

    block:  step count, steps taken again | given (what was said last), value (what came through the channels), fresh, time for every signal
            | memories of actuators, sensors and channels | their numbers

A copy of the block goes on as the original does, to the bit. `scratch` is of one step only.
"""
from mbros_core.actuators.actuator cimport Actuator
from mbros_core.channels.channel cimport Channel
from mbros_core.devices.inside cimport mbros_inside
from mbros_core.sensors.sensor cimport Sensor

cdef enum:
    STEPS = 0
    REPEATED = 1
    BLOCK_HEAD = 2

cdef struct Signal:
    int at                  # in given and value
    int size
    int channel             # the first of its channels
    int channels

cdef struct JointSignal:    # of every joint with one coordinate: its true position, velocity and effort
    int iq
    int iv
    int signal

cdef struct Devices:
    mbros_inside* plant
    int nsignals
    int ncommands           # the first signals
    int nactuators
    int nsensors
    int njoints
    int seeing              # 1: some sensor is on a frame
    double ahead            # of h: how far ahead an implicit position force is taken (tick.pxd)
    Signal* signals
    Actuator* actuators
    Sensor* sensors
    Channel* channels
    JointSignal* joints
    double* block
    int given               # where things begin in the block
    int value
    int fresh
    int sampled
    int numbers             # the last part
    double* scratch         # q, v, a_prev, contacts, and (nv,) efforts from outside, effects, inertias, vdot
    double* start           # the block of the beginning
