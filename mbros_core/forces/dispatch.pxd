"""The one switch over force-element kinds."""
from mbros_core.real cimport fmax, real
from mbros_core.forces.body_force cimport body_gravity_body, body_wrench_body
from mbros_core.forces.bushing cimport ENERGY_CONSISTENT_LAW, QUATERNION_LAW, DRAKE_LAW, bushing_pair, bushing_springs
from mbros_core.forces.door_hinge cimport door_hinge_coordinate
from mbros_core.forces.element cimport ForceElement, ForceOut, Relative, Springs
from mbros_core.forces.joint_spring cimport joint_spring_coordinate
from mbros_core.forces.spring_damper cimport spring_damper_pair, spring_damper_springs
from mbros_core.forces.stribeck cimport stribeck_coordinate
from mbros_core.forces.user cimport mbros_user_force, user_pair

# The numbers of mbros_core.forces.registry; numbers and names are compared with it when the module is imported.
cdef enum ForceKind:
    BUSHING = 0
    BUSHING_ENERGY_CONSISTENT = 1
    SPRING_DAMPER = 2
    JOINT_SPRING = 3
    DOOR_HINGE = 4
    STRIBECK = 5
    BODY_WRENCH = 6
    BODY_GRAVITY = 7
    BUSHING_QUATERNION = 8
    USER_FORCE = 9


cdef inline dict force_kinds():
    """The kinds by the names of their rows."""
    return dict(
        bushing=BUSHING, bushing_energy_consistent=BUSHING_ENERGY_CONSISTENT, spring_damper=SPRING_DAMPER, joint_spring=JOINT_SPRING,
        door_hinge=DOOR_HINGE, stribeck=STRIBECK, body_wrench=BODY_WRENCH, body_gravity=BODY_GRAVITY, bushing_quaternion=BUSHING_QUATERNION,
        user=USER_FORCE)


cdef inline void evaluate_pair(const ForceElement* e, const real* par, const Relative* r, ForceOut* out) noexcept nogil:
    cdef int kind = e.kind
    if kind == USER_FORCE:
        user_pair(<const mbros_user_force*>e.user, r, out)
    elif kind == BUSHING:
        bushing_pair(par, r, DRAKE_LAW, out)
    elif kind == BUSHING_ENERGY_CONSISTENT:
        bushing_pair(par, r, ENERGY_CONSISTENT_LAW, out)
    elif kind == BUSHING_QUATERNION:
        bushing_pair(par, r, QUATERNION_LAW, out)
    else:
        spring_damper_pair(par, r, out)


cdef inline bint may_be_stiff(const ForceElement* e) noexcept nogil:
    """Whether it is a pair of springs and dampers."""
    return e.body_a >= 0 and e.iv < 0 and e.kind != USER_FORCE


cdef inline void evaluate_springs(const ForceElement* e, const real* par, const Relative* r, Springs* out) noexcept nogil:
    """Of what may be stiff."""
    cdef int kind = e.kind
    if kind == BUSHING:
        bushing_springs(par, r, DRAKE_LAW, out)
    elif kind == BUSHING_ENERGY_CONSISTENT:
        bushing_springs(par, r, ENERGY_CONSISTENT_LAW, out)
    elif kind == BUSHING_QUATERNION:
        bushing_springs(par, r, QUATERNION_LAW, out)
    else:
        spring_damper_springs(par, r, out)


cdef inline void largest_constants(const ForceElement* e, const real* par, real* stiffness, real* damping) noexcept nogil:
    """Of what may be stiff: of turning, and of moving."""
    if e.kind == SPRING_DAMPER:
        stiffness[0], stiffness[1] = real(0.0), par[1]
        damping[0], damping[1] = real(0.0), par[2]
        return
    stiffness[0], stiffness[1] = fmax(par[0], fmax(par[1], par[2])), fmax(par[6], fmax(par[7], par[8]))
    damping[0], damping[1] = fmax(par[3], fmax(par[4], par[5])), fmax(par[9], fmax(par[10], par[11]))


cdef inline void evaluate_coordinate(int kind, const real* par, real q, real v, ForceOut* out) noexcept nogil:
    if kind == JOINT_SPRING:
        joint_spring_coordinate(par, q, v, out)
    elif kind == DOOR_HINGE:
        door_hinge_coordinate(par, q, v, out)
    else:
        stribeck_coordinate(par, q, v, out)


cdef inline void evaluate_body(int kind, const real* par, const Relative* r, ForceOut* out) noexcept nogil:
    if kind == BODY_WRENCH:
        body_wrench_body(par, r, out)
    else:
        body_gravity_body(par, r, out)
