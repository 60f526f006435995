"""Floating: q = [p_FoMo_F; quaternion w x y z], v = [w_FM_M; v_FM_M], both expressed in the child frame M.

X_FM = (R(quat), p),  H_FM = diag(R, R) in F axes. As seen from F, H changes with w: Hdot v = [w x w; w x v] = [0; w x v].
N (as Drake's QuaternionFloatingJoint): pdot = R v, quatdot = 1/2 quat * (0, w).
Any non-zero quaternion stands for the rotation of quat / |quat|; integration returns unit quaternions.
"""
from mbros_core.scalar.real cimport real
from mbros_core.spatial cimport (Inertia, Mat3, Motion, Pose, Sym3, Vec3, column_x, column_y, column_z, compose, cross, motion, rotate,
                                 rotation_from_quaternion, sym_mul, unrotate, vec3, zero3)
from mbros_core.groups.spin cimport about_center, center_of, guess_of_w, invert, mean_acceleration, momentum_in_middle
from mbros_core.groups.se3 cimport se3_difference, se3_integrate
from mbros_core.groups.so3 cimport (angular_velocity, cross_rows, inlined_exp, multiply_quaternion, quaternion_rate, trim_quaternion,
                                    turn_a_little, unit_quaternion)


cdef inline void floating_place(Pose X_WF, const real* q, Pose* X_WM, Motion* S) noexcept nogil:
    X_WM.R = compose(X_WF.R, rotation_from_quaternion(q[3], q[4], q[5], q[6]))
    X_WM.p = X_WF.p + rotate(X_WF.R, vec3(q[0], q[1], q[2]))
    S[0] = motion(column_x(X_WM.R), zero3())
    S[1] = motion(column_y(X_WM.R), zero3())
    S[2] = motion(column_z(X_WM.R), zero3())
    S[3] = motion(zero3(), column_x(X_WM.R))
    S[4] = motion(zero3(), column_y(X_WM.R))
    S[5] = motion(zero3(), column_z(X_WM.R))

cdef inline Motion floating_bias(Motion V_FM) noexcept nogil:
    return motion(zero3(), cross(V_FM.w, V_FM.v))

cdef inline void floating_qdot(const real* q, const real* v, real* qdot) noexcept nogil:
    cdef Vec3 pdot = rotate(rotation_from_quaternion(q[3], q[4], q[5], q[6]), vec3(v[3], v[4], v[5]))
    qdot[0] = pdot.x
    qdot[1] = pdot.y
    qdot[2] = pdot.z
    quaternion_rate(q + 3, v, qdot + 3)

cdef inline void floating_velocity(const real* q, const real* qdot, real* v) noexcept nogil:
    cdef Vec3 u = unrotate(rotation_from_quaternion(q[3], q[4], q[5], q[6]), vec3(qdot[0], qdot[1], qdot[2]))
    angular_velocity(q + 3, qdot + 3, v)
    v[3] = u.x
    v[4] = u.y
    v[5] = u.z

cdef inline void floating_advance(real* q, real* v, const real* vdot, real h) noexcept nogil:
    """Semi-implicit Euler in the space where it belongs: the velocity of Mo is advanced in F, the spin in M.

    In child-frame components vdot holds the turning of the frame, -w x v, which an explicit step would turn into energy.
    """
    cdef real e[4]
    cdef real a2, s, c
    cdef Vec3 w = vec3(v[0], v[1], v[2])
    cdef Vec3 a = vec3(vdot[3], vdot[4], vdot[5]) + cross(w, vec3(v[3], v[4], v[5]))
    cdef Vec3 u = rotate(rotation_from_quaternion(q[3], q[4], q[5], q[6]), vec3(v[3], v[4], v[5]) + h * a)
    w = w + h * vec3(vdot[0], vdot[1], vdot[2])
    inlined_exp(h * w, e, &a2, &s, &c)
    multiply_quaternion(q + 3, e)
    q[0] = q[0] + h * u.x
    q[1] = q[1] + h * u.y
    q[2] = q[2] + h * u.z
    u = unrotate(rotation_from_quaternion(q[3], q[4], q[5], q[6]), u)
    v[0] = w.x
    v[1] = w.y
    v[2] = w.z
    v[3] = u.x
    v[4] = u.y
    v[5] = u.z

cdef inline void floating_first_half(real* q, const real* v, const Inertia* M, real half) noexcept nogil:
    """The centre of mass goes straight on, the body turns about it."""
    cdef Vec3 w = vec3(v[0], v[1], v[2])
    cdef Vec3 c = center_of(M)
    cdef Vec3 v_c = vec3(v[3], v[4], v[5]) + cross(w, c)
    cdef Vec3 d = rotate(rotation_from_quaternion(q[3], q[4], q[5], q[6]), c + half * v_c)
    turn_a_little(q + 3, half * w)
    d = d - rotate(rotation_from_quaternion(q[3], q[4], q[5], q[6]), c)
    q[0] = q[0] + d.x
    q[1] = q[1] + d.y
    q[2] = q[2] + d.z

cdef inline void floating_second_half(const real* q_start, real* q, const real* v_start, real* v, real* a, const Inertia* M,
                                      real h) noexcept nogil:
    """The momenta of the body, linear in F and angular about its centre of mass (groups/spin.pxd), then the other half of the way."""
    cdef Vec3 w = vec3(v_start[0], v_start[1], v_start[2])
    cdef Vec3 w_h = vec3(v[0], v[1], v[2])
    cdef Vec3 alpha = vec3(a[0], a[1], a[2])
    cdef Vec3 c = center_of(M)
    cdef Sym3 J = about_center(M, c)
    cdef Sym3 J_inverse = invert(&J)
    cdef Mat3 R = rotation_from_quaternion(q_start[3], q_start[4], q_start[5], q_start[6])
    cdef Mat3 R_h = rotation_from_quaternion(q[3], q[4], q[5], q[6])
    # Acceleration of the centre of mass, in the axes of the middle.
    cdef Vec3 a_c = vec3(a[3], a[4], a[5]) + cross(w_h, vec3(v[3], v[4], v[5])) + (cross(alpha, c) + cross(w_h, cross(w_h, c)))
    cdef Vec3 u = rotate(R, vec3(v_start[3], v_start[4], v_start[5]) + cross(w, c)) + h * rotate(R_h, a_c)
    cdef Vec3 l = momentum_in_middle(J, R, R_h, w, w_h, alpha, h)
    cdef Vec3 d = rotate(R_h, c) + 0.5 * h * u
    w = guess_of_w(J_inverse, l, w + h * alpha, 0.5 * h)
    turn_a_little(q + 3, 0.5 * h * w)
    trim_quaternion(q + 3)
    R = rotation_from_quaternion(q[3], q[4], q[5], q[6])
    w = sym_mul(J_inverse, unrotate(R, rotate(R_h, l)))
    d = d - rotate(R, c)
    u = unrotate(R, u) - cross(w, c)
    q[0] = q[0] + d.x
    q[1] = q[1] + d.y
    q[2] = q[2] + d.z
    v[0] = w.x
    v[1] = w.y
    v[2] = w.z
    v[3] = u.x
    v[4] = u.y
    v[5] = u.z
    mean_acceleration(v_start, v, 6, h, a)

cdef inline void floating_unturned_mean(const real* q_start, const real* v_start, const real* q, const real* v, real h,
                                        real* a) noexcept nogil:
    cdef Mat3 R_start = rotation_from_quaternion(q_start[3], q_start[4], q_start[5], q_start[6])
    cdef Mat3 R = rotation_from_quaternion(q[3], q[4], q[5], q[6])
    cdef Vec3 x
    cdef int k
    for k in range(0, 6, 3):
        x = rotate(R_start, vec3(v_start[k], v_start[k + 1], v_start[k + 2]))
        x = (1.0 / h) * (rotate(R, vec3(v[k], v[k + 1], v[k + 2])) - x)
        a[k] = x.x
        a[k + 1] = x.y
        a[k + 2] = x.z

cdef inline void floating_turned_vdot(const real* q, const real* v, const real* a, real* vdot) noexcept nogil:
    cdef Mat3 R = rotation_from_quaternion(q[3], q[4], q[5], q[6])
    cdef Vec3 alpha = unrotate(R, vec3(a[0], a[1], a[2]))
    cdef Vec3 u = unrotate(R, vec3(a[3], a[4], a[5])) - cross(vec3(v[0], v[1], v[2]), vec3(v[3], v[4], v[5]))
    vdot[0] = alpha.x
    vdot[1] = alpha.y
    vdot[2] = alpha.z
    vdot[3] = u.x
    vdot[4] = u.y
    vdot[5] = u.z

cdef inline void floating_integrate(const real* q, const real* dv, real* out) noexcept nogil:
    se3_integrate(q, dv, out)

cdef inline void floating_difference(const real* q0, const real* q1, real* dv) noexcept nogil:
    se3_difference(q0, q1, dv)

cdef inline void floating_normalize(real* q) noexcept nogil:
    unit_quaternion(q + 3)

cdef inline void floating_turning(const real* v, real* A, Py_ssize_t stride) noexcept nogil:
    cross_rows(v, real(-1.0), A, stride)
    cross_rows(v + 3, real(-1.0), A + 3 * stride, stride)
    cross_rows(v, real(-1.0), A + 3 * stride + 3, stride)
