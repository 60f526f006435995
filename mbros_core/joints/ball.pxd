"""Ball: any rotation, q = unit quaternion w x y z, v = w_FM_M, the angular velocity in the child frame.

X_FM = (R(q), 0),  H_FM = [R; 0] in F axes,  Hdot v = [w x w; 0] = 0,  qdot = 1/2 q (0, v).
"""
from mbros_core.scalar.real cimport copy, real
from mbros_core.groups.spin cimport guess_of_w, invert, mean_acceleration, momentum_in_middle
from mbros_core.groups.so3 cimport quaternion_log, trim_quaternion, turn_a_little, turn_quaternion
from mbros_core.spatial cimport (Inertia, Mat3, Motion, Pose, Sym3, Vec3, column_x, column_y, column_z, compose, motion, rotate,
                                 rotation_from_quaternion, sym_mul, unrotate, vec3, zero3)


cdef inline void ball_place(Pose X_WF, const real* q, Pose* X_WM, Motion* S) noexcept nogil:
    X_WM.R = compose(X_WF.R, rotation_from_quaternion(q[0], q[1], q[2], q[3]))
    X_WM.p = X_WF.p
    S[0] = motion(column_x(X_WM.R), zero3())
    S[1] = motion(column_y(X_WM.R), zero3())
    S[2] = motion(column_z(X_WM.R), zero3())

cdef inline void ball_integrate(const real* q, const real* dv, real* out) noexcept nogil:
    cdef Vec3 w = vec3(dv[0], dv[1], dv[2])
    if out != q:
        copy(out, q, 4)
    turn_quaternion(out, w)

cdef inline void ball_second_half(const real* q_start, real* q, const real* v_start, real* v, real* a, const Inertia* M,
                                  real h) noexcept nogil:
    """The angular momentum of the body about Mo (groups/spin.pxd), then the other half of the way."""
    cdef Vec3 w = vec3(v_start[0], v_start[1], v_start[2])
    cdef Vec3 alpha = vec3(a[0], a[1], a[2])
    cdef Sym3 J = M.I
    cdef Sym3 J_inverse = invert(&J)
    cdef Mat3 R_h = rotation_from_quaternion(q[0], q[1], q[2], q[3])
    cdef Vec3 l = momentum_in_middle(J, rotation_from_quaternion(q_start[0], q_start[1], q_start[2], q_start[3]), R_h, w,
                                     vec3(v[0], v[1], v[2]), alpha, h)
    turn_a_little(q, 0.5 * h * guess_of_w(J_inverse, l, w + h * alpha, 0.5 * h))
    trim_quaternion(q)
    w = sym_mul(J_inverse, unrotate(rotation_from_quaternion(q[0], q[1], q[2], q[3]), rotate(R_h, l)))
    v[0] = w.x
    v[1] = w.y
    v[2] = w.z
    mean_acceleration(v_start, v, 3, h, a)

cdef inline void ball_difference(const real* q0, const real* q1, real* dv) noexcept nogil:
    cdef real angle
    cdef Vec3 w = quaternion_log(q0, q1, &angle)
    dv[0] = w.x
    dv[1] = w.y
    dv[2] = w.z
