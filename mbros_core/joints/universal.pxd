"""Universal: rotation by q0 about Fx, then by q1 about My (Drake's UniversalJoint). v = qdot.

X_FM = (Rx(q0) Ry(q1), 0),  H_FM columns [Fx; 0], [Rx(q0) Fy; 0],  Hdot v = [Fx x My; 0] v0 v1: the second axis turns.
"""
from mbros_core.scalar.real cimport real, sincos
from mbros_core.spatial cimport (Mat3, Motion, Pose, Vec3, column_x, column_y, column_z, cross, cross_motion, from_columns, motion,
                                 zero3, zero_motion)


cdef inline void universal_place(Pose X_WF, const real* q, Pose* X_WM, Motion* S) noexcept nogil:
    cdef Vec3 x = column_x(X_WF.R)
    cdef Vec3 y
    cdef Vec3 z
    cdef real s
    cdef real c
    sincos(q[0], s, c)
    y = c * column_y(X_WF.R) + s * column_z(X_WF.R)
    z = c * column_z(X_WF.R) - s * column_y(X_WF.R)
    S[0] = motion(x, zero3())
    S[1] = motion(y, zero3())
    sincos(q[1], s, c)
    X_WM.R = from_columns(c * x - s * z, y, c * z + s * x)
    X_WM.p = X_WF.p

cdef inline Motion universal_bias(const Motion* S, const real* v) noexcept nogil:
    return motion(v[0] * v[1] * cross(S[0].w, S[1].w), zero3())

cdef inline Motion universal_slope(const Motion* S, int by, int of) noexcept nogil:
    """The second axis turns about the first."""
    return cross_motion(S[0], S[1]) if by == 0 and of == 1 else zero_motion()

cdef inline Motion universal_bias_slope(const Motion* S, const real* v, int by) noexcept nogil:
    return v[0] * v[1] * cross_motion(S[0], cross_motion(S[0], S[1])) if by == 0 else zero_motion()
