"""Impedance servo: the servo of servo.pxd whose kp and kd are commands, stiffness and damping; its numbers where they are not commanded.

    effort = stiffness (position - q) + damping (velocity - v) + effort

as torque-controlled legs and arms are driven. It has no integral. Commands below zero count as zero. Parameters: kp, kd, effort_limit.
mem: that of the servo, then the last stiffness and damping, and whether there were any.
"""
from mbros_core.plant.actuators.actuator cimport Effect, End, Given, or_else
from mbros_core.plant.actuators.servo cimport servo_commit, servo_effect, servo_judge

cdef enum:
    LAST_KP = 5
    LAST_KD = 6
    WAS_ON = 7


cdef inline void as_servo(const double* par, const double* mem, const Given* g, double* own) noexcept nogil:
    """The numbers of a servo in this step."""
    cdef bint on = mem[WAS_ON] != 0.0
    cdef double kp = or_else(g.stiffness, mem[LAST_KP] if on else par[0])
    cdef double kd = or_else(g.damping, mem[LAST_KD] if on else par[1])
    own[0], own[1], own[2], own[3], own[4] = max(kp, 0.0), max(kd, 0.0), 0.0, par[2], 0.0


cdef inline void impedance_effect(const double* par, const double* mem, const Given* g, Effect* out) noexcept nogil:
    cdef double own[5]
    as_servo(par, mem, g, own)
    servo_effect(own, mem, g, out)


cdef inline bint impedance_judge(const double* par, double* mem, const Given* g, const End* e) noexcept nogil:
    cdef double own[5]
    as_servo(par, mem, g, own)
    return servo_judge(own, mem, g, e)


cdef inline void impedance_commit(const double* par, double* mem, const Given* g, const End* e, double* signal) noexcept nogil:
    cdef double own[5]
    as_servo(par, mem, g, own)
    servo_commit(own, mem, g, e, signal)
    mem[LAST_KP], mem[LAST_KD], mem[WAS_ON] = own[0], own[1], 1.0
