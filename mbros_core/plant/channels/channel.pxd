"""What the tick knows of a channel, and what every kind must be able to do.

A channel stands on a signal and makes it later or worse. Several stand on one signal in the order in which they were added. What passes
through them are messages: the sample of a step, where there is one.

    KIND_pass(par, mem, r, tick, n, x, fresh) -> bint     x (n,): in, the message of this step where `fresh`; out, the message that leaves
                                                          in this step, where the result is true

par: a struct whose fields are the numbers of the row, in their order, live; mem: its memory, of which the first number counts the draws of
its stream.
"""
from mbros_core.plant.stream cimport Stream

cdef enum:
    WIDEST = 16             # numbers of a signal

cdef struct Channel:
    int kind
    int signal
    int par
    int mem
    int slots               # messages that a delay line has room for
    long long num           # of a hold: as of a sensor
    long long den
    Stream stream
