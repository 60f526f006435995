"""Ball on roll, pitch, yaw (Drake's BallRpyJoint): q = (roll, pitch, yaw), v = w_FM_F.

X_FM = (Rz(yaw) Ry(pitch) Rx(roll), 0),  H_FM = [1; 0] in F axes,  Hdot = 0,  qdot = N(q) v (groups/rpy.pxd). Singular at
pitch = +-pi/2, where a step is a fault. Increments are N(q) dv: exact both ways, a chart of SO(3), not its exponential.
"""
from mbros_core.scalar.real cimport real
from mbros_core.groups.rpy cimport rotation_from_rpy, rpy_spin
from mbros_core.groups.spin cimport mean_acceleration
from mbros_core.spatial cimport Inertia, Motion, Pose, Vec3, column_x, column_y, column_z, compose, motion, zero3


cdef inline void ball_rpy_place(Pose X_WF, const real* q, Pose* X_WM, Motion* S) noexcept nogil:
    X_WM.R = compose(X_WF.R, rotation_from_rpy(q))
    X_WM.p = X_WF.p
    S[0] = motion(column_x(X_WF.R), zero3())
    S[1] = motion(column_y(X_WF.R), zero3())
    S[2] = motion(column_z(X_WF.R), zero3())

cdef inline void ball_rpy_second_half(const real* q_start, real* q, const real* v_start, real* v, real* a, const Inertia* M,
                                      real h) noexcept nogil:
    cdef Vec3 w = rpy_spin(q_start, q, v_start, v, a, M.I, h)
    v[0] = w.x
    v[1] = w.y
    v[2] = w.z
    mean_acceleration(v_start, v, 3, h, a)
