# What joints carry, found again from what a step leaves in the state: nothing is computed in the step. Only the double modules include
# this file.
#
# A state keeps where its last step began (q_before, v_before, a_before). From there the step's own functions lead to the configuration at
# which it took its forces; the accelerations are those that lead from v_before to v. Then, from the leaves to the root (the recursive
# Newton-Euler algorithm; Featherstone 2008, section 5.3, where F is f_i of his),
#
#     F_B = M_B A_WB + gyroscopic(M_B, w) - F_applied - F_contact - F_constraint + sum of shift(F_C) over the children          (1)
#
# F_contact and F_constraint are impulses of the last step over h: of the solution that moved the robot.

from libc.math cimport INFINITY

from mbros_core.constraints.constraint cimport Constraint, number_of
from mbros_core.constraints.coupler cimport OF_A, RATIO
from mbros_core.constraints.robot cimport body_frame
from mbros_core.constraints.touch cimport EFFORT, TORQUE, WRENCH
from mbros_core.forces.dispatch cimport may_be_stiff
from mbros_core.forces.element cimport ForceElement, PARAMETERS
from mbros_core.forces.stiff cimport Rows, rows_in_world, vec_in
from mbros_core.geometry.vec cimport place as place_point
from mbros_core.groups.configuration cimport euler, stays, to_the_end, to_the_middle
from mbros_core.algorithms.inverse_dynamics cimport gather_forces, newton_euler_step
from mbros_core.algorithms.kinematics cimport acceleration_step
from mbros_core.integrators.prescribed cimport begin_midpoint, begin_step, follow, motion_at
from mbros_core.joints.joint cimport MAX_NQ, MAX_NV
from mbros_core.spatial cimport Mat3, force, motion, rotate, shift_force
from mbros_core.engine.state cimport DYNAMIC, LOCKED, PRESCRIBED

cdef enum:
    MOST_LOOKS = 60             # for the accelerations; each look gains the digits of h times the body's spin

cdef double SAME = 1e-9         # of q and v: they are those that the step led to


cdef bint same(const double* a, const double* b, int n) noexcept nogil:
    cdef int k
    for k in range(n):
        if not abs_double(a[k] - b[k]) <= SAME * (1.0 + abs_double(b[k])):
            return False
    return True


cdef bint back_to_rk4(const ModelC* m, const Work* s, Work* w, double h) noexcept nogil:
    """The last of the four evaluations, at which constraints were noted: its q, v and vdot, of the step taken again. w: where it began."""
    cdef int i, nq = m.nq, nv = m.nv
    w.clock[1] = real(value(w.clock[1]) - 1.0)
    w.time[0] = real(counted_time(value(w.clock[0]), value(w.clock[1]), h))
    step(m, w, s.effort, real(h), RK4)
    if not (same(<double*>w.q, <double*>s.q, nq) and same(<double*>w.v, <double*>s.v, nv)):
        return False
    for i in range(nq):
        w.q[i] = s.q_before[i] + real(h) * w.stage_qdot[2 * nq + i]
    for i in range(nv):
        w.v[i] = w.stage_v[i] + real(h) * w.stage_v[4 * nv + i]
        w.vdot[i] = w.stage_v[5 * nv + i]
        if value(w.lock[i]) == LOCKED:
            w.v[i] = real(0.0)
    follow(m, w, s.time[0])
    return True


cdef bint at_the_end(const ModelC* m, const Work* s, Work* w) noexcept nogil:
    """Of a step by the error: its end, whose accelerations it left in a_prev."""
    copy_reals(w.q, s.q, m.nq)
    copy_reals(w.v, s.v, m.nv)
    follow(m, w, s.time[0])
    vdot_under(m, s.effort, w.vdot, w)
    if m.nk:
        with_constraints(m, w, w.vdot, AN_ACCELERATION, False)
    return same(<double*>w.vdot, <double*>s.a_prev, m.nv)


cdef void lead_on(const ModelC* m, const Work* s, Work* w, double h, bint midpoint, double* q, double* v, double* a) noexcept nogil:
    """From where forces were taken, in w, to q and v at the end, under w.vdot."""
    copy_reals(<real*>q, w.q, m.nq)
    copy_reals(<real*>v, w.v, m.nv)
    copy_reals(<real*>a, w.vdot, m.nv)
    if midpoint:
        to_the_end(m, s.q_before, <real*>q, w.stage_v, <real*>v, <real*>a, s.inertia, s.lock, real(h))
    else:
        euler(m, <real*>q, <real*>v, <real*>a, s.lock, real(h))


cdef bint find_accelerations(const ModelC* m, const Work* s, Work* w, double h, bint midpoint) noexcept nogil:
    """w.vdot that leads to s.v; whether it leads to s.q as well. Bodies that spin change their velocities by more than h vdot."""
    cdef double* q = <double*>w.stage_qdot
    cdef double* v = <double*>(w.stage_v + m.nv)
    cdef double* a = v + m.nv
    cdef double miss, before = INFINITY
    cdef const Joint* j
    cdef int i, k, look
    for i in range(m.nv):
        w.vdot[i] = (s.v[i] - w.stage_v[i]) / real(h)
    for look in range(MOST_LOOKS):
        lead_on(m, s, w, h, midpoint, q, v, a)
        miss = 0.0
        for i in range(1, m.nb):
            j = &m.joints[i]
            if not stays(j, s.lock):
                for k in range(j.iv, j.iv + j.nv):
                    miss = max(miss, abs_double(value(s.v[k]) - v[k]))
        if miss == 0.0 or not miss < before:
            break
        before = miss
        for i in range(1, m.nb):
            j = &m.joints[i]
            if not stays(j, s.lock):
                for k in range(j.iv, j.iv + j.nv):
                    w.vdot[k] = w.vdot[k] + (s.v[k] - real(v[k])) / real(h)
    for i in range(1, m.nb):
        j = &m.joints[i]
        if j.nv and not j.follows and not prescribed(j, s):
            if not (same(q + j.iq, <double*>s.q + j.iq, j.nq) and (stays(j, s.lock) or same(v + j.iv, <double*>s.v + j.iv, j.nv))):
                return False
    return True


cdef bint is_on_its_motion(const ModelC* m, const Work* s) noexcept nogil:
    """Whether all prescribed joints are where their motion leads: else it was given anew."""
    cdef const Joint* j
    cdef real q[MAX_NQ]
    cdef real v[MAX_NV]
    cdef real a[MAX_NV]
    cdef int i
    for i in range(1, m.nb):
        j = &m.joints[i]
        if prescribed(j, s):
            motion_at(j, s, s.time[0], q, v, a)
            if not (same(<double*>q, <double*>s.q + j.iq, j.nq) and same(<double*>v, <double*>s.v + j.iv, j.nv)):
                return False
    return True


cdef bint back_to_forces(const ModelC* m, const Work* s, Work* w) noexcept nogil:
    """q, v and vdot of w become those at which the last step of s took its forces. False where no step led to s."""
    cdef double h = value(s.last_step[0])
    cdef int scheme = <int>value(s.last_step[1]) - 1
    cdef bint given
    cdef int i
    if not h > 0.0 or not is_on_its_motion(m, s):
        return False
    memcpy(w.q, s.q_before, <char*>(s.a_prev + m.nv) - <char*>s.q)
    given = hold_locked(m, w)
    if scheme == DORMAND_PRINCE:
        return at_the_end(m, s, w)
    if scheme == RK4:
        return back_to_rk4(m, s, w, h)
    copy_reals(w.stage_v, w.v, m.nv)
    if scheme == SEMI_IMPLICIT_EULER:
        if given:
            begin_step(m, w, s.time[0], real(h))
    else:
        if given:
            begin_midpoint(m, w, s.time[0], real(h))
        to_the_middle(m, w.q, w.v, w.inertia, w.lock, real(h))
        for i in range(m.nv):
            w.v[i] = w.v[i] + real(0.5 * h) * w.a_prev[i]
    if not find_accelerations(m, s, w, h, scheme == MIDPOINT):
        return False
    for i in range(m.nv):
        if value(s.lock[i]) != DYNAMIC:
            w.vdot[i] = w.a_given[i] if value(s.lock[i]) == PRESCRIBED else real(0.0)
    return True


cdef inline Vec3 in_engine(Vec x) noexcept nogil:
    return vec3(real(x.x), real(x.y), real(x.z))


cdef Force about(const Robot* r, int body, Vec torque, Vec pull, Vec point) noexcept nogil:
    """A wrench at a point as one about the origin of a body."""
    cdef Vec arm = point - body_frame(r, body).p
    return shift_force(force(in_engine(torque), in_engine(pull)), in_engine(arm))


cdef void take_off(const Robot* r, Work* w, int a, int b, Vec torque, Vec pull, Vec point) noexcept nogil:
    """A wrench on body b, and its opposite on a, is not carried by their joints."""
    w.F[b] = w.F[b] - about(r, b, torque, pull, point)
    w.F[a] = w.F[a] + about(r, a, torque, pull, point)


cdef void take_off_contacts(const ModelC* m, Work* w) noexcept nogil:
    cdef Robot r = robot_in(0, w, w.v, w.vdot)
    cdef const double* row
    cdef int k, a, b
    for k in range(touches_in(r.memory, 1, m.scene.most_touches)):
        row = r.memory + (k + 1) * TOUCH_COLUMNS
        if shapes_of(row, 1, m.ns, &a, &b):
            take_off(&r, w, m.scene.body[a], m.scene.body[b], recorded(row, TORQUE, 1), recorded(row, FORCE, 1), recorded(row, POINT, 1))
    take_off_constraints(m, w)


cdef void take_off_constraints(const ModelC* m, Work* w) noexcept nogil:
    """Those between bodies."""
    cdef Robot r = robot_in(0, w, w.v, w.vdot)
    cdef const Constraint* c
    cdef const double* row
    cdef int k
    for k in range(m.nk):
        c = &m.scene.constraint[k]
        row = r.memory + (1 + m.scene.most_touches + k) * TOUCH_COLUMNS
        if c.iv[0] < 0:
            take_off(&r, w, c.body_a, c.body_b, recorded(row, WRENCH, 1), recorded(row, WRENCH + 3, 1),
                     place_point(body_frame(&r, c.body_b), c.X_B.p))


cdef void take_off_springs(const ModelC* m, Work* w) noexcept nogil:
    """What stiff force elements did beyond the force of the middle, which is among the applied ones."""
    cdef Robot r = robot_in(0, w, w.v, w.vdot)
    cdef const ForceElement* e
    cdef const double* row
    cdef Rows x
    cdef Vec t, f
    cdef int i, n
    cdef int k = 0
    for i in range(m.ne):
        e = &m.elements[i]
        if not may_be_stiff(e):
            continue
        row = r.memory + (1 + m.scene.most_touches + m.nk + k) * TOUCH_COLUMNS
        k += 1
        if row[EFFORT] == 0.0:
            continue
        rows_in_world(w, e, w.force_parameters + i * PARAMETERS, &x)
        t, f = in_axes(&x.A, recorded(row, WRENCH, 1)), in_axes(&x.A, recorded(row, WRENCH + 3, 1))
        for n in range(x.of.n):
            t = t + (value(x.of.k[n] * x.of.x[n]) + value(x.of.d[n] * x.rate[n])) * vec_in(0, x.turn[n])
            f = f + (value(x.of.k[n] * x.of.x[n]) + value(x.of.d[n] * x.rate[n])) * vec_in(0, x.move[n])
        take_off(&r, w, e.body_a, e.body_c, t, f, vec_in(0, x.at))


cdef inline Vec in_axes(const Mat3* A, Vec x) noexcept nogil:
    """A x: from the axes of a frame to W."""
    return vec_in(0, rotate(A[0], in_engine(x)))


cdef void take_off_couplers(const ModelC* m, Work* w) noexcept nogil:
    """Constraints between coordinates act on efforts."""
    cdef Robot r = robot_in(0, w, w.v, w.vdot)
    cdef const Constraint* c
    cdef const double* row
    cdef double of_a
    cdef int k
    for k in range(m.nk):
        c = &m.scene.constraint[k]
        if c.iv[0] >= 0:
            row = r.memory + (1 + m.scene.most_touches + k) * TOUCH_COLUMNS
            of_a = number_of(c, &r, OF_A)
            w.tau[c.iv[0]] = w.tau[c.iv[0]] - real(of_a * row[EFFORT])
            w.tau[c.iv[1]] = w.tau[c.iv[1]] + real(of_a * number_of(c, &r, RATIO) * row[EFFORT])


cdef inline void act_there(const ModelC* m, Work* w) noexcept nogil:
    """Kinematics and applied wrenches at q and v of w."""
    positions(m, w)
    velocities(m, w)
    if m.ne:
        m.apply(m, w)


cdef void find_reactions(const ModelC* m, Work* w) noexcept nogil:
    """Equation (1) into w.F, and what each coordinate took into w.tau, with q, v and vdot of w.
    Kinematics and applied wrenches are in place."""
    cdef int i
    passive_torques(m, w)
    w.A_WB[0] = motion(zero3(), -w.gravity[0])
    w.F[0] = force(zero3(), zero3())
    for i in range(m.nv):
        w.tau[i] = w.rotor_inertia[i] * w.vdot[i] - w.passive[i]
    for i in range(1, m.nb):
        acceleration_step(&m.joints[i], i, w.vdot, w)
        newton_euler_step(i, w)
        w.F[i] = w.F[i] - w.applied[i]
    if m.scene != NULL:
        take_off_contacts(m, w)
        take_off_springs(m, w)
        take_off_couplers(m, w)
    gather_forces(m, w.tau, w)


cdef State where_forces_were_taken(Checked model, State s):
    """A state with equation (1) in its w.F, and what each coordinate took in its tau; s keeps it for the next time. None where no step led
    to s."""
    cdef ModelC* m = &model.c
    cdef double* memory = <double*>s.c.contact_memory
    cdef State w = s.then
    if m.scene != NULL and not (memory[KNOWN] != 0.0 and memory[STAMP] == stamp_of(m, &s.c, 0)):
        if m.ns or m.nk or memory[KNOWN] != 0.0:        # without, no force element was implicit, and nothing was noted
            return None
    if w is None:
        w = s.then = s.twin()
        if m.shared:
            w.need_dense()
        w.need_contacts()
    else:
        memcpy(w.memory.p, s.memory.p, s.memory.n * sizeof(double))
    if not back_to_forces(m, &s.c, &w.c):
        return None
    act_there(m, &w.c)
    find_reactions(m, &w.c)
    return w


cdef tuple reactions(Checked model, State s):
    """(F_Bo_W (nb, 6) of what each joint exerts on its child, efforts (nv,), X_WB (nb, 12), V_WB (nb, 6) and A_WB (nb, 6), less gravity,
    where forces were taken), or None where no step led to this state."""
    cdef State w = where_forces_were_taken(model, s)
    cdef cnp.npy_intp n = model.c.nv
    cdef cnp.ndarray effort
    cdef double* x
    cdef int i
    if w is None:
        return None
    effort = new_array(1, &n)
    x = <double*>cnp.PyArray_DATA(effort)
    for i in range(n):
        x[i] = value(s.c.effort[i]) if value(s.c.lock[i]) == DYNAMIC else value(w.c.tau[i])
    return w.field("F").copy(), effort, w.field("X_WB").copy(), w.field("V_WB").copy(), w.field("A_WB").copy()


cdef Force reaction_about(const ModelC* m, const Work* w, int body, int child, int frame) noexcept:
    """What the joint of a body exerts on it: about the origin of frame `child` in W axes, or about that of `frame`, unless it is -1, in its
    own."""
    cdef int k = child if frame < 0 else frame
    cdef const Pose* X = &w.X_WB[m.frame_body[k]]
    cdef Vec3 arm = X.p + rotate(X.R, m.X_BF[k].p) - w.X_WB[body].p
    cdef Force F = w.F[body]
    F.t = F.t - cross(arm, F.f)
    if frame >= 0:
        F.t = unrotate(m.X_BF[k].R, unrotate(X.R, F.t))
        F.f = unrotate(m.X_BF[k].R, unrotate(X.R, F.f))
    return F
