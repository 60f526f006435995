"""Ball on roll, pitch, yaw (Drake's BallRpyJoint): q = (roll, pitch, yaw), v = w_FM_F.

X_FM = (Rz(yaw) Ry(pitch) Rx(roll), 0),  H_FM = [1; 0] in F axes,  Hdot = 0,  qdot = N(q) v (groups/rpy.pxd). Singular at
pitch = +-pi/2, where a step is a fault. Increments are N(q) dv: exact both ways, a chart of SO(3), not its exponential.
"""
from mbros_core.real cimport real
from mbros_core.groups.rpy cimport rotation_from_rpy, rpy_rates
from mbros_core.groups.spin cimport invert, mean_acceleration, momentum_in_middle
from mbros_core.spatial cimport (Inertia, Mat3, Motion, Pose, Sym3, Vec3, add, column_x, column_y, column_z, compose, motion, rotate, scale,
                                 sym_mul, unrotate, vec3, zero3)


cdef inline void ball_rpy_place(Pose X_WF, const real* q, Pose* X_WM, Motion* S) noexcept nogil:
    X_WM.R = compose(X_WF.R, rotation_from_rpy(q))
    X_WM.p = X_WF.p
    S[0] = motion(column_x(X_WF.R), zero3())
    S[1] = motion(column_y(X_WF.R), zero3())
    S[2] = motion(column_z(X_WF.R), zero3())

cdef inline Vec3 rpy_spin(const real* q_start, real* q, const real* v, const real* v_h, const real* vdot, Sym3 J, real h) noexcept nogil:
    """q at the end of a step and the angular velocity there in F, with the angular momentum under inertia J (groups/spin.pxd); the angles
    go all the way from q_start with the rates of the middle, where q was."""
    cdef Sym3 J_inverse = invert(&J)
    cdef Mat3 R = rotation_from_rpy(q_start)
    cdef Mat3 R_h = rotation_from_rpy(q)
    cdef Vec3 alpha = vec3(vdot[0], vdot[1], vdot[2])
    cdef Vec3 w = vec3(v[0], v[1], v[2])
    cdef Vec3 l = rotate(R_h, momentum_in_middle(J, R, R_h, unrotate(R, w), unrotate(R_h, vec3(v_h[0], v_h[1], v_h[2])),
                                                 unrotate(R_h, alpha), h))
    cdef Vec3 w_end = add(w, scale(h, alpha))
    cdef real mean[3]
    cdef real rate[3]
    cdef real q_h[3]
    cdef int k, i
    for i in range(3):
        q_h[i] = q[i]
    for k in range(2):
        mean[0] = 0.5 * (w.x + w_end.x)
        mean[1] = 0.5 * (w.y + w_end.y)
        mean[2] = 0.5 * (w.z + w_end.z)
        rpy_rates(q_h, mean, rate)
        for i in range(3):
            q[i] = q_start[i] + h * rate[i]
        R = rotation_from_rpy(q)
        w_end = rotate(R, sym_mul(J_inverse, unrotate(R, l)))
    return w_end

cdef inline void ball_rpy_second_half(const real* q_start, real* q, const real* v_start, real* v, real* a, const Inertia* M,
                                      real h) noexcept nogil:
    cdef Vec3 w = rpy_spin(q_start, q, v_start, v, a, M.I, h)
    v[0] = w.x
    v[1] = w.y
    v[2] = w.z
    mean_acceleration(v_start, v, 3, h, a)
