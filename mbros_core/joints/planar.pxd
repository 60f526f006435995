"""Planar: q = (x, y, theta), translation in the xy plane of F and rotation about Fz = Mz (Drake's PlanarJoint).

X_FM = (Rz(theta), [x y 0]),  v = qdot: both translations are measured and expressed in F, so H is constant in F:
H_FM columns [0; Fx], [0; Fy], [Fz; 0],  Hdot = 0,  N = 1.
"""
from mbros_core.real cimport real, sincos
from mbros_core.spatial cimport Motion, Pose, add, column_x, column_y, column_z, motion, rotate_about_z, scale, zero3


cdef inline void planar_place(Pose X_WF, const real* q, Pose* X_WM, Motion* S) noexcept nogil:
    cdef real s
    cdef real c
    sincos(q[2], s, c)
    X_WM.R = rotate_about_z(X_WF.R, s, c)
    X_WM.p = add(X_WF.p, add(scale(q[0], column_x(X_WF.R)), scale(q[1], column_y(X_WF.R))))
    S[0] = motion(zero3(), column_x(X_WF.R))
    S[1] = motion(zero3(), column_y(X_WF.R))
    S[2] = motion(column_z(X_WF.R), zero3())
