"""Limits of commands, between what came and what the actuators of the joint follow: clamped, limited in rate, and soft near the ends.

    velocity bounds:  +-velocity, and, of the ends, less margin:    k_position (lower + margin - q) <= rdot <= k_position (upper - margin - q)
    effort bounds:    +-effort,   and, of these velocity bounds:    k_velocity (least rdot - v) <= effort <= k_velocity (most rdot - v)

as a <safety_controller> of a URDF has it (its soft limits are the ends less margin). A rate bounds by how much a command changes in a second;
bounds win over rates. A position after none starts from where the joint is. It exerts nothing.

Parameters: lower, upper, velocity, effort, position_rate, velocity_rate, effort_rate, margin, k_position, k_velocity. mem: nothing twice, last
position, velocity and effort, and for each whether there was one.
"""
from libc.math cimport isnan

from mbros_core.plant.actuators.actuator cimport Effect, End, Given, within

cdef enum:                  # parameters
    LOWER, UPPER, VELOCITY, EFFORT, POSITION_RATE, VELOCITY_RATE, EFFORT_RATE, MARGIN, K_POSITION, K_VELOCITY


cdef inline double limited(double* mem, double x, double start, double rate, double least, double most) noexcept nogil:
    """A command, after the one that is in mem; where there was none, from the start."""
    cdef double last = mem[0] if mem[3] != 0.0 else start
    if isnan(x):
        mem[3] = 0.0
        return x
    x = within(within(x, last - rate, last + rate), least, most)
    mem[0], mem[3] = x, 1.0
    return x


cdef inline void limit_commands(const double* par, double* mem, Given* g) noexcept nogil:
    """Once a step, before it."""
    cdef double least = -par[VELOCITY], most = par[VELOCITY], pull = -par[EFFORT], push = par[EFFORT]
    if par[K_POSITION] > 0.0:
        least = within(par[K_POSITION] * (par[LOWER] + par[MARGIN] - g.q), least, most)
        most = within(par[K_POSITION] * (par[UPPER] - par[MARGIN] - g.q), -par[VELOCITY], most)
    if par[K_VELOCITY] > 0.0:
        pull = within(par[K_VELOCITY] * (least - g.v), pull, push)
        push = within(par[K_VELOCITY] * (most - g.v), -par[EFFORT], push)
    g.position = limited(mem + 2, g.position, g.q, par[POSITION_RATE] * g.h, par[LOWER] + par[MARGIN], par[UPPER] - par[MARGIN])
    g.velocity = limited(mem + 3, g.velocity, g.v, par[VELOCITY_RATE] * g.h, least, most)
    g.effort = limited(mem + 4, g.effort, 0.0, par[EFFORT_RATE] * g.h, pull, push)


cdef inline void limits_commit(const Given* g, double* signal) noexcept nogil:
    signal[0], signal[1], signal[2] = g.position, g.velocity, g.effort
