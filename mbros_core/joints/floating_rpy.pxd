"""Floating on roll, pitch, yaw (Drake's RpyFloatingJoint): q = (roll, pitch, yaw, x, y, z), v = [w_FM_F; v_FM_F].

X_FM = (Rz(yaw) Ry(pitch) Rx(roll), p),  H_FM = 1 in F axes,  Hdot = 0,  qdot = [N(q) w; v] (groups/rpy.pxd). Singular at
pitch = +-pi/2, where a step is a fault. Increments are [N(q) dw; dv]: exact both ways, not the exponential of SE(3).
"""
from mbros_core.scalar.real cimport real
from mbros_core.groups.rpy cimport rotation_from_rpy, rpy_rates, rpy_velocity, rpy_spin
from mbros_core.groups.spin cimport about_center, center_of, mean_acceleration
from mbros_core.joints.ball_rpy cimport ball_rpy_place
from mbros_core.spatial cimport Inertia, Motion, Pose, Vec3, column_x, column_y, column_z, cross, motion, rotate, vec3, zero3


cdef inline void floating_rpy_place(Pose X_WF, const real* q, Pose* X_WM, Motion* S) noexcept nogil:
    ball_rpy_place(X_WF, q, X_WM, S)
    X_WM.p = X_WF.p + rotate(X_WF.R, vec3(q[3], q[4], q[5]))
    S[3] = motion(zero3(), column_x(X_WF.R))
    S[4] = motion(zero3(), column_y(X_WF.R))
    S[5] = motion(zero3(), column_z(X_WF.R))

cdef inline void floating_rpy_qdot(const real* q, const real* v, real* qdot) noexcept nogil:
    cdef int k
    rpy_rates(q, v, qdot)
    for k in range(3, 6):
        qdot[k] = v[k]

cdef inline void floating_rpy_velocity(const real* q, const real* qdot, real* v) noexcept nogil:
    cdef int k
    rpy_velocity(q, qdot, v)
    for k in range(3, 6):
        v[k] = qdot[k]

cdef inline void floating_rpy_first_half(real* q, const real* v, const Inertia* M, real half) noexcept nogil:
    """The centre of mass goes straight on, the body turns about it."""
    cdef Vec3 p = center_of(M)
    cdef Vec3 c = rotate(rotation_from_rpy(q), p)
    cdef Vec3 d = c + half * (vec3(v[3], v[4], v[5]) + cross(vec3(v[0], v[1], v[2]), c))
    cdef real rate[3]
    rpy_rates(q, v, rate)
    q[0] = q[0] + half * rate[0]
    q[1] = q[1] + half * rate[1]
    q[2] = q[2] + half * rate[2]
    d = d - rotate(rotation_from_rpy(q), p)
    q[3] = q[3] + d.x
    q[4] = q[4] + d.y
    q[5] = q[5] + d.z

cdef inline void floating_rpy_second_half(const real* q_start, real* q, const real* v_start, real* v, real* a, const Inertia* M,
                                          real h) noexcept nogil:
    """The momenta of the body, then the other half of the way."""
    cdef Vec3 p = center_of(M)
    cdef Vec3 c = rotate(rotation_from_rpy(q_start), p)
    cdef Vec3 c_h = rotate(rotation_from_rpy(q), p)
    cdef Vec3 w_h = vec3(v[0], v[1], v[2])
    cdef Vec3 a_c = vec3(a[3], a[4], a[5]) + (cross(vec3(a[0], a[1], a[2]), c_h) + cross(w_h, cross(w_h, c_h)))
    cdef Vec3 u = vec3(v_start[3], v_start[4], v_start[5]) + cross(vec3(v_start[0], v_start[1], v_start[2]), c) + h * a_c
    cdef Vec3 d = c_h + 0.5 * h * u
    cdef Vec3 w = rpy_spin(q_start, q, v_start, v, a, about_center(M, p), h)
    c = rotate(rotation_from_rpy(q), p)
    d = d - c
    u = u - cross(w, c)
    q[3] = q[3] + d.x
    q[4] = q[4] + d.y
    q[5] = q[5] + d.z
    v[0] = w.x
    v[1] = w.y
    v[2] = w.z
    v[3] = u.x
    v[4] = u.y
    v[5] = u.z
    mean_acceleration(v_start, v, 6, h, a)
