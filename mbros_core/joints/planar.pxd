"""Planar: q = (x, y, theta), translation in the xy plane of F and rotation about Fz = Mz (Drake's PlanarJoint).

X_FM = (Rz(theta), [x y 0]),  v = qdot: both translations are measured and expressed in F, so H is constant in F:
H_FM columns [0; Fx], [0; Fy], [Fz; 0],  Hdot = 0,  N = 1.
"""
from mbros_core.scalar.real cimport real, sincos
from mbros_core.groups.spin cimport center_of
from mbros_core.spatial cimport Inertia, Motion, Pose, Vec3, column_x, column_y, column_z, motion, rotate_about_z, zero3


cdef inline void planar_place(Pose X_WF, const real* q, Pose* X_WM, Motion* S) noexcept nogil:
    cdef real s
    cdef real c
    sincos(q[2], s, c)
    X_WM.R = rotate_about_z(X_WF.R, s, c)
    X_WM.p = X_WF.p + (q[0] * column_x(X_WF.R) + q[1] * column_y(X_WF.R))
    S[0] = motion(zero3(), column_x(X_WF.R))
    S[1] = motion(zero3(), column_y(X_WF.R))
    S[2] = motion(column_z(X_WF.R), zero3())


cdef inline void planar_arm(real theta, const Inertia* M, real* x, real* y) noexcept nogil:
    """From Mo to the centre of mass, in F."""
    cdef Vec3 p = center_of(M)
    cdef real s
    cdef real c
    sincos(theta, s, c)
    x[0] = c * p.x - s * p.y
    y[0] = s * p.x + c * p.y

cdef inline void planar_first_half(real* q, const real* v, const Inertia* M, real half) noexcept nogil:
    """The centre of mass goes straight on, the body turns about it."""
    cdef real x
    cdef real y
    cdef real x_h
    cdef real y_h
    planar_arm(q[2], M, &x, &y)
    planar_arm(q[2] + half * v[2], M, &x_h, &y_h)
    q[0] = q[0] + half * (v[0] - v[2] * y) + (x - x_h)
    q[1] = q[1] + half * (v[1] + v[2] * x) + (y - y_h)
    q[2] = q[2] + half * v[2]

cdef inline void planar_second_half(const real* q_start, real* q, const real* v_start, real* v, real* a, const Inertia* M,
                                    real h) noexcept nogil:
    """The momentum of the body, then the other half of the way; q_start: the angle of v_start."""
    cdef real rate = 1.0 / h
    cdef real w = v_start[2]
    cdef real w_h = v[2]
    cdef real x
    cdef real y
    cdef real x_h
    cdef real y_h
    cdef real ux
    cdef real uy
    planar_arm(q_start[2], M, &x, &y)
    planar_arm(q[2], M, &x_h, &y_h)
    ux = v_start[0] - w * y + h * (a[0] - a[2] * y_h - w_h * w_h * x_h)
    uy = v_start[1] + w * x + h * (a[1] + a[2] * x_h - w_h * w_h * y_h)
    w = w + h * a[2]
    q[2] = q[2] + 0.5 * h * w
    planar_arm(q[2], M, &x, &y)
    q[0] = q[0] + 0.5 * h * ux + (x_h - x)
    q[1] = q[1] + 0.5 * h * uy + (y_h - y)
    v[0] = ux + w * y
    v[1] = uy - w * x
    v[2] = w
    a[0] = rate * (v[0] - v_start[0])
    a[1] = rate * (v[1] - v_start[1])
