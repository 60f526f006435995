"""The one switch over joint kinds. Everything else in the engine is written for any kind and any number of columns."""
from mbros_core.scalar.real cimport copy, real
from mbros_core.spatial cimport Inertia, Mat3, Motion, Pose, compose, cross, motion, zero3, zero_motion
from mbros_core.groups.rn cimport rn_difference, rn_integrate
from mbros_core.groups.rpy cimport rpy_rates, rpy_velocity
from mbros_core.groups.so3 cimport angular_velocity, cross_rows, quaternion_rate, unit_quaternion
from mbros_core.joints.joint cimport Joint, MAX_NQ, MAX_NV
from mbros_core.joints.ball cimport ball_difference, ball_integrate, ball_place, ball_second_half
from mbros_core.joints.ball_rpy cimport ball_rpy_place, ball_rpy_second_half
from mbros_core.joints.circular cimport (circular_difference, circular_integrate, circular_normalize, circular_place,
                                         circular_qdot, circular_velocity)
from mbros_core.joints.cylindrical cimport cylindrical_place
from mbros_core.joints.floating cimport (floating_advance, floating_bias, floating_difference, floating_first_half, floating_integrate,
                                         floating_normalize, floating_place, floating_qdot, floating_second_half, floating_turning,
                                         floating_turned_vdot, floating_unturned_mean, floating_velocity)
from mbros_core.joints.floating_rpy cimport (floating_rpy_first_half, floating_rpy_place, floating_rpy_qdot, floating_rpy_second_half,
                                             floating_rpy_velocity)
from mbros_core.joints.planar cimport planar_first_half, planar_place, planar_second_half
from mbros_core.joints.prismatic cimport prismatic_place
from mbros_core.joints.revolute cimport revolute_place
from mbros_core.joints.screw cimport screw_place
from mbros_core.joints.translation cimport translation2_place, translation3_place
from mbros_core.joints.universal cimport universal_bias, universal_bias_slope, universal_place, universal_slope
from mbros_core.joints.user cimport mbros_user_joint, user_bias, user_map, user_normalize, user_place
from mbros_core.joints.weld cimport weld_place

# The numbers of mbros_core.joints.registry; numbers and names are compared with it when the module is imported.
cdef enum Kind:
    WELD = 0
    REVOLUTE = 1
    PRISMATIC = 2
    PLANAR = 3
    FLOATING = 4
    BALL = 5
    UNIVERSAL = 6
    SCREW = 7
    CYLINDRICAL = 8
    TRANSLATION2 = 9
    TRANSLATION3 = 10
    CIRCULAR = 11
    BALL_RPY = 12
    FLOATING_RPY = 13
    USER = 14

# How the columns of H_FM change with q: as their derivatives are taken.
cdef enum Turning:
    BY_DUALS = 0            # in no way that is known here: a model with such a joint is differentiated over dual numbers
    WITH_BODY = 1           # H_FM is constant in M
    OTHERWISE = 2           # column_slope


cdef inline dict joint_kinds():
    """The kinds by the names of their rows."""
    return dict(
        weld=WELD, revolute=REVOLUTE, prismatic=PRISMATIC, planar=PLANAR, floating=FLOATING, ball=BALL, universal=UNIVERSAL, screw=SCREW,
        cylindrical=CYLINDRICAL, translation2=TRANSLATION2, translation3=TRANSLATION3, circular=CIRCULAR, ball_rpy=BALL_RPY,
        floating_rpy=FLOATING_RPY, user=USER)


cdef inline void place(const Joint* j, Pose X_WF, const real* q, Pose* X_WM, Motion* S) noexcept nogil:
    """Pose of M in W and the columns of H_FM in W axes about Mo, from the whole configuration q.

    The two kinds that robots are made of are inlined; the others are called through the joint's pointer to place_other, so
    that their code is not copied into every loop over bodies.
    """
    cdef const real* x = q + j.iq
    cdef real own = j.ratio * x[0] + j.offset if j.follows else x[0]
    cdef Pose F                      # copies of their own, so that X_WF and X_WM can stay in registers
    cdef Pose M
    if j.kind == REVOLUTE:
        revolute_place(X_WF, own, X_WM, S)
    elif j.kind == PRISMATIC:
        prismatic_place(X_WF, own, X_WM, S)
    else:
        F = X_WF
        j.place(j, &F, x, &M, S)
        X_WM[0] = M
    if j.follows:
        S[0] = j.ratio * S[0]


cdef inline void place_other(const Joint* j, const Pose* X, const real* x, Pose* X_WM, Motion* S) noexcept nogil:
    """The other kinds; x: the joint's own coordinates."""
    cdef Pose X_WF = X[0]
    if j.kind == PLANAR:
        planar_place(X_WF, x, X_WM, S)
    elif j.kind == FLOATING:
        floating_place(X_WF, x, X_WM, S)
    elif j.kind == BALL:
        ball_place(X_WF, x, X_WM, S)
    elif j.kind == SCREW:
        screw_place(j.par[0], X_WF, j.ratio * x[0] + j.offset if j.follows else x[0], X_WM, S)
    elif j.kind == UNIVERSAL:
        universal_place(X_WF, x, X_WM, S)
    elif j.kind == CYLINDRICAL:
        cylindrical_place(X_WF, x, X_WM, S)
    elif j.kind == TRANSLATION2:
        translation2_place(X_WF, x, X_WM, S)
    elif j.kind == TRANSLATION3:
        translation3_place(X_WF, x, X_WM, S)
    elif j.kind == CIRCULAR:
        circular_place(X_WF, x, X_WM, S)
    elif j.kind == BALL_RPY:
        ball_rpy_place(X_WF, x, X_WM, S)
    elif j.kind == FLOATING_RPY:
        floating_rpy_place(X_WF, x, X_WM, S)
    elif j.kind == USER:
        user_place(<const mbros_user_joint*>j.user, X_WF, x, X_WM, S)
    else:
        weld_place(X_WF, X_WM)


cdef inline Motion bias(const Joint* j, const Mat3* R_WP, const Motion* S, const real* q, const real* v, Motion V_FM) noexcept nogil:
    """Hdot_FM v: the acceleration of M in F that is left when vdot = 0. V_FM = H v; q and v of the whole model."""
    if j.kind == FLOATING:
        return floating_bias(V_FM)
    if j.kind == UNIVERSAL:
        return universal_bias(S, v + j.iv)
    if j.kind == USER:
        return user_bias(<const mbros_user_joint*>j.user, compose(R_WP[0], j.X_PF.R), q + j.iq, v + j.iv)
    return zero_motion()


cdef inline int columns_turn(int kind) noexcept nogil:
    """A Turning."""
    if (kind == REVOLUTE or kind == PRISMATIC or kind == FLOATING or kind == BALL or kind == WELD or kind == SCREW or kind == CYLINDRICAL
            or kind == TRANSLATION2 or kind == TRANSLATION3 or kind == CIRCULAR):
        return WITH_BODY
    if kind == PLANAR or kind == UNIVERSAL or kind == BALL_RPY or kind == FLOATING_RPY:
        return OTHERWISE
    return BY_DUALS


cdef inline bint columns_turn_as_chains(int kind) noexcept nogil:
    """Whether second derivatives have equations, too: where columns turn with the body, and in chains of one axis after the other."""
    return columns_turn(kind) == WITH_BODY or kind == PLANAR or kind == UNIVERSAL


cdef inline int quaternion_at(int kind) noexcept nogil:
    """Where the unit quaternion of a joint begins in its q, w first; -1: it has none."""
    return 0 if kind == BALL else 3 if kind == FLOATING else -1


cdef inline Motion column_slope(const Joint* j, const Motion* S_Mo, const Motion* S, int by, int of) noexcept nogil:
    """What column `of` changes by with q of column `by`, about O, where columns turn otherwise; S_Mo: about Mo."""
    if j.kind == UNIVERSAL:
        return universal_slope(S, by, of)
    return motion(zero3(), cross(S_Mo[by].v, S_Mo[of].w))           # constant in F: carried along by translations alone


cdef inline Motion bias_slope(const Joint* j, const Motion* S, const real* v, int by) noexcept nogil:
    """And Hdot_FM v."""
    if j.kind == UNIVERSAL:
        return universal_bias_slope(S, v, by)
    return zero_motion()


cdef inline void turning(const Joint* j, const real* v, real* A, Py_ssize_t stride) noexcept nogil:
    """d(dq)/dt for dv = 0: -v x dq where dq turns with M, w x dq where it is a rotation in F, else zero."""
    if j.kind == FLOATING:
        floating_turning(v, A, stride)
    elif j.kind == BALL:
        cross_rows(v, real(-1.0), A, stride)
    elif j.kind == BALL_RPY or j.kind == FLOATING_RPY:
        cross_rows(v, real(1.0), A, stride)


cdef inline const mbros_user_joint* user_of(const Joint* j) noexcept nogil:
    return <const mbros_user_joint*>j.user


cdef inline bint has_known_increments(const Joint* j) noexcept nogil:
    """Whether q (+) v is that of R^n, SO(3) or SE(3), of which lie.pxd has the derivatives."""
    return j.kind != BALL_RPY and j.kind != FLOATING_RPY and j.kind != USER


cdef inline bint written_by_user(const Joint* j) noexcept nogil:
    """Whether a user's joint brings configuration maps of its own; otherwise it is R^n."""
    return j.kind == USER and user_of(j).qdot != NULL


cdef inline void qdot_from_velocity(const Joint* j, const real* q, const real* v, real* qdot) noexcept nogil:
    if written_by_user(j):
        user_map(user_of(j).self, user_of(j).qdot, q, j.nq, v, j.nv, qdot, j.nq)
        return
    if j.kind == FLOATING:
        floating_qdot(q, v, qdot)
    elif j.kind == BALL:
        quaternion_rate(q, v, qdot)
    elif j.kind == CIRCULAR:
        circular_qdot(q, v, qdot)
    elif j.kind == BALL_RPY:
        rpy_rates(q, v, qdot)
    elif j.kind == FLOATING_RPY:
        floating_rpy_qdot(q, v, qdot)
    else:
        copy(qdot, v, j.nq)


cdef enum Chart:            # coordinates about a configuration (chart.pxd)
    IN_VELOCITIES
    IN_RATES
    ON_CIRCLES
    OF_ROTATIONS
    OF_POSES


cdef inline int chart_of(const Joint* j) noexcept nogil:
    if j.kind == BALL:
        return OF_ROTATIONS
    if j.kind == FLOATING:
        return OF_POSES
    if j.kind == CIRCULAR:
        return ON_CIRCLES
    return IN_RATES if j.kind == BALL_RPY or j.kind == FLOATING_RPY or written_by_user(j) else IN_VELOCITIES


cdef inline void velocity_from_qdot(const Joint* j, const real* q, const real* qdot, real* v) noexcept nogil:
    if written_by_user(j):
        user_map(user_of(j).self, user_of(j).velocity, q, j.nq, qdot, j.nq, v, j.nv)
        return
    if j.kind == FLOATING:
        floating_velocity(q, qdot, v)
    elif j.kind == BALL:
        angular_velocity(q, qdot, v)
    elif j.kind == CIRCULAR:
        circular_velocity(q, qdot, v)
    elif j.kind == BALL_RPY:
        rpy_velocity(q, qdot, v)
    elif j.kind == FLOATING_RPY:
        floating_rpy_velocity(q, qdot, v)
    else:
        copy(v, qdot, j.nv)


cdef inline void integrate(const Joint* j, const real* q, const real* dv, real* out) noexcept nogil:
    """out = q (+) dv; out may be q itself."""
    cdef real rate[MAX_NQ]
    if written_by_user(j):
        user_map(user_of(j).self, user_of(j).integrate, q, j.nq, dv, j.nv, out, j.nq)
        return
    if j.kind == FLOATING:
        floating_integrate(q, dv, out)
    elif j.kind == BALL:
        ball_integrate(q, dv, out)
    elif j.kind == CIRCULAR:
        circular_integrate(q, dv, out)
    elif j.kind == BALL_RPY or j.kind == FLOATING_RPY:
        qdot_from_velocity(j, q, dv, rate)
        rn_integrate(q, rate, j.nq, out)
    else:
        rn_integrate(q, dv, j.nq, out)


cdef inline void advance(const Joint* j, real* q, real* v, const real* vdot, real h) noexcept nogil:
    """One semi-implicit Euler step of this joint, in place."""
    cdef real dv[MAX_NV]
    cdef int i
    if j.kind == FLOATING:
        floating_advance(q, v, vdot, h)
        return
    for i in range(j.nv):
        v[i] = v[i] + h * vdot[i]
        dv[i] = h * v[i]
    integrate(j, q, dv, q)


cdef inline void first_half(const Joint* j, real* q, const real* v, const Inertia* M, real half) noexcept nogil:
    """The first half of a midpoint step, in place; M: the inertia of the joint's body."""
    cdef real dv[MAX_NV]
    cdef int i
    if j.kind == REVOLUTE or j.kind == PRISMATIC:
        q[0] = q[0] + half * v[0]
    elif j.kind == FLOATING:
        floating_first_half(q, v, M, half)
    elif j.kind == FLOATING_RPY:
        floating_rpy_first_half(q, v, M, half)
    elif j.kind == PLANAR:
        planar_first_half(q, v, M, half)
    else:
        for i in range(j.nv):
            dv[i] = half * v[i]
        integrate(j, q, dv, q)


cdef inline void second_half(const Joint* j, const real* q_start, real* q, const real* v_start, real* v, real* a, const Inertia* M,
                             real h) noexcept nogil:
    """The rest of a midpoint step: q and v from the middle to the end; a: vdot of the middle, then (v - v_start) / h."""
    cdef real dv[MAX_NV]
    cdef int i
    if j.kind == REVOLUTE or j.kind == PRISMATIC:
        v[0] = v_start[0] + h * a[0]
        q[0] = q[0] + 0.5 * h * v[0]
    elif j.kind == FLOATING:
        floating_second_half(q_start, q, v_start, v, a, M, h)
    elif j.kind == FLOATING_RPY:
        floating_rpy_second_half(q_start, q, v_start, v, a, M, h)
    elif j.kind == BALL:
        ball_second_half(q_start, q, v_start, v, a, M, h)
    elif j.kind == BALL_RPY:
        ball_rpy_second_half(q_start, q, v_start, v, a, M, h)
    elif j.kind == PLANAR:
        planar_second_half(q_start, q, v_start, v, a, M, h)
    else:
        for i in range(j.nv):
            v[i] = v_start[i] + h * a[i]
            dv[i] = 0.5 * h * v[i]
        integrate(j, q, dv, q)


cdef inline void unturned_mean(const Joint* j, const real* q_start, const real* v_start, const real* q, const real* v, real h,
                               real* a) noexcept nogil:
    """The mean acceleration over a step of h: (v - v_start) / h, but along axes in which the body does not turn."""
    cdef int i
    if j.kind == FLOATING:
        floating_unturned_mean(q_start, v_start, q, v, h, a)
        return
    for i in range(j.nv):
        a[i] = (v[i] - v_start[i]) / h


cdef inline void turned_vdot(const Joint* j, const real* q, const real* v, const real* a, real* vdot) noexcept nogil:
    """vdot at q and v of such an acceleration."""
    if j.kind == FLOATING:
        floating_turned_vdot(q, v, a, vdot)
    else:
        copy(vdot, a, j.nv)


cdef inline bint halves_of_coordinates(int kind) noexcept nogil:
    """Whether both halves are q + h/2 v of each coordinate, or its angle, and v + h a. Derivatives of others are taken over dual numbers of
    the joint alone."""
    return (kind == REVOLUTE or kind == PRISMATIC or kind == UNIVERSAL or kind == SCREW or kind == CYLINDRICAL or kind == TRANSLATION2
            or kind == TRANSLATION3 or kind == CIRCULAR or kind == WELD)


cdef inline void difference(const Joint* j, const real* q0, const real* q1, real* dv) noexcept nogil:
    """dv with q0 (+) dv = q1, the shortest."""
    cdef real step[MAX_NQ]
    if written_by_user(j):
        user_map(user_of(j).self, user_of(j).difference, q0, j.nq, q1, j.nq, dv, j.nv)
        return
    if j.kind == FLOATING:
        floating_difference(q0, q1, dv)
    elif j.kind == BALL:
        ball_difference(q0, q1, dv)
    elif j.kind == CIRCULAR:
        circular_difference(q0, q1, dv)
    elif j.kind == BALL_RPY or j.kind == FLOATING_RPY:
        rn_difference(q0, q1, j.nq, step)
        velocity_from_qdot(j, q0, step, dv)
    else:
        rn_difference(q0, q1, j.nq, dv)


cdef inline void normalize(const Joint* j, real* q) noexcept nogil:
    """The nearest valid configuration."""
    if written_by_user(j):
        user_normalize(user_of(j), q)
        return
    if j.kind == FLOATING:
        floating_normalize(q)
    elif j.kind == BALL:
        unit_quaternion(q)
    elif j.kind == CIRCULAR:
        circular_normalize(q)
