"""The one switch over force-element kinds."""
from mbros_core.scalar.real cimport fmax, real
from mbros_core.forces.body_force cimport (BodyGravityNumbers, BodyWrenchNumbers, body_gravity_body, body_gravity_slopes, body_wrench_body,
                                           body_wrench_slopes)
from mbros_core.forces.bushing cimport (BushingLaw, BushingNumbers, DRAKE_LAW, ENERGY_CONSISTENT_LAW, QUATERNION_LAW, bushing_pair,
                                        bushing_springs)
from mbros_core.forces.bushing_slopes cimport bushing_slopes
from mbros_core.forces.door_hinge cimport DoorHingeNumbers, door_hinge_coordinate, door_hinge_slopes
from mbros_core.forces.element cimport ForceElement, ForceOut, Relative, Springs
from mbros_core.forces.joint_spring cimport JointSpringNumbers, joint_spring_coordinate, joint_spring_slopes
from mbros_core.forces.spring_damper cimport SpringDamperNumbers, spring_damper_pair, spring_damper_slopes, spring_damper_springs
from mbros_core.forces.stribeck cimport StribeckNumbers, stribeck_coordinate, stribeck_slopes
from mbros_core.forces.user cimport mbros_user_force, user_pair
from mbros_core.spatial cimport Vec3

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


cdef inline BushingLaw law_of(int kind) noexcept nogil:
    """Of a bushing."""
    if kind == BUSHING:
        return DRAKE_LAW
    return ENERGY_CONSISTENT_LAW if kind == BUSHING_ENERGY_CONSISTENT else QUATERNION_LAW


cdef inline void evaluate_pair(const ForceElement* e, const real* par, const Relative* r, ForceOut* out) noexcept nogil:
    cdef int kind = e.kind
    if kind == USER_FORCE:
        user_pair(<const mbros_user_force*>e.user, r, out)
    elif kind == SPRING_DAMPER:
        spring_damper_pair(<const SpringDamperNumbers*>par, r, out)
    else:
        bushing_pair(<const BushingNumbers*>par, r, law_of(kind), out)             # in one place for all laws: it stands here in full


cdef inline bint may_be_stiff(const ForceElement* e) noexcept nogil:
    """Whether it is a pair of springs and dampers."""
    return e.body_a >= 0 and e.iv < 0 and e.kind != USER_FORCE


cdef inline void evaluate_springs(const ForceElement* e, const real* par, const Relative* r, Springs* out) noexcept nogil:
    """Of what may be stiff."""
    cdef int kind = e.kind
    if kind == BUSHING:
        bushing_springs(<const BushingNumbers*>par, r, DRAKE_LAW, out)
    elif kind == BUSHING_ENERGY_CONSISTENT:
        bushing_springs(<const BushingNumbers*>par, r, ENERGY_CONSISTENT_LAW, out)
    elif kind == BUSHING_QUATERNION:
        bushing_springs(<const BushingNumbers*>par, r, QUATERNION_LAW, out)
    else:
        spring_damper_springs(<const SpringDamperNumbers*>par, r, out)


cdef inline real largest(Vec3 a) noexcept nogil:
    return fmax(a.x, fmax(a.y, a.z))


cdef inline void largest_constants(const ForceElement* e, const real* par, real* stiffness, real* damping) noexcept nogil:
    """Of what may be stiff: of turning, and of moving."""
    cdef const BushingNumbers* n = <const BushingNumbers*>par
    if e.kind == SPRING_DAMPER:
        stiffness[0], stiffness[1] = real(0.0), (<const SpringDamperNumbers*>par).stiffness
        damping[0], damping[1] = real(0.0), (<const SpringDamperNumbers*>par).damping
        return
    stiffness[0], stiffness[1] = largest(n.torque_stiffness), largest(n.force_stiffness)
    damping[0], damping[1] = largest(n.torque_damping), largest(n.force_damping)


cdef inline void evaluate_coordinate(int kind, const real* par, real q, real v, ForceOut* out) noexcept nogil:
    if kind == JOINT_SPRING:
        joint_spring_coordinate(<const JointSpringNumbers*>par, q, v, out)
    elif kind == DOOR_HINGE:
        door_hinge_coordinate(<const DoorHingeNumbers*>par, q, v, out)
    else:
        stribeck_coordinate(<const StribeckNumbers*>par, q, v, out)


cdef inline void coordinate_slopes(int kind, const real* par, real q, real v, real* by_q, real* by_v) noexcept nogil:
    """d tau/d q and d tau/d v, of kinds that have them."""
    if kind == JOINT_SPRING:
        joint_spring_slopes(<const JointSpringNumbers*>par, by_q, by_v)
        return
    if kind == DOOR_HINGE:
        door_hinge_slopes(<const DoorHingeNumbers*>par, q, v, by_q, by_v)
        return
    stribeck_slopes(<const StribeckNumbers*>par, v, by_q, by_v)


cdef inline bint has_coordinate_slopes(int kind) noexcept nogil:
    """Models with an element on a coordinate without are differentiated over dual numbers."""
    return kind == JOINT_SPRING or kind == DOOR_HINGE or kind == STRIBECK


cdef inline bint has_constant_slopes(int kind) noexcept nogil:
    """Whether they are the same at all q and v, as the analytic derivatives of a midpoint step need them."""
    return kind == JOINT_SPRING


cdef inline void evaluate_body(int kind, const real* par, const Relative* r, ForceOut* out) noexcept nogil:
    if kind == BODY_WRENCH:
        body_wrench_body(<const BodyWrenchNumbers*>par, r, out)
    else:
        body_gravity_body(<const BodyGravityNumbers*>par, r, out)


cdef inline bint has_wrench_slopes(int kind) noexcept nogil:
    """Of pairs and of what acts on bodies: likewise."""
    return (kind == SPRING_DAMPER or kind == BUSHING or kind == BUSHING_ENERGY_CONSISTENT or kind == BUSHING_QUATERNION
            or kind == BODY_WRENCH or kind == BODY_GRAVITY)


cdef inline void wrench_slopes(int kind, const real* par, const Relative* r, real* along, int blocks) noexcept nogil:
    """Of kinds that have them (element.pxd)."""
    if kind == BUSHING:
        bushing_slopes(<const BushingNumbers*>par, r, DRAKE_LAW, along, blocks)
    elif kind == BUSHING_ENERGY_CONSISTENT:
        bushing_slopes(<const BushingNumbers*>par, r, ENERGY_CONSISTENT_LAW, along, blocks)
    elif kind == BUSHING_QUATERNION:
        bushing_slopes(<const BushingNumbers*>par, r, QUATERNION_LAW, along, blocks)
    elif kind == BODY_WRENCH:
        body_wrench_slopes(<const BodyWrenchNumbers*>par, r, along, blocks)
    elif kind == BODY_GRAVITY:
        body_gravity_slopes(<const BodyGravityNumbers*>par, r, along, blocks)
    else:
        spring_damper_slopes(<const SpringDamperNumbers*>par, r, along, blocks)
