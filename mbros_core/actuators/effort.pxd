"""Effort as commanded: at once or with a lag of first order, within a limit and a torque-speed line.

    T dy/dt = command - y                       exact for a command that is constant over the step
    |effort| <= effort_limit,  and in the direction of motion  <= stall_effort (1 - |v| / no_load_speed)

On the line the effort falls with the velocity at the end of the step. Parameters: effort_limit, time_constant, stall_effort,
no_load_speed (0: no line). mem: mode, nothing, y, last command. A curve of several points: torque_speed.pxd.
"""
from libc.math cimport exp, fabs

from mbros_core.actuators.actuator cimport Effect, End, Given, or_else, over_step, within

cdef struct Segment:        # of a line or curve: from `effort` at the speed `start` to `end` at start + span
    double start
    double span
    double effort
    double end


cdef inline double lagged(const double* par, const double* mem, const Given* g) noexcept nogil:
    cdef double wanted = or_else(g.effort, mem[3])
    return wanted if par[1] <= 0.0 else wanted + (mem[2] - wanted) * exp(-g.h / par[1])


cdef inline double effort_on(const Segment* s, double u) noexcept nogil:
    """On it, or on what it is a part of, at the speed u."""
    return (s.effort - s.end) * (1.0 - (u - s.start) / s.span) + s.end


cdef inline void stay_on(const Segment* s, double side, const Given* g, Effect* out) noexcept nogil:
    """The effort on it at the velocity of the end of the step, driving upwards (side 1) or downwards (-1)."""
    cdef double slope = (s.effort - s.end) / s.span
    out.tau = side * (s.effort + slope * s.start) - slope * g.v
    out.inertia = g.h * slope


cdef inline Segment line(const double* par) noexcept nogil:
    cdef Segment s
    s.start, s.span, s.effort, s.end = 0.0, par[3], par[2], 0.0
    return s


cdef inline void effort_effect(const double* par, const double* mem, const Given* g, Effect* out) noexcept nogil:
    """Mode 1 and -1: on the line, driving upwards and downwards."""
    cdef Segment s
    if mem[0] == 0.0:
        out.inertia = 0.0
        out.tau = within(lagged(par, mem, g), -par[0], par[0])
        return
    s = line(par)
    stay_on(&s, mem[0], g, out)


cdef inline bint effort_judge(const double* par, double* mem, const Given* g, const End* e) noexcept nogil:
    cdef double side = 1.0 if e.effective > 0.0 else -1.0
    cdef Segment s
    if mem[0] != 0.0 or par[3] <= 0.0 or side * e.v < 0.0:
        return False
    s = line(par)
    if fabs(e.effective) <= effort_on(&s, side * e.v):
        return False
    mem[0] = side
    return True


cdef inline void effort_commit(const double* par, double* mem, const Given* g, const End* e, double* signal) noexcept nogil:
    mem[2] = lagged(par, mem, g)
    mem[3] = or_else(g.effort, mem[3])
    signal[0] = e.effective
    signal[1] = over_step(g, e)
