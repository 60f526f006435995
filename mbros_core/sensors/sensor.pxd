"""What the tick knows of a sensor, and what every kind must be able to do.

    KIND_read(par, mem, r, period, truth, out)        one sample, after `period` seconds since the last one: the readings as the registry
                                                      row names them, one after the other in out

A sensor samples when a whole number of its periods has passed: of rate / (1 / dt) = num / den, at every step k at which k num / den passes a
whole number, which is exact for ever. Its latency is a channel. par: the numbers that the row names, live; mem[0] counts the draws of its
stream.
"""
from mbros_core.devices.stream cimport Stream

cdef struct Sensor:
    int kind
    int iq                  # of a joint's sensor
    int iv
    int body                # of a frame's, and its place there, R row-major and p
    double X_BS[12]
    int par
    int mem
    int signal              # the first of its signals
    int signals
    int out                 # where the samples go
    long long num
    long long den
    Stream stream

cdef struct Truth:          # what is true at the end of a step
    double q
    double v
    double effort
    double w[3]             # angular velocity, sensor axes
    double f[3]             # acceleration of the sensor's origin less gravity, sensor axes
