"""Everything the tick works on: tables that do not change, and one block of doubles that does.

    block:  step count, steps taken again | given (what was said last), value (what came through the channels), fresh, time for every signal
            | memories of actuators, sensors, channels and faults | their numbers

A copy of the block goes on as the original does, to the bit. `scratch` is of one step only.
"""
from libc.stdint cimport int64_t

from mbros_core.plant.actuators.actuator cimport Actuator, Effect, Given
from mbros_core.plant.channels.channel cimport Channel
from mbros_core.plant.ahead cimport Ahead, Blocks
from mbros_core.plant.inside cimport mbros_inside
from mbros_core.plant.faults.fault cimport Fault, JointFault, SignalFault
from mbros_core.plant.sensors.sensor cimport Sensor

cdef enum:
    STEPS = 0
    REPEATED = 1
    BLOCK_HEAD = 2

cdef struct Signal:          # rows of tables: plant/tables.py
    int at                  # in given and value
    int size
    int channel             # the first of its channels
    int channels
    int early               # the first of its faults before the channels
    int earlies
    int late                # and behind them
    int lates

cdef struct JointSignal:    # of every joint with one coordinate: its true position, velocity and effort
    int iq
    int iv
    int signal

cdef struct Cut:            # the part of a compiled body that is beyond a weld in it, body axes
    double mass
    double com[3]
    double inertia[9]       # about the centre of mass
    int* bodies             # (nb,) 1: its joint stands on this part
    int* shapes             # (ns,) 1: it is of this part

cdef struct Source:          # of a joint whose motion may come from elsewhere: source.pxd
    int iq
    int iv
    int mem                 # in the block, as the next two: its memory, effort and residual
    int effort
    int residual
    int par                 # its numbers, live

cdef struct Devices:
    mbros_inside* plant
    int nsignals
    int ncommands           # the first signals
    int nactuators
    int most_passes         # in which a step is taken (plant/actuators/actuator.pxd)
    int nsensors
    int njoints
    int nwrenches           # sensors of what joints carry
    int* felt               # (nb,) 1: they need what its joint carries
    int nfaults
    int njoint_faults
    double ahead            # of h: how far ahead an implicit position force is taken (tick.pxd)
    double reach            # a step leads to q + h v + reach h^2 vdot
    Signal* signals
    Actuator* actuators
    Sensor* sensors
    Channel* channels
    JointSignal* joints
    Cut* cuts
    Fault* faults
    SignalFault* signal_faults
    JointFault* joint_faults
    double* block
    int given               # where things begin in the block
    int value
    int fresh
    int sampled
    int numbers             # the last part
    int recent              # of sensors of accelerations, mean ones of the last step and of that before, (nv,) each; 0: there are none
    double* scratch         # q, v, a_prev, contacts, and (nv,) efforts from outside, inertias, vdot, share (plant/faults/on_joint.pxd), of sensors
    Given* given_to         # each actuator, in this step
    Effect* effects
    int carried             # 1: what joints carry has been found in this step
    double* start           # the block of the beginning
    double* letter          # numbers of the devices that are to be, and whether there are any (letter.hpp)
    int64_t* word
    int nnumbers
    int nsources
    Source* sources
    double* motion          # of the state, where there are sources: (nv, 5), (nq,), (nv,)
    double* motion_q
    double* a_given
    double period           # of a step, s
    int naheads             # groups of streams whose draws are found together, and how
    Ahead* aheads
    Blocks blocks
    int driven              # 1: a loop has them, and they hold their joints whatever a block of parameters says of locks
