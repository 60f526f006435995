"""Position and velocity servo, implicit: any gain is stable.

    effort = kp (r - q) + kd (rdot - v) + I + feed-forward,    dI/dt = ki (r - q), or ki (rdot - v) of a velocity servo

r, rdot and the feed-forward are the commands of position, velocity and effort; with small gains and a feed-forward it is an impedance
controller. q and v are taken as they will be,  q + ahead v + h^2 vdot  and  v + h vdot,  so that tau = ... and G = h kd + h^2 kp
(actuator.pxd). What exceeds the limit is taken again at the limit, and what would be within it again, as other joints move otherwise then, without: it
pushes at its limit only where it asks for as much. I stands still meanwhile where it would grow further into it.

A velocity servo has kp = 0. What is commanded says which of it acts, and may change in every step:

    a position                  all of it
    a velocity, no position     all of it, and r runs along with rdot from where it was; it waits while the servo is at that limit
    an effort alone             the effort alone; r is the joint's position meanwhile, and I what acts (where there is a ki), so that the
                                joint does not jump when a position or a velocity is commanded again
    nothing                     r stays; in the beginning, the position at which the joint is

Parameters: kp, kd, ki, effort_limit, of_velocity (0 or 1). mem: mode, nothing, I, r, whether there is an r.
"""
from libc.math cimport fabs, isnan

from mbros_core.plant.actuators.actuator cimport Effect, End, Given, or_else, over_step, within


cdef enum:
    OF_VELOCITY = 4         # of the parameters


cdef inline bint by_effort(const Given* g) noexcept nogil:
    return isnan(g.position) and isnan(g.velocity) and not isnan(g.effort)


cdef inline double reference(const double* mem, const Given* g) noexcept nogil:
    """r at the start of the step."""
    return or_else(g.position, mem[3] if mem[4] != 0.0 else g.q)


cdef inline double run(const double* mem, const Given* g) noexcept nogil:
    """How far r runs in the step."""
    if not isnan(g.position) or isnan(g.velocity) or mem[0] * g.velocity > 0.0:
        return 0.0
    return g.h * g.velocity


cdef inline void servo_effect(const double* par, const double* mem, const Given* g, Effect* out) noexcept nogil:
    """Mode 1 and -1: at the limit."""
    out.inertia = 0.0
    if mem[0] != 0.0:
        out.tau = mem[0] * par[3]
        return
    if by_effort(g):
        out.tau = g.effort
        return
    out.tau = par[1] * (or_else(g.velocity, 0.0) - g.v) + mem[2] + or_else(g.effort, 0.0)
    out.inertia = g.h * par[1]
    if par[OF_VELOCITY] == 0.0:
        out.tau += par[0] * (reference(mem, g) + run(mem, g) - g.q - g.ahead * g.v)
        out.inertia += g.h * g.h * par[0]


cdef inline bint servo_judge(const double* par, double* mem, const Given* g, const End* e) noexcept nogil:
    """At the limit it is in the wrong mode where, as others came to theirs, it asks for less than that."""
    cdef double mode = mem[0]
    cdef Effect free
    if mode == 0.0:
        mem[0] = 0.0 if fabs(e.effective) <= par[3] else 1.0 if e.effective > 0.0 else -1.0
    elif g.releases:
        mem[0] = 0.0
        servo_effect(par, mem, g, &free)
        if mode * (free.tau - free.inertia * e.vdot) >= par[3]:
            mem[0] = mode
    return mem[0] != mode


cdef inline void servo_commit(const double* par, double* mem, const Given* g, const End* e, double* signal) noexcept nogil:
    cdef double rate
    if by_effort(g):
        mem[3] = g.q + g.h * e.v
        mem[2] = within(e.effective, -par[3], par[3]) if par[2] > 0.0 else 0.0
    else:
        rate = par[2] * (or_else(g.velocity, 0.0) - e.v if par[OF_VELOCITY] != 0.0 else reference(mem, g) - g.q)
        mem[3] = reference(mem, g) + run(mem, g)
        if not mem[0] * rate > 0.0:
            mem[2] = within(mem[2] + g.h * rate, -par[3], par[3])
    mem[4] = 1.0
    signal[0] = e.effective
    signal[1] = over_step(g, e)
    signal[2] = mem[0]
