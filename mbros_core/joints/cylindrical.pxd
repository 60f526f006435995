"""Cylindrical: q = (angle, displacement), both about and along Fz = Mz (Simbody's order).

X_FM = (Rz(q0), [0 0 q1]),  H_FM columns [Fz; 0], [0; Fz],  Hdot = 0.
"""
from mbros_core.scalar.real cimport real, sincos
from mbros_core.spatial cimport Motion, Pose, Vec3, column_z, motion, rotate_about_z, zero3


cdef inline void cylindrical_place(Pose X_WF, const real* q, Pose* X_WM, Motion* S) noexcept nogil:
    cdef Vec3 z = column_z(X_WF.R)
    cdef real s
    cdef real c
    sincos(q[0], s, c)
    X_WM.R = rotate_about_z(X_WF.R, s, c)
    X_WM.p = X_WF.p + q[1] * z
    S[0] = motion(z, zero3())
    S[1] = motion(zero3(), z)
