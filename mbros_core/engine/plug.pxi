# A plant in C: what it works on, and what the real-time loop calls of it (realtime/ports.hpp), without the GIL. Included before plant.pxi.

from libc.math cimport fabs as abs_double

from mbros_core.algorithms.forward_dynamics cimport prescribed
from mbros_core.plant.clamp cimport clamp_efforts
from mbros_core.plant.inside cimport mbros_devices, mbros_inside
from mbros_core.forces.contact cimport keep_contacts, put_contacts_back
from mbros_core.integrators.clock cimport counted_time, tick
from mbros_core.integrators.dormand_prince cimport TAKEN, TOO_SHORT
from mbros_core.integrators.laws cimport Laws
from mbros_core.integrators.substep cimport Adaptive, adaptive_doubles, place_adaptive
from mbros_core.integrators.prescribed cimport restart_motion
from mbros_core.joints.dispatch cimport turned_vdot, unturned_mean
from mbros_core.scalar.real cimport surely_below
from mbros_core.realtime.ports cimport mbros_memory, mbros_plant, mbros_range

PLANT_INTEGRATORS = {**INTEGRATORS, integrators.BY_ERROR: DORMAND_PRINCE}

cdef enum:
    TOUCHED = 9             # pieces of memory
    SEEN_TOUCHES = 32       # contact points in a snapshot; a state may have more

cdef enum Fault:
    NO_FAULT = 0
    BAD_STATE = 1

cdef struct JointRow:       # position = ratio * q[iq] + offset
    int iq
    int iv
    double ratio
    double offset
    int drives              # 1: its own coordinate, 0: follows another joint
    int pair                # 1: the coordinates are (cos, sin) and the position is their angle

cdef struct FramePair:
    int a
    int b

cdef struct Tunable:        # such an array of the state, and where it stands in the block of live parameters
    double* x
    int at
    int size

cdef struct Touched:        # memory that a step or an observation touches
    const void* begin
    size_t bytes

cdef struct PlantC:
    ModelC* m
    Work* s
    int* stage
    int integrator
    int nj
    int npairs
    int ntunables
    JointRow* joints
    FramePair* pairs
    Tunable* tunables
    double* effort_limit
    double* effort          # applied in the last step: of the state
    size_t moving_bytes     # of q, v and a_prev, side by side in the state, which has them twice: now, and before the last step
    int coordinates         # of q and v together, from q on
    double* seen            # a snapshot that is being made
    int snapshot_size
    int seen_touches        # contact points that a snapshot has room for; 0 for a model without shapes
    int most_iterations     # of a step's convex problem
    double clamped
    int fault
    int fault_index
    const mbros_devices* devices    # what stands between commands and the mechanics, or NULL
    Touched[TOUCHED] touched
    Adaptive adaptive       # of dormand_prince
    Work* looking           # the state's, but for q, v, a_prev: what the joints carry is found there (carried.pxi)
    bint kept               # whether kinematics and applied wrenches are still those with which the last step took its forces


cdef bint is_pair(const ModelC* m, int iq) noexcept nogil:
    """Whether position coordinate iq begins the (cos, sin) of a circular joint."""
    cdef int i
    for i in range(1, m.nb):
        if m.joints[i].iq == iq and m.joints[i].nq == 2 and m.joints[i].nv == 1:
            return True
    return False


cdef int larger_effort(const PlantC* c, int a, int b) noexcept nogil:
    return b if a < 0 or abs_double(c.effort[b]) > abs_double(c.effort[a]) else a


cdef int bad_coordinate(const PlantC* c) noexcept nogil:
    """The velocity coordinate that blew up, or -1; of several, the one with the largest effort.

    A position without a velocity of its own (a quaternion's) points at its joint's first."""
    cdef ModelC* m = c.m
    cdef const Joint* j
    cdef int i, k
    cdef int worst = -1
    for i in range(1, m.nb):
        j = &m.joints[i]
        if j.follows:
            continue
        for k in range(j.nv):
            if not abs_double(value(c.s.v[j.iv + k])) < LARGEST:
                worst = larger_effort(c, worst, j.iv + k)
        for k in range(j.nq):
            if not abs_double(value(c.s.q[j.iq + k])) < LARGEST:
                worst = larger_effort(c, worst, j.iv + (k if k < j.nv else 0))
    return worst


cdef int advance(PlantC* c, const double* tau, double dt) noexcept nogil:
    cdef int bad
    if c.fault != NO_FAULT:
        return c.fault
    memcpy(c.s.q_before, c.s.q, c.moving_bytes)
    c.s.last_step[0], c.s.last_step[1] = real(dt), real(1.0 + c.integrator)
    if c.m.scene != NULL:
        c.s.contacts.most_iterations = c.most_iterations
        keep_contacts(c.m, c.s)
    if c.integrator == DORMAND_PRINCE:
        dormand_prince(c.m, c.s, <const real*>tau, &c.adaptive, dt, -1.0)
    else:
        step(c.m, c.s, <const real*>tau, real(dt), c.integrator)
    c.stage[0] = STAGE_NONE
    bad = -1 if surely_below(<const double*>c.s.q, c.coordinates, LARGEST) else bad_coordinate(c)
    if bad >= 0:
        memcpy(c.s.q, c.s.q_before, c.moving_bytes)
        if c.m.scene != NULL:
            put_contacts_back(c.m, c.s)
        c.s.last_step[0] = real(0.0)
        c.fault, c.fault_index = BAD_STATE, bad
    else:
        tick(c.s, dt)
    return c.fault


cdef int plant_step(void* self, const double* command, double dt) noexcept nogil:
    """Through the devices, where there are some by now: a loop has had this function since it was made."""
    cdef PlantC* c = <PlantC*>self
    if c.fault != NO_FAULT:
        return c.fault
    if c.devices != NULL:
        return c.devices.step(c.devices.self, command, dt)
    clamp_efforts(c.m.nv, command, c.effort_limit, c.effort, &c.clamped)
    return advance(c, c.effort, dt)


cdef int plant_advance(void* self, const double* tau, double dt) noexcept nogil:
    """A step under efforts that nothing clamps: their limits are the devices' own (plant/inside.hpp). Code compiled for one robot leaves
    nothing of its way in the state, and what evaluates several times leaves the last."""
    cdef PlantC* c = <PlantC*>self
    c.kept = c.m.kernels == NULL and (c.integrator == MIDPOINT or c.integrator == SEMI_IMPLICIT_EULER)
    return advance(c, tau, dt)


cdef void plant_mean_accelerations(void* self, const double* q, const double* v, double dt, double* a) noexcept nogil:
    """From q and v to the present ones in dt."""
    cdef PlantC* c = <PlantC*>self
    cdef const Joint* j
    cdef int i
    for i in range(1, c.m.nb):
        j = &c.m.joints[i]
        if not j.follows:
            unturned_mean(j, <const real*>q + j.iq, <const real*>v + j.iv, c.s.q + j.iq, c.s.v + j.iv, real(dt), <real*>a + j.iv)


cdef void plant_kinematics(void* self, const double* a) noexcept nogil:
    """X_WB, V_WB and, for accelerations a as above, A_WB of the present q and v."""
    cdef PlantC* c = <PlantC*>self
    cdef const Joint* j
    cdef int i
    positions(c.m, c.s)
    velocities(c.m, c.s)
    if a != NULL:
        for i in range(1, c.m.nb):
            j = &c.m.joints[i]
            if not j.follows:
                turned_vdot(j, c.s.q + j.iq, c.s.v + j.iv, <const real*>a + j.iv, c.s.vdot + j.iv)
        accelerations(c.m, c.s.vdot, c.s)
    c.kept = False
    c.stage[0] = STAGE_NONE


include "snapshot.pxi"


cdef void plant_stop(void* self) noexcept nogil:
    """For devices, which lock coordinates."""
    cdef PlantC* c = <PlantC*>self
    come_to_rest(c.m, c.s)
    c.kept = False
    c.stage[0] = STAGE_NONE


cdef void plant_set_parameters(void* self, const double* block) noexcept nogil:
    """All of them; a coordinate that is locked now stops at once."""
    cdef PlantC* c = <PlantC*>self
    cdef int i
    for i in range(c.ntunables):
        memcpy(c.tunables[i].x, block + c.tunables[i].at, c.tunables[i].size * sizeof(double))
    come_to_rest(c.m, c.s)
    c.stage[0] = STAGE_NONE


cdef inline int write_given(real* x, const double* given, int n) noexcept nogil:
    """Write the numbers that are not NaN; how many there were."""
    cdef int i, count = 0
    for i in range(n):
        if given[i] == given[i]:
            x[i] = real(given[i])
            count += 1
    return count


cdef void plant_set_state(void* self, const double* state) noexcept nogil:
    """Those coordinates of (q, v) that are not NaN, whose joints then have no last step; time goes on. Nothing while in fault: a reset
    leads out of it."""
    cdef PlantC* c = <PlantC*>self
    cdef const Joint* j
    cdef int i, given
    if c.fault != NO_FAULT:
        return
    for i in range(1, c.m.nb):
        j = &c.m.joints[i]
        if not j.follows:
            given = write_given(c.s.v + j.iv, state + c.m.nq + j.iv, j.nv)
            if write_given(c.s.q + j.iq, state + j.iq, j.nq):
                normalize(j, c.s.q + j.iq)
                given = 1
            if given:
                memset(c.s.a_prev + j.iv, 0, j.nv * sizeof(double))
                forget_contacts(c.m, c.s)
                c.s.last_step[0] = real(0.0)
                if prescribed(j, c.s):
                    restart_motion(j, c.s)
    hold_locked(c.m, c.s)
    c.stage[0] = STAGE_NONE


cdef void plant_tell(void* self, mbros_range say, void* to) noexcept nogil:
    """Everything that a step touches: plant, state and model; of what users wrote, the plug and the code."""
    cdef PlantC* c = <PlantC*>self
    cdef const mbros_user_joint* joint
    cdef const mbros_user_force* element
    cdef int k
    for k in range(TOUCHED):
        if c.touched[k].bytes:
            say(to, c.touched[k].begin, c.touched[k].bytes)
    if c.devices != NULL:
        say(to, <const void*>c.devices.step, 0)
        for k in range(c.devices.npieces):
            say(to, c.devices.pieces[k].begin, c.devices.pieces[k].bytes)
    if c.m.kernels != NULL:
        say(to, c.m.kernels, sizeof(Kernels))
        say(to, c.m.kernels.pieces, c.m.kernels.npieces * sizeof(Piece))
        for k in range(c.m.kernels.npieces):
            say(to, c.m.kernels.constants + c.m.kernels.pieces[k].at, c.m.kernels.pieces[k].n * sizeof(real))
        if c.m.kernels.of[FIRST_STEP + c.integrator] != NULL:
            say(to, <const void*>c.m.kernels.of[FIRST_STEP + c.integrator], 0)
    if c.m.scene != NULL:
        say(to, <const void*>c.m.scene.solve, 0)
        say(to, <const void*>c.m.scene.hold, 0)
    for k in range(c.m.nb):
        joint = <const mbros_user_joint*>c.m.joints[k].user
        if joint != NULL:
            say(to, joint, sizeof(mbros_user_joint))
            say(to, <const void*>joint.evaluate, 0)
    for k in range(c.m.ne):
        element = <const mbros_user_force*>c.m.elements[k].user
        if element != NULL:
            say(to, element, sizeof(mbros_user_force))
            say(to, <const void*>element.evaluate, 0)


cdef void plant_reset(void* self, const double* state) noexcept nogil:
    cdef PlantC* c = <PlantC*>self
    cdef int i
    memcpy(c.s.q, state, c.m.nq * sizeof(double))
    memcpy(c.s.v, state + c.m.nq, c.m.nv * sizeof(double))
    forget_last_step(c.m, c.s)
    bring_back(c.m, c.s.q, NULL)
    memset(c.effort, 0, c.m.nv * sizeof(double))
    c.s.time[0] = c.s.clock[0] = c.s.clock[1] = real(0.0)
    c.clamped = 0.0
    c.fault = NO_FAULT
    c.fault_index = -1
    for i in range(1, c.m.nb):
        if prescribed(&c.m.joints[i], c.s):
            restart_motion(&c.m.joints[i], c.s)
    hold_locked(c.m, c.s)
    c.stage[0] = STAGE_NONE
    if c.devices != NULL:
        c.devices.reset(c.devices.self)
