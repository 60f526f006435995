"""What the tick knows of a sensor, and what every kind must be able to do.

    KIND_read(par, mem, r, period, truth, out)        one sample: the readings as the registry row names them, one after the other in out

period: of those whose numbers have noise, 1 / rate; of those that take differences, the true time since the last sample. A sensor samples
when a whole number of its periods has passed: of rate / (1 / dt) = num / den, at every step k at which k num / den passes a whole number,
which is exact for ever. Its latency is a channel. par: a struct whose fields are the numbers of the row, in their order, live; mem: its
memory, of as many numbers as the row says, of which the first counts the draws of its stream.
"""
from mbros_core.plant.stream cimport Stream

cdef struct Sensor:         # begins with a row of the table: plant/tables.py
    int kind
    int iq                  # of a joint's sensor
    int iv
    int other_iq            # of a second joint
    int other_iv
    int body                # of a frame's, or of a shape's
    int shape               # -1: all of the body
    int cut                 # of the wrench in a weld: which one; -1: of a joint that moves
    int par
    int mem
    int signal              # the first of its signals
    int signals
    int out                 # where the samples go
    int drive               # of an encoder behind a spring: where its drive's position is among what is said, velocity next; -1: none
    double X_BS[12]         # the place of a frame on the body, R row-major and p
    long long num
    long long den
    Stream stream

cdef struct Truth:          # what is true at the end of a step, wrench: where see() has led it there; only what a kind asks for is written
    double q
    double v
    double effort
    double other_q
    double R[9]             # of the frame, from its axes to the world's
    double p[3]
    double u[3]             # velocity of the frame's origin, frame axes
    double w[3]             # angular velocity, frame axes
    double f[3]             # acceleration of the frame's origin less gravity, frame axes
    double wrench[6]        # force and torque that a joint exerts on its child, about the frame's origin, frame axes
    double press            # N, of all contacts of a shape along their normals
