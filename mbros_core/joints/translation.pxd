"""Translation in the xy plane of F (2) or in space (3): q = displacement of Mo in F axes, v = qdot.

X_FM = (1, q),  H_FM columns [0; Fx], [0; Fy] (, [0; Fz]),  Hdot = 0. Along one axis it is the prismatic joint.
"""
from mbros_core.scalar.real cimport real
from mbros_core.spatial cimport Motion, Pose, column_x, column_y, column_z, motion, zero3


cdef inline void translation2_place(Pose X_WF, const real* q, Pose* X_WM, Motion* S) noexcept nogil:
    S[0] = motion(zero3(), column_x(X_WF.R))
    S[1] = motion(zero3(), column_y(X_WF.R))
    X_WM.R = X_WF.R
    X_WM.p = X_WF.p + (q[0] * S[0].v + q[1] * S[1].v)

cdef inline void translation3_place(Pose X_WF, const real* q, Pose* X_WM, Motion* S) noexcept nogil:
    translation2_place(X_WF, q, X_WM, S)
    S[2] = motion(zero3(), column_z(X_WF.R))
    X_WM.p = X_WM.p + q[2] * S[2].v
