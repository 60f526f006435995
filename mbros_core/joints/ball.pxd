"""Ball: any rotation, q = unit quaternion w x y z, v = w_FM_M, the angular velocity in the child frame.

X_FM = (R(q), 0),  H_FM = [R; 0] in F axes,  Hdot v = [w x w; 0] = 0,  qdot = 1/2 q (0, v).
"""
from mbros_core.real cimport copy, real
from mbros_core.groups.so3 cimport quaternion_log, turn_quaternion
from mbros_core.spatial cimport (Motion, Pose, Vec3, column_x, column_y, column_z, compose, motion,
                                 rotation_from_quaternion, vec3, zero3)


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

cdef inline void ball_difference(const real* q0, const real* q1, real* dv) noexcept nogil:
    cdef real angle
    cdef Vec3 w = quaternion_log(q0, q1, &angle)
    dv[0] = w.x
    dv[1] = w.y
    dv[2] = w.z
