"""Time steps on the configuration manifold.

semi_implicit_euler   v+ = v + h vdot(q, v),  q+ = q (+) h v+ (free bodies: in the world's axes). Damping, friction and stops
                      are taken at the end of the step to first order (they join the diagonal of M), so that a stiff one cannot make the
                      step unstable; friction exactly.
                      First order, one force evaluation. Where M depends on q, or bodies spin, it gains energy in proportion to h.
midpoint              Moreau's midpoint step (Moreau 1988): q_h = q (+) h/2 v, v_h = v + h/2 a_prev, v+ = v + h vdot(q_h, v_h),
                      q+ = q_h (+) h/2 v+, a_prev = (v+ - v) / h. Damping and springs are trapezoidal where soft and implicit where stiff,
                      stops implicit, friction exact (joint_friction.pxd). Free bodies are stepped by their momenta. Second order, one
                      force evaluation.
rk4                   Classical Runge-Kutta (Kutta 1901) on qdot = N(q) v, vdot; quaternions are then brought back to the
                      unit sphere, whose distance is of the order of the method's own error. Fourth order; four evaluations.
                      With constraints these are met by the accelerations, and by q and v after the step (constraints/hold.pxd).
"""
from mbros_core.scalar.real cimport OF_NODES, copy, real, value
from mbros_core.algorithms.kinematics cimport positions, velocities
from mbros_core.constraints.hold cimport AN_ACCELERATION, A_POSITION, A_VELOCITY
from mbros_core.groups.configuration cimport bring_back, euler, move, rates, to_the_end, to_the_middle
from mbros_core.constraints.touch cimport COUNT_OF_HEAD, LOST, UNSOLVED
from mbros_core.forces.contact cimport stamp_contacts
from mbros_core.forces.stiff cimport forget_implicit, note_explicit
from mbros_core.integrators.joint_friction cimport accelerate_with_friction, come_to_hold, rubs
from mbros_core.integrators.prescribed cimport begin_midpoint, begin_step, count_lanes, end_step, follow, time_after
from mbros_core.engine.state cimport Kernel, LOCKED, ModelC, Work
from mbros_core.algorithms.kernels cimport FIRST_STEP, kernel_for
from mbros_core.algorithms.equation_of_motion cimport implicit_vdot_under, midpoint_vdot_under, vdot_under

cdef enum Integrator:
    MIDPOINT = 0
    SEMI_IMPLICIT_EULER = 1
    RK4 = 2


cdef inline void semi_implicit_euler(const ModelC* m, Work* s, const real* tau, real h) noexcept nogil:
    cdef bint touching = m.scene != NULL and (m.ns or m.nk)
    cdef bint rubbing = not OF_NODES and rubs(m, s)
    if m.scene != NULL and not touching:
        forget_implicit(m, s)
    if rubbing:
        accelerate_with_friction(m, s, tau, s.v, s.vdot, h, False, touching)
    else:
        implicit_vdot_under(m, tau, h, s.vdot, s)
        if touching:
            m.touch(m, s, s.v, s.vdot, h, h, 0.5)
    euler(m, s.q, s.v, s.vdot, s.lock, h)
    if rubbing:
        come_to_hold(m, s, s.v)


cdef inline void midpoint(const ModelC* m, Work* s, const real* tau, real h) noexcept nogil:
    cdef bint rubbing = not OF_NODES and rubs(m, s)
    copy(s.stage_q, s.q, m.nq)
    copy(s.stage_v, s.v, m.nv)
    to_the_middle(m, s.q, s.v, s.inertia, s.lock, h)
    if rubbing:
        accelerate_with_friction(m, s, tau, s.stage_v, s.a_prev, h, True, m.scene != NULL)
    else:
        midpoint_vdot_under(m, tau, h, s.a_prev, s)
        if m.scene != NULL:
            m.touch(m, s, s.stage_v, s.a_prev, h, 0.5 * h, 0.375)
    to_the_end(m, s.stage_q, s.q, s.stage_v, s.v, s.a_prev, s.inertia, s.lock, h)
    if rubbing:
        come_to_hold(m, s, s.v)


cdef inline void prescribed_step(const ModelC* m, Work* s, const real* tau, real h, int integrator) noexcept nogil:
    """A step where some joints are prescribed. midpoint leaves in a_given, over which it goes, what rk4 does not."""
    cdef real t = time_after(s, h)
    if integrator == RK4:
        rk4(m, s, tau, h, t, True)
        follow(m, s, t)
        count_lanes(s)
        return
    if m.scene != NULL:
        s.contacts.some_given = True
    if integrator == MIDPOINT:
        begin_midpoint(m, s, t, h)
        midpoint(m, s, tau, h)
    else:
        begin_step(m, s, t, h)
        semi_implicit_euler(m, s, tau, h)
    if m.scene != NULL:
        s.contacts.some_given = False
    end_step(m, s, t)


cdef inline void slopes(const ModelC* m, Work* s, const real* tau, int stage, real t, bint given) noexcept nogil:
    """qdot and vdot at the state in s, into row `stage` of the tableau. given: some joints are prescribed; t: the time of the stage."""
    if given:
        follow(m, s, t)
    vdot_under(m, tau, s.stage_v + (stage + 2) * m.nv, s)
    if m.scene != NULL and m.nk:
        m.hold(m, s, s.stage_v + (stage + 2) * m.nv, AN_ACCELERATION, True)
    rates(m, s.q, s.v, s.stage_qdot + stage * m.nq)


cdef inline void trial(const ModelC* m, Work* s, int stage, real h) noexcept nogil:
    """State = start + h * slope `stage`; the start is in row 0 of stage_q and stage_v."""
    cdef int i
    for i in range(m.nq):
        s.q[i] = s.stage_q[i] + h * s.stage_qdot[stage * m.nq + i]
    for i in range(m.nv):
        s.v[i] = s.stage_v[i] + h * s.stage_v[(stage + 2) * m.nv + i]


cdef inline void rk4(const ModelC* m, Work* s, const real* tau, real h, real t, bint given) noexcept nogil:
    """given: some joints are prescribed; t: the time at the end."""
    cdef int i
    cdef int nq = m.nq
    cdef int nv = m.nv
    cdef real* kq = s.stage_qdot
    cdef real* kv = s.stage_v + 2 * nv
    cdef real sixth = h * real(1.0 / 6.0)
    copy(s.stage_q, s.q, nq)
    copy(s.stage_v, s.v, nv)
    slopes(m, s, tau, 0, t - h, given)
    trial(m, s, 0, 0.5 * h)
    slopes(m, s, tau, 1, t - 0.5 * h, given)
    trial(m, s, 1, 0.5 * h)
    slopes(m, s, tau, 2, t - 0.5 * h, given)
    trial(m, s, 2, h)
    slopes(m, s, tau, 3, t, given)
    for i in range(nq):
        s.q[i] = s.stage_q[i] + sixth * (kq[i] + 2.0 * (kq[nq + i] + kq[2 * nq + i]) + kq[3 * nq + i])
    for i in range(nv):
        s.v[i] = s.stage_v[i] + sixth * (kv[i] + 2.0 * (kv[nv + i] + kv[2 * nv + i]) + kv[3 * nv + i])
    if given:
        follow(m, s, t)
    bring_back(m, s.q, s.lock)
    if m.scene != NULL and m.nk:
        close_constraints(m, s)


cdef inline void close_constraints(const ModelC* m, Work* s) noexcept nogil:
    """The nearest q and v that keep the constraints, nearest in the metric of M: twice a Newton step in q, then v."""
    cdef int i
    cdef int k
    for k in range(2):
        positions(m, s)
        velocities(m, s)
        for i in range(m.nv):
            s.vdot[i] = real(0.0)
        m.hold(m, s, s.vdot, A_POSITION, False)
        copy(s.stage_q, s.q, m.nq)
        move(m, s.stage_q, s.vdot, s.q)
    positions(m, s)
    velocities(m, s)
    m.hold(m, s, s.v, A_VELOCITY, False)


cdef inline void forget_contacts(const ModelC* m, Work* s) noexcept nogil:
    """No step led to this state, as far as contacts know. What was counted since the start stays."""
    cdef int k
    if m.nt:
        for k in range(COUNT_OF_HEAD):
            if k != LOST and k != UNSOLVED:
                s.contact_memory[k] = real(0.0)


cdef inline void forget_last_step(const ModelC* m, Work* s) noexcept nogil:
    """No step led to this state."""
    cdef int i
    for i in range(m.nv):
        s.a_prev[i] = real(0.0)
    s.last_step[0] = s.last_step[1] = real(0.0)
    forget_contacts(m, s)
    if m.nt:
        s.contact_memory[LOST] = s.contact_memory[UNSOLVED] = real(0.0)


cdef inline bint hold_locked(const ModelC* m, Work* s) noexcept nogil:
    """A locked coordinate stands still, whatever was written into its velocity. Whether some coordinate is prescribed."""
    cdef bint given = False
    cdef int i
    for i in range(m.nv):
        if value(s.lock[i]) != 0.0:
            if value(s.lock[i]) > LOCKED:
                given = True
            else:
                s.v[i] = s.a_prev[i] = real(0.0)
    return given


cdef inline void step(const ModelC* m, Work* s, const real* tau, real h, int integrator) noexcept nogil:
    """Advance q and v by h under constant tau; time is the caller's (clock.pxd)."""
    cdef Kernel kernel = kernel_for(m, s, FIRST_STEP + integrator)
    if kernel != NULL and (integrator == RK4 or not rubs(m, s)):
        kernel(s, tau, NULL, value(h))
        return
    if m.nsprings and integrator == RK4:
        note_explicit(m, s)
    if hold_locked(m, s):
        prescribed_step(m, s, tau, h, integrator)
    elif integrator == RK4:
        rk4(m, s, tau, h, h, False)
    elif integrator == MIDPOINT:
        midpoint(m, s, tau, h)
    else:
        semi_implicit_euler(m, s, tau, h)
    if m.scene != NULL:
        stamp_contacts(m, s)
