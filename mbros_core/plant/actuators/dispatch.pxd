"""The one switch over actuator kinds."""
from mbros_core.plant.actuators.actuator cimport Effect, End, Given
from mbros_core.plant.actuators.brake cimport brake_commit, brake_effect, brake_judge
from mbros_core.plant.actuators.effort cimport effort_commit, effort_effect, effort_judge
from mbros_core.plant.actuators.elastic cimport (ELASTIC_MEMORY, ELASTIC_NUMBERS, ELASTIC_SIGNALS, HEAT as ELASTIC_HEAT, STORED as ELASTIC_STORED,
                                           Spring, drive_end, drive_given, elastic_commit, elastic_effect, elastic_judge, spring)
from mbros_core.plant.actuators.impedance cimport impedance_commit, impedance_effect, impedance_judge
from mbros_core.plant.actuators.limits cimport limits_commit
from mbros_core.plant.actuators.motor cimport HEAT, STORED, motor_commit, motor_effect, motor_judge
from mbros_core.plant.actuators.servo cimport OF_VELOCITY, servo_commit, servo_effect, servo_judge
from mbros_core.plant.actuators.torque_speed cimport curve_commit, curve_effect, curve_judge

# The numbers of mbros_core.plant.actuators.registry (tests/engine/test_numbers_by_name.py).
cdef enum ActuatorKind:
    EFFORT_ACTUATOR = 0
    SERVO = 1
    MOTOR = 2
    IMPEDANCE = 3
    BRAKE = 4
    LIMITS = 5
    EFFORT_CURVE = 6
    ELASTIC_SERVO = 7       # from here on elastic.pxd, with a drive
    ELASTIC_MOTOR = 8


cdef inline bint drives_velocity(int kind, const double* par) noexcept nogil:
    """A servo of velocities, which takes no positions."""
    return kind == SERVO and par[OF_VELOCITY] != 0.0


cdef inline int drive_of(int kind) noexcept nogil:
    return MOTOR if kind == ELASTIC_MOTOR else SERVO


cdef inline void rigid_effect(int kind, const double* par, const double* mem, const Given* g, Effect* out) noexcept nogil:
    out.stands = False
    if kind == SERVO:
        servo_effect(par, mem, g, out)
    elif kind == MOTOR:
        motor_effect(par, mem, g, out)
    elif kind == IMPEDANCE:
        impedance_effect(par, mem, g, out)
    elif kind == BRAKE:
        brake_effect(par, mem, g, out)
    elif kind == LIMITS:
        out.tau = out.inertia = 0.0
    elif kind == EFFORT_CURVE:
        curve_effect(par, mem, g, out)
    else:
        effort_effect(par, mem, g, out)


cdef inline bint rigid_judge(int kind, const double* par, double* mem, const Given* g, const End* e) noexcept nogil:
    if kind == SERVO:
        return servo_judge(par, mem, g, e)
    if kind == MOTOR:
        return motor_judge(par, mem, g, e)
    if kind == IMPEDANCE:
        return impedance_judge(par, mem, g, e)
    if kind == BRAKE:
        return brake_judge(par, mem, g, e)
    if kind == EFFORT_ACTUATOR:
        return effort_judge(par, mem, g, e)
    return curve_judge(par, mem, g, e) if kind == EFFORT_CURVE else False


cdef inline void rigid_commit(int kind, const double* par, double* mem, const Given* g, const End* e, double* signal) noexcept nogil:
    if kind == SERVO:
        servo_commit(par, mem, g, e, signal)
    elif kind == MOTOR:
        motor_commit(par, mem, g, e, signal)
    elif kind == IMPEDANCE:
        impedance_commit(par, mem, g, e, signal)
    elif kind == BRAKE:
        brake_commit(par, mem, g, e, signal)
    elif kind == LIMITS:
        limits_commit(g, signal)
    elif kind == EFFORT_CURVE:
        curve_commit(par, mem, g, e, signal)
    else:
        effort_commit(par, mem, g, e, signal)


cdef inline void effect(int kind, const double* par, const double* mem, const Given* g, Effect* out) noexcept nogil:
    cdef Given drive
    cdef Effect by
    if kind < ELASTIC_SERVO:
        rigid_effect(kind, par, mem, g, out)
        return
    out.stands = False
    drive_given(mem, g, &drive)
    rigid_effect(drive_of(kind), par + ELASTIC_NUMBERS, mem + ELASTIC_MEMORY, &drive, &by)
    elastic_effect(par, mem, g, &drive, &by, out)


cdef inline void behind(int kind, const double* par, const double* mem, const Given* g, const End* e, Given* drive, Spring* s,
                        End* drive_e) noexcept nogil:
    """Of an elastic kind: the drive before and after the step, and the spring."""
    cdef Effect by
    drive_given(mem, g, drive)
    rigid_effect(drive_of(kind), par + ELASTIC_NUMBERS, mem + ELASTIC_MEMORY, drive, &by)
    spring(par, mem, g, drive, by.inertia, s)
    drive_end(par, drive, &by, s, e, drive_e)


cdef inline bint judge(int kind, const double* par, double* mem, const Given* g, const End* e) noexcept nogil:
    cdef Given drive
    cdef Spring s
    cdef End drive_e
    cdef bint wrong
    if kind < ELASTIC_SERVO:
        return rigid_judge(kind, par, mem, g, e)
    behind(kind, par, mem, g, e, &drive, &s, &drive_e)
    wrong = elastic_judge(par, mem, &s, g, e, &drive_e)
    return rigid_judge(drive_of(kind), par + ELASTIC_NUMBERS, mem + ELASTIC_MEMORY, &drive, &drive_e) or wrong


cdef inline void commit(int kind, const double* par, double* mem, const Given* g, const End* e, double* signal) noexcept nogil:
    cdef Given drive
    cdef Spring s
    cdef End drive_e
    cdef double* own = signal + ELASTIC_SIGNALS
    if kind < ELASTIC_SERVO:
        rigid_commit(kind, par, mem, g, e, signal)
        return
    behind(kind, par, mem, g, e, &drive, &s, &drive_e)
    rigid_commit(drive_of(kind), par + ELASTIC_NUMBERS, mem + ELASTIC_MEMORY, &drive, &drive_e, own)
    elastic_commit(par, mem, &s, g, &drive, e, &drive_e, signal)
    if kind == ELASTIC_MOTOR:
        signal[ELASTIC_HEAT] += own[HEAT]
        signal[ELASTIC_STORED] += own[STORED]
