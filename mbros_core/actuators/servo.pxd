"""Position and velocity servo, implicit: any gain is stable.

    effort = kp (r - q) + kd (rdot - v) + I + feed-forward,    dI/dt = ki (r - q), or ki (rdot - v) of a velocity servo

r, rdot and the feed-forward are the commands of position, velocity and effort; with small gains and a feed-forward it is an impedance
controller. q and v are taken as they will be,  q + ahead v + h^2 vdot  and  v + h vdot,  so that tau = ... and G = h kd + h^2 kp
(actuator.pxd). What exceeds the limit is taken again at the limit; I stands still meanwhile where it would grow further into it.

A velocity servo has kp = 0. A position that is not commanded stays the last one; in the beginning, the one at which the joint is.
Parameters: kp, kd, ki, effort_limit, of_velocity (0 or 1). mem: mode, nothing, I, r, whether there is an r.
"""
from libc.math cimport fabs, isnan

from mbros_core.actuators.actuator cimport Effect, End, Given, or_else, over_step, within


cdef inline double reference(const double* mem, const Given* g) noexcept nogil:
    return or_else(g.position, mem[3] if mem[4] != 0.0 else g.q)


cdef inline void servo_effect(const double* par, const double* mem, const Given* g, Effect* out) noexcept nogil:
    """Mode 1 and -1: at the limit."""
    out.inertia = 0.0
    if mem[0] != 0.0:
        out.tau = mem[0] * par[3]
        return
    out.tau = par[1] * (or_else(g.velocity, 0.0) - g.v) + mem[2] + or_else(g.effort, 0.0)
    out.inertia = g.h * par[1]
    if par[4] == 0.0:
        out.tau += par[0] * (reference(mem, g) - g.q - g.ahead * g.v)
        out.inertia += g.h * g.h * par[0]


cdef inline bint servo_judge(const double* par, double* mem, const Given* g, const End* e) noexcept nogil:
    if mem[0] != 0.0 or fabs(e.effective) <= par[3]:
        return False
    mem[0] = 1.0 if e.effective > 0.0 else -1.0
    return True


cdef inline void servo_commit(const double* par, double* mem, const Given* g, const End* e, double* signal) noexcept nogil:
    cdef double rate = par[2] * (or_else(g.velocity, 0.0) - e.v if par[4] != 0.0 else reference(mem, g) - g.q)
    mem[3] = reference(mem, g)
    mem[4] = 1.0
    if not mem[0] * rate > 0.0:
        mem[2] = within(mem[2] + g.h * rate, -par[3], par[3])
    signal[0] = e.effective
    signal[1] = over_step(g, e)
    signal[2] = mem[0]
