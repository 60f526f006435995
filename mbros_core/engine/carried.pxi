# What joints carried in the step that a plant has just made, for devices (plant/inside.hpp): reactions.pxi, in the state's own memory but
# for q, v and a_prev. What the step computed on its way is still there, and is used: its kinematics and applied wrenches, and, where it led
# on as its forward dynamics said, their accelerations. For sensors, which ask for no efforts, that leaves equation (1) of the bodies beyond
# them. Only the double modules include this file.

cdef inline bint accelerations_kept(const PlantC* c) noexcept nogil:
    """Whether A_WB is still that of the step's forward dynamics, and neither contact nor constraints nor stiff springs changed it."""
    if not c.kept or c.m.shared:
        return False
    return c.m.scene == NULL or (c.m.nk == 0 and c.m.nsprings == 0 and c.s.contacts.touches[0] == 0)


cdef int plant_carried(void* self) noexcept nogil:
    cdef PlantC* c = <PlantC*>self
    c.stage[0] = STAGE_NONE
    if not back_to_forces(c.m, c.s, c.looking):
        return 0
    if not c.kept:
        act_there(c.m, c.looking)
    find_reactions(c.m, c.looking)
    return 1


cdef inline bint some_of(const int* bodies, int n) noexcept nogil:
    cdef int i
    for i in range(1, n):
        if bodies[i]:
            return True
    return False


cdef void find_wrenches(const ModelC* m, Work* w, const int* bodies) noexcept nogil:
    """Equation (1) of these bodies, with all that is beyond them, into w.F. Kinematics, accelerations and applied wrenches are in place."""
    cdef int i, parent
    for i in range(1, m.nb):
        if bodies[i]:
            newton_euler_step(i, w)
            w.F[i] = w.F[i] - w.applied[i]
    if m.scene != NULL:
        take_off_contacts(m, w)
        take_off_springs(m, w)
    for i in range(m.nb - 1, 0, -1):
        parent = m.joints[i].parent
        if parent > 0 and bodies[parent]:
            w.F[parent] = w.F[parent] + shift_force(w.F[i], w.p_PB_W[i])


cdef int plant_wrenches(void* self, const int* bodies) noexcept nogil:
    cdef PlantC* c = <PlantC*>self
    cdef const ModelC* m = c.m
    cdef Work* w = c.looking
    cdef int i
    c.stage[0] = STAGE_NONE
    if not accelerations_kept(c):
        if not back_to_forces(m, c.s, w):
            return 0
        if not c.kept:
            act_there(m, w)
        w.A_WB[0] = motion(zero3(), -w.gravity[0])
        for i in range(1, m.nb):
            acceleration_step(&m.joints[i], i, w.vdot, w)
    if some_of(bodies, m.nb):
        find_wrenches(m, w, bodies)
    return 1
