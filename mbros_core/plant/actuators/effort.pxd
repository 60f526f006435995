"""Effort as commanded: at once or with a lag of first order, within a limit and a torque-speed line.

    T dy/dt = command - y                       exact for a command that is constant over the step
    |effort| <= effort_limit,  and in the direction of motion  <= stall_effort (1 - |v| / no_load_speed)

On the line the effort falls with the velocity at the end of the step; it is left where, as other joints move otherwise, the command is
less. Parameters: effort_limit, time_constant, stall_effort,
no_load_speed (0: no line). mem: mode, nothing, y, last command. A curve of several points: torque_speed.pxd.
"""
from libc.math cimport exp, fabs

from mbros_core.plant.actuators.actuator cimport ROUNDED, Effect, End, Given, or_else, over_step, within


cdef inline double lagged(const double* par, const double* mem, const Given* g) noexcept nogil:
    cdef double wanted = or_else(g.effort, mem[3])
    return wanted if par[1] <= 0.0 else wanted + (mem[2] - wanted) * exp(-g.h / par[1])


cdef inline void effort_effect(const double* par, const double* mem, const Given* g, Effect* out) noexcept nogil:
    """Mode 1 and -1: on the line, driving upwards and downwards."""
    cdef double slope
    out.inertia = 0.0
    if mem[0] == 0.0:
        out.tau = within(lagged(par, mem, g), -par[0], par[0])
        return
    slope = par[2] / par[3]
    out.tau = mem[0] * par[2] - slope * g.v
    out.inertia = g.h * slope


cdef inline bint effort_judge(const double* par, double* mem, const Given* g, const End* e) noexcept nogil:
    """On the line it is in the wrong mode where, as other joints move otherwise, it does more there than it is commanded."""
    cdef double side = 1.0 if e.effective > 0.0 else -1.0
    if mem[0] != 0.0:
        if not g.releases or mem[0] * (e.effective - within(lagged(par, mem, g), -par[0], par[0])) <= ROUNDED * par[2]:
            return False
        mem[0] = 0.0
        return True
    if par[3] <= 0.0 or side * e.v < 0.0 or fabs(e.effective) <= par[2] * (1.0 - side * e.v / par[3]):
        return False
    mem[0] = side
    return True


cdef inline void effort_commit(const double* par, double* mem, const Given* g, const End* e, double* signal) noexcept nogil:
    mem[2] = lagged(par, mem, g)
    mem[3] = or_else(g.effort, mem[3])
    signal[0] = e.effective
    signal[1] = over_step(g, e)
