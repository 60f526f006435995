"""Roll, pitch, yaw as coordinates of rotations: R = Rz(yaw) Ry(pitch) Rx(roll), rates for w in the axes of the fixed frame.

    N = [c2/c1  s2/c1  0;  -s2  c2  0;  c2 t1  s2 t1  1],      N+ = [c1 c2  -s2  0;  c1 s2  c2  0;  -s1  0  1]

with 1 the pitch and 2 the yaw. N is singular at pitch = +-pi/2 (gimbal lock): qdot is then not finite.
"""
from mbros_core.scalar.real cimport real, sincos
from mbros_core.groups.spin cimport invert, momentum_in_middle
from mbros_core.spatial cimport Mat3, Sym3, Vec3, from_columns, rotate, sym_mul, unrotate, vec3


cdef inline Mat3 rotation_from_rpy(const real* q) noexcept nogil:
    cdef real sr
    cdef real cr
    cdef real sp
    cdef real cp
    cdef real sy
    cdef real cy
    sincos(q[0], sr, cr)
    sincos(q[1], sp, cp)
    sincos(q[2], sy, cy)
    return from_columns(vec3(cy * cp, sy * cp, -sp),
                        vec3(cy * sp * sr - sy * cr, sy * sp * sr + cy * cr, cp * sr),
                        vec3(cy * sp * cr + sy * sr, sy * sp * cr - cy * sr, cp * cr))

cdef inline void rpy_rates(const real* q, const real* w, real* qdot) noexcept nogil:
    """qdot = N(q) w, w in F axes."""
    cdef real s1
    cdef real c1
    cdef real s2
    cdef real c2
    sincos(q[1], s1, c1)
    sincos(q[2], s2, c2)
    cdef real k = (c2 * w[0] + s2 * w[1]) / c1
    qdot[0] = k
    qdot[1] = c2 * w[1] - s2 * w[0]
    qdot[2] = w[2] + s1 * k

cdef inline void rpy_velocity(const real* q, const real* qdot, real* w) noexcept nogil:
    """w = N+(q) qdot."""
    cdef real s1
    cdef real c1
    cdef real s2
    cdef real c2
    cdef real a = qdot[0]
    cdef real b = qdot[1]
    sincos(q[1], s1, c1)
    sincos(q[2], s2, c2)
    w[0] = c1 * c2 * a - s2 * b
    w[1] = c1 * s2 * a + c2 * b
    w[2] = qdot[2] - s1 * a

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
    cdef Vec3 w_end = w + h * alpha
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
