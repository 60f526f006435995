"""SO(3) as unit quaternions w x y z, with increments in the moving frame: q (+) w = q exp(w).

    exp(w) = [cos(|w|/2); sin(|w|/2) w / |w|]

Below |w|^2 = 1e-4 the quotient comes from its series, whose first neglected term is under 1e-16. The rates are those of a
body whose angular velocity w is expressed in the moving frame: quatdot = 1/2 quat (0, w).
"""
from mbros_core.scalar.real cimport any, atan2, copy, fabs, less, real, select, sincos, sqrt
from mbros_core.spatial cimport Vec3, vec3


cdef inline void unit_quaternion(real* q) noexcept nogil:
    """Twice, because one division leaves the norm a few units in the last place away from 1."""
    cdef real s
    cdef int k
    for k in range(2):
        s = 1.0 / sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
        q[0] = q[0] * s
        q[1] = q[1] * s
        q[2] = q[2] * s
        q[3] = q[3] * s

cdef inline void cross_rows(const real* w, real side, real* A, Py_ssize_t stride) noexcept nogil:
    """side [w], the matrix of w x, into three rows of A, whose diagonal it leaves."""
    A[1], A[2] = -side * w[2], side * w[1]
    A[stride], A[stride + 2] = side * w[2], -side * w[0]
    A[2 * stride], A[2 * stride + 1] = -side * w[1], side * w[0]

cdef inline void inlined_exp(Vec3 w, real* r, real* a2, real* sin_half, real* cos_half) noexcept nogil:
    """quaternion_exp without a call, for the one place where that is felt: the step of a free body."""
    cdef real s
    cdef real c
    a2[0] = w.x * w.x + w.y * w.y + w.z * w.z
    cdef real a = sqrt(a2[0] + real(1e-300))            # a root that has derivatives at rest too
    sincos(0.5 * a, s, c)
    cdef real series = real(0.5) - a2[0] * (1.0 / 48.0 - a2[0] * real(1.0 / 3840.0))
    cdef real k = select(less(a2[0], real(1e-4)), series, s / (a + real(1e-300)))
    r[0] = c
    r[1] = k * w.x
    r[2] = k * w.y
    r[3] = k * w.z
    sin_half[0] = s
    cos_half[0] = c

cdef inline void quaternion_exp(Vec3 w, real* r, real* a2, real* sin_half, real* cos_half) noexcept nogil:
    """r = exp(w) as a quaternion; |w|^2 and the half-angle's sine and cosine on the way."""
    inlined_exp(w, r, a2, sin_half, cos_half)

cdef inline void quaternion_product(const real* a, const real* b, real* r) noexcept nogil:
    r[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3]
    r[1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2]
    r[2] = a[0] * b[2] + a[2] * b[0] + a[3] * b[1] - a[1] * b[3]
    r[3] = a[0] * b[3] + a[3] * b[0] + a[1] * b[2] - a[2] * b[1]

cdef inline void multiply_quaternion(real* q, const real* e) noexcept nogil:
    """q <- q e, of unit length."""
    cdef real r[4]
    quaternion_product(q, e, r)
    unit_quaternion(r)
    copy(q, r, 4)

cdef inline void turn_quaternion(real* q, Vec3 w) noexcept nogil:
    """q <- q exp(w), of unit length."""
    cdef real e[4]
    cdef real a2
    cdef real s
    cdef real c
    quaternion_exp(w, e, &a2, &s, &c)
    multiply_quaternion(q, e)

cdef inline void turn_a_little(real* q, Vec3 w) noexcept nogil:
    """q <- q exp(w), as long as before; quick where |w| < 0.1, by series whose first neglected terms are under 1e-19."""
    cdef real e[4]
    cdef real r[4]
    cdef real a2 = w.x * w.x + w.y * w.y + w.z * w.z
    cdef real s
    cdef real c
    if any(less(real(0.01), a2)):
        quaternion_exp(w, e, &a2, &s, &c)
    else:
        c = real(1.0) - a2 * (1.0 / 8.0 - a2 * (1.0 / 384.0 - a2 * (1.0 / 46080.0 - a2 * real(1.0 / 10321920.0))))
        s = real(0.5) - a2 * (1.0 / 48.0 - a2 * (1.0 / 3840.0 - a2 * (1.0 / 645120.0 - a2 * real(1.0 / 185794560.0))))
        e[0] = c
        e[1] = s * w.x
        e[2] = s * w.y
        e[3] = s * w.z
    quaternion_product(q, e, r)
    copy(q, r, 4)

cdef inline void trim_quaternion(real* q) noexcept nogil:
    """Of unit length again, when it was nearly: 1 / sqrt(n) = 1 - (n - 1) / 2 where n - 1 is nothing but rounding."""
    cdef real s
    cdef real n = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]
    cdef int k
    if any(less(real(1e-14), fabs(n - real(1.0)))):
        unit_quaternion(q)
        return
    s = real(1.5) - 0.5 * n
    for k in range(4):
        q[k] = q[k] * s

cdef inline Vec3 quaternion_log(const real* a, const real* b, real* angle) noexcept nogil:
    """The w with a exp(w) = b, the shorter way round (b and -b are one rotation), and |w|."""
    cdef real inverse[4]
    cdef real r[4]
    inverse[0] = a[0]
    inverse[1] = -a[1]
    inverse[2] = -a[2]
    inverse[3] = -a[3]
    quaternion_product(inverse, b, r)
    cdef real sign = select(less(r[0], real(0.0)), real(-1.0), real(1.0))
    cdef real n = sqrt(r[1] * r[1] + r[2] * r[2] + r[3] * r[3])
    angle[0] = 2.0 * atan2(n, sign * r[0])
    # angle / n, with its limit 2 / r0 where n is too small to divide by
    cdef real k = sign * select(less(n, real(1e-8)), 2.0 / (sign * r[0]), angle[0] / (n + real(1e-300)))
    return vec3(k * r[1], k * r[2], k * r[3])

cdef inline void quaternion_rate(const real* q, const real* w, real* qdot) noexcept nogil:
    """quatdot = 1/2 quat (0, w): N of a unit quaternion."""
    qdot[0] = -0.5 * (q[1] * w[0] + q[2] * w[1] + q[3] * w[2])
    qdot[1] = 0.5 * (q[0] * w[0] + q[2] * w[2] - q[3] * w[1])
    qdot[2] = 0.5 * (q[0] * w[1] + q[3] * w[0] - q[1] * w[2])
    qdot[3] = 0.5 * (q[0] * w[2] + q[1] * w[1] - q[2] * w[0])

cdef inline void angular_velocity(const real* q, const real* qdot, real* w) noexcept nogil:
    """w = 2 vec(conj(quat) quatdot) / |quat|^2: N+, the left inverse."""
    cdef real k = 2.0 / (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    w[0] = k * (q[0] * qdot[1] - q[1] * qdot[0] - q[2] * qdot[3] + q[3] * qdot[2])
    w[1] = k * (q[0] * qdot[2] - q[2] * qdot[0] - q[3] * qdot[1] + q[1] * qdot[3])
    w[2] = k * (q[0] * qdot[3] - q[3] * qdot[0] - q[1] * qdot[2] + q[2] * qdot[1])
