"""The one switch over actuator kinds."""
from mbros_core.actuators.actuator cimport Effect, End, Given
from mbros_core.actuators.effort cimport effort_commit, effort_effect, effort_judge
from mbros_core.actuators.motor cimport motor_commit, motor_effect, motor_judge
from mbros_core.actuators.servo cimport servo_commit, servo_effect, servo_judge

# The numbers of mbros_core.actuators.registry, which is compared with it when the devices are imported.
cdef enum ActuatorKind:
    EFFORT_ACTUATOR = 0
    SERVO = 1
    MOTOR = 2


cdef inline dict actuator_kinds():
    return dict(effort=EFFORT_ACTUATOR, servo=SERVO, motor=MOTOR)


cdef inline void effect(int kind, const double* par, const double* mem, const Given* g, Effect* out) noexcept nogil:
    if kind == SERVO:
        servo_effect(par, mem, g, out)
    elif kind == MOTOR:
        motor_effect(par, mem, g, out)
    else:
        effort_effect(par, mem, g, out)


cdef inline bint judge(int kind, const double* par, double* mem, const Given* g, const End* e) noexcept nogil:
    if kind == SERVO:
        return servo_judge(par, mem, g, e)
    if kind == MOTOR:
        return motor_judge(par, mem, g, e)
    return effort_judge(par, mem, g, e)


cdef inline void commit(int kind, const double* par, double* mem, const Given* g, const End* e, double* signal) noexcept nogil:
    if kind == SERVO:
        servo_commit(par, mem, g, e, signal)
    elif kind == MOTOR:
        motor_commit(par, mem, g, e, signal)
    else:
        effort_commit(par, mem, g, e, signal)
