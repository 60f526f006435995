"""Brake: Coulomb friction that holds still, exactly.

    it slips:   effort = -slip sign(v)
    it holds:   v = 0 and q keeps every bit, while that takes no more than `holding`

What holds is a joint that does not move: the step is taken without it (`stands`), and what the joint then carries says whether the brake
could. It stops in a step in which the slipping joint would turn round: there the effort is the one that leads to rest,  -G v / h  with G far
above the joint's inertia; the next step begins to hold. Beyond `holding` it slips, and holds again where other brakes that slip relieve it; where
it turns round within a step it does so under the mean of both directions.

It is commanded by `brake`: half or more engages it, less releases it, after a delay of its own each. Not commanded, it is as `engaged` says;
brakes of robots are closed by a spring, and hold without power.

Parameters: holding effort, slip effort, engage_delay, release_delay, engaged (0 or 1). mem: mode (0: as it was; 1 and -1: it slips under an
effort upwards and downwards; 2: it stops; 3: it turns round), v if it had not stopped, then its part of the slip effort, whether it held, v then, whether it is engaged, for how long the command has been
another, last command, whether it was on.
"""
from libc.math cimport fabs

from mbros_core.plant.actuators.actuator cimport Effect, End, Given, or_else, over_step

cdef enum:
    STOPPING = 2
    TURNING = 3
    # mem
    HELD = 2, V_THEN, ENGAGED, WAITED, COMMAND, ON


cdef inline double wanted(const double* par, const double* mem, const Given* g) noexcept nogil:
    return 1.0 if or_else(g.brake, mem[COMMAND] if mem[ON] != 0.0 else par[4]) >= 0.5 else 0.0


cdef inline bint engaged(const double* par, const double* mem, const Given* g) noexcept nogil:
    """In this step."""
    cdef double now = wanted(par, mem, g)
    if mem[ON] == 0.0 or now == mem[ENGAGED]:
        return now != 0.0
    return (now != 0.0) == (mem[WAITED] + 1e-9 * g.h >= (par[2] if now != 0.0 else par[3]))


cdef inline bint holds(const double* mem, const Given* g) noexcept nogil:
    """At the start of the step: it has come to rest, and nobody moved it since."""
    return g.v == 0.0 or (mem[HELD] != 0.0 and g.v == mem[V_THEN])


cdef inline void brake_effect(const double* par, const double* mem, const Given* g, Effect* out) noexcept nogil:
    out.tau = out.inertia = 0.0
    if not engaged(par, mem, g):
        return
    if mem[0] == 0.0 and holds(mem, g) or mem[0] == STOPPING and g.v == 0.0:
        out.stands = True
    elif mem[0] == STOPPING:
        out.inertia = 1e6 * par[1] * g.h / fabs(g.v)
        out.tau = -out.inertia * g.v / g.h
    elif mem[0] == TURNING:
        out.tau = par[1] * mem[1]
    else:
        out.tau = par[1] * (mem[0] if mem[0] != 0.0 else -1.0 if g.v > 0.0 else 1.0)


cdef inline bint brake_judge(const double* par, double* mem, const Given* g, const End* e) noexcept nogil:
    cdef double side = 1.0 if e.effective > 0.0 else -1.0
    if not engaged(par, mem, g) or mem[0] == TURNING:
        return False
    if e.stood or mem[0] == STOPPING:
        if fabs(e.effective) <= par[0] or (e.stood and mem[0] != 0.0 and not g.releases):
            return False
        if e.stood:
            mem[0] = side
        else:
            mem[0], mem[1] = TURNING, side * (1.0 - 2.0 * fabs(g.v) / (fabs(g.v) + fabs(mem[1])))
        return True
    if mem[0] == 0.0 and e.v * g.v > 0.0 or mem[0] * e.v < 0.0:
        return False
    mem[0], mem[1] = STOPPING, e.v
    return True


cdef inline void brake_commit(const double* par, double* mem, const Given* g, const End* e, double* signal) noexcept nogil:
    cdef bint on = engaged(par, mem, g)
    cdef double now = wanted(par, mem, g), power
    mem[HELD] = 1.0 if on and (e.stood or mem[0] == STOPPING) else 0.0
    mem[V_THEN] = e.v
    mem[WAITED] = mem[WAITED] + g.h if mem[ON] != 0.0 and on != (now != 0.0) else 0.0
    mem[ENGAGED], mem[COMMAND], mem[ON] = 1.0 if on else 0.0, now, 1.0
    power = 0.0 if e.stood else over_step(g, e)
    signal[0], signal[1], signal[2] = e.effective, power, -power
    signal[3], signal[4] = mem[ENGAGED], 1.0 if e.stood else 0.0
