"""Floating on roll, pitch, yaw (Drake's RpyFloatingJoint): q = (roll, pitch, yaw, x, y, z), v = [w_FM_F; v_FM_F].

X_FM = (Rz(yaw) Ry(pitch) Rx(roll), p),  H_FM = 1 in F axes,  Hdot = 0,  qdot = [N(q) w; v] (groups/rpy.pxd). Singular at
pitch = +-pi/2, where a step is a fault. Increments are [N(q) dw; dv]: exact both ways, not the exponential of SE(3).
"""
from mbros_core.real cimport real
from mbros_core.groups.rpy cimport rotation_from_rpy, rpy_rates, rpy_velocity
from mbros_core.joints.ball_rpy cimport ball_rpy_place
from mbros_core.spatial cimport Motion, Pose, add, column_x, column_y, column_z, motion, rotate, vec3, zero3


cdef inline void floating_rpy_place(Pose X_WF, const real* q, Pose* X_WM, Motion* S) noexcept nogil:
    ball_rpy_place(X_WF, q, X_WM, S)
    X_WM.p = add(X_WF.p, rotate(X_WF.R, vec3(q[3], q[4], q[5])))
    S[3] = motion(zero3(), column_x(X_WF.R))
    S[4] = motion(zero3(), column_y(X_WF.R))
    S[5] = motion(zero3(), column_z(X_WF.R))

cdef inline void floating_rpy_qdot(const real* q, const real* v, real* qdot) noexcept nogil:
    cdef int k
    rpy_rates(q, v, qdot)
    for k in range(3, 6):
        qdot[k] = v[k]

cdef inline void floating_rpy_velocity(const real* q, const real* qdot, real* v) noexcept nogil:
    cdef int k
    rpy_velocity(q, qdot, v)
    for k in range(3, 6):
        v[k] = qdot[k]
