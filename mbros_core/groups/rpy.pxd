"""Roll, pitch, yaw as coordinates of rotations: R = Rz(yaw) Ry(pitch) Rx(roll), rates for w in the axes of the fixed frame.

    N = [c2/c1  s2/c1  0;  -s2  c2  0;  c2 t1  s2 t1  1],      N+ = [c1 c2  -s2  0;  c1 s2  c2  0;  -s1  0  1]

with 1 the pitch and 2 the yaw. N is singular at pitch = +-pi/2 (gimbal lock): qdot is then not finite.
"""
from mbros_core.real cimport real, sincos
from mbros_core.spatial cimport Mat3, from_columns, vec3


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
