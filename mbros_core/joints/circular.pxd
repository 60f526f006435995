"""Circular: rotation about Fz = Mz with q = (cos, sin) on the unit circle SO(2), v = the angular rate.

The representation of unbounded rotations in HPP and Pinocchio (RUBZ): no angle to wrap, one velocity.
X_FM = (Rz(angle of q), 0),  H_FM = [Fz; 0],  qdot = (-sin, cos) v,  v = (cos sdot - sin cdot) / |q|^2.
Any non-zero pair stands for its direction; integration returns unit pairs.
"""
from mbros_core.scalar.real cimport atan2, real, sincos, sqrt
from mbros_core.spatial cimport Motion, Pose, column_z, motion, rotate_about_z, zero3


cdef inline void circular_place(Pose X_WF, const real* q, Pose* X_WM, Motion* S) noexcept nogil:
    cdef real k = 1.0 / sqrt(q[0] * q[0] + q[1] * q[1])
    X_WM.R = rotate_about_z(X_WF.R, k * q[1], k * q[0])
    X_WM.p = X_WF.p
    S[0] = motion(column_z(X_WF.R), zero3())

cdef inline void circular_qdot(const real* q, const real* v, real* qdot) noexcept nogil:
    qdot[0] = -(q[1] * v[0])
    qdot[1] = q[0] * v[0]

cdef inline void circular_velocity(const real* q, const real* qdot, real* v) noexcept nogil:
    v[0] = (q[0] * qdot[1] - q[1] * qdot[0]) / (q[0] * q[0] + q[1] * q[1])

cdef inline void circular_normalize(real* q) noexcept nogil:
    cdef real k
    cdef int i
    for i in range(2):
        k = 1.0 / sqrt(q[0] * q[0] + q[1] * q[1])
        q[0] = k * q[0]
        q[1] = k * q[1]

cdef inline void circular_integrate(const real* q, const real* dv, real* out) noexcept nogil:
    cdef real s
    cdef real c
    cdef real x = q[0]
    sincos(dv[0], s, c)
    out[0] = x * c - q[1] * s
    out[1] = x * s + q[1] * c
    circular_normalize(out)

cdef inline void circular_difference(const real* q0, const real* q1, real* dv) noexcept nogil:
    dv[0] = atan2(q0[0] * q1[1] - q0[1] * q1[0], q0[0] * q1[0] + q0[1] * q1[1])
