"""Prismatic: translation by q along Fz.

X_FM = (1, [0 0 q]),  H_FM = [0 0 0; 0 0 1],  Hdot = 0.
"""
from mbros_core.scalar.real cimport real
from mbros_core.spatial cimport Motion, Pose, column_z, motion, zero3


cdef inline void prismatic_place(Pose X_WF, real q, Pose* X_WM, Motion* S) noexcept nogil:
    X_WM.R = X_WF.R
    X_WM.p = X_WF.p + q * column_z(X_WF.R)
    S[0] = motion(zero3(), column_z(X_WF.R))
