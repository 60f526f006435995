"""Revolute: rotation by q about Fz = Mz (also "continuous": the same without limits).

X_FM = (Rz(q), 0),  H_FM = [0 0 1; 0 0 0],  Hdot = 0.
"""
from mbros_core.scalar.real cimport real, sincos
from mbros_core.spatial cimport Motion, Pose, column_z, motion, rotate_about_z, zero3


cdef inline void revolute_place(Pose X_WF, real q, Pose* X_WM, Motion* S) noexcept nogil:
    cdef real s
    cdef real c
    sincos(q, s, c)
    X_WM.R = rotate_about_z(X_WF.R, s, c)
    X_WM.p = X_WF.p
    S[0] = motion(column_z(X_WF.R), zero3())
